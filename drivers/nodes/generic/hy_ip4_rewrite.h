/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The contract of the family ip4_rewrite, for its variants: next hop to L2 header and port, and the
 * rewriting of one header that variants share.
 *
 * Edges are those that the program adds, one a port, as struct hy_ip4_rewrite_config says. The one
 * lane carries the next hop's id in; it is not written. Of a frame that goes on, the first
 * HY_IP4_REWRITE_HEADERS bytes are rewritten, which may lie in several segments: MAC addresses, TTL
 * and header checksum (RFC 1812 5.2.3, 5.3.1). What is dropped stays as it was. A frame with a TTL
 * that is spent counts as such, however long it is.
 *
 * The table is read as hy_ip4_view.h says. A variant without init, fini and ctx_size is given the
 * family's: the context is then a struct hy_ip4_rewrite_ctx.
 */
#ifndef HY_IP4_REWRITE_H
#define HY_IP4_REWRITE_H

#include <rte_byteorder.h>
#include <rte_ip.h>

#include <hy_ip4_view.h>
#include <hy_node.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** Drop reasons: "ttl_expired", "mtu_exceeded". */
enum hy_ip4_rewrite_drop { HY_IP4_REWRITE_TTL_EXPIRED, HY_IP4_REWRITE_MTU_EXCEEDED };
/** Lanes: "ip4_route". */
enum hy_ip4_rewrite_lane { HY_IP4_REWRITE_LANE_ROUTE };

/** Bytes of a frame that are read and written. */
#define HY_IP4_REWRITE_HEADERS (RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv4_hdr))

/** How a port is sent to. */
struct hy_ip4_rewrite_port {
	uint32_t max_len; /**< Longest frame that it sends, in bytes, without CRC. */
	uint16_t edge;    /**< The node's edge to it. */
};

/** Context of variants that use the family's init. */
struct hy_ip4_rewrite_ctx {
	const struct hy_ip4_view *view; /**< What the worker reads. */
	struct hy_ip4_fib *fib;         /**< The table, for fini. */
	/** By port id; of ports that the table has. They do not change while the graph exists. */
	struct hy_ip4_rewrite_port port[RTE_MAX_ETHPORTS];
};

/** The family's init, for a context that begins with struct hy_ip4_rewrite_ctx. */
int hy_ip4_rewrite_init(const struct hy_graph *graph, struct hy_node *node, const void *config);
/** The family's fini, likewise. */
void hy_ip4_rewrite_fini(const struct hy_graph *graph, struct hy_node *node);

/**
 * Forwards one header: L2 addresses, TTL - 1, checksum. Worker only.
 *
 * RFC 1624 eqn. 3 with m' = m - 0x0100 adds 0x0100 to the checksum with the carry around; a sum of
 * 0xffff is 0 in it, as the header as a whole never sums to 0.
 *
 * @param[in,out] frame HY_IP4_REWRITE_HEADERS bytes.
 * @param len Of the whole frame, in bytes.
 * @return The port's edge; or HY_DROP() of the reason, and nothing was written.
 */
static __rte_always_inline uint16_t
hy_ip4_rewrite_one(uint8_t *frame, uint32_t len, const struct hy_ip4_adjacency *adjacency,
	const struct hy_ip4_rewrite_port *port)
{
	/* TTL, protocol and checksum, as they lie in memory: the TTL lowest. */
	rte_le32_t field;
	uint64_t head, tail;
	uint32_t word;

	memcpy(&field, frame + 22, sizeof(field));
	word = rte_le_to_cpu_32(field);
	if (unlikely((word & 0xff) <= 1))
		return HY_DROP(HY_IP4_REWRITE_TTL_EXPIRED);
	if (unlikely(len > port->max_len))
		return HY_DROP(HY_IP4_REWRITE_MTU_EXCEEDED);
	memcpy(&head, &adjacency->l2, 8);
	memcpy(&tail, (const uint8_t *)&adjacency->l2 + 6, 8);
	word += 0xffff + (word >= 0xfffe0000 ? 0x10000 : 0);
	memcpy(frame, &head, 8);
	memcpy(frame + 6, &tail, 8);
	field = rte_cpu_to_le_32(word);
	memcpy(frame + 22, &field, sizeof(field));
	return port->edge;
}

/** @cond What packs have of this header: see HY_PLUGIN_NUMBERS(). */
#define HY_IP4_REWRITE_NUMBERS \
	HY_PLUGIN_SIZE(struct hy_ip4_rewrite_ctx), HY_PLUGIN_SIZE(struct hy_ip4_rewrite_port), \
		HY_PLUGIN_OFFSET(hy_ip4_rewrite_ctx, view), \
		HY_PLUGIN_OFFSET(hy_ip4_rewrite_ctx, port), \
		HY_PLUGIN_OFFSET(hy_ip4_rewrite_port, edge)

HY_PLUGIN_NUMBERS(ip4_rewrite, HY_IP4_REWRITE_NUMBERS);
/** @endcond */

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
