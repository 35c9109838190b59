/* SPDX-License-Identifier: BSD-3-Clause */
/* Conformance of vlan_input, vlan_pop and vlan_push: tags of all kinds, VIDs at their limits. */

#include <string.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_random.h>

#include <hy_conform.h>
#include <hy_pkt_cls.h>
#include <hy_vlan.h>

#define ADDRESSES (2 * RTE_ETHER_ADDR_LEN)
#define HEADERS (RTE_ETHER_HDR_LEN + HY_VLAN_TAG)

/* VLAN i has edge i + 1. */
static const uint16_t vids[] = { 1, 2, 2048, HY_VLAN_VID_MAX };

static uint16_t
vid_random(void)
{
	static const uint16_t limits[] = { 0, 1, 2, 2047, 2048, 2049, HY_VLAN_VID_MAX - 1,
		HY_VLAN_VID_MAX, HY_VLAN_VID_MAX + 1 };

	return rte_rand_max(4) == 0 ? (uint16_t)rte_rand_max(4096)
				    : limits[rte_rand_max(RTE_DIM(limits))];
}

static uint16_t
type_random(void)
{
	static const uint16_t types[] = { RTE_ETHER_TYPE_VLAN, RTE_ETHER_TYPE_QINQ,
		HY_PKT_CLS_ETHER_TYPE_QINQ_OLD, RTE_ETHER_TYPE_IPV4, RTE_ETHER_TYPE_IPV6,
		RTE_ETHER_TYPE_VLAN ^ 0x0001, RTE_ETHER_TYPE_VLAN ^ 0x0100 };

	return types[rte_rand_max(RTE_DIM(types))];
}

/* Three words behind the addresses: a type, a TCI, and what follows them. */
static void
tag_write(struct hy_suite_packet *packet, uint16_t type, uint16_t tci, uint16_t inner)
{
	const rte_be16_t words[] = { rte_cpu_to_be_16(type), rte_cpu_to_be_16(tci),
		rte_cpu_to_be_16(inner) };

	memcpy(packet->bytes + ADDRESSES, words, sizeof(words));
}

static void
shape_input(void *state, enum hy_suite_kind kind, struct hy_suite_packet *packet)
{
	const uint16_t priority = (uint16_t)(rte_rand_max(16) << 12);

	RTE_SET_USED(state);
	if (kind == HY_SUITE_TYPICAL)
		tag_write(packet, RTE_ETHER_TYPE_VLAN, vids[rte_rand_max(RTE_DIM(vids))],
			RTE_ETHER_TYPE_IPV4);
	else if (packet->len >= HEADERS && rte_rand_max(8) != 0)
		tag_write(packet,
			rte_rand_max(4) == 0 ? type_random() : (uint16_t)RTE_ETHER_TYPE_VLAN,
			priority | vid_random(),
			rte_rand_max(4) == 0 ? type_random() : (uint16_t)RTE_ETHER_TYPE_IPV4);
	else if (packet->len >= HEADERS - 3 && rte_rand_max(2) == 0) /* too short, mostly */
		packet->len = HEADERS - 1 + (uint32_t)rte_rand_max(2),
		tag_write(packet, RTE_ETHER_TYPE_VLAN, vid_random(), RTE_ETHER_TYPE_IPV4);
}

static int
configure_input(void *state, hy_node_id id)
{
	struct hy_vlan_input_config config = { 0 };

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < RTE_DIM(vids); i++)
		config.edge[vids[i]] = (uint16_t)(i + 1);
	return hy_node_config(id, &config, sizeof(config));
}

HY_SUITE(vlan_input, .nb_edges = RTE_DIM(vids), .configure = configure_input, .shape = shape_input);

/* Any frame with a tag, as short as one can be. */
static void
shape_pop(void *state, enum hy_suite_kind kind, struct hy_suite_packet *packet)
{
	RTE_SET_USED(state);
	if (packet->len < HEADERS || (kind != HY_SUITE_TYPICAL && rte_rand_max(8) == 0))
		packet->len = HEADERS + (uint32_t)rte_rand_max(3);
	tag_write(packet, RTE_ETHER_TYPE_VLAN, (uint16_t)rte_rand(), RTE_ETHER_TYPE_IPV4);
}

HY_SUITE(vlan_pop, .shape = shape_pop);

/* Any frame that can have been routed, in buffers with and without room for a tag. */
static void
shape_push(void *state, enum hy_suite_kind kind, struct hy_suite_packet *packet)
{
	RTE_SET_USED(state);
	packet->tight = kind != HY_SUITE_TYPICAL && rte_rand_max(16) == 0;
	if (packet->len < RTE_ETHER_HDR_LEN || (kind != HY_SUITE_TYPICAL && rte_rand_max(8) == 0))
		packet->len = RTE_ETHER_HDR_LEN + (uint32_t)rte_rand_max(3);
}

static int
configure_push(void *state, hy_node_id id)
{
	static const struct hy_vlan_push_config config = { .vid = 0x0abc };

	RTE_SET_USED(state);
	return hy_node_config(id, &config, sizeof(config));
}

HY_SUITE(vlan_push, .configure = configure_push, .shape = shape_push);
