/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * /halyard/...: what graphs, ports and the HAL are doing. The HAL belongs to the control thread, so
 * that thread answers: telemetry's thread leaves its question and waits.
 */

#include <fnmatch.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "hal/internal/dpdk.h"
#include "telemetry.h"

#define PATIENCE_S 5 /* with a control thread that does something else, such as a reload */

/* Adds entries for what matches the pattern. */
typedef void(tell_t)(const struct hy_report *report, const struct hy_stats *stats,
	const char *pattern, struct hy_telemetry_list *list);

struct question {
	tell_t *tell;
	const char *pattern; /* NULL: all */
	struct rte_tel_data *data;
	bool answered;
};

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER; /* one question at a time */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct question *asked; /* under the lock, as serving is */
static bool serving;

static void
answer(const struct hy_report *report, const struct question *question)
{
	struct hy_telemetry_list list = { .data = question->data };
	struct hy_stats *stats;
	const int rc = hy_stats_read(HY_WORKERS_GRAPHS, &stats);

	if (rc < 0) {
		hy_telemetry_error(strerror(-rc), question->data);
		return;
	}
	rte_tel_data_start_dict(question->data);
	question->tell(report, stats, question->pattern == NULL ? "*" : question->pattern, &list);
	hy_stats_free(stats);
	if (list.left_out > 0)
		rte_tel_data_add_dict_uint(question->data, "left_out", list.left_out);
}

void
hy_telemetry_poll(const struct hy_report *report)
{
	pthread_mutex_lock(&lock);
	serving = true;
	if (asked != NULL && !asked->answered) {
		answer(report, asked);
		asked->answered = true;
		pthread_cond_broadcast(&changed);
	}
	pthread_mutex_unlock(&lock);
}

void
hy_telemetry_end(void)
{
	pthread_mutex_lock(&lock);
	serving = false;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static int
ask(tell_t *tell, const char *pattern, struct rte_tel_data *data)
{
	struct question question = { .tell = tell, .pattern = pattern, .data = data };
	struct timespec until;
	int rc = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += PATIENCE_S;
	pthread_mutex_lock(&turn);
	pthread_mutex_lock(&lock);
	asked = &question;
	while (!question.answered && serving && rc == 0)
		rc = pthread_cond_clockwait(&changed, &lock, CLOCK_MONOTONIC, &until);
	asked = NULL;
	rc = 0;
	if (!question.answered)
		rc = hy_telemetry_error(serving ? "the control thread is busy" : "no packets flow",
			data);
	pthread_mutex_unlock(&lock);
	pthread_mutex_unlock(&turn);
	return rc;
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
