/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Graphs whose objects are packets: struct rte_mbuf.
 */
#pragma once

#include <rte_mbuf.h>

#include <hy_arc.h>

HY_API_BEGIN

/**
 * Object operations of a graph of packets, for struct hy_graph_params.ops. The graph's worker can
 * sleep (hy_idle.h) if every source is an ethdev_rx or wakes the worker itself (HY_NODE_WAKES), and if
 * the port of every ethdev_rx could interrupt when the graph was created: it was configured with
 * intr_conf.rxq and started, and its driver supports receive interrupts. The sleep is in milliseconds,
 * rounded up, and a signal to the thread ends it too.
 *
 * A trace shows the length of a packet and the addresses in its Ethernet and IPv4 headers. A capture
 * stores its frame, with the receiving port as its origin.
 *
 * The flow hash of a packet is the NIC's, if the NIC provided one (RTE_MBUF_F_RX_RSS_HASH). Else it
 * covers the IPv4 or IPv6 addresses, the protocol, and the ports of TCP, UDP and SCTP. The parser
 * skips up to two VLAN tags and no IPv6 extension headers; fragments have no ports. For other frames
 * the hash covers the MAC addresses.
 */
extern const struct hy_object_ops hy_mbuf_ops;

/** Indexes for an arc (hy_arc.h): the port on which each packet was received. */
void hy_mbuf_ports(void *const objs[], uint32_t index[], uint16_t n);

/**
 * Gives contiguous access to the first bytes of a frame, even if they span segments.
 *
 * @param want Bytes wanted.
 * @param bounce Room for @p want bytes, written only if they span segments.
 * @return At least min(want, packet length) bytes, in the packet itself if they are contiguous.
 */
static inline const uint8_t *
hy_mbuf_peek(const struct rte_mbuf *m, uint32_t want, uint8_t *bounce)
{
	if (likely(m->nb_segs == 1 || m->data_len >= want))
		return rte_pktmbuf_mtod(m, const uint8_t *);
	return (const uint8_t *)rte_pktmbuf_read(m, 0, RTE_MIN(want, m->pkt_len), bounce);
}

/**
 * Writes bytes at the start of a frame, across its segments.
 *
 * @param n At most the packet's length.
 */
void hy_mbuf_poke(struct rte_mbuf *m, const uint8_t *bytes, uint32_t n);

HY_API_END
