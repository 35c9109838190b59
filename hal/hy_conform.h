/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Conformance: whether a variant does what the reference variant of its family does.
 *
 * A *suite* belongs to a family, and says what a node of it needs to run: tables, ports, and what
 * the packets must look like that may reach it. The engine does the rest, the same for each
 * variant, so that a new variant adds no test code. It sends packets through two graphs. In one the
 * reference variant gets them one by one, each in one piece of memory. In the other the variant in
 * question gets the same packets in bursts of every size from 0 to HY_BURST_MAX, in whole or in
 * parts, at any alignment, in one segment or several, with pages behind or before them that fault
 * when they are touched. What became of each packet is compared: the edge it took, the order on
 * each edge, its bytes and those around it, its metadata and lanes, who holds it, and all counters.
 *
 * Faults and endless loops of a variant are caught on the calling thread, and told as results. (Not
 * in a child process: EAL's memory is shared with children, without hugepages too, and one that
 * dies would leave its heap damaged.)
 *
 * Functions are for one control thread, after rte_eal_init(), while no graph is walked. They return
 * 0 or a negative errno.
 */
#ifndef HY_CONFORM_H
#define HY_CONFORM_H

#include <rte_mbuf.h>
#include <rte_rcu_qsbr.h>

#include <hy_graph.h>
#include <hy_hal.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

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
	HY_SUITE_KINDS
};

/** A packet to be. */
struct hy_suite_packet {
	uint8_t bytes[HY_SUITE_FRAME_MAX]; /**< The frame. */
	uint32_t len;                      /**< Its length, 0 to HY_SUITE_FRAME_MAX. */
	uint32_t lanes[HY_LANES_MAX];      /**< Values of the family's lanes, in its order. */
	uint32_t packet_type;              /**< What a NIC could have said of it, or 0. */
	uint32_t mark;                     /**< Likewise: what a flow rule marked it with, or 0. */
};

/** One of the two sides of a comparison. */
struct hy_suite_side {
	const char *name;         /**< "ref" or "cand": part of the names of what a suite makes. */
	const char *variant;      /**< Name of the variant that runs on this side. */
	struct rte_mempool *pool; /**< Where its packets come from. */
	unsigned int setup;       /**< Which of the suite's set-ups, from 0 on. */
	/**
	 * Of a suite with change(): the QSBR variable that the side's graphs report to, as workers 0
	 * to HY_SUITE_WORKERS - 1; for tables. Else NULL, and all graphs are of worker 0.
	 */
	struct rte_rcu_qsbr *qsbr;
};

/** An outcome of a family that its suite does not reach, and why nothing is missed by that. */
struct hy_suite_excuse {
	const char *outcome; /**< As hy_conform_count.outcome names it: "drop port_down". */
	const char *reason;  /**< In words. */
};

/** What a family needs to be tried. Both sides get it alike, each its own. */
struct hy_suite {
	const char *family; /**< The family's name. */
	/** Ways to set up, which share the bursts; the last is measured. 0 means 1. */
	unsigned int nb_setups;
	/**
	 * Makes what nodes use: tables, ports. The same for both sides. May be NULL.
	 *
	 * @param[out] state For the functions below.
	 * @return 0, or a negative errno with nothing left behind.
	 */
	int (*setup)(const struct hy_suite_side *side, void **state);
	/** Undoes setup(). May be NULL. */
	void (*teardown)(void *state);
	/** Calls hy_node_config() for the node under test. May be NULL. @return 0 or an errno. */
	int (*configure)(void *state, hy_node_id id);
	/**
	 * Makes of any frame one that the node may be handed: sets lanes and metadata, mends what
	 * nodes before it would not let pass. Random numbers come from rte_rand(). May be NULL.
	 */
	void (*shape)(void *state, enum hy_suite_kind kind, struct hy_suite_packet *packet);
	/** Edges that are added to those which the family declares, as a program does at run time. */
	uint16_t nb_edges;
	/** Of a source: puts packets where the node finds them. @return 0 or a negative errno. */
	int (*feed)(void *state, struct rte_mbuf **packets, uint16_t n);
	/**
	 * Of a node that sends packets elsewhere than along edges: takes them from there, in order,
	 * when a burst is over. Called until it returns 0.
	 *
	 * @return How many, at most @p n.
	 */
	uint16_t (*take)(void *state, struct rte_mbuf **packets, uint16_t n);
	/**
	 * Changes tables between two bursts, in the same way for both sides: adds and removes routes
	 * or rules, changes next hops. Nodes, their contexts and graphs stay, so that what a variant
	 * remembers of tables from before is found. The numbers that it needs come from @p number, not
	 * from rte_rand(). May be NULL.
	 *
	 * @param number Of the change: 1, 2, …
	 * @return 0 or a negative errno, which ends the run.
	 */
	int (*change)(void *state, uint32_t number);
	/** Bursts between two changes, in the mean. 0 means 64. */
	unsigned int change_every;
	/**
	 * Every edge, drop reason and other outcome of the family must occur in a run of
	 * HY_CONFORM_CASES bursts, but for these.
	 */
	struct hy_suite_excuse excused[HY_SUITE_EXCUSED];
	/**
	 * Compares what the nodes have done to the states of the two sides, when all bursts of a
	 * set-up are over. May be NULL.
	 *
	 * @param[out] text What differs, in HY_CONFORM_TEXT_SIZE bytes.
	 * @return Whether they agree.
	 */
	bool (*agree)(void *reference, void *variant, char *text);
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
	const uint32_t *len;         /**< Its length; what is beyond HY_SUITE_FRAME_MAX is cut. */
	uint32_t n;                  /**< Frames. */
};

/** How to try a variant. */
struct hy_conform_params {
	uint64_t seed;                    /**< The same seed makes the same packets. */
	uint32_t cases;                   /**< Bursts; 0 means HY_CONFORM_CASES. */
	uint64_t packets;                 /**< As many more as make so many packets; 0: none. */
	const struct hy_frames *captures; /**< Or NULL. */
};

/** What became of a variant. */
enum hy_conform_outcome {
	HY_CONFORM_PASSED,
	HY_CONFORM_SKIPPED, /**< This machine cannot run it, or no suite can. */
	HY_CONFORM_FAILED,  /**< It differs, faulted, hung, or could not be tried. */
};

/** How often one outcome of a family occurred in a run, in the reference variant. */
struct hy_conform_count {
	char outcome[HY_NAME_SIZE]; /**< "edge 0 (ip4_rewrite)", "drop no_route", "release", … */
	uint64_t packets;           /**< How often. */
	const char *excuse;         /**< Why it need not occur; NULL: it must. */
};

/** The result of a run. */
struct hy_conform_result {
	enum hy_conform_outcome outcome;       /**< The verdict. */
	uint32_t cases;                        /**< Bursts that were compared. */
	uint64_t frames;                       /**< Frames in them. */
	uint64_t captured;                     /**< Of which came from captures. */
	char text[HY_CONFORM_TEXT_SIZE];       /**< Why skipped, or what differed; else "". */
	uint8_t shown[HY_CONFORM_SHOWN_BYTES]; /**< First bytes of the packet that differed. */
	uint32_t shown_len;                    /**< Bytes there. */
	uint32_t changes;                      /**< Changes of tables. */
	uint32_t nb_counts;                    /**< Outcomes of the family. */
	/** How often each outcome occurred: the first nb_counts are valid. */
	struct hy_conform_count counts[HY_CONFORM_COUNTS];
};

/**
 * Tries a variant against its family's reference variant. The reference variant itself is tried
 * too: whether it does the same in bursts, in segments and at guard pages.
 *
 * @param hal Says what this machine can run.
 * @param[out] result Always filled in.
 * @return 0 passed or skipped; -ENOENT no such family, variant or suite; -EILSEQ it differs;
 * -EFAULT it faulted; -ETIMEDOUT; -ENODATA an outcome did not occur in HY_CONFORM_CASES bursts or
 * more; -ENOMEM; or what making its graphs or a change of tables returned.
 */
int hy_conform_run(const struct hy_hal *hal, const char *family, const char *variant,
	const struct hy_conform_params *params, struct hy_conform_result *result);

/** What a packet costs, in TSC clocks: medians of rounds that alternate between the two. */
struct hy_conform_cost {
	double clocks;    /**< In the variant. */
	double reference; /**< In the reference variant, in the same minutes. */
	double ratio;    /**< Median of reference / variant of each round: above 1, it is faster. */
	uint32_t rounds; /**< How many. */
	uint64_t packets; /**< That each of the two was timed with. */
};

/**
 * Measures a variant beside the reference variant, on packets of kind HY_SUITE_TYPICAL in bursts of
 * HY_BURST_DEFAULT that the caches hold. Only the node's own function is timed.
 *
 * @return 0; -ENOENT; -ENOTSUP this machine cannot run it, or no suite can; -EFAULT;
 * -ETIMEDOUT; -ENOMEM; or what making its graphs returned.
 */
int hy_conform_measure(const struct hy_hal *hal, const char *family, const char *variant,
	uint64_t seed, struct hy_conform_cost *cost);

/** A family and one of its variants, as hy_conform_next() goes through them. */
struct hy_conform_item {
	const char *family;  /**< Names that stay valid until a plugin is loaded or unloaded. */
	const char *variant; /**< Of the variant. */
	const char *pack;    /**< That the variant comes from. */
	bool reference;      /**< It is the family's reference variant. */
	unsigned int at;     /**< Place, for hy_conform_next(). */
};

/**
 * Goes through all variants of all families, by name.
 *
 * @param item Zeroes to begin with.
 * @return false: that was all.
 */
bool hy_conform_next(struct hy_conform_item *item);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
