/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules as rte_acl takes them. */

#include <stddef.h>
#include <string.h>

#include <rte_ether.h>

#include "acl_tables.h"

enum {
	FIELD_CODE,
	FIELD_SRC,
	FIELD_DST = FIELD_SRC + 4,
	FIELD_SPORT = FIELD_DST + 4,
	FIELD_DPORT,
	FIELD_DSCP,
	FIELD_FRAGMENT,
	FIELD_TCP_FLAGS,
	FIELD_ICMP_TYPE,
	FIELD_ICMP_CODE,
	FIELD_VLAN,
	FIELD_ETHER_TYPE,
	FIELD_HAS,
	FIELD_TUNNEL,
	FIELD_SRC_MAC_HIGH,
	FIELD_DST_MAC_HIGH,
	FIELD_SRC_MAC_LOW,
	FIELD_DST_MAC_LOW,
	FIELDS
};

_Static_assert(FIELDS == ACL_FIELDS, "a field was added");

#define FIELD_AT(index, word, kind, bytes, at) \
	[index] = { .type = RTE_ACL_FIELD_TYPE_##kind, \
		.size = (bytes), \
		.field_index = (index), \
		.input_index = (word), \
		.offset = (at) }
#define FIELD(index, word, kind, member) \
	FIELD_AT(index, word, kind, sizeof(((struct acl_key *)0)->member), \
		offsetof(struct acl_key, member))

/* rte_acl leaves out words for which no rule of a trie asks. */
static const struct rte_acl_field_def fields[FIELDS] = {
	FIELD(FIELD_CODE, 0, BITMASK, few.code),
	FIELD(FIELD_SRC, 1, MASK, few.src),
	FIELD(FIELD_SRC + 1, 2, MASK, src_rest[0]),
	FIELD(FIELD_SRC + 2, 3, MASK, src_rest[1]),
	FIELD(FIELD_SRC + 3, 4, MASK, src_rest[2]),
	FIELD(FIELD_DST, 5, MASK, few.dst),
	FIELD(FIELD_DST + 1, 6, MASK, dst_rest[0]),
	FIELD(FIELD_DST + 2, 7, MASK, dst_rest[1]),
	FIELD(FIELD_DST + 3, 8, MASK, dst_rest[2]),
	FIELD_AT(FIELD_SPORT, 9, RANGE, 2, offsetof(struct acl_key, few.ports)),
	FIELD_AT(FIELD_DPORT, 9, RANGE, 2, offsetof(struct acl_key, few.ports) + 2),
	FIELD(FIELD_DSCP, 10, BITMASK, dscp),
	FIELD(FIELD_FRAGMENT, 10, BITMASK, fragment),
	FIELD(FIELD_TCP_FLAGS, 10, BITMASK, tcp_flags),
	FIELD(FIELD_ICMP_TYPE, 10, RANGE, icmp_type),
	FIELD(FIELD_ICMP_CODE, 11, RANGE, icmp_code),
	FIELD(FIELD_VLAN, 11, BITMASK, vlan),
	FIELD(FIELD_ETHER_TYPE, 12, BITMASK, ether_type),
	FIELD(FIELD_HAS, 13, BITMASK, has),
	FIELD(FIELD_TUNNEL, 14, BITMASK, tunnel),
	FIELD(FIELD_SRC_MAC_HIGH, 15, BITMASK, src_mac_high),
	FIELD(FIELD_DST_MAC_HIGH, 15, BITMASK, dst_mac_high),
	FIELD(FIELD_SRC_MAC_LOW, 16, BITMASK, src_mac_low),
	FIELD(FIELD_DST_MAC_LOW, 17, BITMASK, dst_mac_low),
};

static bool
is_ip6_only(unsigned int field)
{
	return (field > FIELD_SRC && field < FIELD_DST) ||
		(field > FIELD_DST && field < FIELD_SPORT);
}

/* rte_acl (22.11) finds wrong rules if a field's index is not its place. */
void
acl_config_make(enum acl_family family, struct rte_acl_config *config)
{
	*config = (struct rte_acl_config){ .num_categories = 1 };
	for (unsigned int i = 0; i < FIELDS; i++) {
		if (family != ACL_IPV6 && is_ip6_only(i))
			continue;
		config->defs[config->num_fields] = fields[i];
		config->defs[config->num_fields].field_index = (uint8_t)config->num_fields;
		config->num_fields++;
	}
}

/* What all packets of a family have. */
static uint32_t
always_has(enum acl_family family)
{
	static const uint32_t always[] = {
		[ACL_IPV4] = HY_FLOW_IPV4 | HY_FLOW_ETHER_TYPE | HY_FLOW_IP4,
		[ACL_IPV6] = HY_FLOW_IPV6 | HY_FLOW_ETHER_TYPE | HY_FLOW_SRC | HY_FLOW_DST |
			HY_FLOW_DSCP,
		[ACL_OTHER] = 0,
	};

	return always[family];
}

/* The ports of a key come together, and so do ICMP's fields: one bit for both is enough. */
static uint32_t
bits_for(uint32_t needs)
{
	const uint32_t seconds = HY_FLOW_DPORT | HY_FLOW_ICMP_CODE;

	return (needs & ~seconds) | ((needs & HY_FLOW_DPORT) != 0 ? HY_FLOW_SPORT : 0) |
		((needs & HY_FLOW_ICMP_CODE) != 0 ? HY_FLOW_ICMP_TYPE : 0);
}

bool
acl_rule_fits(const struct hy_flow_match *match, enum acl_family family)
{
	static const uint16_t types[] = { RTE_ETHER_TYPE_IPV4, RTE_ETHER_TYPE_IPV6 };
	const uint32_t of_families = HY_FLOW_IPV4 | HY_FLOW_IPV6;
	const uint32_t needs = policy_needs(match);

	return (needs & of_families & ~always_has(family)) == 0 &&
		((needs & HY_FLOW_ETHER_TYPE) == 0 || family == ACL_OTHER ||
			match->ether_type == types[family]);
}

/* The bits that rules ask for, and the protocols, each once. */
static unsigned int
wanted(const struct policy_build *build, enum acl_family family, uint32_t *bits, bool *more,
	bool proto[256])
{
	const uint32_t few = HY_FLOW_5_TUPLE | HY_FLOW_IPV6 |
		(family == ACL_OTHER ? 0 : HY_FLOW_ETHER_TYPE);
	unsigned int nb_protos = 0;

	for (uint32_t i = 0; i < build->n; i++) {
		const struct hy_flow_match *m = &build->rules[i].rule.match;

		if (!acl_rule_fits(m, family))
			continue;
		*bits |= bits_for(m->fields) & ~always_has(family);
		*more |= (m->fields & ~few) != 0;
		if ((m->fields & HY_FLOW_PROTO) != 0) {
			nb_protos += !proto[m->proto];
			proto[m->proto] = true;
		}
	}
	return nb_protos;
}

void
acl_code_make(const struct policy_build *build, enum acl_family family, struct acl_code *code,
	bool *more)
{
	bool proto[256] = { false };
	const unsigned int nb_protos = wanted(build, family, &code->bits, more, proto);
	const unsigned int nb_bits = (unsigned int)__builtin_popcount(code->bits);
	unsigned int at = 0, next = 0;

	code->fits = nb_bits < 8 && nb_protos < RTE_BIT32(8 - nb_bits);
	if (!code->fits) {
		code->proto_mask = UINT8_MAX;
		for (unsigned int p = 0; p < 256; p++)
			code->proto[p] = (uint8_t)p;
		*more = true;
		return;
	}
	for (unsigned int bit = 0; bit < 16; bit++) {
		if ((code->bits & RTE_BIT32(bit)) == 0)
			continue;
		for (unsigned int byte = 0; byte < 256; byte++)
			if ((byte & RTE_BIT32(bit % 8)) != 0)
				code->has[bit / 8][byte] |= (uint8_t)RTE_BIT32(at);
		at++;
	}
	code->proto_mask = (uint8_t)(UINT8_MAX << at);
	for (unsigned int p = 0; p < 256; p++)
		if (proto[p])
			code->proto[p] = (uint8_t)(++next << at);
}

/* A field that a rule matches by some bits. */
static void
bits_of(struct rte_acl_field *field, uint32_t value, uint32_t mask)
{
	field->value.u32 = value;
	field->mask_range.u32 = mask;
}

static void
exact_of(struct rte_acl_field *field, bool named, uint32_t value)
{
	bits_of(field, value, named ? UINT32_MAX : 0);
}

static void
range_of(struct rte_acl_field *field, bool named, uint16_t first, uint16_t last, uint16_t max)
{
	field->value.u16 = first;
	field->mask_range.u16 = named ? last : max;
}

static void
prefix_of(struct rte_acl_field field[4], const uint32_t address[4], uint8_t len)
{
	for (unsigned int word = 0; word < 4; word++) {
		field[word].value.u32 = address[word];
		field[word].mask_range.u32 = len > 32 ? 32 : len;
		len -= (uint8_t)field[word].mask_range.u32;
	}
}

static void
code_of(struct rte_acl_field field[], const struct hy_flow_match *m, const struct acl_code *code,
	uint32_t has)
{
	uint8_t value = 0, mask = 0;

	if ((m->fields & HY_FLOW_PROTO) != 0) {
		value = code->proto[m->proto];
		mask = code->proto_mask;
	}
	if (code->fits) {
		const uint8_t bits = code->has[0][has & 0xff] | code->has[1][has >> 8 & 0xff];

		value |= bits;
		mask |= bits;
	}
	field[FIELD_CODE].value.u8 = value;
	field[FIELD_CODE].mask_range.u8 = mask;
	bits_of(&field[FIELD_HAS], code->fits ? 0 : has, code->fits ? 0 : has);
}

static void
macs_of(struct rte_acl_field field[], const struct hy_flow_match *m)
{
	bits_of(&field[FIELD_SRC_MAC_HIGH], (uint32_t)(m->src_mac >> 32),
		(uint32_t)(m->src_mac_mask >> 32));
	bits_of(&field[FIELD_DST_MAC_HIGH], (uint32_t)(m->dst_mac >> 32),
		(uint32_t)(m->dst_mac_mask >> 32));
	bits_of(&field[FIELD_SRC_MAC_LOW], (uint32_t)m->src_mac, (uint32_t)m->src_mac_mask);
	bits_of(&field[FIELD_DST_MAC_LOW], (uint32_t)m->dst_mac, (uint32_t)m->dst_mac_mask);
}

void
acl_rule_make(const struct hy_flow_match *m, const struct acl_code *code, enum acl_family family,
	struct rte_acl_field to[ACL_FIELDS])
{
	struct rte_acl_field field[FIELDS] = { 0 };
	const uint32_t f = m->fields;
	unsigned int next = 0;

	code_of(field, m, code, bits_for(policy_needs(m)) & code->bits);
	prefix_of(&field[FIELD_SRC], m->src6, m->src_len);
	prefix_of(&field[FIELD_DST], m->dst6, m->dst_len);
	range_of(&field[FIELD_SPORT], f & HY_FLOW_SPORT, m->sport[0], m->sport[1], UINT16_MAX);
	range_of(&field[FIELD_DPORT], f & HY_FLOW_DPORT, m->dport[0], m->dport[1], UINT16_MAX);
	exact_of(&field[FIELD_DSCP], f & HY_FLOW_DSCP, m->dscp);
	/* A key that has this field has one bit: one that is none of the others is among these. */
	bits_of(&field[FIELD_FRAGMENT], 0, f & HY_FLOW_FRAGMENT ? (uint8_t)~m->fragments : 0);
	bits_of(&field[FIELD_TCP_FLAGS], m->tcp_flags, m->tcp_mask);
	range_of(&field[FIELD_ICMP_TYPE], f & HY_FLOW_ICMP_TYPE, m->icmp_type[0], m->icmp_type[1],
		UINT8_MAX);
	range_of(&field[FIELD_ICMP_CODE], f & HY_FLOW_ICMP_CODE, m->icmp_code[0], m->icmp_code[1],
		UINT16_MAX);
	exact_of(&field[FIELD_VLAN], f & HY_FLOW_VLAN, m->vlan);
	exact_of(&field[FIELD_ETHER_TYPE], family == ACL_OTHER && (f & HY_FLOW_ETHER_TYPE) != 0,
		m->ether_type);
	exact_of(&field[FIELD_TUNNEL], f & HY_FLOW_TUNNEL, m->tunnel);
	macs_of(field, m);
	for (unsigned int i = 0; i < FIELDS; i++)
		if (family == ACL_IPV6 || !is_ip6_only(i))
			to[next++] = field[i];
}
