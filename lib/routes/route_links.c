/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups follow the links of ports. */

#include <hy_hal_live.h>
#include <hy_ports.h>

#include "routes.h"

static bool
is_down(const struct hy_routes *routes, uint16_t port)
{
	struct hy_port_status status;

	if (hy_hal_port_state(routes->hal, port) != HY_PORT_UP)
		return true;
	hy_port_status_read(port, &status);
	return status.link_known && !status.link_up;
}

/* Tells all tables of a port, and of its VLAN interfaces. */
static void
link_tell(const struct hy_routes *routes, uint16_t port, bool up)
{
	for (unsigned int t = 0; t < routes->tables.nb_fibs; t++) {
		struct hy_ip4_fib *fib = routes->tables.fibs[t];

		hy_ip4_port_link(fib, port, up);
		for (unsigned int i = 0; i < routes->nb_vlans; i++)
			if (routes->vlans[i].port == port)
				hy_ip4_port_link(fib, (uint16_t)HY_VLAN_PORT(i), up);
	}
}

void
hy_routes_poll(struct hy_routes *routes)
{
	for (unsigned int i = 0; i < routes->nb_ports; i++) {
		const uint16_t port = routes->ports[i];
		const bool down = is_down(routes, port);

		if (down == routes->port_down[port])
			continue;
		routes->port_down[port] = down;
		link_tell(routes, port, !down);
	}
}
