/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Graphs whose objects are packets: struct rte_mbuf.
 */
#ifndef HY_MBUF_H
#define HY_MBUF_H

#include <rte_mbuf.h>

#include <hy_arc.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/**
 * Object operations for struct hy_graph_params.ops of a graph of packets. Its worker can sleep (see
 * hy_idle.h) if all sources are ethdev_rx or wake it themselves (HY_NODE_WAKES), and all ports of
 * the former could interrupt when the graph was
 * created: configured with intr_conf.rxq, started, of a driver that has receive interrupts. It
 * counts in milliseconds, rounded up, and a signal to the thread wakes it too.
 *
 * A trace shows of a packet its length and its first bytes, in words: where Ethernet and IPv4
 * headers send it. A capture takes its frame, and as its origin the port.
 *
 * The hash of a packet's flow is the NIC's, if that gave one (RTE_MBUF_F_RX_RSS_HASH). Else it is
 * made of what Ethernet, up to two VLAN tags, and IPv4 or IPv6 without extensions say: addresses,
 * protocol, and the ports of TCP, UDP and SCTP, but for fragments, which have none. Of other frames
 * it is made of the MAC addresses.
 */
extern const struct hy_object_ops hy_mbuf_ops;

/** Indexes for an arc (hy_arc.h): the port that each packet was received on. */
void hy_mbuf_ports(void *const objs[], uint32_t index[], uint16_t n);

/**
 * The first bytes of a frame in one piece, wherever its segments end.
 *
 * @param want Bytes wanted.
 * @param bounce Room for @p want bytes, written only if they are not in one segment.
 * @return At least min(want, packet length) bytes; the packet itself where it can be.
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

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
