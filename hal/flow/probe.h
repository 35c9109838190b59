/* SPDX-License-Identifier: BSD-3-Clause */
/* The sentinel: a rule that matches no traffic, to try a port and to keep its marks switched on. */
#pragma once

#include <hy_flow.h>

/*
 * Loopback is never on a wire. Few packets come from or to the port of RFC 863 (Wake-on-LAN sends some
 * there), and none go to port 0, which is reserved; but UDP may come from port 0 (RFC 768).
 */
#define HY_FLOW_NOBODY 0x7ffffffe
#define HY_FLOW_NOBODY6 \
	{ \
		0x80000000, 0, 0, 2 \
	} /* in 8000::/3, which IETF keeps */
/* Of no vendor; the lowest ones are in use: DPDK's l2fwd and l3fwd send to them. */
#define HY_FLOW_NOBODY_MAC 0x02fffffffffeu
#define HY_FLOW_DISCARD 9
#define HY_FLOW_RESERVED 0
#define HY_FLOW_UNUSED_TYPE 0x88b6 /* IEEE 802's second ether type for local experiments */

/* A port that is being tried. */
struct attempt {
	uint16_t port;
	const struct hy_flow_provider *provider;
	const struct hy_flow_driver *driver;
	const struct hy_flow_limits *declared; /* By its driver. */
	struct hy_flow_spread spread;
	const char *broken; /* Why the port cannot be tried any more; else NULL. */
	int rc;             /* Its errno, then. */
};

/*
 * Whether the port takes a rule as lowered by these limits, tried as the driver requires. False
 * also if it cannot be tried any more: a->broken. A rule that may be created must match no traffic.
 */
bool hy_flow_attempt(struct attempt *a, const struct hy_flow_limits *limits,
	const struct hy_flow_match *match, uint32_t mark, uint32_t priority);

/* Sets limits->takes to the part of what the driver declares that the port takes. */
void hy_flow_try_patterns(struct attempt *a, struct hy_flow_limits *limits);

int hy_flow_sentinel_create(uint16_t port, const struct hy_flow_provider *provider,
	const struct hy_flow_driver *driver, const struct hy_flow_limits *limits, uint32_t mark,
	void **flow, const char **why);

/* Whether a rule has a value that can be changed to match no traffic; a protocol alone has not. */
bool hy_flow_can_be_nobodys(const struct hy_flow_match *match);

/*
 * Whether a port takes one more rule that marks, or with `drop` one that drops and counts packets, for
 * which it may lack a counter only: tries one with the fields of `like` and values that do not
 * occur in traffic; NULL: the sentinel. Some NICs have tables whose rules all have the same fields
 * and that exclude each other: only a rule like one in hardware can be refused for lack of room
 * alone.
 */
bool hy_flow_has_room(uint16_t port, const struct hy_flow_provider *provider,
	const struct hy_flow_driver *driver, const struct hy_flow_limits *limits,
	const struct hy_flow_match *like, bool drop);
