/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MAC addresses: a rule for all packets in mlx5's group 0 would make the port promiscuous, and take
 * the kernel's packets (net/mlx5/mlx5_trigger.c, mlx5_traffic_enable()). With an offload, a port must
 * accept the packets that it accepts without, whatever changes.
 */

#include <errno.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_ip.h>
#include <rte_mbuf.h>

#include "driver_rig.h"
#include "drivers/nodes/generic/classify/flow_cls_mark.h"

#define RULES 4
#define REFUSED (-2)
#define UNMARKED (-1)

static const struct rte_ether_addr foreign = { { 0x02, 0, 0, 0, 0xf0, 0x0d } };
static const struct rte_ether_addr another = { { 0x02, 0, 0, 0, 0, 0x77 } };
static const struct rte_ether_addr broadcast = { { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } };
static const struct rte_ether_addr multicast = { { 0x01, 0, 0x5e, 0, 0, 5 } };
static struct rte_ether_addr own;
static bool marks_groups; /* NICs that filter before rules mark what they accept */

static struct rte_mbuf *
packet_to(const struct rte_ether_addr *to, const struct sim_packet *packet)
{
	struct rte_mbuf *pkt = sim_mbuf(packet);

	rte_pktmbuf_mtod(pkt, struct rte_ether_hdr *)->dst_addr = *to;
	return pkt;
}

/* The mark of a packet as received; UNMARKED; REFUSED. */
static int64_t
received_as(const struct rte_ether_addr *to, const struct sim_packet *packet)
{
	struct rte_mbuf *pkt = packet_to(to, packet);
	int64_t mark;

	assert_int_equal(rte_ring_enqueue(simnic_rx_wire(D->port, 0), pkt), 0);
	if (rte_eth_rx_burst(D->port, 0, &pkt, 1) == 0)
		return REFUSED;
	mark = sim_mark_of(pkt);
	rte_pktmbuf_free(pkt);
	return mark;
}

/* Packets to all others are refused, those to groups accepted, and those to one address marked. */
static void
assert_accepts(const struct rte_ether_addr *only, bool marks)
{
	const struct sim_packet none = { .src = 1, .dst = 2, .proto = 99 };
	const struct rte_ether_addr *const all[] = { &own, &foreign, &another, &broadcast,
		&multicast };

	for (size_t a = 0; a < RTE_DIM(all); a++) {
		const bool group = rte_is_multicast_ether_addr(all[a]);
		const bool accepted = group || only == NULL || rte_is_same_ether_addr(all[a], only);
		const bool met = marks && accepted && (only == NULL || !group || marks_groups);

		assert_int_equal(received_as(all[a], &none), accepted ? UNMARKED : REFUSED);
		for (uint32_t r = 0; r < RULES; r++) {
			const struct sim_packet packet = driver_packet(r);
			const int64_t mark = received_as(all[a], &packet);

			if (met)
				assert_true(mark > 0);
			else
				assert_int_equal(mark, accepted ? UNMARKED : REFUSED);
		}
	}
}

static void
address_open(const char *nic)
{
	driver_open(nic, NULL, 1, 0);
	driver_rules(RULES);
	marks_groups = strncmp(nic_profile(D->port), "mlx5", 4) != 0;
	assert_int_equal(rte_eth_promiscuous_disable(D->port), 0);
	assert_int_equal(rte_eth_macaddr_get(D->port, &own), 0);
	assert_accepts(&own, false);
}

static void
offload_end(void)
{
	hy_offload_destroy(D->offload);
	D->offload = NULL;
	assert_int_equal(driver_sim().rules, 0);
	assert_int_equal(driver_sim().missed, 0);
}

static void
offload_does_not_make_a_port_promiscuous(const char *nic)
{
	address_open(nic);
	assert_int_equal(driver_offload(NULL), 0);
	driver_settle();
	assert_accepts(&own, true);
	hy_offload_down(D->offload, true);
	assert_accepts(&own, false);
	assert_int_equal(hy_offload_up(D->offload), 0);
	driver_settle();
	assert_accepts(&own, true);
	driver_demote();
	driver_settle();
	assert_accepts(&own, false);
	offload_end();
	assert_accepts(&own, false);
}

static void
offload_does_not_make_a_port_promiscuous_by_rules(void **state)
{
	RTE_SET_USED(state);
	offload_does_not_make_a_port_promiscuous("sim_mlx5_0");
}

static void
offload_does_not_make_a_port_promiscuous_by_templates(void **state)
{
	RTE_SET_USED(state);
	offload_does_not_make_a_port_promiscuous("sim_hws0");
}

/* Filters of other NICs precede their rules. */
static void
other_ports_stay_as_they_are(void **state)
{
	RTE_SET_USED(state);
	offload_does_not_make_a_port_promiscuous("sim_ice0");
}

static void
offload_follows_the_addresses_that_a_port_accepts(const char *nic)
{
	struct rte_ether_addr address = another;

	address_open(nic);
	assert_int_equal(driver_offload(NULL), 0);
	driver_settle();
	for (unsigned int round = 0; round < 3; round++) {
		assert_int_equal(rte_eth_promiscuous_enable(D->port), 0);
		driver_settle();
		assert_accepts(NULL, true);
		assert_int_equal(rte_eth_promiscuous_disable(D->port), 0);
		driver_settle();
		assert_accepts(&own, true);
		assert_int_equal(rte_eth_dev_default_mac_addr_set(D->port, &address), 0);
		driver_settle();
		assert_accepts(&another, true);
		assert_int_equal(rte_eth_dev_default_mac_addr_set(D->port, &own), 0);
		driver_settle();
		assert_accepts(&own, true);
		assert_int_equal(driver_sim().rules, RULES + 2);
		assert_int_equal(driver_stats().hw_rules, RULES);
	}
	offload_end();
}

static void
offload_follows_the_addresses_that_a_port_accepts_by_rules(void **state)
{
	RTE_SET_USED(state);
	offload_follows_the_addresses_that_a_port_accepts("sim_mlx5_0");
}

static void
offload_follows_the_addresses_that_a_port_accepts_by_templates(void **state)
{
	RTE_SET_USED(state);
	offload_follows_the_addresses_that_a_port_accepts("sim_hws0");
}

/* Fails one call: refuses it, or gives no answer though it was done. */
static unsigned int calls, fail_at;
static int fail_with;

static bool
fails(void)
{
	return ++calls == fail_at;
}

static int
failing_create(uint16_t port, const struct rte_flow_attr *attr, const struct rte_flow_item *items,
	const struct rte_flow_action *actions, void **flow, struct rte_flow_error *error)
{
	const bool failed = fails();
	int rc;

	if (failed && fail_with != -ETIMEDOUT)
		return fail_with;
	rc = hy_flow_rte.create(port, attr, items, actions, flow, error);
	if (rc != 0 || !failed)
		return rc;
	*flow = NULL;
	return fail_with;
}

static int
failing_destroy(uint16_t port, void *flow, struct rte_flow_error *error)
{
	const bool failed = fails();
	const int rc = failed && fail_with != -ETIMEDOUT ? 0
							 : hy_flow_rte.destroy(port, flow, error);

	return failed ? fail_with : rc;
}

static int
all_validate(uint16_t port, const struct rte_flow_attr *attr, const struct rte_flow_item *items,
	const struct rte_flow_action *actions, struct rte_flow_error *error)
{
	return hy_flow_rte.validate(port, attr, items, actions, error);
}

static const struct hy_flow_provider failing_one = {
	.name = "failing",
	.validate = all_validate,
	.create = failing_create,
	.destroy = failing_destroy,
};

static void
assert_receives(const struct rte_ether_addr *at)
{
	const struct sim_packet none = { .src = 1, .dst = 2, .proto = 99 }, met = driver_packet(0);

	assert_int_equal(received_as(at, &none), UNMARKED);
	assert_true(received_as(at, &met) >= UNMARKED);
	assert_int_equal(received_as(&broadcast, &none), UNMARKED);
}

static void
changing_life(void)
{
	struct rte_ether_addr address = another;

	if (driver_offload(&failing_one) == 0) {
		driver_settle();
		assert_receives(&own);
		assert_int_equal(rte_eth_promiscuous_enable(D->port), 0);
		driver_settle();
		assert_receives(&foreign);
		assert_int_equal(rte_eth_promiscuous_disable(D->port), 0);
		driver_settle();
		assert_receives(&own);
		assert_int_equal(rte_eth_dev_default_mac_addr_set(D->port, &address), 0);
		driver_settle();
		assert_receives(&another);
		hy_offload_destroy(D->offload);
		D->offload = NULL;
		assert_receives(&another);
		assert_int_equal(rte_eth_dev_default_mac_addr_set(D->port, &own), 0);
	}
	assert_receives(&own);
}

static void
failure_to_follow_loses_no_packet(void **state)
{
	static const int codes[] = { -EIO, -ETIMEDOUT };

	RTE_SET_USED(state);
	address_open("sim_mlx5_0");
	for (size_t c = 0; c < RTE_DIM(codes); c++) {
		fail_with = codes[c];
		fail_at = calls = 0;
		for (unsigned int nth = 1; nth == 1 || calls >= fail_at; nth++) {
			calls = 0;
			fail_at = nth;
			changing_life();
			/* What a failure left behind goes when the port stops. */
			assert_int_equal(rte_eth_dev_stop(D->port), 0);
			driver_start();
		}
		assert_true(fail_at > 2 + 2 + RULES + 3 * 2 + RULES + 2);
		assert_accepts(&own, false);
	}
	assert_int_equal(driver_sim().missed, 0);
}

/* Whether software takes an unmarked packet for one that hardware should have marked. */
static uint64_t
missed_by(const struct rte_ether_addr *to)
{
	const struct sim_packet packet = driver_packet(0);
	struct hy_mark_worker *worker = &D->offload->worker[0];
	struct rte_mbuf *pkt = packet_to(to, &packet);
	struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(pkt, void *, RTE_ETHER_HDR_LEN);
	const uint64_t before = worker->missing;
	void *objs[] = { pkt };
	uint32_t place = 0;

	ip->hdr_checksum = 0;
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	worker->looks = worker->looked + 1;
	flow_cls_look(&D->offload->marks->table, worker, objs, &place, 1);
	rte_pktmbuf_free(pkt);
	return worker->missing - before;
}

static void
packet_that_does_not_reach_the_rules_is_no_missing_mark(void **state)
{
	RTE_SET_USED(state);
	address_open("sim_mlx5_0");
	assert_int_equal(driver_offload(NULL), 0);
	driver_settle();
	assert_int_equal(missed_by(&own), 1);
	assert_int_equal(missed_by(&broadcast), 0);
	assert_int_equal(missed_by(&another), 0);
	D->offload->params.settle_us = UINT32_MAX; /* packets of before may still wait */
	assert_int_equal(rte_eth_promiscuous_enable(D->port), 0);
	hy_offload_poll(D->offload);
	assert_int_equal(missed_by(&own) + missed_by(&another), 0);
	D->offload->params.settle_us = 100;
	driver_settle();
	assert_int_equal(missed_by(&own), 1);
	assert_int_equal(missed_by(&another), 1);
	offload_end();
}

/*
 * common/cnxk/roc_npc_mcam.c, npc_program_mcam(): each rule of a virtual function gets the fields of
 * its base rule, among them its MAC address.
 */
static void
packet_to_a_group_is_no_missing_mark_on_cnxk(void **state)
{
	struct rte_ether_addr address = another;

	RTE_SET_USED(state);
	address_open("sim_cn10k0");
	assert_int_equal(rte_eth_promiscuous_enable(D->port), 0);
	assert_int_equal(driver_offload(NULL), 0);
	driver_settle();
	assert_int_equal(missed_by(&own), 1);
	assert_int_equal(missed_by(&broadcast), 0);
	assert_int_equal(missed_by(&multicast), 0);
	assert_int_equal(missed_by(&another), 0);
	assert_int_equal(rte_eth_dev_default_mac_addr_set(D->port, &address), 0);
	driver_settle();
	assert_int_equal(missed_by(&another), 1);
	assert_int_equal(missed_by(&own), 0);
	hy_offload_destroy(D->offload);
	D->offload = NULL;
}

/* The driver's rules for addresses name VLANs then; one that leads to a group would not. */
static void
port_that_filters_vlans_takes_no_rule_that_would_not(void **state)
{
	RTE_SET_USED(state);
	address_open("sim_mlx5_0");
	assert_int_equal(rte_eth_dev_set_vlan_offload(D->port, RTE_ETH_VLAN_FILTER_OFFLOAD), 0);
	assert_int_equal(driver_offload(NULL), -ENOTSUP);
	assert_int_equal(driver_sim().rules, 0);
	assert_int_equal(rte_eth_promiscuous_enable(D->port), 0);
	assert_int_equal(driver_offload(NULL), 0);
	driver_settle();
	assert_accepts(NULL, true);
	offload_end();
}

static void
port_that_begins_to_filter_vlans_gives_back_the_rule_that_would_not(void **state)
{
	RTE_SET_USED(state);
	address_open("sim_mlx5_0");
	assert_int_equal(driver_offload(NULL), 0);
	driver_settle();
	assert_accepts(&own, true);
	assert_int_equal(rte_eth_dev_set_vlan_offload(D->port, RTE_ETH_VLAN_FILTER_OFFLOAD), 0);
	driver_settle();
	assert_int_equal(driver_sim().rules, 0);
	assert_int_equal(driver_stats().state, HY_OFFLOAD_DOWN);
	assert_accepts(&own, false);
	assert_int_equal(rte_eth_promiscuous_enable(D->port), 0);
	assert_int_equal(hy_offload_up(D->offload), 0);
	driver_settle();
	assert_accepts(NULL, true);
	assert_int_equal(rte_eth_promiscuous_disable(D->port), 0);
	driver_settle();
	assert_accepts(&own, false);
	offload_end();
}

static const struct CMUnitTest driver_address[] = {
	DRIVER_TEST(offload_does_not_make_a_port_promiscuous_by_rules),
	DRIVER_TEST(offload_does_not_make_a_port_promiscuous_by_templates),
	DRIVER_TEST(other_ports_stay_as_they_are),
	DRIVER_TEST(offload_follows_the_addresses_that_a_port_accepts_by_rules),
	DRIVER_TEST(offload_follows_the_addresses_that_a_port_accepts_by_templates),
	DRIVER_TEST(failure_to_follow_loses_no_packet),
	DRIVER_TEST(packet_that_does_not_reach_the_rules_is_no_missing_mark),
	DRIVER_TEST(packet_to_a_group_is_no_missing_mark_on_cnxk),
	DRIVER_TEST(port_that_filters_vlans_takes_no_rule_that_would_not),
	DRIVER_TEST(port_that_begins_to_filter_vlans_gives_back_the_rule_that_would_not),
};

UNIT_SUITE(driver_address)
