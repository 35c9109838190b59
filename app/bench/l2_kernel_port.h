/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port whose transmit call costs something: net_af_packet on a network device of the kernel,
 * whose frames are read from the other side. Device and port are in a network namespace of their
 * own.
 */
#pragma once

#include "l2_rig.h"

struct l2_kernel_port;

/* Opens it. Returns NULL after bench_cannot(), as without the rights. */
struct l2_kernel_port *l2_kernel_port_open(uint16_t *ethdev);
void l2_kernel_port_close(struct l2_kernel_port *port);

/* Reads all frames sent and checks them. Returns their number, and the last error in wrong. */
uint32_t l2_kernel_port_drain(struct l2_kernel_port *port, struct l2_rig *rig,
	const struct l2_form *form, const char **wrong);

/*
 * Checks a frame sent (l2_rig.c). port: number of the port, or -1. Returns what is wrong, or NULL.
 */
const char *l2_frame_check(struct l2_rig *rig, const struct l2_form *form, const uint8_t *got,
	uint32_t len, int port);
