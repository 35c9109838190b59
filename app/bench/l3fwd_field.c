/* SPDX-License-Identifier: BSD-3-Clause */
/* Contenders for a work of the l3fwd benchmark, and their laps. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "l3fwd.h"

#define LOOP_TURNS 200 /* per packet; fewer than its TTL */

bool
lap(struct entrant *e, uint64_t *cycles, uint64_t *packets)
{
	struct l3fwd_rig *rig = e->rig;
	const struct l3fwd_way *way = &e->way;
	const uint64_t turns = rig->loop ? (uint64_t)LOOP_TURNS * rig->traffic->n / way->burst
					 : UINT64_MAX;
	const uint64_t drops = way->drops(way->arg), received = rig_received(rig, way->users);
	uint64_t before, forwarded;

	rig_fill(rig);
	before = rte_rdtsc_precise();
	way->run(way->arg, turns);
	*cycles += rte_rdtsc_precise() - before;
	forwarded = rig_received(rig, way->users) - received;
	*packets += forwarded;
	return rig_check(rig, e->name, way->rewrites, forwarded, way->drops(way->arg) - drops);
}

/* Runs laps for the duration of a round. Returns their cycles. */
static uint64_t
laps(struct entrant *e, uint64_t *packets)
{
	const uint64_t enough = rte_get_tsc_hz() / 1000000 * bench_settings()->round_us;
	const uint64_t start = rte_rdtsc();
	uint64_t cycles = 0;

	*packets = 0;
	/* After a wrong lap the rig's content is unknown, and the work has no figures. */
	do
		e->wrong = e->wrong || !lap(e, &cycles, packets);
	while (!e->wrong && rte_rdtsc() - start < enough);
	return cycles;
}

double
l3fwd_figure(void *arg)
{
	struct entrant *e = arg;
	uint64_t packets;
	const uint64_t cycles = laps(e, &packets);

	return e->wrong ? 1 : (double)cycles / (double)packets;
}

bool
l3fwd_right(void *arg)
{
	return !((const struct entrant *)arg)->wrong;
}

static void
leave(void *arg)
{
	struct entrant *e = arg;

	e->way.destroy(e->way.arg);
	free(e);
}

void
l3fwd_enter(struct field *f, struct l3fwd_rig *rig, struct l3fwd_way way, const char *name,
	enum role_in_ratios role)
{
	struct entrant *e = way.run == NULL ? NULL : bench_alloc(1, sizeof(*e));
	struct contender c = { .name = name == NULL ? way.name : name,
		.arg = e,
		.figure = l3fwd_figure,
		.check = l3fwd_right,
		.subject = role == ROLE_SUBJECT };

	if (e != NULL) {
		*e = (struct entrant){ .way = way, .rig = rig };
		snprintf(e->name, sizeof(e->name), "%s", c.name);
		c.name = e->name;
		c.against = role == ROLE_PEER ? e->name : NULL;
	}
	field_enter(f, &c, leave);
}

unsigned int
l3fwd_node_add(struct l3fwd_node nodes[NODES_MAX], unsigned int n, const char *name,
	uint64_t cycles)
{
	char kind[sizeof(nodes->name)];
	unsigned int i = 0;

	if (cycles == 0) /* not used in this work */
		return n;
	snprintf(kind, sizeof(kind), "%.*s", (int)strcspn(name, "-"), name);
	while (i < n && strcmp(nodes[i].name, kind) != 0)
		i++;
	if (i == NODES_MAX)
		bench_fail("l3fwd: more than %d kinds of nodes", NODES_MAX);
	if (i == n)
		nodes[n++] = (struct l3fwd_node){ .cycles = 0 };
	memcpy(nodes[i].name, kind, sizeof(kind));
	nodes[i].cycles += cycles;
	return n;
}

/* The nodes of a contender as contenders themselves: the first one measures all. */
struct parts {
	struct entrant entrant; /* the first member */
	struct l3fwd_node nodes[NODES_MAX];
	unsigned int n;
	double figures[NODES_MAX];
};

static double
parts_figure(void *arg)
{
	struct l3fwd_node before[NODES_MAX];
	struct parts *p = arg;
	uint64_t packets;

	memcpy(before, p->nodes, sizeof(before));
	laps(&p->entrant, &packets);
	if (p->entrant.wrong)
		return 1;
	p->entrant.wrong = p->entrant.way.nodes(p->entrant.way.arg, p->nodes) != p->n;
	for (unsigned int i = 0; i < p->n; i++)
		p->figures[i] = (double)(p->nodes[i].cycles - before[i].cycles) / (double)packets;
	return p->figures[0];
}

void
l3fwd_nodes(const char *work, struct l3fwd_rig *rig, struct l3fwd_way way)
{
	struct contender all[NODES_MAX];
	struct parts p = { .entrant = { .way = way, .rig = rig } };
	uint64_t cycles = 0, packets = 0;

	if (way.run == NULL) {
		bench_skip(work, NULL);
		return;
	}
	snprintf(p.entrant.name, sizeof(p.entrant.name), "%s", way.name);
	p.entrant.wrong = !lap(&p.entrant, &cycles, &packets);
	p.n = way.nodes(way.arg, p.nodes); /* those that were used */
	for (unsigned int i = 0; i < p.n; i++)
		all[i] = (struct contender){ .name = p.nodes[i].name, .also = &p.figures[i] };
	all[0].arg = &p;
	all[0].figure = parts_figure;
	all[0].check = l3fwd_right;
	all[0].also = NULL;
	if (p.n > 0)
		bench_work(work, CYCLES_PACKET, all, p.n);
	else /* else a work without measurements would pass */
		results_wrong(work, way.name, "no node had anything to do in the first lap");
	way.destroy(way.arg);
}
