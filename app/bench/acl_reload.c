/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reload under load: the forwarding graph with a list of 10,000 rules forwards on one CPU, and
 * another one replaces all of them, again and again, by those of a second set. Clocks a packet while
 * nothing is built, and while tables are built.
 *
 * Every packet must get the verdict of one of the sets, and none may come before a reload's and
 * after one of those before: what packets see changes once for each reload.
 *
 * The forwarding thread sleeps between laps and has a limit of time, so that a work ends whatever
 * the scheduler does.
 */

#include <stdatomic.h>
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_lcore.h>

#include <hy_graph_worker.h>

#include "acl_graph.h"
#include "l3fwd_ours.h"
#include "lanes.h"

#define RULES 10000
#define PACKETS 4096
#define SETS 2
#define LIMIT_S 10 /* of a round */
/*
 * Between laps, untimed: long enough that the kernel gives the CPU to others, which it does not if the
 * time is over before the thread has gone to sleep. The other thread may share this CPU.
 */
#define BREAK_US 100

struct reload {
	struct acl_set *sets[SETS];
	bool *permits[SETS]; /* by packet */
	struct acl_graph graph;
	struct entrant entrant;
	uint64_t cycles, packets;  /* of a round */
	bool reloads;              /* in the round */
	atomic_bool ready;         /* the round may end */
	uint64_t build_us;         /* of the last reload */
	unsigned int current;      /* the set that was loaded last */
	unsigned int seen;         /* the set of the last packet that tells */
	unsigned int nb, nb_seen;  /* reloads, and how many packets tell of */
	uint64_t differ, nb_total; /* packets that tell, and all */
};

/* Checks the verdicts of a lap, in the order of the packets. */
static bool
lap_judge(struct reload *r)
{
	const struct l3fwd_traffic *traffic = r->graph.rig.traffic;

	for (uint32_t i = 0; i < traffic->n; i++) {
		const bool sent = traffic->packets[i].seen == traffic->lap;
		const bool first = r->permits[0][i], second = r->permits[1][i];
		const unsigned int set = sent == second;

		if (first == second && sent != first) {
			fprintf(stderr, "hy-bench: packet %u was %s, against both sets of rules\n",
				i, sent ? "sent" : "dropped");
			return false;
		}
		if (first == second)
			continue;
		r->differ++;
		r->nb_seen += set != r->seen;
		r->seen = set;
	}
	r->nb_total += traffic->n;
	return true;
}

static void
forward(struct reload *r)
{
	const uint64_t limit = rte_rdtsc() + LIMIT_S * rte_get_tsc_hz();
	struct entrant *e = &r->entrant;
	bool ready;

	do {
		ready = atomic_load(&r->ready);
		e->wrong = !lap(e, &r->cycles, &r->packets) || !lap_judge(r);
		rte_delay_us_sleep(BREAK_US);
	} while (!e->wrong && !ready && rte_rdtsc() < limit);
	if (!e->wrong && !ready) {
		fprintf(stderr, "hy-bench: a reload took more than %d s\n", LIMIT_S);
		e->wrong = true;
	}
	hy_graph_rest(ours_graph(&e->way));
}

static void
control(struct reload *r)
{
	const uint64_t start = rte_rdtsc();

	if (!r->reloads) {
		rte_delay_us_sleep((unsigned int)r->build_us);
	} else if (acl_graph_rules(&r->graph, r->sets[1 - r->current]) == 0) {
		r->current = 1 - r->current;
		r->nb++;
		r->build_us = (rte_rdtsc() - start) * 1000000 / rte_get_tsc_hz();
	} else {
		return; /* the limit ends the round */
	}
	atomic_store(&r->ready, true);
}

static void
lane_run(void *arg, unsigned int lane)
{
	if (lane == 0)
		control(arg);
	else
		forward(arg);
}

static double
round_run(struct reload *r, bool reloads)
{
	if (r->entrant.wrong)
		return 1; /* not used: the work has no figures */
	r->reloads = reloads;
	r->cycles = r->packets = 0;
	atomic_store(&r->ready, false);
	lanes_run(lane_run, r, 0, LANES);
	return (double)r->cycles / (double)r->packets;
}

static double
quiet(void *arg)
{
	return round_run(arg, false);
}

static double
building(void *arg)
{
	return round_run(arg, true);
}

/* No packet may be left that tells of the last reload. */
static bool
check(void *arg)
{
	const struct reload *r = arg;

	if (r->entrant.wrong || (r->nb_seen == r->nb && r->nb > 0))
		return !r->entrant.wrong;
	fprintf(stderr, "hy-bench: packets tell of %u reloads, there were %u\n", r->nb_seen, r->nb);
	return false;
}

static bool
reload_make(struct reload *r)
{
	struct l3fwd_table *table = table_everywhere(TABLE_EIGHT, 1);
	struct l3fwd_traffic *traffic = acl_graph_traffic(table, r->sets, SETS, PACKETS);
	const uint64_t start = rte_rdtsc();

	traffic->may_drop = true;
	for (unsigned int s = 0; s < SETS; s++) {
		r->permits[s] = bench_alloc(traffic->n, sizeof(bool));
		for (uint32_t i = 0; i < traffic->n; i++)
			r->permits[s][i] = acl_graph_permits(r->sets[s], traffic, i);
	}
	if (!acl_graph_make(&r->graph, table, traffic, RULES))
		return false;
	r->entrant = (struct entrant){
		.way = r->graph.way, .rig = &r->graph.rig, .name = "reload"
	};
	if (acl_graph_rules(&r->graph, r->sets[0]) < 0 || acl_graph_bind(&r->graph, ACL_AT_IN) < 0)
		return bench_cannot("%d rules cannot be bound", RULES) == 0;
	hy_graph_rest(ours_graph(&r->graph.way));
	r->build_us = (rte_rdtsc() - start) * 1000000 / rte_get_tsc_hz();
	return true;
}

static void
measure(const char *work, const char *kind)
{
	struct reload *r = bench_alloc(1, sizeof(*r));
	struct field f = { .work = work };
	const struct contender contenders[] = {
		{ .name = "quiet", .arg = r, .figure = quiet, .check = check, .against = "quiet" },
		{ .name = "building",
			.arg = r,
			.figure = building,
			.check = check,
			.subject = true }
	};

	for (unsigned int s = 0; s < SETS; s++)
		r->sets[s] = acl_set_make(work, kind, ACL_IP4, ACL_SEED + s, RULES, false);
	if (reload_make(r)) {
		for (unsigned int c = 0; c < RTE_DIM(contenders); c++)
			field_enter(&f, &contenders[c], field_keep);
		field_measure(&f, CYCLES_PACKET);
		printf("%s: %u reloads of %d rules, the last in %.0f ms, among %" PRIu64
		       " packets; of these, %" PRIu64 " tell the sets apart\n",
			work, r->nb, RULES, (double)r->build_us / 1000, r->nb_total, r->differ);
	} else {
		bench_skip(work, NULL);
	}
	acl_graph_free(&r->graph);
	for (unsigned int s = 0; s < SETS; s++) {
		acl_set_free(r->sets[s]);
		free(r->permits[s]);
	}
	free(r);
}

void
acl_reloads(void)
{
	static const char *const kinds[] = { "fw", "acl", "ipc" };
	const struct bench_settings *s = bench_settings();

	for (unsigned int k = 0; k < RTE_DIM(kinds); k++) {
		char work[48];

		if (k > 0 && s->quick && strcmp(s->works, "*") == 0)
			break;
		snprintf(work, sizeof(work), "%s_10k_reload", kinds[k]);
		if (!bench_wanted(work))
			continue;
		if (rte_lcore_count() < LANES)
			bench_cannot("it takes two lcores, and there is one");
		if (rte_lcore_count() >= LANES && acl_graph_ports())
			measure(work, kinds[k]);
		else
			bench_skip(work, NULL);
	}
}
