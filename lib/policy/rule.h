/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a rule, as a table: what checks, reads and writes rules goes through it. */
#pragma once

#include <rte_common.h>

#include <hy_policy.h>

enum policy_kind {
	POLICY_NUMBER,
	POLICY_HEX,
	POLICY_PROTO,
	POLICY_RANGE,
	POLICY_PREFIX,
	POLICY_MAC,
	POLICY_FLAGS,
	POLICY_FRAGMENT,
	POLICY_WORD, /* a keyword without a value */
};

/* A part of a rule: where it is, and how it is written as text. */
struct policy_field {
	const char *name;
	enum policy_kind kind;
	uint32_t bit;    /* in hy_flow_match.fields; 0: no field of the match */
	bool is_action;  /* only rules with this action have it */
	uint8_t action;  /* enum hy_rule_action */
	size_t at, size; /* in struct hy_flow_rule; of one element, if it is a range */
	uint32_t min, max;
	const char *accepted;
	size_t more; /* where a prefix's length or a mask is */
};

#define POLICY_FIELDS 25

/* rule_fields.c: the parts of a rule, in the order in which they are written. */
extern const struct policy_field policy_fields[POLICY_FIELDS];

/* A number of the rule; of a range, the first (0) or the last (1). */
static inline uint32_t
policy_number(const struct policy_field *field, const struct hy_flow_rule *rule, unsigned int i)
{
	const void *at = (const char *)rule + field->at + i * field->size;

	return field->size == sizeof(uint32_t)    ? *(const uint32_t *)at
		: field->size == sizeof(uint16_t) ? *(const uint16_t *)at
						  : *(const uint8_t *)at;
}

/* Whether a rule is only for IP packets: for IPv4 unless it has HY_FLOW_IPV6. */
static inline bool
policy_is_ip(const struct hy_flow_match *m)
{
	return (m->fields &
		       (HY_FLOW_IP | HY_FLOW_PORTS | HY_FLOW_TUNNEL | HY_FLOW_TCP | HY_FLOW_ICMP |
			       HY_FLOW_IPV6)) != 0;
}

/* rule_check.c: whether a protocol has ports. */
bool policy_has_ports(uint8_t proto);

/* match_pairs.c: the kinds of fragments that can have a rule's other fields. */
uint8_t policy_possible_fragments(const struct hy_flow_match *m);

/* match.c: whether an IPv6 address has a prefix. */
bool policy_in_prefix6(const uint32_t value[4], const uint32_t prefix[4], uint8_t len);

/* rule_read.c: reads a value. Returns false if it is not what the field accepts. */
bool policy_value_read(const struct policy_field *field, char *text, struct hy_flow_rule *rule);

/* rule_write.c: writes a rule as text. */
void policy_rule_write(FILE *out, const struct hy_flow_rule *rule);

struct policy_word {
	const char *name;
	uint8_t value;
};

#define POLICY_PROTOCOLS 5
#define POLICY_FRAGMENTS 4
/* rule_fields.c */
extern const struct policy_word policy_protocols[POLICY_PROTOCOLS];
extern const struct policy_word policy_fragments[POLICY_FRAGMENTS];
extern const char policy_flags[9]; /* TCP's, the lowest bit first */
