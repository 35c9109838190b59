/* SPDX-License-Identifier: BSD-3-Clause */
/* The IPv4 forwarding table: rte_lpm, next hops, ports. */

#include <errno.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_malloc.h>

#include "ip4_fib.h"

#define NEXT_HOPS_MAX (1u << 24) /* an LPM entry has 24 bits for it */
#define TBL8S_MAX (1u << 22) /* so that an index into their entries fits a signed 32-bit gather */

int
hy_ip4_fib_create(const char *name, const struct hy_ip4_fib_params *params, struct hy_ip4_fib **out)
{
	const uint32_t next_hops = params->max_next_hops == 0 ? 65536 : params->max_next_hops;
	const struct rte_lpm_config config = {
		.max_rules = params->max_routes == 0 ? 1 << 20 : params->max_routes,
		.number_tbl8s = params->max_tbl8s == 0 ? 4096 : params->max_tbl8s,
	};
	struct hy_ip4_fib *fib;

	if (strlen(name) > 24 || next_hops > NEXT_HOPS_MAX || config.number_tbl8s > TBL8S_MAX)
		return -EINVAL;
	fib = rte_zmalloc_socket("hy_ip4_fib",
		sizeof(*fib) + next_hops * sizeof(fib->adjacencies[0]), RTE_CACHE_LINE_SIZE,
		params->socket);
	if (fib == NULL)
		return -ENOMEM;
	fib->socket = params->socket;
	fib->max_next_hops = next_hops;
	fib->lpm = rte_lpm_create(name, params->socket, &config);
	if (fib->lpm == NULL) {
		rte_free(fib);
		return -rte_errno;
	}
	*out = fib;
	return 0;
}

void
hy_ip4_fib_destroy(struct hy_ip4_fib *fib)
{
	if (fib == NULL)
		return;
	rte_lpm_free(fib->lpm);
	rte_free(fib);
}

int
hy_ip4_fib_socket(const struct hy_ip4_fib *fib)
{
	return fib->socket;
}

int
hy_ip4_port_add(struct hy_ip4_fib *fib, const struct hy_ip4_port *port)
{
	if (port->port >= RTE_MAX_ETHPORTS)
		return -EINVAL;
	if (fib->nb_users > 0)
		return -EBUSY;
	if (fib->has_port[port->port])
		return -EEXIST;
	fib->has_port[port->port] = true;
	fib->ports[port->port] = *port;
	return 0;
}

int
hy_ip4_next_hop_add(struct hy_ip4_fib *fib, uint16_t port, const struct rte_ether_addr *mac,
	uint32_t *id)
{
	struct hy_ip4_adjacency *adjacency;

	if (port >= RTE_MAX_ETHPORTS || !fib->has_port[port])
		return -ENODEV;
	if (fib->nb_next_hops == fib->max_next_hops)
		return -ENOSPC;
	*id = fib->nb_next_hops++;
	adjacency = &fib->adjacencies[*id];
	adjacency->l2.dst_addr = *mac;
	adjacency->l2.src_addr = fib->ports[port].mac;
	adjacency->l2.ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	adjacency->port = port;
	return 0;
}

int
hy_ip4_route_add(struct hy_ip4_fib *fib, uint32_t prefix, uint8_t depth, uint32_t next_hop)
{
	uint32_t old;
	int rc;

	if (depth > 32 || (depth < 32 && (prefix << depth) != 0))
		return -EINVAL;
	if (next_hop >= fib->nb_next_hops)
		return -ENOENT;
	if (depth == 0) {
		if (fib->default_entry != 0)
			return -EEXIST;
		/* Release: a worker that finds the route finds the next hop too. */
		__atomic_store_n(&fib->default_entry, RTE_LPM_LOOKUP_SUCCESS | next_hop,
			__ATOMIC_RELEASE);
		return 0;
	}
	if (rte_lpm_is_rule_present(fib->lpm, prefix, depth, &old) == 1)
		return -EEXIST;
	rc = rte_lpm_add(fib->lpm, prefix, depth, next_hop);
	return rc < 0 ? -ENOSPC : 0;
}

int
hy_ip4_lookup(const struct hy_ip4_fib *fib, uint32_t dst, uint32_t *next_hop)
{
	const uint32_t entry = __atomic_load_n(&fib->default_entry, __ATOMIC_ACQUIRE);

	if (rte_lpm_lookup(fib->lpm, dst, next_hop) == 0)
		return 0;
	*next_hop = entry & (NEXT_HOPS_MAX - 1);
	return entry == 0 ? -ENOENT : 0;
}

struct hy_ip4_fib *
hy_ip4_fib_for(const struct hy_graph *graph, const struct hy_ip4_lookup_config *config)
{
	struct hy_ip4_fib *fib;

	if (config == NULL || config->nb_fibs == 0)
		return NULL;
	fib = config->fibs[0];
	for (unsigned int i = 0; i < config->nb_fibs; i++)
		if (config->fibs[i]->socket == hy_graph_socket(graph))
			fib = config->fibs[i];
	return fib;
}
