/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A switch forwards packets while another core changes 10,000 of its rules a second, and while it does not. Each
 * flow has a rule, and so a megaflow, which sends it to port 2. For one flow in eight, a rule of higher
 * priority comes, marks packets and sends them to port 3, and goes again, in turns. The changes of a
 * millisecond are put together, and committed. A packet has with it what is known of its flow's rules when it
 * sets out, a grace period after the commit: none may be treated by a rule that was gone by then.
 */

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_cycles.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_pause.h>
#include <rte_rcu_qsbr.h>

#include <hy_flow_apply.h>
#include <hy_flow_lookup.h>
#include <hy_grace.h>
#include <hy_mbuf.h>

#include "lib/datapath/datapath.h"

#include "flows.h"

#define RATE 10000  /* changes in a second */
#define AT_ONCE 256 /* changes of a commit, at most, when it is late */
#define FRAME_LEN 64
#define AT_FLOW 44  /* in a frame, the number of its flow, */
#define AT_STATE 48 /* and the state of its rules when it set out */
#define DRAWN 65536
#define MBUFS 16383
#define BURST 64
#define NAME "bench_rules"

struct rules {
	uint32_t flows, changing; /* flows; of these, the first ones, whose rules change */
	struct hy_workers *workers;
	struct hy_datapath *datapath;
	struct hy_graph *graph;
	struct rte_mempool *pool;
	uint32_t *drawn, at;
	/*
	 * By flow: changes of its rules that have begun, and the last one that is known to be done. An odd
	 * number adds the rule, which marks packets with it; an even one deletes it.
	 */
	atomic_uint *begun, *done;
	uint64_t in, out, dropped, by_rule, wrong;

	/* Of the other thread. */
	atomic_bool active;
	bool was_active, failed;
	uint64_t start, due, changes, commits, polled, busy;
	/*
	 * In the times that it was active, cycles until the last commit began; when that was; and from the
	 * beginnings of commits until their changes were done.
	 */
	uint64_t cycles, last, until_done;
	uint32_t next;
};

static struct rules *the; /* that of the nodes */

static uint16_t
source_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	struct rules *r = the;

	(void)n;
	if (rte_pktmbuf_alloc_bulk(r->pool, (struct rte_mbuf **)objs, BURST) < 0)
		return 0; /* they wait for rules */
	for (uint32_t i = 0; i < BURST; i++) {
		const uint32_t flow = r->drawn[r->at + i];
		struct rte_mbuf *m = objs[i];
		uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
		struct rte_ipv4_hdr *ip = (void *)(frame + RTE_ETHER_HDR_LEN);
		const uint32_t state = flow < r->changing
			? atomic_load_explicit(&r->done[flow], memory_order_acquire)
			: 0;

		memset(frame, 0, FRAME_LEN);
		frame[12] = 8; /* IPv4 */
		ip->version_ihl = RTE_IPV4_VHL_DEF;
		ip->total_length = RTE_BE16(FRAME_LEN - RTE_ETHER_HDR_LEN);
		ip->time_to_live = 64;
		ip->next_proto_id = 253; /* for experiments */
		ip->dst_addr = rte_cpu_to_be_32(0x0a000000 + flow);
		memcpy(frame + AT_FLOW, &flow, sizeof(flow));
		memcpy(frame + AT_STATE, &state, sizeof(state));
		m->data_len = FRAME_LEN;
		m->pkt_len = FRAME_LEN;
		m->port = 0;
		m->ol_flags = RTE_MBUF_F_RX_RSS_HASH;
		m->hash.rss = (flow + 1) * 0x9e3779b1u;
		m->hash.rss ^= m->hash.rss >> 15;
	}
	r->at = (r->at + BURST) % DRAWN;
	r->in += BURST;
	hy_stream_move(graph, node, 0, BURST);
	return BURST;
}

/* Packets by the rules of their flows alone, or by those of higher priority. */
static uint16_t
sink(struct rules *r, struct hy_graph *graph, void **objs, uint16_t n, bool marked)
{
	for (uint16_t i = 0; i < n; i++) {
		const struct rte_mbuf *m = objs[i];
		const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
		uint32_t flow, state;

		memcpy(&flow, frame + AT_FLOW, sizeof(flow));
		memcpy(&state, frame + AT_STATE, sizeof(state));
		if (marked)
			r->wrong += m->hash.fdir.hi < state || m->hash.fdir.hi % 2 == 0;
		else if (state % 2 == 1)
			r->wrong += atomic_load_explicit(&r->begun[flow], memory_order_acquire) <=
				state;
	}
	r->out += n;
	r->by_rule += marked ? n : 0;
	hy_release(graph, objs, n);
	return n;
}

static uint16_t
plain_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	(void)node;
	return sink(the, graph, objs, n, false);
}

static uint16_t
marked_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	(void)node;
	return sink(the, graph, objs, n, true);
}

static uint16_t
drop_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	(void)node;
	the->dropped += n;
	hy_release(graph, objs, n);
	return n;
}

/* Begins the next change, without a commit. */
static void
change_put(struct rules *r)
{
	const uint32_t flow = r->next % r->changing;
	const uint32_t number = atomic_load(&r->begun[flow]) + 1;
	char error[HY_DATAPATH_ERROR_SIZE], text[160], match[64];

	snprintf(match, sizeof(match), "priority=20,ip,nw_dst=10.%u.%u.%u", flow >> 16,
		flow >> 8 & 255, flow & 255);
	snprintf(text, sizeof(text), "%s actions=set_field:%u->pkt_mark,output:3", match, number);
	atomic_store(&r->begun[flow], number);
	r->failed |= (number % 2 == 1 ? hy_datapath_put(r->datapath, HY_DATAPATH_ADD, text, NULL,
						error)
				      : hy_datapath_put(r->datapath, HY_DATAPATH_DELETE_STRICT,
						match, NULL, error)) < 0;
	r->next++;
}

/* What this thread has run, in nanoseconds: the other core may have other work. */
static uint64_t
thread_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Some changes, which are done when this returns. */
static void
changes_do(struct rules *r, uint32_t n)
{
	const uint64_t start = thread_ns();
	const uint32_t first = r->next;

	for (uint32_t i = 0; i < n; i++)
		change_put(r);
	hy_datapath_commit(r->datapath);
	r->busy += thread_ns() - start;
	while (!hy_grace_wait(r->workers->qsbr, hy_grace_start(r->workers->qsbr)))
		;
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t flow = (first + i) % r->changing;

		atomic_store_explicit(&r->done[flow], atomic_load(&r->begun[flow]),
			memory_order_release);
	}
	r->changes += n;
	r->commits++;
}

/* What the control thread does. */
static void
control_turn(void *arg)
{
	struct rules *r = arg;
	const uint64_t hz = rte_get_tsc_hz(), now = rte_rdtsc();
	uint64_t due;

	if (now - r->polled > hz / 1000) {
		hy_datapath_poll(r->datapath, datapath_now());
		r->polled = now;
	}
	if (!atomic_load(&r->active)) {
		if (r->was_active)
			r->cycles += r->last - r->start;
		r->was_active = false;
		rte_pause();
		return;
	}
	if (!r->was_active) {
		r->was_active = true;
		r->start = r->last = now;
		r->due = 0;
	}
	due = (now - r->start) / (hz / RATE) - r->due;
	if (due < RATE / 1000) {
		rte_pause();
		return;
	}
	due = RTE_MIN(due, (uint64_t)AT_ONCE);
	due -= due % 2 == 0; /* or the rule of the only flow would be gone after each commit */
	changes_do(r, (uint32_t)due);
	r->due += due;
	r->last = now;
	r->until_done += rte_rdtsc() - now;
}

static double
rules_figure(struct rules *r, bool active)
{
	const uint64_t enough = rte_get_tsc_hz() / 1000000 * bench_settings()->round_us * 4;
	uint64_t start, before;

	atomic_store(&r->active, active);
	start = rte_rdtsc();
	while (rte_rdtsc() - start < enough / 8) /* it begins, or ends, meanwhile */
		hy_graph_walk(r->graph);
	before = r->out;
	start = rte_rdtsc();
	while (rte_rdtsc() - start < enough)
		hy_graph_walk(r->graph);
	start = rte_rdtsc() - start;
	atomic_store(&r->active, false);
	return (double)start / (double)RTE_MAX(r->out - before, UINT64_C(1));
}

static double
still_figure(void *arg)
{
	return rules_figure(arg, false);
}

static double
changing_figure(void *arg)
{
	return rules_figure(arg, true);
}

/* Each packet came out, or is in the pool or on its way; both kinds of rules treated some, and none was wrong. */
static bool
rules_check(void *arg)
{
	const struct rules *r = arg;

	return !r->failed && r->wrong == 0 && r->dropped == 0 && r->by_rule > 0 &&
		r->out > r->by_rule && r->in >= r->out && r->in - r->out <= MBUFS;
}

static int
nodes_make(struct rules *r)
{
	const struct hy_node_desc descs[] = {
		{ .name = NAME "_source",
			.flags = HY_NODE_SOURCE,
			.impl.process = source_process,
			.edges = { HY_FLOW_LOOKUP_NODE "-" NAME } },
		{ .name = NAME "_plain", .impl.process = plain_process },
		{ .name = NAME "_marked", .impl.process = marked_process },
		{ .name = NAME "_drop", .impl.process = drop_process },
	};
	const struct hy_flow_apply_config lists = { .ops = r->datapath->lists.ops };
	const struct hy_flow_lookup_config lookup = { .table = r->datapath->table, .rss[0] = true };
	static const char *const names[] = { HY_FLOW_APPLY_NODE, HY_FLOW_LOOKUP_NODE,
		HY_FLOW_REINJECT_NODE };
	hy_node_id id;
	int rc = 0;

	for (unsigned int i = 0; i < RTE_DIM(descs) && rc == 0; i++)
		rc = hy_node_register(&descs[i], &id);
	for (unsigned int i = 0; i < RTE_DIM(names) && rc == 0; i++) {
		rc = hy_node_lookup(names[i], &id);
		if (rc == 0)
			rc = hy_node_clone(id, NAME, &id);
		if (rc == 0 && i == 0)
			rc = hy_node_edge_add(id, NAME "_plain", NULL);
		if (rc == 0)
			rc = hy_node_edge_add(id,
				i == 0 ? NAME "_marked" : HY_FLOW_APPLY_NODE "-" NAME, NULL);
		if (rc == 0)
			rc = i == 0 ? hy_node_config(id, &lists, sizeof(lists))
				    : hy_node_config(id, &lookup, sizeof(lookup));
	}
	return rc;
}

static void
nodes_strike(void)
{
	static const char *const names[] = { HY_FLOW_REINJECT_NODE "-" NAME,
		HY_FLOW_LOOKUP_NODE "-" NAME, NAME "_source", HY_FLOW_APPLY_NODE "-" NAME,
		NAME "_drop", NAME "_marked", NAME "_plain" };
	hy_node_id id;

	for (unsigned int i = 0; i < RTE_DIM(names); i++)
		if (hy_node_lookup(names[i], &id) == 0)
			hy_node_unregister(id);
}

static int
graph_make(struct rules *r)
{
	static const char *const patterns[] = { HY_FLOW_REINJECT_NODE "-" NAME, NAME "_source" };
	const struct hy_graph_params params = { .patterns = patterns,
		.nb_patterns = RTE_DIM(patterns),
		.ops = &hy_mbuf_ops,
		.drop_node = NAME "_drop",
		.lanes = { HY_FLOW_ACTION_LANE },
		.burst = BURST,
		.socket = SOCKET_ID_ANY,
		.qsbr = r->workers->qsbr };

	return hy_graph_create(NAME, &params, &r->graph);
}

static int
switch_make(struct rules *r)
{
	static const struct hy_vswitch_port ports[] = {
		{ .number = 2, .name = "plain", .port = 1 },
		{ .number = 3, .name = "marked", .port = 2 },
	};
	const struct hy_vswitch_port in = { .number = 1, .name = "in", .port = 0, .edge = 2 };
	const struct hy_datapath_params params = { .ports = ports,
		.nb_ports = RTE_DIM(ports),
		.max_flows = 16384,
		.caches = { .index = HY_FLOWS_INDEX_LINES } };
	char error[HY_DATAPATH_ERROR_SIZE], text[160];
	int rc = hy_datapath_create(&params, &r->datapath, error);

	if (rc < 0)
		return bench_cannot("a switch: %s", error);
	rc = hy_vswitch_port_add(r->datapath->rules, &in);
	for (uint32_t i = 0; i < r->flows && rc == 0; i++) {
		snprintf(text, sizeof(text), "priority=10,ip,nw_dst=10.%u.%u.%u actions=output:2",
			i >> 16, i >> 8 & 255, i & 255);
		rc = hy_datapath_put(r->datapath, HY_DATAPATH_ADD, text, NULL, error);
	}
	if (rc == 0)
		rc = hy_datapath_start(r->datapath, r->workers, error);
	return rc < 0 ? bench_cannot("a switch of %u rules: %s", r->flows, error) : 0;
}

/* Packets of all flows go through, and each has its megaflow. */
static int
warm(struct rules *r)
{
	const uint64_t end = rte_rdtsc() + 10 * rte_get_tsc_hz();
	struct hy_flows_stats stats = { 0 };

	while (stats.flows < r->flows && rte_rdtsc() < end) {
		for (uint32_t n = 0; n < DRAWN; n += BURST)
			hy_graph_walk(r->graph);
		hy_flows_stats(hy_datapath_flows(r->datapath), &stats);
	}
	while (hy_datapath_waiting(r->datapath) > 0 && rte_rdtsc() < end)
		hy_graph_walk(r->graph);
	r->dropped = r->in = r->out = 0;
	return stats.flows == r->flows ? 0
				       : bench_cannot("%u of %u megaflows", stats.flows, r->flows);
}

static int
rules_make(struct rules *r)
{
	static struct hy_workers workers;

	workers.nb = 1;
	workers.worker[0].socket = SOCKET_ID_ANY;
	workers.qsbr = rte_zmalloc(NULL, rte_rcu_qsbr_get_memsize(1), RTE_CACHE_LINE_SIZE);
	r->workers = &workers;
	r->pool = rte_pktmbuf_pool_create(NAME, MBUFS, 256, 0, RTE_PKTMBUF_HEADROOM + 128,
		SOCKET_ID_ANY);
	if (workers.qsbr == NULL || rte_rcu_qsbr_init(workers.qsbr, 1) != 0 || r->pool == NULL)
		return bench_cannot("no memory for %d packets", MBUFS);
	r->drawn = bench_alloc(DRAWN, sizeof(*r->drawn));
	r->begun = bench_alloc(r->changing, sizeof(*r->begun));
	r->done = bench_alloc(r->changing, sizeof(*r->done));
	for (uint32_t i = 0; i < DRAWN; i++)
		r->drawn[i] = i < r->flows ? i : bench_random() % RTE_MAX(r->flows, 1u);
	if (switch_make(r) < 0)
		return -1;
	if (nodes_make(r) < 0 || graph_make(r) < 0)
		return bench_cannot("the graph could not be created");
	return warm(r);
}

static void
rules_free(struct rules *r)
{
	if (r->graph != NULL)
		hy_graph_destroy(r->graph);
	nodes_strike();
	hy_datapath_destroy(r->datapath);
	rte_mempool_free(r->pool);
	rte_free(r->workers->qsbr);
	free(r->drawn);
	free(r->begun);
	free(r->done);
	free(r);
}

/* How many changes there were. The other thread has ended. */
static void
print_changes(const char *work, const struct rules *r)
{
	const double hz = (double)rte_get_tsc_hz();
	const double cycles = (double)(r->cycles + (r->was_active ? r->last - r->start : 0));
	const double rate = (double)r->changes * hz / RTE_MAX(cycles, 1.0);
	const double commits = (double)RTE_MAX(r->commits, UINT64_C(1));
	const double kept = (double)r->datapath->kept, asked = (double)r->datapath->asked;

	printf("%s: %.0f rules changed a second of %d wanted, in %ju commits of %.0f us CPU time, done "
	       "after %.0f us; rules were asked about %.3f %% of the megaflows; %ju packets by rules "
	       "that came, %ju by rules that were gone%s\n",
		work, rate, RATE, (uintmax_t)r->commits, (double)r->busy / 1e3 / commits,
		1e6 * (double)r->until_done / hz / commits,
		100 * asked / RTE_MAX(kept + asked, 1.0), (uintmax_t)r->by_rule,
		(uintmax_t)r->wrong,
		rate < 0.9 * RATE ? "; THE OTHER CORE WAS BUSY, and the ratio says little" : "");
}

static void
measure(const char *work, uint32_t flows)
{
	struct rules *r = bench_alloc(1, sizeof(*r));
	struct field f = { .work = work };

	r->flows = flows;
	r->changing = RTE_MAX(flows / 8, 1u);
	the = r;
	if (rules_make(r) == 0 && flows_other_start(control_turn, r) == 0) {
		field_enter(&f,
			&(struct contender){ .name = "still",
				.arg = r,
				.figure = still_figure,
				.check = rules_check,
				.against = "still" },
			field_keep);
		field_enter(&f,
			&(struct contender){ .name = "changing",
				.arg = r,
				.figure = changing_figure,
				.check = rules_check,
				.subject = true },
			field_keep);
		field_measure(&f, CYCLES_PACKET);
		hy_graph_rest(r->graph);
		flows_other_stop();
		print_changes(work, r);
	} else {
		bench_skip(work, NULL);
	}
	rules_free(r);
}

void
flows_rules(void)
{
	static const struct {
		const char *name;
		uint32_t flows;
	} works[] = { { "rules_10k_1", 1 }, { "rules_10k_1k", 1000 }, { "rules_10k_10k", 10000 } };

	for (uint32_t w = 0; w < RTE_DIM(works); w++)
		if (bench_wanted(works[w].name))
			measure(works[w].name, works[w].flows);
}
