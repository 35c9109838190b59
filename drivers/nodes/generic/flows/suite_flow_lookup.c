/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conformance of flow_lookup and flow_reinject. The reference side of flow_lookup has no caches; the
 * other has those of each mode, and marks that name megaflows.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "suite_flow_named.h"

#define LOOKUP_ROOM 16 /* less than most bursts have misses after a flush */

static const struct hy_flows_caches modes[] = {
	{ .exact = HY_FLOWS_EXACT_NONE },
	{ .exact = HY_FLOWS_EXACT_8K, .exact_one_in = 1 },
	{ .exact = HY_FLOWS_EXACT_16K, .exact_one_in = 2, .index = HY_FLOWS_INDEX_DFC_POINTERS },
	{ .index = HY_FLOWS_INDEX_DFC },
	{ .exact = HY_FLOWS_EXACT_8K, .exact_one_in = 4, .index = HY_FLOWS_INDEX_SMC },
	{ .index = HY_FLOWS_INDEX_SMC },
	{ .index = HY_FLOWS_INDEX_LINES, .lines_log = 4 },
	{ .frames = true, .index = HY_FLOWS_INDEX_LINES },
};

static int
lookup_setup(const struct hy_suite_side *side, void **state)
{
	const bool is_reference = strcmp(side->name, "ref") == 0;
	struct suite_flows *s;
	int rc = suite_flows_make(side, "lookup", &modes[is_reference ? 0 : side->setup],
		LOOKUP_ROOM, state);

	if (rc < 0)
		return rc;
	s = *state;
	s->sampled = side->setup % 2 == 0;
	rc = suite_flows_add(s);
	if (rc == 0 && strcmp(side->variant, "mark") == 0)
		rc = suite_named_create(side, hy_flow_table_flows(s->table), s->sampled, &s->named);
	if (rc < 0)
		suite_flows_teardown(s);
	return rc;
}

static void
lookup_shape(void *state, enum hy_suite_kind kind, struct hy_suite_packet *packet)
{
	const struct suite_flows *s = state;

	suite_flows_shape(state, kind, packet);
	suite_named_shape(packet, s->sampled);
}

/* Rules change, a port's megaflows go, or time passes. */
static int
change(void *state, uint32_t number)
{
	struct suite_flows *s = state;
	struct hy_flows *flows = hy_flow_table_flows(s->table);

	hy_flows_poll(flows, number * (SUITE_FLOWS_WAITS / 3), UINT32_MAX);
	if (number % 4 == 0) {
		s->version++;
		hy_flows_revalidate(hy_flow_table_upcalls(s->table));
	} else if (number % 4 == 1) {
		hy_flows_flush(flows, (uint16_t)(number / 4 % SUITE_FLOWS_PORTS));
	} else if (number % 16 == 2) {
		hy_flows_flush(flows, HY_FLOWS_ANY);
	}
	if (s->named != NULL && number % 8 >= 4) /* hardware follows later */
		suite_named_publish(s->named);
	return 0;
}

/* What was sent to the rules. */
static uint16_t
take(void *state, struct rte_mbuf **packets, uint16_t n)
{
	struct hy_flows_upcalls *upcalls =
		hy_flow_table_upcalls(((struct suite_flows *)state)->table);
	struct suite_flows *s = state;
	uint32_t action[HY_BURST_MAX];
	uint8_t fate[HY_BURST_MAX]; /* no megaflow is deleted in between */
	uint16_t taken = 0;

	hy_flow_table_handle(s->table, UINT32_MAX);
	for (unsigned int w = 0; w < HY_SUITE_WORKERS; w++)
		taken += (uint16_t)hy_flows_answers(upcalls, w, packets + taken, action + taken,
			fate + taken, n - taken);
	for (uint16_t i = 0; i < taken; i++)
		s->actions += action[i] * UINT64_C(0x9e3779b97f4a7c15);
	return taken;
}

/* What workers have found and sent. */
static void
counts_of(const struct suite_flows *s, struct hy_flows_lookups *l, struct hy_flows_upcall_stats *u)
{
	*l = (struct hy_flows_lookups){ 0 };
	*u = (struct hy_flows_upcall_stats){ 0 };
	for (unsigned int w = 0; w < HY_SUITE_WORKERS; w++) {
		struct hy_flows_upcall_stats more;
		struct hy_flows_lookups some;

		hy_flows_lookups(hy_flow_table_flows(s->table), w, &some);
		hy_flows_upcall_stats(hy_flow_table_upcalls(s->table), w, &more);
		for (size_t i = 0; i < sizeof(*l) / sizeof(uint64_t); i++)
			((uint64_t *)l)[i] += ((const uint64_t *)&some)[i];
		for (size_t i = 0; i < sizeof(*u) / sizeof(uint64_t); i++)
			((uint64_t *)u)[i] += ((const uint64_t *)&more)[i];
	}
}

static bool
same_megaflow(const struct hy_flows_entry *a, const struct hy_flows_entry *b)
{
	return a->flow.action == b->flow.action && a->packets == b->packets &&
		a->bytes == b->bytes && a->age == b->age && a->unused == b->unused;
}

/* Whether each megaflow of one is one of the other, with the same counts. */
static bool
same_megaflows(struct hy_flows *one, struct hy_flows *other)
{
	struct hy_flows_entry entry, twin;
	uint32_t cursor = 0;

	while (hy_flows_dump(one, &cursor, &entry, 1) == 1)
		if (hy_flows_get(other, &entry.flow.key, &entry.flow.mask, &twin) < 0 ||
			!same_megaflow(&entry, &twin))
			return false;
	return true;
}

static bool
lookup_agree(void *reference, void *variant, char *text)
{
	const struct suite_flows *ref = reference, *cand = variant;
	struct hy_flows_upcall_stats sent, expected;
	struct hy_flows_lookups l, plain;

	counts_of(ref, &plain, &expected);
	counts_of(cand, &l, &sent);
	if (memcmp(&sent, &expected, sizeof(sent)) != 0 || ref->actions != cand->actions) {
		snprintf(text, HY_CONFORM_TEXT_SIZE, "other packets were sent to the rules");
		return false;
	}
	if (!same_megaflows(hy_flow_table_flows(ref->table), hy_flow_table_flows(cand->table)) ||
		!same_megaflows(hy_flow_table_flows(cand->table),
			hy_flow_table_flows(ref->table))) {
		snprintf(text, HY_CONFORM_TEXT_SIZE, "other megaflows, or other counts of them");
		return false;
	}
	if ((l.frames > 0 && !cand->caches.frames) ||
		(l.exact > 0 && cand->caches.exact == HY_FLOWS_EXACT_NONE) ||
		(l.index > 0 && cand->caches.index == HY_FLOWS_INDEX_NONE)) {
		snprintf(text, HY_CONFORM_TEXT_SIZE, "packets found in a cache that is off");
		return false;
	}
	return true;
}

static const char *
lookup_unreached(void *reference, void *variant)
{
	const struct suite_flows *ref = reference, *cand = variant;
	struct hy_flows_upcall_stats sent, expected;
	struct hy_flows_lookups l, plain;

	counts_of(ref, &plain, &expected);
	counts_of(cand, &l, &sent);
	if (plain.masks == 0)
		return "a packet found by its mask";
	if (l.frames == 0 && cand->caches.frames)
		return "a packet found in the cache of frames";
	if (l.exact == 0 && cand->caches.exact != HY_FLOWS_EXACT_NONE)
		return "a packet found in the exact cache";
	if (l.index == 0 && cand->caches.index != HY_FLOWS_INDEX_NONE)
		return "a packet found in the index";
	if (sent.behind == 0)
		return "a packet sent behind others";
	return cand->named == NULL ? NULL : suite_named_unreached(cand->named, cand->sampled);
}

HY_SUITE(flow_lookup, .nb_edges = SUITE_FLOWS_EDGES, .nb_setups = RTE_DIM(modes),
	.setup = lookup_setup, .teardown = suite_flows_teardown, .configure = suite_flows_configure,
	.shape = lookup_shape, .take = take, .change = change, .change_every = 16,
	.agree = lookup_agree, .unreached = lookup_unreached,
	.summed_counters = 1u << HY_FLOW_LOOKUP_FRAMES | 1u << HY_FLOW_LOOKUP_EXACT |
		1u << HY_FLOW_LOOKUP_INDEX | 1u << HY_FLOW_LOOKUP_MASKS |
		1u << HY_FLOW_LOOKUP_MARKED,
	.own_counters = 1u << HY_FLOW_LOOKUP_STALE | 1u << HY_FLOW_LOOKUP_SAMPLED |
		1u << HY_FLOW_LOOKUP_MISMATCHES);

static int
reinject_setup(const struct hy_suite_side *side, void **state)
{
	return suite_flows_make(side, "reinject", &modes[0], HY_BURST_MAX, state);
}

/* Has packets sent to the rules, and answered; then flows of some are deleted, or replaced. */
static int
feed(void *state, struct rte_mbuf **packets, uint16_t n)
{
	const struct suite_flows *s = state;
	uint32_t flow[HY_BURST_MAX];
	uint8_t fate[HY_BURST_MAX];

	for (uint16_t i = 0; i < n; i++)
		flow[i] = HY_FLOWS_MISS;
	hy_flows_upcall(hy_flow_table_upcalls(s->table), 0, packets, flow, fate, n);
	if (hy_flow_table_handle(s->table, n) != n)
		return -ENOBUFS;
	for (uint16_t i = 0; i < n; i++)
		suite_flows_delete(s, packets[i]);
	return 0;
}

HY_SUITE(flow_reinject, .nb_edges = SUITE_FLOWS_EDGES, .setup = reinject_setup,
	.teardown = suite_flows_teardown, .configure = suite_flows_configure,
	.shape = suite_flows_shape, .feed = feed);
