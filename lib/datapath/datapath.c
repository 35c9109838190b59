/* SPDX-License-Identifier: BSD-3-Clause */
/* A switch: created of ports, loaded from a file, started with its workers, destroyed. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <hy_flow_lookup.h>

#include "datapath.h"
#include "lib/graph/internal/log.h"

#define IDLE_MS 10000 /* after which a megaflow is deleted, as in Open vSwitch */
#define PRESSED_MS 100
#define ROOM 4096 /* packets of a worker that wait for rules */
#define MASKS 4096
#define PORT_MASKS 1024

uint64_t
datapath_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static int
ports_add(struct hy_datapath *datapath, const struct hy_datapath_params *params, char *error)
{
	for (unsigned int i = 0; i < params->nb_ports; i++) {
		struct hy_vswitch_port port = params->ports[i];
		int rc;

		if (!port.is_tunnel)
			port.edge = (uint16_t)datapath->nb_edges;
		rc = hy_vswitch_port_add(datapath->rules, &port);
		if (rc < 0)
			return HY_REASON(rc, error, HY_DATAPATH_ERROR_SIZE,
				"port '%.*s' of the switch: %s", HY_VSWITCH_NAME_SIZE - 1,
				port.name,
				rc == -EEXIST ? "another one has its number, name or addresses"
					      : strerror(-rc));
		if (!port.is_tunnel)
			datapath->edge_number[datapath->nb_edges] = port.number;
		if (!port.is_tunnel)
			datapath->edge_port[datapath->nb_edges++] = port.port;
	}
	return 0;
}

int
hy_datapath_create(const struct hy_datapath_params *params, struct hy_datapath **out, char *error)
{
	struct hy_datapath *datapath = calloc(1, sizeof(*datapath));
	unsigned int nb_edges = 0;
	int rc;

	*out = NULL;
	if (datapath == NULL)
		return HY_REASON(-ENOMEM, error, HY_DATAPATH_ERROR_SIZE, "a switch: out of memory");
	datapath->path = params->path;
	datapath->max_flows = params->max_flows;
	datapath->caches = params->caches;
	pthread_mutex_init(&datapath->lists.lock, NULL);
	for (unsigned int i = 0; i < params->nb_ports; i++)
		nb_edges += !params->ports[i].is_tunnel;
	rc = hy_vswitch_create((uint16_t)nb_edges, &datapath->rules);
	if (rc < 0)
		rc = HY_REASON(rc, error, HY_DATAPATH_ERROR_SIZE, "rules: out of memory");
	else
		rc = ports_add(datapath, params, error);
	if (rc < 0) {
		hy_datapath_destroy(datapath);
		return rc;
	}
	*out = datapath;
	return 0;
}

int
hy_datapath_load(struct hy_datapath *datapath, char *error)
{
	return datapath->path == NULL
		? 0
		: hy_vswitch_load(datapath->rules, datapath->path, datapath_now(), error);
}

void
hy_datapath_destroy(struct hy_datapath *datapath)
{
	if (datapath == NULL)
		return;
	datapath_hide(datapath);
	datapath_offload_end(datapath->offload);
	hy_flow_table_destroy(datapath->table); /* stops its thread first */
	datapath_lists_destroy(&datapath->lists);
	hy_vswitch_destroy(datapath->rules);
	pthread_mutex_destroy(&datapath->lists.lock);
	free(datapath);
}

int
datapath_ask(void *arg, const struct hy_flows_key *key, struct hy_flows_flow *answer)
{
	struct hy_datapath *datapath = arg;
	struct hy_vswitch_answer *said = &datapath->answer;
	uint32_t number;
	int rc;

	hy_vswitch_translate(datapath->rules, key, said);
	rc = datapath_list_get(&datapath->lists, said, &number);
	answer->mask = said->mask;
	if (datapath->offload != NULL)
		datapath_mask_round(&answer->mask);
	answer->action = number == DATAPATH_NO_LIST ? hy_flow_action(HY_FLOW_ACTION_DENY, 0)
						    : hy_flow_action(0, (uint16_t)number);
	answer->idle = IDLE_MS;
	return number == DATAPATH_NO_LIST ? rc : 0;
}

static int
table_create(struct hy_datapath *datapath)
{
	const bool tunnels = (hy_vswitch_parse(datapath->rules) & HY_FLOWS_PARSE_TUNNEL) != 0;
	const struct hy_flow_table_params params = { .name = DATAPATH_NAME,
		.flows = { .max_flows = datapath->max_flows,
			.max_masks = MASKS,
			.max_port_masks = PORT_MASKS,
			.pressed_idle = PRESSED_MS,
			.workers = datapath->workers->nb,
			.socket = datapath->workers->worker[0].socket,
			.tunnels = tunnels,
			.qsbr = datapath->workers->qsbr },
		.caches = datapath->caches,
		.upcalls = { .rules = datapath_ask, .arg = datapath, .room = ROOM } };

	return hy_flow_table_create(&params, &datapath->table);
}

int
hy_datapath_start(struct hy_datapath *datapath, const struct hy_workers *workers, char *error)
{
	int rc;

	datapath->workers = workers;
	rc = datapath_lists_create(&datapath->lists, workers);
	if (rc == 0)
		rc = table_create(datapath);
	if (rc == 0)
		rc = hy_flow_table_run(datapath->table);
	if (rc < 0)
		return HY_REASON(rc, error, HY_DATAPATH_ERROR_SIZE,
			"the flow cache of %u megaflows and its lists: %s; see EAL's -m for memory",
			datapath->max_flows, strerror(-rc));
	hy_vswitch_changes(datapath->rules, &datapath->changes); /* there are no megaflows yet */
	datapath->behind = false;
	datapath_show(datapath);
	return 0;
}

struct hy_vswitch *
hy_datapath_rules(struct hy_datapath *datapath)
{
	return datapath->rules;
}

struct hy_flows *
hy_datapath_flows(struct hy_datapath *datapath)
{
	return hy_flow_table_flows(datapath->table);
}
