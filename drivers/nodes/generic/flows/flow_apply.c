/* SPDX-License-Identifier: BSD-3-Clause */
/* flow_apply: does what lists of operations say, a run of packets of the same list at a time. */

#include <stdio.h>

#include <rte_prefetch.h>

#include <hy_flow_lookup.h>
#include <hy_node.h>

#include "flow_edit.h"

#define AHEAD 4 /* packets whose headers are on the way to the CPU's cache */

struct flow_apply_ctx {
	struct hy_flow_ops *ops;
	struct flow_ops_view view;
};

/* What packets of a burst are sent by. */
struct sender {
	struct hy_graph *graph;
	struct hy_node *node;
	void **objs;
	uint16_t nb_edges;
	uint32_t copies, heads;
};

static inline uint16_t
edge_of(const struct sender *s, uint16_t edge)
{
	return likely(edge < s->nb_edges) ? edge : HY_DROP(HY_FLOW_APPLY_NO_EDGE);
}

/* Sends a packet by reference: it is still there. */
static void
copy_send(struct sender *s, uint32_t i, struct flow_packet *p, uint16_t edge)
{
	s->objs[i] = p->m;
	rte_pktmbuf_refcnt_update(p->m, 1);
	hy_enqueue_x1(s->graph, s->node, edge_of(s, edge), &s->objs[i]);
	s->copies++;
	p->own = false;
	p->len = 0;
}

/* Does all steps but the last, which is an output. Returns where the packet goes. */
static uint16_t
packet_apply(struct sender *s, const struct flow_list *list, uint32_t i)
{
	const struct flow_step *end = &list->step[list->n - 1];
	struct flow_packet p = { .m = s->objs[i] };
	uint16_t next = edge_of(s, list->edge);

	flow_packet_begin(&p);
	for (const struct flow_step *step = list->step; step < end; step++) {
		if (step->type == HY_FLOW_OP_OUTPUT) {
			copy_send(s, i, &p, step->edge);
		} else if (unlikely(!flow_edit(&p, step))) {
			next = HY_DROP(p.why);
			break;
		}
	}
	s->objs[i] = p.m;
	s->heads += p.copied;
	return next;
}

/* Makes next[] of packets whose list has one output, after changes. */
static void
run_apply(struct sender *s, const struct flow_list *list, uint16_t next[], uint32_t i, uint32_t end)
{
	for (uint32_t k = i; k < RTE_MIN(i + AHEAD, end); k++)
		rte_prefetch0(rte_pktmbuf_mtod((struct rte_mbuf *)s->objs[k], void *));
	for (; i < end; i++) {
		if (i + AHEAD < end)
			rte_prefetch0(rte_pktmbuf_mtod((struct rte_mbuf *)s->objs[i + AHEAD],
				void *));
		next[i] = list->route != NULL && flow_route(s->objs[i], list->route)
			? edge_of(s, list->edge)
			: packet_apply(s, list, i);
	}
}

/* Sends each packet before the next one's copies. */
static void
run_copy(struct sender *s, const struct flow_list *list, uint16_t next[], uint32_t i, uint32_t end)
{
	for (; i < end; i++) {
		next[i] = packet_apply(s, list, i);
		hy_enqueue_x1(s->graph, s->node, next[i], &s->objs[i]);
	}
}

static void
run_fill(uint16_t next[], uint32_t i, uint32_t end, uint16_t value)
{
	for (; i < end; i++)
		next[i] = value;
}

/* Of packets i to end. Returns whether they are sent already, with those before them. */
static bool
run(struct sender *s, uint16_t number, uint16_t next[], uint32_t first, uint32_t i, uint32_t end)
{
	const struct flow_apply_ctx *ctx = s->node->ctx;
	const struct flow_list *list = flow_list(&ctx->view, number);
	uint64_t bytes = 0;

	if (unlikely(list == NULL)) {
		run_fill(next, i, end, HY_DROP(HY_FLOW_APPLY_NO_LIST));
		return false;
	}
	for (uint32_t k = i; k < end; k++)
		bytes += ((const struct rte_mbuf *)s->objs[k])->pkt_len;
	flow_list_count(&ctx->view, number, end - i, bytes);
	if (list->n == 0) {
		run_fill(next, i, end, HY_DROP(HY_FLOW_APPLY_NO_OUTPUT));
	} else if (list->n == 1) {
		run_fill(next, i, end, edge_of(s, list->edge));
	} else if (list->outputs == 1) {
		run_apply(s, list, next, i, end);
	} else {
		hy_enqueue_next(s->graph, s->node, next + first, s->objs + first,
			(uint16_t)(i - first));
		run_copy(s, list, next, i, end);
		return true;
	}
	return false;
}

/* Makes next[] if each list is one output. Counts packets one by one: ends of runs cannot be predicted. */
static bool
outputs_only(const struct sender *s, const uint32_t action[], uint16_t next[], uint16_t n)
{
	const struct flow_apply_ctx *ctx = s->node->ctx;
	bool others = false;

	for (uint32_t i = 0; i < n && !others; i++) {
		const struct flow_list *list = flow_list(&ctx->view, (uint16_t)(action[i] >> 16));

		others = list == NULL || list->n != 1;
		next[i] = others ? 0 : edge_of(s, list->edge);
	}
	for (uint32_t i = 0; i < n && !others; i++)
		flow_list_count(&ctx->view, (uint16_t)(action[i] >> 16), 1,
			((const struct rte_mbuf *)s->objs[i])->pkt_len);
	return !others;
}

static uint16_t
flow_apply_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const uint32_t *action = hy_lane(graph, node, HY_FLOW_APPLY_LANE_ACTION);
	struct sender s = { .graph = graph,
		.node = node,
		.objs = objs,
		.nb_edges = hy_graph_edge_count(graph, node) }; /* may change while ctx stays */
	uint16_t next[HY_BURST_MAX];
	uint32_t first = 0, done = 0;

	if (action[0] >> 16 != action[n - 1] >> 16 && outputs_only(&s, action, next, n))
		done = n;
	for (uint32_t i = done, end; i < n; i = end) {
		const uint16_t number = (uint16_t)(action[i] >> 16);

		for (end = i + 1; end < n && action[end] >> 16 == number; end++)
			;
		if (run(&s, number, next, first, i, end))
			first = end;
	}
	hy_enqueue_next(graph, node, next + first, objs + first, (uint16_t)(n - first));
	hy_counter_add(node, HY_FLOW_APPLY_COPIES, s.copies);
	hy_counter_add(node, HY_FLOW_APPLY_HEADS, s.heads);
	return n;
}

static int
flow_apply_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	const struct hy_flow_apply_config *apply = config;
	const uint16_t worker = hy_graph_worker(graph);
	struct flow_apply_ctx *ctx = node->ctx;

	if (apply == NULL || apply->ops == NULL)
		return hy_node_refuse(graph, node,
			"needs a struct hy_flow_apply_config with lists of operations");
	if (hy_flow_ops_use(apply->ops, worker, hy_graph_qsbr(graph)) < 0)
		return hy_node_refuse(graph, node,
			"belongs to worker %u; lists of operations '%s' have %u workers, of their "
			"QSBR variable",
			worker, hy_flow_ops_name(apply->ops), hy_flow_ops_workers(apply->ops));
	ctx->ops = apply->ops;
	ctx->view = flow_ops_view(apply->ops, worker);
	return 0;
}

static void
flow_apply_fini(const struct hy_graph *graph __rte_unused, struct hy_node *node)
{
	const struct flow_apply_ctx *ctx = node->ctx;

	hy_flow_ops_unuse(ctx->ops);
}

static int
flow_apply_format(const struct hy_trace_record *record, char *text, size_t size)
{
	return snprintf(text, size, "list %u", record->lanes[HY_FLOW_APPLY_LANE_ACTION] >> 16);
}

/* No family: conformance follows each packet to one place. */
static const struct hy_node_desc flow_apply = {
	.name = HY_FLOW_APPLY_NODE,
	.replicates = HY_FLOW_OPS_LIST,
	.impl = {
		.variant = "scalar",
		.process = flow_apply_process,
		.init = flow_apply_init,
		.fini = flow_apply_fini,
		.ctx_size = sizeof(struct flow_apply_ctx),
	},
	.lanes = { [HY_FLOW_APPLY_LANE_ACTION] = HY_FLOW_ACTION_LANE },
	.drops = {
		[HY_FLOW_APPLY_NO_LIST] = { "no_list", HY_SEV_ERROR,
			"There is no list of the number that the action names" },
		[HY_FLOW_APPLY_NO_OUTPUT] = { "no_output", HY_SEV_INFO,
			"The list has no output" },
		[HY_FLOW_APPLY_NO_EDGE] = { "no_edge", HY_SEV_ERROR,
			"An output names an edge that the node does not have" },
		[HY_FLOW_APPLY_NO_HEADER] = { "no_header", HY_SEV_ERROR,
			"An operation needs a header that the packet lacks" },
		[HY_FLOW_APPLY_NO_ROOM] = { "no_room", HY_SEV_ERROR,
			"There are no buffers to change headers in, or too small ones" },
		[HY_FLOW_APPLY_TOO_LONG] = { "too_long", HY_SEV_ERROR,
			"The frame is too long for a tunnel" },
		[HY_FLOW_APPLY_TTL_EXPIRED] = { "ttl_expired", HY_SEV_INFO,
			"TTL or hop limit was 0 or 1" },
	},
	.counters = {
		[HY_FLOW_APPLY_COPIES] = { "copies", "packets", HY_SEV_INFO,
			"Sent beyond one for each that came" },
		[HY_FLOW_APPLY_HEADS] = { "heads", "packets", HY_SEV_INFO,
			"Whose headers were copied to a buffer of their own" },
	},
	.trace = { .format = flow_apply_format },
};

HY_NODE_REGISTER(flow_apply)
