/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * VLAN tags that hardware sees and software does not, or counts differently: a rule in hardware must
 * match no packet that the policy does not match in the frame as received.
 */

#include <netinet/in.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "driver_rig.h"

static const struct sim_packet tagged = { .vlan = 7,
	.src = 0x0a000001,
	.dst = 0xc6120001,
	.proto = IPPROTO_UDP,
	.sport = 7,
	.dport = 9 };

static const char *const nics[] = { "sim_mlx5_0", "sim_hws0", "sim_cn10k0", "sim_i40e0",
	"sim_nic0" };

static void
rule_add(uint32_t id, struct hy_flow_match match)
{
	const struct hy_flow_rule rule = { .id = id, .class_id = (uint16_t)id, .match = match };

	assert_int_equal(hy_policy_add(D->policy, &rule), 0);
}

/* One that names the tag; and one for the same packets that does not. */
static void
rules_for(const struct sim_packet *p)
{
	struct hy_flow_match match = { .fields = HY_FLOW_5_TUPLE | HY_FLOW_VLAN,
		.vlan = p->vlan,
		.src = p->src,
		.dst = p->dst,
		.src_len = 32,
		.dst_len = 32,
		.proto = p->proto,
		.sport = { p->sport, p->sport },
		.dport = { p->dport, p->dport } };

	rule_add(1, match);
	match.fields &= ~HY_FLOW_VLAN;
	match.vlan = 0;
	match.dst++;
	rule_add(2, match);
	assert_int_equal(hy_policy_commit(D->policy), 0);
}

/* Whether a packet that was sent with a tag is marked; it is received with the tag, or without. */
static bool
is_marked(struct sim_packet packet, bool stripped)
{
	struct rte_mbuf *pkt = sim_mbuf(&packet);
	const uint32_t len = pkt->pkt_len;
	bool marked;

	assert_int_equal(rte_ring_enqueue(simnic_rx_wire(D->port, 0), pkt), 0);
	assert_int_equal(rte_eth_rx_burst(D->port, 0, &pkt, 1), 1);
	assert_int_equal(len - pkt->pkt_len, stripped ? RTE_VLAN_HLEN : 0);
	marked = sim_mark_of(pkt) > 0;
	rte_pktmbuf_free(pkt);
	return marked;
}

static void
assert_marks(bool stripped, bool others)
{
	struct sim_packet other = tagged;

	other.dst++;
	assert_int_equal(is_marked(tagged, stripped), !stripped);
	assert_int_equal(is_marked(other, stripped), others);
}

/* Software does not find the tag in the frame any more: no rule that names one matches. */
static void
tag_that_the_port_removes_is_matched_by_no_rule_in_hardware(void **state)
{
	for (size_t n = 0; n < RTE_DIM(nics); n++) {
		/* An XL710 has one set of fields for each packet type. */
		const bool one_set = strcmp(nics[n], "sim_i40e0") == 0;

		if (n > 0) {
			driver_teardown(state);
			driver_setup(state);
		}
		driver_open(nics[n], NULL, 1, 0);
		rules_for(&tagged);
		assert_int_equal(rte_eth_dev_set_vlan_offload(D->port, RTE_ETH_VLAN_STRIP_OFFLOAD),
			0);
		assert_int_equal(driver_offload(NULL), 0);
		for (unsigned int round = 0; round < 3; round++) {
			driver_settle();
			assert_marks(true, true);
			assert_int_equal(driver_stats().hw_rules, 1);
			assert_int_equal(rte_eth_dev_set_vlan_offload(D->port, 0), 0);
			driver_settle();
			assert_marks(false, !one_set);
			assert_int_equal(driver_stats().hw_rules, one_set ? 1 : 2);
			assert_int_equal(rte_eth_dev_set_vlan_offload(D->port,
						 RTE_ETH_VLAN_STRIP_OFFLOAD),
				0);
		}
		hy_offload_destroy(D->offload);
		D->offload = NULL;
		assert_int_equal(driver_sim().rules, 0);
	}
}

/*
 * NICs compare the type of the outermost header (net/mlx5/mlx5_flow_dv.c,
 * flow_dv_translate_item_eth()): each tagged packet has that of a tag. Software compares the type
 * behind the tags.
 */
static void
rule_on_the_type_of_a_tag_stays_in_software(void **state)
{
	static const uint16_t types[] = { RTE_ETHER_TYPE_VLAN, RTE_ETHER_TYPE_QINQ, 0x9100 };

	for (size_t n = 0; n < RTE_DIM(nics); n++) {
		if (n > 0) {
			driver_teardown(state);
			driver_setup(state);
		}
		driver_open(nics[n], NULL, 1, 0);
		for (uint32_t t = 0; t < RTE_DIM(types); t++)
			rule_add(t + 1,
				(struct hy_flow_match){
					.fields = HY_FLOW_ETHER_TYPE, .ether_type = types[t] });
		rule_add(4,
			(struct hy_flow_match){
				.fields = HY_FLOW_ETHER_TYPE, .ether_type = RTE_ETHER_TYPE_ARP });
		assert_int_equal(hy_policy_commit(D->policy), 0);
		assert_int_equal(driver_offload(NULL), 0);
		driver_settle();
		assert_false(is_marked(tagged, false));
		assert_int_equal(driver_stats().hw_rules, 1);
	}
}

static const struct CMUnitTest driver_vlan[] = {
	DRIVER_TEST(tag_that_the_port_removes_is_matched_by_no_rule_in_hardware),
	DRIVER_TEST(rule_on_the_type_of_a_tag_stays_in_software),
};

UNIT_SUITE(driver_vlan)
