/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups, as users change and read them. The adjacency of a group's id has its buckets in place of an L2
 * header; when a group gets more of them, the array of adjacencies is replaced, as for a next hop that
 * changes.
 */

#include <errno.h>
#include <string.h>

#include <rte_malloc.h>

#include "drivers/nodes/generic/ip4/ip4_next_hop.h"
#include "ip4_group.h"

static int
members_check(const struct hy_ip4_fib *fib, const struct hy_ip4_member *members, unsigned int n)
{
	if (n == 0 || n > HY_IP4_GROUP_MEMBERS)
		return -EINVAL;
	for (unsigned int i = 0; i < n; i++) {
		if (members[i].weight == 0 || members[i].weight > HY_IP4_GROUP_WEIGHT)
			return -EINVAL;
		if (!ip4_is_next_hop(fib, members[i].next_hop))
			return -ENOENT;
		for (unsigned int j = 0; j < i; j++)
			if (members[j].next_hop == members[i].next_hop)
				return -EINVAL;
	}
	return 0;
}

static void
hold(struct hy_ip4_fib *fib, const struct ip4_group *group, uint32_t more)
{
	for (unsigned int i = 0; i < group->n; i++)
		fib->next_hops[group->members[i].next_hop].held += more;
}

static void
adjacency_write(struct hy_ip4_adjacency *adjacency, const struct ip4_group *group)
{
	memset(adjacency, 0, sizeof(*adjacency));
	memcpy(&adjacency->l2, &group->buckets, sizeof(group->buckets));
	adjacency->port = HY_IP4_PORT_GROUP;
}

/* A group that begins like a next hop or another group, and is shown to nobody yet. */
static struct ip4_group *
group_make(struct hy_ip4_fib *fib, const struct hy_ip4_member *members, unsigned int n,
	uint32_t like)
{
	const struct ip4_group *old = ip4_group_find(fib, like);
	const struct hy_ip4_member alone = { .next_hop = like, .weight = 1 };
	struct ip4_group *one = NULL, *group;

	if (old == NULL && like != HY_IP4_NO_ID) {
		old = one = ip4_group_new(fib, &alone, 1, NULL);
		if (one == NULL)
			return NULL;
		memset(one->home, 0, 2 * (size_t)one->nb_buckets);
	}
	group = ip4_group_new(fib, members, n, old);
	if (group != NULL) {
		ip4_group_deal(group, old);
		ip4_group_stand(fib, group, true);
	}
	ip4_group_free(one);
	return group;
}

static int
group_create(struct hy_ip4_fib *fib, const struct hy_ip4_member *members, unsigned int n,
	uint32_t like, uint32_t *id)
{
	int rc = members_check(fib, members, n);
	struct ip4_group *group;
	uint32_t taken;

	if (rc == 0 && like != HY_IP4_NO_ID && !ip4_is_id(fib, like))
		rc = -ENOENT;
	if (rc < 0)
		return rc;
	group = group_make(fib, members, n, like);
	if (group == NULL)
		return -ENOMEM;
	rc = ip4_id_take(fib, &taken);
	if (rc < 0) {
		ip4_group_free(group);
		return rc;
	}
	adjacency_write(&fib->view.adjacencies[taken], group);
	ip4_adjacencies_show(fib, fib->view.adjacencies);
	fib->next_hops[taken] = (struct ip4_next_hop){ .used = true, .group = group };
	hold(fib, group, 1);
	*id = taken;
	return 0;
}

int
hy_ip4_group_create(struct hy_ip4_fib *fib, const struct hy_ip4_member *members, unsigned int n,
	uint32_t like, uint32_t *id)
{
	int rc;

	pthread_mutex_lock(&fib->lock);
	rc = group_create(fib, members, n, like, id);
	pthread_mutex_unlock(&fib->lock);
	return rc;
}

/* Lets workers read another's buckets from now on. */
static int
buckets_replace(struct hy_ip4_fib *fib, uint32_t id, const struct ip4_group *by,
	struct hy_ip4_buckets *old)
{
	struct hy_ip4_adjacency *adjacencies;
	int rc = ip4_adjacencies_copy(fib, fib->next_hop_room, &adjacencies);

	if (rc < 0)
		return rc;
	adjacency_write(&adjacencies[id], by);
	ip4_adjacencies_replace(fib, adjacencies);
	fib->retired_buckets = old;
	return 0;
}

/* The new state is made aside. Unless it has more buckets, they are then written in place. */
static int
group_set(struct hy_ip4_fib *fib, uint32_t id, const struct hy_ip4_member *members, unsigned int n)
{
	struct ip4_group *old = ip4_group_find(fib, id), *group;
	int rc = old == NULL ? -ENOENT : members_check(fib, members, n);

	if (rc < 0)
		return rc;
	group = ip4_group_new(fib, members, n, old);
	if (group == NULL)
		return -ENOMEM;
	ip4_group_deal(group, old);
	if (group->nb_buckets == old->nb_buckets) {
		RTE_SWAP(group->buckets, old->buckets); /* workers keep theirs */
		ip4_group_stand(fib, group, true);
	} else {
		ip4_group_stand(fib, group, true);
		rc = buckets_replace(fib, id, group, old->buckets);
		if (rc < 0) {
			ip4_group_free(group);
			return rc;
		}
		old->buckets = NULL;
	}
	hold(fib, group, 1);
	hold(fib, old, UINT32_MAX); /* one less */
	fib->next_hops[id].group = group;
	ip4_group_free(old);
	return 0;
}

int
hy_ip4_group_set(struct hy_ip4_fib *fib, uint32_t id, const struct hy_ip4_member *members,
	unsigned int n)
{
	int rc;

	pthread_mutex_lock(&fib->lock);
	rc = group_set(fib, id, members, n);
	pthread_mutex_unlock(&fib->lock);
	return rc;
}

static void
group_read(const struct hy_ip4_fib *fib, const struct ip4_group *group, struct hy_ip4_group *to)
{
	*to = (struct hy_ip4_group){ .nb_members = group->n, .nb_buckets = group->nb_buckets };
	for (unsigned int i = 0; i < group->n; i++) {
		const uint32_t id = group->members[i].next_hop;

		to->members[i] = group->members[i];
		to->up[i] = !fib->port_down[fib->view.adjacencies[id].port];
	}
	for (uint32_t b = 0; b < group->nb_buckets; b++)
		to->buckets[group->stands[b]]++;
}

int
hy_ip4_group_get(struct hy_ip4_fib *fib, uint32_t id, struct hy_ip4_group *group)
{
	const struct ip4_group *found;

	pthread_mutex_lock(&fib->lock);
	found = ip4_group_find(fib, id);
	if (found != NULL) {
		group_read(fib, found, group);
		group->routes = fib->next_hops[id].routes;
		group->ip6_routes = fib->next_hops[id].held;
	}
	pthread_mutex_unlock(&fib->lock);
	return found != NULL ? 0 : -ENOENT;
}

int
hy_ip4_group_delete(struct hy_ip4_fib *fib, uint32_t id)
{
	const struct ip4_group *group;
	int rc = 0;

	pthread_mutex_lock(&fib->lock);
	group = ip4_group_find(fib, id);
	if (group == NULL) {
		rc = -ENOENT;
	} else if (fib->next_hops[id].routes > 0 || fib->next_hops[id].held > 0 ||
		ip4_fib_frozen(fib)) {
		rc = -EBUSY;
	} else {
		hold(fib, group, UINT32_MAX); /* one less */
		ip4_id_give_back(fib, id, ip4_fib_token(fib));
	}
	pthread_mutex_unlock(&fib->lock);
	return rc;
}
