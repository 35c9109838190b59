/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules of fields that no NIC is asked to match stay in software, and precede marks there. */

#include <netinet/in.h>
#include <string.h>

#include <hy_flow.h>

#include "flow_fixture.h"

#define SOFT 100 /* rules of such fields have ids from here on */

static const struct hy_flow_match soft[] = {
	{ .fields = HY_FLOW_SRC_MAC, .src_mac = 0x020000000001, .src_mac_mask = 0xffffffffffff },
	{ .fields = HY_FLOW_DST_MAC, .dst_mac = 0x030000000000, .dst_mac_mask = 0xff0000000000 },
	{ .fields = HY_FLOW_IPV6 },
	{ .fields = HY_FLOW_IPV6 | HY_FLOW_DST, .dst6 = { 0x20010db8 }, .dst_len = 32 },
	{ .fields = HY_FLOW_IPV6 | HY_FLOW_PROTO | HY_FLOW_DPORT, .proto = 17, .dport = { 1, 9 } },
	{ .fields = HY_FLOW_TCP_FLAGS, .tcp_flags = 2, .tcp_mask = 2 },
	{ .fields = HY_FLOW_ESTABLISHED },
	{ .fields = HY_FLOW_ICMP_TYPE, .icmp_type = { 8, 8 } },
	{ .fields = HY_FLOW_ICMP_CODE, .icmp_code = { 0, 3 } },
	{ .fields = HY_FLOW_FRAGMENT | HY_FLOW_DST,
		.dst = 0xc6000000,
		.dst_len = 8,
		.fragments = HY_FLOW_LATER_FRAGMENT },
};

static void
no_driver_is_asked_for_fields_that_only_software_matches(void **state)
{
	static const struct hy_flow_spread one_queue = { .nb_queues = 1 };
	unsigned int refused = 0;

	RTE_SET_USED(state);
	for (unsigned int p = 0; p < FLOW_PROFILES; p++) {
		const struct hy_flow_driver *driver = hy_flow_driver_of(flow_profiles[p].driver);
		struct hy_flow_lowered lowered;
		struct hy_flow_limits limits;
		const char *reason;

		hy_flow_limits_declared(driver, &limits);
		for (unsigned int i = 0; i < RTE_DIM(soft); i++, refused++) {
			if (hy_flow_lower(driver, &limits, &soft[i], 1, 0, &one_queue, &lowered,
				    &reason) == 0)
				fail_msg("%s takes fields 0x%x", driver->driver, soft[i].fields);
			assert_string_equal(reason, "the driver does not match one of its fields");
		}
	}
	assert_int_equal(refused, FLOW_PROFILES * RTE_DIM(soft));
}

static void
send_from(uint8_t source, uint8_t *frame, uint32_t len)
{
	static struct rte_mbuf *packets[32];

	memcpy(frame + 6, (const uint8_t[]){ 2, 0, 0, 0, 0, source }, 6);
	flow_send(packets, flow_hold(packets, frame, len, 32));
}

/* The rule in hardware marks the packet; the one for the MAC address before it is software's. */
static void
mark_gives_way_to_an_earlier_rule_of_such_a_field(void **state)
{
	uint8_t frame[FRAME_MAX];

	for (unsigned int p = 0; p < FLOW_PROFILES; p++) {
		uint32_t len;

		flow_open(&flow_profiles[p], (struct hy_flow_sim_params){ 0 },
			(struct hy_offload_params){ .sample_every = 1000000 });
		for (uint32_t i = 0; i < RTE_DIM(soft); i++)
			assert_int_equal(hy_policy_add(R->policy,
						 &(struct hy_flow_rule){ .id = SOFT + i,
							 .class_id = (uint16_t)(SOFT + i),
							 .match = soft[i] }),
				0);
		flow_exact_rules(1, 1);
		flow_settle();
		assert_int_equal(flow_stats().hw_rules, 1);
		assert_int_equal(flow_stats().sw_rules, RTE_DIM(soft));
		for (uint32_t i = 0; i < RTE_DIM(soft); i++)
			assert_string_equal(hy_offload_reason(R->offload, SOFT + i),
				"the driver does not match one of its fields");
		len = flow_exact_frame(frame, 1);
		send_from(1, frame, len);
		assert_int_equal(R->hits[SOFT], 32);
		send_from(9, frame, len);
		assert_int_equal(R->hits[2], 32);
		assert_int_equal(flow_stats().marked, 64);
		assert_int_equal(flow_stats().residue, 64);
		assert_int_equal(R->compared, 64);
		assert_int_equal(R->wrong, 0);
		assert_int_equal(flow_teardown(state), 0);
	}
}

static const struct CMUnitTest offload_fields_tests[] = {
	FLOW_TEST(no_driver_is_asked_for_fields_that_only_software_matches),
	FLOW_TEST(mark_gives_way_to_an_earlier_rule_of_such_a_field),
};

UNIT_SUITE(offload_fields_tests)
