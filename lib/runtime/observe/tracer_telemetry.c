/* SPDX-License-Identifier: BSD-3-Clause */
/* Telemetry's commands for traces. */

#include <rte_cycles.h>

#include <hy_tracer.h>

#include "lib/graph/internal/dpdk.h"
#include "lib/runtime/report/telemetry.h"
#include "tracer.h"

#define LINES_MAX 24 /* fit in one answer even if all names and texts are the longest */

static int
on_trace(const char *command __rte_unused, const char *parameter __rte_unused,
	struct rte_tel_data *data)
{
	struct hy_tracer_state state;

	hy_tracer_status(&state);
	rte_tel_data_start_dict(data);
	rte_tel_data_add_dict_int(data, "running", state.running);
	rte_tel_data_add_dict_uint(data, "packets", state.packets);
	rte_tel_data_add_dict_uint(data, "records", state.records);
	return rte_tel_data_add_dict_uint(data, "lost", state.lost);
}

static int
on_start(const char *command, const char *text, struct rte_tel_data *data)
{
	char error[HY_OPTION_ERROR_SIZE];

	if (text == NULL)
		return hy_telemetry_error("no parameter; what --trace accepts is accepted", data);
	if (hy_tracer_start(text, error) < 0)
		return hy_telemetry_error(error, data);
	return on_trace(command, NULL, data);
}

static int
on_stop(const char *command, const char *parameter __rte_unused, struct rte_tel_data *data)
{
	hy_tracer_stop();
	return on_trace(command, NULL, data);
}

static void
line_tell(const struct hy_tracer_line *line, void *arg)
{
	struct rte_tel_data *record = hy_telemetry_entry(arg);

	if (record == NULL)
		return;
	rte_tel_data_add_dict_string(record, "graph", line->graph);
	rte_tel_data_add_dict_uint(record, "packet", line->record.serial);
	rte_tel_data_add_dict_string(record, "node", line->record.name);
	rte_tel_data_add_dict_uint(record, "ns",
		(uint64_t)((double)line->record.tsc * 1e9 / (double)rte_get_tsc_hz()));
	hy_telemetry_text(record, "text", line->text);
	rte_tel_data_add_dict_string(record, "drop", line->record.drop);
}

static int
on_read(const char *command __rte_unused, const char *parameter __rte_unused,
	struct rte_tel_data *data)
{
	struct hy_telemetry_list list = { .data = data };

	rte_tel_data_start_dict(data);
	hy_tracer_each(LINES_MAX, line_tell, &list);
	return 0;
}

const struct hy_telemetry_command hy_telemetry_tracer[HY_TELEMETRY_TRACER] = {
	{ "/trace", on_trace, "How far the trace is, or how far the last one was. No parameter" },
	{ "/trace_start", on_start, "Starts a trace. Parameter: what --trace accepts" },
	{ "/trace_stop", on_stop, "Stops the trace. No parameter" },
	{ "/trace_read", on_read,
		"Takes records of the trace, the oldest first, as many as fit. No parameter" },
};
