/* SPDX-License-Identifier: BSD-3-Clause */
/* rte_acl alone; see acl.h. */

#include <stdlib.h>

#include <rte_acl.h>
#include <rte_byteorder.h>
#include <rte_cycles.h>

#include "acl.h"
#include "bench.h"
#include "lib/policy/engine/acl_tables.h"

struct raw_key {
	uint8_t proto;
	uint8_t pad[3];
	rte_be32_t src, dst;
	rte_be16_t sport, dport;
};

struct acl_raw {
	struct rte_acl_ctx *acl;
	struct raw_key *keys;
	const uint8_t **data;
};

#define FIELDS 5

RTE_ACL_RULE_DEF(raw_rule, FIELDS);

#define FIELD(index, word, kind, member) \
	[index] = { .type = RTE_ACL_FIELD_TYPE_##kind, \
		.size = sizeof(((struct raw_key *)0)->member), \
		.field_index = (index), \
		.input_index = (word), \
		.offset = offsetof(struct raw_key, member) }

static const struct rte_acl_config config = {
	.num_categories = 1,
	.num_fields = FIELDS,
	.defs = { FIELD(0, 0, BITMASK, proto), FIELD(1, 1, MASK, src), FIELD(2, 2, MASK, dst),
		FIELD(3, 3, RANGE, sport), FIELD(4, 3, RANGE, dport) },
};

static int
rules_add(struct rte_acl_ctx *acl, const struct hy_flow_rule *rules, uint32_t n)
{
	struct raw_rule *raw = bench_alloc(n, sizeof(*raw));
	int rc;

	for (uint32_t i = 0; i < n; i++) {
		const struct hy_flow_match *m = &rules[i].match;
		struct rte_acl_field *f = raw[i].field;

		raw[i].data = (struct rte_acl_rule_data){
			.category_mask = 1, .priority = (int32_t)(n - i), .userdata = i + 1
		};
		f[0].value.u8 = m->proto;
		f[0].mask_range.u8 = m->fields & HY_FLOW_PROTO ? UINT8_MAX : 0;
		f[1].value.u32 = m->src;
		f[1].mask_range.u32 = m->src_len;
		f[2].value.u32 = m->dst;
		f[2].mask_range.u32 = m->dst_len;
		f[3].value.u16 = m->sport[0];
		f[3].mask_range.u16 = m->fields & HY_FLOW_SPORT ? m->sport[1] : UINT16_MAX;
		f[4].value.u16 = m->dport[0];
		f[4].mask_range.u16 = m->fields & HY_FLOW_DPORT ? m->dport[1] : UINT16_MAX;
	}
	rc = rte_acl_add_rules(acl, (struct rte_acl_rule *)raw, n);
	free(raw);
	return rc;
}

struct acl_raw *
acl_raw_create(const struct acl_set *set, uint64_t *bytes, uint64_t *build_us)
{
	const struct rte_acl_param params = { .name = "bench_raw",
		.socket_id = SOCKET_ID_ANY,
		.rule_size = sizeof(struct raw_rule),
		.max_rule_num = set->n };
	const struct hy_flow_key *keys = set->keys;
	struct acl_raw *raw;
	uint64_t before, start;

	if (!set->five) {
		bench_cannot("rules of other fields than IPv4's 5-tuple");
		return NULL;
	}
	raw = bench_alloc(1, sizeof(*raw));
	before = acl_heaps_used();
	start = rte_rdtsc();
	raw->acl = rte_acl_create(&params);
	if (raw->acl == NULL || rules_add(raw->acl, set->rules, set->n) < 0 ||
		rte_acl_build(raw->acl, &config) < 0) {
		bench_cannot("rte_acl does not take %u rules", set->n);
		acl_raw_free(raw);
		return NULL;
	}
	*build_us = (rte_rdtsc() - start) * 1000000 / rte_get_tsc_hz();
	*bytes = acl_heaps_used() - before;
	raw->keys = bench_alloc(ACL_PACKETS, sizeof(*raw->keys));
	raw->data = bench_alloc(ACL_PACKETS, sizeof(*raw->data));
	for (uint32_t i = 0; i < ACL_PACKETS; i++) {
		raw->keys[i] = (struct raw_key){ .proto = keys[i].proto,
			.src = rte_cpu_to_be_32(keys[i].src),
			.dst = rte_cpu_to_be_32(keys[i].dst),
			.sport = rte_cpu_to_be_16(keys[i].sport),
			.dport = rte_cpu_to_be_16(keys[i].dport) };
		raw->data[i] = &raw->keys[i].proto;
	}
	return raw;
}

uint64_t
acl_raw_run(const struct acl_raw *raw, uint32_t nb_keys)
{
	uint32_t found[ACL_BURST];
	uint64_t sum = 0;

	for (uint32_t i = 0; i < nb_keys; i += ACL_BURST) {
		rte_acl_classify(raw->acl, raw->data + i, found, ACL_BURST, 1);
		for (unsigned int j = 0; j < ACL_BURST; j++)
			sum += found[j] - 1;
	}
	return sum;
}

void
acl_raw_free(struct acl_raw *raw)
{
	if (raw == NULL)
		return;
	rte_acl_free(raw->acl);
	free(raw->keys);
	free(raw->data);
	free(raw);
}
