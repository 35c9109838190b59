/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routes in rte_fib (DIR24_8). It reuses a tbl8 at once, so it must not change under its readers.
 *
 * Changes go into a copy that is hidden from workers, which then replaces the copy they read. A log
 * keeps these changes, and replays them on the other copy before the next ones. By then workers have
 * most likely left that copy, so nobody waits.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ip4_fib.h"

static int
copy_create(const struct hy_ip4_fib *fib, struct hy_ip4_copy *copy)
{
	return ip4_rte_fib_create(fib, copy == &fib->copy[0] ? 'a' : 'b', &copy->rte_fib);
}

/* Directs changes to a copy from now on. */
static void
turn_to(struct hy_ip4_fib *fib, struct hy_ip4_copy *copy)
{
	fib->copies.changing = copy;
	fib->rib = rte_fib_get_rib(copy->rte_fib);
}

static int
fib_create(struct hy_ip4_fib *fib)
{
	int rc;

	fib->view.rte_fib_none = ip4_rte_fib_none(fib);
	fib->view.copy = &fib->copy[0];
	fib->copies.hidden = &fib->copy[1];
	rc = copy_create(fib, fib->view.copy);
	if (rc == 0)
		turn_to(fib, fib->view.copy);
	return rc;
}

/* Also called once nobody reads the table: then the shown copy can change itself. */
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
	int rc = copy_create(fib, fib->copies.hidden);

	if (rc < 0)
		return rc;
	while (rc == 0 && ip4_rib_next(fib->rib, &node, &r))
		rc = ip4_rte_fib_change(fib->copies.hidden->rte_fib, r.prefix, r.depth, r.next_hop);
	if (rc < 0)
		hidden_free(fib);
	return rc;
}

/* Replays the log on the hidden copy. */
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
	if (rc < 0) /* half replayed: the next change makes a new copy */
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
	if (n == 0) { /* the hidden copy is as it was before */
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

const struct ip4_engine ip4_engine_fib = {
	.create = fib_create,
	.destroy = fib_destroy,
	.begin = fib_begin,
	.change = fib_change,
	.change_default = fib_change_default,
	.commit = fib_commit,
};
