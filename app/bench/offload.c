/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The benefit of offload: the forwarding graph with a policy of 1,000 rules, classified by rte_acl,
 * and by marks that packets carry. Marks are set when the rings are refilled, untimed; they come
 * from a simulated flow engine.
 */

#include <inttypes.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_rcu_qsbr.h>

#include <hy_flow_cls.h>
#include <hy_flow_sim.h>
#include <hy_graph.h>
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
	struct hy_offload *offload;
	/*
	 * Packets say that they are of the port with the engine. They are received through another
	 * one over the same rings, so that the engine takes no time in laps.
	 */
	uint16_t port;
	struct l3fwd_rig rig;
	struct l3fwd_table *table;
	uint32_t *marks;
	uint32_t forged;
} b;

/* One rule matches the packets to each destination; the others are similar. */
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
	side->qsbr = bench_alloc(1, rte_rcu_qsbr_get_memsize(1));
	rte_rcu_qsbr_init(side->qsbr, 1);
	side->policy = bench_policy(RULES, rule_for, side->qsbr);
	return side->policy != NULL;
}

static void
side_free(struct side *side)
{
	hy_policy_destroy(side->policy);
	free(side->qsbr);
}

/* The graph, with a policy. */
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
	const struct hy_offload_params params = { .provider = &hy_flow_simulator,
		.driver = hy_flow_driver_of("generic"),
		.sample_every = SAMPLE_EVERY,
		.settle_us = SETTLE_US };
	struct hy_offload_stats stats;
	char reason[256];
	int rc;

	rc = hy_flow_sim_attach(b.port, &sim);
	if (rc < 0)
		return bench_cannot("the flow engine: %s", strerror(-rc)) == 0;
	if (hy_offload_create(b.mark.policy, b.port, &params, &b.offload, reason, sizeof(reason)) <
		0)
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

/* Sets the marks of all packets; one in forge_one_in gets the mark of another rule. */
static bool
marks_make(uint32_t forge_one_in)
{
	struct l3fwd_traffic *traffic = b.rig.traffic;
	struct rte_mbuf **mbufs = b.rig.mbufs;

	b.marks = bench_alloc(traffic->n, sizeof(*b.marks));
	b.forged = 0;
	traffic->port = b.port;
	for (uint32_t i = 0; i < traffic->n; i++) {
		traffic_write(traffic, i, mbufs[i]);
		if (hy_flow_sim_rx(hy_flow_sim_of(b.port), &mbufs[i], 1) != 1 ||
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

/* Runs laps until the sample contains a forged mark, except with negligible probability. */
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
 * Reports how packets were classified, and checks that sampling found enough of the forged marks.
 * Returns what is wrong, or NULL.
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

/* Prepares a work. On failure, bench_cannot() was called. */
static bool
stage_set(uint32_t forge_one_in)
{
	struct l3fwd_address *to = bench_alloc(PACKETS, sizeof(*to));
	uint32_t dst[PACKETS];
	bool made;

	memset(&b, 0, sizeof(b));
	b.port = rig_port(USERS_LIBRTE_NODE, 0);
	b.table = table_eight(TABLE_EIGHT, 1);
	for (uint32_t i = 0; i < PACKETS; i++)
		dst[i] = rule_for(i % DESTINATIONS).match.dst;
	bench_shuffle(dst, PACKETS);
	for (uint32_t i = 0; i < PACKETS; i++)
		to[i].ip4 = dst[i];
	made = rig_open(&b.rig, 0, 1, false, traffic_create(to, PACKETS, 64, b.table)) == 0 &&
		ours_table_create(b.table, false) == 0;
	free(to);
	return made && side_make(&b.acl) && side_make(&b.mark) && offload_make() &&
		marks_make(forge_one_in);
}

static void
stage_strike(void)
{
	hy_offload_destroy(b.offload);
	side_free(&b.acl);
	side_free(&b.mark);
	hy_flow_sim_detach(b.port);
	ours_table_destroy();
	rig_close(&b.rig);
	table_free(b.table);
	free(b.marks);
}

/* The contender by marks checks the sample, after the others. */
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
	struct field f = { .work = name };

	if (!bench_wanted(name))
		return;
	if (stage_set(forge_one_in)) {
		b.work = name;
		l3fwd_enter(&f, &b.rig, halyard_create(&b.rig, NULL), "no policy", ROLE_SHOWN);
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
