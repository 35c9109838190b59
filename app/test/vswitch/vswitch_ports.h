/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports of switches in tests: n has DPDK's port 10 + n, edge 20 + n, and the name ethN; 3 is no-flood. */
#pragma once

#include <stdio.h>

#include <hy_vswitch.h>

/* Adds ports 1 to n. Returns 0, or a negative errno. */
static inline int
vswitch_ports_add(struct hy_vswitch *to, uint16_t n)
{
	int rc = 0;

	for (uint16_t i = 1; i <= n && rc == 0; i++) {
		struct hy_vswitch_port port = { .number = i,
			.no_flood = i == 3,
			.port = (uint16_t)(10 + i),
			.edge = (uint16_t)(20 + i) };

		snprintf(port.name, sizeof(port.name), "eth%u", i);
		rc = hy_vswitch_port_add(to, &port);
	}
	return rc;
}
