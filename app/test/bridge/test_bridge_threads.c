/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Workers that load the set-up, stall, rest and wake while it is exchanged: by commands and by reloads.
 * Each set-up has a mark that all its parts agree on, so that a mixed or freed one is seen.
 */

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include <rte_cycles.h>
#include <rte_rcu_qsbr.h>
#include <rte_ring.h>

#include "bridge_fixture.h"
#include "lib/bridge/bridge.h"

#define EXCHANGES 400
#define EXCHANGES_MOST 40000

/* The set-ups of both have this in common: ports are members of VLAN pvid of port 5, and of no other. */
static const char *const texts[] = {
	"port 5 access 10\nport 1 trunk 10\nport 2 trunk 10 native 10\n",
	"tag 0x88a8\nport 5 access 11\nport 1 trunk 11\nport 2 trunk 11 native 11\n",
};

static atomic_bool stop;

static struct worker {
	unsigned int id;
	uint64_t seed, looks, faults, rests, seen[2], found;
	const struct hy_l2_setup *last;
	uint64_t changes; /* how often the set-up was another one than before */
	pthread_t thread;
} team[WORKERS];

static bool
is_whole(const struct hy_l2_setup *s)
{
	const uint16_t vid = s->port[0].pvid;
	const uint16_t other = (uint16_t)(21 - vid);
	bool whole = (vid == 10 || vid == 11) && s->tag_type == (vid == 10 ? 0x8100 : 0x88a8) &&
		s->vlan[vid].members == 7 && s->vlan[vid].untagged == 5 &&
		s->vlan[other].members == 0 && s->port[2].pvid == vid;

	for (unsigned int i = 0; i < PORTS; i++)
		whole &= s->reach[i] == (s->forwarding & ~(UINT64_C(1) << i)) &&
			(s->forwarding >> i & 1) == (s->port[i].state == HY_L2_FORWARDING);
	return whole;
}

/* One walk: the set-up is loaded, and read to the end. */
static void
walk(struct worker *w)
{
	const struct hy_l2_setup *s = setup_now();

	w->changes += s != w->last;
	w->last = s;
	w->seen[s->port[0].pvid == 11]++;
	w->found += find(w->id, key_of(bridge_random(&w->seed) % 500, s->port[0].pvid), w->id);
	if (bridge_random(&w->seed) % 64 == 0)
		rte_delay_us_sleep(50);
	w->faults += !is_whole(s);
	w->looks++;
}

static void *
work(void *arg)
{
	struct worker *w = arg;

	rte_rcu_qsbr_thread_online(workers.qsbr, w->id);
	while (!atomic_load(&stop)) {
		walk(w);
		if (bridge_random(&w->seed) % 128 != 0) {
			rte_rcu_qsbr_quiescent(workers.qsbr, w->id);
			continue;
		}
		rte_rcu_qsbr_thread_offline(workers.qsbr, w->id);
		rte_delay_us_sleep(50);
		__atomic_fetch_add(&w->rests, 1, __ATOMIC_RELAXED);
		rte_rcu_qsbr_thread_online(workers.qsbr, w->id);
	}
	rte_rcu_qsbr_thread_offline(workers.qsbr, w->id);
	return NULL;
}

static void
reload(unsigned int which)
{
	struct hy_reload_part part;

	file_write(texts[which]);
	part = hy_bridge_part(bridge);
	if (part.read(part.arg, part.path, error) < 0 || part.apply(part.arg, error) < 0)
		fail_msg("%s", error);
	if (which == 1) { /* taken back, and applied after all */
		part.undo(part.arg);
		assert_int_equal(part.apply(part.arg, error), 0);
	}
	part.end(part.arg);
}

/* How often a worker rests is the scheduler's choice. */
static bool
is_enough(void)
{
	for (unsigned int w = 0; w < WORKERS; w++)
		if (__atomic_load_n(&team[w].rests, __ATOMIC_RELAXED) < 20)
			return false;
	return true;
}

static void
workers_see_whole_set_ups_while_they_are_exchanged(void **state)
{
	uint64_t seed = 5, taken = 0, handed = 0;
	unsigned int i = 0, states = 0, late = 0;

	RTE_SET_USED(state);
	bridge_new(texts[0]);
	atomic_store(&stop, false);
	for (unsigned int w = 0; w < WORKERS; w++) {
		team[w] = (struct worker){ .id = w, .seed = w + 1 };
		rte_rcu_qsbr_thread_register(workers.qsbr, w);
		assert_int_equal(pthread_create(&team[w].thread, NULL, work, &team[w]), 0);
	}
	for (; i < EXCHANGES || (i < EXCHANGES_MOST && !is_enough()); i++) {
		const uint16_t port = ports[bridge_random(&seed) % PORTS];
		const int rc = hy_bridge_state(bridge, port, bridge_random(&seed) % 3);

		assert_true(rc == 0 || rc == -ETIMEDOUT); /* on a busy machine */
		states += rc == 0;
		late += rc == -ETIMEDOUT;
		if (i % 4 == 0)
			reload(i / 4 % 2);
		hy_bridge_poll(bridge, i / 10);
	}
	atomic_store(&stop, true);
	for (unsigned int w = 0; w < WORKERS; w++) {
		pthread_join(team[w].thread, NULL);
		handed += team[w].found;
	}
	hy_bridge_poll(bridge, i);
	assert_null(bridge->retired);
	for (uint16_t n = 0; n < PORTS; n++) {
		const struct bridge_counts c = bridge_port_counts(bridge, n);

		taken += c.learned + c.moved + c.refreshed + c.refused;
	}
	print_message("%u exchanges, %u late; %ju sources\n", i, late, (uintmax_t)handed);
	assert_int_equal(taken, handed);
	assert_true(states > EXCHANGES / 2 && handed > 1000);
	for (unsigned int w = 0; w < WORKERS; w++) {
		const struct worker *worker = &team[w];

		print_message("%ju looks at %ju set-ups, %ju rests\n", (uintmax_t)worker->looks,
			(uintmax_t)worker->changes, (uintmax_t)worker->rests);
		assert_int_equal(worker->faults, 0);
		assert_true(worker->seen[0] > 10 && worker->seen[1] > 10);
		assert_true(worker->changes > 50 && worker->rests >= 20);
	}
}

static const struct CMUnitTest tests[] = {
	BRIDGE_TEST(workers_see_whole_set_ups_while_they_are_exchanged),
};
UNIT_SUITE(tests)
