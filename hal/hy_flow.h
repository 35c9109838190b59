/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Flow rules of a port: a *provider* takes rules in rte_flow's types; a *flow driver* describes
 * the rules that one family of NICs supports.
 *
 * Control plane, one thread for a port. Functions return 0 or a negative errno.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <rte_common.h>
#include <rte_ether.h>
#include <rte_flow.h>

#include <hy_hal.h>
#include <hy_policy.h>

HY_API_BEGIN

/** A request to create or destroy one rule of many, and its result. */
struct hy_flow_request {
	const struct rte_flow_attr *attr;      /**< Attributes of a rule to create. */
	const struct rte_flow_item *items;     /**< Its items. */
	const struct rte_flow_action *actions; /**< Its actions. */
	void *flow; /**< The handle: set when a rule was created, given to destroy it. */
	/** 0 or a negative errno; -ETIMEDOUT: no answer; the rule may exist or not. */
	int rc;
	struct rte_flow_error error; /**< The reason for an error. */
};

/** Takes the rules of a port. The functions return, and set @p error, like those of rte_flow. */
struct hy_flow_provider {
	const char *name; /**< For people. */
	/** Checks whether create() would take a rule. */
	int (*validate)(uint16_t port, const struct rte_flow_attr *attr,
		const struct rte_flow_item *items, const struct rte_flow_action *actions,
		struct rte_flow_error *error);
	/**
	 * Adds a rule, and sets @p flow to its handle for destroy(). With -ETIMEDOUT the rule may
	 * exist, and the handle is set, too; if it is NULL, the rule cannot be removed.
	 */
	int (*create)(uint16_t port, const struct rte_flow_attr *attr,
		const struct rte_flow_item *items, const struct rte_flow_action *actions,
		void **flow, struct rte_flow_error *error);
	/** Removes a rule. */
	int (*destroy)(uint16_t port, void *flow, struct rte_flow_error *error);
	/**
	 * Adds many rules; NULL if that is not cheaper. Sends all requests before it waits for the
	 * first answer. A failed request does not affect the others.
	 */
	void (*create_many)(uint16_t port, struct hy_flow_request *requests, unsigned int n);
	/** Removes many rules in the same way. */
	void (*destroy_many)(uint16_t port, struct hy_flow_request *requests, unsigned int n);
	/**
	 * Reads the counter of a rule with action COUNT, without clearing it. NULL: the provider
	 * cannot, and its ports drop no packets.
	 */
	int (*query)(uint16_t port, void *flow, struct rte_flow_query_count *count,
		struct rte_flow_error *error);
};

/** Passes rules one by one to rte_flow, and so to the port's driver. */
extern const struct hy_flow_provider hy_flow_rte;

/**
 * Uses rte_flow's templates and queues, for ports prepared by hy_flow_rte_prepare(); others are
 * refused with -ENOTSUP. Rules that differ only in the matched values and the mark share a template
 * table. Tables are created and destroyed with their rules.
 */
extern const struct hy_flow_provider hy_flow_rte_async;

/**
 * Prepares a port for hy_flow_rte_async, if its driver supports templates and the device is set up
 * for them (mlx5: dv_flow_en=2). Call it each time the port was configured, before it is started:
 * DPDK allows it at no other time. Deletes the port's rules.
 *
 * @param max_rules Most rules in a table, at least 1.
 * @return 0; -ENODEV no such port; -ENOTSUP the driver or the device does not support templates;
 * the error of rte_flow_configure(). After an error, use hy_flow_rte.
 */
int hy_flow_rte_prepare(uint16_t port, uint32_t max_rules);

/**
 * Undoes hy_flow_rte_prepare(), and frees the memory of all rules. Call it when a prepared port is
 * closed, since another device may get its id. Has no effect on other ports and invalid ids. Later
 * requests for rules of the port are refused with -ENOTSUP.
 */
void hy_flow_rte_forget(uint16_t port);

/** @return hy_flow_rte_async for a port that was prepared for it, else hy_flow_rte. */
const struct hy_flow_provider *hy_flow_rte_of(uint16_t port);

/** What must follow MARK, so that a marked packet arrives in the same queue as without a rule. */
enum hy_flow_fate {
	HY_FLOW_FATE_NONE, /**< Nothing: the packet continues as if no rule had matched. */
	HY_FLOW_FATE_RSS,  /**< RSS over all queues; QUEUE 0 if there is only one. */
};

/** Size of struct hy_flow_driver.protocols. */
#define HY_FLOW_PROTOCOLS 4

/** The rules that the NICs of an ethdev driver support. */
struct hy_flow_driver {
	const char *driver; /**< Pattern (fnmatch) of rte_eth_dev_info.driver_name. */
	const char *source; /**< Its source in DPDK. */
	const char *pack;   /**< The pack to which it belongs. */
	uint32_t fields;    /**< HY_FLOW_ fields (hy_policy.h) that a rule may name. */
	/**
	 * Those of IP and above that a rule for IPv6 may name; 0: there are no rules for IPv6. Fields
	 * of Ethernet and VLAN are those of @ref fields.
	 */
	uint32_t fields6;
	/** The supported IP protocols, each with a table of its own; none: all, in one table. */
	uint8_t protocols[HY_FLOW_PROTOCOLS];
	bool prefixes;    /**< Takes prefixes of IP addresses, and not whole addresses only. */
	bool mac_masks;   /**< Takes parts of MAC addresses, and not whole addresses only. */
	bool says_whole;  /**< Rules on ports must say that the packet is not a fragment. */
	bool says_whole6; /**< They can say so of IPv6, by has_frag_ext of the item. */
	/**
	 * Compares zeros in place of the IPv6 header if extension headers follow: rules must not ask
	 * for a value of zeros there.
	 */
	bool zeros_ip6;
	/** Matches whole VLAN tags: rules match packets of priority 0, software the others. */
	bool whole_tags;
	/**
	 * Also finds TCP, UDP and SCTP after a second IPv4 header, as in GRE: rules on them must
	 * also name the protocol of the first header.
	 */
	bool names_protocol;
	/**
	 * Also finds them in tunnels that no such protocol excludes: readers check the marks of such
	 * rules. With names_protocol, of those on UDP only, since tunnels may be over UDP.
	 */
	bool inner_ports;
	uint32_t mark_max;   /**< The largest mark in its source; probing may find less. */
	uint32_t priorities; /**< Number of priorities; 1: rules must not overlap. */
	/**
	 * The group of rules. A rule in group 0 leads to it the packets to the port's MAC address,
	 * or all packets if the port is promiscuous; a rule of the lowest priority in it delivers
	 * packets that no other rule matches. 0: no groups.
	 */
	uint32_t group;
	/**
	 * Rules of a virtual function match packets to its own MAC address only: packets to others
	 * need not be marked.
	 */
	bool own_address;
	int full; /**< Errno that may mean "no room" or "unsupported rule"; 0: there is none. */
	uint32_t spread_rules; /**< Most rules with action RSS; 0: no separate limit. */
	/**
	 * The first rule that marks switches marks on, and the last one off: one is always kept.
	 */
	bool keep_sentinel;
	/**
	 * Validating a rule is not conclusive, since create() refuses more, or has lasting effects
	 * on marks: rules are tried by creating and removing them.
	 */
	bool validates_for_good;
	/** Devices may be set up to take rules only by templates: see hy_flow_rte_prepare(). */
	bool templates;
	enum hy_flow_fate fate; /**< What follows MARK. */
	/**
	 * A device argument: unless it is 0, the driver resets the port without an event and frees
	 * all rules. An offload then refuses the port. NULL: there is none.
	 */
	const char *self_reset;
	bool self_resets; /**< The default of that argument. */
	/** Takes DROP with COUNT, and tells what was counted. */
	bool drops;
	/** Bits of the number of packets that it tells; 0: 64. The number wraps. */
	uint8_t count_bits;
};

/**
 * Registers a flow driver. Its pattern is tried before earlier ones. For packs.
 *
 * @param driver Must stay valid while the process lives or its plugin is loaded.
 * @return 0; -EINVAL no pattern, no fields, no marks or no priority; -EEXIST the pattern is
 * registered; -ENOSPC.
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

/** Undoes hy_flow_driver_register(). */
void hy_flow_driver_unregister(const struct hy_flow_driver *driver);

/**
 * Gets the registered drivers, in the order in which their patterns are tried. Valid until the next
 * registration or unregistration.
 *
 * @return Their number.
 */
unsigned int hy_flow_drivers(const struct hy_flow_driver *const **drivers);

/**
 * @return The flow driver for an rte_eth_dev_info.driver_name; never NULL: the last pattern is "*".
 */
const struct hy_flow_driver *hy_flow_driver_of(const char *name);

/** Most queues over which a lowered rule spreads packets. */
#define HY_FLOW_QUEUES 64
/** Size of an RSS key, in bytes. */
#define HY_FLOW_RSS_KEY 64

/**
 * How a port spreads packets over its receive queues. Rules spread marked packets in the same way.
 */
struct hy_flow_spread {
	uint16_t nb_queues; /**< Receive queues. */
	uint64_t types;     /**< RTE_ETH_RSS_ bits; 0: none known, the driver's default. */
	uint8_t key_len;    /**< Of @ref key in bytes; 0: unknown, the driver's default. */
	uint8_t key[HY_FLOW_RSS_KEY]; /**< RSS key. */
};

/**
 * Reads how a configured port spreads packets, from rte_eth_dev_rss_hash_conf_get() or, if the
 * driver lacks that, from the port's configuration. Does not read the redirection table: a rule
 * spreads packets over all queues in turn, which is also the initial state of that table.
 *
 * @return 0; -ENODEV no such port.
 */
int hy_flow_spread_get(uint16_t port, struct hy_flow_spread *spread);

/** The items of a rule after Ethernet and, if it names a VLAN, the tag. */
enum hy_flow_pattern {
	HY_FLOW_PATTERN_L2,    /**< None. */
	HY_FLOW_PATTERN_IPV4,  /**< IPv4. */
	HY_FLOW_PATTERN_TCP,   /**< IPv4, TCP. */
	HY_FLOW_PATTERN_UDP,   /**< IPv4, UDP; and VXLAN, if the rule names a tunnel. */
	HY_FLOW_PATTERN_SCTP,  /**< IPv4, SCTP. */
	HY_FLOW_PATTERN_ICMP,  /**< IPv4, ICMP. */
	HY_FLOW_PATTERN_IPV6,  /**< IPv6. */
	HY_FLOW_PATTERN_TCP6,  /**< IPv6, TCP. */
	HY_FLOW_PATTERN_UDP6,  /**< IPv6, UDP. */
	HY_FLOW_PATTERN_SCTP6, /**< IPv6, SCTP. */
	HY_FLOW_PATTERN_ICMP6, /**< IPv6, ICMPv6. */
	HY_FLOW_PATTERNS,
};

/**
 * Forms of a rule in a pattern, in addition to HY_FLOW_ fields (hy_policy.h): bits of the same
 * word.
 */
enum hy_flow_form {
	HY_FLOW_FORM_PREFIX = 1 << 24, /**< Prefixes of IP addresses. */
	HY_FLOW_FORM_BARE = 1 << 25,   /**< TCP, UDP, SCTP or ICMP without a field of it. */
	HY_FLOW_FORM_ANY = 1 << 26,    /**< No field in any item, except the VLAN id. */
	HY_FLOW_FORM_WHOLE = 1 << 27,  /**< With fields of them: the packet is not a fragment. */
	HY_FLOW_FORM_MAC = 1 << 28,    /**< Parts of MAC addresses. */
};

/** What a port takes. */
struct hy_flow_limits {
	uint32_t mark_max;   /**< Largest mark; 0: it takes no rule that marks. */
	uint32_t priorities; /**< Number of priorities, at least 1. */
	/**
	 * HY_FLOW_ fields and HY_FLOW_FORM_ bits that a rule may have, by whether it names a VLAN
	 * and by enum hy_flow_pattern; 0: the port takes no such rule. HY_FLOW_VLAN and HY_FLOW_IPV6
	 * themselves are never set.
	 */
	uint32_t takes[2][HY_FLOW_PATTERNS];
	bool whole_tags; /**< VLAN tags are compared in full, as in struct hy_flow_driver. */
	/**
	 * The port removes VLAN tags (RTE_ETH_RX_OFFLOAD_VLAN_STRIP, _QINQ_STRIP), or compares the
	 * inner of two (_VLAN_EXTEND): it takes no rule that names a VLAN.
	 */
	bool tags_change;
	bool drops;       /**< It takes rules that drop packets and count them. */
	char reason[128]; /**< Why there are no marks, or how the limits were found. */
};

/** Sets @p limits to what a driver declares, for ports that were not probed. */
void hy_flow_limits_declared(const struct hy_flow_driver *driver, struct hy_flow_limits *limits);

/** A rule in the form that a driver takes. It points into itself: do not copy it. */
struct hy_flow_lowered {
	struct rte_flow_attr attr;         /**< Group, priority, ingress. */
	struct rte_flow_item items[8];     /**< Ends with RTE_FLOW_ITEM_TYPE_END. */
	struct rte_flow_action actions[5]; /**< Ends with RTE_FLOW_ACTION_TYPE_END. */
	/** A rule on ports that also matches fragments: readers of its mark must check for these. */
	bool fragments;
	/**
	 * A rule that may also match other packets: on ports, those inside of tunnels (inner_ports);
	 * on a tunnel, frames whose flags do not announce one. Readers of its mark must compare
	 * packets with the rule.
	 */
	bool wider;
	/** @cond What the pointers in items and actions point to. */
	unsigned int nb_items, nb_actions;
	struct {
		struct rte_flow_item_eth eth;
		struct rte_flow_item_vlan vlan;
		union {
			struct rte_flow_item_ipv4 ip4;
			struct rte_flow_item_ipv6 ip6;
		};
		union { /* the first three headers begin alike, with the two ports */
			struct rte_flow_item_udp udp;
			struct rte_flow_item_tcp tcp;
			struct rte_flow_item_sctp sctp;
			struct rte_flow_item_icmp icmp;
			struct rte_flow_item_icmp6 icmp6;
		} l4;
		struct rte_flow_item_vxlan vxlan;
	} spec, mask;
	struct rte_flow_action_mark mark;
	struct rte_flow_action_count count;
	struct rte_flow_action_jump jump;
	struct rte_flow_action_queue queue;
	struct rte_flow_action_rss rss;
	uint16_t queues[HY_FLOW_QUEUES];
	uint8_t key[HY_FLOW_RSS_KEY];
	/** @endcond */
};

/**
 * Lowers a rule for a port. Packets that match it in hardware also match it in software, except as
 * @ref hy_flow_lowered.fragments and @ref hy_flow_lowered.wider say. The converse need not hold: packets that
 * hardware misses are classified in software.
 *
 * @param limits What the port takes, from hy_flow_probe() or hy_flow_limits_declared(). A rule that
 * the port does not take is refused here.
 * @param match Must have passed hy_flow_rule_check().
 * @param priority 0 is the highest; less than limits->priorities.
 * @param spread How the port spreads packets.
 * @param[out] reason The reason for an error, in static memory; NULL on success.
 * @return 0; -ENOTSUP the port cannot take it.
 */
int hy_flow_lower(const struct hy_flow_driver *driver, const struct hy_flow_limits *limits,
	const struct hy_flow_match *match, uint32_t mark, uint32_t priority,
	const struct hy_flow_spread *spread, struct hy_flow_lowered *out, const char **reason);

/**
 * Lowers a rule for a port that drops the packets and counts them, with DROP and COUNT. Refuses it also
 * if hardware might match packets that the rule does not: no software can check what is dropped.
 *
 * The other arguments are those of hy_flow_lower().
 * @return Likewise.
 */
int hy_flow_lower_drop(const struct hy_flow_driver *driver, const struct hy_flow_limits *limits,
	const struct hy_flow_match *match, uint32_t priority, struct hy_flow_lowered *out,
	const char **reason);

/**
 * Makes the default rule of the driver's group, which is not 0: it spreads all packets over the
 * queues like the port itself. Its priority is lower than those of hy_flow_lower(). It must exist
 * whenever the rule of hy_flow_lower_jump() does: a NIC may drop packets that no rule of a group
 * matches.
 *
 * @return 0; -ENOTSUP the port has more than HY_FLOW_QUEUES queues.
 */
int hy_flow_lower_default(const struct hy_flow_driver *driver, const struct hy_flow_spread *spread,
	struct hy_flow_lowered *out);

/**
 * Makes the rule in group 0, at @p priority, that sends packets to the driver's group.
 *
 * @param to The packets' destination MAC address; NULL: all packets. A port that is not promiscuous
 * must name its own: a NIC may deliver all packets that a rule matches, whatever addresses the port
 * accepts.
 */
void hy_flow_lower_jump(const struct hy_flow_driver *driver, uint32_t priority,
	const struct rte_ether_addr *to, struct hy_flow_lowered *out);

/**
 * Whether hardware always recognizes that @p upper matches, when both rules match a packet that it
 * marks for @p lower. It does not if @p upper needs a header that @p lower does not need: hardware
 * may not find ports that software finds, such as those of a truncated header. Both rules are
 * lowered for one port with @p driver and @p limits.
 */
bool hy_flow_sees_all_of(const struct hy_flow_driver *driver, const struct hy_flow_limits *limits,
	const struct hy_flow_match *upper, const struct hy_flow_match *lower);

/**
 * Finds out by trying what a port takes: creates a rule that matches no traffic, bisects the
 * largest mark and the number of priorities, and tries the fields and forms of rules, pattern by
 * pattern, by validating rules or by creating and removing them. Leaves no rule behind. If a rule
 * cannot be removed, or the port refuses a rule that it took before (it is full, or is being
 * reset), the port has no marks, and @ref hy_flow_limits.reason says so. Leaves the port's other
 * rules alone.
 *
 * @return 0, also for a port without marks; -ENODEV no such port.
 */
int hy_flow_probe(uint16_t port, const struct hy_flow_provider *provider,
	const struct hy_flow_driver *driver, struct hy_flow_limits *limits);

/**
 * @name Kinds of rules
 * Examples of common rules, to describe what a port takes.
 * @{
 */
/** One kind. */
struct hy_flow_kind {
	const char *name;           /**< Its name, for people. */
	struct hy_flow_match match; /**< A rule of that kind, which passes hy_flow_rule_check(). */
};

/** How many kinds a port takes. */
struct hy_flow_kind_counts {
	unsigned int kinds;   /**< All kinds. */
	unsigned int taken;   /**< Kinds that the port takes. */
	unsigned int checked; /**< Kinds that it takes and whose marks software checks. */
};

/** Gets the kinds, which never change. @return Their number. Any thread. */
unsigned int hy_flow_kinds(const struct hy_flow_kind **kinds);

/**
 * Counts the kinds that hy_flow_lower() accepts. Any thread.
 *
 * @param[out] reasons For each kind, why it is refused, or NULL. May be NULL itself.
 */
void hy_flow_kinds_count(const struct hy_flow_driver *driver, const struct hy_flow_limits *limits,
	struct hy_flow_kind_counts *counts, const char *reasons[]);

/** Prints how many kinds a port takes, and lists the others by reason. Any thread. */
void hy_flow_kinds_print(const struct hy_flow_driver *driver, const struct hy_flow_limits *limits,
	FILE *out);
/** @} */

HY_API_END
