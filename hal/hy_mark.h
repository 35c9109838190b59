/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What a worker keeps of a port's marks: how many packets hardware classified, the random sample of
 * them that is classified again in software, a record of each time that the two differ, and how many
 * of the packets without a mark should have had one.
 *
 * For nodes that read marks. Everything here but @ref hy_mark_worker.looks belongs to the one worker
 * whose it is; others read the counters and take from the ring.
 */
#ifndef HY_MARK_H
#define HY_MARK_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct rte_ring;

/** Bytes of a frame that a record of a mismatch keeps. */
#define HY_MISMATCH_FRAME 64

/** A packet that hardware and software classify differently. */
struct hy_mark_mismatch {
	uint32_t mark;     /**< As it came with the packet. */
	uint32_t hw_rule;  /**< Id of the rule that the mark stands for. */
	uint32_t sw_rule;  /**< Id of the rule that software finds; 0 and no class: none. */
	uint16_t hw_class; /**< Class of the one, */
	uint16_t sw_class; /**< and of the other: this one the packet got. */
	uint32_t len;      /**< Of the packet, in bytes. */
	uint8_t frame[HY_MISMATCH_FRAME]; /**< How the packet begins; 0 behind its first segment. */
};

/** Of one worker and one port. */
struct hy_mark_worker {
	alignas(RTE_CACHE_LINE_SIZE) uint64_t marked; /**< Packets that hardware classified. */
	uint64_t unmarked;                            /**< That came without a mark. */
	uint64_t stale;      /**< Whose mark stands for nothing (any more). */
	uint64_t residue;    /**< Marked ones that a rule of software's own was looked up for. */
	uint64_t sampled;    /**< Marked ones that were classified again. */
	uint64_t mismatches; /**< Of those, found wrong. */
	uint64_t random;     /**< State of its generator, never 0. */
	uint32_t gap;        /**< Marked packets until the next sample. */
	uint32_t every;      /**< Mean of that, at least 1. */
	bool periodic;       /**< For tests: the gap is always the mean. */
	/** struct hy_mark_mismatch by value, for one producer and one consumer. */
	struct rte_ring *records;
	/**
	 * Packets without a valid mark that software has looked at so far, to find out whether
	 * hardware should have marked them; of those, the ones that it should have,
	 */
	uint64_t looked;
	uint64_t missing;   /**< and that came without a mark; */
	uint64_t garbled;   /**< and that came with a mark that stands for nothing. */
	uint64_t fragments; /**< Marked fragments that software classified. */
	/** As many as looked may become. Raised by the control thread, so the cost is bounded. */
	uint64_t looks;
};

/**
 * Draws the gap to the next sample: 1 to 2 * every - 1, all alike. Random, since a fixed distance
 * meets only some of the packets of traffic that is periodic itself.
 */
static inline uint32_t
hy_mark_gap(struct hy_mark_worker *worker)
{
	uint64_t x = worker->random;

	if (unlikely(worker->periodic))
		return worker->every;
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	worker->random = x;
	return 1 + (uint32_t)(((x >> 32) * (2 * (uint64_t)worker->every - 1)) >> 32);
}

/** How many more packets without a mark the worker is to look at. */
static inline uint64_t
hy_mark_looks(const struct hy_mark_worker *worker)
{
	const uint64_t looks = __atomic_load_n(&worker->looks, __ATOMIC_RELAXED);

	return looks > worker->looked ? looks - worker->looked : 0;
}

/**
 * Reports that a packet which the driver of @p port received says that it came by another port,
 * @p other. Whoever receives packets compares one in each burst. Of ports without an offload nothing
 * is kept. Any thread.
 */
void hy_mark_foreign(uint16_t port, uint16_t other);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
