/* SPDX-License-Identifier: BSD-3-Clause */
/* Telemetry's commands for captures. DPDK calls them on a thread of its own. */

#include <errno.h>

#include <rte_telemetry.h>

#include "capture.h"
#include "hal/internal/dpdk.h"
#include "option.h"
#include "telemetry.h"

static int
state_tell(struct rte_tel_data *data)
{
	struct capture_state state;

	capture_status(&state);
	rte_tel_data_start_dict(data);
	rte_tel_data_add_dict_int(data, "running", state.running);
	rte_tel_data_add_dict_uint(data, "packets", state.packets);
	rte_tel_data_add_dict_uint(data, "lost", state.lost);
	rte_tel_data_add_dict_uint(data, "unsure", state.unsure);
	return rte_tel_data_add_dict_uint(data, "missing", state.missing);
}

static int
on_capture(const char *command __rte_unused, const char *parameter __rte_unused,
	struct rte_tel_data *data)
{
	return state_tell(data);
}

static int
on_start(const char *command __rte_unused, const char *text, struct rte_tel_data *data)
{
	char error[OPTION_ERROR_SIZE];

	if (text == NULL)
		return telemetry_error("no parameter; what --capture accepts is accepted", data);
	if (capture_start(text, error, sizeof(error)) < 0)
		return telemetry_error(error, data);
	return state_tell(data);
}

static int
on_stop(const char *command __rte_unused, const char *parameter __rte_unused,
	struct rte_tel_data *data)
{
	char error[OPTION_ERROR_SIZE];

	return capture_stop(error, sizeof(error)) < 0 ? telemetry_error(error, data)
						      : state_tell(data);
}

/* Before EAL starts the thread that reads the list of commands. */
RTE_INIT(capture_telemetry_register)
{
	rte_telemetry_register_cmd("/l3fwd/capture", on_capture,
		"How far the capture is, or how far the last one was. No parameter");
	rte_telemetry_register_cmd("/l3fwd/capture_start", on_start,
		"Starts a capture. Parameter: what --capture accepts");
	rte_telemetry_register_cmd("/l3fwd/capture_stop", on_stop,
		"Stops the capture. No parameter");
}
