/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists routes, and finds the route of an address. */

#include <errno.h>
#include <stdlib.h>

#include "ip4_fib.h"
#include "ip4_lookup_kernels.h"

uint32_t
ip4_rib_find(struct rte_rib *rib, uint32_t prefix, uint8_t depth)
{
	const struct rte_rib_node *route = rte_rib_lookup_exact(rib, prefix, depth);
	uint64_t id;

	return rte_rib_get_nh(route, &id) < 0 ? IP4_FIB_NO_ROUTE : (uint32_t)id;
}

uint32_t
ip4_default_find(const struct hy_ip4_fib *fib)
{
	return fib->view.default_entry == 0 ? IP4_FIB_NO_ROUTE
					    : fib->view.default_entry & ~RTE_LPM_LOOKUP_SUCCESS;
}

static struct hy_ip4_route
route_of(const struct rte_rib_node *node)
{
	struct hy_ip4_route route;
	uint64_t id;

	rte_rib_get_ip(node, &route.prefix);
	rte_rib_get_depth(node, &route.depth);
	rte_rib_get_nh(node, &id);
	route.next_hop = (uint32_t)id;
	return route;
}

bool
ip4_rib_next(struct rte_rib *rib, struct rte_rib_node **node, struct hy_ip4_route *route)
{
	*node = rte_rib_get_nxt(rib, 0, 0, *node, RTE_RIB_GET_NXT_ALL);
	if (*node == NULL)
		return false;
	*route = route_of(*node);
	return true;
}

static int
by_prefix(const void *a, const void *b)
{
	const struct hy_ip4_route *ra = a, *rb = b;

	if (ra->prefix != rb->prefix)
		return ra->prefix < rb->prefix ? -1 : 1;
	return ra->depth - rb->depth;
}

uint32_t
hy_ip4_routes_get(struct hy_ip4_fib *fib, struct hy_ip4_route *routes, uint32_t n)
{
	struct rte_rib_node *node = NULL;
	uint32_t nb_routes, i = 0;

	pthread_mutex_lock(&fib->lock);
	nb_routes = fib->nb_routes + (fib->view.default_entry != 0);
	if (nb_routes <= n && nb_routes > 0) {
		if (fib->view.default_entry != 0)
			routes[i++] = (struct hy_ip4_route){ .next_hop = ip4_default_find(fib) };
		while (ip4_rib_next(fib->rib, &node, &routes[i]))
			i++;
		/* The tree returns longer prefixes first. */
		qsort(routes, nb_routes, sizeof(*routes), by_prefix);
	}
	pthread_mutex_unlock(&fib->lock);
	return nb_routes;
}

int
hy_ip4_lookup(struct hy_ip4_fib *fib, uint32_t dst, uint32_t *next_hop)
{
	uint16_t next;

	pthread_mutex_lock(&fib->lock);
	if (fib->view.lpm != NULL)
		hy_ip4_lookup_scalar(&fib->view, &dst, &next, 1);
	else
		hy_ip4_lookup_fib(&fib->view, &dst, &next, 1);
	pthread_mutex_unlock(&fib->lock);
	if (next != HY_IP4_LOOKUP_NEXT_REWRITE)
		return -ENOENT;
	*next_hop = dst;
	return 0;
}

/* The default route if no other covers dst. Its next hop is IP4_FIB_NO_ROUTE if it does not exist. */
static struct hy_ip4_route
route_covering(const struct hy_ip4_fib *fib, uint32_t dst)
{
	const struct rte_rib_node *node = rte_rib_lookup(fib->rib, dst);

	if (node == NULL)
		return (struct hy_ip4_route){ .next_hop = ip4_default_find(fib) };
	return route_of(node);
}

int
hy_ip4_route_lookup(struct hy_ip4_fib *fib, uint32_t dst, struct hy_ip4_route *route,
	struct hy_ip4_next_hop *next_hop)
{
	struct hy_ip4_route found;
	int rc = -ENOENT;

	pthread_mutex_lock(&fib->lock);
	found = route_covering(fib, dst);
	if (found.next_hop != IP4_FIB_NO_ROUTE) {
		*next_hop = ip4_adjacency_read(&fib->view.adjacencies[found.next_hop]);
		*route = found;
		rc = 0;
	}
	pthread_mutex_unlock(&fib->lock);
	return rc;
}
