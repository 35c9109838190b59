/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule that no traffic meets: to try a port with, and to keep its marks switched on. */
#ifndef HY_FLOW_PROBE_H
#define HY_FLOW_PROBE_H

#include "hy_flow.h"

int hy_flow_sentinel_create(uint16_t port, const struct hy_flow_provider *provider,
	const struct hy_flow_driver *driver, uint32_t mark, void **flow, const char **why);

/*
 * Whether a port takes one rule more: tries one that names the fields of `like`, with values that
 * nobody sends; NULL: the sentinel. NICs have tables whose rules all name the same fields, and that
 * exclude each other: only a rule like one that is in hardware is sure to be refused for want of
 * room alone.
 */
bool hy_flow_has_room(uint16_t port, const struct hy_flow_provider *provider,
	const struct hy_flow_driver *driver, const struct hy_flow_match *like);

#endif
