/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every hot cache line has one writer: shown for two workers that forward on queues of their own.
 *
 * From addresses: what the graphs consist of is listed, and no two parts of different writers share
 * a line. From what happens: all of DPDK's heap is compared with a copy, so that a write needs not
 * be known to be seen. That finds lines, but not what is written and put back, such as a lock. So
 * the pages in which a worker has nothing of its own are then made read-only, the forwarding table
 * among them, and it forwards once more.
 */

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>

#include <hy_ethdev.h>
#include <hy_hal.h>
#include <hy_idle.h>
#include <hy_mbuf.h>

#include "lib/graph/update/control.h"
#include "node_fixture.h"

#define WORKERS 2
#define BURST 8
#define PACKETS 128 /* in a round */
#define ROUNDS 5    /* so that each slot of a transmit ring is written */
#define TX_ROOM 255 /* a ring of 256 slots */

static struct worker {
	struct hy_graph *graph;
	struct port *port;
	struct rte_mbuf *packets[PACKETS];
	struct hy_idle *idle;
	uint64_t *changed; /* a bit for each line of the heap */
} workers[WORKERS];

static struct hy_hal *hal;
static struct rte_rcu_qsbr *qsbr;
static struct hy_ip4_fib *table;

/* Who writes a line: a worker, by its number, or the control plane. */
enum writer {
	CONTROL_OF = WORKERS,          /* what one worker alone reads: add its number */
	CONTROL_FOR_ALL = 2 * WORKERS, /* what all read */
};

/* Lines that belong to one part of something. */
struct span {
	uintptr_t first, last;
	unsigned int writer;
	const char *what;
};

static struct span spans[1024];
static unsigned int nb_spans;

/* Lines of what fills n lines of 64 bytes: some CPUs have longer ones. */
#define LINES(n) ((n)*64u / RTE_CACHE_LINE_SIZE)

static uintptr_t
line_of(const void *at)
{
	return (uintptr_t)at / RTE_CACHE_LINE_SIZE;
}

/* Adds a span; returns how many lines it has. */
static unsigned int
span_add(unsigned int writer, const char *what, const void *at, size_t size)
{
	struct span *span = &spans[nb_spans++];

	assert_true(nb_spans <= RTE_DIM(spans) && size > 0);
	*span = (struct span){ .first = line_of(at),
		.last = line_of(RTE_PTR_ADD(at, size - 1)),
		.writer = writer,
		.what = what };
	return (unsigned int)(span->last - span->first) + 1;
}

/* Adds a whole block of DPDK's heap. */
static unsigned int
block_add(unsigned int writer, const char *what, const void *block)
{
	size_t size = 0;

	assert_int_equal(rte_malloc_validate(block, &size), 0);
	return span_add(writer, what, block, size);
}

/* What its worker writes in each walk, or alone reads. Returns lines. */
static unsigned int
spans_of_nodes(unsigned int w, const struct hy_image *image)
{
	const struct hy_plan *plan = &image->plan;
	unsigned int lines = 0;

	for (unsigned int r = 0; r < plan->nb_nodes; r++) {
		const struct hy_node *node = &image->hot[r];

		lines += span_add(w, "stream", node->stream,
			plan->lane_offset[0] + plan->stream_cap * sizeof(uint32_t));
		if (node->ctx != NULL)
			lines += block_add(w, "context", node->ctx);
	}
	lines += span_add(w, "hot nodes", image->hot, (plan->nb_nodes + 1u) * sizeof(*image->hot));
	lines += span_add(w, "pending", plan->pending, plan->nb_words * sizeof(*plan->pending));
	lines += span_add(w, "edges, drops, counters", image->edges,
		RTE_PTR_DIFF(image->nodes, image->edges));
	lines += span_add(w, "timed", image->nodes, plan->nb_nodes * sizeof(*image->nodes));
	return lines;
}

static void
spans_of(unsigned int w)
{
	const struct worker *worker = &workers[w];
	struct hy_graph *graph = worker->graph;
	const struct hy_image *image = hy_graph_image(graph);
	unsigned int lines;

	assert_int_equal(graph->plan.nb_lanes, 1);
	/* rx, pkt_cls, ip4_lookup, ip4_rewrite, two of tx, pkt_drop. */
	assert_int_equal(image->plan.nb_nodes, 7);
	lines = spans_of_nodes(w, image);
	assert_in_range(lines, LINES(7 * 2 + 8 + 1 + 7 + 7), 1000);
	assert_int_equal(span_add(w, "graph", graph, offsetof(struct hy_graph, attention)),
		LINES(2));
	assert_int_equal(span_add(w, "idle", worker->idle, sizeof(*worker->idle)), LINES(2));
	assert_int_equal(span_add(w, "reader", &qsbr->qsbr_cnt[w], sizeof(qsbr->qsbr_cnt[w])), 1);
	for (unsigned int i = 0; i < PACKETS; i++)
		span_add(w, "packet", worker->packets[i],
			sizeof(struct rte_mbuf) + worker->packets[i]->buf_len);

	assert_int_equal(span_add(CONTROL_OF + w, "attention", &graph->attention,
				 sizeof(*graph) - offsetof(struct hy_graph, attention)),
		1);
	assert_int_equal(span_add(CONTROL_OF + w, "budgets", image->plan.budgets,
				 image->plan.nb_sources * sizeof(*image->plan.budgets)),
		1);
	block_add(CONTROL_OF + w, "control", graph->control);
}

static void
spans_collect(void)
{
	nb_spans = 0;
	for (unsigned int w = 0; w < WORKERS; w++)
		spans_of(w);
	block_add(CONTROL_FOR_ALL, "table", table);
	assert_int_equal(span_add(CONTROL_FOR_ALL, "QSBR", qsbr, sizeof(*qsbr)), 2);
}

/* The heap, one piece without hugepages. */
static struct heap {
	uint8_t *at;
	size_t size;
} heap;

static int
heap_find(const struct rte_memseg_list *list, const struct rte_memseg *seg, size_t size, void *arg)
{
	struct heap *found = arg;

	RTE_SET_USED(list);
	if (found->at != NULL)
		return -1;
	*found = (struct heap){ .at = seg->addr, .size = size };
	return 0;
}

static void *
pages_new(size_t size)
{
	void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(pages, MAP_FAILED);
	return pages;
}

static void
heap_protect(uint8_t *from, const uint8_t *to, int how)
{
	if (from < to)
		assert_int_equal(mprotect(from, (size_t)(to - from), how), 0);
}

static bool
is_changed(const struct worker *worker, uintptr_t line)
{
	const uintptr_t l = line - line_of(heap.at);

	return (worker->changed[l / 64] >> l % 64 & 1) != 0;
}

/* Whether a worker has something of its own in a page: a line that it changes, or a part. */
static bool
is_own(const struct worker *worker, const uint8_t *page, size_t size)
{
	const uintptr_t first = line_of(page), last = line_of(page + size - 1);
	bool own = false;

	for (uintptr_t l = first; l <= last && !own; l++)
		own = is_changed(worker, l);
	for (unsigned int s = 0; s < nb_spans && !own; s++)
		own = spans[s].writer == (unsigned int)(worker - workers) &&
			spans[s].first <= last && spans[s].last >= first;
	return own;
}

/* Makes all read-only but for a worker's own pages. Returns how many those are. */
static unsigned int
heap_close(const struct worker *worker)
{
	const size_t size = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *from = heap.at, *at;
	unsigned int own = 0;

	for (at = from; at < heap.at + heap.size; at += size) {
		if (!is_own(worker, at, size))
			continue;
		heap_protect(from, at, PROT_READ);
		from = at + size;
		own++;
	}
	heap_protect(from, at, PROT_READ);
	return own;
}

static void
heap_open(void)
{
	heap_protect(heap.at, heap.at + heap.size, PROT_READ | PROT_WRITE);
}

/* Packets in, a worker's walks, the same packets out; in the end it has nothing to do. */
static void
round_run(struct worker *worker, bool closed)
{
	const unsigned int w = (unsigned int)(worker - workers);
	struct rte_mbuf *sent[PACKETS + 1];
	uint64_t token;

	port_feed(worker->port, 0, worker->packets, PACKETS);
	token = rte_rcu_qsbr_start(qsbr);
	if (closed)
		assert_in_range(heap_close(worker), 10, 1000);
	for (unsigned int i = 0; i < PACKETS / BURST + 20; i++)
		hy_idle_step(worker->idle, worker->graph, hy_graph_walk(worker->graph));
	if (closed)
		heap_open();
	assert_int_equal(qsbr->qsbr_cnt[w].cnt, token);
	assert_int_equal(port_take(worker->port, (uint16_t)w, sent, RTE_DIM(sent)), PACKETS);
	assert_memory_equal(sent, worker->packets, sizeof(worker->packets));
}

/* Notes which lines of the heap a worker's rounds change. Returns how many. */
static unsigned int
changes_note(struct worker *worker)
{
	uint8_t *copy = pages_new(heap.size);
	unsigned int lines = 0;

	memcpy(copy, heap.at, heap.size);
	for (unsigned int r = 0; r < ROUNDS; r++)
		round_run(worker, false);
	for (size_t l = 0; l < heap.size / RTE_CACHE_LINE_SIZE; l++) {
		const size_t at = l * RTE_CACHE_LINE_SIZE;

		if (memcmp(copy + at, heap.at + at, RTE_CACHE_LINE_SIZE) == 0)
			continue;
		worker->changed[l / 64] |= UINT64_C(1) << l % 64;
		lines++;
	}
	munmap(copy, heap.size);
	return lines;
}

static hy_node_id
clone_add(const char *family, unsigned int p, const void *config, size_t size)
{
	const char suffix[] = { (char)('0' + p), '\0' };
	hy_node_id id;

	assert_int_equal(hy_hal_node_clone(hal, family, workers[p].port->id, suffix, &id), 0);
	assert_int_equal(hy_node_config(id, config, size), 0);
	return id;
}

/* The nodes of l3fwd-graph. */
static void
nodes_add(void)
{
	struct hy_ip4_rewrite_config config;
	hy_node_id lookup, rewrite, cls;
	char name[HY_NAME_SIZE], error[HY_HAL_ERROR_SIZE];

	assert_int_equal(hy_hal_create(&hal), 0);
	assert_int_equal(hy_hal_select(hal, error), 0);
	memset(&config, 0xff, sizeof(config));
	config.tables = (struct hy_ip4_lookup_config){ .fibs = { table }, .nb_fibs = 1 };
	assert_int_equal(hy_hal_node(hal, "ip4_lookup", 0, &lookup), 0);
	assert_int_equal(hy_hal_node(hal, "ip4_rewrite", 0, &rewrite), 0);
	assert_int_equal(hy_node_config(lookup, &config.tables, sizeof(config.tables)), 0);
	for (unsigned int p = 0; p < WORKERS; p++) {
		const uint16_t port = workers[p].port->id;
		const struct hy_ethdev_rx_config rx = { .port = port };
		const struct hy_ethdev_tx_config tx = { .port = port, .nb_queues = WORKERS };

		assert_int_equal(hy_node_name(clone_add("ethdev_tx", p, &tx, sizeof(tx)), name,
					 sizeof(name)),
			0);
		assert_int_equal(hy_node_edge_add(rewrite, name, &config.edge[p]), 0);
		assert_int_equal(hy_hal_node(hal, "pkt_cls", port, &cls), 0);
		assert_int_equal(hy_node_name(cls, name, sizeof(name)), 0);
		assert_int_equal(hy_node_edge_set(clone_add("ethdev_rx", p, &rx, sizeof(rx)), 0,
					 name),
			0);
	}
	assert_int_equal(hy_node_config(rewrite, &config, sizeof(config)), 0);
}

static void
worker_add(unsigned int w)
{
	char source[HY_NAME_SIZE];
	const struct hy_graph_params params = { .patterns = (const char *const[]){ source },
		.nb_patterns = 1,
		.ops = &hy_mbuf_ops,
		.drop_node = "pkt_drop",
		.lanes = { "ip4_route" },
		.burst = BURST,
		.worker = (uint16_t)w,
		.socket = SOCKET_ID_ANY,
		.qsbr = qsbr };
	struct worker *worker = &workers[w];
	uint8_t frame[FRAME_MAX];

	snprintf(source, sizeof(source), "ethdev_rx-%u", w);
	unit_log_clear();
	if (hy_graph_create(source, &params, &worker->graph) != 0)
		fail_msg("the graph is refused: %s", unit_log());
	/*
	 * Each sends to the port that it receives from, on a queue of its own: net_ring keeps the
	 * counters of a port's transmit queues side by side in one line.
	 */
	for (unsigned int i = 0; i < PACKETS; i++) {
		const uint32_t len = FRAME(frame, .payload = 26, .dst = IP4(198, 18, w, i));

		worker->packets[i] = packet(frame, len);
	}
	worker->changed = pages_new(heap.size / RTE_CACHE_LINE_SIZE / 8);
	hy_idle_init(worker->idle, NULL);
}

static void
rig_up(void)
{
	struct hy_idle *idles = rte_zmalloc(NULL, WORKERS * sizeof(*idles), RTE_CACHE_LINE_SIZE);

	assert_int_equal(rte_memseg_contig_walk(heap_find, &heap), 0);
	qsbr = rte_malloc(NULL, rte_rcu_qsbr_get_memsize(WORKERS), RTE_CACHE_LINE_SIZE);
	assert_true(idles != NULL && qsbr != NULL);
	assert_int_equal(rte_rcu_qsbr_init(qsbr, WORKERS), 0);
	for (unsigned int w = 0; w < WORKERS; w++) {
		workers[w].port = port_open(1, WORKERS, TX_ROOM);
		workers[w].idle = &idles[w];
	}
	table = rig_table("scalar"); /* of rte_lpm, as the HAL chooses for few routes */
	nodes_add();
	for (unsigned int w = 0; w < WORKERS; w++)
		worker_add(w);
	spans_collect();
	/* The first walks go online, and fill what is filled only once. */
	for (unsigned int w = 0; w < WORKERS; w++)
		round_run(&workers[w], false);
}

static void
no_line_of_two_workers_has_two_writers_by_address(void **state)
{
	unsigned int pairs = 0, lines[2 * WORKERS + 1] = { 0 };

	RTE_SET_USED(state);
	rig_up();
	for (unsigned int a = 0; a < nb_spans; a++) {
		lines[spans[a].writer] += (unsigned int)(spans[a].last - spans[a].first) + 1;
		for (unsigned int b = 0; b < a; b++) {
			if (spans[a].writer == spans[b].writer)
				continue;
			pairs++;
			if (spans[a].first <= spans[b].last && spans[b].first <= spans[a].last)
				fail_msg("%s of writer %u and %s of writer %u share a line",
					spans[a].what, spans[a].writer, spans[b].what,
					spans[b].writer);
		}
	}
	print_message("# %u and %u lines of two workers, %u and %u of their control planes, %u of "
		      "all: %u pairs of spans\n",
		lines[0], lines[1], lines[CONTROL_OF], lines[CONTROL_OF + 1],
		lines[CONTROL_FOR_ALL], pairs);
	/* Of each worker: 7 streams, 6 contexts, 4 more of its image, 3 beside it, packets; and 3. */
	assert_int_equal(nb_spans, WORKERS * (7 + 6 + 4 + 3 + PACKETS + 3) + 2);
	assert_int_equal(lines[0], lines[1]);
	assert_true(lines[0] > PACKETS * LINES(34) && lines[CONTROL_OF] >= 3);
}

static void
no_line_that_a_worker_changes_is_anothers_or_the_control_planes(void **state)
{
	unsigned int lines[WORKERS], both = 0, ran = 0;

	RTE_SET_USED(state);
	rig_up();
	for (unsigned int w = 0; w < WORKERS; w++)
		lines[w] = changes_note(&workers[w]);
	for (size_t l = 0; l < heap.size / RTE_CACHE_LINE_SIZE / 64; l++)
		both += (unsigned int)__builtin_popcountll(workers[0].changed[l] &
			workers[1].changed[l]);
	print_message("# %u and %u lines of %zu changed\n", lines[0], lines[1],
		heap.size / RTE_CACHE_LINE_SIZE);
	for (unsigned int w = 0; w < WORKERS; w++) {
		const struct worker *worker = &workers[w];

		/* That changes are seen: of the graph, its nodes, its report, and its rest. */
		assert_true(is_changed(worker, line_of(&worker->graph->walks)));
		for (unsigned int r = 0; r < worker->graph->plan.nb_nodes; r++) {
			const struct hy_node *node = &worker->graph->plan.nodes[r];

			assert_int_equal(is_changed(worker, line_of(node)), node->objs > 0);
			ran += node->objs > 0;
		}
		assert_true(is_changed(worker, line_of(&qsbr->qsbr_cnt[w])));
		assert_true(is_changed(worker, line_of(&worker->idle->stats)));
		for (unsigned int s = 0; s < nb_spans; s++)
			for (uintptr_t l = spans[s].first; l <= spans[s].last; l++)
				if (spans[s].writer != w && spans[s].first != line_of(qsbr) &&
					is_changed(worker, l))
					fail_msg("worker %u changes %s of writer %u", w,
						spans[s].what, spans[s].writer);
	}
	/* The token: the test is the writer that moves it. */
	assert_int_equal(both, 1);
	assert_true(is_changed(&workers[0], line_of(qsbr)));
	assert_int_equal(ran, WORKERS * 5); /* rx, pkt_cls, ip4_lookup, ip4_rewrite, one of tx */
}

static void
a_worker_forwards_while_all_that_is_not_its_own_is_read_only(void **state)
{
	RTE_SET_USED(state);
	rig_up();
	for (unsigned int w = 0; w < WORKERS; w++)
		changes_note(&workers[w]);
	for (unsigned int w = 0; w < WORKERS; w++)
		for (unsigned int r = 0; r < ROUNDS; r++)
			round_run(&workers[w], true);
}

/* Edges of ip4_rewrite stay: they are there before it is counted what a test leaves. */
static int
layout_setup(void **state)
{
	hy_node_id id;

	if (hy_node_lookup("ip4_rewrite", &id) != 0 ||
		hy_node_edge_add(id, "ethdev_tx-0", NULL) != 0 ||
		hy_node_edge_add(id, "ethdev_tx-1", NULL) != 0)
		return -1;
	return node_setup(state);
}

static int
layout_teardown(void **state)
{
	static const char *const configured[] = { "ip4_lookup", "ip4_rewrite" };
	hy_node_id id;

	heap_open();
	for (unsigned int w = 0; w < WORKERS; w++) {
		hy_graph_destroy(workers[w].graph);
		rte_pktmbuf_free_bulk(workers[w].packets, PACKETS);
		munmap(workers[w].changed, heap.size / RTE_CACHE_LINE_SIZE / 8);
	}
	hy_hal_destroy(hal);
	for (size_t i = 0; i < RTE_DIM(configured); i++)
		if (hy_node_lookup(configured[i], &id) == 0)
			hy_node_config(id, NULL, 0);
	rte_free(qsbr);
	rte_free(workers[0].idle);
	memset(workers, 0, sizeof(workers));
	memset(&heap, 0, sizeof(heap));
	return node_teardown(state);
}

#define LAYOUT_TEST(f) cmocka_unit_test_setup_teardown(f, layout_setup, layout_teardown)

static const struct CMUnitTest node_layout_tests[] = {
	LAYOUT_TEST(no_line_of_two_workers_has_two_writers_by_address),
	LAYOUT_TEST(no_line_that_a_worker_changes_is_anothers_or_the_control_planes),
	LAYOUT_TEST(a_worker_forwards_while_all_that_is_not_its_own_is_read_only),
};

UNIT_SUITE(node_layout_tests)
