/* SPDX-License-Identifier: BSD-3-Clause */
/* Internals of the rte_acl engine: contexts, and the keys that they read. */
#pragma once

#include <rte_acl.h>
#include <rte_byteorder.h>

#include "engine.h"

/*
 * Packets of a family are looked up in its contexts only: keys are short, and no trie is shared. A
 * rule that packets of several families can match is in the contexts of each.
 */
enum acl_family { ACL_IPV4, ACL_IPV6, ACL_OTHER, ACL_FAMILIES };

#define ACL_PARTS_MAX 8 /* most contexts into which the rules of a family are split */

/*
 * rte_acl reads the first byte of a key, and then words of 4 bytes in network order. It is told where
 * these stand: what all keys have stands first, so that most keys of IPv4 end there.
 */
struct acl_few {
	uint8_t code; /* the protocol, and which fields the packet has: struct acl_code */
	uint8_t pad[3];
	rte_be32_t src, dst; /* of IPv6: the first word */
	rte_be32_t ports;    /* the source's first */
};

struct acl_key {
	struct acl_few few;
	rte_be32_t src_rest[3], dst_rest[3]; /* of IPv6 */
	/* From here on only for rule sets that ask for one of these. */
	uint8_t dscp, fragment, tcp_flags, icmp_type;
	rte_be16_t icmp_code, vlan;
	rte_be32_t ether_type;
	rte_be32_t has;
	rte_be32_t tunnel;
	rte_be16_t src_mac_high, dst_mac_high;
	rte_be32_t src_mac_low, dst_mac_low;
};

/*
 * How a key's first byte is made. A trie with few levels is a fast one, so the byte holds both the
 * protocol, numbered among those that rules ask for, and the bits of hy_flow_key.has that rules ask
 * for and some packets of the family lack. If they do not fit, it is the protocol, and acl_key.has
 * has the bits.
 */
struct acl_code {
	uint32_t bits; /* of hy_flow_key.has */
	bool fits;
	uint8_t proto_mask;  /* of the byte's bits that hold the protocol */
	uint8_t proto[256];  /* by protocol; other: 0 */
	uint8_t has[2][256]; /* by the lowest and the second byte of hy_flow_key.has */
};

struct acl_contexts {
	struct acl_code code;
	bool more; /* rules ask for more than addresses, protocol and ports */
	uint32_t nb_parts;
	struct rte_acl_ctx *parts[ACL_PARTS_MAX]; /* of consecutive ranks */
};

struct acl {
	struct acl_contexts family[ACL_FAMILIES];
};

/* acl_rule.c */
#define ACL_FIELDS 24

RTE_ACL_RULE_DEF(acl_rule, ACL_FIELDS);

/* Whether packets of a family can match. */
bool acl_rule_fits(const struct hy_flow_match *match, enum acl_family family);
/* The code of keys for the rules of a family. */
void acl_code_make(const struct policy_build *build, enum acl_family family, struct acl_code *code,
	bool *more);
void acl_rule_make(const struct hy_flow_match *match, const struct acl_code *code,
	enum acl_family family, struct rte_acl_field field[ACL_FIELDS]);
void acl_config_make(enum acl_family family, struct rte_acl_config *config);

static inline uint8_t
acl_code_of(const struct acl_code *code, const struct hy_flow_key *key)
{
	return code->proto[key->proto] | code->has[0][key->has & 0xff] |
		code->has[1][key->has >> 8 & 0xff];
}

/* acl.c */
/* Bytes that DPDK's heaps have given away. */
uint64_t acl_heaps_used(void);

/* acl_classify.c */
void acl_classify(const void *tables, const struct hy_flow_key key[], uint32_t rank[], uint32_t n);
