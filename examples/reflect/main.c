/* SPDX-License-Identifier: BSD-3-Clause */
/* reflect: sends frames back out of their port, with their MAC addresses swapped, and counts them. */

#include <string.h>

#include <rte_ether.h>

#include <hy_mbuf.h>
#include <hy_node.h>
#include <hy_program.h>
#include <hy_run.h>
#include <hy_terminal.h>

#define EDGES_SIZE (RTE_MAX_ETHPORTS * sizeof(uint16_t))

enum { IP4, IP6, OTHER, COUNTERS };
enum { TOO_SHORT };

static uint16_t
reflect_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const uint16_t *edge = node->ctx; /* by port */
	uint64_t seen[COUNTERS] = { 0 };
	uint16_t next[HY_BURST_MAX];

	for (uint16_t i = 0; i < n; i++) {
		const struct rte_mbuf *m = objs[i];
		struct rte_ether_hdr *eth = rte_pktmbuf_mtod(m, struct rte_ether_hdr *);

		next[i] = HY_DROP(TOO_SHORT);
		if (m->data_len < sizeof(*eth))
			continue;
		next[i] = edge[m->port];
		RTE_SWAP(eth->src_addr, eth->dst_addr);
		if (eth->ether_type == RTE_BE16(RTE_ETHER_TYPE_IPV4))
			seen[IP4]++;
		else
			seen[eth->ether_type == RTE_BE16(RTE_ETHER_TYPE_IPV6) ? IP6 : OTHER]++;
	}
	for (unsigned int c = 0; c < COUNTERS; c++)
		hy_counter_add(node, c, seen[c]);
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

static int
reflect_init(const struct hy_graph *graph __rte_unused, struct hy_node *node, const void *config)
{
	memcpy(node->ctx, config, EDGES_SIZE);
	return 0;
}

HY_NODE_FAMILY(reflect, .text = "Swaps MAC addresses", .score = 10,
	.node = { .name = "reflect",
		.impl = { "scalar", reflect_process, reflect_init, .ctx_size = EDGES_SIZE },
		.drops = { { "too_short", HY_SEV_WARN, "No room for an Ethernet header" } },
		.counters = { { "ip4" }, { "ip6" }, { "other" } } });

/* From ports by name to the report of packets that flowed. */
static int
reflect(struct hy_ends *ends, struct hy_workers *workers, char **names,
	const struct hy_run_options *options)
{
	const struct hy_graph_params graph = { .ops = &hy_mbuf_ops, .drop_node = "pkt_drop" };
	const struct hy_port_params each = { .promiscuous = true };
	static struct hy_rx_queue queues[RTE_MAX_ETHPORTS];
	static uint16_t ports[RTE_MAX_ETHPORTS];
	uint16_t edge[RTE_MAX_ETHPORTS];
	const struct hy_graphs graphs = { &graph, queues, ends->nb_ports, .idle = HY_IDLE_PAUSE };
	const struct hy_run run = {
		.options = options, .hal = ends->hal, .workers = workers, .ends = ends
	};
	char error[HY_HAL_ERROR_SIZE] = "the log says why";
	hy_node_id id;
	int rc = hy_ports_find(ends->hal, names, ends->nb_ports, ports, error);

	ends->ports = ports;
	rc = rc < 0 ? rc : hy_workers_init(workers, NULL, ends->nb_ports, true);
	if (rc == 0)
		hy_workers_deal(workers, ends, queues);
	rc = rc < 0 ? rc : hy_ends_up(ends, &each, error);
	rc = rc < 0 ? rc : hy_hal_node(ends->hal, "reflect", 0, &id);
	rc = rc < 0 ? rc : hy_tx_nodes(ends, id, edge);
	rc = rc < 0 ? rc : hy_node_config(id, edge, EDGES_SIZE);
	rc = rc < 0 ? rc : hy_rx_nodes(ends);
	rc = rc < 0 ? rc : hy_workers_graphs(workers, &graphs);
	if (rc < 0)
		hy_terminal_error("%s", error);
	return rc < 0 ? rc : hy_run(&run);
}

int
main(int argc, char **argv)
{
	static const struct hy_program program = { .name = "reflect",
		.usage = "reflect [EAL options] -- IDLE_MS PORT..." };
	static struct hy_workers workers;
	struct hy_run_options options = { 0 };
	struct hy_ends ends = { .next = "reflect" };
	int rc = hy_program_begin(&program, &argc, &argv);

	if (rc != 0)
		return hy_program_end(rc);
	if (argc < 3 ||
		hy_option_number("IDLE_MS", argv[1], 0, UINT32_MAX, &options.until_idle_ms) < 0)
		rc = hy_option_refuse("usage", "%s", program.usage);
	else
		rc = hy_hal_create(&ends.hal);
	if (rc == 0) {
		ends.nb_ports = (unsigned int)argc - 2;
		rc = reflect(&ends, &workers, argv + 2, &options);
	}
	hy_workers_destroy(&workers);
	hy_ports_stop(NULL, NULL);
	hy_hal_destroy(ends.hal);
	return hy_program_end(rc);
}
