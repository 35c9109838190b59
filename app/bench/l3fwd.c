/* SPDX-License-Identifier: BSD-3-Clause */
/* The works of the l3fwd benchmark, and who contends for them. */

#include <stdio.h>
#include <stdlib.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_lcore.h>

#include "l3fwd.h"

#define ENTRANTS_MAX 16
#define TTL 64

/* A contender in a work. */
struct entrant {
	struct l3fwd_way way;
	struct l3fwd_rig *rig;
	bool wrong;
};

struct field {
	struct contender all[ENTRANTS_MAX];
	struct entrant entrants[ENTRANTS_MAX];
	unsigned int n;
};

/* Laps for as long as a round is to last. Returns cycles a packet of what was timed. */
static double
laps(void *arg)
{
	const uint64_t enough = rte_get_tsc_hz() / 1000000 * bench_round_us();
	const uint64_t start = rte_rdtsc();
	struct entrant *e = arg;
	uint64_t cycles = 0, packets = 0;

	do {
		const uint64_t drops = e->way.drops(e->way.arg);
		uint64_t before;

		if (e->wrong)
			return 1; /* no figure: what the rig holds is unknown */
		rig_fill(e->rig);
		before = rte_rdtsc_precise();
		e->way.run(e->way.arg, UINT64_MAX);
		cycles += rte_rdtsc_precise() - before;
		packets += e->rig->traffic->n;
		e->wrong = !rig_check(e->rig, e->way.name, e->way.rewrites,
			e->way.drops(e->way.arg) - drops);
	} while (rte_rdtsc() - start < enough);
	return (double)cycles / (double)packets;
}

static bool
right(void *arg)
{
	return !((const struct entrant *)arg)->wrong;
}

static void
enter(struct field *f, struct l3fwd_rig *rig, struct l3fwd_way way, bool subject, bool peer)
{
	struct entrant *e = &f->entrants[f->n];

	*e = (struct entrant){ .way = way, .rig = rig };
	f->all[f->n++] = (struct contender){ .name = way.name,
		.arg = e,
		.figure = laps,
		.check = right,
		.against = peer ? way.name : NULL,
		.subject = subject };
}

static void
leave(struct field *f)
{
	for (unsigned int i = f->n; i-- > 0;)
		f->entrants[i].way.destroy(f->entrants[i].way.arg);
}

struct work {
	const char *name;
	unsigned int nb_ports;
	uint32_t packets, destinations;
};

static struct l3fwd_traffic *
traffic_for(const struct work *w, const struct l3fwd_table *table)
{
	uint32_t *dst = calloc(w->packets, sizeof(*dst));
	struct l3fwd_traffic *traffic;

	if (dst == NULL)
		l3fwd_fail("no memory for %u destinations", w->packets);
	/* As many from each route, in turn, then shuffled. */
	for (uint32_t i = 0; i < w->packets; i++) {
		const uint32_t d = i % w->destinations;

		dst[i] = table->routes[d % table->n].prefix + d / table->n +
			(w->destinations <= 256);
	}
	for (uint32_t i = w->packets - 1; i > 0; i--)
		RTE_SWAP(dst[i], dst[bench_random() % (i + 1)]);
	traffic = traffic_create(dst, w->packets, TTL, table);
	free(dst);
	return traffic;
}

static void
work(const struct work *w)
{
	static const struct ours_params defaults;
	struct field f = { .n = 0 };
	struct l3fwd_table *table;
	struct l3fwd_traffic *traffic;
	struct l3fwd_rig rig;

	if (!bench_wanted(w->name))
		return;
	table = table_eight(w->nb_ports);
	traffic = traffic_for(w, table);
	rig_open(&rig, 0, w->nb_ports, false, traffic);
	ours_table_create(table, false);
	enter(&f, &rig, rxtx_create(&rig), false, false);
	enter(&f, &rig, static_create(&rig, table, false), false, true);
	enter(&f, &rig, static_create(&rig, table, true), false, true);
	enter(&f, &rig, librte_create(&rig), false, true);
	librte_table(table, false);
	enter(&f, &rig, ours_create(&rig, &defaults), true, false);
	bench_work(w->name, CYCLES_PACKET, f.all, f.n);
	leave(&f);
	ours_table_destroy();
	rig_close(&rig);
	traffic_free(traffic);
	table_free(table);
}

void
bench_l3fwd(void)
{
	static const struct work works[] = {
		{ "one_flow", 2, 4096, 1 },
		{ "dst256_8", 2, 4096, 256 },
		{ "dst64k_8", 2, 65536, 65536 },
	};

	rig_ports(1);
	for (unsigned int i = 0; i < RTE_DIM(works); i++)
		work(&works[i]);
}
