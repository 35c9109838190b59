/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes the reader of a bridge's file (hy_bridge_create()). */

#include <stdlib.h>
#include <string.h>

#include <rte_ether.h>

#include "fuzz.h"
#include "lib/bridge/bridge.h"

static const uint16_t ports[] = { 0, 2 };
#define PORTS RTE_DIM(ports)
#define LINES 8 /* that may be refused */

static void
check_port(const struct bridge_port *p)
{
	unsigned int vlans = 0;

	for (uint16_t vid = 0; vid < HY_L2_VIDS; vid++)
		vlans += bridge_is_member(p, vid);
	FUZZ_CHECK(p->line > 0);
	FUZZ_CHECK(vlans > 0 && (!p->access || vlans == 1));
	FUZZ_CHECK(!bridge_is_member(p, 0) && !bridge_is_member(p, BRIDGE_VID_MAX + 1));
	FUZZ_CHECK(p->rules.pvid <= BRIDGE_VID_MAX);
	FUZZ_CHECK(p->rules.pvid != 0 ? bridge_is_member(p, p->rules.pvid) : !p->access);
	FUZZ_CHECK(p->rules.state <= HY_L2_FORWARDING && p->rules.admit <= HY_L2_ADMIT_UNTAGGED);
	FUZZ_CHECK(p->rules.pvid != 0 || p->rules.admit != HY_L2_ADMIT_UNTAGGED);
	FUZZ_CHECK(p->group <= BRIDGE_GROUP_MAX && p->entries <= HY_L2_ENTRIES_MAX);
	for (unsigned int kind = 0; kind < HY_L2_STORMS; kind++)
		FUZZ_CHECK(p->storm[kind] <= BRIDGE_STORM_MAX);
}

static void
check_file(const struct bridge_file *file)
{
	FUZZ_CHECK(file->tag_type == 0x8100 || file->tag_type == 0x88a8);
	FUZZ_CHECK(file->age <= INT32_MAX);
	FUZZ_CHECK(file->entries >= 1 && file->entries <= HY_L2_ENTRIES_MAX);
	for (unsigned int i = 0; i < PORTS; i++)
		check_port(&file->port[i]);
	for (unsigned int i = PORTS; i < BRIDGE_PORTS; i++)
		FUZZ_CHECK(file->port[i].line == 0);
	for (unsigned int i = 0; i < file->nb_statics; i++) {
		const struct bridge_static *e = &file->statics[i];
		uint8_t mac[6];
		const uint16_t vid = hy_l2_key_split(e->key, mac);

		FUZZ_CHECK(vid >= 1 && vid <= BRIDGE_VID_MAX);
		FUZZ_CHECK(e->port == HY_L2_LOCAL ||
			(e->port < PORTS && bridge_is_member(&file->port[e->port], vid)));
		FUZZ_CHECK(i == 0 || e[-1].key < e->key);
	}
}

/* Writes a list of VLANs. It is no longer than one that was read. */
static void
list_write(FILE *out, const struct bridge_port *p)
{
	const char *comma = "";

	for (uint16_t vid = 1; vid <= BRIDGE_VID_MAX; vid++) {
		const uint16_t first = vid;

		if (!bridge_is_member(p, vid))
			continue;
		while (vid < BRIDGE_VID_MAX && bridge_is_member(p, vid + 1))
			vid++;
		fprintf(out, "%s%u", comma, first);
		if (vid > first)
			fprintf(out, "%s%u", vid == first + 1 ? "," : "-", vid);
		comma = ",";
	}
}

static void
port_write(FILE *out, uint16_t port, const struct bridge_port *p)
{
	static const char *const admits[] = { "all", "tagged", "untagged" };

	fprintf(out, "port %u ", port);
	if (p->access) {
		fprintf(out, "access %u", p->rules.pvid);
	} else {
		fprintf(out, "trunk ");
		list_write(out, p);
		if (p->rules.pvid != 0)
			fprintf(out, " native %u", p->rules.pvid);
	}
	fprintf(out, " state %s learn %s filter %s admit %s", bridge_states[p->rules.state],
		p->rules.learn ? "on" : "off", p->rules.filter ? "on" : "off",
		admits[p->rules.admit]);
	if (p->group != 0)
		fprintf(out, " group %u", p->group);
	if (p->entries != 0)
		fprintf(out, " entries %u", p->entries);
	for (unsigned int kind = 0; kind < HY_L2_STORMS; kind++)
		if (p->storm[kind] != 0)
			fprintf(out, " storm %s %u", bridge_storms[kind], p->storm[kind]);
	fprintf(out, "\n");
}

/* Writes a file as it can be read again. */
static char *
text_of(const struct bridge_file *file, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	FUZZ_CHECK(out != NULL);
	fprintf(out, "tag 0x%04x\nage %u\nentries %u\n", file->tag_type, file->age, file->entries);
	for (unsigned int i = 0; i < PORTS; i++)
		port_write(out, ports[i], &file->port[i]);
	for (unsigned int i = 0; i < file->nb_statics; i++) {
		const struct bridge_static *e = &file->statics[i];
		struct rte_ether_addr mac;
		const uint16_t vid = hy_l2_key_split(e->key, mac.addr_bytes);

		fprintf(out, "static " RTE_ETHER_ADDR_PRT_FMT " vlan %u ",
			RTE_ETHER_ADDR_BYTES(&mac), vid);
		if (e->port == HY_L2_LOCAL)
			fprintf(out, "local\n");
		else
			fprintf(out, "port %u\n", ports[e->port]);
	}
	fclose(out);
	return text;
}

static void
check_same(const struct bridge_file *a, const struct bridge_file *b)
{
	FUZZ_CHECK(a->tag_type == b->tag_type && a->age == b->age && a->entries == b->entries);
	for (unsigned int i = 0; i < PORTS; i++)
		FUZZ_CHECK(memcmp(&a->port[i], &b->port[i], offsetof(struct bridge_port, line)) ==
			0);
	FUZZ_CHECK(a->nb_statics == b->nb_statics);
	for (unsigned int i = 0; i < a->nb_statics; i++)
		FUZZ_CHECK(a->statics[i].key == b->statics[i].key &&
			a->statics[i].port == b->statics[i].port);
}

/* Removes a line, counted from 1. Returns what is left. */
static size_t
line_remove(char *text, size_t size, unsigned long line)
{
	char *from = text, *next, *const end = text + size;

	while (line > 1 && (next = memchr(from, '\n', (size_t)(end - from))) != NULL) {
		from = next + 1;
		line--;
	}
	next = memchr(from, '\n', (size_t)(end - from));
	next = next != NULL ? next + 1 : end;
	memmove(from, next, (size_t)(end - next));
	return size - (size_t)(next - from);
}

/*
 * Reads a file; if a line is refused, without it. Few mutated inputs would be accepted otherwise: a port
 * that has no line, or two, is refused, too.
 */
static struct hy_bridge *
read_most(char *text, size_t size)
{
	char error[HY_BRIDGE_ERROR_SIZE];
	struct hy_bridge *bridge;
	unsigned long line = 1;

	for (unsigned int tries = 0; tries < LINES && line != 0; tries++) {
		const char *path = fuzz_file(text, size);

		error[0] = '\0';
		if (hy_bridge_create(path, ports, PORTS, &bridge, error) == 0)
			return bridge;
		FUZZ_CHECK(bridge == NULL);
		FUZZ_CHECK(strstr(error, path) != NULL);
		FUZZ_CHECK(strlen(error) < sizeof(error) - 1);
		fuzz_check_message(error);
		line = strtoul(strstr(error, path) + strlen(path) + 1, NULL, 10);
		size = line_remove(text, size, line);
	}
	return NULL;
}

static bool
bridge_one(const uint8_t *bytes, size_t size)
{
	char error[HY_BRIDGE_ERROR_SIZE] = "";
	struct hy_bridge *bridge, *again;
	char *text = malloc(size + 1);

	FUZZ_CHECK(text != NULL);
	memcpy(text, bytes, size);
	bridge = read_most(text, size);
	free(text);
	if (bridge == NULL)
		return false;
	check_file(bridge->file);
	text = text_of(bridge->file, &size);
	FUZZ_CHECK(hy_bridge_create(fuzz_file(text, size), ports, PORTS, &again, error) == 0);
	check_same(bridge->file, again->file);
	free(text);
	hy_bridge_destroy(bridge);
	hy_bridge_destroy(again);
	return true;
}

static const char *const texts[] = {
	"port 0 access 10\nport 2 access 10\n",
	"# a comment\n\ntag 0x88a8\nage 0\nentries 100 # few\n"
	"port 0 trunk 10,20-30 native 10 entries 5 storm broadcast 1000 storm unknown 5\r\n"
	"port 2\ttrunk all state blocking learn off filter off admit all group 1\n",
	"port 0 trunk 1-4094 admit tagged storm multicast 7\nport 2 access 4094 admit tagged\n"
	"static 02:00:00:00:00:01 vlan 10 port 0\n"
	"static 01:00:5e:00:00:01 vlan 4094 port 2\n"
	"static 02:00:00:00:00:02 vlan 10 local",
	"port 0 access 10\nport 2 access 10\nstatic 02:00:00:00:00:01 vlan 20 port 0\n",
	NULL,
};

const struct fuzz_target fuzz_bridge = { .name = "bridge", .one = bridge_one, .texts = texts };
