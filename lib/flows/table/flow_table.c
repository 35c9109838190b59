/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of flows: their names, their users, and the thread of each. */

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include <rte_cycles.h>
#include <rte_malloc.h>

#include <hy_flow_table.h>

#include "lib/graph/internal/dpdk.h"
#include "lib/graph/internal/log.h"

#define HANDLE_MOST 64 /* packets of a worker before the next one's turn */
#define SLEEP_LEAST 20 /* microseconds */
#define SLEEP_MOST 1000
#define SWEEPS (1000 / HY_FLOW_TABLE_SWEEP)       /* until all megaflows were looked at */
#define SLOTS(flows) ((flows) + (flows) / 8 + 64) /* most that so many megaflows have */

struct hy_flow_table {
	struct hy_flow_table *next;
	char name[HY_NAME_SIZE];
	struct hy_flows_params params;
	struct hy_flows *flows;
	struct hy_flows_upcalls *upcalls;
	unsigned int *nb_nodes; /* that are attached, by worker */
	pthread_t thread;
	bool runs, stop;
};

static struct hy_flow_table *tables;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list, nb_nodes and runs */

/* The link that leads to the table of a name, or the last one. With the lock. */
static struct hy_flow_table **
link_of(const char *name)
{
	struct hy_flow_table **link = &tables;

	while (*link != NULL && strcmp((*link)->name, name) != 0)
		link = &(*link)->next;
	return link;
}

struct hy_flow_table *
hy_flow_table_find(const char *name)
{
	struct hy_flow_table *table;

	pthread_mutex_lock(&lock);
	table = *link_of(name);
	pthread_mutex_unlock(&lock);
	return table;
}

static void
table_free(struct hy_flow_table *table)
{
	hy_flows_upcalls_destroy(table->upcalls);
	hy_flows_destroy(table->flows);
	rte_free(table->nb_nodes);
	rte_free(table);
}

static int
table_fill(struct hy_flow_table *table, const struct hy_flow_table_params *params)
{
	int rc = hy_flows_create(&table->params, &table->flows);

	if (rc == 0)
		rc = hy_flows_caches_set(table->flows, &params->caches);
	if (rc == 0)
		rc = hy_flows_upcalls_create(table->flows, &params->upcalls, &table->upcalls);
	if (rc < 0)
		return rc;
	table->nb_nodes = rte_zmalloc_socket("flow_table",
		table->params.workers * sizeof(*table->nb_nodes), 0, table->params.socket);
	return table->nb_nodes == NULL ? -ENOMEM : 0;
}

static bool
name_take(struct hy_flow_table *table)
{
	struct hy_flow_table **link;
	bool is_free;

	pthread_mutex_lock(&lock);
	link = link_of(table->name);
	is_free = *link == NULL;
	if (is_free)
		*link = table;
	pthread_mutex_unlock(&lock);
	return is_free;
}

int
hy_flow_table_create(const struct hy_flow_table_params *params, struct hy_flow_table **out)
{
	struct hy_flow_table *table;
	int rc;

	*out = NULL;
	if (!hy_name_valid(params->name))
		return HY_REFUSE(-EINVAL, "a table of flows needs a name of [A-Za-z0-9_.-]{1,%d}",
			HY_NAME_SIZE - 1);
	table = rte_zmalloc_socket("flow_table", sizeof(*table), 0, params->flows.socket);
	if (table == NULL)
		return -ENOMEM;
	strcpy(table->name, params->name);
	table->params = params->flows;
	table->params.workers_begin = true;
	rc = table_fill(table, params);
	if (rc == 0 && !name_take(table))
		rc = HY_REFUSE(-EEXIST, "there is a table of flows '%s'", table->name);
	if (rc < 0) {
		table_free(table);
		return rc;
	}
	*out = table;
	return 0;
}

int
hy_flow_table_destroy(struct hy_flow_table *table)
{
	unsigned int nb_nodes = 0;

	if (table == NULL)
		return 0;
	pthread_mutex_lock(&lock);
	for (unsigned int w = 0; w < table->params.workers; w++)
		nb_nodes += table->nb_nodes[w];
	if (nb_nodes == 0)
		*link_of(table->name) = table->next;
	pthread_mutex_unlock(&lock);
	if (nb_nodes > 0)
		return HY_REFUSE(-EBUSY, "%u nodes of graphs are attached to table of flows '%s'",
			nb_nodes, table->name);
	if (table->runs) {
		__atomic_store_n(&table->stop, true, __ATOMIC_RELAXED);
		pthread_join(table->thread, NULL);
	}
	table_free(table);
	return 0;
}

int
hy_flow_table_use(struct hy_flow_table *table, unsigned int worker, const struct rte_rcu_qsbr *qsbr)
{
	int rc = 0;

	if (worker >= table->params.workers || qsbr != table->params.qsbr)
		return -EINVAL;
	pthread_mutex_lock(&lock);
	if (table->nb_nodes[worker] == 0)
		rc = hy_flows_worker_begin(table->flows, worker);
	if (rc == 0)
		table->nb_nodes[worker]++;
	pthread_mutex_unlock(&lock);
	return rc;
}

void
hy_flow_table_unuse(struct hy_flow_table *table, unsigned int worker)
{
	pthread_mutex_lock(&lock);
	if (--table->nb_nodes[worker] == 0)
		hy_flows_worker_end(table->flows, worker);
	pthread_mutex_unlock(&lock);
}

unsigned int
hy_flow_table_workers(const struct hy_flow_table *table)
{
	return table->params.workers;
}

const char *
hy_flow_table_name(const struct hy_flow_table *table)
{
	return table->name;
}

struct hy_flows *
hy_flow_table_flows(const struct hy_flow_table *table)
{
	return table->flows;
}

struct hy_flows_upcalls *
hy_flow_table_upcalls(const struct hy_flow_table *table)
{
	return table->upcalls;
}

uint32_t
hy_flow_table_handle(struct hy_flow_table *table, uint32_t most)
{
	uint32_t handled = 0;

	for (unsigned int w = 0; w < table->params.workers; w++)
		handled += hy_flows_handle(table->upcalls, w, most);
	return handled;
}

static uint32_t
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint32_t)((uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000);
}

static hy_dpdk_thread_result
run(void *arg)
{
	struct hy_flow_table *table = arg;
	uint32_t sleep = SLEEP_LEAST, told = now_ms();

	hy_flows_poll(table->flows, told, 0);
	while (!__atomic_load_n(&table->stop, __ATOMIC_RELAXED)) {
		const bool idle = hy_flow_table_handle(table, HANDLE_MOST) == 0;
		const uint32_t now = now_ms();

		if (now - told >= HY_FLOW_TABLE_SWEEP) {
			hy_flows_poll(table->flows, now,
				SLOTS(table->params.max_flows) / SWEEPS + 1);
			told = now;
		}
		if (idle)
			rte_delay_us_sleep(sleep);
		sleep = idle ? RTE_MIN(2 * sleep, (uint32_t)SLEEP_MOST) : SLEEP_LEAST;
	}
	return 0;
}

int
hy_flow_table_run(struct hy_flow_table *table)
{
	int rc = -EALREADY;

	if (table->params.qsbr == NULL)
		return HY_REFUSE(-EINVAL,
			"table of flows '%s' has no QSBR variable: it has no thread of its own",
			table->name);
	pthread_mutex_lock(&lock);
	if (!table->runs) {
		rc = hy_dpdk_control_thread(&table->thread, "hy-flows", run, table) == 0 ? 0
											 : -EAGAIN;
		table->runs = rc == 0;
	}
	pthread_mutex_unlock(&lock);
	return rc;
}
