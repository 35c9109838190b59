/* SPDX-License-Identifier: BSD-3-Clause */
/* The rig of the octeontx2 pack; see octeontx2_rig.h. */

#include <netinet/in.h>
#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_ethdev.h>
#include <rte_eventdev.h>
#include <rte_ring.h>

#include <hy_ethdev.h>
#include <hy_mbuf.h>
#include <hy_stats.h>

#include "octeontx2_rig.h"

struct oct_rig R;

static uint8_t data[FRAMES][FRAME_SIZE];
static struct simnic_frame frames[FRAMES];

void
oct_nic_start(uint16_t port)
{
	struct rte_eth_conf conf = { .rxmode.mq_mode = RTE_ETH_MQ_RX_RSS,
		.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_IP };

	assert_int_equal(hy_hal_port_conf(R.hal, port, &conf), 0);
	assert_int_equal(rte_eth_dev_configure(port, QUEUES, QUEUES, &conf), 0);
	for (uint16_t q = 0; q < QUEUES; q++) {
		assert_int_equal(rte_eth_rx_queue_setup(port, q, 64, SOCKET_ID_ANY, NULL, sim_pool),
			0);
		assert_int_equal(rte_eth_tx_queue_setup(port, q, 64, SOCKET_ID_ANY, NULL), 0);
	}
	assert_int_equal(rte_eth_dev_start(port), 0);
}

void
oct_devices(const struct oct_spec *spec)
{
	static const char *const names[NICS] = { "sim_cn10k0", "sim_cn10k1" };
	char error[HY_HAL_ERROR_SIZE] = "";

	for (unsigned int i = 0; i < NICS; i++) {
		R.nic[i] = nic_probe(names[i], NULL);
		if (spec->by_rules)
			simnic_marks_by_rules(R.nic[i]);
	}
	assert_int_equal(rte_vdev_init(OCT_DEVICE, NULL), 0);
	R.device = (struct hy_target){ .kind = HY_TARGET_EVENT,
		.id = (uint16_t)rte_event_dev_get_dev_id(OCT_DEVICE) };
	assert_int_equal(hy_hal_create(&R.hal), 0);
	if (spec->force != NULL)
		assert_int_equal(hy_hal_force(R.hal, spec->force, error), 0);
	if (spec->deny != NULL)
		assert_int_equal(hy_hal_deny(R.hal, spec->deny, error), 0);
	assert_int_equal(hy_hal_plan(R.hal, error), 0);
	for (unsigned int i = 0; i < NICS; i++)
		oct_nic_start(R.nic[i]);
	assert_int_equal(hy_hal_probe(R.hal), 0);
}

void
oct_feed(const struct oct_spec *spec)
{
	struct hy_ethdev_rx_config queues[NICS * QUEUES];
	const struct hy_event_params params = { .device = (uint8_t)R.device.id,
		.sched_type = spec->sched_type,
		.nb_workers = spec->workers == 0 ? 1 : spec->workers,
		.queues = queues,
		.nb_queues = RTE_DIM(queues),
		.vector_size = spec->vector_size,
		.vector_timeout_ns = spec->timeout_ns != 0 || spec->any_timeout ? spec->timeout_ns
										: 50000,
		.socket = SOCKET_ID_ANY };
	char reason[HY_REASON_SIZE] = "";
	int rc;

	for (unsigned int i = 0; i < RTE_DIM(queues); i++)
		queues[i] = (struct hy_ethdev_rx_config){ .port = R.nic[i / QUEUES],
			.queue = i % QUEUES };
	rc = hy_event_create(&params, reason, sizeof(reason));
	if (rc != 0)
		fail_msg("no feed: %d, %s", rc, reason);
	R.fed = true;
}

void
oct_select(void)
{
	char error[HY_HAL_ERROR_SIZE] = "";

	if (hy_hal_select(R.hal, error) != 0)
		fail_msg("nothing is selected: %s", error);
}

static void
nodes_make(void)
{
	struct hy_event_rx_config config = { .device = (uint8_t)R.device.id };
	hy_node_id rx, tx;

	for (unsigned int p = 0; p < RTE_MAX_ETHPORTS; p++)
		config.edge[p] = HY_EVENT_NO_EDGE;
	assert_int_equal(hy_hal_node_clone_for(R.hal, "event_rx", R.device, "oct", &rx), 0);
	for (unsigned int i = 0; i < NICS; i++) {
		const struct hy_ethdev_tx_config to = { .port = R.nic[i], .nb_queues = QUEUES };
		char name[HY_NAME_SIZE];

		snprintf(name, sizeof(name), "%u", i);
		assert_int_equal(hy_hal_node_clone(R.hal, "ethdev_tx", R.nic[i], name, &tx), 0);
		assert_int_equal(hy_node_config(tx, &to, sizeof(to)), 0);
		snprintf(name, sizeof(name), "ethdev_tx-%u", i);
		assert_int_equal(hy_node_edge_add(rx, name, &config.edge[R.nic[NICS - 1 - i]]), 0);
		R.wire[i] = simnic_tx_wire(R.nic[i], 0);
	}
	assert_int_equal(hy_node_config(rx, &config, sizeof(config)), 0);
}

static void
graph_make(uint16_t worker, uint16_t burst)
{
	static const char *const patterns[] = { "event_rx-oct" };
	const struct hy_graph_params params = { .patterns = patterns,
		.nb_patterns = 1,
		.ops = &hy_mbuf_ops,
		.drop_node = "pkt_drop",
		.burst = burst == 0 ? 64 : burst,
		.worker = worker,
		.socket = SOCKET_ID_ANY };
	char name[HY_NAME_SIZE];

	snprintf(name, sizeof(name), "oct-%u", worker);
	assert_int_equal(hy_graph_create(name, &params, &R.graphs[R.nb_graphs]), 0);
	R.nb_graphs++;
}

void
oct_run(const struct oct_spec *spec)
{
	oct_feed(spec);
	oct_select();
	nodes_make();
	for (uint16_t w = 0; w < RTE_MAX(spec->workers, 1); w++)
		graph_make(w, spec->burst);
}

void
oct_open(const struct oct_spec *spec)
{
	oct_devices(spec);
	oct_run(spec);
}

uint64_t
oct_close(void)
{
	while (R.nb_graphs > 0)
		hy_graph_destroy(R.graphs[--R.nb_graphs]);
	R.fed = false;
	return hy_event_destroy((uint8_t)R.device.id);
}

/* A mark's upper half is where the transmit queue stands: whoever sends by it has to write it. */
static void
poison(struct rte_mempool *mp, void *opaque, void *obj, unsigned int index)
{
	struct rte_mbuf *pkt = obj;

	RTE_SET_USED(mp);
	RTE_SET_USED(opaque);
	RTE_SET_USED(index);
	pkt->hash.fdir.hi = UINT32_MAX;
}

int
oct_setup(void **state)
{
	memset(&R, 0, sizeof(R));
	for (unsigned int f = 0; f < FRAMES; f++) {
		sim_frame(&(struct sim_packet){ .dst = 1 + f, .proto = IPPROTO_UDP }, data[f]);
		frames[f] = (struct simnic_frame){ data[f], FRAME_SIZE };
	}
	if (simnic_setup(state) != 0)
		return -1;
	rte_mempool_obj_iter(sim_pool, poison, NULL);
	return 0;
}

int
oct_teardown(void **state)
{
	if (R.fed)
		oct_close();
	hy_hal_destroy(R.hal);
	if (R.device.kind == HY_TARGET_EVENT && rte_vdev_uninit(OCT_DEVICE) != 0)
		return -1;
	return simnic_teardown(state);
}

void
oct_drain(unsigned int nic)
{
	struct rte_mbuf *pkt;

	for (; rte_ring_dequeue(R.wire[nic], (void **)&pkt) == 0; R.out[nic]++) {
		simnic_sync();
		assert_int_equal(sim_dst_of(pkt), 1 + R.out[nic] % FRAMES);
		assert_int_equal(pkt->pkt_len, FRAME_SIZE);
		rte_pktmbuf_free(pkt);
		simnic_sync();
	}
}

void
oct_forward(uint64_t first, uint64_t second)
{
	unsigned int idle = 0;

	while (R.out[0] < first || R.out[1] < second) {
		unsigned int made = 0;

		for (unsigned int g = 0; g < R.nb_graphs; g++)
			made += hy_graph_walk(R.graphs[g]);
		idle = made > 0 ? 0 : idle + 1;
		assert_true(idle < PATIENCE);
		oct_drain(0);
		oct_drain(1);
	}
	assert_int_equal(R.out[0], first);
	assert_int_equal(R.out[1], second);
}

void
oct_send(uint64_t first, uint64_t second)
{
	simnic_feed(R.nic[0], 0, frames, FRAMES, first);
	simnic_feed(R.nic[1], 0, frames, FRAMES, second);
}

const struct hy_selection *
oct_selected(const char *family, struct hy_target target)
{
	const struct hy_selection *s = hy_hal_selection_for(R.hal, family, target);

	assert_non_null(s);
	return s;
}

void
assert_chosen(const char *tx, const char *rx)
{
	assert_string_equal(oct_selected("event_rx", R.device)->chosen->impl.variant, rx);
	for (unsigned int i = 0; i < NICS; i++)
		assert_string_equal(
			hy_hal_selection(R.hal, "ethdev_tx", R.nic[i])->chosen->impl.variant, tx);
}

void
assert_refused(const struct hy_selection *s, const char *variant, enum hy_fate fate,
	const char *reason)
{
	for (unsigned int c = 0; c < s->nb_candidates; c++) {
		if (strcmp(s->candidates[c].variant->impl.variant, variant) != 0)
			continue;
		assert_string_equal(s->candidates[c].reason, reason);
		assert_int_equal(s->candidates[c].fate, fate);
		return;
	}
	fail_msg("%s is no candidate", variant);
}

uint64_t
oct_objs(const char *node, const char *drop)
{
	struct hy_stats *stats;
	uint64_t n = 0;

	assert_int_equal(hy_stats_read("oct-*", &stats), 0);
	for (unsigned int i = 0; i < stats->nb_nodes; i++) {
		const struct hy_node_stats *s = &stats->nodes[i];

		if (strcmp(s->name, node) != 0)
			continue;
		n += drop == NULL ? s->objs : 0;
		for (unsigned int d = 0; drop != NULL && d < s->nb_drops; d++)
			n += strcmp(s->drops[d].name, drop) == 0 ? s->drops[d].objs : 0;
	}
	hy_stats_free(stats);
	return n;
}
