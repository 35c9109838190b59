/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routes in rte_lpm. It changes under its readers, entry by entry, and defers the reuse of a tbl8 until
 * the table's QSBR variable reports that nobody reads it.
 */

#include <errno.h>
#include <stdio.h>

#include <rte_errno.h>

#include "ip4_fib.h"

static int
lpm_create(struct hy_ip4_fib *fib)
{
	const struct hy_ip4_fib_params *params = &fib->params;
	const struct rte_lpm_config config = { .max_rules = params->max_routes,
		.number_tbl8s = params->max_tbl8s };
	const struct rte_rib_conf rib = { .max_nodes = (int)(2 * params->max_routes) };
	struct rte_lpm_rcu_config rcu = { .v = params->qsbr, .mode = RTE_LPM_QSBR_MODE_DQ };
	char name[IP4_FIB_NAME_MAX + 3];

	/* The tree of an rte_fib has the name of the table too, with another suffix. */
	snprintf(name, sizeof(name), "%s.l", fib->name);
	fib->rib = rte_rib_create(name, params->socket, &rib);
	if (fib->rib == NULL)
		return -rte_errno;
	fib->view.lpm = rte_lpm_create(fib->name, params->socket, &config);
	if (fib->view.lpm != NULL &&
		(params->qsbr == NULL || rte_lpm_rcu_qsbr_add(fib->view.lpm, &rcu) == 0))
		return 0;
	rte_lpm_free(fib->view.lpm);
	rte_rib_free(fib->rib);
	return -rte_errno;
}

static void
lpm_destroy(struct hy_ip4_fib *fib)
{
	rte_lpm_free(fib->view.lpm);
	rte_rib_free(fib->rib);
}

/* Undoing several changes may delete routes, which without a defer queue frees at once. */
static int
lpm_begin(struct hy_ip4_fib *fib, uint32_t n)
{
	return ip4_fib_frozen(fib) && n > 1 ? -EBUSY : 0;
}

/* rte_lpm has a tbl8 for every /24 that may need one, so a missing one still waits for workers. */
static int
lpm_add(struct hy_ip4_fib *fib, uint32_t prefix, uint8_t depth, uint32_t id)
{
	int rc = rte_lpm_add(fib->view.lpm, prefix, depth, id);

	if (rc != -ENOSPC)
		return rc;
	rc = ip4_fib_wait(fib, ip4_fib_token(fib));
	return rc < 0 ? rc : rte_lpm_add(fib->view.lpm, prefix, depth, id);
}

static int
lpm_remove(struct hy_ip4_fib *fib, uint32_t prefix, uint8_t depth)
{
	const int rc = rte_lpm_delete(fib->view.lpm, prefix, depth);

	if (rc == 0)
		rte_rib_remove(fib->rib, prefix, depth);
	return rc;
}

/*
 * Workers read the default route first, then the table. So a worker that reads the new default route
 * sees all earlier changes. The wait ensures that no worker combines the old one with later changes.
 */
static int
lpm_change_default(struct hy_ip4_fib *fib, uint32_t entry)
{
	const uint32_t before = fib->view.default_entry;
	int rc;

	__atomic_store_n(&fib->view.default_entry, entry, __ATOMIC_RELEASE);
	rc = ip4_fib_wait(fib, ip4_fib_token(fib));
	if (rc < 0)
		__atomic_store_n(&fib->view.default_entry, before, __ATOMIC_RELEASE);
	return rc;
}

static int
lpm_change(struct hy_ip4_fib *fib, uint32_t prefix, uint8_t depth, uint32_t id)
{
	struct rte_rib_node *route = rte_rib_lookup_exact(fib->rib, prefix, depth);
	const bool is_new = route == NULL;
	int rc;

	if (id == IP4_FIB_NO_ROUTE)
		return lpm_remove(fib, prefix, depth);
	if (is_new)
		route = rte_rib_insert(fib->rib, prefix, depth);
	if (route == NULL)
		return -rte_errno;
	rc = lpm_add(fib, prefix, depth, id);
	if (rc == 0)
		rte_rib_set_nh(route, id);
	else if (is_new)
		rte_rib_remove(fib->rib, prefix, depth);
	return rc;
}

const struct ip4_engine ip4_engine_lpm = {
	.create = lpm_create,
	.destroy = lpm_destroy,
	.begin = lpm_begin,
	.change = lpm_change,
	.change_default = lpm_change_default,
};
