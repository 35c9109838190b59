/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames of the flows benchmark: 64 bytes of UDP over IPv4, or 128 with them inside VXLAN. */

#include <stdlib.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_udp.h>
#include <rte_vxlan.h>

#include "flows.h"

#define PLAIN_LEN 64
#define VXLAN_LEN 128
#define NEW_MEGAFLOWS (1u << 24) /* when each packet has its own */

struct headers {
	struct rte_ether_hdr ether;
	struct rte_ipv4_hdr ip;
	struct rte_udp_hdr udp;
} __attribute__((packed, aligned(2)));

struct tunnel {
	struct headers outer;
	struct rte_vxlan_hdr vxlan;
} __attribute__((packed, aligned(2)));

/* As a NIC hashes: all bits depend on all. */
static uint32_t
hash_of(uint32_t flow)
{
	const uint64_t z = (flow + UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9);

	return (uint32_t)((z ^ z >> 29) * UINT64_C(0x94d049bb133111eb) >> 32);
}

static struct headers *
inner(const struct flows_frames *frames, uint8_t *frame)
{
	return (struct headers *)(frame + (frames->of->vxlan ? sizeof(struct tunnel) : 0));
}

/* Megaflows are told by the destination, flows of one by source and port. */
static void
flow_write(const struct flows_frames *frames, uint32_t flow, uint8_t *frame)
{
	struct headers *h = inner(frames, frame);

	h->ip.dst_addr = rte_cpu_to_be_32(0x0a000000 + (flow & (frames->megaflows - 1)));
	h->ip.src_addr = rte_cpu_to_be_32(0xc0000000 + flow / frames->megaflows);
	h->udp.src_port = rte_cpu_to_be_16((uint16_t)(flow * 7));
}

static void
headers_write(struct headers *h, uint32_t length, uint16_t port)
{
	h->ether.ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	h->ip.version_ihl = RTE_IPV4_VHL_DEF;
	h->ip.total_length = rte_cpu_to_be_16((uint16_t)(length - sizeof(h->ether)));
	h->ip.time_to_live = 64;
	h->ip.next_proto_id = IPPROTO_UDP;
	h->udp.dst_port = rte_cpu_to_be_16(port);
	h->udp.dgram_len = rte_cpu_to_be_16((uint16_t)(length - sizeof(h->ether) - sizeof(h->ip)));
}

static void
frame_write(const struct flows_frames *frames, uint32_t flow, uint8_t *frame)
{
	struct tunnel *tunnel = (struct tunnel *)frame;

	if (frames->of->vxlan) {
		headers_write(&tunnel->outer, frames->length, RTE_VXLAN_DEFAULT_PORT);
		tunnel->outer.ip.src_addr = RTE_BE32(0xac100001);
		tunnel->outer.ip.dst_addr = RTE_BE32(0xac100002);
		tunnel->vxlan.vx_flags = RTE_BE32(0x08000000);
		tunnel->vxlan.vx_vni = RTE_BE32(42 << 8);
	}
	headers_write(inner(frames, frame),
		frames->length - (frames->of->vxlan ? (uint32_t)sizeof(*tunnel) : 0), 53);
	flow_write(frames, flow, frame);
}

void
flows_frames_write(const struct flows_frames *frames, uint32_t flow, struct rte_mbuf *m)
{
	const bool new = frames->drawn == NULL;
	const uint8_t *from = new ? frames->frame : frames->frame + (size_t)flow * frames->length;
	uint8_t *to = rte_pktmbuf_mtod(m, uint8_t *);

	memcpy(to, from, PLAIN_LEN);
	if (frames->of->vxlan)
		memcpy(to + PLAIN_LEN, from + PLAIN_LEN, VXLAN_LEN - PLAIN_LEN);
	if (new)
		flow_write(frames, flow, to);
	m->data_len = (uint16_t)frames->length;
	m->pkt_len = frames->length;
	m->port = 0;
	m->ol_flags = RTE_MBUF_F_RX_RSS_HASH;
	m->hash.rss = hash_of(flow);
}

/* Masks differ in bits of the TTL that are 0 in all packets. */
int
flows_frames_rules(void *arg, const struct hy_flows_key *key, struct hy_flows_flow *answer)
{
	const struct flows_frames *frames = arg;
	const uint32_t megaflow = rte_be_to_cpu_32(key->dst) & (frames->megaflows - 1);

	answer->mask.dst = UINT32_MAX;
	answer->mask.ttl = (uint8_t)(megaflow % frames->of->masks);
	answer->action = megaflow + 1;
	answer->idle = frames->megaflows == NEW_MEGAFLOWS ? 1000 : 0;
	return 0;
}

int
flows_frames_install(const struct flows_frames *frames, struct hy_flows *flows)
{
	const uint32_t parse = HY_FLOWS_PARSE_ALL | (frames->of->vxlan ? HY_FLOWS_PARSE_TUNNEL : 0);
	const uint32_t n = RTE_MIN(frames->megaflows, frames->of->flows);
	uint8_t frame[VXLAN_LEN] = { 0 };

	for (uint32_t i = 0; i < n && frames->megaflows != NEW_MEGAFLOWS; i++) {
		struct hy_flows_flow flow = { 0 };
		int rc;

		frame_write(frames, i, frame);
		hy_flows_key(frame, frames->length, 0, parse, &flow.key);
		flows_frames_rules((void *)(uintptr_t)frames, &flow.key, &flow);
		rc = hy_flows_add(flows, &flow);
		if (rc < 0)
			return bench_cannot("megaflow %u: %s", i, strerror(-rc));
	}
	return 0;
}

/* Numbers of flows, of which the nth is drawn n times less often than the first. */
static void
draw_zipf(uint32_t *drawn, uint32_t flows)
{
	double *sum = bench_alloc(flows, sizeof(*sum));

	for (uint32_t i = 0; i < flows; i++)
		sum[i] = (i == 0 ? 0 : sum[i - 1]) + 1.0 / (i + 1);
	for (uint32_t i = 0; i < FLOWS_DRAWN; i++) {
		const double wanted = sum[flows - 1] * bench_random() / ((double)UINT32_MAX + 1);
		uint32_t low = 0, high = flows - 1;

		while (low < high) {
			const uint32_t middle = (low + high) / 2;

			if (sum[middle] > wanted)
				high = middle;
			else
				low = middle + 1;
		}
		drawn[i] = low;
	}
	free(sum);
}

static void
draw(struct flows_frames *frames)
{
	const uint32_t flows = frames->of->flows;

	frames->drawn = bench_alloc(FLOWS_DRAWN, sizeof(*frames->drawn));
	frames->expected = bench_alloc(FLOWS_DRAWN / FLOWS_RUN, sizeof(*frames->expected));
	if (frames->of->draw == DRAW_ZIPF)
		draw_zipf(frames->drawn, flows);
	else
		for (uint32_t i = 0; i < FLOWS_DRAWN; i++)
			frames->drawn[i] = bench_random() % RTE_MAX(flows, 1u);
	for (uint32_t i = 0; i < FLOWS_DRAWN; i++)
		frames->expected[i / FLOWS_RUN] += flows_action_of(frames, frames->drawn[i]);
}

struct flows_frames *
flows_frames_create(const struct flows_case *of)
{
	struct flows_frames *frames = bench_alloc(1, sizeof(*frames));
	const uint32_t n = of->draw == DRAW_NEW ? 1 : of->flows;

	frames->of = of;
	frames->length = of->vxlan ? VXLAN_LEN : PLAIN_LEN;
	frames->megaflows = of->megaflows != FLOWS_ALL ? of->megaflows
		: of->draw == DRAW_NEW                 ? NEW_MEGAFLOWS
						       : rte_align32pow2(of->flows);
	frames->frame = bench_alloc(n, frames->length);
	for (uint32_t i = 0; i < n; i++)
		frame_write(frames, i, frames->frame + (size_t)i * frames->length);
	if (of->draw != DRAW_NEW)
		draw(frames);
	return frames;
}

void
flows_frames_free(struct flows_frames *frames)
{
	free(frames->drawn);
	free(frames->expected);
	free(frames->frame);
	free(frames);
}
