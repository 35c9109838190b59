/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Keys of a flow cache: the fields of a packet by which flows are told apart, as 64-bit words, so that
 * a mask is a key too, and a comparison is one of the words in which a mask has bits.
 *
 * Any thread may call the functions, which keep no state but what they are given.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_byteorder.h>
#include <rte_config.h>

#include <hy_api.h>

HY_API_BEGIN

struct rte_mbuf;

#define HY_FLOWS_WORDS 14 /**< 64-bit words of a key. */

/**
 * Most bytes of a frame that a key depends on: Ethernet, two tags, IPv6 with extensions and UDP, VXLAN,
 * and inside it the same up to TCP's flags.
 */
#define HY_FLOWS_HEADERS (2 * (14 + 2 * 4 + 40 + 128) + 8 + 8 + 14)

/** Bits of hy_flows_key.kind. */
enum hy_flows_kind {
	HY_FLOWS_FIRST_FRAGMENT = 1,   /**< Of an IP packet, with offset 0. Has no ports. */
	HY_FLOWS_LATER_FRAGMENT = 2,   /**< With another offset. */
	HY_FLOWS_UNKNOWN_FRAGMENT = 4, /**< IPv6 whose extension headers were not all walked. */
	HY_FLOWS_TRUNCATED = 8,  /**< A header that the frame announces is cut or malformed. */
	HY_FLOWS_TUNNELLED = 16, /**< The frame came inside VXLAN. */
	HY_FLOWS_IP = 32,        /**< There is an IP header, sound and whole. */
};

#define HY_FLOWS_TAGGED RTE_BE16(0x1000) /**< Bit of hy_flows_key.vlan: there is a tag. */

/**
 * The fields of a packet; missing ones are 0. Addresses, types and ports are in network byte order, as
 * in the frame. Headers are read, and called truncated, as by hy_flow_key() (hy_policy_view.h), which
 * names the lengths. Of ARP, only a whole one of IPv4 over Ethernet (RFC 826) is read; its operation is 0
 * if 8 bits do not hold it.
 *
 * Rules about IP say so by @ref hy_flows_key.type or by HY_FLOWS_IP, since ARP has proto, src and dst, too.
 *
 * As a mask: the bits of each field that are looked at.
 */
struct hy_flows_key {
	union {
		uint64_t words[HY_FLOWS_WORDS]; /**< The same, in memory order. */
		struct {
			uint16_t port;   /**< DPDK's port id, in host byte order. */
			rte_be16_t type; /**< Ether type, after up to two tags. */
			uint8_t proto;   /**< Of IPv4; behind IPv6's extensions; of ARP, op. */
			uint8_t kind;    /**< Bits of enum hy_flows_kind. */
			uint8_t tos;     /**< DSCP in the upper 6 bits, ECN in the others. */
			uint8_t ttl;     /**< Time to live, or hop limit. */

			rte_be16_t sport;  /**< TCP, UDP, SCTP; type of ICMP and ICMPv6. */
			rte_be16_t dport;  /**< TCP, UDP, SCTP; code of ICMP and ICMPv6. */
			uint8_t tcp_flags; /**< FIN is the lowest bit. */
			uint8_t vni[3];    /**< VXLAN network identifier, of tunnelled frames. */

			rte_be32_t src; /**< IPv4, or the sender's in ARP. */
			rte_be32_t dst; /**< IPv4, or the target's in ARP. */

			uint8_t dst_mac[6]; /**< Ethernet destination. */
			/** Outer tag: priority, VLAN id, and HY_FLOWS_TAGGED instead of the DEI bit. */
			rte_be16_t vlan;

			uint8_t src_mac[6]; /**< Ethernet source. */
			rte_be16_t vlan2;   /**< Inner tag, likewise. */

			rte_be32_t tunnel_src; /**< IPv4 outside VXLAN, of tunnelled frames. */
			rte_be32_t tunnel_dst; /**< Likewise. */

			uint8_t src6[16]; /**< IPv6. */
			uint8_t dst6[16]; /**< IPv6. */

			uint8_t tunnel_src6[16]; /**< IPv6 outside VXLAN, of tunnelled frames. */
			uint8_t tunnel_dst6[16]; /**< Likewise. */
		};
	};
};

/** What of a frame is read: bits. @ref hy_flows_key.port and the ether type always are. */
enum hy_flows_parse_bit {
	HY_FLOWS_PARSE_MAC = 1, /**< MAC addresses and tags. */
	HY_FLOWS_PARSE_IP = 2,  /**< The IP header, and whether it is a fragment; or ARP. */
	/** Ports, ICMP, TCP's flags; and only with it are truncated headers behind IP noticed. */
	HY_FLOWS_PARSE_L4 = 4,
	/**
	 * VXLAN (RFC 7348) in UDP to port 4789, with its flag I, in a whole packet of IPv4 or IPv6: the
	 * key is that of the frame inside, with the tunnel's fields. One level only. Fields outside the
	 * tunnel that a key has no place for are lost. Read whether asked for or not: a program that
	 * ends tunnels sets it, others do not.
	 */
	HY_FLOWS_PARSE_TUNNEL = 8,
};

/** All of a frame, and not into tunnels. */
#define HY_FLOWS_PARSE_ALL (HY_FLOWS_PARSE_MAC | HY_FLOWS_PARSE_IP | HY_FLOWS_PARSE_L4)

/**
 * @return Bits of enum hy_flows_parse_bit, without HY_FLOWS_PARSE_TUNNEL, with which a key has the same
 * bits as with HY_FLOWS_PARSE_ALL wherever the mask has some.
 */
uint32_t hy_flows_parse_of(const struct hy_flows_key *mask);

/**
 * Makes the key of a frame.
 *
 * @param frame Of any alignment; min(len, HY_FLOWS_HEADERS) bytes in one piece.
 * @param len Of the whole frame, in bytes.
 * @param parse Bits of enum hy_flows_parse_bit.
 */
void hy_flows_key(const uint8_t *frame, uint32_t len, uint16_t in_port, uint32_t parse,
	struct hy_flows_key *key);

/** Makes the keys of a burst of frames, each with the port that its mbuf names. */
void hy_flows_keys(struct rte_mbuf *const mbufs[], uint32_t parse, struct hy_flows_key key[],
	uint32_t n);

/** @return The words in which a mask has bits, as bits: bit i for words[i]. */
static inline uint32_t
hy_flows_words(const struct hy_flows_key *mask)
{
	uint32_t words = 0;

	for (uint32_t i = 0; i < HY_FLOWS_WORDS; i++)
		words |= (uint32_t)(mask->words[i] != 0) << i;
	return words;
}

/** @return Whether two keys are the same where a mask has bits. */
static inline bool
hy_flows_equal(const struct hy_flows_key *a, const struct hy_flows_key *b,
	const struct hy_flows_key *mask)
{
	uint64_t differ = 0;

	for (uint32_t i = 0; i < HY_FLOWS_WORDS; i++)
		differ |= (a->words[i] ^ b->words[i]) & mask->words[i];
	return differ == 0;
}

HY_API_END
