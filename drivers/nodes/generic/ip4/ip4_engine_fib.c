/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routes in an rte_fib that must not change under its readers, as it reuses a tbl8 at once.
 *
 * Changes are made to a copy that is hidden from workers, which is then shown in place of the
 * other. What it was changed by is kept, and done to the other copy before the next changes: by
 * then workers have left it, in all likelihood, and nobody waits.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>

#include "ip4_fib.h"

/* Changes are for this one from now on. */
static void
turn_to(struct hy_ip4_fib *fib, struct hy_ip4_copy *copy)
{
	fib->copies.changing = copy;
	fib->rib = rte_fib_get_rib(copy->rte_fib);
}

/* By its name, which differs from that of the other. */
static struct rte_fib *
copy_create(struct hy_ip4_fib *fib, const struct hy_ip4_copy *copy)
{
	return ip4_rte_fib_create(fib, copy == &fib->copies.copy[0] ? 'a' : 'b');
}

static int
fib_create(struct hy_ip4_fib *fib)
{
	fib->view.rte_fib_none = ip4_rte_fib_none(fib);
	fib->view.copy = &fib->copies.copy[0];
	fib->copies.hidden = &fib->copies.copy[1];
	fib->view.copy->rte_fib = copy_create(fib, fib->view.copy);
	if (fib->view.copy->rte_fib == NULL)
		return -rte_errno;
	turn_to(fib, fib->view.copy);
	return 0;
}

/* Also when nobody reads any more: the copy that is shown can then be changed itself. */
static void
hidden_free(struct hy_ip4_fib *fib)
{
	rte_fib_free(fib->copies.hidden->rte_fib);
	fib->copies.hidden->rte_fib = NULL;
	fib->copies.nb_log = 0;
}

static void
fib_destroy(struct hy_ip4_fib *fib)
{
	hidden_free(fib);
	free(fib->copies.log);
	rte_fib_free(fib->view.copy->rte_fib);
}

static int
hidden_create(struct hy_ip4_fib *fib)
{
	struct rte_rib_node *node = NULL;
	struct hy_ip4_route r;
	int rc = 0;

	fib->copies.hidden->rte_fib = copy_create(fib, fib->copies.hidden);
	if (fib->copies.hidden->rte_fib == NULL)
		return -rte_errno;
	while (rc == 0 && ip4_rib_next(fib->rib, &node, &r))
		rc = ip4_rte_fib_change(fib->copies.hidden->rte_fib, r.prefix, r.depth, r.next_hop);
	if (rc < 0)
		hidden_free(fib);
	return rc;
}

/* Does to the hidden copy what was done to the one that is shown. */
static int
hidden_catch_up(struct hy_ip4_fib *fib)
{
	struct ip4_fib_copies *copies = &fib->copies;
	int rc = ip4_fib_wait(fib, copies->token);

	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < copies->nb_log && rc == 0; i++) {
		const struct hy_ip4_route *r = &copies->log[i].route;

		if (r->depth > 0)
			rc = ip4_rte_fib_change(copies->hidden->rte_fib, r->prefix, r->depth,
				ip4_change_to(&copies->log[i]));
	}
	copies->nb_log = 0;
	if (rc < 0) /* neither one nor the other: the next change makes a new one */
		hidden_free(fib);
	return rc;
}

static int
log_reserve(struct ip4_fib_copies *copies, uint32_t n)
{
	struct hy_ip4_change *log;

	if (n <= copies->log_room)
		return 0;
	log = realloc(copies->log, n * sizeof(*log));
	if (log == NULL)
		return -ENOMEM;
	copies->log = log;
	copies->log_room = n;
	return 0;
}

static int
fib_begin(struct hy_ip4_fib *fib, uint32_t n)
{
	int rc;

	if (fib->nb_users == 0) {
		hidden_free(fib);
		return 0;
	}
	if (ip4_fib_frozen(fib))
		return -EBUSY;
	rc = log_reserve(&fib->copies, n);
	if (rc == 0)
		rc = fib->copies.hidden->rte_fib == NULL ? hidden_create(fib)
							 : hidden_catch_up(fib);
	if (rc < 0)
		return rc;
	fib->copies.hidden->default_entry = fib->view.default_entry;
	turn_to(fib, fib->copies.hidden);
	return 0;
}

static void
fib_commit(struct hy_ip4_fib *fib, const struct hy_ip4_change *changes, uint32_t n)
{
	struct ip4_fib_copies *copies = &fib->copies;
	struct hy_ip4_copy *shown = fib->view.copy;

	if (copies->changing == shown)
		return;
	if (n == 0) { /* as it was before: it lacks nothing */
		turn_to(fib, shown);
		return;
	}
	__atomic_store_n(&fib->view.copy, copies->changing, __ATOMIC_RELEASE);
	copies->token = ip4_fib_token(fib);
	copies->hidden = shown;
	memcpy(copies->log, changes, n * sizeof(*changes));
	copies->nb_log = n;
}

static int
fib_change(struct hy_ip4_fib *fib, uint32_t prefix, uint8_t depth, uint32_t id)
{
	return ip4_rte_fib_change(fib->copies.changing->rte_fib, prefix, depth, id);
}

static int
fib_change_default(struct hy_ip4_fib *fib, uint32_t entry)
{
	fib->view.default_entry = entry;
	fib->copies.changing->default_entry = entry;
	return 0;
}

static uint32_t
fib_lookup(struct hy_ip4_fib *fib, uint32_t dst)
{
	uint64_t id;

	rte_fib_lookup_bulk(fib->view.copy->rte_fib, &dst, &id, 1);
	return id == fib->view.rte_fib_none ? IP4_FIB_NO_ROUTE : (uint32_t)id;
}

const struct ip4_engine ip4_engine_fib = {
	.create = fib_create,
	.destroy = fib_destroy,
	.begin = fib_begin,
	.change = fib_change,
	.change_default = fib_change_default,
	.commit = fib_commit,
	.lookup = fib_lookup,
};
