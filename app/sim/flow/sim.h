/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Internals of the simulated flow engine: keys of packets, rules as requested, vendors' profiles.
 */
#pragma once

#include <assert.h>
#include <errno.h>

#include <rte_byteorder.h>
#include <rte_ethdev.h>
#include <rte_flow.h>
#include <rte_rwlock.h>

#include <hy_flow_sim.h>

/* What the parser finds in a frame: bits of struct hy_sim_key.layers. */
#define HY_SIM_TAG 0x01  /* a VLAN tag */
#define HY_SIM_TAGS 0x02 /* a second tag */
#define HY_SIM_IP4 0x04
#define HY_SIM_FRAG 0x08 /* a fragment, the first one included */
#define HY_SIM_UDP 0x10
#define HY_SIM_TCP 0x20
#define HY_SIM_SCTP 0x40
#define HY_SIM_VXLAN 0x80
#define HY_SIM_IP6 0x100
#define HY_SIM_ICMP 0x200
#define HY_SIM_ICMP6 0x400
#define HY_SIM_EXT 0x800 /* extension headers of IPv6; rules do not ask for them */
#define HY_SIM_L4 (HY_SIM_UDP | HY_SIM_TCP | HY_SIM_SCTP)

#define HY_SIM_WORDS 9

/* Header fields of a frame in network order; 0 where it lacks them. Also a mask of these fields. */
struct hy_sim_key {
	union {
		uint64_t words[HY_SIM_WORDS];
		struct {
			uint8_t dst_mac[6], src_mac[6];
			rte_be16_t type; /* after the tags */
			rte_be16_t tci;  /* of the outer tag */
			union {
				rte_be32_t src; /* IPv4 */
				uint64_t src6[2];
			};
			union {
				rte_be32_t dst;
				uint64_t dst6[2];
			};
			rte_be16_t frag;
			uint8_t tos, ttl, proto;
			uint8_t vni[3];
			rte_be16_t sport, dport;
			uint32_t layers;
			rte_be32_t vtc; /* the first word of IPv6 */
			uint8_t tcp_flags, icmp_type, icmp_code, unused;
		};
	};
};

static_assert(sizeof(struct hy_sim_key) == HY_SIM_WORDS * sizeof(uint64_t), "no holes");

/*
 * Tables of a NIC that has one for each type of packet, each with one mask: struct
 * hy_sim_wish.type.
 */
enum hy_sim_type {
	HY_SIM_ANY, /* one table for rules of any mask */
	HY_SIM_TYPE_L2,
	HY_SIM_TYPE_IP4,
	HY_SIM_TYPE_UDP,
	HY_SIM_TYPE_TCP,
	HY_SIM_TYPE_SCTP,
	HY_SIM_TYPE_IP6,
	HY_SIM_TYPE_UDP6,
	HY_SIM_TYPE_TCP6,
	HY_SIM_TYPE_SCTP6,
	HY_SIM_TYPES
};

#define HY_SIM_ITEMS 6   /* ETH, VLAN, IP, L4, VXLAN and END */
#define HY_SIM_ACTIONS 8 /* with END */

#define HY_SIM_QUEUES 64
#define HY_SIM_RSS_KEY 40 /* bytes: mlx5_defs.h, MLX5_RSS_HASH_KEY_LEN */

/* The queues over which a port, or a rule's fate, spreads packets. */
struct hy_sim_rss {
	uint16_t nb_queues; /* 0: the rule has neither QUEUE nor RSS */
	uint16_t queues[HY_SIM_QUEUES];
	uint64_t types;
	uint8_t key[HY_SIM_RSS_KEY]; /* aligned, since rte_softrss() reads words */
	uint8_t key_len;             /* bytes of the key that the rule names */
};
static_assert(offsetof(struct hy_sim_rss, key) % sizeof(uint32_t) == 0, "key is not aligned");

/* A rule as requested, and as the hardware executes it. */
struct hy_sim_wish {
	const struct hy_flow_sim *sim; /* whose rule it is to be */
	struct rte_flow_error *error;  /* where a refusal is explained; may be NULL */
	struct rte_flow_attr attr;
	struct rte_flow_item items[HY_SIM_ITEMS]; /* without VOID; so are actions */
	struct rte_flow_action actions[HY_SIM_ACTIONS];

	struct hy_sim_key mask, value;
	uint32_t jump; /* group; 0: none */
	uint32_t mark_id;
	bool mark, flag, count, drop;
	struct hy_sim_rss fate;

	enum hy_sim_type type;
	uint32_t excludes; /* bit per type that must be empty */
};

/* Refuses what a driver refuses, or changes a wish to what the driver makes of it. */
typedef int(hy_sim_step)(struct hy_sim_wish *wish);

/* How one family of NICs behaves. */
struct hy_sim_profile {
	const char *name;
	uint32_t table_size, mark_max;
	uint32_t counters;      /* most rules with COUNT; 0: as many as rules */
	const char *no_counter; /* the driver's words when none is left; NULL: none */
	int full;               /* its error when there is no room, or no counter */
	int twin;               /* its error for a second rule with the same pattern; 0: none */
	bool needs_start;       /* takes rules only while the port runs */
	bool forgets;           /* loses its rules when the port stops */
	bool counts_bytes;      /* and not only packets */
	bool misses_drop;       /* drops packets that no rule of a group other than 0 matches */
	bool rules_first;       /* rules see packets to any MAC address */
	bool chains;            /* looks a packet up for each mask at each priority */
	bool own_defaults; /* RSS of a rule without types hashes addresses, with the driver's key */
	bool bare_specs;   /* ignores a spec without a mask: there are no default masks */
	bool zeros_ip6;    /* finds zeros in the IPv6 header if extension headers follow */
	bool one_hash;     /* RSS of a rule hashes the ports of one protocol */
	hy_sim_step *judge[11]; /* in the driver's order; NULL: the end */
	/* Refuses what the driver refuses only in create(). Under the lock. May be NULL. */
	hy_sim_step *admit;
};

/* Takes steps, up to NULL or to the first that refuses. */
int hy_sim_judge(struct hy_sim_wish *wish, hy_sim_step *const *steps);

extern const struct hy_sim_profile hy_sim_generic, hy_sim_cnxk, hy_sim_cnxk_wide, hy_sim_cnxk_ip6,
	hy_sim_mlx5, hy_sim_ice, hy_sim_i40e, hy_sim_iavf, hy_sim_mlx5_guest, hy_sim_mlx5_hws;

/* Reads the RSS of a port; conf NULL: none. */
void hy_sim_rss_of_port(struct hy_sim_rss *rss, uint16_t nb_queues,
	const struct rte_eth_rss_conf *conf);
/* Reads an action QUEUE or RSS. */
void hy_sim_rss_of_rule(struct hy_sim_rss *rss, const struct rte_flow_action *action);
/* The queue of a packet; rule NULL: its rule has neither QUEUE nor RSS. */
uint16_t hy_sim_rss_queue(const struct hy_sim_profile *profile, const struct hy_sim_rss *port,
	const struct hy_sim_rss *rule, const struct hy_sim_key *key);

/* Makes the key of a frame. */
void hy_sim_parse(const uint8_t *frame, uint32_t len, struct hy_sim_key *key);

/*
 * Reads a rule. 0; -ENOTSUP: the simulator cannot match or do that, for any profile; -EINVAL: the
 * rule is malformed.
 */
int hy_sim_wish_read(const struct rte_flow_attr *attr, const struct rte_flow_item *items,
	const struct rte_flow_action *actions, struct hy_sim_wish *wish);

/* The number of actions of a type; of fates; the first item or action of a type, or NULL. */
unsigned int hy_sim_which(const struct hy_sim_wish *wish, enum rte_flow_action_type type);
unsigned int hy_sim_fates(const struct hy_sim_wish *wish);
const struct rte_flow_item *hy_sim_item(const struct hy_sim_wish *wish,
	enum rte_flow_item_type type);
/* Judges items in order, until one is refused. */
int hy_sim_each_item(struct hy_sim_wish *wish,
	int (*judge)(struct hy_sim_wish *wish, const struct rte_flow_item *item));
const struct rte_flow_action *hy_sim_action(const struct hy_sim_wish *wish,
	enum rte_flow_action_type type);
/* Refuses QUEUE and RSS with queues that the port lacks. */
hy_sim_step hy_sim_check_queues;
/* Whether item->last differs from item->spec under the mask. */
bool hy_sim_is_range(const struct rte_flow_item *item);

/* Refusals that name an item, an action, or nothing. */
static inline int
hy_sim_bad_item(const struct hy_sim_wish *wish, const struct rte_flow_item *item, int code,
	const char *why)
{
	return rte_flow_error_set(wish->error, code, RTE_FLOW_ERROR_TYPE_ITEM, item, why);
}

static inline int
hy_sim_bad_action(const struct hy_sim_wish *wish, const struct rte_flow_action *action, int code,
	const char *why)
{
	return rte_flow_error_set(wish->error, code, RTE_FLOW_ERROR_TYPE_ACTION, action, why);
}

static inline int
hy_sim_refuse(const struct hy_sim_wish *wish, enum rte_flow_error_type type, int code,
	const char *why)
{
	return rte_flow_error_set(wish->error, code, type, NULL, why);
}
