/* SPDX-License-Identifier: BSD-3-Clause */
/* Members whose port is down leave their groups, and return with it. */

#include <errno.h>

#include "drivers/nodes/generic/ip4/ip4_next_hop.h"
#include "ip4_group.h"

void
ip4_groups_follow(struct hy_ip4_fib *fib)
{
	for (uint32_t id = 0; id < fib->nb_next_hops; id++) {
		struct ip4_group *group = ip4_group_find(fib, id);

		if (group != NULL && ip4_group_differs(fib, group))
			ip4_group_stand(fib, group, false);
	}
}

int
hy_ip4_port_link(struct hy_ip4_fib *fib, uint16_t port, bool up)
{
	int rc = 0;

	pthread_mutex_lock(&fib->lock);
	if (port >= HY_IP4_PORTS || !fib->has_port[port]) {
		rc = -ENODEV;
	} else if (fib->port_down[port] == up) {
		fib->port_down[port] = !up;
		ip4_groups_follow(fib);
	}
	pthread_mutex_unlock(&fib->lock);
	return rc;
}
