/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands for features and ports. DPDK calls them on a thread of its own and cannot unregister them,
 * so they look under a lock whether there are features.
 */

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include <rte_common.h>
#include <rte_telemetry.h>

#include <hy_ports.h>

#include "telemetry.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct features *shown; /* NULL: none; under the lock */

/* The arc that a feature is on; NULL: none has it. */
static struct hy_arc *
arc_of(const char *feature)
{
	for (unsigned int family = HY_IP_V4; family < FAMILIES; family++)
		if (strcmp(feature, feature_nodes[family]) == 0)
			return shown->arc[family];
	return NULL;
}

/* A port has the cookie of its own number. */
static int
feature_set(struct hy_arc *arc, const char *feature, uint16_t port, const char *to)
{
	if (strcmp(to, "on") == 0)
		return hy_arc_enable(arc, feature, port, port);
	if (strcmp(to, "off") == 0)
		return hy_arc_disable(arc, feature, port);
	return to[0] == '\0' ? 0 : -EINVAL;
}

/* FEATURE,PORT, and "on" or "off" to change it. */
static int
feature_tell(const char *parameter, struct rte_tel_data *data)
{
	char copy[2 * HY_NAME_SIZE], *rest = copy;
	struct hy_arc *arc;
	const char *feature;
	uint16_t port;
	int rc;

	if (parameter == NULL || strlen(parameter) >= sizeof(copy))
		return hy_telemetry_error(
			"FEATURE,PORT is required, followed by ,on or ,off to change it", data);
	strcpy(copy, parameter);
	feature = strsep(&rest, ",");
	if (rest == NULL || hy_port_find(strsep(&rest, ","), &port) < 0)
		return hy_telemetry_error("no such port", data);
	arc = arc_of(feature);
	if (arc == NULL)
		return hy_telemetry_error("no such feature", data);
	rc = feature_set(arc, feature, port, rest == NULL ? "" : rest);
	if (rc == -EINVAL)
		return hy_telemetry_error("on and off are accepted", data);
	if (rc < 0)
		return hy_telemetry_error(strerror(-rc), data);
	rte_tel_data_start_dict(data);
	rte_tel_data_add_dict_string(data, "feature", feature);
	rte_tel_data_add_dict_int(data, "port", (int)port);
	return rte_tel_data_add_dict_int(data, "enabled",
		hy_arc_get(arc, feature, port, NULL) == 0);
}

static int
on_feature(const char *command __rte_unused, const char *parameter, struct rte_tel_data *data)
{
	int rc;

	pthread_mutex_lock(&lock);
	rc = shown == NULL ? hy_telemetry_error("features require --feature", data)
			   : feature_tell(parameter, data);
	pthread_mutex_unlock(&lock);
	return rc;
}

static int
on_port(const char *command __rte_unused, const char *parameter, struct rte_tel_data *data)
{
	struct hy_port_status status;
	uint16_t port;

	if (parameter == NULL || hy_port_find(parameter, &port) < 0)
		return hy_telemetry_error("no such port", data);
	hy_port_status_read(port, &status);
	rte_tel_data_start_dict(data);
	rte_tel_data_add_dict_int(data, "port", port);
	return hy_telemetry_port(&status, data);
}

void
telemetry_show(const struct features *features)
{
	pthread_mutex_lock(&lock);
	shown = features;
	pthread_mutex_unlock(&lock);
}

const struct hy_telemetry_command telemetry_commands[TELEMETRY_COMMANDS] = {
	{ "/feature", on_feature,
		"Tells whether a feature of --feature is enabled for a port, or enables or disables "
		"it. Parameters: FEATURE,PORT[,on|off]" },
	{ "/port", on_port, "A port's link, and what its driver lost. Parameter: the port" },
};
