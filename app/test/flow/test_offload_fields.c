/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules that no driver is asked for stay in software, and precede marks there; others name the field. */

#include <netinet/in.h>
#include <string.h>

#include <hy_flow.h>

#include "flow_fixture.h"

#define SOFT 100 /* rules of such fields have ids from here on */

#define FRAGMENTS "no driver is asked for fragments"

static const struct {
	struct hy_flow_match match;
	const char *reason;
} soft[] = {
	{ { .fields = HY_FLOW_FRAGMENT | HY_FLOW_SRC_MAC,
		  .fragments = HY_FLOW_NO_FRAGMENT,
		  .src_mac = 0x020000000001,
		  .src_mac_mask = 0xffffffffffff },
		FRAGMENTS },
	{ { .fields = HY_FLOW_FRAGMENT | HY_FLOW_DST,
		  .dst = 0xc6000000,
		  .dst_len = 8,
		  .fragments = HY_FLOW_LATER_FRAGMENT },
		FRAGMENTS },
	{ { .fields = HY_FLOW_IPV6 | HY_FLOW_FRAGMENT, .fragments = HY_FLOW_UNKNOWN_FRAGMENT },
		FRAGMENTS },
	{ { .fields = HY_FLOW_ESTABLISHED }, "no driver is asked for ACK or RST" },
};

#define SYN .tcp_flags = 2, .tcp_mask = 2
#define MAC(mask) .src_mac = 0x020000000000, .src_mac_mask = (mask)
#define TO6(length) .dst6 = { 0x20010db8 }, .dst_len = (length)

/* Which drivers take a rule, and what the others say. */
static const struct {
	struct hy_flow_match match;
	const char *drivers, *reason;
} fields[] = {
	{ { .fields = HY_FLOW_SRC_MAC, MAC(0xffffffffffff) }, "mlx5_pci net_cn10k",
		"the driver does not match source MAC addresses" },
	{ { .fields = HY_FLOW_SRC_MAC, MAC(0xffffff000000) }, "mlx5_pci net_cn10k",
		"the driver does not match source MAC addresses" },
	{ { .fields = HY_FLOW_TCP_FLAGS, SYN }, "mlx5_pci net_cn10k",
		"the driver does not match TCP flags" },
	{ { .fields = HY_FLOW_ICMP_TYPE, .icmp_type = { 8, 8 } }, "mlx5_pci net_cn10k",
		"the driver does not match ICMP types" },
	{ { .fields = HY_FLOW_ICMP_TYPE | HY_FLOW_IPV6, .icmp_type = { 8, 8 } }, "mlx5_pci",
		"the driver does not match ICMP types" },
	{ { .fields = HY_FLOW_ICMP_CODE, .icmp_code = { 0, 3 } }, "",
		"a range of ICMP types or codes" },
	{ { .fields = HY_FLOW_IPV6 | HY_FLOW_DST, TO6(32) }, "mlx5_pci net_cn10k",
		"the driver matches whole addresses only" },
	{ { .fields = HY_FLOW_IPV6 | HY_FLOW_DST | HY_FLOW_PROTO, TO6(128), .proto = IPPROTO_TCP },
		"mlx5_pci net_cn10k net_ice", "the driver does not match IPv6" },
	{ { .fields = HY_FLOW_IPV6 | HY_FLOW_PROTO, .proto = IPPROTO_FRAGMENT }, "",
		"the number of an extension header as the protocol" },
	{ { .fields = HY_FLOW_IPV6 | HY_FLOW_DST, .dst_len = 8 }, "mlx5_pci",
		"zeros, which the NIC finds where IPv6 has extension headers" },
	{ { .fields = HY_FLOW_IPV6 | HY_FLOW_DSCP }, "mlx5_pci",
		"zeros, which the NIC finds where IPv6 has extension headers" },
};

static const char *
refusal_of(const char *name, const struct hy_flow_match *match)
{
	static const struct hy_flow_spread one_queue = { .nb_queues = 1 };
	const struct hy_flow_driver *driver = hy_flow_driver_of(name);
	struct hy_flow_lowered lowered;
	struct hy_flow_limits limits;
	const char *reason;

	hy_flow_limits_declared(driver, &limits);
	if (hy_flow_lower(driver, &limits, match, 1, 0, &one_queue, &lowered, &reason) == 0)
		assert_null(reason);
	else
		assert_non_null(reason);
	return reason;
}

static void
what_a_driver_does_not_match_is_named(void **state)
{
	unsigned int refused = 0, taken = 0, said = 0;

	RTE_SET_USED(state);
	for (unsigned int p = 0; p < FLOW_PROFILES; p++) {
		const char *const name = flow_profiles[p].driver;

		for (unsigned int i = 0; i < RTE_DIM(soft); i++, refused++)
			assert_string_equal(refusal_of(name, &soft[i].match), soft[i].reason);
		for (unsigned int i = 0; i < RTE_DIM(fields); i++) {
			const char *reason = refusal_of(name, &fields[i].match);

			if ((reason == NULL) != (strstr(fields[i].drivers, name) != NULL))
				fail_msg("%s, rule %u: %s", name, i, reason);
			taken += reason == NULL;
			said += reason != NULL && strcmp(reason, fields[i].reason) == 0;
		}
	}
	assert_int_equal(refused, FLOW_PROFILES * RTE_DIM(soft));
	print_message("%u taken, %u refused as said\n", taken, said);
	assert_true(taken > 10 && said > 10);
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
							 .match = soft[i].match }),
				0);
		flow_exact_rules(1, 1);
		flow_settle();
		assert_int_equal(flow_stats().hw_rules, 1);
		assert_int_equal(flow_stats().sw_rules, RTE_DIM(soft));
		for (uint32_t i = 0; i < RTE_DIM(soft); i++)
			assert_string_equal(hy_offload_reason(R->offload, SOFT + i),
				soft[i].reason);
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
	FLOW_TEST(what_a_driver_does_not_match_is_named),
	FLOW_TEST(mark_gives_way_to_an_earlier_rule_of_such_a_field),
};

UNIT_SUITE(offload_fields_tests)
