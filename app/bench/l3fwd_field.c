/* SPDX-License-Identifier: BSD-3-Clause */
/* Contenders of the l3fwd benchmark in a work, and their laps. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_cycles.h>

#include "l3fwd.h"

#define LOOP_TURNS 200 /* of each packet: fewer than its TTL */

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

/* Laps for as long as a round is to last. Returns cycles a packet. */
static double
laps(void *arg)
{
	const uint64_t enough = rte_get_tsc_hz() / 1000000 * bench_settings()->round_us;
	const uint64_t start = rte_rdtsc();
	struct entrant *e = arg;
	uint64_t cycles = 0, packets = 0;

	do {
		/* When one was wrong, what the rig holds is unknown, and there will be no figure. */
		if (e->wrong)
			return 1;
		e->wrong = !lap(e, &cycles, &packets);
	} while (rte_rdtsc() - start < enough);
	return (double)cycles / (double)packets;
}

static bool
right(void *arg)
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
	struct entrant *e = way.run == NULL ? NULL : calloc(1, sizeof(*e));
	struct contender c = { .name = name == NULL ? way.name : name,
		.arg = e,
		.figure = laps,
		.check = right,
		.subject = role == ROLE_SUBJECT };

	if (e != NULL) {
		*e = (struct entrant){ .way = way, .rig = rig };
		snprintf(e->name, sizeof(e->name), "%s", c.name);
		c.name = e->name;
		c.against = role == ROLE_PEER ? e->name : NULL;
	} else if (way.run != NULL) {
		way.destroy(way.arg);
	}
	field_enter(f, &c, leave);
}

unsigned int
l3fwd_node_add(struct l3fwd_node nodes[NODES_MAX], unsigned int n, const char *name,
	uint64_t cycles)
{
	char kind[sizeof(nodes->name)];
	unsigned int i = 0;

	if (cycles == 0) /* it has nothing to do in this work */
		return n;
	snprintf(kind, sizeof(kind), "%.*s", (int)strcspn(name, "-"), name);
	while (i < n && strcmp(nodes[i].name, kind) != 0)
		i++;
	if (i == NODES_MAX)
		l3fwd_fail("more than %d kinds of nodes", NODES_MAX);
	if (i == n)
		nodes[n++] = (struct l3fwd_node){ .cycles = 0 };
	memcpy(nodes[i].name, kind, sizeof(kind));
	nodes[i].cycles += cycles;
	return n;
}

/* The nodes of a contender as contenders of their own: the first one measures, the others ride. */
struct part {
	struct parts *parts;
	unsigned int index;
};

struct parts {
	struct entrant entrant;
	struct l3fwd_node nodes[NODES_MAX];
	unsigned int n;
	double figures[NODES_MAX];
	struct part each[NODES_MAX];
};

static void
parts_measure(struct parts *p)
{
	const uint64_t enough = rte_get_tsc_hz() / 1000000 * bench_settings()->round_us;
	const uint64_t start = rte_rdtsc();
	struct l3fwd_node before[NODES_MAX];
	uint64_t cycles = 0, packets = 0;

	memcpy(before, p->nodes, sizeof(before));
	do {
		if (p->entrant.wrong)
			return;
		p->entrant.wrong = !lap(&p->entrant, &cycles, &packets);
	} while (rte_rdtsc() - start < enough);
	p->entrant.wrong |= p->entrant.way.nodes(p->entrant.way.arg, p->nodes) != p->n;
	for (unsigned int i = 0; i < p->n; i++)
		p->figures[i] = (double)(p->nodes[i].cycles - before[i].cycles) / (double)packets;
}

static double
part_figure(void *arg)
{
	const struct part *part = arg;

	if (part->index == 0)
		parts_measure(part->parts);
	return part->parts->figures[part->index];
}

static bool
part_right(void *arg)
{
	return !((const struct part *)arg)->parts->entrant.wrong;
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
	p.n = way.nodes(way.arg, p.nodes); /* those that had something to do */
	for (unsigned int i = 0; i < p.n; i++) {
		p.each[i] = (struct part){ &p, i };
		all[i] = (struct contender){ .name = p.nodes[i].name,
			.arg = &p.each[i],
			.figure = part_figure,
			.check = part_right,
			.rides = i > 0 };
	}
	if (p.n > 0)
		bench_work(work, CYCLES_PACKET, all, p.n);
	else /* a work in which nothing is measured would pass */
		results_wrong(work, way.name, "no node had anything to do in the first lap");
	way.destroy(way.arg);
}
