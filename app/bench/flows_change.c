/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lookups while megaflows change on another core; installing and deleting them; the time from a packet
 * that is missed to one that is found; and looking through a million of them.
 */

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_malloc.h>
#include <rte_pause.h>
#include <rte_rcu_qsbr.h>

#include "lib/flows/cache/flows_cache.h"

#include "flows.h"

#define STABLE 1024
#define CHANGING 4096
#define FLOWS 10000
#define RATE 100000 /* megaflows that are replaced in a second */
#define DRAWN 65536
#define INSTALLED 8192 /* in a figure */
#define NEW_FLOWS 500  /* whose first packets are timed in a figure */
#define PATIENCE 2     /* seconds for these */
#define MILLION (1u << 20)

/* A megaflow for a destination. */
static struct hy_flows_flow
flow_of(uint32_t number)
{
	return (struct hy_flows_flow){ .key = { .dst = rte_cpu_to_be_32(0x0a000000 + number) },
		.mask = { .dst = UINT32_MAX },
		.action = number + 1 };
}

static uint32_t
now_ms(void)
{
	return (uint32_t)(rte_rdtsc() / (rte_get_tsc_hz() / 1000));
}

static double
us_since(uint64_t start)
{
	return 1e6 * (double)(rte_rdtsc() - start) / (double)rte_get_tsc_hz();
}

/* A cache with its first megaflows; NULL after bench_cannot(). */
static struct hy_flows *
cache_create(uint32_t max_flows, uint32_t n, struct rte_rcu_qsbr *qsbr)
{
	const struct hy_flows_params params = { .max_flows = max_flows,
		.max_masks = 16,
		.max_port_masks = 16,
		.pressed_idle = 1,
		.workers = 1,
		.socket = SOCKET_ID_ANY,
		.qsbr = qsbr,
		.seed = 1 };
	const struct hy_flows_caches caches = { .index = HY_FLOWS_INDEX_LINES };
	struct hy_flows *flows;
	int rc = hy_flows_create(&params, &flows);

	if (rc == 0)
		rc = hy_flows_caches_set(flows, &caches);
	for (uint32_t i = 0; i < n && rc == 0; i++) {
		const struct hy_flows_flow flow = flow_of(i);

		rc = hy_flows_add(flows, &flow);
	}
	if (rc == 0)
		return flows;
	bench_cannot("a flow cache of %zu MiB: %s", hy_flows_bytes(&params) >> 20, strerror(-rc));
	hy_flows_destroy(flows);
	return NULL;
}

static struct rte_rcu_qsbr *
qsbr_create(void)
{
	const size_t size = rte_rcu_qsbr_get_memsize(1);
	struct rte_rcu_qsbr *qsbr = rte_zmalloc(NULL, size, RTE_CACHE_LINE_SIZE);

	if (qsbr == NULL || rte_rcu_qsbr_init(qsbr, 1) != 0 ||
		rte_rcu_qsbr_thread_register(qsbr, 0) != 0) {
		bench_cannot("no memory for a QSBR variable");
		rte_free(qsbr);
		return NULL;
	}
	rte_rcu_qsbr_thread_online(qsbr, 0);
	return qsbr;
}

/* Lookups, while another thread replaces megaflows or not. */
struct change {
	struct hy_flows *flows;
	struct rte_rcu_qsbr *qsbr;
	uint32_t *drawn; /* flows, of which each has one of the megaflows */
	uint64_t wrong, found, changing_found;

	/* Of the other thread. */
	atomic_bool active;
	bool was_active;
	uint64_t start, done, changes, refused, polled;
	uint64_t cycles, seen; /* in which it was active, and its last look at the clock */
	uint32_t next;
};

/* Replaces megaflows as often as is due. */
static void
change_turn(void *arg)
{
	struct change *c = arg;
	const uint64_t hz = rte_get_tsc_hz(), now = rte_rdtsc();

	c->seen = now;
	if (!atomic_load(&c->active)) {
		if (c->was_active)
			c->cycles += now - c->start;
		c->was_active = false;
		rte_pause(); /* as when it waits for the next change, since cores may be siblings */
		return;
	}
	if (!c->was_active) {
		c->was_active = true;
		c->start = now;
		c->done = 0;
	}
	if (now - c->polled > hz / 100) {
		hy_flows_poll(c->flows, now_ms(), 1024);
		c->polled = now;
	}
	if (c->done >= (now - c->start) / (hz / RATE)) {
		rte_pause();
		return;
	}
	const struct hy_flows_flow flow = flow_of(STABLE + c->next);

	hy_flows_delete(c->flows, &flow.key, &flow.mask);
	c->refused += hy_flows_add(c->flows, &flow) != 0;
	c->next = (c->next + 1) % CHANGING;
	c->done++;
	c->changes++;
}

/* One pass over the flows that were drawn. */
static void
change_pass(struct change *c)
{
	uint32_t hash[FLOWS_N], flow[FLOWS_N], action[FLOWS_N];
	struct hy_flows_key key[FLOWS_N] = { 0 };

	for (uint32_t at = 0; at < DRAWN; at += FLOWS_N) {
		for (uint32_t i = 0; i < FLOWS_N; i++) {
			const uint32_t which = c->drawn[at + i];

			key[i].dst = rte_cpu_to_be_32(0x0a000000 + which % (STABLE + CHANGING));
			key[i].src = which;
			hash[i] = which * 0x9e3779b1u;
			hash[i] ^= hash[i] >> 15;
			action[i] = 0;
		}
		hy_flows_lookup(c->flows, 0, HY_FLOWS_PARSE_ALL, key, hash, flow, FLOWS_N);
		hy_flows_actions(c->flows, flow, action, FLOWS_N);
		for (uint32_t i = 0; i < FLOWS_N; i++) {
			const uint32_t number = c->drawn[at + i] % (STABLE + CHANGING);
			const bool right = action[i] == number + 1;

			c->wrong += !right && (number < STABLE || action[i] != 0);
			c->found += right;
			c->changing_found += right && number >= STABLE;
		}
		rte_rcu_qsbr_quiescent(c->qsbr, 0);
	}
}

/* Clocks of a packet over some milliseconds. */
static double
change_figure(struct change *c, bool active)
{
	const uint64_t enough = rte_get_tsc_hz() / 1000000 * bench_settings()->round_us * 4;
	uint64_t start, n = 0;

	atomic_store(&c->active, active);
	change_pass(c); /* and it begins, or ends, meanwhile */
	start = rte_rdtsc();
	do {
		change_pass(c);
		n += DRAWN;
	} while (rte_rdtsc() - start < enough);
	start = rte_rdtsc() - start;
	atomic_store(&c->active, false);
	return (double)start / (double)n;
}

static double
still_figure(void *arg)
{
	return change_figure(arg, false);
}

static double
changing_figure(void *arg)
{
	return change_figure(arg, true);
}

static bool
change_check(void *arg)
{
	const struct change *c = arg;

	return c->wrong == 0 && c->found > 0 && c->changing_found > 0;
}

/* How many changes there were. The other thread has ended. */
static void
print_changes(const char *work, const struct change *c)
{
	const uint64_t cycles = c->cycles + (c->was_active ? c->seen - c->start : 0);
	const double rate = (double)c->changes * (double)rte_get_tsc_hz() /
		(double)RTE_MAX(cycles, UINT64_C(1));

	printf("%s: %.0f megaflows replaced a second of %d wanted, %ju refused%s\n", work, rate,
		RATE, (uintmax_t)c->refused,
		rate < 0.9 * RATE ? "; THE OTHER CORE WAS BUSY, and the ratio says little" : "");
}

static void
measure_change(const char *work)
{
	struct change *c = bench_alloc(1, sizeof(*c));
	struct field f = { .work = work };

	c->drawn = bench_alloc(DRAWN, sizeof(*c->drawn));
	for (uint32_t i = 0; i < DRAWN; i++) /* one packet in eight is of a megaflow that changes */
		c->drawn[i] = bench_random() % FLOWS / (STABLE + CHANGING) * (STABLE + CHANGING) +
			(bench_random() % 8 == 0 ? STABLE + bench_random() % CHANGING
						 : bench_random() % STABLE);
	c->qsbr = qsbr_create();
	if (c->qsbr != NULL)
		c->flows = cache_create(2 * (STABLE + CHANGING), STABLE + CHANGING, c->qsbr);
	if (c->flows != NULL && flows_other_start(change_turn, c) == 0) {
		field_enter(&f,
			&(struct contender){ .name = "still",
				.arg = c,
				.figure = still_figure,
				.check = change_check,
				.against = "still" },
			field_keep);
		field_enter(&f,
			&(struct contender){ .name = "changing",
				.arg = c,
				.figure = changing_figure,
				.check = change_check,
				.subject = true },
			field_keep);
		field_measure(&f, CYCLES_PACKET);
		flows_other_stop();
		print_changes(work, c);
	} else {
		bench_skip(work, NULL);
	}
	hy_flows_destroy(c->flows);
	rte_free(c->qsbr);
	free(c->drawn);
	free(c);
}

/* Adding and deleting megaflows of a cache that has as many others. */
struct install {
	struct hy_flows *flows;
	double delete_us;
	bool wrong;
};

static double
install_figure(void *arg)
{
	struct install *in = arg;
	uint64_t start = rte_rdtsc();
	double add_us;

	for (uint32_t i = 0; i < INSTALLED; i++) {
		const struct hy_flows_flow flow = flow_of(INSTALLED + i);

		in->wrong |= hy_flows_add(in->flows, &flow) != 0;
	}
	add_us = us_since(start) / INSTALLED;
	start = rte_rdtsc();
	for (uint32_t i = 0; i < INSTALLED; i++) {
		const struct hy_flows_flow flow = flow_of(INSTALLED + i);

		in->wrong |= hy_flows_delete(in->flows, &flow.key, &flow.mask) != 0;
	}
	in->delete_us = us_since(start) / INSTALLED;
	return add_us;
}

static bool
install_check(void *arg)
{
	return !((const struct install *)arg)->wrong;
}

static void
measure_install(const char *work)
{
	struct install in = { .flows = cache_create(4 * INSTALLED, INSTALLED, NULL) };
	const struct contender all[] = {
		{ .name = "add", .arg = &in, .figure = install_figure, .check = install_check },
		{ .name = "delete", .also = &in.delete_us },
	};

	if (in.flows == NULL)
		bench_skip(work, NULL);
	else
		bench_work(work, MICROSECONDS, all, RTE_DIM(all));
	hy_flows_destroy(in.flows);
}

/* Packets of new flows, and a handler on another core. */
struct first {
	struct hy_flows *flows;
	struct hy_flows_upcalls *upcalls;
	struct rte_mempool *pool;
	struct rte_rcu_qsbr *qsbr;
	uint32_t next;
	double us[NEW_FLOWS], p99;
	bool late;
};

static int
first_rules(void *arg, const struct hy_flows_key *key, struct hy_flows_flow *answer)
{
	RTE_SET_USED(arg);
	answer->mask.src_mac[0] = UINT8_MAX;
	answer->mask.src_mac[1] = UINT8_MAX;
	answer->action = key->src_mac[0] + 1u;
	return 0;
}

static void
first_turn(void *arg)
{
	struct first *first = arg;

	hy_flows_handle(first->upcalls, 0, 32);
	rte_pause();
}

/* Looks a packet of a flow up, and sends it once if it is missed. Returns whether it was found. */
static bool
first_look(struct first *first, struct rte_mbuf **m)
{
	struct rte_mbuf *back;
	uint32_t hash, flow, action;
	struct hy_flows_key key;
	uint8_t fate;

	hy_flows_keys(m, HY_FLOWS_PARSE_ALL, &key, 1);
	hy_flows_hashes(first->flows, &key, &hash, 1);
	if (hy_flows_lookup(first->flows, 0, HY_FLOWS_PARSE_ALL, &key, &hash, &flow, 1) == 1 &&
		rte_mbuf_refcnt_read(*m) == 1) {
		rte_mbuf_refcnt_set(*m, 2); /* until it comes back */
		hy_flows_upcall(first->upcalls, 0, m, &flow, &fate, 1);
	}
	if (hy_flows_answers(first->upcalls, 0, &back, &action, &fate, 1) == 1)
		rte_mbuf_refcnt_set(back, 1);
	rte_rcu_qsbr_quiescent(first->qsbr, 0);
	return flow != HY_FLOWS_MISS && rte_mbuf_refcnt_read(*m) == 1;
}

static double
first_figure(void *arg)
{
	struct first *first = arg;
	const uint64_t end = rte_rdtsc() + PATIENCE * rte_get_tsc_hz();
	struct rte_mbuf *m = rte_pktmbuf_alloc(first->pool);
	uint32_t n = 0;

	if (m == NULL)
		bench_fail("flows: no packet");
	memset(rte_pktmbuf_append(m, 64), 0, 64);
	m->port = 0;
	hy_flows_flush(first->flows, HY_FLOWS_ANY);
	for (; n < NEW_FLOWS && !first->late; n++) {
		const uint64_t start = rte_rdtsc();
		uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);

		frame[6] = (uint8_t)n;
		frame[7] = (uint8_t)(n >> 8);
		while (!first_look(first, &m))
			if (rte_rdtsc() > end) {
				first->late = true;
				return PATIENCE * 1e6; /* the work has no figures */
			}
		first->us[n] = us_since(start);
	}
	rte_pktmbuf_free(m);
	qsort(first->us, n, sizeof(first->us[0]), bench_by_value);
	first->p99 = first->us[n * 99 / 100];
	return first->us[n / 2];
}

static bool
first_check(void *arg)
{
	return !((const struct first *)arg)->late;
}

static int
first_create(struct first *first)
{
	const struct hy_flows_upcall_params params = { .rules = first_rules, .room = 64 };

	first->qsbr = qsbr_create();
	if (first->qsbr == NULL)
		return -1;
	first->flows = cache_create(2 * NEW_FLOWS, 0, first->qsbr);
	if (first->flows == NULL)
		return -1;
	first->pool = rte_pktmbuf_pool_create("first", 63, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
		SOCKET_ID_ANY);
	if (first->pool == NULL ||
		hy_flows_upcalls_create(first->flows, &params, &first->upcalls) < 0)
		return bench_cannot("no memory for upcalls");
	return flows_other_start(first_turn, first);
}

static void
measure_first(const char *work)
{
	struct first *first = bench_alloc(1, sizeof(*first));
	const struct contender all[] = {
		{ .name = "median", .arg = first, .figure = first_figure, .check = first_check },
		{ .name = "99th", .also = &first->p99 },
	};

	if (first_create(first) == 0) {
		bench_work(work, MICROSECONDS, all, RTE_DIM(all));
		flows_other_stop();
	} else {
		bench_skip(work, NULL);
	}
	hy_flows_upcalls_destroy(first->upcalls);
	hy_flows_destroy(first->flows);
	rte_mempool_free(first->pool);
	rte_free(first->qsbr);
	free(first);
}

/* Looking through a million megaflows, and as many entries of a cache. */
static double
megaflows_figure(void *arg)
{
	const uint64_t start = rte_rdtsc();

	hy_flows_poll(arg, now_ms(), UINT32_MAX);
	return us_since(start);
}

static bool
megaflows_check(void *arg)
{
	struct hy_flows_stats stats;

	hy_flows_stats(arg, &stats);
	return stats.flows == MILLION;
}

struct entries {
	struct hy_flows *flows;
	void *index;
};

static double
entries_figure(void *arg)
{
	const struct entries *e = arg;
	const uint64_t start = rte_rdtsc();

	for (uint32_t i = 0; i < MILLION; i++)
		flows_dfc.sweep(e->flows, e->index);
	return us_since(start);
}

static bool
entries_check(void *arg)
{
	const struct entries *e = arg;
	const struct hy_flows_key key = flow_of(1).key;
	const uint32_t hash = 1;
	uint32_t flow;
	const struct flows_burst b = { .key = &key, .hash = &hash, .flow = &flow, .parse = 7 };

	return flows_dfc.find(e->flows, e->index, &b, 1) == 1; /* none is dead */
}

static void
measure_sweep(const char *work)
{
	const struct hy_flows_caches kinds = { .index = HY_FLOWS_INDEX_DFC };
	struct entries e = { .flows = cache_create(MILLION, MILLION, NULL) };
	struct field f = { .work = work };

	if (e.flows != NULL) {
		e.index = rte_zmalloc(NULL, flows_dfc.bytes(&kinds), RTE_CACHE_LINE_SIZE);
		if (e.index == NULL)
			bench_cannot("no memory for %zu KiB", flows_dfc.bytes(&kinds) / 1024);
	}
	if (e.index != NULL)
		flows_dfc.init(e.index, &kinds);
	for (uint32_t i = 0; i < MILLION && e.index != NULL; i++)
		flows_dfc.enter(e.flows, e.index, i, i);
	if (e.flows == NULL || e.index == NULL) {
		bench_skip(work, NULL);
	} else {
		field_enter(&f,
			&(struct contender){ .name = "megaflows",
				.arg = e.flows,
				.figure = megaflows_figure,
				.check = megaflows_check },
			field_keep);
		field_enter(&f,
			&(struct contender){ .name = "dfc_number",
				.arg = &e,
				.figure = entries_figure,
				.check = entries_check },
			field_keep);
		field_measure(&f, MICROSECONDS);
	}
	rte_free(e.index);
	hy_flows_destroy(e.flows);
}

void
flows_changes(void)
{
	static const struct {
		const char *name;
		void (*measure)(const char *work);
	} works[] = { { "change_100k", measure_change }, { "install", measure_install },
		{ "first_packet", measure_first }, { "sweep_1Mi", measure_sweep } };

	for (uint32_t w = 0; w < RTE_DIM(works); w++)
		if (bench_wanted(works[w].name))
			works[w].measure(works[w].name);
}
