/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sets of lists of operations. Workers read a list by its number, from an array of pointers. The numbers
 * of lists, and memory, are used again when workers have reported after the deletion.
 */

#include <errno.h>
#include <string.h>

#include <rte_malloc.h>

#include <hy_grace.h>
#include <hy_lane.h>

#include "lib/flows/internal/flow_list.h"
#include "lib/graph/internal/log.h"

struct hy_flow_ops {
	char name[HY_NAME_SIZE];
	struct hy_flow_ops_params params;
	struct flow_list **lists;
	struct flow_count *counts; /* of the first worker's lists, of the second's, ... */
	uint16_t *spare;           /* numbers without a list that no worker may know */
	uint32_t nb_spare;
	struct flow_list *deleted, **deleted_end; /* in the order of their tokens */
	unsigned int nb_nodes;                    /* that are attached */
};

static void
ops_free(struct hy_flow_ops *ops)
{
	rte_free(ops->lists);
	rte_free(ops->counts);
	rte_free(ops->spare);
	rte_free(ops);
}

static int
ops_fill(struct hy_flow_ops *ops)
{
	const uint32_t most = ops->params.most;
	const int socket = ops->params.socket;

	ops->lists = rte_zmalloc_socket("flow_ops", most * sizeof(*ops->lists), 0, socket);
	ops->counts = rte_zmalloc_socket("flow_ops",
		(size_t)ops->params.workers * most * sizeof(*ops->counts), 0, socket);
	ops->spare = rte_malloc_socket("flow_ops", most * sizeof(*ops->spare), 0, socket);
	if (ops->lists == NULL || ops->counts == NULL || ops->spare == NULL)
		return -ENOMEM;
	ops->nb_spare = most;
	for (uint32_t i = 0; i < most; i++)
		ops->spare[i] = (uint16_t)(most - 1 - i);
	return 0;
}

int
hy_flow_ops_create(const struct hy_flow_ops_params *params, struct hy_flow_ops **out)
{
	struct hy_flow_ops *ops;
	int rc;

	*out = NULL;
	if (!hy_name_valid(params->name))
		return HY_REFUSE(-EINVAL, "lists of operations need a name of [A-Za-z0-9_.-]{1,%d}",
			HY_NAME_SIZE - 1);
	if (params->most == 0 || params->most > HY_FLOW_OPS_MOST || params->workers == 0)
		return HY_REFUSE(-EINVAL,
			"'%s': %u lists for %u workers; 1 to %u and 1 or more are accepted",
			params->name, params->most, params->workers, HY_FLOW_OPS_MOST);
	ops = rte_zmalloc_socket("flow_ops", sizeof(*ops), 0, params->socket);
	if (ops == NULL)
		return -ENOMEM;
	strcpy(ops->name, params->name);
	ops->params = *params;
	ops->params.name = ops->name;
	ops->deleted_end = &ops->deleted;
	rc = ops_fill(ops);
	if (rc < 0) {
		ops_free(ops);
		return rc;
	}
	*out = ops;
	return 0;
}

int
hy_flow_ops_destroy(struct hy_flow_ops *ops)
{
	unsigned int nb_nodes;

	if (ops == NULL)
		return 0;
	nb_nodes = __atomic_load_n(&ops->nb_nodes, __ATOMIC_ACQUIRE);
	if (nb_nodes > 0)
		return HY_REFUSE(-EBUSY,
			"%u nodes of graphs are attached to lists of operations '%s'", nb_nodes,
			ops->name);
	while (ops->deleted != NULL) {
		struct flow_list *list = ops->deleted;

		ops->deleted = list->next;
		rte_free(list);
	}
	for (uint32_t i = 0; i < ops->params.most; i++)
		rte_free(ops->lists[i]);
	ops_free(ops);
	return 0;
}

/* Takes back what workers have left. */
static void
ops_reap(struct hy_flow_ops *ops)
{
	struct rte_rcu_qsbr *qsbr = ops->params.qsbr;

	while (ops->deleted != NULL && (qsbr == NULL || hy_grace_over(qsbr, ops->deleted->token))) {
		struct flow_list *list = ops->deleted;

		ops->deleted = list->next;
		if (ops->deleted == NULL)
			ops->deleted_end = &ops->deleted;
		ops->spare[ops->nb_spare++] = list->number;
		rte_free(list);
	}
}

/* No worker counts packets of a number that is spare. */
static void
counts_clear(struct hy_flow_ops *ops, uint16_t number)
{
	for (unsigned int w = 0; w < ops->params.workers; w++) {
		struct flow_count *c = &ops->counts[(size_t)w * ops->params.most + number];

		__atomic_store_n(&c->packets, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&c->bytes, 0, __ATOMIC_RELAXED);
	}
}

int
hy_flow_ops_add(struct hy_flow_ops *ops, const struct hy_flow_op list[], uint32_t n,
	uint16_t *number)
{
	struct flow_list *made;
	int rc;

	ops_reap(ops);
	rc = flow_list_compile(list, n, ops->name, ops->params.socket, &made);
	if (rc < 0)
		return rc;
	if (ops->nb_spare == 0) {
		rte_free(made);
		return ops->deleted == NULL ? -ENOSPC : -EAGAIN;
	}
	made->number = ops->spare[--ops->nb_spare];
	counts_clear(ops, made->number);
	__atomic_store_n(&ops->lists[made->number], made, __ATOMIC_RELEASE);
	*number = made->number;
	return 0;
}

int
hy_flow_ops_delete(struct hy_flow_ops *ops, uint16_t number)
{
	struct flow_list *list = number < ops->params.most ? ops->lists[number] : NULL;

	if (list == NULL)
		return -ENOENT;
	__atomic_store_n(&ops->lists[number], NULL, __ATOMIC_RELAXED);
	list->token = ops->params.qsbr == NULL ? 0 : hy_grace_start(ops->params.qsbr);
	*ops->deleted_end = list;
	ops->deleted_end = &list->next;
	ops_reap(ops);
	return 0;
}

int
hy_flow_ops_count(const struct hy_flow_ops *ops, uint16_t number, uint64_t *packets,
	uint64_t *bytes)
{
	*packets = *bytes = 0;
	if (number >= ops->params.most ||
		__atomic_load_n(&ops->lists[number], __ATOMIC_ACQUIRE) == NULL)
		return -ENOENT;
	for (unsigned int w = 0; w < ops->params.workers; w++) {
		const struct flow_count *c = &ops->counts[(size_t)w * ops->params.most + number];

		*packets += __atomic_load_n(&c->packets, __ATOMIC_RELAXED);
		*bytes += __atomic_load_n(&c->bytes, __ATOMIC_RELAXED);
	}
	return 0;
}

int
hy_flow_ops_use(struct hy_flow_ops *ops, unsigned int worker, const struct rte_rcu_qsbr *qsbr)
{
	if (worker >= ops->params.workers || qsbr != ops->params.qsbr)
		return -EINVAL;
	__atomic_fetch_add(&ops->nb_nodes, 1, __ATOMIC_RELAXED);
	return 0;
}

void
hy_flow_ops_unuse(struct hy_flow_ops *ops)
{
	__atomic_fetch_sub(&ops->nb_nodes, 1, __ATOMIC_RELEASE);
}

const char *
hy_flow_ops_name(const struct hy_flow_ops *ops)
{
	return ops->name;
}

unsigned int
hy_flow_ops_workers(const struct hy_flow_ops *ops)
{
	return ops->params.workers;
}

struct flow_ops_view
flow_ops_view(const struct hy_flow_ops *ops, unsigned int worker)
{
	return (struct flow_ops_view){ .lists = ops->lists,
		.counts = ops->counts + (size_t)worker * ops->params.most,
		.most = ops->params.most };
}
