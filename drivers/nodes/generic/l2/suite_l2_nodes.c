/* SPDX-License-Identifier: BSD-3-Clause */
/* Conformance of l2_input, l2_learn, l2_lookup and l2_output: frames of all kinds on a small bridge. */

#include <string.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_random.h>

#include "suite_l2.h"

#define TAG_AT (2 * RTE_ETHER_ADDR_LEN)

static void
tag_draw(struct hy_suite_packet *packet)
{
	static const uint16_t types[] = { RTE_ETHER_TYPE_VLAN, RTE_ETHER_TYPE_QINQ,
		RTE_ETHER_TYPE_VLAN ^ 0x0001, RTE_ETHER_TYPE_VLAN ^ 0x0100, RTE_ETHER_TYPE_IPV4 };
	static const uint16_t odd[] = { 0, 4095, 3, 2047 };
	const uint16_t vid = rte_rand_max(4) == 0 ? odd[rte_rand_max(RTE_DIM(odd))]
						  : suite_l2_vids[rte_rand_max(SUITE_L2_VLANS)];
	const rte_be16_t words[] = {
		rte_cpu_to_be_16(rte_rand_max(3) == 0 ? types[rte_rand_max(RTE_DIM(types))]
						      : (uint16_t)RTE_ETHER_TYPE_VLAN),
		rte_cpu_to_be_16((uint16_t)(rte_rand_max(16) << 12) | vid),
	};

	memcpy(packet->bytes + TAG_AT, words, sizeof(words));
}

/* Reserved destinations and those next to them; sources of groups, and 0. */
static void
addresses_draw(struct hy_suite_packet *packet)
{
	static const uint8_t reserved[] = { 0x01, 0x80, 0xc2, 0x00, 0x00 };

	suite_l2_address(packet, 0);
	suite_l2_address(packet, RTE_ETHER_ADDR_LEN);
	if (rte_rand_max(16) == 0) {
		memcpy(packet->bytes, reserved, sizeof(reserved));
		packet->bytes[sizeof(reserved)] = (uint8_t)rte_rand_max(0x12);
		packet->bytes[rte_rand_max(6)] ^= (uint8_t)(rte_rand_max(2) << rte_rand_max(8));
	}
	if (rte_rand_max(16) == 0)
		packet->bytes[RTE_ETHER_ADDR_LEN] |= RTE_ETHER_GROUP_ADDR;
	if (rte_rand_max(32) == 0)
		memset(packet->bytes + RTE_ETHER_ADDR_LEN, 0, RTE_ETHER_ADDR_LEN);
}

void
suite_l2_shape_input(void *state, enum hy_suite_kind kind, struct hy_suite_packet *packet)
{
	RTE_SET_USED(state);
	if (kind == HY_SUITE_TYPICAL) {
		packet->port = 0;
		suite_l2_address(packet, 0);
		suite_l2_address(packet, RTE_ETHER_ADDR_LEN);
		return;
	}
	packet->port = (uint16_t)rte_rand_max(SUITE_L2_PORTS + 1);
	if (rte_rand_max(4) != 0)
		addresses_draw(packet);
	if (rte_rand_max(4) != 0)
		tag_draw(packet);
	if (rte_rand_max(16) == 0)
		packet->len = (uint32_t)rte_rand_max(RTE_ETHER_HDR_LEN + 6);
	if (rte_rand_max(64) == 0)
		packet->port = RTE_MAX_ETHPORTS;
}

HY_SUITE(l2_input, .setup = suite_l2_setup, .teardown = suite_l2_teardown,
	.configure = suite_l2_configure, .shape = suite_l2_shape_input);

static void
shape_learn(void *state, enum hy_suite_kind kind, struct hy_suite_packet *packet)
{
	RTE_SET_USED(state);
	packet->lanes[0] = suite_l2_tag(packet);
	suite_l2_address(packet, RTE_ETHER_ADDR_LEN);
	packet->bytes[RTE_ETHER_ADDR_LEN] &= (uint8_t)~RTE_ETHER_GROUP_ADDR;
	if (rte_rand_max(8) != 0)
		packet->lanes[0] |= HY_L2_LANE_LEARN;
	if (kind != HY_SUITE_TYPICAL && rte_rand_max(32) == 0)
		packet->lanes[0] |= HY_L2_LANE_ONLY;
}

HY_SUITE(l2_learn, .setup = suite_l2_setup, .teardown = suite_l2_teardown,
	.configure = suite_l2_configure, .shape = shape_learn, .change = suite_l2_change,
	.agree = suite_l2_agree, .unreached = suite_l2_unreached);

static void
shape_lookup(void *state, enum hy_suite_kind kind, struct hy_suite_packet *packet)
{
	RTE_SET_USED(state);
	packet->lanes[0] = suite_l2_tag(packet);
	suite_l2_address(packet, 0);
	if (kind != HY_SUITE_TYPICAL && rte_rand_max(8) == 0)
		packet->bytes[0] |= RTE_ETHER_GROUP_ADDR;
}

HY_SUITE(l2_lookup, .setup = suite_l2_setup, .teardown = suite_l2_teardown,
	.configure = suite_l2_configure, .shape = shape_lookup, .change = suite_l2_change);

static void
shape_output(void *state, enum hy_suite_kind kind, struct hy_suite_packet *packet)
{
	RTE_SET_USED(state);
	packet->lanes[0] = suite_l2_tag(packet) |
		(uint32_t)rte_rand_max(kind == HY_SUITE_TYPICAL ? 4 : SUITE_L2_PORTS + 1)
			<< HY_L2_LANE_OUT;
	if (kind != HY_SUITE_TYPICAL && rte_rand_max(8) == 0)
		packet->lanes[0] |= HY_L2_LANE_SHARED;
	packet->tight = kind != HY_SUITE_TYPICAL && rte_rand_max(16) == 0;
}

HY_SUITE(l2_output, .nb_edges = SUITE_L2_EDGES, .setup = suite_l2_setup,
	.teardown = suite_l2_teardown, .configure = suite_l2_configure, .shape = shape_output);
