/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loop of a generated layer-2 switch, step by step from one that sends single frames and looks
 * up allocated keys to one with the kernels of a bridge's table. l2_loop.c is compiled several
 * times, by both compilers and with two levels of optimization, into a list under the name
 * L2_LOOPS each.
 */
#pragma once

#include <rte_hash.h>
#include <rte_lpm6.h>

#include <hy_l2_view.h>

#include "l2_rig.h"

/*
 * What tables give for a port: its number in both bytes, so that a switch that swaps the bytes of a
 * field and one that does not find the same.
 */
#define L2_FIELD(port) ((port)*0x0101u)

struct l2_loop {
	uint16_t rx[L2_PORTS], tx[L2_PORTS]; /* ethdevs */
	struct rte_ring *pending[L2_PORTS];
	size_t key_len; /* of allocated keys, which the loop does not know when it is compiled */
	const struct rte_lpm6 *lpm;
	const struct rte_hash *hash_14, *hash_8;
	const struct hy_l2_view *view;
	hy_l2_find_t *find;
	struct {
		unsigned int n;
		struct rte_mbuf *mbufs[L2_BURST];
	} gathered[L2_PORTS];
};

enum l2_step {
	L2_NONE_SINGLE,   /* no handler: sends through the other port, frame by frame */
	L2_NONE_BURST,    /* in bursts */
	L2_ALLOC_SINGLE,  /* rte_lpm6 by an allocated key; frame by frame */
	L2_ALLOC_BURST,   /* sends bursts */
	L2_STACK,         /* with a key on the stack, of a size that the compiler knows */
	L2_HASH_14,       /* rte_hash instead */
	L2_HASH_8,        /* by a key of 8 bytes: address and VLAN */
	L2_HASH_BULK,     /* a burst at a time */
	L2_OURS,          /* with a kernel of the bridge's table */
	L2_NO_LOOKUP,     /* L2_STACK without the lookup */
	L2_HINTS_SWAPPED, /* L2_STACK, likely() and unlikely() exchanged */
	L2_NO_BSWAP,      /* L2_STACK, bytes of the port not swapped */
	L2_STEPS,
};

/* By step, a function that forwards until no frame waits. */
typedef void(l2_loop_run_t)(void *loop);
extern l2_loop_run_t *const l2_loops_gcc_O2[L2_STEPS],
	*const l2_loops_gcc_O3[L2_STEPS], *const l2_loops_clang_O2[L2_STEPS],
						  *const l2_loops_clang_O3[L2_STEPS];
