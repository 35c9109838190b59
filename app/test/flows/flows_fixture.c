/* SPDX-License-Identifier: BSD-3-Clause */
/* A flow cache for tests; see flows_fixture.h. */

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include <rte_memory.h>

#include "flows_fixture.h"

struct hy_flows *flows;

static unsigned int heap_before;

void
flows_new(uint32_t max_flows, uint32_t max_masks, unsigned int workers, struct rte_rcu_qsbr *with)
{
	const struct hy_flows_params params = { .max_flows = max_flows,
		.max_masks = max_masks,
		.max_port_masks = 64,
		.pressed_idle = 100,
		.workers = workers,
		.socket = SOCKET_ID_ANY,
		.qsbr = with,
		.seed = 1 };

	assert_null(flows);
	assert_int_equal(hy_flows_create(&params, &flows), 0);
}

uint32_t
flows_find(const struct hy_flows_key key[], uint32_t flow[], uint32_t n)
{
	struct hy_flows_lookups before, after;
	uint32_t hash[256], misses, there = 0;

	assert_true(n <= RTE_DIM(hash));
	hy_flows_lookups(flows, 0, &before);
	hy_flows_hashes(flows, key, hash, n);
	misses = hy_flows_lookup(flows, 0, HY_FLOWS_PARSE_ALL, key, hash, flow, n);
	hy_flows_lookups(flows, 0, &after);
	for (uint32_t i = 0; i < n; i++)
		there += flow[i] != HY_FLOWS_MISS;
	assert_int_equal(n, misses + there);
	assert_int_equal(after.packets - before.packets, n);
	assert_int_equal(after.misses - before.misses, misses);
	assert_int_equal(after.exact + after.index + after.masks -
			(before.exact + before.index + before.masks),
		there);
	return misses;
}

uint32_t
action_of(const struct hy_flows_key *key)
{
	uint32_t flow, action = HY_FLOWS_MISS;

	flows_find(key, &flow, 1);
	hy_flows_actions(flows, &flow, &action, 1);
	return action;
}

struct hy_flows_stats
flows_stats(void)
{
	struct hy_flows_stats s;

	hy_flows_stats(flows, &s);
	assert_int_equal(s.flows, s.added - s.deleted - s.idled - s.evicted - s.ended);
	return s;
}

struct hy_flows_key
key_of(uint32_t n)
{
	return (struct hy_flows_key){ .type = RTE_BE16(0x0800),
		.proto = IPPROTO_UDP,
		.kind = HY_FLOWS_IP,
		.ttl = 64,
		.src = rte_cpu_to_be_32(0x0a000000 + n % 7),
		.dst = rte_cpu_to_be_32(0xc0000000 + n),
		.sport = rte_cpu_to_be_16((uint16_t)(n * 31)),
		.dport = RTE_BE16(53) };
}

struct hy_flows_key
key_any(uint64_t *seed)
{
	uint8_t frame[FLOWS_FRAME_ROOM];
	const uint32_t len = flows_frame(frame, seed);
	struct hy_flows_key key;

	hy_flows_key(frame, len, (uint16_t)(flows_random(seed) % 4), HY_FLOWS_PARSE_ALL, &key);
	return key;
}

/* One to three fields or parts of them, in words that packets often have. */
static struct hy_flows_key
mask_any(uint64_t *seed)
{
	struct hy_flows_key mask = { 0 };

	for (uint32_t n = 1 + flows_random(seed) % 3; n > 0; n--) {
		const uint64_t byte = UINT64_C(0xff) << flows_random(seed) % 8 * 8;
		const uint32_t word = flows_random(seed) % 10;

		mask.words[word] |= flows_random(seed) % 4 == 0 ? byte & flows_random64(seed)
								: byte;
	}
	return mask;
}

struct rules
rules_any(uint32_t n, uint64_t *seed)
{
	struct rules rules = { .n = n };

	assert_true(n <= RULES_MOST);
	for (uint32_t i = 0; i < n; i++) {
		rules.mask[i] = mask_any(seed);
		rules.mask[i].src = RTE_BE32(0xff); /* each matches few packets but its own */
		rules.key[i] = key_any(seed);
		rules.key[i].src = flows_random(seed);
		rules.mask[i].port = 0;
	}
	return rules;
}

struct hy_flows_key
rules_key(const struct rules *rules, uint64_t *seed)
{
	struct hy_flows_key key = key_any(seed);
	const uint32_t rule = flows_random(seed) % rules->n;

	for (uint32_t w = 0; w < HY_FLOWS_WORDS && flows_random(seed) % 8 != 0; w++) {
		key.words[w] &= ~rules->mask[rule].words[w];
		key.words[w] |= rules->key[rule].words[w] & rules->mask[rule].words[w];
	}
	return key;
}

uint32_t
rules_answer(const struct rules *rules, const struct hy_flows_key *key,
	struct hy_flows_key *looked_at)
{
	uint32_t i = 0;

	memset(looked_at, 0, sizeof(*looked_at));
	for (; i < rules->n; i++) {
		for (uint32_t w = 0; w < HY_FLOWS_WORDS; w++)
			looked_at->words[w] |= rules->mask[i].words[w];
		if (hy_flows_equal(key, &rules->key[i], &rules->mask[i]))
			break;
	}
	return i;
}

uint32_t
flows_packets(uint32_t usual)
{
	const char *wanted = getenv("HALYARD_FLOWS_PACKETS");

	return wanted == NULL ? usual : (uint32_t)strtoul(wanted, NULL, 10);
}

int
flows_setup(void **state)
{
	RTE_SET_USED(state);
	unit_alloc_fail(0);
	unit_log_clear();
	heap_before = unit_heap_live();
	return 0;
}

int
flows_teardown(void **state)
{
	RTE_SET_USED(state);
	hy_flows_destroy(flows);
	flows = NULL;
	assert_int_equal(unit_heap_live(), heap_before);
	return 0;
}
