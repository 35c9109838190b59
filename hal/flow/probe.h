/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule that no traffic meets: to try a port with, and to keep its marks switched on. */
#ifndef HY_FLOW_PROBE_H
#define HY_FLOW_PROBE_H

#include <hy_flow.h>

/* Loopback is never on a wire, and nothing is sent to the port of RFC 863. */
#define HY_FLOW_NOBODY 0x7ffffffe
#define HY_FLOW_DISCARD 9
#define HY_FLOW_UNUSED_TYPE 0x88b6 /* IEEE 802's second ether type for local experiments */

/* A port that is being tried. */
struct attempt {
	uint16_t port;
	const struct hy_flow_provider *provider;
	const struct hy_flow_driver *driver;
	const struct hy_flow_limits *declared; /* By its driver. */
	struct hy_flow_spread spread;
	const char *broken; /* Not NULL: why the port can be tried no longer, */
	int rc;             /* and this. */
};

/*
 * Whether the port takes a rule as lowered by these limits, tried as the driver wants it. False also
 * if it can be tried no longer: a->broken. A rule that is to be created must meet no traffic.
 */
bool hy_flow_attempt(struct attempt *a, const struct hy_flow_limits *limits,
	const struct hy_flow_match *match, uint32_t mark, uint32_t priority);

/* Narrows limits->takes from what the driver declares to what the port takes. */
void hy_flow_try_patterns(struct attempt *a, struct hy_flow_limits *limits);

int hy_flow_sentinel_create(uint16_t port, const struct hy_flow_provider *provider,
	const struct hy_flow_driver *driver, const struct hy_flow_limits *limits, uint32_t mark,
	void **flow, const char **why);

/* Whether a rule has a value that can be changed so that no traffic meets it; a protocol alone has none. */
bool hy_flow_can_be_nobodys(const struct hy_flow_match *match);

/*
 * Whether a port takes one rule more: tries one that names the fields of `like`, with values that
 * nobody sends; NULL: the sentinel. NICs have tables whose rules all name the same fields, and that
 * exclude each other: only a rule like one that is in hardware is sure to be refused for want of
 * room alone.
 */
bool hy_flow_has_room(uint16_t port, const struct hy_flow_provider *provider,
	const struct hy_flow_driver *driver, const struct hy_flow_limits *limits,
	const struct hy_flow_match *like);

#endif
