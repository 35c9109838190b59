/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A flow cache as workers use it, by bursts of packets:
 *
 * @code
 * if (hy_flows_find(flows, worker, &rss, mbufs, flow, n) > 0)
 *         ... packets whose flow[i] is HY_FLOWS_MISS ...
 * hy_flows_actions(flows, flow, action, n);
 * hy_flows_count(flows, worker, flow, bytes, n);
 * @endcode
 *
 * hy_flows_find() asks the cache of frames, if there is one, and for the other packets does this, which
 * programs with keys and hashes of their own may do instead:
 *
 * @code
 * uint32_t parse = hy_flows_parse(flows);
 * hy_flows_keys(mbufs, parse, key, n);
 * hy_flows_hashes(flows, key, hash, n);                   ... or hy_flows_rss_hashes() ...
 * hy_flows_lookup(flows, worker, parse, key, hash, flow, n);
 * @endcode
 *
 * A worker has a number below that of struct hy_flows_params, and is the only thread to use it. What a
 * lookup finds is valid until the worker reports to the cache's QSBR variable. No function waits.
 */
#pragma once

#include <hy_flows.h>

HY_API_BEGIN

#define HY_FLOWS_MISS UINT32_MAX /**< No megaflow matches. */

/** @return Bits of enum hy_flows_parse_bit with which the keys of the next burst are to be made. */
uint32_t hy_flows_parse(const struct hy_flows *flows);

/** Hashes keys, by the bits that masks look at: hash[i] of key[i]. */
void hy_flows_hashes(const struct hy_flows *flows, const struct hy_flows_key key[], uint32_t hash[],
	uint32_t n);

/** A worker's knowledge of the hashes that ports deliver. Zeroed at first. */
struct hy_flows_rss {
	/** Set by the program for ports that deliver hashes (RTE_ETH_RX_OFFLOAD_RSS_HASH). */
	bool promised[RTE_MAX_ETHPORTS];
	/** Ports of which most different keys had the same hash. Theirs are not used any more. */
	bool constant[RTE_MAX_ETHPORTS];
	uint16_t pairs[RTE_MAX_ETHPORTS]; /**< Of packets that were compared. */
	uint16_t same[RTE_MAX_ETHPORTS];  /**< Of these, those with one hash. */
	uint32_t turn;                    /**< Bursts. */
};

/**
 * As hy_flows_hashes(), but takes the NIC's hash, its bits mixed, of packets that have one, from ports
 * that promise it.
 * In one burst of 64, compares packets with their neighbours, to find ports whose hash says nothing.
 */
void hy_flows_rss_hashes(const struct hy_flows *flows, struct hy_flows_rss *rss,
	struct rte_mbuf *const mbufs[], const struct hy_flows_key key[], uint32_t hash[],
	uint32_t n);

/**
 * Finds the megaflow of each packet, with the hashes of hy_flows_rss_hashes(). For up to 64 packets at a
 * time, keys are made on the stack.
 *
 * @param rss The worker's.
 * @param[out] flow Number of the megaflow, or HY_FLOWS_MISS.
 * @return How many are HY_FLOWS_MISS.
 */
uint32_t hy_flows_find(struct hy_flows *flows, unsigned int worker, struct hy_flows_rss *rss,
	struct rte_mbuf *const mbufs[], uint32_t flow[], uint32_t n);

/**
 * Finds the megaflow of each packet by its key.
 *
 * @param parse As the keys were made, or HY_FLOWS_PARSE_ALL with or without tunnels. A megaflow that was
 * added since, and looks at more of a packet, does not match.
 * @param hash Of any function of the keys; the same for the same packets of a flow.
 * @param[out] flow Number of the megaflow, or HY_FLOWS_MISS.
 * @return How many are HY_FLOWS_MISS.
 */
uint32_t hy_flows_lookup(struct hy_flows *flows, unsigned int worker, uint32_t parse,
	const struct hy_flows_key key[], const uint32_t hash[], uint32_t flow[], uint32_t n);

/**
 * Finds megaflows by name, as hardware may have told it: flow[i] is the megaflow of *ref[i], or HY_FLOWS_MISS
 * if it is gone.
 *
 * @return How many are HY_FLOWS_MISS.
 */
uint32_t hy_flows_named(const struct hy_flows *flows, const struct hy_flows_ref *const ref[],
	uint32_t flow[], uint32_t n);

/**
 * @return Whether a megaflow that was found matches a packet. @param key Of the packet. @param parse As
 * for hy_flows_lookup().
 */
bool hy_flows_match(const struct hy_flows *flows, uint32_t flow, uint32_t parse,
	const struct hy_flows_key *key);

/** Reads the actions of megaflows that were found; of HY_FLOWS_MISS, action[i] is not written. */
void hy_flows_actions(const struct hy_flows *flows, const uint32_t flow[], uint32_t action[],
	uint32_t n);

/** Counts packets for megaflows that were found, and their use. @param bytes Of each packet. */
void hy_flows_count(struct hy_flows *flows, unsigned int worker, const uint32_t flow[],
	const uint32_t bytes[], uint32_t n);

/** What a worker's lookups have come to. */
struct hy_flows_lookups {
	uint64_t packets; /**< Looked up: the sum of the next five. */
	uint64_t frames;  /**< Found in the cache of frames (hy_flows_cache.h). */
	uint64_t exact;   /**< Found in the exact cache. */
	uint64_t index;   /**< Found in the index. */
	uint64_t masks;   /**< Found in the tables of masks. */
	uint64_t misses;  /**< Not found. */
	uint64_t tables;  /**< Tables that were searched for what was found there. */
};

/** Reads a worker's counts. Any thread may call this. */
void hy_flows_lookups(const struct hy_flows *flows, unsigned int worker,
	struct hy_flows_lookups *lookups);

HY_API_END
