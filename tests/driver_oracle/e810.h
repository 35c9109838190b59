/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Flow Director of an E810, behind the fixtures of its physical and its virtual functions. A
 * profile says which words of which headers the filters of a flow type compare, and for which packet
 * types; a filter is programmed by a packet.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define E810_PROFILES 512
#define E810_PTYPES 1024
#define E810_WORDS 24

/* Numbers of headers, and of packet types that the parser here tells apart; DPDK, net/ice/base:
 * ice_protocol_type.h, enum ice_prot_id; ice_flex_type.h and ice_rxtx.c, type_table. */
enum e810_header {
	E810_ETHER_TYPE = 9, /* behind the tags */
	E810_IP4 = 32,       /* the outer one */
	E810_IP6 = 40,       /* also */
	E810_TCP = 49,       /* the inner one, if there are two */
	E810_UDP = 53,       /* also */
	E810_SCTP = 96,      /* also */
	E810_HEADERS = 256,
};
enum e810_ptype {
	E810_MAC = 1,
	E810_LLDP = 6,
	E810_ARP = 11,
	E810_IP4_FRAG = 22,
	E810_IP4_PAY = 23,
	E810_IP4_UDP = 24,
	E810_IP4_TCP = 26,
	E810_IP4_SCTP = 27,
	E810_IP4_ICMP = 28,
	E810_IP4_IP4_PAY = 30, /* IPv4 in IPv4 */
	E810_GRE_PAY = 43,     /* IPv4 and GRE, and what that has inside */
	E810_GRE_IP4_FRAG = 44,
	E810_GRE_IP4_PAY = 45,
	E810_GRE_IP4_UDP = 46,
	E810_GRE_IP4_TCP = 48,
	E810_GRE_IP4_SCTP = 49,
	E810_IP6_FRAG = 88, /* and so on, as those of IPv4 */
	E810_IP6_PAY = 89,
};

struct e810_word {
	uint8_t header;
	uint8_t at; /* byte in it */
	uint16_t mask;
};

struct e810_profile {
	unsigned int n; /* words; 0: there is no such profile */
	struct e810_word words[E810_WORDS];
	bool ptypes[E810_PTYPES];
};

struct e810_filter {
	unsigned int profile;
	uint32_t id;  /* what a matching packet's descriptor reports, */
	bool reports; /* if it does */
	uint16_t value[E810_WORDS];
};

struct e810 {
	struct e810_profile profiles[E810_PROFILES];
	struct e810_filter *filters;
	uint32_t n, room;
};

/*
 * Adds (or replaces) or removes the filter that a packet stands for, of headers as those to match
 * have them. 0; -EPROTO no profile is for packets like it; -ENOSPC; -ENOENT.
 */
int e810_program(struct e810 *nic, bool add, const uint8_t *packet, uint32_t len, uint32_t id,
	bool reports);

/* Exchanges what a packet has as its source and as its destination, but for MAC addresses. */
void e810_reverse(uint8_t *packet, uint32_t len);

/* Whether a filter that reports marks matches a frame. */
bool e810_matches(const struct e810 *nic, const uint8_t *frame, uint32_t len);
