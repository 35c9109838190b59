/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Does lists of operations to packets, and writes what became of them, for tests/test_flow_apply.py.
 * hy-test-flow-apply [EAL options] -- INPUT OUTPUT. Numbers in both files are in host byte order.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>

#include <hy_flow_apply.h>
#include <hy_flow_lookup.h>
#include <hy_mbuf.h>
#include <hy_stats.h>

#define BURST 64
#define EDGES 3
#define LISTS_MOST 60000
#define CANARY 0xa5

/* INPUT: lists, each a count and as many of these; then packets until the end. */
struct op_read {
	uint8_t type;
	uint8_t value[sizeof(struct hy_flow_vxlan)]; /* of the union in struct hy_flow_op */
} __attribute__((packed));

enum share {
	SHARE_NOT,
	SHARE_BUFFER, /* there is another reference to the buffers */
	SHARE_CLONE,  /* the packet refers to the buffers of another one */
	SHARE_LAST,   /* that is gone */
	SHARE_STARVE, /* as SHARE_BUFFER, and there are no more buffers */
};

struct packet_read {
	uint32_t list, len;   /* and as many bytes behind */
	uint16_t first, size; /* bytes of the first segment, and of the others; 0: as many as fit */
	uint16_t headroom;
	uint8_t share;
} __attribute__((packed));

/* OUTPUT: one of these for each packet that left, with its bytes. */
struct packet_written {
	uint32_t index; /* in INPUT */
	uint8_t edge;   /* EDGES: dropped */
	uint8_t marked;
	uint32_t mark, len;
} __attribute__((packed));

static struct rte_mempool *pool;
static FILE *input, *output;
static uint32_t base; /* of the burst */
static struct rte_mbuf *sent[BURST];
static uint32_t lanes[BURST];
static unsigned int nb_sent;
static uint64_t touched; /* bytes of buffers that others have, that were changed */

static uint16_t
source_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const uint16_t made = (uint16_t)RTE_MIN(n, nb_sent);

	memcpy(objs, sent, made * sizeof(*objs));
	memcpy(hy_lane(graph, node, 0), lanes, made * sizeof(*lanes));
	nb_sent = 0;
	hy_stream_move(graph, node, 0, made);
	return made;
}

static uint16_t
end_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++) {
		const struct rte_mbuf *m = objs[i];
		const struct packet_written w = { .index = base + m->port,
			.edge = *(const uint8_t *)node->ctx,
			.marked = (m->ol_flags & RTE_MBUF_F_RX_FDIR_ID) != 0,
			.mark = m->hash.fdir.hi,
			.len = m->pkt_len };

		fwrite(&w, sizeof(w), 1, output);
		for (; m != NULL; m = m->next)
			fwrite(rte_pktmbuf_mtod(m, const void *), 1, m->data_len, output);
	}
	hy_release(graph, objs, n);
	return n;
}

static int
end_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	RTE_SET_USED(graph);
	*(uint8_t *)node->ctx = *(const uint8_t *)config;
	return 0;
}

/* Set-up. */

static const char *const ends[EDGES + 1] = { "end-0", "end-1", "end-2", "end-drop" };

static int
nodes_make(struct hy_flow_ops *ops)
{
	const struct hy_node_desc source = { .name = "source",
		.flags = HY_NODE_SOURCE,
		.impl.process = source_process,
		.edges = { HY_FLOW_APPLY_NODE "-0" },
		.lanes = { HY_FLOW_ACTION_LANE } };
	const struct hy_flow_apply_config config = { .ops = ops };
	hy_node_id id;
	int rc = hy_node_register(&source, &id);

	for (uint8_t e = 0; e <= EDGES && rc == 0; e++) {
		const struct hy_node_desc end = { .name = ends[e],
			.impl = { .process = end_process, .init = end_init, .ctx_size = 1 } };

		rc = hy_node_register(&end, &id);
		if (rc == 0)
			rc = hy_node_config(id, &e, sizeof(e));
	}
	if (rc == 0)
		rc = hy_node_lookup(HY_FLOW_APPLY_NODE, &id);
	if (rc == 0)
		rc = hy_node_clone(id, "0", &id);
	if (rc == 0)
		rc = hy_node_config(id, &config, sizeof(config));
	for (unsigned int e = 0; e < EDGES && rc == 0; e++)
		rc = hy_node_edge_add(id, ends[e], NULL);
	return rc;
}

static int
graph_make(struct hy_graph **graph)
{
	static const char *const patterns[] = { "source" };
	const struct hy_graph_params params = { .patterns = patterns,
		.nb_patterns = 1,
		.ops = &hy_mbuf_ops,
		.drop_node = "end-drop",
		.lanes = { HY_FLOW_ACTION_LANE },
		.burst = BURST,
		.socket = SOCKET_ID_ANY };

	return hy_graph_create("apply", &params, graph);
}

static uint16_t numbers[LISTS_MOST];
static uint64_t packets_of[LISTS_MOST + 1], bytes_of[LISTS_MOST + 1]; /* as sent */
static uint32_t nb_lists;

static int
lists_read(struct hy_flow_ops *ops)
{
	if (fread(&nb_lists, sizeof(nb_lists), 1, input) != 1 || nb_lists > LISTS_MOST)
		return -EINVAL;
	for (uint32_t i = 0; i < nb_lists; i++) {
		struct hy_flow_op list[HY_FLOW_OPS_LIST] = { 0 };
		uint32_t n;
		int rc;

		if (fread(&n, sizeof(n), 1, input) != 1 || n > HY_FLOW_OPS_LIST)
			return -EINVAL;
		for (uint32_t k = 0; k < n; k++) {
			struct op_read read;

			if (fread(&read, sizeof(read), 1, input) != 1)
				return -EINVAL;
			list[k].type = read.type;
			memcpy(&list[k].vxlan, read.value, sizeof(read.value));
		}
		rc = hy_flow_ops_add(ops, list, n, &numbers[i]);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Packets. */

static struct rte_mbuf *
segment_read(uint32_t n, uint16_t headroom)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	if (m == NULL)
		return NULL;
	memset(m->buf_addr, CANARY, m->buf_len);
	m->data_off = headroom;
	m->data_len = (uint16_t)RTE_MIN(n, (uint32_t)rte_pktmbuf_tailroom(m));
	m->pkt_len = m->data_len;
	if (fread(rte_pktmbuf_mtod(m, void *), 1, m->data_len, input) == m->data_len)
		return m;
	rte_pktmbuf_free(m);
	return NULL;
}

static uint32_t
segment_size(uint16_t wanted, uint32_t left)
{
	return wanted == 0 ? left : RTE_MIN((uint32_t)wanted, left);
}

static struct rte_mbuf *
packet_read(const struct packet_read *read)
{
	struct rte_mbuf *m = segment_read(segment_size(read->first, read->len), read->headroom);

	while (m != NULL && m->pkt_len < read->len) {
		struct rte_mbuf *next = segment_read(segment_size(read->size,
							     read->len - m->pkt_len),
			RTE_PKTMBUF_HEADROOM);

		if (next == NULL || rte_pktmbuf_chain(m, next) < 0)
			return NULL;
	}
	return m;
}

/* What others have of a packet, and how it was. */
static struct held {
	struct rte_mbuf *m;
	uint8_t *was; /* all bytes of its buffers */
} held[BURST];

static uint32_t
buffers_copy(const struct rte_mbuf *m, uint8_t *to)
{
	uint32_t at = 0;

	for (; m != NULL; at += m->buf_len, m = m->next)
		memcpy(to + at, m->buf_addr, m->buf_len);
	return at;
}

/* Takes the packet that is sent, with another reference. */
static struct rte_mbuf *
packet_share(struct held *h, struct rte_mbuf *m, uint8_t share)
{
	struct rte_mbuf *clone;

	if (share == SHARE_NOT)
		return m;
	if (share == SHARE_CLONE || share == SHARE_LAST) {
		clone = rte_pktmbuf_clone(m, pool);
		if (share == SHARE_LAST) {
			rte_pktmbuf_free(m);
			return clone;
		}
	} else {
		rte_pktmbuf_refcnt_update(m, 1);
		clone = m;
	}
	h->m = m;
	h->was = malloc((size_t)m->nb_segs * m->buf_len);
	buffers_copy(m, h->was);
	return clone;
}

static void
held_check(struct held *h)
{
	uint8_t *is;
	uint32_t n;

	if (h->m == NULL)
		return;
	is = malloc((size_t)h->m->nb_segs * h->m->buf_len);
	n = buffers_copy(h->m, is);
	for (uint32_t i = 0; i < n; i++)
		touched += is[i] != h->was[i];
	free(is);
	free(h->was);
	rte_pktmbuf_free(h->m);
	h->m = NULL;
}

/* Walks with what was read; without other buffers, if so wanted. */
static void
burst_send(struct hy_graph *graph, bool starve)
{
	static struct rte_mbuf *taken[1 << 14];
	const unsigned int n = starve ? rte_mempool_avail_count(pool) : 0;
	const unsigned int packets = nb_sent;

	if (n > 0 && rte_pktmbuf_alloc_bulk(pool, taken, n) < 0)
		exit(EXIT_FAILURE);
	hy_graph_walk(graph);
	rte_pktmbuf_free_bulk(taken, n);
	for (unsigned int i = 0; i < packets; i++)
		held_check(&held[i]);
	base += packets;
}

static int
packets_run(struct hy_graph *graph)
{
	unsigned int burst = 1;
	struct packet_read read;

	while (fread(&read, sizeof(read), 1, input) == 1) {
		struct rte_mbuf *m = packet_read(&read);
		const bool starve = read.share == SHARE_STARVE;
		const bool has_list = read.list < nb_lists;

		if (m == NULL)
			return -EINVAL;
		if (starve && nb_sent > 0)
			burst_send(graph, false);
		m->port = (uint16_t)nb_sent;
		lanes[nb_sent] = hy_flow_action(0, has_list ? numbers[read.list] : UINT16_MAX);
		packets_of[has_list ? read.list : nb_lists]++;
		bytes_of[has_list ? read.list : nb_lists] += read.len;
		sent[nb_sent] = packet_share(&held[nb_sent], m, read.share);
		nb_sent++;
		if (nb_sent < burst && !starve)
			continue;
		burst_send(graph, starve);
		burst = burst * 7 % BURST + 1;
	}
	if (nb_sent > 0)
		burst_send(graph, false);
	return 0;
}

static uint64_t
miscounted(const struct hy_flow_ops *ops)
{
	uint64_t wrong = 0, packets, bytes;

	for (uint32_t i = 0; i < nb_lists; i++)
		wrong += hy_flow_ops_count(ops, numbers[i], &packets, &bytes) < 0 ||
			packets != packets_of[i] || bytes != bytes_of[i];
	return wrong;
}

static void
counters_print(void)
{
	const struct hy_node_stats *s;
	struct hy_stats *stats;

	if (hy_stats_read("apply", &stats) < 0)
		return;
	s = hy_stats_find(stats, 0, HY_FLOW_APPLY_NODE "-0");
	for (unsigned int c = 0; c < s->nb_counters; c++)
		printf("%s %" PRIu64 "\n", s->counters[c].name, s->counters[c].value);
	for (unsigned int d = 0; d < s->nb_drops; d++)
		printf("%s %" PRIu64 "\n", s->drops[d].name, s->drops[d].objs);
	hy_stats_free(stats);
}

static int
run(void)
{
	const struct hy_flow_ops_params params = { .name = "lists",
		.most = HY_FLOW_OPS_MOST - 1, /* UINT16_MAX is none */
		.workers = 1,
		.socket = SOCKET_ID_ANY };
	struct hy_flow_ops *ops;
	struct hy_graph *graph;
	int rc;

	pool = rte_pktmbuf_pool_create("packets", 8191, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
		SOCKET_ID_ANY);
	rc = pool == NULL ? -ENOMEM : hy_flow_ops_create(&params, &ops);
	if (rc == 0)
		rc = nodes_make(ops);
	if (rc == 0)
		rc = lists_read(ops);
	if (rc == 0)
		rc = graph_make(&graph);
	if (rc == 0)
		rc = packets_run(graph);
	if (rc < 0)
		return rc;
	counters_print();
	printf("miscounted %" PRIu64 "\ntouched %" PRIu64 "\n", miscounted(ops), touched);
	hy_graph_destroy(graph);
	printf("in_use %u\n", rte_mempool_in_use_count(pool));
	return hy_flow_ops_destroy(ops);
}

int
main(int argc, char **argv)
{
	const int parsed = rte_eal_init(argc, argv);
	int rc = -EINVAL;

	if (parsed < 0 || argc - parsed != 3)
		return EXIT_FAILURE;
	input = fopen(argv[parsed + 1], "rb");
	output = fopen(argv[parsed + 2], "wb");
	if (input != NULL && output != NULL)
		rc = run();
	if (output == NULL || fclose(output) != 0)
		rc = -EIO;
	rte_eal_cleanup();
	return rc < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
