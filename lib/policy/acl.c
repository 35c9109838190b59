/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules in rte_acl: a trie, walked four bytes of a key at a time for several keys at once. */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include <rte_acl.h>
#include <rte_byteorder.h>
#include <rte_malloc.h>

#include <hy_file.h>

#include "policy.h"

/* rte_acl reads the first byte of a key, and then words of 4 bytes in network order. */
struct acl_key {
	uint8_t has; /* HAS_ bits */
	uint8_t pad[3];
	rte_be32_t src, dst;
	rte_be16_t sport, dport;
	rte_be16_t ether_type, vlan;
	rte_be16_t proto, dscp;
	rte_be32_t tunnel;
};

/* HY_FLOW_ bits that packets have together, in a byte. */
#define HAS_ETHER_TYPE 1
#define HAS_VLAN 2
#define HAS_IP4 4
#define HAS_PORTS 8
#define HAS_TUNNEL 16

enum {
	FIELD_HAS,
	FIELD_SRC,
	FIELD_DST,
	FIELD_SPORT,
	FIELD_DPORT,
	FIELD_ETHER_TYPE,
	FIELD_VLAN,
	FIELD_PROTO,
	FIELD_DSCP,
	FIELD_TUNNEL,
	FIELDS
};

#define FIELD(index, word, kind, member) \
	[index] = { .type = RTE_ACL_FIELD_TYPE_##kind, \
		.size = sizeof(((struct acl_key *)0)->member), \
		.field_index = (index), \
		.input_index = (word), \
		.offset = offsetof(struct acl_key, member) }

static const struct rte_acl_config config = {
	.num_categories = 1,
	.num_fields = FIELDS,
	.defs = {
		FIELD(FIELD_HAS, 0, BITMASK, has),
		FIELD(FIELD_SRC, 1, MASK, src),
		FIELD(FIELD_DST, 2, MASK, dst),
		FIELD(FIELD_SPORT, 3, RANGE, sport),
		FIELD(FIELD_DPORT, 3, RANGE, dport),
		FIELD(FIELD_ETHER_TYPE, 4, BITMASK, ether_type),
		FIELD(FIELD_VLAN, 4, BITMASK, vlan),
		FIELD(FIELD_PROTO, 5, BITMASK, proto),
		FIELD(FIELD_DSCP, 5, BITMASK, dscp),
		FIELD(FIELD_TUNNEL, 6, BITMASK, tunnel),
	},
};

RTE_ACL_RULE_DEF(acl_rule, FIELDS);

static uint8_t
has_of(uint32_t fields)
{
	const bool is_ip4 = (fields & HY_FLOW_IPV6) == 0 &&
		(fields & (HY_FLOW_IP4 | HY_FLOW_PORTS | HY_FLOW_TUNNEL)) != 0;

	return (uint8_t)(((fields & HY_FLOW_ETHER_TYPE) != 0 ? HAS_ETHER_TYPE : 0) |
		((fields & HY_FLOW_VLAN) != 0 ? HAS_VLAN : 0) | (is_ip4 ? HAS_IP4 : 0) |
		((fields & HY_FLOW_PORTS) != 0 ? HAS_PORTS : 0) |
		((fields & HY_FLOW_TUNNEL) != 0 ? HAS_TUNNEL : 0));
}

static void
range_of(bool named, const uint16_t range[2], struct rte_acl_field *field)
{
	field->value.u16 = range[0];
	field->mask_range.u16 = named ? range[1] : UINT16_MAX;
}

/* A field of up to 4 bytes that a rule matches exactly or not at all. */
static void
exact_of(bool named, uint32_t value, struct rte_acl_field *field)
{
	field->value.u32 = value;
	field->mask_range.u32 = named ? UINT32_MAX : 0;
}

static void
acl_rule_of(const struct hy_flow_match *m, struct rte_acl_field field[])
{
	const uint32_t f = m->fields;

	field[FIELD_HAS].value.u8 = has_of(f);
	field[FIELD_HAS].mask_range.u8 = has_of(f);
	field[FIELD_SRC].value.u32 = m->src;
	field[FIELD_SRC].mask_range.u32 = m->src_len;
	field[FIELD_DST].value.u32 = m->dst;
	field[FIELD_DST].mask_range.u32 = m->dst_len;
	range_of(f & HY_FLOW_SPORT, m->sport, &field[FIELD_SPORT]);
	range_of(f & HY_FLOW_DPORT, m->dport, &field[FIELD_DPORT]);
	exact_of(f & HY_FLOW_ETHER_TYPE, m->ether_type, &field[FIELD_ETHER_TYPE]);
	exact_of(f & HY_FLOW_VLAN, m->vlan, &field[FIELD_VLAN]);
	exact_of(f & HY_FLOW_PROTO, m->proto, &field[FIELD_PROTO]);
	exact_of(f & HY_FLOW_DSCP, m->dscp, &field[FIELD_DSCP]);
	exact_of(f & HY_FLOW_TUNNEL, m->tunnel, &field[FIELD_TUNNEL]);
}

/* Of n rules from a rank on. */
static int
acl_fill(struct rte_acl_ctx *acl, const struct hy_policy_rule *rules, uint32_t first, uint32_t n)
{
	struct acl_rule *acl_rules = calloc(n, sizeof(*acl_rules));
	int rc;

	if (acl_rules == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		acl_rules[i].data = (struct rte_acl_rule_data){ .category_mask = 1,
			.priority = (int32_t)(n - i), /* highest wins */
			.userdata = first + i + 1 };  /* 0 is no match */
		acl_rule_of(&rules[first + i].rule.match, acl_rules[i].field);
	}
	rc = rte_acl_add_rules(acl, (struct rte_acl_rule *)acl_rules, n);
	free(acl_rules);
	return rc;
}

/* Fails with -E2BIG if rte_acl cannot build a trie of so many rules, or has no memory for it. */
static int
part_create(const struct hy_policy_rule *rules, uint32_t first, uint32_t n, int socket,
	struct rte_acl_ctx **out)
{
	static uint64_t serial; /* rte_acl would find another one of the same name */
	char name[RTE_ACL_NAMESIZE];
	const struct rte_acl_param params = {
		.name = name,
		.socket_id = socket,
		.rule_size = sizeof(struct acl_rule),
		.max_rule_num = n,
	};
	struct rte_acl_ctx *acl;
	int rc;

	snprintf(name, sizeof(name), "hy_policy_%" PRIu64,
		__atomic_fetch_add(&serial, 1, __ATOMIC_RELAXED));
	acl = rte_acl_create(&params);
	if (acl == NULL)
		return -ENOMEM;
	rc = acl_fill(acl, rules, first, n);
	if (rc == 0 && rte_acl_build(acl, &config) < 0)
		rc = -E2BIG;
	if (rc < 0)
		rte_acl_free(acl);
	else
		*out = acl;
	return rc;
}

/*
 * rte_acl merges rules into at most eight tries. Many rules that overlap in many fields do not fit,
 * and are halved until they do. That may take minutes: it can be stopped before each try.
 */
static int
parts_create(const struct hy_policy_rule *rules, uint32_t first, uint32_t n, int socket,
	struct hy_policy_compiled *to)
{
	int rc;

	if (hy_file_stops())
		return -EINTR;
	if (to->nb_acls == RTE_DIM(to->acls))
		return -E2BIG;
	rc = part_create(rules, first, n, socket, &to->acls[to->nb_acls]);
	if (rc == 0)
		to->nb_acls++;
	if (rc != -E2BIG || n == 1)
		return rc;
	rc = parts_create(rules, first, n / 2, socket, to);
	return rc < 0 ? rc : parts_create(rules, first + n / 2, n - n / 2, socket, to);
}

/* Whether rte_acl's keys have all fields of the rules; else they are tried one by one. */
static bool
can_compile(const struct hy_policy_view *view)
{
	for (uint32_t rank = 0; rank < view->nb_rules; rank++)
		if ((view->rules[rank].rule.match.fields & ~(uint32_t)HY_FLOW_ALL) != 0)
			return false;
	return true;
}

int
policy_acl_create(struct hy_policy_view *view, int socket)
{
	struct hy_policy_compiled *compiled;

	if (view->nb_rules == 0 || !can_compile(view))
		return 0;
	compiled = rte_zmalloc_socket("hy_policy_compiled", sizeof(*compiled), RTE_CACHE_LINE_SIZE,
		socket);
	view->compiled = compiled;
	return compiled == NULL ? -ENOMEM
				: parts_create(view->rules, 0, view->nb_rules, socket, compiled);
}

void
policy_acl_destroy(struct hy_policy_view *view)
{
	struct hy_policy_compiled *compiled = (struct hy_policy_compiled *)(uintptr_t)
						      view->compiled;

	while (compiled != NULL && compiled->nb_acls > 0)
		rte_acl_free(compiled->acls[--compiled->nb_acls]);
	rte_free(compiled);
}

static inline void
acl_key_of(const struct hy_flow_key *key, struct acl_key *to)
{
	to->has = has_of(key->has);
	to->src = rte_cpu_to_be_32(key->src);
	to->dst = rte_cpu_to_be_32(key->dst);
	to->sport = rte_cpu_to_be_16(key->sport);
	to->dport = rte_cpu_to_be_16(key->dport);
	to->ether_type = rte_cpu_to_be_16(key->ether_type);
	to->vlan = rte_cpu_to_be_16(key->vlan);
	to->proto = rte_cpu_to_be_16(key->proto);
	to->dscp = rte_cpu_to_be_16(key->dscp);
	to->tunnel = rte_cpu_to_be_32(key->tunnel);
}

#define CHUNK 64 /* keys at a time, on the stack */

/* The first part that knows a key has its rule: parts are in order of ranks. */
static void
classify_chunk(const struct hy_policy_compiled *compiled, const uint8_t *data[], uint32_t rank[],
	uint32_t n)
{
	uint32_t found[CHUNK];

	rte_acl_classify(compiled->acls[0], data, rank, n, 1);
	for (uint32_t part = 1; part < compiled->nb_acls; part++) {
		rte_acl_classify(compiled->acls[part], data, found, n, 1);
		for (uint32_t i = 0; i < n; i++)
			rank[i] = rank[i] == 0 ? found[i] : rank[i];
	}
	for (uint32_t i = 0; i < n; i++)
		rank[i]--; /* 0, no match, becomes HY_POLICY_NONE */
}

void
hy_policy_classify_compiled(const struct hy_policy_view *view, const struct hy_flow_key key[],
	uint32_t rank[], uint32_t n)
{
	struct acl_key acl_key[CHUNK];
	const struct hy_policy_compiled *compiled = __atomic_load_n(&view->compiled,
		__ATOMIC_ACQUIRE);
	const uint8_t *data[CHUNK];

	if (compiled == NULL) {
		hy_policy_classify_linear(view, key, rank, n);
		return;
	}
	for (uint32_t done = 0; done < n; done += CHUNK) {
		const uint32_t now = RTE_MIN(n - done, (uint32_t)CHUNK);

		for (uint32_t i = 0; i < now; i++) {
			acl_key_of(&key[done + i], &acl_key[i]);
			data[i] = (const uint8_t *)&acl_key[i];
		}
		classify_chunk(compiled, data, rank + done, now);
	}
}
