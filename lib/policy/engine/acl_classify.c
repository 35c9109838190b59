/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys for rte_acl, and what it finds for them. */

#include <rte_common.h>

#include "acl_tables.h"

static inline void
key_more(const struct hy_flow_key *key, const struct acl_code *code, struct acl_key *to)
{
	to->dscp = key->dscp;
	to->fragment = key->fragment;
	to->tcp_flags = key->tcp_flags;
	to->icmp_type = key->icmp_type;
	to->icmp_code = rte_cpu_to_be_16(key->icmp_code);
	to->vlan = rte_cpu_to_be_16(key->vlan);
	to->ether_type = rte_cpu_to_be_32(key->ether_type);
	to->has = rte_cpu_to_be_32(key->has & code->bits);
	to->tunnel = rte_cpu_to_be_32(key->tunnel);
	to->src_mac_high = rte_cpu_to_be_16((uint16_t)(key->src_mac >> 32));
	to->dst_mac_high = rte_cpu_to_be_16((uint16_t)(key->dst_mac >> 32));
	to->src_mac_low = rte_cpu_to_be_32((uint32_t)key->src_mac);
	to->dst_mac_low = rte_cpu_to_be_32((uint32_t)key->dst_mac);
}

static inline void
key_few(const struct hy_flow_key *key, uint8_t code, struct acl_few *to)
{
	to->code = code;
	to->src = rte_cpu_to_be_32(key->src);
	to->dst = rte_cpu_to_be_32(key->dst);
	to->ports = rte_cpu_to_be_32((uint32_t)key->sport << 16 | key->dport);
}

static inline void
key_make(const struct hy_flow_key *key, const struct acl_contexts *contexts, bool is_ip6,
	struct acl_key *to)
{
	key_few(key, acl_code_of(&contexts->code, key), &to->few);
	for (unsigned int word = 0; is_ip6 && word < 3; word++) {
		to->src_rest[word] = rte_cpu_to_be_32(key->src6[word + 1]);
		to->dst_rest[word] = rte_cpu_to_be_32(key->dst6[word + 1]);
	}
	if (contexts->more)
		key_more(key, &contexts->code, to);
}

/* The first part that knows a key has its rule: parts are in order of ranks. */
static void
parts_classify(const struct acl_contexts *contexts, const uint8_t *data[], uint32_t found[],
	uint32_t n)
{
	uint32_t next[POLICY_CHUNK];

	rte_acl_classify(contexts->parts[0], data, found, n, 1);
	for (uint32_t part = 1; part < contexts->nb_parts; part++) {
		rte_acl_classify(contexts->parts[part], data, next, n, 1);
		for (uint32_t i = 0; i < n; i++)
			found[i] = found[i] == 0 ? next[i] : found[i];
	}
}

static inline enum acl_family
family_of(const struct hy_flow_key *key)
{
	return (key->has & HY_FLOW_IPV4) != 0    ? ACL_IPV4
		: (key->has & HY_FLOW_IPV6) != 0 ? ACL_IPV6
						 : ACL_OTHER;
}

/* Keys of one family, in their places. */
static void
family_classify(const struct acl *acl, enum acl_family family, const struct hy_flow_key key[],
	const uint8_t place[], uint32_t rank[], uint32_t n)
{
	const struct acl_contexts *contexts = &acl->family[family];
	struct acl_key keys[POLICY_CHUNK];
	const uint8_t *data[POLICY_CHUNK];
	uint32_t found[POLICY_CHUNK];

	for (uint32_t i = 0; i < n; i++) {
		key_make(&key[place[i]], contexts, family == ACL_IPV6, &keys[i]);
		data[i] = &keys[i].few.code;
	}
	parts_classify(contexts, data, found, n);
	for (uint32_t i = 0; i < n; i++)
		rank[place[i]] = found[i] - 1; /* 0, no match, becomes HY_POLICY_NONE */
}

/* Keys of IPv4 only, for rules that ask for no more than the 5-tuple: as most bursts are. */
static void
few_classify(const struct acl_contexts *contexts, const struct hy_flow_key key[], uint32_t rank[],
	uint32_t n)
{
	const struct acl_code *code = &contexts->code;
	struct acl_few keys[POLICY_CHUNK];
	const uint8_t *data[POLICY_CHUNK];

	for (uint32_t i = 0; i < n; i++) {
		/* Of what packets of IPv4 can lack, the 5-tuple's fields are in the lowest byte. */
		key_few(&key[i], code->proto[key[i].proto] | code->has[0][key[i].has & 0xff],
			&keys[i]);
		data[i] = &keys[i].code;
	}
	parts_classify(contexts, data, rank, n);
	for (uint32_t i = 0; i < n; i++)
		rank[i]--;
}

/* Keys of any kind. */
static void
chunk_classify(const struct acl *acl, const struct hy_flow_key key[], uint32_t rank[], uint32_t n)
{
	uint8_t place[ACL_FAMILIES][POLICY_CHUNK];
	uint32_t count[ACL_FAMILIES] = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		const enum acl_family family = family_of(&key[i]);

		rank[i] = HY_POLICY_NONE;
		place[family][count[family]++] = (uint8_t)i;
	}
	for (unsigned int family = 0; family < ACL_FAMILIES; family++)
		if (count[family] > 0 && acl->family[family].nb_parts > 0)
			family_classify(acl, family, key, place[family], rank, count[family]);
}

void
acl_classify(const void *tables, const struct hy_flow_key key[], uint32_t rank[], uint32_t n)
{
	const struct acl *acl = tables;
	const struct acl_contexts *ip4 = &acl->family[ACL_IPV4];
	const bool few = ip4->nb_parts > 0 && !ip4->more;

	for (uint32_t done = 0; done < n; done += POLICY_CHUNK) {
		const uint32_t now = RTE_MIN(n - done, POLICY_CHUNK);
		uint32_t all = HY_FLOW_IPV4;

		for (uint32_t i = 0; i < now; i++)
			all &= key[done + i].has;
		if (few && all != 0)
			few_classify(ip4, key + done, rank + done, now);
		else
			chunk_classify(acl, key + done, rank + done, now);
	}
}
