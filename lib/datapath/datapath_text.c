/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules and megaflows as text, in pieces that an answer of telemetry holds. */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <hy_flow_lookup.h>
#include <hy_vswitch_trace.h>

#include "datapath.h"
#include "lib/graph/internal/log.h"

#define TEXT_MOST 7500 /* bytes of an answer; DPDK's are 8192, with its NUL */

/* Reads a number at the start of a text, which may be empty. */
static int
number_read(const char *field, char **text, uint32_t *value, char *error)
{
	char *end = *text;
	unsigned long n = 0;

	if (**text >= '0' && **text <= '9')
		n = strtoul(*text, &end, 10);
	if ((*end != '\0' && *end != ' ' && *end != ',') || n > UINT32_MAX)
		return HY_REASON(-EINVAL, error, HY_DATAPATH_ERROR_SIZE,
			"%s: '%.64s' is no number of 0 to %u", field, *text, UINT32_MAX);
	*value = (uint32_t)n;
	*text = *end == '\0' ? end : end + 1;
	return 0;
}

/* Reads how many lines to skip, if a text begins with that. */
static int
skip_read(char **text, uint32_t *skip, char *error)
{
	return **text >= '0' && **text <= '9' ? number_read("lines to skip", text, skip, error) : 0;
}

/* The lines of a text from one on, as many as an answer holds. */
static void
lines_tell(char *text, uint32_t skip, struct rte_tel_data *data)
{
	char answer[TEXT_MOST + 64], *line = text;
	size_t used = 0;

	for (uint32_t i = 0; i < skip && *line != '\0'; i++)
		line = strchr(line, '\n') + 1;
	for (; *line != '\0'; skip++) {
		const size_t n = (size_t)(strchr(line, '\n') + 1 - line);

		if (used + n > TEXT_MOST && used > 0)
			break;
		used += (size_t)snprintf(answer + used, TEXT_MOST - used + 1, "%.*s", (int)n, line);
		used = RTE_MIN(used, (size_t)TEXT_MOST);
		line += n;
	}
	if (*line != '\0')
		used += (size_t)snprintf(answer + used, sizeof(answer) - used, "more: %u\n", skip);
	answer[used] = '\0';
	rte_tel_data_string(data, answer);
}

/* Takes what was printed; 0, or why not. */
static int
printed_end(FILE *out, int rc, char *error)
{
	if (fclose(out) != 0 && rc == 0)
		rc = -ENOMEM;
	return rc == 0 ? 0 : HY_REASON(rc, error, HY_DATAPATH_ERROR_SIZE, "%s", strerror(-rc));
}

/* [SKIP ][MATCH] */
int
datapath_rules_tell(struct hy_datapath *datapath, char *text, struct rte_tel_data *data,
	char *error)
{
	struct hy_vswitch_rule select;
	char *printed = NULL;
	uint32_t skip = 0;
	size_t size;
	FILE *out;
	int rc = skip_read(&text, &skip, error);

	if (rc == 0)
		rc = hy_vswitch_read(datapath->rules, text, HY_VSWITCH_SELECT, &select, error);
	if (rc < 0)
		return rc;
	out = open_memstream(&printed, &size);
	if (out == NULL)
		return HY_REASON(-ENOMEM, error, HY_DATAPATH_ERROR_SIZE, "out of memory");
	rc = printed_end(out, hy_datapath_rules_print(datapath, &select, out), error);
	if (rc == 0)
		lines_tell(printed, skip, data);
	free(printed);
	return rc;
}

/* The match of a megaflow, as rules have it. */
static void
match_write(const struct hy_datapath *datapath, const struct hy_flows_flow *flow, char *text)
{
	const uint8_t parts = HY_FLOWS_FIRST_FRAGMENT | HY_FLOWS_LATER_FRAGMENT;
	const uint8_t later = HY_FLOWS_LATER_FRAGMENT | HY_FLOWS_UNKNOWN_FRAGMENT;
	struct hy_flows_key key = flow->key, mask = flow->mask;

	for (unsigned int i = 0; i < datapath->nb_edges; i++)
		if (datapath->edge_port[i] == flow->key.port)
			key.port = datapath->edge_number[i];
	key.kind &= parts;
	if ((flow->key.kind & later) != 0)
		key.kind = parts;
	mask.kind &= parts;
	key.kind &= mask.kind;
	hy_vswitch_match_format(&key, &mask, text);
}

/* What is done to a megaflow's packets. */
static void
actions_write(struct hy_datapath *datapath, uint32_t action, char text[HY_FLOW_OPS_TEXT_SIZE])
{
	struct datapath_lists *lists = &datapath->lists;
	const struct datapath_list *list;

	pthread_mutex_lock(&lists->lock);
	list = (uint16_t)action == HY_FLOW_ACTION_DENY ? NULL : lists->by_number[action >> 16];
	hy_flow_ops_format(list == NULL ? NULL : list->ops, list == NULL ? 0 : list->nb_ops, text);
	pthread_mutex_unlock(&lists->lock);
}

/* A megaflow's line. Returns its length, or 0: there is no room for it. */
static size_t
megaflow_write(struct hy_datapath *datapath, const struct hy_flows_entry *entry, char *to,
	size_t room)
{
	char match[HY_VSWITCH_TEXT_SIZE], actions[HY_FLOW_OPS_TEXT_SIZE];
	int n;

	match_write(datapath, &entry->flow, match);
	actions_write(datapath, entry->flow.action, actions);
	n = snprintf(to, room,
		"%s, packets:%" PRIu64 ", bytes:%" PRIu64
		", age:%u.%03us, used:%u.%03us, actions:%s\n",
		match, entry->packets, entry->bytes, entry->age / 1000, entry->age % 1000,
		entry->unused / 1000, entry->unused % 1000, actions);
	return (size_t)n < room ? (size_t)n : 0;
}

/* [SKIP ]PACKET */
int
datapath_trace_tell(struct hy_datapath *datapath, char *text, struct rte_tel_data *data,
	char *error)
{
	struct hy_flows_key key;
	char *printed = NULL;
	size_t size;
	uint32_t skip = 0;
	FILE *out;
	int rc = skip_read(&text, &skip, error);

	if (rc == 0)
		rc = hy_vswitch_packet(datapath->rules, text, &key, error);
	if (rc < 0)
		return rc;
	out = open_memstream(&printed, &size);
	if (out == NULL)
		return HY_REASON(-ENOMEM, error, HY_DATAPATH_ERROR_SIZE, "out of memory");
	rc = printed_end(out, hy_vswitch_trace(datapath->rules, &key, out), error);
	if (rc == 0)
		lines_tell(printed, skip, data);
	free(printed);
	return rc;
}

int
datapath_dump_tell(struct hy_datapath *datapath, char *text, struct rte_tel_data *data, char *error)
{
	char answer[TEXT_MOST + 64];
	size_t used = 0, n = 1;
	uint32_t cursor = 0;
	const int rc = number_read("cursor", &text, &cursor, error);

	if (rc < 0)
		return rc;
	if (*text != '\0')
		return HY_REASON(-EINVAL, error, HY_DATAPATH_ERROR_SIZE,
			"'%.64s': a cursor is the only parameter", text);
	while (n > 0 && cursor != HY_FLOWS_END) {
		const uint32_t before = cursor;
		struct hy_flows_entry entry;

		if (hy_flows_dump(hy_flow_table_flows(datapath->table), &cursor, &entry, 1) == 0)
			break;
		n = megaflow_write(datapath, &entry, answer + used, TEXT_MOST - used);
		used += n;
		cursor = n > 0 ? cursor : before;
	}
	if (cursor != HY_FLOWS_END)
		used += (size_t)snprintf(answer + used, sizeof(answer) - used, "more: %u\n",
			cursor);
	answer[used] = '\0';
	return rte_tel_data_string(data, answer);
}
