/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Telemetry's commands for a switch. The control thread answers, in hy_datapath_poll(): telemetry's thread
 * leaves its question and waits.
 */

#include <errno.h>
#include <string.h>

#include "datapath.h"
#include "lib/graph/internal/dpdk.h"
#include "lib/graph/internal/log.h"
#include "lib/runtime/internal/desk.h"

struct question {
	struct hy_question common;
	datapath_tell_t *tell;
};

HY_DESK(desk, "there is no switch");

void
datapath_show(struct hy_datapath *datapath)
{
	hy_desk_open(&desk, datapath);
}

void
datapath_hide(const struct hy_datapath *datapath)
{
	hy_desk_close(&desk, datapath);
}

void
datapath_answer(struct hy_datapath *datapath)
{
	struct hy_question *asked = hy_desk_take(&desk, datapath);
	char error[HY_DATAPATH_ERROR_SIZE] = "";
	const struct question *question;

	if (asked == NULL)
		return;
	question = container_of(asked, struct question, common);
	hy_desk_answer(&desk, asked, question->tell(datapath, asked->text, asked->data, error),
		error);
}

static int
ask(datapath_tell_t *tell, const char *parameter, struct rte_tel_data *data)
{
	struct question question = { .tell = tell };

	return hy_desk_ask(&desk, &question.common, parameter, data);
}

static int
stats_tell(struct hy_datapath *datapath, char *text __rte_unused, struct rte_tel_data *data,
	char *error __rte_unused)
{
	struct hy_flows_stats s;
	struct hy_flows_lookups all = { 0 };
	struct hy_flows_upcall_stats up = { 0 };

	for (unsigned int w = 0; w < datapath->workers->nb; w++) {
		struct hy_flows_upcall_stats u;
		struct hy_flows_lookups l;

		hy_flows_lookups(hy_flow_table_flows(datapath->table), w, &l);
		hy_flows_upcall_stats(hy_flow_table_upcalls(datapath->table), w, &u);
		for (size_t i = 0; i < sizeof(l) / sizeof(uint64_t); i++)
			((uint64_t *)&all)[i] += ((const uint64_t *)&l)[i];
		for (size_t i = 0; i < sizeof(u) / sizeof(uint64_t); i++)
			((uint64_t *)&up)[i] += ((const uint64_t *)&u)[i];
	}
	hy_flows_stats(hy_flow_table_flows(datapath->table), &s);
	rte_tel_data_start_dict(data);
	rte_tel_data_add_dict_string(data, "caches", datapath_caches_name(&datapath->caches));
	rte_tel_data_add_dict_uint(data, "rules", hy_vswitch_rules(datapath->rules));
	rte_tel_data_add_dict_uint(data, "megaflows", s.flows);
	rte_tel_data_add_dict_uint(data, "masks", s.masks);
	rte_tel_data_add_dict_uint(data, "lists", datapath_lists_counts(&datapath->lists).lists);
	rte_tel_data_add_dict_uint(data, "revalidations", datapath->revalidations);
	rte_tel_data_add_dict_uint(data, "packets", all.packets);
	rte_tel_data_add_dict_uint(data, "exact", all.exact);
	rte_tel_data_add_dict_uint(data, "index", all.index);
	rte_tel_data_add_dict_uint(data, "searched", all.masks);
	rte_tel_data_add_dict_uint(data, "tables", all.tables);
	rte_tel_data_add_dict_uint(data, "misses", all.misses);
	rte_tel_data_add_dict_uint(data, "upcalls", up.sent);
	rte_tel_data_add_dict_uint(data, "added", up.added);
	rte_tel_data_add_dict_uint(data, "refused", up.refused);
	return rte_tel_data_add_dict_uint(data, "lost", up.full);
}

static int
changed_tell(struct hy_datapath *datapath, enum hy_datapath_change what, const char *text,
	struct rte_tel_data *data, char *error)
{
	uint32_t n;
	const int rc = hy_datapath_change(datapath, what, text, &n, error);

	if (rc < 0)
		return rc;
	rte_tel_data_start_dict(data);
	rte_tel_data_add_dict_uint(data, "changed", n);
	return rte_tel_data_add_dict_uint(data, "rules", hy_vswitch_rules(datapath->rules));
}

#define CHANGE(name, what) \
	static int name##_tell(struct hy_datapath *datapath, char *text, \
		struct rte_tel_data *data, char *error) \
	{ \
		return changed_tell(datapath, what, text, data, error); \
	}

CHANGE(add, HY_DATAPATH_ADD)
CHANGE(modify, HY_DATAPATH_MODIFY)
CHANGE(modify_strict, HY_DATAPATH_MODIFY_STRICT)
CHANGE(delete, HY_DATAPATH_DELETE)
CHANGE(delete_strict, HY_DATAPATH_DELETE_STRICT)

static int
caches_tell(struct hy_datapath *datapath, char *text, struct rte_tel_data *data, char *error)
{
	struct hy_flows_caches caches;
	int rc = hy_datapath_caches_read(text, &caches);

	if (rc < 0)
		return HY_REASON(rc, error, HY_DATAPATH_ERROR_SIZE,
			"caches: '%.64s' is none of " HY_DATAPATH_CACHES, text);
	rc = hy_flows_caches_set(hy_flow_table_flows(datapath->table), &caches);
	if (rc < 0)
		return HY_REASON(rc, error, HY_DATAPATH_ERROR_SIZE, "caches '%s': %s", text,
			strerror(-rc));
	datapath->caches = caches;
	return stats_tell(datapath, text, data, error);
}

/* What each command asks. */
#define COMMAND(name, tell) \
	static int on_##name(const char *command __rte_unused, const char *parameter, \
		struct rte_tel_data *data) \
	{ \
		return ask(tell, parameter, data); \
	}

COMMAND(stats, stats_tell)
COMMAND(rules, datapath_rules_tell)
COMMAND(dump, datapath_dump_tell)
COMMAND(trace, datapath_trace_tell)
COMMAND(caches, caches_tell)
COMMAND(add, add_tell)
COMMAND(modify, modify_tell)
COMMAND(modify_strict, modify_strict_tell)
COMMAND(delete, delete_tell)
COMMAND(delete_strict, delete_strict_tell)

int
hy_datapath_telemetry(const char *prefix __rte_unused)
{
	static const struct hy_telemetry_command commands[] = {
		{ "/flows/stats", on_stats,
			"Counts of the switch, over all workers. No parameter" },
		{ "/flows/rules", on_rules,
			"Rules with counts. Parameter: [N] [match]; after a line 'more: N', go on with that N" },
		{ "/flows/dump", on_dump,
			"Megaflows with counts. Parameter: [N]; after a line 'more: N', go on with that N" },
		{ "/flows/trace", on_trace,
			"What the rules do to a packet, in words. Parameter: [N] and a match of exact values; N as of rules" },
		{ "/flows/caches", on_caches, "Switches caches. Parameter: " HY_DATAPATH_CACHES },
		{ "/flows/add", on_add, "Adds a rule. Parameter: its text, with actions" },
		{ "/flows/modify", on_modify,
			"Gives all rules that a rule's match selects its actions, or adds it. Parameter: a rule" },
		{ "/flows/modify_strict", on_modify_strict,
			"As modify, only of the same table, priority and match. Parameter: a rule" },
		{ "/flows/delete", on_delete,
			"Deletes rules that a match selects. Parameter: the match; none: all rules" },
		{ "/flows/delete_strict", on_delete_strict,
			"Deletes the rule of a table, priority and match. Parameter: these" },
	};

	return hy_telemetry_register("/halyard", commands, RTE_DIM(commands));
}
