/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The l3fwd benchmark's contender from DPDK's librte_pipeline, joined as ip_pipeline does: an input
 * port for each port, one table of rte_lpm, and an output port for each port. An entry of the table
 * has the output port and the new Ethernet header, which the table's action writes.
 */

#include <stdlib.h>

#include <rte_lcore.h>
#include <rte_pipeline.h>
#include <rte_port_ethdev.h>
#include <rte_table_lpm.h>

#include "l3fwd.h"

#define BURST 32 /* as in ip_pipeline's examples */

struct entry {
	struct rte_pipeline_table_entry head;
	struct rte_ether_hdr l2;
};

struct pipeline {
	const struct l3fwd_rig *rig;
	struct rte_pipeline *p;
	uint32_t table, in[L3FWD_PORTS], out[L3FWD_PORTS];
	uint64_t drops; /* packets without a route */
};

static int
rewrite(struct rte_pipeline *p __rte_unused, struct rte_mbuf **mbufs, uint64_t mask,
	struct rte_pipeline_table_entry **entries, void *arg __rte_unused)
{
	for (; mask != 0; mask &= mask - 1) {
		const unsigned int i = (unsigned int)__builtin_ctzll(mask);

		l3fwd_rewrite(mbufs[i], &((const struct entry *)entries[i])->l2);
	}
	return 0;
}

/* The default entry drops the packets. */
static int
count_miss(struct rte_pipeline *p __rte_unused, struct rte_mbuf **mbufs __rte_unused, uint64_t mask,
	struct rte_pipeline_table_entry *entry __rte_unused, void *arg)
{
	((struct pipeline *)arg)->drops += (unsigned int)__builtin_popcountll(mask);
	return 0;
}

static int
ports_create(struct pipeline *w)
{
	for (unsigned int i = 0; i < w->rig->nb_ports; i++) {
		const uint16_t port = w->rig->port[USERS_ALL][i], queue = (uint16_t)w->rig->lane;
		struct rte_port_ethdev_reader_params reader = { port, queue };
		struct rte_port_ethdev_writer_params writer = { port, queue, BURST };
		struct rte_pipeline_port_in_params in = { .ops = &rte_port_ethdev_reader_ops,
			.arg_create = &reader,
			.burst_size = BURST };
		struct rte_pipeline_port_out_params out = { .ops = &rte_port_ethdev_writer_ops,
			.arg_create = &writer };

		if (rte_pipeline_port_in_create(w->p, &in, &w->in[i]) != 0 ||
			rte_pipeline_port_out_create(w->p, &out, &w->out[i]) != 0)
			return bench_cannot("librte_pipeline does not take port %u", i);
	}
	return 0;
}

/* Offset of the destination address from the mbuf; all packets have the same headroom. */
static uint32_t
destination_offset(const struct rte_mbuf *m)
{
	return (uint32_t)((uintptr_t)m->buf_addr - (uintptr_t)m) + RTE_PKTMBUF_HEADROOM +
		RTE_ETHER_HDR_LEN + offsetof(struct rte_ipv4_hdr, dst_addr);
}

static int
table_create(struct pipeline *w, const struct l3fwd_table *table)
{
	struct rte_pipeline_table_entry miss = { .action = RTE_PIPELINE_ACTION_DROP }, *added;
	struct rte_table_lpm_params lpm = { .name = "l3fwd_pipeline",
		.n_rules = table->n,
		.number_tbl8s = RTE_MAX(table->tbl8s, 1u),
		.entry_unique_size = sizeof(struct entry),
		.offset = destination_offset(w->rig->mbufs[0]) };
	struct rte_pipeline_table_params params = { .ops = &rte_table_lpm_ops,
		.arg_create = &lpm,
		.f_action_hit = rewrite,
		.f_action_miss = count_miss,
		.arg_ah = w,
		.action_data_size = sizeof(struct entry) - sizeof(miss) };

	if (rte_pipeline_table_create(w->p, &params, &w->table) != 0)
		return bench_cannot("librte_pipeline: no memory for a table of %u routes",
			table->n);
	if (rte_pipeline_table_default_entry_add(w->p, w->table, &miss, &added) != 0)
		return bench_cannot("librte_pipeline does not take a default entry");
	for (unsigned int i = 0; i < w->rig->nb_ports; i++)
		if (rte_pipeline_port_in_connect_to_table(w->p, w->in[i], w->table) != 0 ||
			rte_pipeline_port_in_enable(w->p, w->in[i]) != 0)
			return bench_cannot("librte_pipeline does not connect port %u", i);
	return 0;
}

static int
routes_add(struct pipeline *w, const struct l3fwd_table *table)
{
	for (uint32_t i = 0; i < table->n; i++) {
		const struct bench_route *route = &table->routes[i];
		struct rte_table_lpm_key key = { .ip = route->prefix, .depth = route->depth };
		struct rte_pipeline_table_entry *added;
		struct entry entry;
		int found;

		memset(&entry, 0, sizeof(entry)); /* entries are compared with their padding */
		entry.head.action = RTE_PIPELINE_ACTION_PORT;
		entry.head.port_id = w->out[hop_port(route->hop)];
		entry.l2 = l3fwd_hop_header(route->hop);
		if (rte_pipeline_table_entry_add(w->p, w->table, &key, &entry.head, &found,
			    &added) != 0)
			return bench_cannot("librte_pipeline does not take route %u", i);
	}
	return 0;
}

/* A call polls one port. */
static void
pipeline_run(void *arg, uint64_t turns)
{
	struct pipeline *w = arg;

	while (turns-- > 0 && rig_pending(w->rig))
		for (unsigned int i = 0; i < w->rig->nb_ports; i++)
			rte_pipeline_run(w->p);
	rte_pipeline_flush(w->p);
}

static uint64_t
pipeline_drops(void *arg)
{
	return ((const struct pipeline *)arg)->drops;
}

static void
pipeline_destroy(void *arg)
{
	struct pipeline *w = arg;

	if (w->p != NULL)
		rte_pipeline_free(w->p);
	free(w);
}

static int
set_up(struct pipeline *w, const struct l3fwd_table *table)
{
	struct rte_pipeline_params params = { .name = "l3fwd", .socket_id = (int)rte_socket_id() };

	w->p = rte_pipeline_create(&params);
	if (w->p == NULL)
		return bench_cannot("librte_pipeline: no memory");
	if (ports_create(w) < 0 || table_create(w, table) < 0 || routes_add(w, table) < 0)
		return -1;
	if (rte_pipeline_check(w->p) != 0)
		return bench_cannot("librte_pipeline: it is not complete");
	return 0;
}

struct l3fwd_way
pipeline_create(const struct l3fwd_rig *rig, const struct l3fwd_table *table)
{
	struct l3fwd_way way = { .name = "librte_pipeline",
		.users = USERS_ALL,
		.rewrites = true,
		.burst = BURST,
		.drops = pipeline_drops,
		.destroy = pipeline_destroy };
	struct pipeline *w = bench_alloc(1, sizeof(*w));

	w->rig = rig;
	if (set_up(w, table) < 0) {
		pipeline_destroy(w);
		return way;
	}
	way.run = pipeline_run;
	way.arg = w;
	return way;
}
