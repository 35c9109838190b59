/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Telemetry's commands for routes. DPDK calls them on a thread of its own and cannot unregister them,
 * so they look under a lock whether there are tables. Tables have locks of their own.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include <rte_common.h>

#include <hy_option.h>
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
	struct hy_ip4_group group;
	int next_hops = 0, groups = 0;

	for (uint32_t id = 0; id < ids; id++) {
		next_hops += hy_ip4_next_hop_get(fib, id, &hop, NULL) == 0;
		groups += hy_ip4_group_get(fib, id, &group) == 0;
	}
	rte_tel_data_start_dict(data);
	rte_tel_data_add_dict_int(data, "tables", (int)shown->tables.nb_fibs);
	rte_tel_data_add_dict_int(data, "routes", (int)hy_ip4_routes_get(fib, NULL, 0));
	rte_tel_data_add_dict_int(data, "max_routes", (int)params->max_routes);
	rte_tel_data_add_dict_int(data, "max_tbl8s", (int)params->max_tbl8s);
	rte_tel_data_add_dict_int(data, "next_hops", next_hops);
	rte_tel_data_add_dict_int(data, "groups", groups);
	rte_tel_data_add_dict_int(data, "ip6_routes",
		(int)hy_ip6_routes_get(shown->tables6.fibs[0], NULL, 0));
	return rte_tel_data_add_dict_int(data, "max_next_hops", (int)params->max_next_hops);
}

#define PREFIX_SIZE (INET6_ADDRSTRLEN + sizeof("/128"))

/* Finds the route of an address, and writes its prefix. Returns -EINVAL if it is no address. */
static int
route_find(struct hy_ip4_fib *fib, const char *address, char prefix[PREFIX_SIZE], uint32_t *id,
	struct hy_ip4_next_hop *hop)
{
	struct hy_ip6_route route6;
	struct hy_ip4_route route;
	struct in6_addr in6;
	struct in_addr in;
	int rc = -EINVAL;

	if (inet_pton(AF_INET, address, &in) == 1) {
		rc = hy_ip4_route_lookup(fib, ntohl(in.s_addr), &route, hop);
		if (rc < 0)
			return rc;
		snprintf(prefix, PREFIX_SIZE, "%u.%u.%u.%u/%u", route.prefix >> 24,
			route.prefix >> 16 & 255, route.prefix >> 8 & 255, route.prefix & 255,
			route.depth);
		*id = route.next_hop;
	} else if (inet_pton(AF_INET6, address, &in6) == 1) {
		rc = hy_ip6_route_lookup(shown->tables6.fibs[0], in6.s6_addr, &route6, hop);
		if (rc < 0)
			return rc;
		inet_ntop(AF_INET6, route6.prefix, prefix, INET6_ADDRSTRLEN);
		sprintf(prefix + strlen(prefix), "/%u", route6.depth);
		*id = route6.next_hop;
	}
	return rc;
}

static int
route_tell(struct hy_ip4_fib *fib, const char *address, struct rte_tel_data *data)
{
	char prefix[PREFIX_SIZE], mac[RTE_ETHER_ADDR_FMT_SIZE];
	const struct hy_vlan *vlan;
	struct hy_ip4_next_hop hop;
	uint32_t id = 0;
	int rc = address == NULL ? -EINVAL : route_find(fib, address, prefix, &id, &hop);

	if (rc == -EINVAL)
		return rc;
	rte_tel_data_start_dict(data);
	rte_tel_data_add_dict_string(data, "address", address);
	if (rc < 0)
		return rte_tel_data_add_dict_string(data, "prefix", "none");
	rte_ether_format_addr(mac, sizeof(mac), &hop.mac);
	rte_tel_data_add_dict_string(data, "prefix", prefix);
	if (hop.port == HY_IP4_PORTS) /* a group, which may be gone by now */
		return rte_tel_data_add_dict_int(data, "group", (int)id);
	vlan = route_vlan(shown, hop.port);
	rte_tel_data_add_dict_int(data, "next_hop", (int)id);
	rte_tel_data_add_dict_int(data, "port", vlan == NULL ? hop.port : vlan->port);
	if (vlan != NULL)
		rte_tel_data_add_dict_int(data, "vlan", vlan->vid);
	return rte_tel_data_add_dict_string(data, "mac", mac);
}

/* What the command "group" lists: an array each, by member. */
enum { NEXT_HOP, PORT, VLAN, WEIGHT, BUCKETS, UP, NUMBERS };
static const char *const names[NUMBERS] = { [NEXT_HOP] = "next_hop",
	[PORT] = "port",
	[VLAN] = "vlan",
	[WEIGHT] = "weight",
	[BUCKETS] = "buckets",
	[UP] = "up" };

static void
member_tell(struct hy_ip4_fib *fib, const struct hy_ip4_group *group, unsigned int i,
	struct rte_tel_data *numbers[NUMBERS], struct rte_tel_data *macs)
{
	char mac[RTE_ETHER_ADDR_FMT_SIZE];
	struct hy_ip4_next_hop hop = { 0 };
	const struct hy_vlan *vlan;

	hy_ip4_next_hop_get(fib, group->members[i].next_hop, &hop, NULL);
	vlan = route_vlan(shown, hop.port);
	rte_ether_format_addr(mac, sizeof(mac), &hop.mac);
	rte_tel_data_add_array_string(macs, mac);
	rte_tel_data_add_array_int(numbers[NEXT_HOP], (int)group->members[i].next_hop);
	rte_tel_data_add_array_int(numbers[PORT], vlan == NULL ? hop.port : vlan->port);
	rte_tel_data_add_array_int(numbers[VLAN], vlan == NULL ? 0 : vlan->vid);
	rte_tel_data_add_array_int(numbers[WEIGHT], (int)group->members[i].weight);
	rte_tel_data_add_array_int(numbers[BUCKETS], (int)group->buckets[i]);
	rte_tel_data_add_array_int(numbers[UP], group->up[i]);
}

static int
members_tell(struct hy_ip4_fib *fib, const struct hy_ip4_group *group, struct rte_tel_data *data)
{
	struct rte_tel_data *numbers[NUMBERS], *macs = rte_tel_data_alloc();
	bool made = macs != NULL;

	for (unsigned int i = 0; i < NUMBERS; i++) {
		numbers[i] = rte_tel_data_alloc();
		made &= numbers[i] != NULL;
	}
	if (!made) {
		for (unsigned int i = 0; i < NUMBERS; i++)
			rte_tel_data_free(numbers[i]);
		rte_tel_data_free(macs);
		return -ENOMEM;
	}
	rte_tel_data_start_array(macs, RTE_TEL_STRING_VAL);
	for (unsigned int i = 0; i < NUMBERS; i++)
		rte_tel_data_start_array(numbers[i], RTE_TEL_INT_VAL);
	for (unsigned int i = 0; i < group->nb_members; i++)
		member_tell(fib, group, i, numbers, macs);
	for (unsigned int i = 0; i < NUMBERS; i++)
		rte_tel_data_add_dict_container(data, names[i], numbers[i], 0);
	return rte_tel_data_add_dict_container(data, "mac", macs, 0);
}

/* Ids of all groups, as far as an answer holds them. */
static int
groups_tell(struct hy_ip4_fib *fib, struct rte_tel_data *data)
{
	const uint32_t ids = hy_ip4_next_hops(fib);
	struct hy_ip4_group group;
	int n = 0;

	rte_tel_data_start_array(data, RTE_TEL_INT_VAL);
	for (uint32_t id = 0; id < ids && n < RTE_TEL_MAX_ARRAY_ENTRIES; id++)
		if (hy_ip4_group_get(fib, id, &group) == 0) {
			rte_tel_data_add_array_int(data, (int)id);
			n++;
		}
	return 0;
}

static int
group_tell(struct hy_ip4_fib *fib, const char *text, struct rte_tel_data *data)
{
	struct hy_ip4_group group;
	unsigned int id;

	if (text == NULL || text[0] == '\0')
		return groups_tell(fib, data);
	if (!hy_option_is_number(text, 0, HY_IP4_NO_ID - 1, &id))
		return -EINVAL;
	if (hy_ip4_group_get(fib, id, &group) < 0)
		return -ENOENT;
	rte_tel_data_start_dict(data);
	rte_tel_data_add_dict_int(data, "group", (int)id);
	rte_tel_data_add_dict_int(data, "routes", (int)group.routes);
	rte_tel_data_add_dict_int(data, "ip6_routes", (int)group.ip6_routes);
	rte_tel_data_add_dict_int(data, "nb_buckets", (int)group.nb_buckets);
	return members_tell(fib, &group, data);
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

static int
on_group(const char *command __rte_unused, const char *id, struct rte_tel_data *data)
{
	return tell(group_tell, id, data);
}

int
hy_routes_telemetry(const char *prefix)
{
	static const struct hy_telemetry_command commands[] = {
		{ "/routes", on_routes,
			"Counts the routes and next hops of the forwarding table. No parameter" },
		{ "/route", on_route,
			"The route that an address takes. Parameter: an IPv4 address, A.B.C.D, or an "
			"IPv6 address" },
		{ "/group", on_group,
			"The members of a group of next hops, with their weights, buckets and "
			"links. Parameter: its id; without, the ids of all groups" },
	};

	return hy_telemetry_register(prefix, commands, RTE_DIM(commands));
}
