/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulated NICs, through ethdev and rte_flow as any program sees them. */

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_ethdev.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_ring.h>

#include <hy_flow_sim.h>
#include <hy_hal.h>

#include "simnic_fixture.h"

static const struct {
	const char *name, *driver, *profile;
	bool keeps, negotiates;
} nics[] = {
	{ "sim_cn10k0", "net_cn10k", "cnxk", true, true },
	{ "sim_mlx5_0", "mlx5_pci", "mlx5", false, false },
	{ "sim_ice0", "net_ice", "ice", false, false },
	{ "sim_i40e0", "net_i40e", "i40e", false, false },
	{ "sim_iavf0", "net_iavf", "iavf", false, false },
	{ "sim_nic0", "net_sim", "generic", false, false },
};

#define NICS RTE_DIM(nics)

static void
nics_call_themselves_what_the_vendors_drivers_do(void **state)
{
	RTE_SET_USED(state);
	for (size_t i = 0; i < NICS; i++) {
		struct rte_eth_dev_info info;
		uint64_t features = UINT64_MAX;
		const uint16_t port = nic_probe(nics[i].name, NULL);

		assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
		assert_string_equal(info.driver_name, nics[i].driver);
		assert_string_equal(nic_profile(port), nics[i].profile);
		assert_int_equal((info.dev_capa & RTE_ETH_DEV_CAPA_FLOW_RULE_KEEP) != 0,
			nics[i].keeps);
		assert_int_equal(rte_eth_rx_metadata_negotiate(port, &features),
			nics[i].negotiates ? 0 : -ENOTSUP);
		if (nics[i].negotiates)
			assert_int_equal(features,
				RTE_ETH_RX_METADATA_USER_FLAG | RTE_ETH_RX_METADATA_USER_MARK);
	}
}

static void
each_rule_holds_through_rte_flow(void **state)
{
	unsigned int refused = 0, taken = 0;

	RTE_SET_USED(state);
	for (size_t i = 0; i < NICS; i++)
		nic_add(nics[i].name, NULL);
	for (size_t r = 0; r < sim_rules_count; r++) {
		const struct sim_rule *rule = &sim_rules[r];
		struct rte_flow_error flow_error = { 0 };
		struct rte_flow *flow;
		uint16_t port = 0;

		if (rule->without_rss)
			continue;
		while (strcmp(nic_profile(port), rule->profile) != 0)
			port++;
		assert_true(rte_flow_validate(port, &rule->refused.attr, rule->refused.items,
				    rule->refused.actions, &flow_error) < 0);
		assert_string_equal(flow_error.message, rule->why);
		flow = rte_flow_create(port, &rule->refused.attr, rule->refused.items,
			rule->refused.actions, NULL);
		assert_null(flow);
		refused++;
		assert_int_equal(rte_flow_validate(port, &rule->taken.attr, rule->taken.items,
					 rule->taken.actions, NULL),
			0);
		flow = rte_flow_create(port, &rule->taken.attr, rule->taken.items,
			rule->taken.actions, NULL);
		assert_non_null(flow);
		assert_int_equal(rte_flow_destroy(port, flow, NULL), 0);
		taken++;
	}
	assert_int_equal(refused, SIM_RULES - SIM_RULES_WITHOUT_RSS);
	assert_int_equal(taken, refused);
}

/* rte_errno that no errno is, or none at all: programs must not take that for success. */
static void
cn10k_fails_with_the_odd_error_numbers_of_its_driver(void **state)
{
	static const struct {
		const char *why;
		int number;
	} odd[] = { { "no such queue", 0 }, { "MARK and FLAG", -1015 }, { "no ranges", -1014 },
		{ "priorities 0 to 2 only", -1024 } };
	const uint16_t port = nic_add("sim_cn10k0", "table_size=1");
	unsigned int compared = 0;

	RTE_SET_USED(state);
	for (size_t r = 0; r < sim_rules_count; r++) {
		const struct sim_rule *rule = &sim_rules[r];

		for (size_t o = 0; o < RTE_DIM(odd); o++) {
			if (strcmp(rule->profile, "cnxk") != 0 ||
				strcmp(rule->why, odd[o].why) != 0)
				continue;
			rte_errno = 99;
			assert_null(rte_flow_create(port, &rule->refused.attr, rule->refused.items,
				rule->refused.actions, NULL));
			assert_int_equal(rte_errno, odd[o].number);
			compared++;
		}
	}
	assert_int_equal(compared, RTE_DIM(odd));
	assert_non_null(nic_rule(port, &(struct sim_packet){ .dst = 1 }, 1));
	assert_null(nic_rule(port, &(struct sim_packet){ .dst = 2 }, 1));
	assert_int_equal(rte_errno, -1016); /* NPC_ERR_MCAM_ALLOC */
}

static void
marks_get_into_packets_and_rules_count_them(void **state)
{
	const struct sim_packet packet = { .dst = 1 }, other = { .dst = 2 };

	RTE_SET_USED(state);
	for (size_t i = 0; i < NICS; i++) {
		const struct rte_flow_action count[] = { { RTE_FLOW_ACTION_TYPE_COUNT, NULL },
			{ RTE_FLOW_ACTION_TYPE_END, NULL } };
		const uint16_t port = nic_add(nics[i].name, NULL);
		struct rte_flow_query_count counter = { 0 };
		struct rte_flow *flow = nic_rule(port, &packet, 7);
		const bool counts = sim_counts(nics[i].profile);

		assert_non_null(flow);
		for (int n = 0; n < 5; n++)
			assert_int_equal(nic_marked(port, &packet), 7);
		assert_int_equal(nic_marked(port, &other), -1);
		assert_int_equal(rte_flow_query(port, flow, count, &counter, NULL),
			counts ? 0 : -EINVAL);
		if (counts)
			assert_int_equal(counter.hits, 5);
		assert_int_equal(rte_flow_destroy(port, flow, NULL), 0);
		assert_int_equal(nic_marked(port, &packet), -1);
	}
}

static void
cn10k_delivers_no_marks_unless_they_were_negotiated(void **state)
{
	const struct sim_packet packet = { .dst = 1 };
	const uint16_t port = nic_probe("sim_cn10k0", NULL);

	RTE_SET_USED(state);
	nic_up(port);
	assert_non_null(nic_rule(port, &packet, 7));
	assert_int_equal(nic_marked(port, &packet), -1);
}

static void
cn10k_receives_into_pools_of_its_platform_only(void **state)
{
	static const struct rte_eth_conf conf;
	struct rte_mempool *plain = rte_pktmbuf_pool_create_by_ops("plain", 255, 0, 0,
		RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY, "ring_mp_mc");

	RTE_SET_USED(state);
	assert_non_null(plain);
	for (size_t i = 0; i < NICS; i++) {
		const uint16_t port = nic_probe(nics[i].name, NULL);
		const bool own = strcmp(nics[i].driver, "net_cn10k") == 0;

		assert_string_equal(rte_mbuf_platform_mempool_ops(), SIMNIC_POOL);
		assert_int_equal(rte_eth_dev_pool_ops_supported(port, SIMNIC_POOL), own ? 0 : 1);
		assert_int_equal(rte_eth_dev_pool_ops_supported(port, "ring_mp_mc"),
			own ? -ENOTSUP : 1);
		assert_int_equal(rte_eth_dev_configure(port, 1, 1, &conf), 0);
		assert_int_equal(rte_eth_rx_queue_setup(port, 0, 64, SOCKET_ID_ANY, NULL, plain),
			own ? -EINVAL : 0);
		assert_int_equal(rte_eth_rx_queue_setup(port, 0, 64, SOCKET_ID_ANY, NULL, sim_pool),
			0);
	}
	rte_mempool_free(plain);
}

static void
rules_survive_a_stop_as_the_driver_has_it(void **state)
{
	const struct sim_packet packet = { .dst = 1 };

	RTE_SET_USED(state);
	for (size_t i = 0; i < NICS; i++) {
		const uint16_t port = nic_add(nics[i].name, NULL);
		const bool mlx5 = strcmp(nics[i].profile, "mlx5") == 0;
		struct rte_mbuf *waited = sim_mbuf(&packet);

		assert_non_null(nic_rule(port, &packet, 7));
		assert_int_equal(rte_eth_dev_stop(port), 0);
		assert_int_equal(rte_ring_enqueue(simnic_rx_wire(port, 0), waited), 0);
		if (mlx5) {
			assert_null(nic_rule(port, &(struct sim_packet){ .dst = 3 }, 8));
			assert_int_equal(rte_errno, ENODEV);
		}
		assert_int_equal(rte_eth_dev_start(port), 0);
		assert_int_equal(rte_eth_rx_burst(port, 0, &waited, 1), 1);
		assert_int_equal(sim_mark_of(waited), mlx5 ? -1 : 7);
		rte_pktmbuf_free(waited);
	}
}

static void
a_claim_to_keep_rules_can_be_a_lie(void **state)
{
	const struct sim_packet packet = { .dst = 1 };
	const uint16_t port = nic_add("sim_cn10k0", "lose_rules=1");
	struct rte_eth_dev_info info;

	RTE_SET_USED(state);
	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	assert_true((info.dev_capa & RTE_ETH_DEV_CAPA_FLOW_RULE_KEEP) != 0);
	assert_non_null(nic_rule(port, &packet, 7));
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_int_equal(nic_marked(port, &packet), -1);
}

static void
arguments_that_make_no_sense_are_refused(void **state)
{
	static const char *const bad[] = { "table_size=", "table_size=x", "mark_max=0x10000",
		"color=red" };

	RTE_SET_USED(state);
	unit_log_clear();
	for (size_t i = 0; i < RTE_DIM(bad); i++)
		assert_int_not_equal(rte_vdev_init("sim_cn10k0", bad[i]), 0);
}

static unsigned int raised[RTE_ETH_EVENT_MAX];

static int
on_event(uint16_t port, enum rte_eth_event_type type, void *arg, void *ret)
{
	RTE_SET_USED(ret);
	assert_int_equal(port, *(uint16_t *)arg);
	raised[type]++;
	return 0;
}

static void
a_nic_that_breaks_says_so_and_works_after_a_reset(void **state)
{
	const struct sim_packet packet = { .dst = 1 };

	RTE_SET_USED(state);
	for (size_t i = 0; i < NICS; i++) {
		uint16_t port = nic_add(nics[i].name, NULL);
		struct simnic_offences offences;
		struct rte_flow *flow = nic_rule(port, &packet, 7);
		struct rte_mbuf *got;

		assert_non_null(flow);
		raised[RTE_ETH_EVENT_INTR_RESET] = 0;
		assert_int_equal(rte_eth_dev_callback_register(port, RTE_ETH_EVENT_INTR_RESET,
					 on_event, &port),
			0);
		simnic_break(port);
		assert_int_equal(raised[RTE_ETH_EVENT_INTR_RESET], 1);
		assert_int_equal(nic_marked(port, &packet), -2);
		assert_int_equal(rte_eth_dev_is_removed(port), 0);
		simnic_offences(port, &offences);
		assert_int_equal(offences.flow_when_broken, 0);
		assert_int_equal(rte_flow_destroy(port, flow, NULL), -EIO);
		simnic_offences(port, &offences);
		assert_int_equal(offences.flow_when_broken, 1);
		assert_int_equal(rte_eth_dev_reset(port), 0);
		nic_up(port);
		assert_int_equal(rte_eth_rx_burst(port, 0, &got, 1), 1);
		assert_int_equal(sim_mark_of(got), -1);
		rte_pktmbuf_free(got);
		assert_non_null(nic_rule(port, &packet, 8));
		assert_int_equal(nic_marked(port, &packet), 8);
		assert_int_equal(rte_eth_dev_callback_unregister(port, RTE_ETH_EVENT_INTR_RESET,
					 on_event, &port),
			0);
	}
}

static void
a_nic_that_is_pulled_out_says_so_and_tells_who_touches_it(void **state)
{
	const struct sim_packet packet = { .dst = 1 };

	RTE_SET_USED(state);
	for (size_t i = 0; i < NICS; i++) {
		uint16_t port = nic_add(nics[i].name, NULL);
		struct simnic_offences offences;
		struct rte_flow *flow = nic_rule(port, &packet, 7);
		struct rte_mbuf *pkt = sim_mbuf(&packet);

		assert_non_null(flow);
		raised[RTE_ETH_EVENT_INTR_RMV] = 0;
		assert_int_equal(rte_eth_dev_callback_register(port, RTE_ETH_EVENT_INTR_RMV,
					 on_event, &port),
			0);
		simnic_remove(port);
		assert_int_equal(raised[RTE_ETH_EVENT_INTR_RMV], 1);
		assert_int_equal(rte_eth_dev_is_removed(port), 1);
		assert_int_equal(nic_marked(port, &packet), -2);
		assert_int_equal(rte_eth_tx_burst(port, 0, &pkt, 1), 0);
		simnic_offences(port, &offences);
		assert_int_equal(offences.flow_when_removed, 0);
		assert_int_equal(rte_flow_destroy(port, flow, NULL), -EIO);
		simnic_offences(port, &offences);
		assert_int_equal(offences.flow_when_removed, 1);
		assert_int_not_equal(rte_eth_dev_reset(port), 0);
		assert_int_equal(rte_eth_dev_callback_unregister(port, RTE_ETH_EVENT_INTR_RMV,
					 on_event, &port),
			0);
		rte_pktmbuf_free(pkt);
	}
}

static void
what_is_sent_is_found_on_the_wire_and_else_freed(void **state)
{
	const uint16_t port = nic_add("sim_nic0", NULL);
	struct rte_mbuf *pkts[2] = { sim_mbuf(&(struct sim_packet){ .dst = 1 }),
		sim_mbuf(&(struct sim_packet){ .dst = 2 }) };
	struct rte_eth_stats stats;
	struct rte_ring *wire;
	void *got = NULL;

	RTE_SET_USED(state);
	assert_int_equal(rte_eth_tx_burst(port, 1, &pkts[0], 1), 1);
	wire = simnic_tx_wire(port, 1);
	assert_int_equal(rte_ring_count(wire), 0);
	assert_int_equal(rte_eth_tx_burst(port, 1, &pkts[1], 1), 1);
	assert_int_equal(rte_ring_dequeue(wire, &got), 0);
	assert_ptr_equal(got, pkts[1]);
	rte_pktmbuf_free(got);
	assert_int_equal(rte_eth_stats_get(port, &stats), 0);
	assert_int_equal(stats.opackets, 2);
	assert_int_equal(stats.obytes, 2 * FRAME_SIZE);
}

/* A frame longer than a packet's first segment waits until there are packets for all of it. */
static void
long_frame_comes_in_segments_once_there_are_enough(void **state)
{
	static uint8_t data[3 * RTE_MBUF_DEFAULT_DATAROOM], got[sizeof(data)];
	const struct simnic_frame frame = { data, sizeof(data) };
	const uint16_t port = nic_add("sim_nic0", NULL);
	static struct rte_mbuf *held[1 << 14]; /* the pool */
	struct rte_mbuf *pkt = NULL;
	const unsigned int n = RTE_MIN(rte_mempool_avail_count(sim_pool), RTE_DIM(held));
	struct rte_eth_stats stats;
	const char *reason;

	RTE_SET_USED(state);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7 + i / 256);
	assert_int_equal(rte_pktmbuf_alloc_bulk(sim_pool, held, n), 0);
	simnic_feed(port, 0, &frame, 1, 1);
	rte_pktmbuf_free_bulk(held, 2);
	assert_int_equal(rte_eth_rx_burst(port, 0, &pkt, 1), 0);
	assert_int_equal(rte_mempool_avail_count(sim_pool), 2);
	assert_int_equal(rte_eth_stats_get(port, &stats), 0);
	assert_int_equal(stats.rx_nombuf, 1);

	rte_pktmbuf_free(held[2]);
	assert_int_equal(rte_eth_rx_burst(port, 0, &pkt, 1), 1);
	assert_int_equal(rte_mempool_avail_count(sim_pool), 0);
	assert_int_equal(rte_mbuf_check(pkt, 1, &reason), 0);
	assert_int_equal(pkt->nb_segs, 3);
	assert_int_equal(rte_pktmbuf_pkt_len(pkt), sizeof(data));
	assert_memory_equal(rte_pktmbuf_read(pkt, 0, sizeof(data), got), data, sizeof(data));
	rte_pktmbuf_free(pkt);
	rte_pktmbuf_free_bulk(held + 3, n - 3);
}

#define FRAMES 256
#define RULES 64
#define FED 2500000 /* a NIC */

/* Ten million packets through four NICs at once; each mark as the frame says. */
static void
ten_million_packets_come_marked_as_they_are(void **state)
{
	static uint8_t data[FRAMES][FRAME_SIZE];
	struct simnic_frame frames[FRAMES];
	uint64_t received = 0, marked = 0, left = 4 * (uint64_t)FED;
	uint16_t ports[4];

	RTE_SET_USED(state);
	for (unsigned int f = 0; f < FRAMES; f++) {
		sim_frame(&(struct sim_packet){ .dst = 1 + f,
				  .sport = 9,
				  .dport = (uint16_t)f,
				  .proto = IPPROTO_UDP },
			data[f]);
		frames[f] = (struct simnic_frame){ data[f], FRAME_SIZE };
	}
	for (int i = 0; i < 4; i++) {
		ports[i] = nic_add(nics[i].name, NULL);
		for (uint32_t r = 0; r < RULES; r++)
			assert_non_null(nic_rule(ports[i],
				&(struct sim_packet){ .dst = 1 + 2 * r, .proto = IPPROTO_UDP },
				1 + 2 * r));
		simnic_feed(ports[i], 0, frames, FRAMES, FED);
	}
	while (left > 0) {
		left = 0;
		for (int i = 0; i < 4; i++) {
			struct rte_mbuf *pkts[64];
			const uint16_t n = rte_eth_rx_burst(ports[i], 0, pkts, RTE_DIM(pkts));

			for (uint16_t p = 0; p < n; p++) {
				const uint32_t dst = sim_dst_of(pkts[p]);
				const bool expected = dst % 2 == 1 && dst <= 2 * RULES;

				if (sim_mark_of(pkts[p]) != (expected ? (int64_t)dst : -1))
					fail_msg("%s: %u is marked %" PRId64, nics[i].name, dst,
						sim_mark_of(pkts[p]));
				marked += expected;
			}
			received += n;
			rte_pktmbuf_free_bulk(pkts, n);
			left += simnic_feed_left(ports[i], 0);
		}
	}
	assert_int_equal(received, 10000000);
	assert_int_equal(marked,
		4 * RULES * (FED / FRAMES + 1)); /* the last round is cut behind them */
	for (int i = 0; i < 4; i++) {
		struct rte_eth_stats stats;

		assert_int_equal(rte_eth_stats_get(ports[i], &stats), 0);
		assert_int_equal(stats.ipackets, FED);
		assert_int_equal(stats.ibytes, (uint64_t)FED * FRAME_SIZE);
	}
}

static void
a_port_whose_driver_is_busy_stays_known(void **state)
{
	const uint16_t port = nic_add("sim_nic0", NULL);
	const struct hy_target target = { .kind = HY_TARGET_PORT, .id = port };
	struct hy_hal *hal;

	RTE_SET_USED(state);
	assert_int_equal(hy_hal_create(&hal), 0);
	assert_int_equal(hy_hal_capability(hal, target, HY_CAP_RX_QUEUES)->value, SIMNIC_QUEUES);
	simnic_busy(port, true);
	assert_int_equal(hy_hal_probe(hal), 0);
	assert_int_equal(hy_hal_capability(hal, target, HY_CAP_RX_QUEUES)->value, SIMNIC_QUEUES);
	assert_int_equal(hy_hal_capability(hal, target, HY_CAP_RUNNING)->level, HY_LEVEL_YES);
	simnic_busy(port, false);
	hy_hal_destroy(hal);
}

static const struct CMUnitTest simnic[] = {
	SIMNIC_TEST(nics_call_themselves_what_the_vendors_drivers_do),
	SIMNIC_TEST(each_rule_holds_through_rte_flow),
	SIMNIC_TEST(cn10k_fails_with_the_odd_error_numbers_of_its_driver),
	SIMNIC_TEST(marks_get_into_packets_and_rules_count_them),
	SIMNIC_TEST(cn10k_delivers_no_marks_unless_they_were_negotiated),
	SIMNIC_TEST(cn10k_receives_into_pools_of_its_platform_only),
	SIMNIC_TEST(rules_survive_a_stop_as_the_driver_has_it),
	SIMNIC_TEST(a_claim_to_keep_rules_can_be_a_lie),
	SIMNIC_TEST(arguments_that_make_no_sense_are_refused),
	SIMNIC_TEST(a_nic_that_breaks_says_so_and_works_after_a_reset),
	SIMNIC_TEST(a_port_whose_driver_is_busy_stays_known),
	SIMNIC_TEST(a_nic_that_is_pulled_out_says_so_and_tells_who_touches_it),
	SIMNIC_TEST(what_is_sent_is_found_on_the_wire_and_else_freed),
	SIMNIC_TEST(long_frame_comes_in_segments_once_there_are_enough),
	SIMNIC_TEST(ten_million_packets_come_marked_as_they_are),
};

UNIT_SUITE(simnic)
