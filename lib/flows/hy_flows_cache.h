/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Caches in front of a flow cache's tables of masks, one of each kind for each worker, by a hash of the
 * packet. They are switched at run time, and take a fixed amount of memory.
 *
 * First a cache of frames; then an exact cache, which compares all of a key; then an index, which
 * remembers megaflows by few bits of a hash and compares the packet with the megaflow. What none of them
 * has, the tables have. A packet gets the same megaflow with any of them, except where megaflows overlap.
 */
#pragma once

#include <stdio.h>

#include <hy_flows.h>

HY_API_BEGIN

/** Exact caches. */
enum hy_flows_exact {
	HY_FLOWS_EXACT_NONE, /**< None. */
	/** 8,192 entries of 592 bytes in two places by the hash, as in Open vSwitch's EMC. */
	HY_FLOWS_EXACT_8K,
	/** 16,384 entries of 256 bytes in one place, as proposed with the datapath flow cache. */
	HY_FLOWS_EXACT_16K,
	HY_FLOWS_EXACTS, /**< Number of values. */
};

/** Indexes. */
enum hy_flows_index {
	HY_FLOWS_INDEX_NONE, /**< None. */
	/** 2^20 pointers by 20 bits of the hash: the datapath flow cache proposed for Open vSwitch. */
	HY_FLOWS_INDEX_DFC_POINTERS,
	HY_FLOWS_INDEX_DFC, /**< The same with numbers of 32 bits. */
	/**
	 * 2^18 buckets of four signatures and numbers of 16 bits, as in Open vSwitch's SMC. Megaflows
	 * with higher numbers are not remembered.
	 */
	HY_FLOWS_INDEX_SMC,
	/**
	 * Buckets of a cache line, whose signatures are compared at once: 14 with numbers of 16 bits, or
	 * 10 of 32 bits if max_flows needs them. As many buckets are used as the packets' flows need.
	 */
	HY_FLOWS_INDEX_LINES,
	HY_FLOWS_INDEXES, /**< Number of values. */
};

/** Which caches there are. */
struct hy_flows_caches {
	/**
	 * A cache of 4,096 frames, 64 bytes for each, two at each place. It compares the bits of a
	 * frame that masks look at, before a key is made. Of plain frames: Ethernet without tags, IPv4
	 * without options and fragments, TCP or UDP; and not VXLAN, with hy_flows_params.tunnels. Only
	 * hy_flows_find() asks it. A packet that it does not find costs more than without it.
	 */
	bool frames;
	enum hy_flows_exact exact; /**< The exact cache. */
	/** One in so many packets that it misses is entered, by chance; 1: all. */
	uint32_t exact_one_in;
	enum hy_flows_index index; /**< The index. */
	/** Most buckets of HY_FLOWS_INDEX_LINES: 2 to this power, 4 to 24; 0: 17, or 18 for 32 bits. */
	uint32_t lines_log;
	/**
	 * Skip a cache while packets take as long with it as without it. Now and then bursts are timed
	 * both ways, which takes about 1/64 of the time of lookups; see hy_flows_levels().
	 */
	bool automatic;
};

/**
 * Switches caches. The new ones are empty; the old ones are freed when workers have left them. Without
 * this call there are none.
 *
 * @return 0; -EINVAL; -ENOMEM, and nothing has changed.
 */
int hy_flows_caches_set(struct hy_flows *flows, const struct hy_flows_caches *caches);

/**
 * Gives a worker its caches, which are empty, before its first lookup. Of caches with
 * hy_flows_params.workers_begin.
 *
 * @return 0; -EALREADY it has begun; -ENOMEM.
 */
int hy_flows_worker_begin(struct hy_flows *flows, unsigned int worker);

/** Frees the caches of a worker that has begun, and uses @p flows no more until it begins again. */
void hy_flows_worker_end(struct hy_flows *flows, unsigned int worker);

/** @return Bytes of caches for each worker of @p flows; 0: none, or the values are wrong. */
size_t hy_flows_caches_bytes(const struct hy_flows *flows, const struct hy_flows_caches *caches);

/** What is known of one cache of a worker. */
struct hy_flows_level {
	bool present;  /**< There is one. */
	bool skipped;  /**< Packets skip it at present, because it does not pay. */
	uint32_t with; /**< TSC cycles of a lookup with it, times 100, when it was judged last. */
	uint32_t without; /**< And without it. Both are 0 until it is judged. */
	uint32_t found;   /**< Of 1000 packets that it was asked for before that. */
	uint32_t changes; /**< Times that it was skipped, or taken up again. */
};

/** The caches of a worker. */
struct hy_flows_levels {
	struct hy_flows_level frames; /**< The cache of frames. */
	struct hy_flows_level exact;  /**< The exact cache. */
	struct hy_flows_level index;  /**< The index. */
};

/**
 * Tells which caches a worker skips, and why, since they were switched. Called by any thread but
 * workers.
 */
void hy_flows_levels(struct hy_flows *flows, unsigned int worker, struct hy_flows_levels *levels);

/**
 * Prints a line on the caches and their size, and one for each worker on what they have found:
 * packets, shares of hits of each and of misses, and tables that were searched for a hit. With
 * hy_flows_caches.automatic, also a line for each cache that was judged.
 */
void hy_flows_print(struct hy_flows *flows, FILE *out);

HY_API_END
