/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A worker's state for the marks of a port: counts of the packets that hardware classified, a
 * random sample of them that software classifies again, a record of each difference, and counts of
 * the packets that should have had a mark.
 *
 * For nodes that read marks. Only the worker changes its state, except @ref hy_mark_worker.looks;
 * other threads read the counters and dequeue from the ring.
 */
#pragma once

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include <hy_api.h>

HY_API_BEGIN

struct rte_ring;

/** Bytes of a frame that a record of a mismatch keeps. */
#define HY_MISMATCH_FRAME 64

/** A packet that hardware and software classify differently. */
struct hy_mark_mismatch {
	uint32_t mark;     /**< The packet's mark. */
	uint32_t hw_rule;  /**< Id of the rule of the mark. */
	uint32_t sw_rule;  /**< Id of the rule that software finds; 0 and no class: none. */
	uint16_t hw_class; /**< Class of the rule of the mark. */
	uint16_t sw_class; /**< Class that software finds, which the packet got. */
	uint32_t len;      /**< Length of the packet, in bytes. */
	uint8_t frame[HY_MISMATCH_FRAME]; /**< Its first bytes, of its first segment; then 0. */
};

/** The state of one worker for one port. */
struct hy_mark_worker {
	alignas(RTE_CACHE_LINE_SIZE) uint64_t marked; /**< Packets that hardware classified. */
	uint64_t unmarked;                            /**< Packets without a mark. */
	uint64_t stale;      /**< Packets with a mark of no current rule. */
	uint64_t residue;    /**< Marked packets that were compared with rules of software. */
	uint64_t sampled;    /**< Marked packets that were classified again. */
	uint64_t mismatches; /**< Sampled packets whose mark was wrong. */
	uint64_t random;     /**< State of the random generator, never 0. */
	uint32_t gap;        /**< Marked packets until the next sample. */
	uint32_t every;      /**< Mean gap, at least 1. */
	bool periodic;       /**< For tests: the gap is always the mean. */
	/** struct hy_mark_mismatch by value, for one producer and one consumer. */
	struct rte_ring *records;
	/**
	 * Packets without a valid mark that software has examined so far, to find out whether
	 * hardware should have marked them.
	 */
	uint64_t looked;
	uint64_t missing; /**< Examined packets without a mark that should have had one. */
	/** Examined packets with an invalid mark that should have had another, without those that a
	 * rule marked which the port did not remove. */
	uint64_t garbled;
	uint64_t fragments; /**< Marked fragments that software classified. */
	uint64_t leaked;    /**< Examined packets that hardware should have dropped. */
	/** Limit of looked. The control thread raises it, so that the cost is bounded. */
	uint64_t looks;
};

/**
 * Draws the gap to the next sample: uniformly from 1 to 2 * every - 1. It is random because a fixed
 * gap would always sample the same packets of periodic traffic.
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

/** @return How many more packets without a mark the worker should examine. */
static inline uint64_t
hy_mark_looks(const struct hy_mark_worker *worker)
{
	const uint64_t looks = __atomic_load_n(&worker->looks, __ATOMIC_RELAXED);

	return looks > worker->looked ? looks - worker->looked : 0;
}

/**
 * Reports that a packet received from @p port names another port, @p other. Receive nodes check one
 * packet in each burst. Ignored for ports without an offload. Any thread.
 */
void hy_mark_foreign(uint16_t port, uint16_t other);

HY_API_END
