/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All nodes in one graph, from rings to rings, as the HAL places them: good and bad frames mixed,
 * for every variant of ip4_lookup that this CPU can run.
 */

#include <errno.h>
#include <string.h>

#include <hy_ethdev.h>
#include <hy_hal.h>
#include <hy_mbuf.h>

#include "node_fixture.h"

#define ROUNDS 40
#define PORTS 2

/* What becomes of a frame: sent by a port, or dropped by a node for a reason. */
static const struct kind {
	const char *node, *reason; /* NULL: sent by the port of the third byte of its address */
	unsigned int each;         /* frames in each round */
	struct frame_spec spec;
	struct {
		uint8_t at, value;
	} set;
	bool sum;
	uint32_t len; /* 0: as it is */
} kinds[] = {
	{ NULL, NULL, 7, { .payload = 30 }, { 0, 2 }, true, 0 },
	{ NULL, NULL, 5, { .payload = 40, .dst = IP4(198, 18, 1, 1) }, { 0, 2 }, true, 0 },
	{ NULL, NULL, 2, { .payload = 20, .ihl = 15, .padding = 9 }, { 0, 2 }, true, 0 },
	{ NULL, NULL, 1, { .payload = 1480, .ttl = 2 }, { 0, 2 }, true, 0 },
	{ "pkt_cls", "truncated", 3, { .payload = 30 }, { 0, 2 }, true, 13 },
	{ "pkt_cls", "truncated", 1, { .payload = 30 }, { 0, 2 }, true, 63 },
	{ "pkt_cls", "l2_not_unicast", 2, { .payload = 30 }, { 0, 0xff }, true, 0 },
	{ "pkt_cls", "vlan_unknown", 6, { .payload = 30 }, { 12, 0x81 }, true, 0 },
	{ "pkt_cls", "not_ip4", 5, { .payload = 30 }, { 13, 6 }, true, 0 },
	{ "pkt_cls", "bad_header", 7, { .payload = 30 }, { 14, 0x44 }, true, 0 },
	{ "pkt_cls", "bad_checksum", 8, { .payload = 30 }, { 25, 0 }, false, 0 },
	{ "pkt_cls", "martian_dst", 9, { .payload = 30 }, { 30, 240 }, true, 0 },
	{ "ip4_lookup", "no_route", 10, { .payload = 30, .dst = 0x05060708 }, { 0, 2 }, true, 0 },
	{ "ip4_rewrite", "ttl_expired", 11, { .payload = 30 }, { 22, 1 }, true, 0 },
	{ "ip4_rewrite", "mtu_exceeded", 3, { .payload = 1481 }, { 0, 2 }, true, 0 },
};

/* A frame that is to be sent, in order by port. */
struct wanted {
	const struct rte_mbuf *packet;
	uint8_t frame[1514];
	uint32_t len;
};

static struct port *port[PORTS];
static struct wanted wanted[PORTS][1024];
static unsigned int nb_wanted[PORTS];

/* A frame of a kind as a packet, in one segment or in several; notes what is to come of it. */
static struct rte_mbuf *
packet_make(const struct kind *k, uint16_t id, uint64_t *seed)
{
	uint8_t frame[FRAME_MAX];
	struct frame_spec spec = k->spec;
	struct rte_mbuf *m;
	uint32_t len;

	spec.id = id;
	len = frame_write(frame, &spec);
	frame[k->set.at] = k->set.value;
	if (k->sum)
		frame_sum(frame);
	else if ((frame[24] * 256 + frame[25]) % 0xffff == frame_checksum(frame) % 0xffff)
		frame[25] ^= 1;
	if (k->len > 0)
		len = k->len;
	m = rnd(seed) % 3 == 0 ? packet_random(frame, len, 30 + len / 8, seed) : packet(frame, len);
	if (k->node == NULL) {
		const unsigned int p = frame[32];
		struct wanted *w = &wanted[p][nb_wanted[p]++];

		w->packet = m;
		w->len = len;
		frame_forward(frame, rig_mac(1, (uint16_t)p), rig_mac(0, (uint16_t)p));
		memcpy(w->frame, frame, len);
	}
	return m;
}

/* One round's frames in random order. */
static unsigned int
round_make(struct rte_mbuf **packets, uint64_t *seed)
{
	const struct kind *order[256];
	unsigned int n = 0;

	for (size_t k = 0; k < RTE_DIM(kinds); k++)
		for (unsigned int i = 0; i < kinds[k].each; i++)
			order[n++] = &kinds[k];
	for (unsigned int i = n; i > 1; i--) {
		const unsigned int j = rnd(seed) % i;
		const struct kind *swap = order[i - 1];

		order[i - 1] = order[j];
		order[j] = swap;
	}
	for (unsigned int i = 0; i < n; i++)
		packets[i] = packet_make(order[i], (uint16_t)rnd(seed), seed);
	return n;
}

/* All nodes for a graph from both ports to both ports, as a program makes them. */
static struct hy_graph *
pipeline_create(struct hy_hal *hal, const char *variant, uint16_t burst)
{
	static const char *const patterns[] = { "ethdev_rx-*" };
	const struct hy_graph_params params = { .patterns = patterns,
		.nb_patterns = 1,
		.ops = &hy_mbuf_ops,
		.drop_node = "pkt_drop",
		.lanes = { "ip4_route" },
		.burst = burst,
		.socket = SOCKET_ID_ANY };
	struct hy_ip4_rewrite_config config;
	hy_node_id lookup, rewrite, cls, id;
	struct hy_graph *graph;
	char name[HY_NAME_SIZE];

	memset(&config, 0xff, sizeof(config));
	config.tables = (struct hy_ip4_lookup_config){ .fibs = { rig_table(variant) },
		.nb_fibs = 1 };
	assert_int_equal(hy_hal_node(hal, "ip4_lookup", 0, &lookup), 0);
	assert_int_equal(hy_hal_node(hal, "ip4_rewrite", 0, &rewrite), 0);
	assert_int_equal(hy_node_config(lookup, &config.tables, sizeof(config.tables)), 0);
	for (unsigned int p = 0; p < PORTS; p++) {
		const struct hy_ethdev_rx_config rx = { .port = port[p]->id, .queue = 0 };
		const struct hy_ethdev_tx_config tx = { .port = port[p]->id, .nb_queues = 1 };
		const char suffix[] = { (char)('0' + p), '\0' };

		assert_int_equal(hy_hal_node_clone(hal, "ethdev_tx", port[p]->id, suffix, &id), 0);
		assert_int_equal(hy_node_config(id, &tx, sizeof(tx)), 0);
		assert_int_equal(hy_node_name(id, name, sizeof(name)), 0);
		assert_int_equal(hy_node_edge_add(rewrite, name, &config.edge[p]), 0);
		assert_int_equal(hy_hal_node_clone(hal, "ethdev_rx", port[p]->id, suffix, &id), 0);
		assert_int_equal(hy_node_config(id, &rx, sizeof(rx)), 0);
		assert_int_equal(hy_hal_node(hal, "pkt_cls", port[p]->id, &cls), 0);
		assert_int_equal(hy_node_name(cls, name, sizeof(name)), 0);
		assert_int_equal(hy_node_edge_set(id, 0, name), 0);
	}
	assert_int_equal(hy_node_config(rewrite, &config, sizeof(config)), 0);
	unit_log_clear();
	if (hy_graph_create("pipeline", &params, &graph) != 0)
		fail_msg("the graph is refused: %s", unit_log());
	return graph;
}

/* Takes what a port sent so far, and compares it with what it was to send. */
static void
sent_check(unsigned int p, unsigned int *checked)
{
	struct rte_mbuf *taken[256];
	unsigned int n = port_take(port[p], 0, taken, RTE_DIM(taken));

	for (unsigned int i = 0; i < n; i++) {
		const struct wanted *w = &wanted[p][checked[p]++];

		assert_true(checked[p] <= nb_wanted[p]);
		assert_ptr_equal(taken[i], w->packet);
		assert_packet(taken[i], w->frame, w->len, taken[i]->nb_segs);
		rte_pktmbuf_free(taken[i]);
	}
}

static void
drops_check(void)
{
	unsigned int reasons = 0;

	for (size_t k = 0; k < RTE_DIM(kinds); k++) {
		unsigned int each = 0;

		if (kinds[k].reason == NULL)
			continue;
		for (size_t j = 0; j < RTE_DIM(kinds); j++)
			if (kinds[j].reason != NULL &&
				strcmp(kinds[j].reason, kinds[k].reason) == 0)
				each += kinds[j].each;
		if (dropped("pipeline", kinds[k].node, kinds[k].reason) != each * ROUNDS)
			fail_msg("%s: %ju, not %u", kinds[k].reason,
				(uintmax_t)dropped("pipeline", kinds[k].node, kinds[k].reason),
				each * ROUNDS);
		reasons++;
	}
	assert_int_equal(reasons, 11);
	assert_int_equal(dropped("pipeline", "ethdev_tx-0", "tx_full"), 0);
	assert_int_equal(dropped("pipeline", "ethdev_tx-1", "tx_full"), 0);
}

/* The families' own nodes stay, with what they were given. */
static void
configs_remove(void)
{
	static const char *const names[] = { "ip4_lookup", "ip4_rewrite" };
	hy_node_id id;

	for (size_t i = 0; i < RTE_DIM(names); i++) {
		assert_int_equal(hy_node_lookup(names[i], &id), 0);
		assert_int_equal(hy_node_config(id, NULL, 0), 0);
	}
}

static void
pipeline_run(const char *lookup, uint16_t burst)
{
	const unsigned int all = rte_mempool_avail_count(pool);
	unsigned int checked[PORTS] = { 0 }, fed = 0;
	char spec[2 * HY_NAME_SIZE], error[HY_HAL_ERROR_SIZE];
	struct hy_graph *graph;
	struct hy_hal *hal;
	uint64_t seed = 7;

	nb_wanted[0] = nb_wanted[1] = 0;
	assert_int_equal(hy_hal_create(&hal), 0);
	snprintf(spec, sizeof(spec), "ip4_lookup=%.63s", lookup);
	assert_int_equal(hy_hal_force(hal, spec, error), 0);
	assert_int_equal(hy_hal_select(hal, error), 0);
	graph = pipeline_create(hal, lookup, burst);
	for (unsigned int r = 0; r < ROUNDS; r++) {
		struct rte_mbuf *packets[256];
		const unsigned int n = round_make(packets, &seed);

		fed += n;
		/* One port at a time: what goes out is in the order of what came in. */
		port_feed(port[r % 2], 0, packets, n);
		for (unsigned int w = 0; w <= n / burst; w++)
			hy_graph_walk(graph);
		sent_check(0, checked);
		sent_check(1, checked);
	}
	drops_check();
	assert_int_equal(checked[0], 10 * ROUNDS);
	assert_int_equal(checked[1], 5 * ROUNDS);
	assert_int_equal(fed, 80 * ROUNDS);
	assert_int_equal(rte_mempool_avail_count(pool), all);
	assert_string_equal(hy_hal_placement(hal, "ip4_lookup")->variant, lookup);
	assert_string_equal(hy_hal_placement(hal, "pkt_cls")->target, "port 0,1");
	hy_graph_destroy(graph);
	hy_hal_destroy(hal);
	configs_remove();
	rig_clear();
}

static void
mixed_frames_are_sent_in_order_or_dropped_under_their_reason(void **state)
{
	static const uint16_t bursts[] = { 7, 64, 256 };
	char error[HY_HAL_ERROR_SIZE], fit[8][HY_NAME_SIZE];
	const struct hy_selection *s;
	struct hy_hal *hal;
	unsigned int nb_fit = 0;

	RTE_SET_USED(state);
	port[0] = port_open(1, 1, 1024);
	port[1] = port_open(1, 1, 1024);
	assert_int_equal(hy_hal_create(&hal), 0);
	assert_int_equal(hy_hal_select(hal, error), 0);
	s = hy_hal_selection(hal, "ip4_lookup", 0);
	for (unsigned int c = 0; c < s->nb_candidates; c++)
		if (s->candidates[c].fate <= HY_FATE_OUTSCORED)
			snprintf(fit[nb_fit++], sizeof(fit[0]), "%s",
				s->candidates[c].variant->impl.variant);
	hy_hal_destroy(hal);
	assert_true(nb_fit >= 1);
	for (unsigned int v = 0; v < nb_fit; v++)
		for (size_t b = 0; b < RTE_DIM(bursts); b++)
			pipeline_run(fit[v], bursts[b]);
}

/* Edges of ip4_rewrite stay too: they are there before it is counted what a test leaves. */
static int
pipeline_setup(void **state)
{
	hy_node_id id;

	if (hy_node_lookup("ip4_rewrite", &id) != 0 ||
		hy_node_edge_add(id, "ethdev_tx-0", NULL) != 0 ||
		hy_node_edge_add(id, "ethdev_tx-1", NULL) != 0)
		return -1;
	return node_setup(state);
}

static const struct CMUnitTest node_pipeline_tests[] = {
	cmocka_unit_test_setup_teardown(
		mixed_frames_are_sent_in_order_or_dropped_under_their_reason, pipeline_setup,
		node_teardown),
};

UNIT_SUITE(node_pipeline_tests)
