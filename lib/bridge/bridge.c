/* SPDX-License-Identifier: BSD-3-Clause */
/* A bridge: created of a file, started with its workers, destroyed. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>
#include <rte_ring.h>

#include "bridge.h"
#include "lib/graph/internal/log.h"

int
hy_bridge_create(const char *path, const uint16_t ports[], unsigned int nb_ports,
	struct hy_bridge **out, char *error)
{
	struct hy_bridge *bridge = NULL;
	int rc;

	*out = NULL;
	if (nb_ports == 0 || nb_ports > BRIDGE_PORTS)
		return HY_REASON(-EINVAL, error, HY_BRIDGE_ERROR_SIZE,
			"a bridge of %u ports: 1 to %u are possible", nb_ports, BRIDGE_PORTS);
	bridge = calloc(1, sizeof(*bridge));
	if (bridge == NULL)
		return HY_REASON(-ENOMEM, error, HY_BRIDGE_ERROR_SIZE, "a bridge: out of memory");
	bridge->path = path;
	bridge->nb_ports = nb_ports;
	memcpy(bridge->ports, ports, nb_ports * sizeof(*ports));
	rc = bridge_file_read(bridge, &bridge->file, error);
	if (rc < 0) {
		hy_bridge_destroy(bridge);
		return rc;
	}
	for (unsigned int i = 0; i < nb_ports; i++)
		bridge->state[i] = bridge->file->port[i].rules.state;
	*out = bridge;
	return 0;
}

void
hy_bridge_destroy(struct hy_bridge *bridge)
{
	if (bridge == NULL)
		return;
	bridge_hide(bridge);
	bridge_nodes_destroy(bridge);
	while (bridge->retired != NULL) {
		struct bridge_setup *setup = bridge->retired;

		bridge->retired = setup->next;
		bridge_setup_free(setup);
	}
	bridge_setup_free(bridge->current);
	for (unsigned int w = 0; w < RTE_DIM(bridge->worker); w++) {
		if (bridge->worker[w] == NULL)
			continue;
		rte_ring_free(bridge->worker[w]->learn);
		rte_free(bridge->worker[w]);
	}
	hy_l2_table_destroy(bridge->table);
	bridge_file_free(bridge->file);
	free(bridge);
}

/* What a worker writes to, on its NUMA node. */
static int
worker_make(struct hy_bridge *bridge, unsigned int number)
{
	static unsigned int made; /* names of rings are unique in the process */
	const int socket = bridge->workers->worker[number].socket;
	struct hy_l2_worker *worker = rte_zmalloc_socket("hy_bridge", sizeof(*worker),
		RTE_CACHE_LINE_SIZE, socket);
	char name[RTE_RING_NAMESIZE];

	bridge->worker[number] = worker;
	if (worker == NULL)
		return -ENOMEM;
	snprintf(name, sizeof(name), "hy_bridge_%u", made++);
	worker->learn = rte_ring_create_elem(name, sizeof(struct hy_l2_source), BRIDGE_RING, socket,
		RING_F_SP_ENQ | RING_F_SC_DEQ);
	return worker->learn == NULL ? -ENOMEM : 0;
}

int
bridge_statics_fit(const struct hy_bridge *bridge, const struct bridge_file *file, char *error)
{
	if (file->nb_statics <= file->entries)
		return 0;
	return HY_REASON(-ENOSPC, error, HY_BRIDGE_ERROR_SIZE,
		"%s: entries: there are %u static ones, and the table has room for %u",
		bridge->path, file->nb_statics, file->entries);
}

void
bridge_limits(struct hy_bridge *bridge)
{
	for (unsigned int i = 0; i < bridge->nb_ports; i++)
		hy_l2_port_limit(bridge->table, (uint16_t)i, bridge->file->port[i].entries);
}

static int
table_make(struct hy_bridge *bridge, char *error)
{
	const struct bridge_file *file = bridge->file;
	const struct hy_l2_table_params params = { .max_entries = file->entries,
		.nb_ports = HY_L2_TABLE_PORTS,
		.socket = bridge->workers->worker[0].socket,
		.qsbr = bridge->workers->qsbr };
	int rc = bridge_statics_fit(bridge, file, error);

	if (rc < 0)
		return rc;
	rc = hy_l2_table_create(&params, &bridge->table);
	if (rc < 0)
		return HY_REASON(rc, error, HY_BRIDGE_ERROR_SIZE,
			"the bridge's table of %u entries, which takes %zu MiB; see EAL's -m for "
			"memory: %s",
			params.max_entries, hy_l2_table_bytes(&params) >> 20, strerror(-rc));
	bridge_limits(bridge);
	for (unsigned int i = 0; i < file->nb_statics && rc == 0; i++)
		rc = hy_l2_add(bridge->table, file->statics[i].key, file->statics[i].port);
	return rc < 0
		? HY_REASON(rc, error, HY_BRIDGE_ERROR_SIZE, "a static entry: %s", strerror(-rc))
		: 0;
}

int
hy_bridge_start(struct hy_bridge *bridge, const struct hy_workers *workers, const uint16_t shares[],
	char *error)
{
	int rc;

	bridge->workers = workers;
	for (unsigned int i = 0; i < bridge->nb_ports; i++)
		bridge->shares[i] = shares == NULL ? 1 : shares[i];
	rc = table_make(bridge, error);
	if (rc < 0)
		return rc;
	for (unsigned int w = 0; w < workers->nb && rc == 0; w++)
		rc = worker_make(bridge, w);
	if (rc == 0)
		rc = bridge_setup_renew(bridge);
	if (rc < 0)
		return HY_REASON(rc, error, HY_BRIDGE_ERROR_SIZE,
			"the bridge's rings and set-up: %s; see EAL's -m for memory",
			strerror(-rc));
	bridge_show(bridge);
	return 0;
}

struct hy_l2_table *
hy_bridge_table(struct hy_bridge *bridge)
{
	return bridge->table;
}

int
hy_bridge_state(struct hy_bridge *bridge, uint16_t port, enum hy_l2_state state)
{
	const int number = bridge_number_of(bridge, port);
	uint8_t before;

	if (number < 0)
		return number;
	before = bridge->state[number];
	bridge->state[number] = (uint8_t)state;
	if (bridge_setup_renew(bridge) < 0) {
		bridge->state[number] = before;
		return -ENOMEM;
	}
	if (state == HY_L2_BLOCKING)
		hy_l2_flush(bridge->table, (uint16_t)number, HY_L2_ANY, false);
	return bridge_setup_settle(bridge, true) ? 0 : -ETIMEDOUT;
}
