/* SPDX-License-Identifier: BSD-3-Clause */
/* A flow cache for tests, whose worker 0 is played by the test, and a rule table behind it. */
#pragma once

#include <hy_flows_cache.h>
#include <hy_flows_worker.h>

#include "flows_frames.h"
#include "unit_worker.h"

/* The cache of a test; it is freed after the test, and then all memory must be free. */
extern struct hy_flows *flows;

/* Creates the cache with the same seed each time, 64 masks a port, and an eviction after 100 ms. */
void flows_new(uint32_t max_flows, uint32_t max_masks, unsigned int workers,
	struct rte_rcu_qsbr *qsbr);

/* What worker 0 finds for keys that were made with all bits but a tunnel's; checks what is counted. */
uint32_t flows_find(const struct hy_flows_key key[], uint32_t flow[], uint32_t n);
/* The action of the one for a key, or HY_FLOWS_MISS. */
uint32_t action_of(const struct hy_flows_key *key);
struct hy_flows_stats flows_stats(void);

/* The nth of different keys of UDP over IPv4 at port 0, and a mask of some of its fields. */
struct hy_flows_key key_of(uint32_t n);
#define MASK_DST \
	{ \
		.dst = UINT32_MAX, \
	}
#define MASK_5_TUPLE \
	{ \
		.src = UINT32_MAX, .dst = UINT32_MAX, .proto = UINT8_MAX, .sport = UINT16_MAX, \
		.dport = UINT16_MAX, .type = UINT16_MAX, \
	}

#define RULES_MOST 64

/* A rule table: the first rule that matches answers. */
struct rules {
	uint32_t n;
	struct hy_flows_key key[RULES_MOST], mask[RULES_MOST];
};

/* Random rules. */
struct rules rules_any(uint32_t n, uint64_t *seed);
/* A key that one of them matches, or nearly. */
struct hy_flows_key rules_key(const struct rules *rules, uint64_t *seed);
/*
 * What the rules say of a key: the number of the rule, or n. Writes which bits were looked at: those of
 * all masks up to that rule's.
 */
uint32_t rules_answer(const struct rules *rules, const struct hy_flows_key *key,
	struct hy_flows_key *looked_at);

/* A random key, as of a random frame at one of four ports. */
struct hy_flows_key key_any(uint64_t *seed);

/* Packets that a test looks up: HALYARD_FLOWS_PACKETS, or as many. */
uint32_t flows_packets(uint32_t usual);

int flows_setup(void **state);
int flows_teardown(void **state);

#define FLOWS_TEST(name) cmocka_unit_test_setup_teardown(name, flows_setup, flows_teardown)
