/* SPDX-License-Identifier: BSD-3-Clause */
/* The traffic of five ports: frames of all kinds, each with its number in the last four bytes. */

#include <netinet/in.h>
#include <string.h>

#include "five_rig.h"

#define ROOM 192
#define SEAL sizeof(uint32_t)

static uint8_t frames[FRAMES][ROOM];
static uint16_t lengths[FRAMES];

/* An end of a range, or just beyond it. */
static uint16_t
corner(const uint16_t range[2], uint64_t *seed)
{
	const uint16_t corners[] = { range[0], range[1], (uint16_t)(range[0] - 1),
		(uint16_t)(range[1] + 1) };

	return corners[rnd(seed) % RTE_DIM(corners)];
}

/* The first or last address of a prefix, or the one beyond. */
static uint32_t
edge_of(uint32_t prefix, uint8_t len, uint64_t *seed)
{
	const uint32_t last = prefix | (len == 32 ? 0 : UINT32_MAX >> len);
	const uint32_t edges[] = { prefix, last, last, prefix - 1, last + 1, prefix };

	return len == 0 ? rnd(seed) : edges[rnd(seed) % RTE_DIM(edges)];
}

/* A packet that a rule asks for, or that misses it by one. */
static uint32_t
corner_frame(uint8_t *frame, const struct hy_flow_match *m, uint64_t *seed)
{
	const uint8_t proto = (m->fields & HY_FLOW_PROTO) != 0 ? m->proto : IPPROTO_UDP;
	const struct rte_ipv4_hdr ip = { .version_ihl = 0x45,
		.type_of_service = (uint8_t)(m->dscp << 2),
		.time_to_live = 64,
		.next_proto_id = proto,
		.total_length = RTE_BE16(60),
		.src_addr = rte_cpu_to_be_32(edge_of(m->src, m->src_len, seed)),
		.dst_addr = rte_cpu_to_be_32(edge_of(m->dst, m->dst_len, seed)) };
	const bool tunnel = (m->fields & HY_FLOW_TUNNEL) != 0;
	const uint16_t vxlan[2] = { HY_FLOW_VXLAN_PORT, HY_FLOW_VXLAN_PORT };
	const rte_be16_t tag[] = { RTE_BE16(RTE_ETHER_TYPE_VLAN), rte_cpu_to_be_16(m->vlan) };
	const rte_be16_t type = rte_cpu_to_be_16(m->ether_type != 0 ? m->ether_type
								    : RTE_ETHER_TYPE_IPV4);
	const rte_be16_t ports[] = { rte_cpu_to_be_16(corner(m->sport, seed)),
		rte_cpu_to_be_16(corner(tunnel ? vxlan : m->dport, seed)) };
	const rte_be32_t vx[] = { RTE_BE32(0x08000000), rte_cpu_to_be_32(m->tunnel << 8) };
	uint32_t at = 12;

	memset(frame, 0, ROOM);
	if ((m->fields & HY_FLOW_VLAN) != 0) {
		memcpy(frame + at, tag, sizeof(tag));
		at += sizeof(tag);
	}
	memcpy(frame + at, &type, sizeof(type));
	at += sizeof(type);
	memcpy(frame + at, &ip, sizeof(ip));
	memcpy(frame + at + sizeof(ip), ports, sizeof(ports));
	memcpy(frame + at + sizeof(ip) + 8, vx, sizeof(vx));
	return at + 60;
}

/* A frame that was cut off, or has some wrong bits in its headers. */
static uint32_t
malformed_frame(uint8_t *frame, uint64_t *seed)
{
	const uint32_t len = flow_frame(frame, seed);

	if (rnd(seed) % 2 == 0)
		return rnd(seed) % len;
	for (uint32_t bits = 1 + rnd(seed) % 4; bits > 0; bits--)
		frame[12 + rnd(seed) % 46] ^= (uint8_t)(1 << rnd(seed) % 8);
	return len;
}

static uint32_t
frame_make(uint8_t *frame, uint64_t *seed)
{
	const struct hy_policy_view *view = hy_policy_view(F.policy);

	switch (rnd(seed) % 8) {
	case 0:
		return malformed_frame(frame, seed);
	case 1:
		for (uint32_t i = 0; i < 64; i++)
			frame[i] = (uint8_t)rnd(seed);
		return 14 + rnd(seed) % 50;
	case 2:
	case 3:
	case 4:
		return corner_frame(frame, &view->rules[rnd(seed) % view->nb_rules].rule.match,
			seed);
	default:
		return flow_frame(frame, seed);
	}
}

void
five_frames_make(void)
{
	for (uint32_t i = 0; i < FRAMES; i++) {
		const uint32_t len = frame_make(frames[i], &F.seed);

		assert_true(len + SEAL <= ROOM);
		memcpy(&frames[i][len], &i, SEAL);
		lengths[i] = (uint16_t)(len + SEAL);
	}
}

void
five_frame_get(uint32_t i, struct simnic_frame *frame)
{
	frame->data = frames[i];
	frame->len = lengths[i];
}
