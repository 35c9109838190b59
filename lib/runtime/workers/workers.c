/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers from their list to their end. */

#include <errno.h>

#include <rte_debug.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>

#include <hy_graph_worker.h>

#include "lib/graph/internal/log.h"
#include "workers.h"

static int
worker_add(struct hy_workers *workers, unsigned int lcore, bool numa)
{
	if (!rte_lcore_is_enabled(lcore) || lcore == rte_get_main_lcore())
		return HY_REFUSE(-EINVAL, "lcore %u is no worker of EAL's", lcore);
	workers->worker[workers->nb++] = (struct hy_worker){ .lcore = lcore,
		.socket = numa ? (int)rte_lcore_to_socket_id(lcore) : SOCKET_ID_ANY,
		.all = workers,
		.ended = true };
	return 0;
}

static int
qsbr_create(struct hy_workers *workers)
{
	const size_t size = rte_rcu_qsbr_get_memsize(workers->nb);

	workers->qsbr = rte_zmalloc("hy_workers", size, RTE_CACHE_LINE_SIZE);
	if (workers->qsbr == NULL)
		return -ENOMEM;
	rte_rcu_qsbr_init(workers->qsbr, workers->nb);
	return 0;
}

int
hy_workers_init(struct hy_workers *workers, const unsigned int *lcores, unsigned int n, bool numa)
{
	unsigned int lcore;
	int rc = 0;

	*workers = (struct hy_workers){ 0 };
	if (lcores == NULL)
		RTE_LCORE_FOREACH_WORKER(lcore)
			if (workers->nb < n)
				rc = worker_add(workers, lcore, numa);
	for (unsigned int i = 0; lcores != NULL && i < n && rc == 0; i++)
		rc = worker_add(workers, lcores[i], numa);
	if (rc == 0 && workers->nb == 0)
		rc = HY_REFUSE(-EINVAL,
			"there is no worker; EAL's -l or --lcores must name two or more");
	return rc < 0 ? rc : qsbr_create(workers);
}

void
hy_workers_deal(const struct hy_workers *workers, struct hy_ends *ends, struct hy_rx_queue *queues)
{
	for (unsigned int i = 0; i < ends->nb_ports; i++)
		queues[i] = (struct hy_rx_queue){ .port = ends->ports[i],
			.lcore = workers->worker[i % workers->nb].lcore };
	ends->queues = queues;
	ends->nb_queues = ends->nb_ports;
	ends->nb_workers = workers->nb;
}

uint32_t
hy_workers_held(unsigned int nb_workers, uint32_t burst)
{
	return nb_workers * (nb_workers - 1) * HY_WORKERS_RING_BURSTS * burst;
}

static int
worker_main(void *arg)
{
	struct hy_worker *worker = arg;

	while (!__atomic_load_n(&worker->all->stop, __ATOMIC_RELAXED))
		hy_idle_step(&worker->idle, worker->graph, hy_graph_walk(worker->graph));
	hy_graph_rest(worker->graph);
	__atomic_store_n(&worker->ended, true, __ATOMIC_RELEASE);
	return 0;
}

/* Ends the first n workers. */
static void
join_first(struct hy_workers *workers, unsigned int n)
{
	__atomic_store_n(&workers->stop, true, __ATOMIC_RELAXED);
	for (unsigned int w = 0; w < n; w++)
		rte_eal_wait_lcore(workers->worker[w].lcore);
	/* What workers wrote is here by now, and this says it where EAL is not looked into. */
	for (unsigned int w = 0; w < n; w++)
		RTE_VERIFY(__atomic_load_n(&workers->worker[w].ended, __ATOMIC_ACQUIRE));
}

int
hy_workers_launch(struct hy_workers *workers)
{
	__atomic_store_n(&workers->stop, false, __ATOMIC_RELAXED);
	for (unsigned int w = 0; w < workers->nb; w++) {
		struct hy_worker *worker = &workers->worker[w];
		int rc;

		worker->ended = false;
		rc = rte_eal_remote_launch(worker_main, worker, worker->lcore);
		if (rc < 0) {
			worker->ended = true;
			join_first(workers, w); /* the lcore itself may be busy for ever */
			return rc;
		}
	}
	return 0;
}

void
hy_workers_join(struct hy_workers *workers)
{
	join_first(workers, workers->nb);
}

uint64_t
hy_workers_graphs_destroy(struct hy_workers *workers)
{
	uint64_t under_way = 0;

	if (workers->dispatch != NULL)
		under_way = hy_dispatch_destroy(workers->dispatch);
	else
		for (unsigned int w = 0; w < workers->nb; w++)
			hy_graph_destroy(workers->worker[w].graph);
	workers->dispatch = NULL;
	for (unsigned int w = 0; w < workers->nb; w++)
		workers->worker[w].graph = workers->graphs[w] = NULL;
	return under_way;
}

uint64_t
hy_workers_destroy(struct hy_workers *workers)
{
	const uint64_t under_way = hy_workers_graphs_destroy(workers);

	rte_free(workers->qsbr);
	*workers = (struct hy_workers){ 0 };
	return under_way;
}
