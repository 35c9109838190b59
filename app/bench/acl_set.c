/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of rules and packets for hy-bench acl; see acl.h. */

#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_common.h>
#include <rte_ip.h>
#include <rte_tcp.h>

#include <hy_policy_format.h>

#include "acl.h"
#include "app/hy-policy/generate.h"
#include "lib/policy/policy.h"

static void
rules_generate(struct acl_set *set, const char *kind, enum acl_versions versions, uint64_t seed)
{
	struct hy_flow_rule *other = bench_alloc(set->n, sizeof(*other));
	enum generate_kind k = GENERATE_ACL;

	while (strcmp(generate_names[k], kind) != 0)
		k++;
	set->rules = bench_alloc(set->n, sizeof(*set->rules));
	if (policy_generate(k, versions == ACL_IP6, seed, set->n, set->rules) < 0 ||
		(versions == ACL_MIXED && policy_generate(k, true, seed, set->n, other) < 0))
		bench_fail("%u rules cannot be generated", set->n);
	for (uint32_t i = 1; versions == ACL_MIXED && i < set->n; i += 2)
		set->rules[i] = other[i];
	free(other);
}

static void
rules_read(struct acl_set *set)
{
	char error[HY_POLICY_ERROR_SIZE];
	struct hy_policy_file file;

	if (hy_policy_read(bench_settings()->rules, HY_POLICY_ANY, POLICY_RULES_MAX, &file, error) <
		0)
		bench_fail("--rules: %s", error);
	set->n = file.nb_rules;
	set->rules = bench_alloc(set->n, sizeof(*set->rules));
	memcpy(set->rules, file.rules, set->n * sizeof(*set->rules));
	hy_policy_file_free(&file);
}

/* An address of a prefix, as it stands in a header. */
static void
address_write(uint8_t *to, const uint32_t prefix[4], uint8_t len, unsigned int words)
{
	for (unsigned int w = 0; w < words; w++) {
		const unsigned int bits = len <= 32 * w ? 0 : RTE_MIN(len - 32 * w, 32u);
		const rte_be32_t be = rte_cpu_to_be_32(prefix[w] |
			(bits == 32 ? 0 : bench_random() >> bits));

		memcpy(to + 4 * w, &be, sizeof(be));
	}
}

static void
port_write(uint8_t *to, bool named, const uint16_t range[2])
{
	const uint32_t r = bench_random();
	const rte_be16_t be =
		rte_cpu_to_be_16((uint16_t)(named ? range[0] + r % (range[1] - range[0] + 1u) : r));

	memcpy(to, &be, sizeof(be));
}

/* A frame that a rule matches. Of fields other than the 5-tuple, it has none. */
static void
frame_write(uint8_t *frame, const struct hy_flow_match *m)
{
	const bool ip6 = (m->fields & HY_FLOW_IPV6) != 0;
	const rte_be16_t type = rte_cpu_to_be_16(ip6 ? RTE_ETHER_TYPE_IPV6 : RTE_ETHER_TYPE_IPV4);
	const uint8_t proto = m->fields & HY_FLOW_PROTO ? m->proto : IPPROTO_TCP;
	uint8_t *ip = frame + RTE_ETHER_HDR_LEN, *l4;

	memset(frame, 0, ACL_FRAME);
	memcpy(frame + 2 * RTE_ETHER_ADDR_LEN, &type, sizeof(type));
	if (ip6) {
		l4 = ip + sizeof(struct rte_ipv6_hdr);
		ip[0] = 0x60;
		ip[offsetof(struct rte_ipv6_hdr, proto)] = proto;
		address_write(ip + offsetof(struct rte_ipv6_hdr, src_addr), m->src6, m->src_len, 4);
		address_write(ip + offsetof(struct rte_ipv6_hdr, dst_addr), m->dst6, m->dst_len, 4);
	} else {
		l4 = ip + sizeof(struct rte_ipv4_hdr);
		ip[0] = RTE_IPV4_VHL_DEF;
		ip[offsetof(struct rte_ipv4_hdr, next_proto_id)] = proto;
		address_write(ip + offsetof(struct rte_ipv4_hdr, src_addr), m->src6, m->src_len, 1);
		address_write(ip + offsetof(struct rte_ipv4_hdr, dst_addr), m->dst6, m->dst_len, 1);
	}
	port_write(l4, m->fields & HY_FLOW_SPORT, m->sport);
	port_write(l4 + 2, m->fields & HY_FLOW_DPORT, m->dport);
}

uint32_t
acl_set_rank(const struct acl_set *set, const struct hy_flow_key *key)
{
	for (uint32_t rank = 0; rank < set->n; rank++)
		if (hy_flow_matches(&set->rules[rank].match, key))
			return rank;
	return HY_POLICY_NONE;
}

static void
packets_make(struct acl_set *set, bool miss)
{
	set->frames = bench_alloc(ACL_PACKETS, sizeof(*set->frames));
	set->keys = bench_alloc(ACL_PACKETS, sizeof(*set->keys));
	set->ranks = bench_alloc(ACL_PACKETS, sizeof(*set->ranks));
	for (unsigned int i = 0; i < ACL_PACKETS; i++) {
		const struct hy_flow_match *drawn = &set->rules[bench_random() % set->n].match;
		const struct hy_flow_match none = { .fields = drawn->fields & HY_FLOW_IPV6 };

		frame_write(set->frames[i], miss ? &none : drawn);
		hy_flow_key(set->frames[i], ACL_FRAME, &set->keys[i]);
		set->ranks[i] = acl_set_rank(set, &set->keys[i]);
		set->expected += set->ranks[i];
	}
}

struct acl_set *
acl_set_make(const char *name, const char *kind, enum acl_versions versions, uint64_t seed,
	uint32_t n, bool miss)
{
	struct acl_set *set = bench_alloc(1, sizeof(*set));

	*set = (struct acl_set){ .name = name, .n = n, .five = true };
	if (kind == NULL)
		rules_read(set);
	else
		rules_generate(set, kind, versions, seed);
	if (set->n == 0)
		bench_fail("%s: there are no rules", name);
	for (uint32_t i = 0; i < set->n; i++) {
		set->rules[i].id = i + 1;
		set->rules[i].precedence = i;
		set->five &= (set->rules[i].match.fields & ~(uint32_t)HY_FLOW_5_TUPLE) == 0;
	}
	packets_make(set, miss);
	return set;
}

void
acl_set_free(struct acl_set *set)
{
	free(set->rules);
	free(set->frames);
	free(set->keys);
	free(set->ranks);
	free(set);
}

struct hy_policy *
acl_policy(const struct acl_set *set, const char *engine, struct rte_rcu_qsbr *qsbr)
{
	const struct hy_policy_params params = { .max_rules = set->n + POLICY_OVERLAY_CHANGES,
		.workers = 1,
		.socket = SOCKET_ID_ANY,
		.qsbr = qsbr,
		.access = true };
	const struct policy_staged staged = {
		.rules = set->rules, .n = set->n, .default_action = HY_RULE_PERMIT
	};
	struct hy_policy *policy;
	int rc = hy_policy_create("bench", &params, &policy);

	if (rc < 0) {
		bench_cannot("%u rules: %s", set->n, strerror(-rc));
		return NULL;
	}
	policy->only = engine;
	rc = policy_stage_all(policy, &staged);
	if (rc == 0)
		rc = hy_policy_commit(policy);
	if (rc == 0)
		return policy;
	bench_cannot("%u rules: %s", set->n, strerror(-rc));
	hy_policy_destroy(policy);
	return NULL;
}
