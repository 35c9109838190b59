/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames, packets, ports and graphs for the tests of the generic nodes; see node_fixture.h. */

#include <stdio.h>
#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_dev.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>

#include <hy_mbuf.h>
#include <hy_policy.h>

#include "hal/internal/hal.h"
#include "node_fixture.h"

#define POOL_SIZE 8191
#define PORTS_MAX 4
#define NODES_MAX 32
#define CANARY 0xa5

struct rte_mempool *pool;
struct kept out[RIG_OUTS];
struct rte_rcu_qsbr *rig_qsbr;
const char *rig_lane = "ip4_route";

static struct {
	struct rte_mbuf **packets;
	const uint32_t *lane;
	unsigned int n;
} in;

static struct hy_graph *rig;
static struct hy_ip4_fib *table;
static hy_node_id nodes[NODES_MAX];
static unsigned int nb_nodes;
static struct port ports[PORTS_MAX];
static unsigned int nb_ports;
static unsigned int heap_before;
static int64_t live_before;

uint32_t
rnd(uint64_t *seed)
{
	/* splitmix64 */
	uint64_t z = (*seed += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)((z ^ (z >> 31)) >> 32);
}

/* Frames. */

uint16_t
frame_checksum(const uint8_t *frame)
{
	const unsigned int header = (frame[14] & 15) * 4u;
	uint32_t sum = 0;

	for (unsigned int i = 0; i < header; i += 2)
		if (i != 10)
			sum += frame[14 + i] * 256u + frame[15 + i];
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

void
frame_sum(uint8_t *frame)
{
	const uint16_t sum = frame_checksum(frame);

	frame[24] = (uint8_t)(sum >> 8);
	frame[25] = (uint8_t)sum;
}

uint32_t
frame_write(uint8_t *frame, const struct frame_spec *spec)
{
	static const uint8_t start[] = { 0x02, 0, 0, 0, 0, 1, 0x02, 0, 0, 0, 0, 2, 0x08, 0x00 };
	const uint32_t dst = spec->dst == 0 ? IP4(198, 18, 0, 1) : spec->dst;
	const uint32_t ihl = spec->ihl == 0 ? 5 : spec->ihl;
	const uint32_t total = ihl * 4 + spec->payload;
	uint8_t *ip = frame + 14;

	memcpy(frame, start, sizeof(start));
	memset(ip, 0, 60);
	ip[0] = (uint8_t)(0x40 | ihl);
	ip[2] = (uint8_t)(total >> 8);
	ip[3] = (uint8_t)total;
	ip[4] = (uint8_t)(spec->id >> 8);
	ip[5] = (uint8_t)spec->id;
	ip[8] = spec->ttl == 0 ? 64 : spec->ttl;
	ip[9] = 17;
	memcpy(ip + 12, (const uint8_t[]){ 10, 1, 2, 3 }, 4);
	for (int i = 0; i < 4; i++)
		ip[16 + i] = (uint8_t)(dst >> (24 - 8 * i));
	for (uint32_t i = 20; i < ihl * 4; i++)
		ip[i] = (uint8_t)(0x81 + i * 7);
	for (uint32_t i = ihl * 4; i < total + spec->padding; i++)
		ip[i] = (uint8_t)(spec->id + i * 13);
	frame_sum(frame);
	return 14 + total + spec->padding;
}

void
frame_forward(uint8_t *frame, const struct rte_ether_addr *dst, const struct rte_ether_addr *src)
{
	memcpy(frame, dst, 6);
	memcpy(frame + 6, src, 6);
	frame[22]--;
	frame_sum(frame);
}

/* Packets. */

/* A segment with some bytes; all the room around them is marked. */
static struct rte_mbuf *
segment(const uint8_t *bytes, uint32_t n)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	assert_non_null(m);
	memset(m->buf_addr, CANARY, m->buf_len);
	assert_true(n <= rte_pktmbuf_tailroom(m));
	memcpy(rte_pktmbuf_mtod(m, void *), bytes, n);
	m->data_len = (uint16_t)n;
	m->pkt_len = n;
	return m;
}

struct rte_mbuf *
packet(const uint8_t *frame, uint32_t len)
{
	return segment(frame, len);
}

struct rte_mbuf *
packet_cut(const uint8_t *frame, uint32_t len, uint32_t cut)
{
	struct rte_mbuf *m = segment(frame, cut);

	assert_int_equal(rte_pktmbuf_chain(m, segment(frame + cut, len - cut)), 0);
	return m;
}

struct rte_mbuf *
packet_pieces(const uint8_t *frame, uint32_t len, uint32_t size)
{
	struct rte_mbuf *m = segment(frame, RTE_MIN(size, len));

	for (uint32_t at = size; at < len; at += size)
		assert_int_equal(rte_pktmbuf_chain(m, segment(frame + at, RTE_MIN(size, len - at))),
			0);
	return m;
}

struct rte_mbuf *
packet_random(const uint8_t *frame, uint32_t len, uint32_t most, uint64_t *seed)
{
	uint32_t at = RTE_MIN(rnd(seed) % (most + 1), len);
	struct rte_mbuf *m = segment(frame, at);

	while (at < len) {
		const uint32_t n = RTE_MIN(rnd(seed) % (most + 1), len - at);

		assert_int_equal(rte_pktmbuf_chain(m, segment(frame + at, n)), 0);
		at += n;
	}
	return m;
}

/* Whether a segment's bytes, and the room around them, are as they should be. */
static void
assert_segment(const struct rte_mbuf *m, const uint8_t *bytes)
{
	const uint8_t *room = m->buf_addr;

	for (uint32_t i = 0; i < m->buf_len; i++) {
		const bool inside = i >= m->data_off && i - m->data_off < m->data_len;
		const uint8_t wanted = inside ? bytes[i - m->data_off] : CANARY;

		if (room[i] != wanted)
			fail_msg("byte %d of a segment of %u: 0x%02x, not 0x%02x",
				(int)i - m->data_off, m->data_len, room[i], wanted);
	}
}

void
assert_packet(const struct rte_mbuf *m, const uint8_t *frame, uint32_t len, unsigned int segments)
{
	uint32_t at = 0;

	assert_int_equal(m->pkt_len, len);
	assert_int_equal(m->nb_segs, segments);
	for (; m != NULL; m = m->next) {
		assert_true(m->data_len <= len - at);
		assert_segment(m, frame + at);
		at += m->data_len;
		segments--;
	}
	assert_int_equal(at, len);
	assert_int_equal(segments, 0);
}

/* The rig. */

static uint16_t
source_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const uint16_t made = (uint16_t)RTE_MIN(n, in.n);
	uint32_t *lane = hy_lane(graph, node, 0);

	if (made > 0) /* else there may be no array */
		memcpy(objs, in.packets, made * sizeof(*objs));
	for (uint16_t i = 0; i < made; i++)
		lane[i] = in.lane == NULL ? 0xbad0bad0 : in.lane[i];
	in.packets += made;
	in.n -= made;
	if (in.lane != NULL)
		in.lane += made;
	hy_stream_move(graph, node, 0, made);
	return made;
}

static int
sink_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	RTE_SET_USED(graph);
	*(struct kept **)node->ctx = *(struct kept *const *)config;
	return 0;
}

static uint16_t
sink_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	struct kept *kept = *(struct kept **)node->ctx;
	const uint32_t *lane = hy_lane(graph, node, 0);

	for (uint16_t i = 0; i < n && kept->n < KEEP_MAX; i++, kept->n++) {
		kept->packets[kept->n] = objs[i];
		kept->lane[kept->n] = lane[i];
	}
	return n;
}

static hy_node_id
node_remember(hy_node_id id)
{
	assert_true(nb_nodes < NODES_MAX);
	nodes[nb_nodes++] = id;
	return id;
}

void
rig_nodes(const char *first)
{
	const struct hy_node_desc source = {
		.name = "rig_source",
		.flags = HY_NODE_SOURCE,
		.impl.process = source_process,
		.edges = { first },
		.lanes = { rig_lane },
	};
	hy_node_id id;

	assert_int_equal(hy_node_register(&source, &id), 0);
	node_remember(id);
	for (unsigned int i = 0; i < RIG_OUTS; i++) {
		char name[HY_NAME_SIZE];
		const struct hy_node_desc sink = {
			.name = name,
			.impl = { .process = sink_process,
				.init = sink_init,
				.ctx_size = sizeof(void *) },
			.lanes = { rig_fused ? NULL : rig_lane },
		};
		const struct kept *kept = &out[i];

		snprintf(name, sizeof(name), "rig_out-%u", i);
		assert_int_equal(hy_node_register(&sink, &id), 0);
		node_remember(id);
		assert_int_equal(hy_node_config(id, &kept, sizeof(struct kept *)), 0);
	}
}

struct hy_graph *
rig_graph(uint16_t burst)
{
	static const char *const patterns[] = { "rig_source" };
	const struct hy_graph_params params = {
		.patterns = patterns,
		.nb_patterns = 1,
		.ops = &hy_mbuf_ops,
		.drop_node = "rig_out-2",
		.lanes = { rig_lane },
		.burst = burst,
		.socket = SOCKET_ID_ANY,
		.qsbr = rig_qsbr,
	};
	const int rc = hy_graph_create("rig", &params, &rig);

	if (rc != 0)
		fail_msg("the graph is refused: %d: %s", rc, unit_log());
	return rig;
}

void
rig_send(struct hy_graph *graph, struct rte_mbuf **packets, const uint32_t *lane, unsigned int n)
{
	in.packets = packets;
	in.lane = lane;
	in.n = n;
	while (in.n > 0)
		hy_graph_walk(graph);
}

void
rig_free(void)
{
	for (unsigned int i = 0; i < RIG_OUTS; i++) {
		for (unsigned int k = 0; k < out[i].n; k++)
			rte_pktmbuf_free(out[i].packets[k]);
		out[i].n = 0;
	}
}

/* The implementation of a family's variant. */
static struct hy_node_impl
impl_of(const char *family, const char *name)
{
	const struct hy_variant *variant = hy_variant_find(family, name);
	struct hy_node_impl impl = hy_family_find(family)->node.impl;

	assert_non_null(variant);
	if (variant->impl.init != NULL)
		return variant->impl;
	impl.process = variant->impl.process;
	impl.variant = name;
	return impl;
}

hy_node_id
rig_clone(const char *node, const char *variant, const char *next)
{
	hy_node_id base, id;

	assert_int_equal(hy_node_lookup(node, &base), 0);
	assert_int_equal(hy_node_clone(base, "rig", &id), 0);
	node_remember(id);
	if (variant != NULL) {
		const struct hy_node_impl impl = impl_of(node, variant);

		assert_int_equal(hy_node_impl_set(id, &impl), 0);
	}
	if (next != NULL)
		assert_int_equal(hy_node_edge_set(id, 0, next), 0);
	return id;
}

const struct rte_ether_addr *
rig_mac(int next_hop, uint16_t port)
{
	static const struct rte_ether_addr macs[2][2] = {
		{ { { 0x02, 0x11, 0x22, 0x33, 0x44, 0x00 } },
			{ { 0x02, 0x11, 0x22, 0x33, 0x44, 0x01 } } },
		{ { { 0x06, 0xaa, 0xbb, 0xcc, 0xdd, 0x00 } },
			{ { 0x06, 0xaa, 0xbb, 0xcc, 0xdd, 0x01 } } },
	};

	return &macs[next_hop][port];
}

struct hy_ip4_fib *
rig_table(const char *lookup)
{
	const struct hy_ip4_fib_params params = { .engine = hy_ip4_engine_of(lookup),
		.max_routes = 64,
		.max_next_hops = 16,
		.max_tbl8s = 16,
		.socket = SOCKET_ID_ANY,
		.qsbr = rig_qsbr };

	assert_int_equal(hy_ip4_fib_create("rig", &params, &table), 0);
	for (uint16_t p = 0; p < 2; p++) {
		const struct hy_ip4_port port = {
			.port = p, .mac = *rig_mac(0, p), .max_len = 1514
		};
		const struct hy_ip4_next_hop hop = { .port = p, .mac = *rig_mac(1, p) };
		struct hy_ip4_route route = { .prefix = IP4(198, 18, p, 0), .depth = 24 };

		assert_int_equal(hy_ip4_port_add(table, &port), 0);
		assert_int_equal(hy_ip4_next_hop_add(table, &hop, &route.next_hop), 0);
		assert_int_equal(route.next_hop, p);
		assert_int_equal(hy_ip4_route_add(table, &route), 0);
	}
	return table;
}

const char *rig_rewriter = "scalar";
bool rig_fused;

struct hy_graph *
rig_chain(const char *classifier, const char *lookup, uint16_t burst, struct hy_ip4_fib **fib)
{
	struct hy_ip4_rewrite_config rewrite;
	const hy_node_id id = rig_clone("ip4_rewrite", rig_rewriter, NULL);
	struct hy_node *first;

	rig_nodes("pkt_cls-rig");
	rig_clone("pkt_cls", classifier, "ip4_lookup-rig");
	memset(&rewrite, 0xff, sizeof(rewrite));
	rewrite.tables = (struct hy_ip4_lookup_config){ .fibs = { rig_table(lookup) },
		.nb_fibs = 1 };
	assert_int_equal(hy_node_config(rig_clone("ip4_lookup", lookup, "ip4_rewrite-rig"),
				 &rewrite.tables, sizeof(rewrite.tables)),
		0);
	if (fib != NULL)
		*fib = table;
	assert_int_equal(hy_node_edge_add(id, "rig_out-0", &rewrite.edge[0]), 0);
	assert_int_equal(hy_node_edge_add(id, "rig_out-1", &rewrite.edge[1]), 0);
	assert_int_equal(hy_node_config(id, &rewrite, sizeof(rewrite)), 0);
	if (rig_fused)
		rig_fuse(classifier);
	rig_graph(burst);
	assert_int_equal(hy_graph_node(rig, "pkt_cls-rig", &first), 0);
	assert_int_equal(hy_graph_node_fused(rig, first, 0) != NULL, rig_fused);
	return rig;
}

uint64_t
dropped(const char *graph, const char *node, const char *reason)
{
	uint64_t objs = UINT64_MAX;
	struct hy_stats *stats;

	assert_int_equal(hy_stats_read(graph, &stats), 0);
	for (unsigned int i = 0; i < stats->nb_nodes; i++) {
		const struct hy_node_stats *s = &stats->nodes[i];

		for (unsigned int d = 0; d < s->nb_drops && strcmp(s->name, node) == 0; d++)
			if (strcmp(s->drops[d].name, reason) == 0)
				objs = s->drops[d].objs;
	}
	hy_stats_free(stats);
	return objs;
}

/* Ports. */

static struct rte_ring *
ring_new(const char *port, const char *kind, unsigned int queue, unsigned int room)
{
	char name[RTE_RING_NAMESIZE];
	struct rte_ring *ring;

	snprintf(name, sizeof(name), "%s_%s_%u", port, kind, queue);
	ring = rte_ring_create(name, room, SOCKET_ID_ANY,
		RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
	assert_non_null(ring);
	return ring;
}

struct port *
port_open(uint16_t nb_rx, uint16_t nb_tx, unsigned int tx_room)
{
	struct port *port = &ports[nb_ports];
	const struct rte_eth_conf conf = { 0 };
	int id;

	assert_true(nb_ports < PORTS_MAX);
	snprintf(port->name, sizeof(port->name), "rig%u", nb_ports);
	port->nb_rx = nb_rx;
	port->nb_tx = nb_tx;
	for (uint16_t q = 0; q < nb_rx; q++)
		port->rx[q] = ring_new(port->name, "rx", q, KEEP_MAX);
	for (uint16_t q = 0; q < nb_tx; q++)
		port->tx[q] = ring_new(port->name, "tx", q, tx_room);
	id = rte_eth_from_rings(port->name, port->rx, nb_rx, port->tx, nb_tx, 0);
	assert_true(id >= 0);
	nb_ports++;
	port->id = (uint16_t)id;
	assert_int_equal(rte_eth_dev_configure(port->id, nb_rx, nb_tx, &conf), 0);
	for (uint16_t q = 0; q < nb_rx; q++)
		assert_int_equal(rte_eth_rx_queue_setup(port->id, q, 64, 0, NULL, pool), 0);
	for (uint16_t q = 0; q < nb_tx; q++)
		assert_int_equal(rte_eth_tx_queue_setup(port->id, q, 64, 0, NULL), 0);
	assert_int_equal(rte_eth_dev_start(port->id), 0);
	return port;
}

void
port_feed(struct port *port, uint16_t queue, struct rte_mbuf **packets, unsigned int n)
{
	assert_int_equal(rte_ring_enqueue_bulk(port->rx[queue], (void **)packets, n, NULL), n);
}

unsigned int
port_take(struct port *port, uint16_t queue, struct rte_mbuf **packets, unsigned int n)
{
	return rte_ring_dequeue_burst(port->tx[queue], (void **)packets, n, NULL);
}

static void
ring_drain(struct rte_ring *ring)
{
	void *left;

	while (rte_ring_dequeue(ring, &left) == 0)
		rte_pktmbuf_free(left);
}

void
port_drain(struct port *port, uint16_t queue)
{
	ring_drain(port->rx[queue]);
}

static void
ring_free(struct rte_ring *ring)
{
	ring_drain(ring);
	rte_ring_free(ring);
}

void
ports_close(void)
{
	while (nb_ports > 0) {
		struct port *port = &ports[--nb_ports];
		char name[64];

		rte_eth_dev_stop(port->id);
		snprintf(name, sizeof(name), "net_ring_%s", port->name);
		assert_int_equal(rte_vdev_uninit(name), 0);
		for (uint16_t q = 0; q < port->nb_rx; q++)
			ring_free(port->rx[q]);
		for (uint16_t q = 0; q < port->nb_tx; q++)
			ring_free(port->tx[q]);
	}
}

void
rig_clear(void)
{
	rig_free();
	hy_graph_destroy(rig);
	rig = NULL;
	while (nb_nodes > 0)
		hy_node_unregister(nodes[--nb_nodes]);
	hy_ip4_fib_destroy(table);
	table = NULL;
	rig_qsbr = NULL;
	rig_lane = "ip4_route";
	if (rig_fused)
		rig_part();
	rig_fused = false;
}

int
node_setup(void **state __rte_unused)
{
	unit_alloc_fail(0);
	unit_log_clear();
	if (pool == NULL) {
		pool = rte_pktmbuf_pool_create("nodes", POOL_SIZE, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
			SOCKET_ID_ANY);
		/* What DPDK keeps for ever of the first port. */
		port_open(1, 1, 16);
		ports_close();
	}
	heap_before = unit_heap_live();
	live_before = unit_alloc_live();
	return pool == NULL ? -1 : 0;
}

/* Removes what the test left, also one that failed half-way, and what it leaked is a failure. */
int
node_teardown(void **state __rte_unused)
{
	unsigned int packets, heap;
	int64_t live;

	rig_clear();
	ports_close();
	hy_policy_wait_destroyed();
	packets = rte_mempool_avail_count(pool);
	heap = unit_heap_live();
	live = unit_alloc_live();
	if (packets != POOL_SIZE)
		print_error("%u of %u packets came back\n", packets, POOL_SIZE);
	if (heap != heap_before)
		print_error("blocks of DPDK's heap: %u before, %u after\n", heap_before, heap);
	if (live != live_before)
		print_error("blocks of malloc: %jd before, %jd after\n", (intmax_t)live_before,
			(intmax_t)live);
	return packets == POOL_SIZE && heap == heap_before && live == live_before ? 0 : -1;
}
