/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A closed loop of the flows benchmark: a source writes frames into 4,096 mbufs in turn, which are looked
 * up and counted; packets that are missed go through upcalls, whose handler is the same
 * thread. `gen` only writes. `static` is the static loop of l3fwd, with its frames to 256 destinations.
 */

#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_mbuf.h>

#include "flows.h"
#include "l3fwd.h"

#define MBUFS 4096
#define ROOM 256                /* of upcalls */
#define MEGAFLOWS_NEW 65536     /* when each packet has its own */
#define WARM_LEAST (1u << 20)   /* packets, and eight for each flow */
#define WARM_MOST (1u << 22)    /* fill any cache */
#define STATIC_DESTINATIONS 256 /* as in l3fwd's dst256_8 */

struct loop {
	struct flows_frames *frames;
	struct hy_flows *flows; /* NULL: frames are only written */
	struct hy_flows_upcalls *upcalls;
	struct hy_flows_rss rss;
	struct rte_mbuf **mbufs;
	uint32_t at, run, new; /* the next mbuf, run and new flow */
	uint64_t in, out;
	bool wrong;
	/* At the end of the warming. */
	struct hy_flows_lookups before;
	struct hy_flows_upcall_stats sent_before;
};

/* The source. Returns the sum of the actions of new flows. */
static __rte_always_inline uint64_t
source(struct loop *l, struct rte_mbuf *mbufs[], uint32_t k)
{
	const struct flows_frames *frames = l->frames;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < FLOWS_N; i++) {
		const uint32_t flow = frames->drawn == NULL
			? l->new ++
			: frames->drawn[(size_t)l->run * FLOWS_RUN + k + i];

		flows_frames_write(frames, flow, mbufs[i]);
		if (frames->drawn == NULL)
			sum += flows_action_of(frames, flow);
	}
	l->in += FLOWS_N;
	return sum;
}

/* Some packets of a burst were missed. Returns the sum of the actions that they are answered with. */
static uint64_t
missed(struct loop *l, struct rte_mbuf *mbufs[], const uint32_t flow[])
{
	struct rte_mbuf *back[FLOWS_N];
	uint32_t action[FLOWS_N], n;
	uint8_t fate[FLOWS_N];
	uint64_t sum = 0;

	hy_flows_upcall(l->upcalls, 0, mbufs, flow, fate, FLOWS_N);
	hy_flows_handle(l->upcalls, 0, UINT32_MAX);
	do {
		n = hy_flows_answers(l->upcalls, 0, back, action, fate, FLOWS_N);
		for (uint32_t i = 0; i < n; i++)
			sum += action[i];
		l->out += n;
	} while (n == FLOWS_N);
	return sum;
}

static __rte_always_inline uint64_t
burst(struct loop *l, struct rte_mbuf *mbufs[])
{
	uint32_t flow[FLOWS_N], action[FLOWS_N], bytes[FLOWS_N];
	uint64_t sum = 0;

	if (hy_flows_find(l->flows, 0, &l->rss, mbufs, flow, FLOWS_N) > 0)
		sum += missed(l, mbufs, flow);
	for (uint32_t i = 0; i < FLOWS_N; i++) {
		bytes[i] = mbufs[i]->pkt_len;
		action[i] = 0;
	}
	hy_flows_actions(l->flows, flow, action, FLOWS_N);
	hy_flows_count(l->flows, 0, flow, bytes, FLOWS_N);
	for (uint32_t i = 0; i < FLOWS_N; i++) {
		sum += action[i];
		l->out += flow[i] != HY_FLOWS_MISS;
	}
	return sum;
}

static uint64_t
loop_run(void *arg)
{
	struct loop *l = arg;
	const struct flows_frames *frames = l->frames;
	uint64_t sum = 0, expected = frames->drawn == NULL ? 0 : frames->expected[l->run];

	for (uint32_t k = 0; k < FLOWS_RUN; k += FLOWS_N) {
		struct rte_mbuf **mbufs = l->mbufs + l->at;

		l->at = (l->at + FLOWS_N) % MBUFS;
		expected += source(l, mbufs, k);
		__asm__ volatile("" : : "r"(mbufs) : "memory");
		if (l->flows != NULL)
			sum += burst(l, mbufs);
	}
	if (l->flows != NULL) {
		hy_flows_poll(l->flows, (uint32_t)(rte_rdtsc() / (rte_get_tsc_hz() / 1000)), 4096);
		l->wrong |= sum != expected;
	}
	l->run = (l->run + 1) % (FLOWS_DRAWN / FLOWS_RUN);
	return FLOWS_RUN;
}

/* All packets came back with their action; if some were lost, their actions are missing. */
static bool
loop_check(void *arg)
{
	const struct loop *l = arg;

	return l->in > 0 && (l->flows == NULL || (!l->wrong && l->out == l->in));
}

static int
loop_create(struct loop *l, const struct hy_flows_caches *caches)
{
	const struct flows_case *of = l->frames->of;
	const uint32_t all = RTE_MIN(l->frames->megaflows, of->flows);
	const struct hy_flows_params params = {
		.max_flows = of->draw == DRAW_NEW && of->megaflows == FLOWS_ALL ? MEGAFLOWS_NEW
										: all,
		.max_masks = 256,
		.max_port_masks = 256,
		.pressed_idle = 1,
		.workers = 1,
		.socket = SOCKET_ID_ANY,
		.tunnels = of->vxlan,
		.seed = 1
	};
	const struct hy_flows_upcall_params upcalls = {
		.rules = flows_frames_rules, .arg = l->frames, .room = ROOM
	};

	l->rss.promised[0] = true;
	if (hy_flows_create(&params, &l->flows) < 0 ||
		hy_flows_upcalls_create(l->flows, &upcalls, &l->upcalls) < 0)
		return bench_cannot("no memory for a flow cache of %zu MiB",
			hy_flows_bytes(&params) >> 20);
	if (hy_flows_caches_set(l->flows, caches) < 0)
		return bench_cannot("no memory for caches of %zu KiB",
			hy_flows_caches_bytes(l->flows, caches) / 1024);
	return flows_frames_install(l->frames, l->flows);
}

static void
loop_destroy(void *arg)
{
	struct loop *l = arg;

	hy_flows_upcalls_destroy(l->upcalls);
	hy_flows_destroy(l->flows);
}

static void
warm(struct loop *l)
{
	const struct flows_case *of = l->frames->of;
	const uint32_t packets = of->draw != DRAW_NEW
		? RTE_MAX(WARM_LEAST, RTE_MIN(8 * of->flows, WARM_MOST))
		: of->megaflows == FLOWS_ALL ? 2 * MEGAFLOWS_NEW
					     : WARM_MOST;

	for (uint32_t n = 0; n < packets; n += FLOWS_RUN)
		loop_run(l);
	hy_flows_lookups(l->flows, 0, &l->before);
	hy_flows_upcall_stats(l->upcalls, 0, &l->sent_before);
}

/* The mbufs of all loops, which are never freed. */
static struct rte_mbuf **
mbufs_get(void)
{
	static struct rte_mbuf *mbufs[MBUFS];
	struct rte_mempool *pool;

	if (mbufs[0] != NULL)
		return mbufs;
	pool = rte_pktmbuf_pool_create("flows", MBUFS, 0, 0, RTE_PKTMBUF_HEADROOM + 128,
		SOCKET_ID_ANY);
	if (pool == NULL || rte_pktmbuf_alloc_bulk(pool, mbufs, MBUFS) < 0) {
		bench_cannot("no memory for %d packets", MBUFS);
		return NULL;
	}
	return mbufs;
}

/* l3fwd's static loop on the stage of its dst256_8. */
struct stage {
	struct l3fwd_table *table;
	struct l3fwd_rig rig;
	bool open;
};

static void
static_enter(struct field *f, struct stage *s)
{
	static int ports = 1; /* not yet created */
	struct l3fwd_address dst[MBUFS] = { 0 };
	struct l3fwd_way way = { .name = "static" };

	*s = (struct stage){ .table = table_eight(TABLE_EIGHT, 2) };
	for (uint32_t i = 0; s->table != NULL && i < MBUFS; i++) {
		const uint32_t d = i % STATIC_DESTINATIONS;

		dst[i].ip4 = s->table->routes[d % s->table->n].prefix + d / s->table->n;
	}
	if (ports == 1)
		ports = rig_ports(1);
	if (s->table != NULL && ports == 0) {
		s->open = true;
		if (rig_open(&s->rig, 0, 2, false, traffic_create(dst, MBUFS, 64, s->table)) == 0)
			way = static_create(&s->rig, s->table);
	}
	l3fwd_enter(f, &s->rig, way, "static", ROLE_SHOWN);
}

static void
static_leave(struct stage *s)
{
	if (s->open)
		rig_close(&s->rig);
	if (s->table != NULL)
		table_free(s->table);
}

static double
percent(uint64_t part, uint64_t all)
{
	return all == 0 ? 0 : 100.0 * (double)part / (double)all;
}

void
flows_loop_head(FILE *out)
{
	fprintf(out, "%-18s %-11s %7s %7s %7s %7s %7s %7s %7s %9s %7s %9s\n", "# work", "caches",
		"Mpps", "clocks", "frames%", "exact%", "index%", "masks%", "tables", "upcalls",
		"lost", "KiB");
}

static void
row_print(const struct loop *l, const struct flows_mode *mode, FILE *out)
{
	const double clocks = bench_median(l->frames->of->name, mode->name);
	struct hy_flows_upcall_stats sent;
	struct hy_flows_lookups now;

	if (clocks < 0)
		return;
	hy_flows_lookups(l->flows, 0, &now);
	hy_flows_upcall_stats(l->upcalls, 0, &sent);
	now.packets -= l->before.packets;
	fprintf(out, "%-18s %-11s %7.2f %7.1f %7.1f %7.1f %7.1f %7.1f %7.2f %9ju %7ju %9zu\n",
		l->frames->of->name, mode->name, (double)rte_get_tsc_hz() / clocks / 1e6, clocks,
		percent(now.frames - l->before.frames, now.packets),
		percent(now.exact - l->before.exact, now.packets),
		percent(now.index - l->before.index, now.packets),
		percent(now.masks - l->before.masks, now.packets),
		percent(now.tables - l->before.tables, now.masks - l->before.masks) / 100,
		(uintmax_t)(sent.sent - l->sent_before.sent),
		(uintmax_t)(sent.full - l->sent_before.full),
		hy_flows_caches_bytes(l->flows, &mode->caches) / 1024);
}

/* As Open vSwitch has it, one packet in 100 is entered in its exact cache. */
static struct flows_mode
mode_of(uint32_t m)
{
	struct flows_mode mode = flows_modes[m];

	if (mode.caches.exact == HY_FLOWS_EXACT_8K)
		mode.caches.exact_one_in = 100;
	return mode;
}

static void
loop_enter(struct field *f, struct loop *l, const struct flows_mode *mode)
{
	const bool made = l->mbufs != NULL && loop_create(l, &mode->caches) == 0;

	if (made)
		warm(l);
	field_enter(f,
		&(struct contender){ .name = mode->name,
			.arg = made ? l : NULL,
			.run = loop_run,
			.check = loop_check,
			.against = mode->peer ? mode->name : NULL,
			.subject = mode->subject },
		field_keep);
}

void
flows_loop(const struct flows_case *of, FILE *out)
{
	struct flows_frames *frames = flows_frames_create(of);
	struct loop *loops = bench_alloc(FLOWS_MODES + 1, sizeof(*loops)), *gen = loops;
	struct field f = { .work = of->name };
	struct stage stage;

	for (uint32_t m = 0; m <= FLOWS_MODES; m++)
		loops[m] = (struct loop){ .frames = frames, .mbufs = mbufs_get() };
	field_enter(&f,
		&(struct contender){ .name = "gen",
			.arg = gen->mbufs == NULL ? NULL : gen,
			.run = loop_run,
			.check = loop_check },
		field_keep);
	static_enter(&f, &stage);
	for (uint32_t m = 0; m < FLOWS_MODES; m++) {
		const struct flows_mode mode = mode_of(m);

		loop_enter(&f, &loops[m + 1], &mode);
	}
	field_measure(&f, CYCLES_PACKET);
	flows_loop_head(stdout);
	for (uint32_t m = 0; m < FLOWS_MODES; m++) {
		const struct flows_mode mode = mode_of(m);

		row_print(&loops[m + 1], &mode, stdout);
		if (out != NULL)
			row_print(&loops[m + 1], &mode, out);
		loop_destroy(&loops[m + 1]);
	}
	static_leave(&stage);
	free(loops);
	flows_frames_free(frames);
}
