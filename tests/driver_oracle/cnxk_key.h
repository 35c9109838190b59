/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The search key of OCTEON's NPC: which header bytes of a frame it has, by a key extraction profile
 * (KEX), and whether an entry of the MCAM matches it. Written from Linux's octeontx2 AF driver, not
 * from DPDK, whose rules it is held against.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define KEX_LAYERS 8
#define KEX_TYPES 16
#define KEX_PIECES 2
#define KEX_WORDS 7

/* As NPC_AF_INTF(0)_KEX_CFG and NPC_AF_INTF(0)_LID()_LT()_LD()_CFG have them. */
struct kex {
	uint64_t config;
	uint8_t icmp; /* the parser's layer type: 3, in kernels of 2026 and later 15 */
	uint64_t pieces[KEX_LAYERS][KEX_TYPES][KEX_PIECES];
};

struct kex_entry {
	uint64_t value[KEX_WORDS], mask[KEX_WORDS];
};

/*
 * Whether a frame that came by a channel matches an entry: from the wire, or in its second pass, as
 * packets come back from the crypto unit (CPT) after inline IPsec.
 */
bool kex_matches(const struct kex *kex, const struct kex_entry *entry, const uint8_t *frame,
	uint32_t len, uint16_t channel, bool second_pass);
