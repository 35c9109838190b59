/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The array of adjacencies that workers index by next-hop id. A slot is written only while no
 * worker can have its id; all else (growth, another MAC address) is done to a copy of the array,
 * which is then shown in its place, so that a worker sees no half of it. The array before is kept
 * until the next copy.
 */

#include <errno.h>
#include <string.h>

#include <rte_malloc.h>

#include "ip4_next_hop.h"

static struct hy_ip4_adjacency *
adjacencies_create(const struct hy_ip4_fib *fib, uint32_t room)
{
	return rte_zmalloc_socket("hy_ip4_adjacencies", room * sizeof(struct hy_ip4_adjacency),
		RTE_CACHE_LINE_SIZE, fib->params.socket);
}

void
ip4_adjacencies_show(struct hy_ip4_fib *fib, struct hy_ip4_adjacency *adjacencies)
{
	__atomic_store_n(&fib->view.adjacencies, adjacencies, __ATOMIC_RELEASE);
	rte_smp_wmb(); /* engines store some entries with no order of their own */
}

/* Frees the array before, as it must be before there is another one. */
static int
retired_free(struct hy_ip4_fib *fib)
{
	const int rc = fib->retired == NULL ? 0 : ip4_fib_wait(fib, fib->retired_token);

	if (rc < 0)
		return rc;
	rte_free(fib->retired);
	fib->retired = NULL;
	return 0;
}

int
ip4_adjacencies_copy(struct hy_ip4_fib *fib, uint32_t room, struct hy_ip4_adjacency **copy)
{
	int rc;

	if (ip4_fib_frozen(fib))
		return -EBUSY;
	rc = retired_free(fib);
	if (rc < 0)
		return rc;
	*copy = adjacencies_create(fib, room);
	if (*copy == NULL)
		return -ENOMEM;
	if (fib->nb_next_hops > 0)
		memcpy(*copy, fib->view.adjacencies, fib->nb_next_hops * sizeof(**copy));
	return 0;
}

void
ip4_adjacencies_replace(struct hy_ip4_fib *fib, struct hy_ip4_adjacency *by)
{
	fib->retired = fib->view.adjacencies;
	ip4_adjacencies_show(fib, by);
	fib->retired_token = ip4_fib_token(fib);
}

void
ip4_adjacency_write(const struct hy_ip4_fib *fib, struct hy_ip4_adjacency *adjacency,
	const struct hy_ip4_next_hop *next_hop)
{
	adjacency->l2.dst_addr = next_hop->mac;
	adjacency->l2.src_addr = fib->ports[next_hop->port].mac;
	adjacency->l2.ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	adjacency->port = next_hop->port;
}

struct hy_ip4_next_hop
ip4_adjacency_read(const struct hy_ip4_adjacency *adjacency)
{
	return (struct hy_ip4_next_hop){ .port = adjacency->port, .mac = adjacency->l2.dst_addr };
}

void
ip4_adjacencies_destroy(struct hy_ip4_fib *fib)
{
	rte_free(fib->retired);
	rte_free(fib->view.adjacencies);
}
