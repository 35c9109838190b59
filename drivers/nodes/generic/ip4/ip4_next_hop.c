/* SPDX-License-Identifier: BSD-3-Clause */
/* Next hops, as users and nodes add, change, hold and delete them. */

#include <errno.h>

#include <rte_malloc.h>

#include "drivers/nodes/generic/group/ip4_group.h"
#include "ip4_next_hop.h"

static bool
port_known(const struct hy_ip4_fib *fib, uint16_t port)
{
	return port < HY_IP4_PORTS && fib->has_port[port];
}

static int
next_hop_add(struct hy_ip4_fib *fib, const struct hy_ip4_next_hop *next_hop, uint32_t *id)
{
	uint32_t taken = ip4_id_find(fib, next_hop);
	int rc;

	if (taken == IP4_NO_ID) {
		if (!port_known(fib, next_hop->port))
			return -ENODEV;
		rc = ip4_id_take(fib, &taken);
		if (rc < 0)
			return rc;
		if (ip4_id_add(fib, next_hop, taken) < 0) {
			ip4_id_give_back(fib, taken, 0);
			return -ENOMEM;
		}
		ip4_adjacency_write(fib, &fib->view.adjacencies[taken], next_hop);
		ip4_adjacencies_show(fib, fib->view.adjacencies);
		fib->next_hops[taken] = (struct ip4_next_hop){ .used = true };
	}
	*id = taken;
	return 0;
}

int
hy_ip4_next_hop_add(struct hy_ip4_fib *fib, const struct hy_ip4_next_hop *next_hop, uint32_t *id)
{
	int rc;

	pthread_mutex_lock(&fib->lock);
	rc = next_hop_add(fib, next_hop, id);
	pthread_mutex_unlock(&fib->lock);
	return rc;
}

int
ip4_next_hop_hold(struct hy_ip4_fib *fib, const struct hy_ip4_next_hop *next_hop, uint32_t *id)
{
	int rc;

	pthread_mutex_lock(&fib->lock);
	rc = next_hop_add(fib, next_hop, id);
	if (rc == 0)
		fib->next_hops[*id].held++;
	pthread_mutex_unlock(&fib->lock);
	return rc;
}

int
ip4_id_keep(struct hy_ip4_fib *fib, uint32_t id)
{
	int rc = -ENOENT;

	pthread_mutex_lock(&fib->lock);
	if (ip4_is_id(fib, id)) {
		fib->next_hops[id].held++;
		rc = 0;
	}
	pthread_mutex_unlock(&fib->lock);
	return rc;
}

void
ip4_id_release(struct hy_ip4_fib *fib, uint32_t id)
{
	pthread_mutex_lock(&fib->lock);
	fib->next_hops[id].held--;
	pthread_mutex_unlock(&fib->lock);
}

struct hy_ip4_next_hop
ip4_id_read(struct hy_ip4_fib *fib, uint32_t id)
{
	struct hy_ip4_next_hop next_hop;

	pthread_mutex_lock(&fib->lock);
	next_hop = ip4_adjacency_read(&fib->view.adjacencies[id]);
	pthread_mutex_unlock(&fib->lock);
	return next_hop;
}

static int
next_hop_set(struct hy_ip4_fib *fib, uint32_t id, const struct hy_ip4_next_hop *next_hop)
{
	struct hy_ip4_adjacency *adjacencies;
	uint32_t other;
	int rc;

	if (!ip4_is_next_hop(fib, id))
		return -ENOENT;
	if (!port_known(fib, next_hop->port))
		return -ENODEV;
	other = ip4_id_find(fib, next_hop);
	if (other != IP4_NO_ID)
		return other == id ? 0 : -EEXIST;
	rc = ip4_adjacencies_copy(fib, fib->next_hop_room, &adjacencies);
	if (rc < 0)
		return rc;
	if (ip4_id_add(fib, next_hop, id) < 0) {
		rte_free(adjacencies);
		return -ENOMEM;
	}
	ip4_id_forget(fib, id);
	ip4_adjacency_write(fib, &adjacencies[id], next_hop);
	ip4_adjacencies_replace(fib, adjacencies);
	ip4_groups_follow(fib);
	return 0;
}

int
hy_ip4_next_hop_set(struct hy_ip4_fib *fib, uint32_t id, const struct hy_ip4_next_hop *next_hop)
{
	int rc;

	pthread_mutex_lock(&fib->lock);
	rc = next_hop_set(fib, id, next_hop);
	pthread_mutex_unlock(&fib->lock);
	return rc;
}

int
hy_ip4_next_hop_get(struct hy_ip4_fib *fib, uint32_t id, struct hy_ip4_next_hop *next_hop,
	uint32_t *routes)
{
	int rc = -ENOENT;

	pthread_mutex_lock(&fib->lock);
	if (ip4_is_next_hop(fib, id)) {
		*next_hop = ip4_adjacency_read(&fib->view.adjacencies[id]);
		if (routes != NULL)
			*routes = fib->next_hops[id].routes;
		rc = 0;
	}
	pthread_mutex_unlock(&fib->lock);
	return rc;
}

int
hy_ip4_next_hop_delete(struct hy_ip4_fib *fib, uint32_t id)
{
	int rc = 0;

	pthread_mutex_lock(&fib->lock);
	if (!ip4_is_next_hop(fib, id)) {
		rc = -ENOENT;
	} else if (fib->next_hops[id].routes > 0 || fib->next_hops[id].held > 0 ||
		ip4_fib_frozen(fib)) {
		rc = -EBUSY;
	} else {
		ip4_id_forget(fib, id);
		ip4_id_give_back(fib, id, ip4_fib_token(fib));
	}
	pthread_mutex_unlock(&fib->lock);
	return rc;
}

uint32_t
hy_ip4_next_hops(struct hy_ip4_fib *fib)
{
	uint32_t n;

	pthread_mutex_lock(&fib->lock);
	n = fib->nb_next_hops;
	pthread_mutex_unlock(&fib->lock);
	return n;
}
