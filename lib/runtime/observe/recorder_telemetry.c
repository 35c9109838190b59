/* SPDX-License-Identifier: BSD-3-Clause */
/* Telemetry's commands for captures. */

#include <hy_recorder.h>

#include "lib/graph/internal/dpdk.h"
#include "lib/runtime/report/telemetry.h"

static int
on_capture(const char *command __rte_unused, const char *parameter __rte_unused,
	struct rte_tel_data *data)
{
	struct hy_recorder_state state;

	hy_recorder_status(&state);
	rte_tel_data_start_dict(data);
	rte_tel_data_add_dict_int(data, "running", state.running);
	rte_tel_data_add_dict_uint(data, "packets", state.packets);
	rte_tel_data_add_dict_uint(data, "lost", state.lost);
	rte_tel_data_add_dict_uint(data, "unsure", state.unsure);
	return rte_tel_data_add_dict_uint(data, "missing", state.missing);
}

static int
on_start(const char *command, const char *text, struct rte_tel_data *data)
{
	char error[HY_OPTION_ERROR_SIZE];

	if (text == NULL)
		return hy_telemetry_error(
			"a parameter is required: FILE,at=POINT..., as for --capture", data);
	if (hy_recorder_start(text, error) < 0)
		return hy_telemetry_error(error, data);
	return on_capture(command, NULL, data);
}

static int
on_stop(const char *command, const char *parameter __rte_unused, struct rte_tel_data *data)
{
	char error[HY_OPTION_ERROR_SIZE];

	return hy_recorder_stop(error) < 0 ? hy_telemetry_error(error, data)
					   : on_capture(command, NULL, data);
}

const struct hy_telemetry_command hy_telemetry_recorder[HY_TELEMETRY_RECORDER] = {
	{ "/capture", on_capture,
		"How far the capture is, or how far the last one was. No parameter" },
	{ "/capture_start", on_start,
		"Starts a capture. Parameter: FILE,at=POINT..., as for --capture" },
	{ "/capture_stop", on_stop, "Stops the capture. No parameter" },
};
