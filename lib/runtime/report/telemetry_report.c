/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * /halyard/...: what graphs, ports and the HAL are doing. The HAL belongs to the control thread, so
 * that thread answers: telemetry's thread leaves its question and waits.
 */

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "lib/graph/internal/dpdk.h"
#include "lib/runtime/internal/desk.h"
#include "telemetry.h"

/* Adds entries for what matches the pattern. */
typedef void(tell_t)(const struct hy_report *report, const struct hy_stats *stats,
	const char *pattern, struct hy_telemetry_list *list);

struct question {
	struct hy_question common;
	tell_t *tell;
};

HY_DESK(desk, "no packets flow");

/* Returns 0 or a negative errno. */
static int
answer(const struct hy_report *report, struct hy_question *asked)
{
	const struct question *question = container_of(asked, struct question, common);
	struct hy_telemetry_list list = { .data = asked->data };
	struct hy_stats *stats;
	const int rc = hy_stats_read(HY_WORKERS_GRAPHS, &stats);

	if (rc < 0)
		return rc;
	rte_tel_data_start_dict(list.data);
	question->tell(report, stats, asked->text[0] == '\0' ? "*" : asked->text, &list);
	hy_stats_free(stats);
	if (list.left_out > 0)
		rte_tel_data_add_dict_uint(list.data, "left_out", list.left_out);
	return 0;
}

void
hy_telemetry_poll(const struct hy_report *report)
{
	struct hy_question *asked;

	hy_desk_open(&desk, &desk); /* the only owner is this file */
	asked = hy_desk_take(&desk, &desk);
	if (asked != NULL) {
		const int rc = answer(report, asked);

		hy_desk_answer(&desk, asked, rc, strerror(-rc));
	}
}

void
hy_telemetry_end(void)
{
	hy_desk_close(&desk, &desk);
}

static int
ask(tell_t *tell, const char *pattern, struct rte_tel_data *data)
{
	struct question question = { .tell = tell };

	return hy_desk_ask(&desk, &question.common, pattern, data);
}

static bool
matches(const char *pattern, const char *name)
{
	return fnmatch(pattern, name, 0) == 0;
}

static void
nodes_tell(const struct hy_report *report __rte_unused, const struct hy_stats *stats,
	const char *pattern, struct hy_telemetry_list *list)
{
	for (unsigned int i = 0; i < stats->nb_nodes; i++) {
		const struct hy_node_stats *node = &stats->nodes[i];
		struct rte_tel_data *entry;

		if (!matches(pattern, node->name) || (entry = hy_telemetry_entry(list)) == NULL)
			continue;
		rte_tel_data_add_dict_string(entry, "node", node->name);
		rte_tel_data_add_dict_string(entry, "variant", node->variant);
		rte_tel_data_add_dict_uint(entry, "calls", node->calls);
		rte_tel_data_add_dict_uint(entry, "packets", node->objs);
		rte_tel_data_add_dict_uint(entry, "cycles", node->cycles);
		rte_tel_data_add_dict_uint(entry, "dropped", hy_stats_dropped(node));
	}
}

static void
drops_tell(const struct hy_report *report, const struct hy_stats *stats, const char *pattern,
	struct hy_telemetry_list *list)
{
	struct hy_reason reason;

	for (unsigned int at = 0; hy_report_drop(report, stats, &at, &reason);) {
		struct rte_tel_data *entry;

		if (!matches(pattern, reason.name) || (entry = hy_telemetry_entry(list)) == NULL)
			continue;
		rte_tel_data_add_dict_string(entry, "reason", reason.name);
		rte_tel_data_add_dict_uint(entry, "packets", reason.objs);
		hy_telemetry_text(entry, "text", reason.text);
	}
}

static void
ports_tell(const struct hy_report *report, const struct hy_stats *stats, const char *pattern,
	struct hy_telemetry_list *list)
{
	for (unsigned int i = 0; i < report->nb_ports; i++) {
		const struct hy_report_port *port = &report->ports[i];
		struct hy_port_status status;
		struct rte_tel_data *entry;
		char number[8];

		snprintf(number, sizeof(number), "%u", port->port);
		if (!matches(pattern, number) || (entry = hy_telemetry_entry(list)) == NULL)
			continue;
		hy_port_status_read(port->port, &status);
		rte_tel_data_add_dict_uint(entry, "port", port->port);
		rte_tel_data_add_dict_string(entry, "driver", port->driver);
		rte_tel_data_add_dict_string(entry, "state",
			hy_report_port_state(report, port->port));
		rte_tel_data_add_dict_uint(entry, "resets", status.resets);
		rte_tel_data_add_dict_uint(entry, "rx", hy_report_rx(report, stats, port));
		rte_tel_data_add_dict_uint(entry, "tx", hy_report_tx(report, stats, port));
		hy_telemetry_port(&status, entry);
	}
}

static void
graphs_tell(const struct hy_report *report, const struct hy_stats *stats __rte_unused,
	const char *pattern, struct hy_telemetry_list *list)
{
	for (unsigned int i = 0; i < report->all->nb; i++) {
		const char *name = hy_graph_name(report->all->graphs[i]);
		struct hy_report_worker worker;
		struct rte_tel_data *entry;

		if (!matches(pattern, name) || (entry = hy_telemetry_entry(list)) == NULL)
			continue;
		hy_report_worker_read(&report->all->worker[i], &worker);
		rte_tel_data_add_dict_string(entry, "graph", name);
		rte_tel_data_add_dict_uint(entry, "lcore", worker.lcore);
		rte_tel_data_add_dict_uint(entry, "walks", worker.walks);
		rte_tel_data_add_dict_uint(entry, "idle_walks", worker.rest.idle_walks);
		rte_tel_data_add_dict_uint(entry, "waits", worker.rest.waits);
		rte_tel_data_add_dict_uint(entry, "wakeups", worker.rest.wakeups);
	}
}

static void
hal_tell(const struct hy_report *report, const struct hy_stats *stats, const char *pattern,
	struct hy_telemetry_list *list)
{
	for (unsigned int i = 0; i < stats->nb_nodes; i++) {
		const char *name = stats->nodes[i].name;
		const struct hy_placement *place = hy_hal_placement(report->hal, name);
		struct rte_tel_data *entry;

		if (place == NULL || !matches(pattern, name) ||
			(entry = hy_telemetry_entry(list)) == NULL)
			continue;
		rte_tel_data_add_dict_string(entry, "node", name);
		rte_tel_data_add_dict_string(entry, "family", place->family);
		rte_tel_data_add_dict_string(entry, "variant", place->variant);
		rte_tel_data_add_dict_string(entry, "target", place->target);
	}
}

static int
on_question(const char *command, const char *pattern, struct rte_tel_data *data)
{
	static const struct {
		const char *command;
		tell_t *tell;
	} all[] = {
		{ "/halyard/nodes", nodes_tell },
		{ "/halyard/drops", drops_tell },
		{ "/halyard/ports", ports_tell },
		{ "/halyard/graph", graphs_tell },
		{ "/halyard/hal", hal_tell },
	};
	unsigned int i = 0;

	while (strcmp(all[i].command, command) != 0)
		i++; /* DPDK calls for registered commands only */
	return ask(all[i].tell, pattern, data);
}

const struct hy_telemetry_command hy_telemetry_report[HY_TELEMETRY_REPORT] = {
	{ "/nodes", on_question, "What nodes did. Parameter: a pattern of their names, or none" },
	{ "/drops", on_question,
		"Packets dropped, by reason. Parameter: a pattern of it, or none" },
	{ "/ports", on_question, "How ports are doing. Parameter: a pattern of numbers, or none" },
	{ "/graph", on_question, "Workers' graphs. Parameter: a pattern of their names, or none" },
	{ "/hal", on_question, "Variants and targets of nodes. Parameter: a pattern, or none" },
};
