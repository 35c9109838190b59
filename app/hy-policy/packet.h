/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets as text. They are written like the matches of rules, with these differences: "flags S" is
 * SYN and no other flag, "flags none" none at all; "vlan" also takes 0 and 4095, and "type" numbers
 * below 0x0600; "truncated" cuts the packet behind the last field that is given. What is not said is
 * as in most packets: no VLAN tag, DSCP 0, no fragment, whole headers. Otherwise it may be anything.
 */
#pragma once

#include "box.h"

#define PACKET_PARTS 64

/* A kind of packets. */
struct packets {
	struct box parts[PACKET_PARTS];
	unsigned int n;
	bool truncated;
};

/* Reads packets. Returns 0, or TROUBLE (reported). */
int packet_read(const char *text, struct packets *packets);

/* Finds the packets of a part that are not truncated. Returns false if there are none. */
bool packet_whole(const struct box *part, struct box *whole);

/* One packet of a part, of a common kind if there is one. */
void packet_pick(const struct box *part, struct box *packet);
/* Prints that packet as packet_read() reads it, each word after a space. */
void packet_print(const struct box *packet);
