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
key_make(const struct hy_flow_key *key, const struct acl_contexts *contexts, unsigned int words,
	struct acl_key *to)
{
	to->code = acl_code_of(&contexts->code, key);
	for (unsigned int word = 0; word < words; word++) {
		to->src[word] = rte_cpu_to_be_32(key->src6[word]);
		to->dst[word] = rte_cpu_to_be_32(key->dst6[word]);
	}
	to->sport = rte_cpu_to_be_16(key->sport);
	to->dport = rte_cpu_to_be_16(key->dport);
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
		if (family == ACL_IPV6)
			key_make(&key[place[i]], contexts, 4, &keys[i]);
		else
			key_make(&key[place[i]], contexts, 1, &keys[i]);
		data[i] = &keys[i].code;
	}
	parts_classify(contexts, data, found, n);
	for (uint32_t i = 0; i < n; i++)
		rank[place[i]] = found[i] - 1; /* 0, no match, becomes HY_POLICY_NONE */
}

void
acl_classify(const void *tables, const struct hy_flow_key key[], uint32_t rank[], uint32_t n)
{
	const struct acl *acl = tables;
	uint8_t place[ACL_FAMILIES][POLICY_CHUNK];

	for (uint32_t done = 0; done < n; done += POLICY_CHUNK) {
		const uint32_t now = RTE_MIN(n - done, POLICY_CHUNK);
		uint32_t count[ACL_FAMILIES] = { 0 };

		for (uint32_t i = 0; i < now; i++) {
			const enum acl_family family = family_of(&key[done + i]);

			rank[done + i] = HY_POLICY_NONE;
			place[family][count[family]++] = (uint8_t)i;
		}
		for (unsigned int family = 0; family < ACL_FAMILIES; family++)
			if (count[family] > 0 && acl->family[family].nb_parts > 0)
				family_classify(acl, family, key + done, place[family], rank + done,
					count[family]);
	}
}
