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
/*
 * Writes what a match requires into a frame with room for it, at the edges of its ranges. Returns
 * where the IPv4 header starts.
 */
uint8_t *hy_suite_flow_write(const struct hy_flow_match *match, struct hy_suite_packet *packet);
/*
 * Writes a frame that nearly matches: without its ports, or with another last bit of a prefix or
 * another bit anywhere.
 */
void hy_suite_flow_miss(const struct hy_flow_match *match, struct hy_suite_packet *packet);
