/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulated flow engine inside: keys of packets, rules as asked for, profiles of vendors. */
#ifndef HY_SIM_H
#define HY_SIM_H

#include <assert.h>
#include <errno.h>

#include <rte_byteorder.h>
#include <rte_ethdev.h>
#include <rte_flow.h>
#include <rte_rwlock.h>

#include <hy_flow_sim.h>

/* What the parser found in a frame: bits of struct hy_sim_key.layers. */
#define HY_SIM_TAG 0x01  /* a VLAN tag */
#define HY_SIM_TAGS 0x02 /* and another */
#define HY_SIM_IP4 0x04
#define HY_SIM_FRAG 0x08 /* a fragment, the first one too */
#define HY_SIM_UDP 0x10
#define HY_SIM_TCP 0x20
#define HY_SIM_SCTP 0x40
#define HY_SIM_VXLAN 0x80
#define HY_SIM_IP6 0x100 /* its ether type; nothing more is looked at */
#define HY_SIM_L4 (HY_SIM_UDP | HY_SIM_TCP | HY_SIM_SCTP)

#define HY_SIM_WORDS 5

/* The headers of a frame, as they were on the wire; what it lacks is 0. Also a mask of those. */
struct hy_sim_key {
	union {
		uint64_t words[HY_SIM_WORDS];
		struct {
			uint8_t dst_mac[6], src_mac[6];
			rte_be16_t type; /* behind the tags */
			rte_be16_t tci;  /* of the outer tag */
			rte_be32_t src, dst;
			rte_be16_t frag;
			uint8_t tos, ttl, proto;
			uint8_t vni[3];
			rte_be16_t sport, dport;
			uint32_t layers;
		};
	};
};

static_assert(sizeof(struct hy_sim_key) == HY_SIM_WORDS * sizeof(uint64_t), "no holes");

/* Tables that a NIC keeps apart by the sort of packet, each with one mask: struct hy_sim_wish.type. */
enum hy_sim_type {
	HY_SIM_ANY, /* there is one table, and rules of any mask are in it */
	HY_SIM_TYPE_L2,
	HY_SIM_TYPE_IP4,
	HY_SIM_TYPE_UDP,
	HY_SIM_TYPE_TCP,
	HY_SIM_TYPE_SCTP,
	HY_SIM_TYPES
};

#define HY_SIM_ITEMS 6   /* ETH, VLAN, IPV4, L4, VXLAN and END */
#define HY_SIM_ACTIONS 8 /* with END */

#define HY_SIM_QUEUES 64
#define HY_SIM_RSS_KEY 40 /* bytes: mlx5_defs.h, MLX5_RSS_HASH_KEY_LEN */

/* Over which queues packets are spread, by a port or by the fate of a rule. */
struct hy_sim_rss {
	uint16_t nb_queues; /* 0: the rule has no fate of this sort */
	uint16_t queues[HY_SIM_QUEUES];
	uint64_t types;
	uint8_t key[HY_SIM_RSS_KEY]; /* aligned, as rte_softrss() reads words of it */
	uint8_t key_len;             /* as far as the rule names one; 0: not at all */
};
static_assert(offsetof(struct hy_sim_rss, key) % sizeof(uint32_t) == 0, "key is not aligned");

/* A rule as it is asked for, and what the hardware is going to make of it. */
struct hy_sim_wish {
	struct rte_flow_attr attr;
	/* Without VOID. */
	struct rte_flow_item items[HY_SIM_ITEMS];
	struct rte_flow_action actions[HY_SIM_ACTIONS];

	struct hy_sim_key mask, value;
	uint32_t jump; /* group; 0: none */
	uint32_t mark_id;
	bool mark, flag, count, drop;
	struct hy_sim_rss fate;

	enum hy_sim_type type;
	uint32_t excludes; /* bit per type that must be empty */
};

/* How one family of NICs behaves. */
struct hy_sim_profile {
	const char *name;
	uint32_t table_size, mark_max;
	int full;          /* what its driver says when there is no room */
	int twin;          /* what it says of a second rule with the same pattern; 0: nothing */
	bool needs_start;  /* takes rules only while the port runs */
	bool forgets;      /* loses its rules when the port stops */
	bool counts_bytes; /* as well as packets */
	bool misses_drop;  /* a packet that no rule of a group but 0 matches is lost */
	bool chains;       /* looks a packet up for each mask at each priority */
	bool own_defaults; /* RSS of a rule that names no types hashes addresses, by a key of its own */
	bool one_hash;     /* RSS of a rule hashes the ports of one protocol */
	/* Refuses what the driver does, and changes the wish to what it makes of it. */
	int (*judge)(const struct hy_flow_sim *sim, struct hy_sim_wish *wish,
		struct rte_flow_error *error);
	/* Refuses what the driver does only when a rule is created, under the lock; or NULL. */
	int (*admit)(const struct hy_flow_sim *sim, const struct hy_sim_wish *wish,
		struct rte_flow_error *error);
};

extern const struct hy_sim_profile hy_sim_generic, hy_sim_cnxk, hy_sim_cnxk_wide, hy_sim_mlx5,
	hy_sim_ice, hy_sim_i40e, hy_sim_iavf, hy_sim_mlx5_guest, hy_sim_mlx5_hws;

/* RSS of a port, NULL: none; of QUEUE or RSS; the queue of a packet, whose rule may have no fate. */
void hy_sim_rss_of_port(struct hy_sim_rss *rss, uint16_t nb_queues,
	const struct rte_eth_rss_conf *conf);
void hy_sim_rss_of_rule(struct hy_sim_rss *rss, const struct rte_flow_action *action);
uint16_t hy_sim_rss_queue(const struct hy_sim_profile *profile, const struct hy_sim_rss *port,
	const struct hy_sim_rss *rule, const struct hy_sim_key *key);

/* Faults of an engine, and the marks that they were asked about. */
struct hy_sim_faults {
	struct hy_flow_sim_faults are;
	uint64_t marks; /* counted by any worker */
};

enum hy_sim_mark { HY_SIM_MARK_TRUE, HY_SIM_MARK_WRONG, HY_SIM_MARK_NONE };

/* What becomes of the mark of a packet. Under the engine's read lock. */
enum hy_sim_mark hy_sim_mark(struct hy_sim_faults *faults);

/* Of the port of an engine, to profiles. */
uint16_t hy_sim_queues(const struct hy_flow_sim *sim);
bool hy_sim_has_rss(const struct hy_flow_sim *sim);

/* Makes the key of a frame. */
void hy_sim_parse(const uint8_t *frame, uint32_t len, struct hy_sim_key *key);

/*
 * Takes a rule apart. -ENOTSUP what the simulator cannot match or do, whatever the profile; -EINVAL
 * what makes no sense.
 */
int hy_sim_wish_read(const struct rte_flow_attr *attr, const struct rte_flow_item *items,
	const struct rte_flow_action *actions, struct hy_sim_wish *wish,
	struct rte_flow_error *error);

/*
 * What judges share: how many actions of a type there are, and how many that end a packet's way; the
 * item of a type, or NULL.
 */
unsigned int hy_sim_which(const struct hy_sim_wish *wish, enum rte_flow_action_type type);
unsigned int hy_sim_fates(const struct hy_sim_wish *wish);
const struct rte_flow_item *hy_sim_item(const struct hy_sim_wish *wish,
	enum rte_flow_item_type type);
/* What is wrong with the queues of QUEUE and RSS; NULL: nothing. */
const char *hy_sim_bad_queues(const struct hy_flow_sim *sim, const struct hy_sim_wish *wish);
/* Whether item->last is beyond item->spec, where the mask compares them. */
bool hy_sim_is_range(const struct rte_flow_item *item);
/* Whether the items are these, up to END. */
bool hy_sim_items_are(const struct hy_sim_wish *wish, const enum rte_flow_item_type *types);

/* Refusals that name an item, an action, the attributes. */
static inline int
hy_sim_bad_item(const struct rte_flow_item *item, int code, const char *why,
	struct rte_flow_error *error)
{
	return rte_flow_error_set(error, code, RTE_FLOW_ERROR_TYPE_ITEM, item, why);
}

static inline int
hy_sim_bad_action(const struct rte_flow_action *action, int code, const char *why,
	struct rte_flow_error *error)
{
	return rte_flow_error_set(error, code, RTE_FLOW_ERROR_TYPE_ACTION, action, why);
}

static inline int
hy_sim_bad_attr(enum rte_flow_error_type type, int code, const char *why,
	struct rte_flow_error *error)
{
	return rte_flow_error_set(error, code, type, NULL, why);
}

/* Refuses bad queues. */
static inline int
hy_sim_check_queues(const struct hy_flow_sim *sim, const struct hy_sim_wish *wish,
	struct rte_flow_error *error)
{
	const char *why = hy_sim_bad_queues(sim, wish);

	return why == NULL ? 0 : hy_sim_bad_action(wish->actions, EINVAL, why, error);
}

#endif
