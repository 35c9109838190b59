/* SPDX-License-Identifier: BSD-3-Clause */
/* Next hops that a hash cannot tell apart by its buckets. */

#include <errno.h>
#include <string.h>

#include <rte_hash.h>

#include "node_fixture.h"

#define COLLIDING 256u
#define MORE (COLLIDING + 64) /* to change next hops to */

/* Next hops that a hash of COLLIDING + 1 entries keeps in the same two of its buckets. */
static void
colliding_find(struct hy_ip4_next_hop hops[MORE])
{
	const struct rte_hash_parameters params = {
		.name = "colliding", .entries = 8, .key_len = sizeof(hops[0])
	};
	const uint32_t buckets = rte_align32pow2(COLLIDING + 1) / 8;
	const uint32_t both = (buckets - 1) << 16 | (buckets - 1);
	struct rte_hash *hash = rte_hash_create(&params);
	struct hy_ip4_next_hop hop = { .port = 0 };
	uint32_t n = 0;

	assert_non_null(hash);
	for (uint32_t i = 0; n < MORE; i++) {
		memcpy(hop.mac.addr_bytes, &i, sizeof(i));
		if ((rte_hash_hash(hash, &hop) & both) == 0)
			hops[n++] = hop;
	}
	rte_hash_free(hash);
}

/* The library chains buckets then: one for each of its buckets, which is enough while it moves keys up. */
static void
next_hops_that_all_collide_find_room_for_their_ids(void **state)
{
	const struct hy_ip4_fib_params params = {
		.max_routes = 1, .max_tbl8s = 1, .max_next_hops = COLLIDING, .socket = SOCKET_ID_ANY
	};
	const struct hy_ip4_port port = { .port = 0, .max_len = 1514 };
	struct hy_ip4_next_hop hops[MORE], was;
	struct hy_ip4_fib *fib;
	uint64_t seed = 1;
	uint32_t id;

	RTE_SET_USED(state);
	colliding_find(hops);
	assert_int_equal(hy_ip4_fib_create("colliding", &params, &fib), 0);
	assert_int_equal(hy_ip4_port_add(fib, &port), 0);
	for (uint32_t i = 0; i < COLLIDING; i++) {
		assert_int_equal(hy_ip4_next_hop_add(fib, &hops[i], &id), 0);
		assert_int_equal(id, i);
	}
	assert_int_equal(hy_ip4_next_hop_add(fib, &hops[COLLIDING], &id), -ENOSPC);
	for (unsigned int round = 0; round < 20000; round++) {
		const uint32_t at = rnd(&seed) % COLLIDING;
		const uint32_t with = COLLIDING + rnd(&seed) % (MORE - COLLIDING);

		if (round % 2 == 0) {
			assert_int_equal(hy_ip4_next_hop_set(fib, at, &hops[with]), 0);
			was = hops[at];
			hops[at] = hops[with];
			hops[with] = was;
		} else {
			assert_int_equal(hy_ip4_next_hop_delete(fib, at), 0);
			assert_int_equal(hy_ip4_next_hop_add(fib, &hops[at], &id), 0);
			assert_int_equal(id, at);
		}
	}
	for (uint32_t i = 0; i < COLLIDING; i++) {
		assert_int_equal(hy_ip4_next_hop_add(fib, &hops[i], &id), 0);
		assert_int_equal(id, i);
	}
	hy_ip4_fib_destroy(fib);
}

static const struct CMUnitTest node_collide_tests[] = {
	NODE_TEST(next_hops_that_all_collide_find_room_for_their_ids),
};

UNIT_SUITE(node_collide_tests)
