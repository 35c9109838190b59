/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Telemetry's commands for a switch. The control thread answers, in hy_datapath_poll(): telemetry's threads
 * leave their questions and wait. What several questions change, megaflows follow together, before any of them
 * is answered.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "datapath.h"
#include "lib/graph/internal/dpdk.h"
#include "lib/graph/internal/log.h"
#include "lib/runtime/internal/desk.h"

#define ANSWERS 16             /* telemetry has at most 10 clients */
#define BETWEEN ';'            /* rules */
#define RULES HY_QUESTION_SIZE /* no text has more */

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

/* A question that is answered when megaflows have followed. */
struct answer {
	struct hy_question *asked;
	int rc;
	char error[HY_DATAPATH_ERROR_SIZE];
};

void
datapath_answer(struct hy_datapath *datapath)
{
	struct answer answers[ANSWERS];
	struct hy_question *asked;
	uint32_t n = 0;

	while (n < ANSWERS && (asked = hy_desk_take(&desk, datapath)) != NULL) {
		const struct question *question = container_of(asked, struct question, common);
		struct answer *answer = &answers[n++];

		answer->asked = asked;
		answer->error[0] = '\0';
		answer->rc = question->tell(datapath, asked->text, asked->data, answer->error);
	}
	hy_datapath_commit(datapath);
	for (uint32_t i = 0; i < n; i++)
		hy_desk_answer(&desk, answers[i].asked, answers[i].rc, answers[i].error);
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
	struct datapath_work work = { 0 };

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
	for (unsigned int w = 0; w < datapath->workers->nb; w++) { /* after what was looked up */
		const struct datapath_work did = datapath_work(&datapath->workers->worker[w]);

		work.received += did.received;
		work.cycles += did.cycles;
	}
	hy_flows_stats(hy_flow_table_flows(datapath->table), &s);
	rte_tel_data_start_dict(data);
	rte_tel_data_add_dict_string(data, "caches", datapath_caches_name(&datapath->caches));
	rte_tel_data_add_dict_uint(data, "rules", hy_vswitch_rules(datapath->rules));
	rte_tel_data_add_dict_uint(data, "megaflows", s.flows);
	rte_tel_data_add_dict_uint(data, "masks", s.masks);
	rte_tel_data_add_dict_uint(data, "lists", datapath_lists_counts(&datapath->lists).lists);
	rte_tel_data_add_dict_uint(data, "revalidations", datapath->revalidations);
	rte_tel_data_add_dict_uint(data, "kept", datapath->kept);
	rte_tel_data_add_dict_uint(data, "asked", datapath->asked);
	rte_tel_data_add_dict_uint(data, "received", work.received);
	rte_tel_data_add_dict_uint(data, "cycles", work.cycles);
	rte_tel_data_add_dict_uint(data, "packets", all.packets);
	rte_tel_data_add_dict_uint(data, "frames", all.frames);
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

/* Cuts a text into rules. Returns how many there are: at least one. */
static uint32_t
cut(char *text, const char *rule[RULES])
{
	uint32_t n = 1;

	rule[0] = text;
	for (; *text != '\0'; text++) {
		if (*text != BETWEEN)
			continue;
		*text = '\0';
		rule[n++] = text + 1;
	}
	return n;
}

/* Names the rule in which a fault is, if there are several. */
static int
wrong(int rc, uint32_t i, uint32_t n, const char *why, char *error)
{
	if (n == 1)
		snprintf(error, HY_DATAPATH_ERROR_SIZE, "%s", why);
	else
		snprintf(error, HY_DATAPATH_ERROR_SIZE, "rule %u of %u: %.1400s", i + 1, n, why);
	return rc;
}

/* Whether all rules can be read: a fault in one of them changes nothing. */
static int
check(struct hy_datapath *datapath, enum hy_vswitch_text what, const char *const text[], uint32_t n,
	char *error)
{
	struct hy_vswitch_rule rule;
	char why[HY_DATAPATH_ERROR_SIZE];

	for (uint32_t i = 0; i < n; i++) {
		if (n > 1 && text[i][strspn(text[i], " \t")] == '\0')
			return wrong(-EINVAL, i, n, "there is none before or after a ';'", error);
		if (hy_vswitch_read(datapath->rules, text[i], what, &rule, why) < 0)
			return wrong(-EINVAL, i, n, why, error);
	}
	return 0;
}

static int
changed_tell(struct hy_datapath *datapath, enum hy_datapath_change what, char *text,
	struct rte_tel_data *data, char *error)
{
	const bool selects = what == HY_DATAPATH_DELETE || what == HY_DATAPATH_DELETE_STRICT;
	const char *rule[RULES];
	const uint32_t nb_rules = cut(text, rule);
	char why[HY_DATAPATH_ERROR_SIZE];
	uint32_t n = 0, changed;
	int rc = check(datapath, selects ? HY_VSWITCH_SELECT : HY_VSWITCH_ADD, rule, nb_rules,
		error);

	for (uint32_t i = 0; i < nb_rules && rc == 0; i++) {
		rc = hy_datapath_put(datapath, what, rule[i], &changed, why);
		if (rc < 0)
			wrong(rc, i, nb_rules, why, error); /* those before it are done */
		else
			n += changed;
	}
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
		{ "/flows/add", on_add,
			"Adds a rule, or several with ';' between them, as do the next four. Parameter: its text, with actions" },
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
