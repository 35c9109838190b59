/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What offload is worth: the forwarding graph with a policy of 1,000 rules, classified by rte_acl,
 * and by marks that packets carry already. Marks are set when the rings are refilled, untimed; a
 * simulated flow engine has told them once, before all.
 */

#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>

#include <hy_flow_cls.h>
#include <hy_flow_sim.h>
#include <hy_graph.h>
#include <hy_node.h>
#include <hy_offload.h>

#include "l3fwd.h"
#include "l3fwd_ours.h"

#define RULES 1000
#define DESTINATIONS 256
#define PACKETS 16384
#define SAMPLE_EVERY 1024
#define SETTLE_US 1000

/* Each graph that classifies reads a policy of its own, of the same rules. */
struct side {
	struct hy_policy *policy;
	struct rte_rcu_qsbr *qsbr;
};

static struct {
	const char *work;
	struct side acl, mark;
	struct hy_flow_sim *sim;
	struct hy_offload *offload;
	struct l3fwd_rig rig;
	struct l3fwd_table *table;
	uint32_t *marks;
	uint32_t forged;
} b;

/* Notes an error. Returns whether there is none. */
static bool
good(int rc, const char *what)
{
	if (rc < 0)
		bench_cannot("%s: %s", what, strerror(-rc));
	return rc >= 0;
}

/* The engine stands behind no port, so that it has no part in what is timed. */
static int
sim_validate(uint16_t port __rte_unused, const struct rte_flow_attr *attr,
	const struct rte_flow_item *items, const struct rte_flow_action *actions,
	struct rte_flow_error *error)
{
	return hy_flow_sim_check(b.sim, attr, items, actions, error);
}

static int
sim_create(uint16_t port __rte_unused, const struct rte_flow_attr *attr,
	const struct rte_flow_item *items, const struct rte_flow_action *actions, void **flow,
	struct rte_flow_error *error)
{
	return hy_flow_sim_add(b.sim, attr, items, actions, flow, error);
}

static int
sim_destroy(uint16_t port __rte_unused, void *flow, struct rte_flow_error *error)
{
	return hy_flow_sim_remove(b.sim, flow, error);
}

static const struct hy_flow_provider sim_provider = {
	.name = "simulator",
	.validate = sim_validate,
	.create = sim_create,
	.destroy = sim_destroy,
};

/* One rule for the packets to each destination; the others are for hosts and services like them. */
static struct hy_flow_rule
rule_for(uint32_t i)
{
	const uint32_t d = i % DESTINATIONS;

	return (struct hy_flow_rule){ .id = i,
		.precedence = i,
		.class_id = (uint16_t)(1 + i),
		.match = { .fields = HY_FLOW_DST | HY_FLOW_PROTO | HY_FLOW_DPORT,
			.dst = b.table->routes[d % b.table->n].prefix + d / b.table->n,
			.dst_len = 32,
			.proto = IPPROTO_UDP,
			.dport = { (uint16_t)(9 + i / DESTINATIONS),
				(uint16_t)(9 + i / DESTINATIONS) } } };
}

static bool
side_make(struct side *side)
{
	struct hy_policy_params params = {
		.max_rules = RULES, .workers = 1, .socket = SOCKET_ID_ANY
	};

	side->qsbr = rte_zmalloc("qsbr", rte_rcu_qsbr_get_memsize(1), RTE_CACHE_LINE_SIZE);
	if (side->qsbr == NULL || rte_rcu_qsbr_init(side->qsbr, 1) != 0)
		return good(-ENOMEM, "a QSBR variable");
	params.qsbr = side->qsbr;
	if (!good(hy_policy_create("bench", &params, &side->policy), "the policy"))
		return false;
	for (uint32_t i = 0; i < RULES; i++) {
		const struct hy_flow_rule rule = rule_for(i);

		if (!good(hy_policy_add(side->policy, &rule), "a rule"))
			return false;
	}
	return good(hy_policy_commit(side->policy), "the rules");
}

static void
side_free(struct side *side)
{
	hy_policy_destroy(side->policy);
	rte_free(side->qsbr);
}

/* The graph with a policy. */
static struct l3fwd_way
classifying(const struct side *side, const char *variant)
{
	const struct hy_flow_cls_config config = { .policy = side->policy };
	struct ours_params params = { .qsbr = side->qsbr };
	char name[HY_NAME_SIZE];
	hy_node_id family, node;

	snprintf(name, sizeof(name), "flow_cls-%s", variant);
	if (hy_node_lookup(name, &node) < 0) {
		ours_must(hy_node_lookup("flow_cls", &family), "flow_cls");
		ours_must(hy_node_clone(family, variant, &node), "flow_cls");
	}
	ours_variant_set("flow_cls", variant, node);
	ours_must(hy_node_config(node, &config, sizeof(config)), name);
	params.flow_cls = name;
	return ours_create(&b.rig, &params);
}

static bool
offload_make(void)
{
	const struct hy_flow_sim_params sim = { .profile = "generic" };
	const struct hy_offload_params params = { .provider = &sim_provider,
		.driver = hy_flow_driver_of("generic"),
		.sample_every = SAMPLE_EVERY,
		.settle_us = SETTLE_US };
	struct hy_offload_stats stats;
	char reason[256];

	if (!good(hy_flow_sim_create(&sim, &b.sim), "the flow engine"))
		return false;
	hy_flow_sim_start(b.sim);
	if (hy_offload_create(b.mark.policy, b.rig.port[USERS_ALL][0], &params, &b.offload, reason,
		    sizeof(reason)) < 0)
		return bench_cannot("the offload: %s", reason) == 0;
	for (int i = 0; i < 100; i++) {
		usleep(SETTLE_US);
		hy_offload_poll(b.offload);
	}
	hy_offload_stats(b.offload, &stats);
	if (stats.hw_rules != RULES)
		bench_cannot("%u of %u rules are in the flow engine", stats.hw_rules, RULES);
	return stats.hw_rules == RULES;
}

/* The marks of all packets, of which one in so many gets that of a packet with another rule. */
static bool
marks_make(uint32_t forge_one_in)
{
	struct l3fwd_traffic *traffic = b.rig.traffic;
	struct rte_mbuf **mbufs = b.rig.mbufs;

	b.marks = calloc(traffic->n, sizeof(*b.marks));
	if (b.marks == NULL)
		return good(-ENOMEM, "marks");
	b.forged = 0;
	traffic->port = b.rig.port[USERS_ALL][0];
	for (uint32_t i = 0; i < traffic->n; i++) {
		traffic_write(traffic, i, mbufs[i]);
		if (hy_flow_sim_rx(b.sim, &mbufs[i], 1) != 1 ||
			(mbufs[i]->ol_flags & RTE_MBUF_F_RX_FDIR_ID) == 0)
			return bench_cannot("a packet got no mark") == 0;
		b.marks[i] = mbufs[i]->hash.fdir.hi;
	}
	for (uint32_t i = 1; i < traffic->n && forge_one_in > 0; i++) {
		if (bench_random() % forge_one_in != 0 || b.marks[i] == b.marks[i - 1])
			continue;
		b.marks[i] = b.marks[i - 1];
		b.forged++;
	}
	traffic->marks = b.marks;
	return true;
}

/* Laps until the sample has met forged marks, but for a chance that can be forgotten. */
static void
sample_enough(struct entrant *mark, double share)
{
	struct hy_offload_stats s;
	uint64_t cycles = 0, packets = 0;

	do {
		mark->wrong |= !lap(mark, &cycles, &packets);
		hy_offload_stats(b.offload, &s);
	} while (!mark->wrong && share > 0 && s.sampled < chance_samples(share));
}

/*
 * What marks were worth, and whether the sample found as many of the forged ones as it must. Returns
 * what is wrong, NULL: nothing.
 */
static const char *
judge(const char *work, double share)
{
	struct hy_offload_stats s;

	hy_offload_stats(b.offload, &s);
	printf("%s: %" PRIu64 " packets by marks, 0 of them unmarked: %s; %" PRIu64
	       " sampled, %" PRIu64 " found wrong, %.0f expected\n",
		work, s.marked, s.unmarked == 0 && s.stale == 0 ? "yes" : "no", s.sampled,
		s.mismatches, (double)s.sampled * share);
	if (s.unmarked + s.stale > 0)
		return "packets came without a mark that counts";
	if (!chance_explains(s.mismatches, s.sampled, share))
		return "the sample did not find the share of marks that are forged";
	hy_offload_poll(b.offload);
	hy_offload_stats(b.offload, &s);
	if (s.mismatches >= 8 && s.state != HY_OFFLOAD_DEMOTED)
		return "a port that lies was not demoted";
	if (s.state == HY_OFFLOAD_DEMOTED)
		printf("%s: the port is demoted\n", work);
	return NULL;
}

/* All that a work needs. If it cannot be made, why has been noted. */
static bool
stage_set(uint32_t forge_one_in)
{
	uint32_t *dst = calloc(PACKETS, sizeof(*dst));
	bool made;

	memset(&b, 0, sizeof(b));
	b.table = table_eight(TABLE_EIGHT, 1);
	if (dst == NULL || b.table == NULL) {
		free(dst);
		return good(-ENOMEM, "destinations");
	}
	for (uint32_t i = 0; i < PACKETS; i++)
		dst[i] = rule_for(i % DESTINATIONS).match.dst;
	bench_shuffle(dst, PACKETS);
	made = rig_open(&b.rig, 0, 1, false, traffic_create(dst, PACKETS, 64, b.table)) == 0 &&
		ours_table_create(b.table, false) == 0;
	free(dst);
	return made && side_make(&b.acl) && side_make(&b.mark) && offload_make() &&
		marks_make(forge_one_in);
}

static void
stage_strike(void)
{
	hy_offload_destroy(b.offload);
	side_free(&b.acl);
	side_free(&b.mark);
	hy_flow_sim_destroy(b.sim);
	ours_table_destroy();
	rig_close(&b.rig);
	table_free(b.table);
	free(b.marks);
}

/* The contender by marks checks what the sample found, after the others. */
static bool
mark_right(void *arg)
{
	struct entrant *e = arg;
	const double share = (double)b.forged / PACKETS;
	const char *wrong;

	if (e->wrong)
		return false;
	sample_enough(e, share);
	wrong = e->wrong ? "a lap is wrong" : judge(b.work, share);
	if (wrong != NULL)
		fprintf(stderr, "hy-bench: %s: %s\n", b.work, wrong);
	return wrong == NULL;
}

static void
work(const char *name, uint32_t forge_one_in)
{
	static const struct ours_params params;
	struct field f = { .work = name };

	if (!bench_wanted(name))
		return;
	if (stage_set(forge_one_in)) {
		b.work = name;
		l3fwd_enter(&f, &b.rig, ours_create(&b.rig, &params), "no policy", ROLE_SHOWN);
		l3fwd_enter(&f, &b.rig, classifying(&b.acl, "acl"), "acl", ROLE_PEER);
		l3fwd_enter(&f, &b.rig, classifying(&b.mark, "mark"), "mark", ROLE_SUBJECT);
		if (f.n > 0 && f.all[f.n - 1].subject)
			f.all[f.n - 1].check = mark_right;
		field_measure(&f, CYCLES_PACKET);
	} else {
		bench_skip(name, NULL);
	}
	stage_strike();
}

void
bench_offload(void)
{
	if (rig_ports(1) < 0) {
		bench_skip("*", NULL);
		return;
	}
	work("offload_1000", 0);
	work("offload_1000_forged", 100);
}
