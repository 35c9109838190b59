/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets as objects of a graph. */

#include <stdio.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>

#include <hy_capture.h>
#include <hy_mbuf.h>
#include <hy_trace.h>

#include "drivers/nodes/generic/ethdev/ethdev_rx.h"
#include "mbuf_flow.h"

static void
mbuf_release(void **objs, unsigned int n)
{
	rte_pktmbuf_free_bulk((struct rte_mbuf **)objs, n);
}

/* What a trace takes of a packet. */
struct mbuf_snapshot {
	uint32_t len; /* of the frame */
	uint8_t frame[HY_TRACE_DATA - sizeof(uint32_t)];
};

static size_t
mbuf_snapshot(const void *obj, void *data, size_t size __rte_unused)
{
	const struct rte_mbuf *m = obj;
	struct mbuf_snapshot *shot = data;
	const uint32_t n = RTE_MIN(m->pkt_len, (uint32_t)sizeof(shot->frame));
	const void *frame = rte_pktmbuf_read(m, 0, n, shot->frame);

	shot->len = m->pkt_len;
	if (frame != shot->frame) /* else it was in pieces */
		memcpy(shot->frame, frame, n);
	return offsetof(struct mbuf_snapshot, frame) + n;
}

static int
mbuf_format(const struct hy_trace_record *record, char *text, size_t size)
{
	char mac[RTE_ETHER_ADDR_FMT_SIZE];
	struct mbuf_snapshot shot = { 0 };
	struct rte_ether_hdr eth;
	struct rte_ipv4_hdr ip;
	const uint8_t *src = (const uint8_t *)&ip.src_addr, *dst = (const uint8_t *)&ip.dst_addr;

	memcpy(&shot, record->data, record->size);
	if (shot.len < sizeof(eth))
		return snprintf(text, size, "%u B", shot.len);
	memcpy(&eth, shot.frame, sizeof(eth));
	memcpy(&ip, shot.frame + sizeof(eth), sizeof(ip));
	rte_ether_format_addr(mac, sizeof(mac), &eth.dst_addr);
	if (eth.ether_type != RTE_BE16(RTE_ETHER_TYPE_IPV4) || shot.len < sizeof(eth) + sizeof(ip))
		return snprintf(text, size, "%u B to %s, type 0x%04x", shot.len, mac,
			rte_be_to_cpu_16(eth.ether_type));
	return snprintf(text, size, "%u B to %s, %u.%u.%u.%u > %u.%u.%u.%u proto %u ttl %u",
		shot.len, mac, src[0], src[1], src[2], src[3], dst[0], dst[1], dst[2], dst[3],
		ip.next_proto_id, ip.time_to_live);
}

static size_t
mbuf_copy(const void *obj, struct hy_capture_record *record, size_t size)
{
	const struct rte_mbuf *m = obj;
	const uint32_t n = RTE_MIN(m->pkt_len, (uint32_t)size);
	const void *frame = rte_pktmbuf_read(m, 0, n, record->data);

	record->length = m->pkt_len;
	record->origin = m->port;
	if (frame != record->data) /* else it was in pieces */
		memcpy(record->data, frame, n);
	return n;
}

const struct hy_object_ops hy_mbuf_ops = {
	.release = mbuf_release,
	.arm = ethdev_arm,
	.wait = ethdev_wait,
	.snapshot = mbuf_snapshot,
	.format = mbuf_format,
	.copy = mbuf_copy,
	.flow_hash = mbuf_flow_hash,
};

void
hy_mbuf_ports(void *const objs[], uint32_t index[], uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		index[i] = ((const struct rte_mbuf *)objs[i])->port;
}

void
hy_mbuf_poke(struct rte_mbuf *m, const uint8_t *bytes, uint32_t n)
{
	for (; n > 0; m = m->next) {
		const uint32_t here = RTE_MIN(n, (uint32_t)m->data_len);

		memcpy(rte_pktmbuf_mtod(m, void *), bytes, here);
		bytes += here;
		n -= here;
	}
}
