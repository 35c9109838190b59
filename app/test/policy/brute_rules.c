/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules, and the first match among them: see brute.h. */

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "brute.h"

#define BLOCK 64u /* rules that are tried at once */

/* Columns, each of as many words as there are rules, filled up to a whole block. */
enum {
	NEEDS,
	ADDRESS,
	MASK = ADDRESS + 8,
	PROTO = MASK + 8,
	PROTO_MASK,
	PORT_FIRST,
	PORT_WIDTH = PORT_FIRST + 2,
	TYPE = PORT_WIDTH + 2,
	TYPE_MASK,
	COLUMNS
};

static uint32_t
room(const struct brute *brute)
{
	return (brute->n + BLOCK - 1) / BLOCK * BLOCK;
}

static bool
prefix_read(char *text, unsigned int side, struct brute_rule *rule)
{
	char *length = strchr(text, '/');
	const bool ip6 = strchr(text, ':') != NULL;
	int bits = ip6 ? 128 : 32;
	uint32_t words[4] = { 0 };

	if (length != NULL) {
		*length = '\0';
		bits = atoi(length + 1);
	}
	if (inet_pton(ip6 ? AF_INET6 : AF_INET, text, words) != 1)
		return false;
	for (int w = 0; w < 4; w++) {
		const int left = bits - 32 * w;

		rule->address[side][w] = ntohl(words[w]);
		rule->address_mask[side][w] = left <= 0 ? 0
			: left >= 32                    ? UINT32_MAX
							: UINT32_MAX << (32 - left);
	}
	rule->needs |= ip6 ? BRUTE_IP6 : BRUTE_IP4;
	return true;
}

static void
proto_read(const char *text, struct brute_rule *rule)
{
	static const struct {
		const char *name;
		uint32_t proto;
	} names[] = { { "tcp", 6 }, { "udp", 17 }, { "sctp", 132 }, { "icmp", 1 },
		{ "icmp6", 58 } };

	rule->proto = (uint32_t)atoi(text);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(text, names[i].name) == 0)
			rule->proto = names[i].proto;
	rule->proto_mask = UINT32_MAX;
	rule->needs |= BRUTE_PROTO | (strcmp(text, "icmp6") == 0 ? BRUTE_IP6 : 0u);
}

static bool
range_read(const char *text, unsigned int side, struct brute_rule *rule)
{
	const int n = sscanf(text, "%u-%u", &rule->port[side][0], &rule->port[side][1]);

	if (n == 1)
		rule->port[side][1] = rule->port[side][0];
	rule->needs |= BRUTE_PROTO | BRUTE_PORTS;
	return n >= 1;
}

static void
type_read(const char *text, struct brute_rule *rule)
{
	rule->type = (uint32_t)strtoul(text, NULL, 0);
	rule->type_mask = UINT32_MAX;
	rule->needs |= BRUTE_TYPE;
}

/* A field of a rule. */
static bool
field_read(const char *name, char *value, struct brute_rule *rule)
{
	if (strcmp(name, "src") == 0 || strcmp(name, "dst") == 0)
		return prefix_read(value, name[0] == 'd', rule);
	if (strcmp(name, "sport") == 0 || strcmp(name, "dport") == 0)
		return range_read(value, name[0] == 'd', rule);
	if (strcmp(name, "precedence") == 0)
		rule->precedence = (uint32_t)strtoul(value, NULL, 10);
	else if (strcmp(name, "proto") == 0)
		proto_read(value, rule);
	else if (strcmp(name, "type") != 0)
		return false;
	else
		type_read(value, rule);
	return true;
}

static bool
line_read(char *line, struct brute_rule *rule)
{
	char action[8];
	int at = 0;
	char *name, *rest = NULL;

	*rule = (struct brute_rule){ .port = { { 0, UINT16_MAX }, { 0, UINT16_MAX } } };
	if (sscanf(line, "rule %u %7s%n", &rule->id, action, &at) != 2)
		return false;
	rule->deny = strcmp(action, "deny") == 0;
	if (!rule->deny && strcmp(action, "permit") != 0)
		return false;
	for (name = strtok_r(line + at, " \n", &rest); name != NULL;
		name = strtok_r(NULL, " \n", &rest)) {
		char *value = NULL;

		if (strcmp(name, "ip6") == 0) {
			rule->needs |= BRUTE_IP6;
			continue;
		}
		value = strtok_r(NULL, " \n", &rest);
		if (value == NULL || !field_read(name, value, rule))
			return false;
	}
	/* Fields of IP are IPv4's, unless something says IPv6. */
	if ((rule->needs & BRUTE_PROTO) != 0 && (rule->needs & BRUTE_IP6) == 0)
		rule->needs |= BRUTE_IP4;
	return true;
}

static int
by_order(const void *a, const void *b)
{
	const struct brute_rule *x = a, *y = b;

	if (x->precedence != y->precedence)
		return x->precedence < y->precedence ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static void
columns_fill(struct brute *brute)
{
	const uint32_t n = room(brute);

	for (uint32_t i = 0; i < n; i++)
		brute->columns[NEEDS * n + i] = ~(uint32_t)BRUTE_ALL; /* there is no rule */
	for (uint32_t i = 0; i < brute->n; i++) {
		const struct brute_rule *rule = &brute->rules[i];
		uint32_t *column = brute->columns + i;

		column[NEEDS * n] = rule->needs;
		for (uint32_t w = 0; w < 8; w++) {
			column[(ADDRESS + w) * n] = rule->address[w / 4][w % 4];
			column[(MASK + w) * n] = rule->address_mask[w / 4][w % 4];
		}
		column[PROTO * n] = rule->proto;
		column[PROTO_MASK * n] = rule->proto_mask;
		for (uint32_t side = 0; side < 2; side++) {
			column[(PORT_FIRST + side) * n] = rule->port[side][0];
			column[(PORT_WIDTH + side) * n] = rule->port[side][1] - rule->port[side][0];
		}
		column[TYPE * n] = rule->type;
		column[TYPE_MASK * n] = rule->type_mask;
	}
}

int
brute_read(const char *path, struct brute *brute)
{
	FILE *file = fopen(path, "r");
	char line[512];
	uint32_t rooms = 0;

	*brute = (struct brute){ .n = 0 };
	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		if (line[0] == '#')
			continue;
		if (brute->n == rooms) {
			rooms = rooms * 2 + BLOCK;
			brute->rules = realloc(brute->rules, rooms * sizeof(*brute->rules));
		}
		if (brute->rules == NULL || !line_read(line, &brute->rules[brute->n])) {
			fprintf(stderr, "%s: rule %u is none of a 5-tuple\n", path, brute->n + 1);
			fclose(file);
			return -1;
		}
		brute->n++;
	}
	if (file != NULL)
		fclose(file);
	if (brute->n == 0) {
		fprintf(stderr, "%s: there are no rules\n", path);
		return -1;
	}
	qsort(brute->rules, brute->n, sizeof(*brute->rules), by_order);
	brute->columns = calloc(room(brute), COLUMNS * sizeof(uint32_t));
	if (brute->columns == NULL)
		return -1;
	columns_fill(brute);
	return 0;
}

void
brute_free(struct brute *brute)
{
	free(brute->rules);
	free(brute->columns);
}

/* bad[i]: not 0 if rule i of a block does not match. */
static void
block_try(const uint32_t *column, uint32_t n, const struct brute_packet *p, uint32_t bad[BLOCK])
{
	const uint32_t words = (p->has & BRUTE_IP6) != 0 ? 4 : 1;

	for (uint32_t i = 0; i < BLOCK; i++) {
		bad[i] = column[NEEDS * n + i] & ~p->has;
		bad[i] |= (column[PROTO * n + i] ^ p->proto) & column[PROTO_MASK * n + i];
		bad[i] |= (column[TYPE * n + i] ^ p->type) & column[TYPE_MASK * n + i];
	}
	for (uint32_t w = 0; w < words; w++)
		for (uint32_t side = 0; side < 2; side++) {
			const uint32_t *a = column + (ADDRESS + 4 * side + w) * n;
			const uint32_t *mask = column + (MASK + 4 * side + w) * n;

			for (uint32_t i = 0; i < BLOCK; i++)
				bad[i] |= (a[i] ^ p->address[side][w]) & mask[i];
		}
	for (uint32_t side = 0; side < 2; side++) {
		const uint32_t *first = column + (PORT_FIRST + side) * n;
		const uint32_t *width = column + (PORT_WIDTH + side) * n;

		for (uint32_t i = 0; i < BLOCK; i++)
			bad[i] |= p->port[side] - first[i] > width[i];
	}
}

/* Of packets without ports, rules with ports need them: the ranges of others hold all numbers. */
uint32_t
brute_first(const struct brute *brute, const struct brute_packet *packet)
{
	uint32_t bad[BLOCK];

	for (uint32_t block = 0; block < brute->n; block += BLOCK) {
		block_try(brute->columns + block, room(brute), packet, bad);
		for (uint32_t i = 0; i < BLOCK; i++)
			if (bad[i] == 0)
				return block + i;
	}
	return BRUTE_NONE;
}
