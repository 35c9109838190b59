/* SPDX-License-Identifier: BSD-3-Clause */
/* What rules of flow_cls are tried with ask for, and frames that have it. */
#ifndef HY_SUITE_FLOW_MATCH_H
#define HY_SUITE_FLOW_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include <hy_conform.h>
#include <hy_policy.h>

/* The next number of a sequence, the same for both sides: rte_rand() is the packets'. */
uint32_t hy_suite_flow_number(uint32_t *x);
/* Some of the fields that can be asked for together. narrow: matches few packets. */
struct hy_flow_match hy_suite_flow_match(uint32_t *x, bool narrow);
/* Writes what a rule asks for into a frame with room for it, at the edges of its ranges. */
void hy_suite_flow_write(const struct hy_flow_match *match, struct hy_suite_packet *packet);

#endif
