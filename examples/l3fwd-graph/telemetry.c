/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Four commands. DPDK calls them on a thread of its own, and has no way to take them back: so they
 * ask under a lock whether there are tables. What they then read is guarded by a table's own lock.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_ethdev.h>
#include <rte_telemetry.h>

#include <hy_ports.h>
#include <hy_terminal.h>

#include "hal/internal/dpdk.h"
#include "telemetry.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct tables *shown; /* NULL: none; under the lock */
static struct hy_arc *shown_arc;   /* likewise */

static int
routes_tell(struct hy_ip4_fib *fib, struct rte_tel_data *data)
{
	const struct hy_ip4_fib_params *params = &shown->params;

	rte_tel_data_start_dict(data);
	rte_tel_data_add_dict_int(data, "tables", (int)shown->config.nb_fibs);
	rte_tel_data_add_dict_int(data, "routes", (int)hy_ip4_routes_get(fib, NULL, 0));
	rte_tel_data_add_dict_int(data, "max_routes", (int)params->max_routes);
	rte_tel_data_add_dict_int(data, "max_tbl8s", (int)params->max_tbl8s);
	rte_tel_data_add_dict_int(data, "next_hops", (int)tables_next_hops(shown));
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
on_routes(const char *command __rte_unused, const char *parameter __rte_unused,
	struct rte_tel_data *data)
{
	int rc;

	pthread_mutex_lock(&lock);
	rc = shown == NULL ? -ENOENT : routes_tell(shown->config.fibs[0], data);
	pthread_mutex_unlock(&lock);
	return rc;
}

static int
on_route(const char *command __rte_unused, const char *address, struct rte_tel_data *data)
{
	int rc;

	pthread_mutex_lock(&lock);
	rc = shown == NULL ? -ENOENT : route_tell(shown->config.fibs[0], address, data);
	pthread_mutex_unlock(&lock);
	return rc;
}

static bool
port_read(const char *text, uint16_t *port)
{
	char *end;
	const unsigned long n = text == NULL ? RTE_MAX_ETHPORTS : strtoul(text, &end, 10);

	if (n >= RTE_MAX_ETHPORTS || end == text || *end != '\0')
		return false;
	*port = (uint16_t)n;
	return rte_eth_dev_is_valid_port(*port) != 0;
}

/* A port has the cookie of its own number. */
static int
feature_set(const char *feature, uint16_t port, const char *to)
{
	if (strcmp(to, "on") == 0)
		return hy_arc_enable(shown_arc, feature, port, port);
	if (strcmp(to, "off") == 0)
		return hy_arc_disable(shown_arc, feature, port);
	return to[0] == '\0' ? 0 : -EINVAL;
}

/* FEATURE,PORT, and "on" or "off" to change it. */
static int
feature_tell(const char *parameter, struct rte_tel_data *data)
{
	char copy[2 * HY_NAME_SIZE], *rest = copy;
	const char *feature;
	uint16_t port;
	int rc;

	if (parameter == NULL || strlen(parameter) >= sizeof(copy))
		return hy_telemetry_error(
			"FEATURE,PORT is required, followed by ,on or ,off to change it", data);
	strcpy(copy, parameter);
	feature = strsep(&rest, ",");
	if (!port_read(strsep(&rest, ","), &port))
		return hy_telemetry_error("no such port", data);
	if (hy_arc_get(shown_arc, feature, port, NULL) == -ENOENT)
		return hy_telemetry_error("no such feature", data);
	rc = feature_set(feature, port, rest == NULL ? "" : rest);
	if (rc == -EINVAL)
		return hy_telemetry_error("on and off are accepted", data);
	if (rc < 0)
		return hy_telemetry_error(strerror(-rc), data);
	rte_tel_data_start_dict(data);
	rte_tel_data_add_dict_string(data, "feature", feature);
	rte_tel_data_add_dict_int(data, "port", (int)port);
	return rte_tel_data_add_dict_int(data, "enabled",
		hy_arc_get(shown_arc, feature, port, NULL) == 0);
}

static int
on_feature(const char *command __rte_unused, const char *parameter, struct rte_tel_data *data)
{
	int rc;

	pthread_mutex_lock(&lock);
	rc = shown_arc == NULL ? hy_telemetry_error("features require --feature", data)
			       : feature_tell(parameter, data);
	pthread_mutex_unlock(&lock);
	return rc;
}

static int
on_port(const char *command __rte_unused, const char *parameter, struct rte_tel_data *data)
{
	struct hy_port_status status;
	uint16_t port;

	if (!port_read(parameter, &port))
		return hy_telemetry_error("no such port", data);
	hy_port_status_read(port, &status);
	rte_tel_data_start_dict(data);
	rte_tel_data_add_dict_int(data, "port", port);
	rte_tel_data_add_dict_string(data, "link", hy_port_link(&status));
	rte_tel_data_add_dict_int(data, "link_mbps", (int)status.link_mbps);
	rte_tel_data_add_dict_int(data, "link_changes", (int)status.link_changes);
	rte_tel_data_add_dict_uint(data, "missed", status.missed);
	rte_tel_data_add_dict_uint(data, "no_mbuf", status.no_mbuf);
	rte_tel_data_add_dict_uint(data, "rx_errors", status.rx_errors);
	return rte_tel_data_add_dict_uint(data, "tx_errors", status.tx_errors);
}

void
telemetry_show(const struct tables *tables, struct hy_arc *arc)
{
	pthread_mutex_lock(&lock);
	shown = tables;
	shown_arc = arc;
	pthread_mutex_unlock(&lock);
}

void
telemetry_hide(void)
{
	pthread_mutex_lock(&lock);
	shown = NULL;
	shown_arc = NULL;
	pthread_mutex_unlock(&lock);
}

int
telemetry_begin(void)
{
	static const struct hy_telemetry_command commands[] = {
		{ "/feature", on_feature,
			"Tells whether a feature of --feature is enabled for a port, or enables or "
			"disables it. Parameters: FEATURE,PORT[,on|off]" },
		{ "/port", on_port,
			"A port's link, and what its driver lost. Parameter: the port" },
		{ "/routes", on_routes,
			"Counts the routes and next hops of the forwarding table. No parameter" },
		{ "/route", on_route,
			"The route that an address takes. Parameter: an IPv4 address, A.B.C.D" },
	};
	int rc = hy_telemetry_register("/l3fwd", commands, RTE_DIM(commands));

	if (rc == 0)
		rc = hy_telemetry_begin("/l3fwd");
	if (rc < 0)
		hy_terminal_error("telemetry: %s", strerror(-rc));
	return rc;
}
