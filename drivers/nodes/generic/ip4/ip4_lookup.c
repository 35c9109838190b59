/* SPDX-License-Identifier: BSD-3-Clause */
/* ip4_lookup: destination address to next hop, by longest prefix match (rte_lpm). */

#include <stdio.h>
#include <string.h>

#include <hy_ip4_lookup.h>
#include <hy_trace.h>

#include "ip4_fib.h"
#include "ip4_lookup_kernels.h"

uint32_t
ip4_lookup_singly(const struct hy_ip4_view *view, uint32_t route[], uint16_t next[], uint32_t n)
{
	const uint32_t none = __atomic_load_n(&view->default_entry, __ATOMIC_ACQUIRE);
	uint32_t misses = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t entry;

		if (rte_lpm_lookup(view->lpm, route[i], &entry) == 0)
			entry |= RTE_LPM_LOOKUP_SUCCESS; /* id 0 is a next hop, too */
		else
			entry = none;
		route[i] = entry & HY_IP4_ID_MASK;
		next[i] = entry != 0 ? HY_IP4_LOOKUP_NEXT_REWRITE : HY_DROP(HY_IP4_LOOKUP_NO_ROUTE);
		misses |= next[i];
	}
	static_assert(HY_IP4_LOOKUP_NEXT_REWRITE == 0, "only drops leave bits in misses");
	return misses;
}

void
hy_ip4_lookup_scalar(const struct hy_ip4_view *view, uint32_t route[], uint16_t next[], uint32_t n)
{
	ip4_lookup_singly(view, route, next, n);
}

static uint16_t
scalar_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return hy_ip4_lookup_process(graph, node, objs, n, hy_ip4_lookup_scalar);
}

static const char *const engines[] = {
	[HY_IP4_LPM] = HY_IP4_ENGINE_LPM,
	[HY_IP4_FIB] = HY_IP4_ENGINE_FIB,
	[HY_IP4_FIB_AVX512] = HY_IP4_ENGINE_FIB_AVX512,
};

/* The engine of that name; RTE_DIM(engines) if none. */
static unsigned int
engine_find(const char *name)
{
	unsigned int engine = 0;

	while (engine < RTE_DIM(engines) && strcmp(engines[engine], name) != 0)
		engine++;
	return engine;
}

/* The name of a variant's engine. */
static const char *
engine_named(const char *name)
{
	const struct hy_variant *variant = hy_variant_find("ip4_lookup", name);

	return variant == NULL || variant->engine == NULL ? HY_IP4_ENGINE_LPM : variant->engine;
}

enum hy_ip4_engine
hy_ip4_engine_of(const char *name)
{
	const unsigned int engine = engine_find(engine_named(name));

	return engine < RTE_DIM(engines) ? (enum hy_ip4_engine)engine : HY_IP4_LPM;
}

int
hy_ip4_lookup_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	const char *const named = engine_named(hy_graph_node_variant(graph, node));
	struct hy_ip4_lookup_ctx *ctx = node->ctx;
	struct hy_ip4_fib *fib = hy_ip4_fib_for(graph, config);

	if (fib == NULL)
		return hy_node_refuse(graph, node,
			"needs a struct hy_ip4_lookup_config with a table");
	if (engine_find(named) == RTE_DIM(engines))
		return hy_node_refuse(graph, node,
			"reads tables of engine '%s'; accepted: " HY_IP4_ENGINE_LPM
			", " HY_IP4_ENGINE_FIB ", " HY_IP4_ENGINE_FIB_AVX512,
			named);
	if (fib->params.engine != engine_find(named))
		return hy_node_refuse(graph, node,
			"reads tables of engine %s, and table '%s' is %s; "
			"hy_ip4_engine_of() tells which a variant reads",
			named, fib->name, engines[fib->params.engine]);
	ctx->fib = fib;
	ctx->view = hy_ip4_fib_view(fib);
	return hy_ip4_fib_use(graph, node, fib);
}

void
hy_ip4_lookup_fini(const struct hy_graph *graph __rte_unused, struct hy_node *node)
{
	struct hy_ip4_lookup_ctx *ctx = node->ctx;

	hy_ip4_fib_unuse(ctx->fib);
}

static int
ip4_lookup_format(const struct hy_trace_record *record, char *text, size_t size)
{
	const uint32_t dst = record->lanes[HY_IP4_LOOKUP_LANE_ROUTE];

	return snprintf(text, size, "%u.%u.%u.%u", dst >> 24, dst >> 16 & 0xff, dst >> 8 & 0xff,
		dst & 0xff);
}

HY_NODE_FAMILY(ip4_lookup,
	.text = "Longest prefix match with rte_lpm, one address at a time",
	.target = HY_TARGET_PROCESS,
	.score = 10,
	.node = {
		.name = "ip4_lookup",
		.impl = {
			.variant = "scalar",
			.process = scalar_process,
			.init = hy_ip4_lookup_init,
			.fini = hy_ip4_lookup_fini,
			.ctx_size = sizeof(struct hy_ip4_lookup_ctx),
		},
		.edges = { [HY_IP4_LOOKUP_NEXT_REWRITE] = "ip4_rewrite" },
		.lanes = { [HY_IP4_LOOKUP_LANE_ROUTE] = "ip4_route" },
		.drops = {
			[HY_IP4_LOOKUP_NO_ROUTE] = { "no_route", HY_SEV_WARN,
				"No route to the destination (RFC 1812 5.2.4.3)" },
		},
		.trace = { .format = ip4_lookup_format },
	});
