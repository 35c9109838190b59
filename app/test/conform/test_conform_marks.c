/* SPDX-License-Identifier: BSD-3-Clause */
/* The suite of flow_cls makes marks, and finds variants that read them wrongly. */

#include <errno.h>
#include <string.h>

#include <hy_conform.h>
#include <hy_flow_cls_node.h>
#include <hy_mark.h>
#include <hy_node.h>

#include "app/test/unit.h"

static const struct hy_variant *mark;
static enum {
	RIGHT,
	BELIEVES_STALE,
	FORGETS_RESIDUES,
	BELIEVES_FRAGMENTS,
	READS_NONE,
	BELIEVES_LEFT_OVER, /* marks of earlier packets in the same memory */
	BELIEVES_FLAG,      /* a flag without a mark */
	BELIEVES_ANY_PORT,  /* takes all packets for those of one port */
	SAMPLES_BLINDLY,    /* counts samples, and compares none */
	MISSES_NONE,        /* counts looks, and no missing mark */
	CALLS_RIGHT_WRONG,  /* counts mismatches where there are none */
} wrong;

static struct hy_mark_table *
table_of(const struct hy_node *node)
{
	const struct hy_flow_cls_ctx *ctx = node->ctx;

	return (void *)(uintptr_t)hy_policy_marks(ctx->policy, 0);
}

/* Changes what the variant sees of a packet; undone by the caller. */
static void
spoil(const struct hy_mark_table *table, struct rte_mbuf *m)
{
	if (wrong == READS_NONE)
		m->ol_flags &= ~RTE_MBUF_F_RX_FDIR_ID;
	if (wrong == BELIEVES_STALE && m->hash.fdir.hi != 0)
		m->hash.fdir.hi = table->slots[m->hash.fdir.hi & table->slot_mask].mark;
	if (wrong == BELIEVES_LEFT_OVER && m->hash.fdir.hi != 0)
		m->ol_flags |= RTE_MBUF_F_RX_FDIR | RTE_MBUF_F_RX_FDIR_ID;
	if (wrong == BELIEVES_FLAG && (m->ol_flags & RTE_MBUF_F_RX_FDIR) != 0)
		m->ol_flags |= RTE_MBUF_F_RX_FDIR_ID;
	if (wrong == BELIEVES_ANY_PORT)
		m->port = 0;
}

static void
worker_spoil(struct hy_mark_worker *worker, bool before)
{
	if (wrong == SAMPLES_BLINDLY && before)
		worker->gap = UINT32_MAX;
	if (wrong == SAMPLES_BLINDLY)
		worker->sampled++;
	if (wrong == CALLS_RIGHT_WRONG && before)
		worker->mismatches++;
	if (wrong == MISSES_NONE)
		worker->missing = worker->garbled = 0;
}

static uint16_t
wrong_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	struct hy_mark_table *table = table_of(node);
	static uint16_t checks[512];
	struct rte_mbuf *packets[HY_BURST_MAX];
	uint64_t flags[HY_BURST_MAX];
	uint32_t marks[HY_BURST_MAX];
	uint16_t ports[HY_BURST_MAX], did;

	assert_true(table->slot_mask < RTE_DIM(checks));
	for (uint32_t s = 0; s <= table->slot_mask; s++) {
		checks[s] = table->slots[s].checks;
		if (wrong == FORGETS_RESIDUES)
			table->slots[s].checks &= HY_MARK_FRAGMENTS | HY_MARK_RULE;
		if (wrong == BELIEVES_FRAGMENTS)
			table->slots[s].checks &= HY_MARK_RESIDUES;
	}
	for (uint16_t i = 0; i < n; i++) {
		packets[i] = objs[i];
		flags[i] = packets[i]->ol_flags;
		marks[i] = packets[i]->hash.fdir.hi;
		ports[i] = packets[i]->port;
		spoil(table, packets[i]);
	}
	worker_spoil(&table->workers[hy_graph_worker(graph)], true);
	did = mark->impl.process(graph, node, objs, n);
	for (uint16_t i = 0; i < n; i++) {
		packets[i]->ol_flags = flags[i];
		packets[i]->hash.fdir.hi = marks[i];
		packets[i]->port = ports[i];
	}
	worker_spoil(&table->workers[hy_graph_worker(graph)], false);
	for (uint32_t s = 0; s <= table->slot_mask; s++)
		table->slots[s].checks = checks[s];
	return did;
}

static void
variant_that_reads_marks_wrongly_is_found(void **state)
{
	static struct hy_variant variant; /* stays registered */
	static const struct {
		int wrong;
		const char *text;
	} ways[] = {
		{ RIGHT, NULL },
		{ BELIEVES_STALE, "" },
		{ FORGETS_RESIDUES, "" },
		{ BELIEVES_FRAGMENTS, "" },
		{ READS_NONE, "a mark did not occur" },
		{ BELIEVES_LEFT_OVER, "" },
		{ BELIEVES_FLAG, "" },
		{ BELIEVES_ANY_PORT, "" },
		{ SAMPLES_BLINDLY, "" },
		{ MISSES_NONE, "a missing mark did not occur" },
		{ CALLS_RIGHT_WRONG, "right marks were called wrong" },
	};
	struct hy_conform_result result;
	struct hy_hal *hal;
	int rc;

	RTE_SET_USED(state);
	mark = hy_variant_find("flow_cls", "mark");
	assert_non_null(mark);
	variant = *mark;
	variant.impl.variant = "mark_wrong";
	variant.impl.process = wrong_process;
	variant.score = 0;
	assert_int_equal(hy_variant_register(&variant), 0);
	assert_int_equal(hy_hal_create(&hal), 0);
	for (size_t w = 0; w < RTE_DIM(ways); w++) {
		const bool never = ways[w].text != NULL && strstr(ways[w].text, "occur") != NULL;
		const int expected = ways[w].text == NULL ? 0 : never ? -ENODATA : -EILSEQ;

		wrong = ways[w].wrong;
		rc = hy_conform_run(hal, "flow_cls", "mark_wrong",
			&(struct hy_conform_params){
				.seed = 3, .cases = never ? HY_CONFORM_CASES : 4000 },
			&result);
		if (rc != expected || (expected != 0 && strstr(result.text, ways[w].text) == NULL))
			fail_msg("way %zu: %d, \"%s\"", w, rc, result.text);
	}
	hy_hal_destroy(hal);
}

static const struct CMUnitTest conform_mark_tests[] = {
	cmocka_unit_test(variant_that_reads_marks_wrongly_is_found),
};

UNIT_SUITE(conform_mark_tests)
