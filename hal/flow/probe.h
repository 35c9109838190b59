/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule that no traffic meets: to try a port with, and to keep its marks switched on. */
#ifndef HY_FLOW_PROBE_H
#define HY_FLOW_PROBE_H

#include "hy_flow.h"

int hy_flow_sentinel_create(uint16_t port, const struct hy_flow_provider *provider,
	const struct hy_flow_driver *driver, uint32_t mark, void **flow, const char **why);

#endif
