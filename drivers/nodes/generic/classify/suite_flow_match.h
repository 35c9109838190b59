/* SPDX-License-Identifier: BSD-3-Clause */
/* What the rules in the suite of flow_cls match, and frames that match them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <hy_conform.h>
#include <hy_policy.h>

/* The next number of a sequence, the same for both sides: rte_rand() is for packets. */
uint32_t hy_suite_flow_number(uint32_t *x);
/* Some of the fields that can be matched together. narrow: matches few packets. */
struct hy_flow_match hy_suite_flow_match(uint32_t *x, bool narrow);
/* Of fields that hardware cannot match: MAC addresses, IPv6, TCP flags, ICMP, fragments. */
struct hy_flow_match hy_suite_flow_more(uint32_t *x);
/*
 * Writes what a match requires into a frame with room for it, at the edges of its ranges. Returns
 * where the IP header starts.
 */
uint8_t *hy_suite_flow_write(const struct hy_flow_match *match, struct hy_suite_packet *packet);
/*
 * Writes a frame that nearly matches: without its ports, or with another last bit of a prefix or
 * another bit anywhere.
 */
void hy_suite_flow_miss(const struct hy_flow_match *match, struct hy_suite_packet *packet);

/*
 * Parts of such a frame.
 */
/* Writes the MAC addresses. */
void hy_suite_flow_macs_write(const struct hy_flow_match *m, uint8_t *frame);
/* The protocol that a match requires; 0: any. */
uint8_t hy_suite_flow_proto(const struct hy_flow_match *m);
/* One of the kinds of fragments that match. */
uint8_t hy_suite_flow_fragment(const struct hy_flow_match *m);
/* Writes an IPv6 header, and perhaps extension headers. Returns where the next one starts. */
uint8_t *hy_suite_flow_ip6_write(const struct hy_flow_match *m, uint8_t *ip);
/* Writes TCP's flags and ICMP, for which it makes the packet long enough. */
void hy_suite_flow_l4_write(const struct hy_flow_match *m, uint8_t *l4,
	struct hy_suite_packet *packet);
