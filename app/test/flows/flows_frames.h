/* SPDX-License-Identifier: BSD-3-Clause */
/* Random frames for the tests of the flow cache, and random numbers. */
#pragma once

#include <hy_flows_key.h>

#include "unit.h"

#define FLOWS_FRAME_ROOM 1024

uint32_t flows_random(uint64_t *seed);
uint64_t flows_random64(uint64_t *seed);

/*
 * Writes a frame of any kind: tags, IPv4 with options, IPv6 with extension headers, fragments,
 * transport protocols, VXLAN with a frame inside; at times with a wrong byte, or cut anywhere. Returns
 * its length, at most FLOWS_FRAME_ROOM.
 */
uint32_t flows_frame(uint8_t frame[FLOWS_FRAME_ROOM], uint64_t *seed);

/* The key of a frame as somebody else reads it, byte by byte. */
struct hy_flows_key flows_key_slowly(const uint8_t *frame, uint32_t len, uint16_t port,
	bool tunnels);
