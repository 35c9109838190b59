/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Telemetry's commands for a bridge. It belongs to the control thread, so that thread answers, in
 * hy_bridge_poll(): telemetry's thread leaves its question and waits.
 */

#include <stdio.h>
#include <string.h>

#include <rte_ether.h>

#include "bridge.h"
#include "lib/graph/internal/dpdk.h"
#include "lib/graph/internal/log.h"
#include "lib/runtime/internal/desk.h"

#define ENTRIES 100u /* of an answer, of at most 100 bytes each: DPDK sends 16 KB */
#define VLANS 60u    /* likewise, of at most 260 bytes */

/* Answers, or writes why not. The text is the command's own. */
typedef int(tell_t)(struct hy_bridge *bridge, char *text, struct rte_tel_data *data, char *error);

struct question {
	struct hy_question common;
	tell_t *tell;
};

HY_DESK(desk, "there is no bridge");

void
bridge_show(struct hy_bridge *bridge)
{
	hy_desk_open(&desk, bridge);
}

void
bridge_hide(const struct hy_bridge *bridge)
{
	hy_desk_close(&desk, bridge);
}

void
bridge_answer(struct hy_bridge *bridge)
{
	struct hy_question *asked = hy_desk_take(&desk, bridge);
	char error[HY_BRIDGE_ERROR_SIZE] = "";
	const struct question *question;

	if (asked == NULL)
		return;
	for (char *c = asked->text; (c = strchr(c, ',')) != NULL;)
		*c = ' '; /* commas are as good as blanks */
	question = container_of(asked, struct question, common);
	hy_desk_answer(&desk, asked, question->tell(bridge, asked->text, asked->data, error),
		error);
}

static int
ask(tell_t *tell, const char *parameter, struct rte_tel_data *data)
{
	struct question question = { .tell = tell };

	return hy_desk_ask(&desk, &question.common, parameter, data);
}

static int
add_counts(const struct bridge_counts *c, struct rte_tel_data *data)
{
	rte_tel_data_add_dict_uint(data, "entries", c->entries);
	rte_tel_data_add_dict_uint(data, "learned", c->learned);
	rte_tel_data_add_dict_uint(data, "moved", c->moved);
	rte_tel_data_add_dict_uint(data, "refreshed", c->refreshed);
	rte_tel_data_add_dict_uint(data, "aged", c->aged);
	rte_tel_data_add_dict_uint(data, "refused", c->refused);
	return rte_tel_data_add_dict_uint(data, "flooded", c->flooded);
}

static int
stats_tell(struct hy_bridge *bridge, char *text __rte_unused, struct rte_tel_data *data,
	char *error __rte_unused)
{
	const struct bridge_counts c = bridge_counts(bridge);
	struct hy_l2_stats stats;

	hy_l2_stats(bridge->table, &stats);
	rte_tel_data_start_dict(data);
	rte_tel_data_add_dict_uint(data, "max_entries", bridge->file->entries);
	rte_tel_data_add_dict_uint(data, "static", stats.static_entries);
	rte_tel_data_add_dict_uint(data, "overflowed", stats.overflowed);
	rte_tel_data_add_dict_uint(data, "added", stats.added);
	rte_tel_data_add_dict_uint(data, "deleted", stats.deleted);
	rte_tel_data_add_dict_uint(data, "flapped", stats.flapped);
	return add_counts(&c, data);
}

/* Adds a dictionary under a number. NULL: out of memory. */
static struct rte_tel_data *
entry_add(struct rte_tel_data *data, unsigned int number)
{
	struct rte_tel_data *entry = rte_tel_data_alloc();
	char key[16];

	if (entry == NULL)
		return NULL;
	rte_tel_data_start_dict(entry);
	snprintf(key, sizeof(key), "%u", number);
	rte_tel_data_add_dict_container(data, key, entry, 0);
	return entry;
}

static int
ports_tell(struct hy_bridge *bridge, char *text __rte_unused, struct rte_tel_data *data,
	char *error __rte_unused)
{
	rte_tel_data_start_dict(data);
	for (unsigned int i = 0; i < bridge->nb_ports; i++) {
		const struct bridge_counts c = bridge_port_counts(bridge, (uint16_t)i);
		struct rte_tel_data *entry = entry_add(data, bridge->ports[i]);

		if (entry == NULL)
			break;
		rte_tel_data_add_dict_string(entry, "state",
			bridge_states[bridge->current->nodes.port[i].state]);
		add_counts(&c, entry);
	}
	return 0;
}

/* As many VLANs as fit, from one on. */
static int
vlans_tell(struct hy_bridge *bridge, char *text, struct rte_tel_data *data, char *error)
{
	const struct bridge_place at = { .error = error };
	const char *word = bridge_word(&text);
	uint32_t first = 0;
	unsigned int n = 0;

	if (word[0] != '\0' && bridge_number(&at, "vlan", word, 0, HY_L2_VIDS - 1, &first) < 0)
		return -EINVAL;
	rte_tel_data_start_dict(data);
	for (uint16_t vid = (uint16_t)first; vid < HY_L2_VIDS; vid++) {
		struct rte_tel_data *entry;
		struct bridge_counts c;

		if (!bridge_vlan_counts(bridge, vid, &c))
			continue;
		entry = n < VLANS ? entry_add(data, vid) : NULL;
		if (entry == NULL)
			return rte_tel_data_add_dict_uint(data, "next", vid);
		n++;
		rte_tel_data_add_dict_uint(entry, "ports", bridge_members(bridge, vid));
		add_counts(&c, entry);
	}
	return 0;
}

static void
entry_tell(const struct hy_bridge *bridge, const struct hy_l2_entry *e, struct rte_tel_data *entry)
{
	char text[RTE_ETHER_ADDR_FMT_SIZE];
	struct rte_ether_addr mac;
	const uint16_t vid = hy_l2_key_split(e->key, mac.addr_bytes);

	rte_ether_format_addr(text, sizeof(text), &mac);
	rte_tel_data_add_dict_string(entry, "mac", text);
	rte_tel_data_add_dict_int(entry, "vlan", vid);
	if (e->port == HY_L2_LOCAL)
		rte_tel_data_add_dict_string(entry, "port", "local");
	else
		rte_tel_data_add_dict_int(entry, "port", bridge->ports[e->port]);
	if (e->is_static)
		rte_tel_data_add_dict_int(entry, "static", 1);
	else
		rte_tel_data_add_dict_uint(entry, "idle", e->idle);
}

static int
dump_tell(struct hy_bridge *bridge, char *text, struct rte_tel_data *data, char *error)
{
	const struct bridge_place at = { .error = error };
	struct hy_l2_entry entries[ENTRIES];
	struct bridge_filter filter;
	uint32_t n;

	if (bridge_filter(&at, bridge, text, true, &filter) < 0)
		return -EINVAL;
	n = bridge_dump(bridge, &filter, entries, ENTRIES);
	rte_tel_data_start_dict(data);
	for (uint32_t i = 0; i < n; i++) {
		struct rte_tel_data *entry = entry_add(data, i);

		if (entry == NULL)
			return HY_REASON(-ENOMEM, error, HY_BRIDGE_ERROR_SIZE, "out of memory");
		entry_tell(bridge, &entries[i], entry);
	}
	return filter.cursor == HY_L2_END ? 0
					  : rte_tel_data_add_dict_uint(data, "next", filter.cursor);
}

static int
add_tell(struct hy_bridge *bridge, char *text, struct rte_tel_data *data, char *error)
{
	const int rc = bridge_command_add(bridge, text, error);

	return rc < 0 ? rc : stats_tell(bridge, text, data, error);
}

static int
del_tell(struct hy_bridge *bridge, char *text, struct rte_tel_data *data, char *error)
{
	const int rc = bridge_command_del(bridge, text, error);

	return rc < 0 ? rc : stats_tell(bridge, text, data, error);
}

static int
flush_tell(struct hy_bridge *bridge, char *text, struct rte_tel_data *data, char *error)
{
	uint32_t flushed = 0;
	const int rc = bridge_command_flush(bridge, text, &flushed, error);

	if (rc < 0)
		return rc;
	rte_tel_data_start_dict(data);
	return rte_tel_data_add_dict_uint(data, "flushed", flushed);
}

static int
state_tell(struct hy_bridge *bridge, char *text, struct rte_tel_data *data, char *error)
{
	const int rc = bridge_command_state(bridge, text, error);

	return rc < 0 ? rc : ports_tell(bridge, text, data, error);
}

/* What each command asks. */
#define COMMAND(name) \
	static int on_##name(const char *command __rte_unused, const char *parameter, \
		struct rte_tel_data *data) \
	{ \
		return ask(name##_tell, parameter, data); \
	}

COMMAND(stats)
COMMAND(ports)
COMMAND(vlans)
COMMAND(dump)
COMMAND(add)
COMMAND(del)
COMMAND(flush)
COMMAND(state)

int
hy_bridge_telemetry(const char *prefix __rte_unused)
{
	static const struct hy_telemetry_command commands[] = {
		{ "/l2/stats", on_stats, "Counts of the bridge and of its table. No parameter" },
		{ "/l2/ports", on_ports, "State and counts of the bridge's ports. No parameter" },
		{ "/l2/vlans", on_vlans,
			"Counts of VLANs in use. Parameter: the first VLAN; where 'next' is there, more follow" },
		{ "/l2/dump", on_dump,
			"Entries of the forwarding table. Parameter: [port P] [vlan V] [cursor C]; where "
			"'next' is there, it is the cursor to go on with" },
		{ "/l2/add", on_add,
			"Adds a static entry. Parameter: MAC vlan V port P, or MAC vlan V local" },
		{ "/l2/del", on_del, "Deletes an entry. Parameter: MAC vlan V" },
		{ "/l2/flush", on_flush,
			"Deletes learned entries. Parameter: [port P] [vlan V] [static]: static ones too" },
		{ "/l2/state", on_state,
			"Sets a port's state. Parameter: P blocking, learning or forwarding" },
	};

	return hy_telemetry_register("/halyard", commands, RTE_DIM(commands));
}
