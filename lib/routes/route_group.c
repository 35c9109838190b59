/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups of the lists of routes, each stored once, and their ids in a table. A route that leads to
 * other members than before gets another group, which starts like what the route led to. Groups of a
 * table do not change: so changes of routes can be taken back.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_jhash.h>

#include <hy_signals.h>

#include "lib/graph/internal/table.h"
#include "routes.h"

static int
by_next_hop(const void *a, const void *b)
{
	const struct hy_route_member *ma = a, *mb = b;

	if (ma->next_hop.port != mb->next_hop.port)
		return ma->next_hop.port < mb->next_hop.port ? -1 : 1;
	return memcmp(&ma->next_hop.mac, &mb->next_hop.mac, sizeof(ma->next_hop.mac));
}

static bool
is_same(const struct hy_route_group *a, const struct hy_route_group *b)
{
	return a->n == b->n && memcmp(a->members, b->members, a->n * sizeof(a->members[0])) == 0;
}

static_assert(sizeof(struct hy_route_member) == 12, "members have no padding");

const struct hy_route_group *
route_group_copy(struct route_groups *groups, const struct hy_route_group *group)
{
	struct route_group *new = calloc(1, sizeof(*new)), *found;
	struct route_group **chain;

	if (groups->chains == NULL)
		groups->chains = calloc(GROUP_CHAINS, sizeof(struct route_group *));
	if (new == NULL || groups->chains == NULL) {
		free(new);
		return NULL;
	}
	new->is = *group;
	qsort(new->is.members, new->is.n, sizeof(new->is.members[0]), by_next_hop);
	chain = &groups->chains[rte_jhash(new->is.members,
					new->is.n *(uint32_t)sizeof(new->is.members[0]), 0) %
		GROUP_CHAINS];
	for (found = *chain; found != NULL && !is_same(&found->is, &new->is);)
		found = found->next;
	if (found != NULL) {
		free(new);
		return &found->is;
	}
	new->next = *chain;
	*chain = new;
	return &new->is;
}

void
route_groups_each(const struct route_groups *groups,
	void (*each)(struct route_group *group, void *arg), void *arg)
{
	for (unsigned int c = 0; groups->chains != NULL && c < GROUP_CHAINS; c++) {
		for (struct route_group *g = groups->chains[c], *next; g != NULL; g = next) {
			next = g->next;
			each(g, arg);
		}
	}
}

static void
forget(struct route_group *group, void *arg __rte_unused)
{
	free(group->ids);
	group->ids = NULL;
	group->nb_ids = 0;
}

static void
group_free(struct route_group *group, void *arg)
{
	forget(group, arg);
	free(group);
}

void
route_groups_free(struct route_groups *groups)
{
	route_groups_each(groups, group_free, NULL);
	free(groups->chains);
	*groups = (struct route_groups){ 0 };
}

void
route_groups_forget(const struct route_groups *groups)
{
	route_groups_each(groups, forget, NULL);
}

/* Whether a group of the table has just these members, which it then has in this order. */
static bool
has_members(struct hy_ip4_fib *fib, uint32_t id, const struct hy_ip4_member *members,
	unsigned int n)
{
	struct hy_ip4_group group;

	if (id == HY_IP4_NO_ID || hy_ip4_group_get(fib, id, &group) < 0 || group.nb_members != n)
		return false;
	for (unsigned int i = 0; i < n; i++)
		if (group.members[i].next_hop != members[i].next_hop ||
			group.members[i].weight != members[i].weight)
			return false;
	return true;
}

static int
id_find(struct hy_ip4_fib *fib, const struct hy_route_group *group, uint32_t before, uint32_t *id)
{
	struct hy_ip4_member members[HY_IP4_GROUP_MEMBERS];

	for (unsigned int i = 0; i < group->n; i++) {
		int rc;

		members[i].weight = group->members[i].weight;
		rc = hy_ip4_next_hop_add(fib, &group->members[i].next_hop, &members[i].next_hop);
		if (rc < 0)
			return rc;
	}
	if (has_members(fib, before, members, group->n)) {
		*id = before;
		return 0;
	}
	return hy_ip4_group_create(fib, members, group->n, before, id);
}

static int
group_id(struct hy_ip4_fib *fib, const struct hy_route_group *is, uint32_t before, uint32_t *id)
{
	struct route_group *group = RTE_PTR_SUB(is, offsetof(struct route_group, is));
	struct route_group_id *ids;
	int rc;

	for (unsigned int i = 0; i < group->nb_ids; i++) {
		/* A route without flows takes any. */
		if (group->ids[i].before == before || before == HY_IP4_NO_ID) {
			*id = group->ids[i].id;
			return 0;
		}
	}
	if (hy_stopping()) /* many members of unlike weights take milliseconds */
		return -EINTR;
	ids = hy_table_room(group->ids, group->nb_ids, sizeof(*ids));
	if (ids == NULL)
		return -ENOMEM;
	group->ids = ids;
	rc = id_find(fib, is, before, id);
	if (rc == 0)
		group->ids[group->nb_ids++] = (struct route_group_id){ before, *id };
	return rc;
}

int
route_id(struct hy_ip4_fib *fib, const struct hy_route *route, unsigned int turn, uint32_t *id)
{
	if (route->group == NULL)
		return turn == 0 ? hy_ip4_next_hop_add(fib, &route->next_hop, id) : 0;
	return (*id != HY_IP4_NO_ID) == (turn == 0) ? group_id(fib, route->group, *id, id) : 0;
}

void
route_group_write(const struct hy_routes *routes, struct hy_ip4_fib *fib, uint32_t id, FILE *file)
{
	struct hy_ip4_group group = { 0 };

	hy_ip4_group_get(fib, id, &group);
	for (unsigned int i = 0; i < group.nb_members; i++) {
		struct hy_ip4_next_hop hop = { 0 };

		hy_ip4_next_hop_get(fib, group.members[i].next_hop, &hop, NULL);
		fprintf(file, "%s", i > 0 ? "," : "");
		route_hop_write(routes, &hop, file);
		if (group.members[i].weight != 1)
			fprintf(file, " weight %u", group.members[i].weight);
	}
}
