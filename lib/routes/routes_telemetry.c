/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Telemetry's commands for routes. DPDK calls them on a thread of its own and cannot unregister them,
 * so they look under a lock whether there are tables. Tables have locks of their own.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>

#include <rte_common.h>

#include <hy_telemetry.h>

#include "routes.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct hy_routes *shown; /* NULL: none */

void
routes_show(const struct hy_routes *routes)
{
	pthread_mutex_lock(&lock);
	shown = routes;
	pthread_mutex_unlock(&lock);
}

void
routes_hide(const struct hy_routes *routes)
{
	pthread_mutex_lock(&lock);
	if (shown == routes)
		shown = NULL;
	pthread_mutex_unlock(&lock);
}

static int
routes_tell(struct hy_ip4_fib *fib, const char *parameter __rte_unused, struct rte_tel_data *data)
{
	const struct hy_ip4_fib_params *params = &shown->fib;
	const uint32_t ids = hy_ip4_next_hops(fib);
	struct hy_ip4_next_hop hop;
	int next_hops = 0;

	for (uint32_t id = 0; id < ids; id++)
		next_hops += hy_ip4_next_hop_get(fib, id, &hop, NULL) == 0;
	rte_tel_data_start_dict(data);
	rte_tel_data_add_dict_int(data, "tables", (int)shown->tables.nb_fibs);
	rte_tel_data_add_dict_int(data, "routes", (int)hy_ip4_routes_get(fib, NULL, 0));
	rte_tel_data_add_dict_int(data, "max_routes", (int)params->max_routes);
	rte_tel_data_add_dict_int(data, "max_tbl8s", (int)params->max_tbl8s);
	rte_tel_data_add_dict_int(data, "next_hops", next_hops);
	return rte_tel_data_add_dict_int(data, "max_next_hops", (int)params->max_next_hops);
}

static int
route_tell(struct hy_ip4_fib *fib, const char *address, struct rte_tel_data *data)
{
	char prefix[INET_ADDRSTRLEN + sizeof("/32")], mac[RTE_ETHER_ADDR_FMT_SIZE];
	struct hy_ip4_next_hop hop;
	struct hy_ip4_route route;
	struct in_addr in;

	if (address == NULL || inet_pton(AF_INET, address, &in) != 1)
		return -EINVAL;
	rte_tel_data_start_dict(data);
	rte_tel_data_add_dict_string(data, "address", address);
	if (hy_ip4_route_lookup(fib, ntohl(in.s_addr), &route, &hop) < 0)
		return rte_tel_data_add_dict_string(data, "prefix", "none");
	snprintf(prefix, sizeof(prefix), "%u.%u.%u.%u/%u", route.prefix >> 24,
		route.prefix >> 16 & 255, route.prefix >> 8 & 255, route.prefix & 255, route.depth);
	rte_ether_format_addr(mac, sizeof(mac), &hop.mac);
	rte_tel_data_add_dict_string(data, "prefix", prefix);
	rte_tel_data_add_dict_int(data, "next_hop", (int)route.next_hop);
	rte_tel_data_add_dict_int(data, "port", hop.port);
	return rte_tel_data_add_dict_string(data, "mac", mac);
}

static int
tell(int (*of)(struct hy_ip4_fib *fib, const char *parameter, struct rte_tel_data *data),
	const char *parameter, struct rte_tel_data *data)
{
	int rc;

	pthread_mutex_lock(&lock);
	rc = shown == NULL ? -ENOENT : of(shown->tables.fibs[0], parameter, data);
	pthread_mutex_unlock(&lock);
	return rc;
}

static int
on_routes(const char *command __rte_unused, const char *parameter, struct rte_tel_data *data)
{
	return tell(routes_tell, parameter, data);
}

static int
on_route(const char *command __rte_unused, const char *address, struct rte_tel_data *data)
{
	return tell(route_tell, address, data);
}

int
hy_routes_telemetry(const char *prefix)
{
	static const struct hy_telemetry_command commands[] = {
		{ "/routes", on_routes,
			"Counts the routes and next hops of the forwarding table. No parameter" },
		{ "/route", on_route,
			"The route that an address takes. Parameter: an IPv4 address, A.B.C.D" },
	};

	return hy_telemetry_register(prefix, commands, RTE_DIM(commands));
}
