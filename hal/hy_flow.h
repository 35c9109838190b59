/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Flow rules of a port, whoever holds them: a *provider* takes rules in rte_flow's types, a *driver*
 * says how a rule has to look for one family of NICs, and what they cannot do.
 *
 * Control plane, one thread for a port. Functions return 0 or a negative errno.
 */
#ifndef HY_FLOW_H
#define HY_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <rte_common.h>
#include <rte_flow.h>

#include <hy_hal.h>
#include <hy_policy.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** One rule of many: what is asked for, and what became of it. */
struct hy_flow_request {
	const struct rte_flow_attr *attr;      /**< To be created: as create() takes it, */
	const struct rte_flow_item *items;     /**< also this, */
	const struct rte_flow_action *actions; /**< and this. */
	void *flow; /**< Its handle: given to who creates it, taken from who destroys it. */
	/** 0 or a negative errno; -ETIMEDOUT: no answer came, and it may be there or not. */
	int rc;
	struct rte_flow_error error; /**< Why not. */
};

/** Who takes the rules of a port. What the functions return and leave in @p error is as rte_flow's. */
struct hy_flow_provider {
	const char *name; /**< For people. */
	/** Says whether create() would take a rule. */
	int (*validate)(uint16_t port, const struct rte_flow_attr *attr,
		const struct rte_flow_item *items, const struct rte_flow_action *actions,
		struct rte_flow_error *error);
	/**
	 * Adds a rule. @p flow becomes its handle, which only destroy() understands; with -ETIMEDOUT
	 * too, if the rule may be there; NULL then: it cannot be removed.
	 */
	int (*create)(uint16_t port, const struct rte_flow_attr *attr,
		const struct rte_flow_item *items, const struct rte_flow_action *actions,
		void **flow, struct rte_flow_error *error);
	/** Removes a rule. */
	int (*destroy)(uint16_t port, void *flow, struct rte_flow_error *error);
	/**
	 * Adds many rules; NULL where that is not cheaper. Hands over all requests before it waits for
	 * the first answer. A request that fails has no effect on the others.
	 */
	void (*create_many)(uint16_t port, struct hy_flow_request *requests, unsigned int n);
	/** Removes many, likewise. */
	void (*destroy_many)(uint16_t port, struct hy_flow_request *requests, unsigned int n);
};

/** rte_flow, rule by rule, and so the port's own driver. */
extern const struct hy_flow_provider hy_flow_rte;

/**
 * rte_flow by templates and queues, for ports that hy_flow_rte_prepare() made ready; others are
 * refused with -ENOTSUP. Rules that differ only in the values that they match, and in their mark,
 * are put into one template table; tables come and go with their rules.
 */
extern const struct hy_flow_provider hy_flow_rte_async;

/**
 * Makes a port ready for hy_flow_rte_async, if its driver takes rules by templates and the device is
 * set up for them (mlx5: dv_flow_en=2). To be called each time that the port has been configured and
 * is not started yet: DPDK takes it at no other time. Rules that the port had are gone.
 *
 * @param max_rules Tables are made for up to so many rules of a kind, at least 1.
 * @return 0; -ENODEV no such port; -ENOTSUP the driver or the device does not take templates, and
 * hy_flow_rte is to be used; what rte_flow_configure() returned, and then that too.
 */
int hy_flow_rte_prepare(uint16_t port, uint32_t max_rules);

/**
 * Takes that back, and with it the memory of all rules: to be called when a port that was made ready
 * is closed, for its id may go to another device. Of other ports, and of ids that are none, it is
 * allowed. Requests about rules that the port had are refused with -ENOTSUP from then on.
 */
void hy_flow_rte_forget(uint16_t port);

/** @return hy_flow_rte_async for a port that was made ready for it, else hy_flow_rte. */
const struct hy_flow_provider *hy_flow_rte_of(uint16_t port);

/** What has to follow MARK, so that a marked packet comes by the queue that it would come by. */
enum hy_flow_fate {
	HY_FLOW_FATE_NONE, /**< Nothing: it goes on as if no rule had matched. */
	HY_FLOW_FATE_RSS,  /**< RSS over all queues; QUEUE 0 where there is only one. */
};

/** Room for the protocols of struct hy_flow_driver. */
#define HY_FLOW_PROTOCOLS 4

/** How rules look for the NICs of a driver, and what those cannot do. */
struct hy_flow_driver {
	const char *driver; /**< Pattern (fnmatch) of rte_eth_dev_info.driver_name. */
	const char *source; /**< Where in DPDK that is to be read. */
	const char *pack;   /**< Who brought it. */
	uint32_t fields;    /**< HY_FLOW_ fields (hy_policy.h) that a rule may name. */
	/** Only these IP protocols, each with a table of its own; none: all, in one table. */
	uint8_t protocols[HY_FLOW_PROTOCOLS];
	bool prefixes;   /**< Takes addresses shorter than 32 bits. */
	bool says_whole; /**< Wants to be told that ports are those of whole packets. */
	/** Matches VLAN tags in full: rules are for packets of priority 0, software has the others. */
	bool whole_tags;
	/**
	 * Finds TCP, UDP and SCTP behind a second IPv4 header, too, as in GRE: rules on them name the
	 * protocol of the first header as well.
	 */
	bool names_protocol;
	/** The same, but the driver refuses a protocol beside those: readers check marks of such rules. */
	bool inner_ports;
	uint32_t mark_max;   /**< The largest mark in its source; probing may find less. */
	uint32_t priorities; /**< Levels; 1: rules must not overlap. */
	/**
	 * Rules go to this group, to which one in group 0 leads, and one of the lowest priority
	 * delivers what no other rule matches. 0: there are no groups.
	 */
	uint32_t group;
	int full; /**< Errno that may mean "no room" as well as "not such a rule"; 0: none does. */
	uint32_t spread_rules; /**< Most rules with action RSS at once; 0: as many as others. */
	/** Marks are switched on by the first rule that marks, and off with the last: one is kept. */
	bool keep_sentinel;
	/**
	 * To validate a rule proves nothing, since create() refuses more, or switches marks on for
	 * good: rules are tried by creating and removing them.
	 */
	bool validates_for_good;
	/** Devices may be set up to take rules by templates only: see hy_flow_rte_prepare(). */
	bool templates;
	enum hy_flow_fate fate; /**< What follows MARK. */
};

/**
 * Adds a driver: its pattern is tried before those that were there. For packs.
 *
 * @param driver Must stay valid while the process lives or its plugin is loaded.
 * @return 0; -EINVAL no pattern, no fields, no marks or no priority; -EEXIST the same pattern is
 * there; -ENOSPC.
 */
int hy_flow_driver_register(const struct hy_flow_driver *driver);

/**
 * Declares and registers a driver: HY_FLOW_DRIVER(ice, .driver = "net_ice", …). The fields are
 * those of struct hy_flow_driver; pack is filled in.
 */
#define HY_FLOW_DRIVER(name_, ...) \
	static const struct hy_flow_driver hy_flow_driver_##name_ = { .pack = HY_PACK, \
		__VA_ARGS__ }; \
	RTE_INIT(hy_flow_driver_register_##name_) \
	{ \
		hy_registration_check("flow driver " #name_, \
			hy_flow_driver_register(&hy_flow_driver_##name_)); \
	}

/** Takes it back. */
void hy_flow_driver_unregister(const struct hy_flow_driver *driver);

/**
 * The drivers that were registered, in the order in which their patterns are tried. Valid until the
 * next one is registered or taken back.
 *
 * @return How many.
 */
unsigned int hy_flow_drivers(const struct hy_flow_driver *const **drivers);

/** The driver for an rte_eth_dev_info.driver_name; never NULL: the last pattern is "*". */
const struct hy_flow_driver *hy_flow_driver_of(const char *name);

/** Most queues that a lowered rule spreads packets over. */
#define HY_FLOW_QUEUES 64
/** Room for an RSS key, in bytes. */
#define HY_FLOW_RSS_KEY 64

/** How a port spreads packets over its receive queues. Marked packets are to be spread likewise. */
struct hy_flow_spread {
	uint16_t nb_queues; /**< Receive queues. */
	uint64_t types;     /**< RTE_ETH_RSS_ bits; 0: none known, the driver's default. */
	uint8_t key_len;    /**< Of @ref key in bytes; 0: unknown, the driver's default. */
	uint8_t key[HY_FLOW_RSS_KEY]; /**< RSS key. */
};

/**
 * Reads how a configured port spreads packets, by rte_eth_dev_rss_hash_conf_get() or, where the
 * driver lacks that, by the port's configuration. The redirection table is not read: a rule spreads
 * packets over all queues in turn, as drivers set that table up.
 *
 * @return 0; -ENODEV no such port.
 */
int hy_flow_spread_get(uint16_t port, struct hy_flow_spread *spread);

/** Which items a rule has behind Ethernet and, if it names a VLAN, the tag. */
enum hy_flow_pattern {
	HY_FLOW_PATTERN_L2,   /**< None. */
	HY_FLOW_PATTERN_IPV4, /**< IPv4. */
	HY_FLOW_PATTERN_TCP,  /**< IPv4, TCP. */
	HY_FLOW_PATTERN_UDP,  /**< IPv4, UDP; and VXLAN, if the rule names a tunnel. */
	HY_FLOW_PATTERN_SCTP, /**< IPv4, SCTP. */
	HY_FLOW_PATTERNS,
};

/** What a rule may ask in a pattern, beside HY_FLOW_ fields (hy_policy.h): bits of the same word. */
enum hy_flow_form {
	HY_FLOW_FORM_PREFIX = 1 << 16, /**< Addresses shorter than 32 bits. */
	HY_FLOW_FORM_BARE = 1 << 17,   /**< TCP, UDP or SCTP without a port. */
	HY_FLOW_FORM_ANY = 1 << 18,    /**< No field in any item, but the VLAN id. */
	HY_FLOW_FORM_WHOLE = 1 << 19,  /**< With ports: that the packet is no fragment. */
};

/** What a port takes. */
struct hy_flow_limits {
	uint32_t mark_max;   /**< Largest mark; 0: it takes no rule that marks. */
	uint32_t priorities; /**< Levels; at least 1. */
	/**
	 * HY_FLOW_ fields and HY_FLOW_FORM_ bits that a rule may have, by whether it names a VLAN and
	 * by enum hy_flow_pattern; 0: no such rule is taken. HY_FLOW_VLAN itself is in none.
	 */
	uint32_t takes[2][HY_FLOW_PATTERNS];
	bool whole_tags;  /**< VLAN tags are compared in full, as in struct hy_flow_driver. */
	char reason[128]; /**< Why there are no marks, or how that was found. */
};

/** Fills @p limits with what a driver declares, for ports that nobody has tried. */
void hy_flow_limits_declared(const struct hy_flow_driver *driver, struct hy_flow_limits *limits);

/** A rule as a driver takes it. Points into itself: not to be copied. */
struct hy_flow_lowered {
	struct rte_flow_attr attr;         /**< Group, priority, ingress. */
	struct rte_flow_item items[8];     /**< Ends with RTE_FLOW_ITEM_TYPE_END. */
	struct rte_flow_action actions[5]; /**< Ends with RTE_FLOW_ACTION_TYPE_END. */
	/**
	 * Matches packets as well that have no ports themselves, where the rule asks for some: fragments,
	 * and tunnels (inner_ports). Whoever reads its mark checks that.
	 */
	bool fragments;
	/** @cond What the pointers in items and actions point to. */
	unsigned int nb_items, nb_actions;
	struct {
		struct rte_flow_item_eth eth;
		struct rte_flow_item_vlan vlan;
		struct rte_flow_item_ipv4 ip4;
		union { /* the three headers begin alike, with the two ports */
			struct rte_flow_item_udp udp;
			struct rte_flow_item_tcp tcp;
			struct rte_flow_item_sctp sctp;
		} l4;
		struct rte_flow_item_vxlan vxlan;
	} spec, mask;
	struct rte_flow_action_mark mark;
	struct rte_flow_action_jump jump;
	struct rte_flow_action_queue queue;
	struct rte_flow_action_rss rss;
	uint16_t queues[HY_FLOW_QUEUES];
	uint8_t key[HY_FLOW_RSS_KEY];
	/** @endcond */
};

/**
 * Lowers a rule for a port: packets that match it in hardware match it in software too, but for
 * fragments where @ref hy_flow_lowered.fragments says so. The other way round need not hold: a packet
 * that hardware overlooks goes through software.
 *
 * @param limits What the port takes, by hy_flow_probe() or hy_flow_limits_declared(). A rule that
 * it does not take is refused here, and not by the port later.
 * @param match Has passed hy_flow_rule_check().
 * @param priority 0 is looked at first; below limits->priorities.
 * @param spread How the port spreads packets.
 * @param[out] reason Why not, in words that stay; NULL if nothing speaks against it.
 * @return 0; -ENOTSUP the port cannot take it.
 */
int hy_flow_lower(const struct hy_flow_driver *driver, const struct hy_flow_limits *limits,
	const struct hy_flow_match *match, uint32_t mark, uint32_t priority,
	const struct hy_flow_spread *spread, struct hy_flow_lowered *out, const char **reason);

/**
 * The rule in the driver's group, which is not 0, that spreads all packets over the queues as the
 * port itself does. Its priority comes after those of hy_flow_lower(). It must be there whenever
 * that of hy_flow_lower_jump() is: a NIC may drop what no rule of a group matches.
 *
 * @return 0; -ENOTSUP the port has more than HY_FLOW_QUEUES queues.
 */
int hy_flow_lower_default(const struct hy_flow_driver *driver, const struct hy_flow_spread *spread,
	struct hy_flow_lowered *out);

/** The rule in group 0, at @p priority, that leads all packets to the driver's group. */
void hy_flow_lower_jump(const struct hy_flow_driver *driver, uint32_t priority,
	struct hy_flow_lowered *out);

/**
 * Whether, where both rules match a packet that hardware marks for @p lower, hardware is sure to
 * have seen that @p upper matches, too: that @p upper sees all packets that @p lower does. It is not
 * where @p upper asks for a header that @p lower does without: hardware may not find ports that
 * software finds, as those of a header that is cut off behind them. Both are lowered for one port,
 * by @p driver and @p limits.
 */
bool hy_flow_sees_all_of(const struct hy_flow_driver *driver, const struct hy_flow_limits *limits,
	const struct hy_flow_match *upper, const struct hy_flow_match *lower);

/**
 * Tries what a port takes: creates a rule that no traffic meets, bisects the largest mark and the
 * number of priorities, and tries what rules may ask, pattern by pattern, by validating rules or by
 * creating and removing them. No rule stays behind; where one cannot be removed, or the port no
 * longer takes what it took at first (it is full, or is being reset), it has no marks, and
 * @ref hy_flow_limits.reason says so. Rules that the port has are left alone.
 *
 * @return 0, also for a port without marks; -ENODEV no such port.
 */
int hy_flow_probe(uint16_t port, const struct hy_flow_provider *provider,
	const struct hy_flow_driver *driver, struct hy_flow_limits *limits);

/**
 * @name Kinds of rules
 * A rule for each kind that people write, to say in words what a port takes.
 * @{
 */
/** One kind. */
struct hy_flow_kind {
	const char *name; /**< In words. */
	struct hy_flow_match
		match; /**< A rule of that kind, which has passed hy_flow_rule_check(). */
};

/** How many kinds a port takes. */
struct hy_flow_kind_counts {
	unsigned int kinds;   /**< There are. */
	unsigned int taken;   /**< The port takes. */
	unsigned int checked; /**< Of those, so many are checked for fragments in software. */
};

/** The kinds, always the same. @return How many. Any thread. */
unsigned int hy_flow_kinds(const struct hy_flow_kind **kinds);

/**
 * Counts the kinds that hy_flow_lower() takes. Any thread.
 *
 * @param[out] reasons Of each kind why it is refused, or NULL, as many as there are kinds; NULL: not
 * wanted.
 */
void hy_flow_kinds_count(const struct hy_flow_driver *driver, const struct hy_flow_limits *limits,
	struct hy_flow_kind_counts *counts, const char *reasons[]);

/** Prints how many kinds a port takes, and by reason those that it does not take. Any thread. */
void hy_flow_kinds_print(const struct hy_flow_driver *driver, const struct hy_flow_limits *limits,
	FILE *out);
/** @} */

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
