/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Conformance: whether a variant behaves like the reference variant of its family.
 *
 * A *suite* belongs to a family, and provides what a node of the family needs to run: tables,
 * ports, and the form of packets that can reach it. The engine does the rest in the same way for
 * each variant, so a new variant needs no test code. It sends packets through two graphs. In one,
 * the reference variant gets them one by one, each in one segment. In the other, the variant under
 * test gets the same packets in bursts of every size from 0 to HY_BURST_MAX, whole or in parts, at
 * any alignment, in one segment or several, next to pages that fault when accessed. The engine
 * compares the fate of each packet: its edge, the order on each edge, its bytes and those around
 * it, its metadata and lanes, its references, and all counters.
 *
 * Faults and endless loops of a variant are caught on the calling thread, and reported as results.
 * (Not in a child process: children share EAL's memory, even without hugepages, and one that
 * crashes could corrupt its heap.)
 *
 * Fusions (struct hy_fusion) are tested in the same way, by the name of the fusion in place of a
 * family's. One side has the reference variants of the chain's families, one node after another. The
 * other has the fusion's own chain, fused. Each call of the fusion is also compared by itself: how many
 * packets it handled, their edges, and that it changed nothing else.
 *
 * Functions are for one control thread, after rte_eal_init(), while no graph is walked. They return
 * 0 or a negative errno.
 */
#pragma once

#include <rte_mbuf.h>
#include <rte_rcu_qsbr.h>

#include <hy_graph.h>
#include <hy_hal.h>

HY_API_BEGIN

#define HY_SUITE_FRAME_MAX 2048    /**< Longest frame that the engine makes, in bytes. */
#define HY_CONFORM_CASES 10000     /**< Fewest bursts that make a run count. */
#define HY_CONFORM_TEXT_SIZE 512   /**< Room for what differed. */
#define HY_CONFORM_SHOWN_BYTES 128 /**< Bytes of a packet that are kept to show it. */
#define HY_CONFORM_COUNTS 48       /**< Most outcomes of a family. */
#define HY_SUITE_WORKERS 3         /**< Workers of each side, whose numbers graphs have. */
#define HY_SUITE_EXCUSED 4         /**< Most outcomes that a suite need not reach. */

/** Where a frame comes from. */
enum hy_suite_kind {
	HY_SUITE_RANDOM,      /**< Mostly in order, of any protocol, length and address. */
	HY_SUITE_ADVERSARIAL, /**< Lengths, fields and checksums at and beyond their limits. */
	HY_SUITE_CAPTURED,    /**< From a capture. */
	HY_SUITE_TYPICAL,     /**< For benchmarks: what a router mostly forwards. */
	HY_SUITE_PASSING,     /**< Of fusions: random, to be shaped so that it passes the chain. */
	HY_SUITE_KINDS
};

/** A packet to make. */
struct hy_suite_packet {
	uint8_t bytes[HY_SUITE_FRAME_MAX]; /**< The frame. */
	uint32_t len;                      /**< Its length, 0 to HY_SUITE_FRAME_MAX. */
	uint32_t lanes[HY_LANES_MAX];      /**< Values of the family's lanes, in its order. */
	uint8_t wide[HY_WIDE_MAX][HY_WIDE_BYTES]; /**< Likewise of its wide lanes. */
	uint32_t packet_type; /**< A packet type as a NIC could report it, or 0. */
	uint32_t mark;        /**< A mark as a flow rule could set it, or 0. */
	/** Its flags. Without both, the mark is what an earlier packet left in the memory. */
	uint64_t mark_flags;
	uint16_t port; /**< The port that received it; RTE_MBUF_PORT_INVALID: none. */
	bool tight; /**< The first buffer has no room, neither in front of the data nor behind. */
};

/** One of the two sides of a comparison. */
struct hy_suite_side {
	const char *name;         /**< "ref" or "cand", for the names of tables and ports. */
	const char *variant;      /**< Name of the variant that runs on this side. */
	struct rte_mempool *pool; /**< The pool of its packets. */
	unsigned int setup;       /**< Number of the set-up, from 0 on. */
	/**
	 * With change(): the QSBR variable, for tables, to which the side's graphs report as
	 * workers 0 to HY_SUITE_WORKERS - 1. Otherwise NULL, and all graphs are of worker 0.
	 */
	struct rte_rcu_qsbr *qsbr;
};

/** An outcome of a family that its suite does not reach, and why that is acceptable. */
struct hy_suite_excuse {
	const char *outcome; /**< As in hy_conform_count.outcome: "drop port_down". */
	const char *reason;  /**< The reason, as text. */
};

/**
 * What is needed to test a family, or all fusions of a name. Each side gets its own. What is said of the
 * node under test holds for a fusion's chain: edges are those of its last node, lanes of its first.
 */
struct hy_suite {
	const char *family; /**< The family's name, or that of fusions (hy_fusion.name). */
	/** Number of set-ups, which share the bursts; the last one is measured. 0 means 1. */
	unsigned int nb_setups;
	/**
	 * Creates what nodes use, such as tables and ports, in the same way for both sides. May be
	 * NULL.
	 *
	 * @param[out] state For the functions below.
	 * @return 0, or a negative errno after undoing everything.
	 */
	int (*setup)(const struct hy_suite_side *side, void **state);
	/** Undoes setup(). May be NULL. */
	void (*teardown)(void *state);
	/** Calls hy_node_config() for the node under test. May be NULL. @return 0 or an errno. */
	int (*configure)(void *state, hy_node_id id);
	/** Likewise of fusions, for each node of the chain: @p at is 0 for the first. */
	int (*configure_chain)(void *state, unsigned int at, hy_node_id id);
	/**
	 * Turns any frame into one that can reach the node: sets lanes and metadata, and corrects
	 * what previous nodes would refuse. Takes random numbers from rte_rand(). May be NULL.
	 */
	void (*shape)(void *state, enum hy_suite_kind kind, struct hy_suite_packet *packet);
	/** Number of edges to add to those that the family declares, as programs do at run time. */
	uint16_t nb_edges;
	/** For a source: passes packets to the node. @return 0 or a negative errno. */
	int (*feed)(void *state, struct rte_mbuf **packets, uint16_t n);
	/**
	 * For a node that sends packets other than along edges: takes these packets, in order, at
	 * the end of a burst. Called until it returns 0.
	 *
	 * @return The number of packets, at most @p n.
	 */
	uint16_t (*take)(void *state, struct rte_mbuf **packets, uint16_t n);
	/**
	 * Changes tables between two bursts, in the same way for both sides: adds and removes
	 * routes or rules, changes next hops. Nodes, their contexts and graphs stay, so that
	 * variants which cache old contents of tables are found. Derives its choices from @p
	 * number, not from rte_rand(). May be NULL.
	 *
	 * @param number Of the change: 1, 2, …
	 * @return 0 or a negative errno, which ends the run.
	 */
	int (*change)(void *state, uint32_t number);
	/** Mean number of bursts between two changes. 0 means 64. */
	unsigned int change_every;
	/**
	 * The outcomes that need not occur. All other edges, drop reasons and outcomes of the
	 * family must occur in a run of HY_CONFORM_CASES bursts.
	 */
	struct hy_suite_excuse excused[HY_SUITE_EXCUSED];
	/**
	 * Counters whose sum is compared, as bits by number: a packet is counted by one of them,
	 * whose choice is the variant's.
	 */
	uint32_t summed_counters;
	uint32_t own_counters; /**< Counters that only some variants have: not compared. */
	/**
	 * Compares the states of the two sides after all bursts of a set-up. May be NULL.
	 *
	 * @param[out] text The difference, in HY_CONFORM_TEXT_SIZE bytes.
	 * @return Whether they agree.
	 */
	bool (*agree)(void *reference, void *variant, char *text);
	/**
	 * Names what should have occurred in a set-up, beside edges and drops, and did not. Asked
	 * for runs of HY_CONFORM_CASES bursts or more: in shorter ones, what is rare may be missing.
	 * May be NULL.
	 *
	 * @return NULL: all occurred.
	 */
	const char *(*unreached)(void *reference, void *variant);
};

/**
 * Registers a suite, before or after its family. Called by HY_SUITE.
 *
 * @param suite Must stay valid while the process lives or its plugin is loaded.
 * @return 0; -EINVAL; -EEXIST the family has one; -ENOMEM.
 */
int hy_suite_register(const struct hy_suite *suite);

/** Declares and registers a suite: HY_SUITE(pkt_cls, .shape = …). The family is filled in. */
#define HY_SUITE(family_, ...) \
	static const struct hy_suite hy_suite_##family_ = { .family = #family_, __VA_ARGS__ }; \
	RTE_INIT(hy_suite_register_##family_) \
	{ \
		hy_registration_check("suite " #family_, hy_suite_register(&hy_suite_##family_)); \
	}

/** @return The suite of a family; NULL: it has none. */
const struct hy_suite *hy_suite_find(const char *family);

/** Frames of captures, for all runs that use them. */
struct hy_frames {
	const uint8_t *const *bytes; /**< Each frame. */
	const uint32_t *len;         /**< Their lengths; cut to HY_SUITE_FRAME_MAX. */
	uint32_t n;                  /**< Number of frames. */
};

/** How to test a variant. */
struct hy_conform_params {
	uint64_t seed;                    /**< The same seed makes the same packets. */
	uint32_t cases;                   /**< Bursts; 0 means HY_CONFORM_CASES. */
	uint64_t packets;                 /**< Least number of packets: may add bursts; 0: none. */
	const struct hy_frames *captures; /**< Or NULL. */
};

/** The outcome of a run. */
enum hy_conform_outcome {
	HY_CONFORM_PASSED,
	HY_CONFORM_SKIPPED, /**< This machine cannot run it, or no suite can. */
	HY_CONFORM_FAILED,  /**< It differs, faulted, hung, or could not be tested. */
};

/** How often one outcome of a family occurred in a run, in the reference variant. */
struct hy_conform_count {
	char outcome[HY_NAME_SIZE]; /**< "edge 0 (ip4_rewrite)", "drop no_route", "release", … */
	uint64_t packets;           /**< How often. */
	const char *excuse;         /**< Why it need not occur; NULL: it must. */
};

/** What a fusion did in a run. */
struct hy_conform_fused {
	uint64_t passing; /**< Packets that it could have handled. */
	uint64_t handled; /**< Packets that it did handle. */
	uint32_t whole;   /**< Calls in which it handled all packets. */
	uint32_t stopped; /**< Calls in which it handled those before one that does not pass. */
	uint32_t fewer;   /**< Calls in which it handled fewer; hy_fusion.stops says why. */
	const char *why;  /**< Why it last did; NULL: it did not. Valid as long as its plugin. */
};

/** The result of a run. */
struct hy_conform_result {
	enum hy_conform_outcome outcome;       /**< The verdict. */
	uint32_t cases;                        /**< Bursts that were compared. */
	uint64_t frames;                       /**< Frames in them. */
	uint64_t captured;                     /**< Of which came from captures. */
	char text[HY_CONFORM_TEXT_SIZE];       /**< Why it was skipped or failed; else "". */
	uint8_t shown[HY_CONFORM_SHOWN_BYTES]; /**< First bytes of the packet that differed. */
	uint32_t shown_len;                    /**< Their number. */
	uint32_t changes;                      /**< Changes of tables. */
	uint32_t nb_counts;                    /**< Outcomes of the family. */
	/** How often each outcome occurred: the first nb_counts are valid. */
	struct hy_conform_count counts[HY_CONFORM_COUNTS];
	struct hy_conform_fused fused; /**< Of fusions; else zero. */
};

/**
 * Compares a variant with its family's reference variant. The reference variant itself is tested,
 * too: whether it behaves the same in bursts, with segments and at guard pages.
 *
 * @param hal Knows what this machine can run.
 * @param family A family, or the name of a fusion. A fusion cannot be run, and is skipped, if one of
 * its chain's variants cannot, or is not registered.
 * @param[out] result Always set.
 * @return 0 passed or skipped; -ENOENT no such family, variant or suite; -EILSEQ it differs;
 * -EFAULT it faulted; -ETIMEDOUT; -ENODATA an outcome did not occur in HY_CONFORM_CASES bursts or
 * more, or a fusion handled no packet; -ENOMEM; or the error of creating its graphs or of a change of
 * tables.
 */
int hy_conform_run(const struct hy_hal *hal, const char *family, const char *variant,
	const struct hy_conform_params *params, struct hy_conform_result *result);

/** What a packet costs, in TSC clocks: medians of rounds that alternate between the two. */
struct hy_conform_cost {
	double clocks;    /**< In the variant. */
	double reference; /**< In the reference variant, in the same rounds. */
	double ratio;    /**< Median of reference / variant in each round: above 1, it is faster. */
	uint32_t rounds; /**< Number of rounds. */
	uint64_t packets; /**< Packets measured in each of the two. */
};

/**
 * Measures a variant and the reference variant in turn, with packets of kind HY_SUITE_TYPICAL in
 * bursts of HY_BURST_DEFAULT that fit into the caches. Times only the node's own function; of a fusion,
 * those of all nodes of the chain, beside the reference variants one after another.
 *
 * @return 0; -ENOENT; -ENOTSUP this machine cannot run it, or no suite can; -EFAULT; -ETIMEDOUT;
 * -ENOMEM; or the error of creating its graphs.
 */
int hy_conform_measure(const struct hy_hal *hal, const char *family, const char *variant,
	uint64_t seed, struct hy_conform_cost *cost);

/** A family and one of its variants, or a fusion, for hy_conform_next(). */
struct hy_conform_item {
	/** The family, or the fusion's name. Names are valid until a plugin is loaded or unloaded. */
	const char *family;
	const char *variant; /**< The variant. */
	const char *pack;    /**< The pack of the variant. */
	bool reference;      /**< It is the family's reference variant. */
	bool fusion;         /**< It is a fusion. */
	unsigned int at;     /**< Position, for hy_conform_next(). */
};

/**
 * Iterates over all variants of all families, by name, and then over all fusions.
 *
 * @param item Zeroed to begin with.
 * @return false: there are no more.
 */
bool hy_conform_next(struct hy_conform_item *item);

HY_API_END
