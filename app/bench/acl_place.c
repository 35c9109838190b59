/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an access list costs the forwarding graph: without one, and with one where frames come in or
 * go out, by how many rules it has and what share of the packets they permit. It is one graph, to
 * which the list is bound before each round.
 */

#include <stdlib.h>

#include <hy_graph_worker.h>

#include "acl_graph.h"
#include "l3fwd_ours.h"

#define PACKETS 4096
#define PACKETS_LEAST 1024 /* fewer would not be a mixture */
#define SEED 2             /* most packets of each set may be forwarded */

/* A contender: the entrant comes first, as its functions expect. */
struct placed {
	struct entrant entrant;
	struct acl_graph *graph;
	enum acl_at at;
};

static double
placed_figure(void *arg)
{
	struct placed *p = arg;
	double figure = 1; /* not used after an error */

	if (acl_graph_bind(p->graph, p->at) < 0)
		p->entrant.wrong = true;
	if (!p->entrant.wrong)
		figure = l3fwd_figure(&p->entrant);
	hy_graph_rest(ours_graph(&p->entrant.way));
	return figure;
}

/* All rules permit, or all deny, or half of the packets are permitted. */
static void
actions_set(struct acl_set *set, const struct l3fwd_traffic *traffic, unsigned int percent)
{
	uint32_t *hits = bench_alloc(set->n, sizeof(*hits)), sum[2] = { 0 };

	for (uint32_t i = 0; i < traffic->n; i++) {
		struct hy_flow_key key;
		uint32_t rank;

		hy_flow_key(traffic->packets[i].frame, FRAME_LEN, &key);
		rank = acl_set_rank(set, &key);
		if (rank != HY_POLICY_NONE)
			hits[rank]++;
		else
			sum[0]++; /* permitted by default */
	}
	for (uint32_t rank = 0; rank < set->n; rank++) {
		const bool deny = percent == 0 || (percent == 50 && sum[0] > sum[1]);

		set->rules[rank] = (struct hy_flow_rule){ .id = rank + 1,
			.precedence = rank,
			.action = deny ? HY_RULE_DENY : HY_RULE_PERMIT,
			.match = set->rules[rank].match };
		sum[deny] += hits[rank];
	}
	free(hits);
}

/* Marks the packets that the rules deny. */
static void
denied_mark(const struct acl_set *set, struct l3fwd_traffic *traffic)
{
	traffic->routed = 0;
	for (uint32_t i = 0; i < traffic->n; i++) {
		if (!acl_graph_permits(set, traffic, i))
			traffic->packets[i].hop = HOP_NONE;
		traffic->routed += traffic->packets[i].hop != HOP_NONE;
	}
}

static void
compare(const char *work, struct acl_graph *g, struct l3fwd_rig *listed)
{
	static const char *const names[] = {
		[ACL_NOWHERE] = "none", [ACL_AT_IN] = "in", [ACL_AT_OUT] = "out"
	};
	struct placed placed[RTE_DIM(names)];
	struct field f = { .work = work };

	for (unsigned int i = 0; i < RTE_DIM(names); i++) {
		const struct contender c = { .name = names[i],
			.arg = &placed[i],
			.figure = placed_figure,
			.check = l3fwd_right,
			.against = i == ACL_NOWHERE ? NULL : names[i],
			.subject = i == ACL_NOWHERE };

		placed[i] = (struct placed){ .entrant = { .way = g->way,
						     .rig = i == ACL_NOWHERE ? &g->rig : listed },
			.graph = g,
			.at = (enum acl_at)i };
		snprintf(placed[i].entrant.name, sizeof(placed[i].entrant.name), "%s", names[i]);
		field_enter(&f, &c, field_keep);
	}
	field_measure(&f, CYCLES_PACKET);
	if (bench_median(work, "none") > 0)
		printf("%s: in costs %.1f clocks a packet more than none, out %.1f\n", work,
			bench_median(work, "in") - bench_median(work, "none"),
			bench_median(work, "out") - bench_median(work, "none"));
}

/* Measures with a list of the rules; or returns false after bench_cannot(). */
static bool
measure(const char *work, struct acl_set *set, unsigned int percent)
{
	struct l3fwd_table *table = table_everywhere(TABLE_EIGHT, 1);
	struct l3fwd_traffic *all = acl_graph_traffic(table, &set, 1, PACKETS);
	struct l3fwd_traffic *listed = acl_graph_traffic(table, &set, 1, PACKETS);
	struct acl_graph g;
	struct l3fwd_rig rig;
	bool made;

	actions_set(set, listed, percent);
	denied_mark(set, listed);
	if (listed->n < PACKETS_LEAST)
		bench_cannot("of its packets only %u may be forwarded", listed->n);
	made = acl_graph_make(&g, table, all, set->n) && listed->n >= PACKETS_LEAST;
	if (made && acl_graph_rules(&g, set) < 0)
		made = bench_cannot("the list's rules cannot be set") == 0;
	if (made) {
		printf("%s: of %u packets, %u are permitted\n", work, listed->n, listed->routed);
		rig = g.rig; /* the same packets, with another fate */
		rig.traffic = listed;
		compare(work, &g, &rig);
	}
	acl_graph_free(&g);
	free(listed);
	return made;
}

void
acl_places(void)
{
	static const struct {
		const char *name, *kind;
		uint32_t n;
	} sizes[] = { { "4", "acl", 4 }, { "100", "acl", 100 }, { "1k", "acl", 1000 },
		{ "file", NULL, 0 } };
	static const unsigned int percents[] = { 100, 50, 0 };

	for (unsigned int s = 0; s < RTE_DIM(sizes); s++) {
		struct acl_set *set = NULL;

		if (sizes[s].kind == NULL && bench_settings()->rules == NULL)
			continue;
		for (unsigned int p = 0; p < RTE_DIM(percents); p++) {
			char work[48];

			snprintf(work, sizeof(work), "l3fwd_%s_permit%u", sizes[s].name,
				percents[p]);
			if (!bench_wanted(work))
				continue;
			if (set == NULL)
				set = acl_set_make(work, sizes[s].kind, ACL_IP4, SEED, sizes[s].n,
					false);
			if (!set->five)
				bench_cannot("rules of other fields than IPv4's 5-tuple");
			if (!set->five || !acl_graph_ports() || !measure(work, set, percents[p]))
				bench_skip(work, NULL);
		}
		if (set != NULL)
			acl_set_free(set);
	}
}
