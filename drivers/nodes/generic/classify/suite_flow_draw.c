/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which marks the suite of flow_cls gives to packets. A packet gets the mark of any rule that it
 * matches; or, where marks need a check, that of a rule that it does not match; or one that stands for
 * no rule; or none. Any rule's mark comes with packets of another port, without a mark's flags, and
 * while software samples all marks. Each of these must have had its effect.
 */

#include <rte_mbuf.h>
#include <rte_random.h>

#include <hy_mark.h>
#include <hy_policy_view.h>

#include "suite_flow_marks.h"

#define ENOUGH 40000 /* packets after which everything must have occurred */

/* Whether a NIC may mark a packet that does not match: an untagged fragment, or any. */
static bool
is_doubtful(const struct hy_mark_slot *slot, const struct hy_flow_key *key)
{
	const bool fragment = (key->has & (HY_FLOW_IPV4 | HY_FLOW_VLAN)) == HY_FLOW_IPV4 &&
		key->fragment != HY_FLOW_NO_FRAGMENT;

	return ((slot->checks & HY_MARK_RULE) != 0 ||
		       ((slot->checks & HY_MARK_FRAGMENTS) != 0 && fragment)) &&
		rte_rand_max(4) == 0;
}

/* The mark of any rule. */
static uint32_t
mark_wrong(const struct suite_marks *m)
{
	return suite_mark_of(m, (uint32_t)rte_rand_max(SUITE_MARKS_RULES), 1);
}

/* A mark that may be right. */
static uint32_t
mark_draw(const struct suite_marks *m, const struct hy_suite_packet *packet)
{
	const struct hy_policy_view *view = hy_policy_view(m->policy);
	const uint32_t from = view->nb_rules == 0 ? 0 : (uint32_t)rte_rand_max(view->nb_rules);
	struct hy_flow_key key;

	if (rte_rand_max(8) == 0) /* of before the last change, or of a rule in software */
		return suite_mark_of(m, (uint32_t)rte_rand_max(SUITE_MARKS_RULES), 0);
	if (m->lies && rte_rand_max(8) == 0)
		return mark_wrong(m);
	hy_flow_key(packet->bytes, packet->len, &key);
	for (uint32_t i = 0; i < view->nb_rules; i++) {
		const struct hy_flow_rule *rule = &view->rules[(from + i) % view->nb_rules].rule;
		const struct hy_mark_slot *slot = &m->table->slots[rule->id - SUITE_MARKS_ID + 1];

		if (slot->mark != 0 &&
			(hy_flow_matches(&rule->match, &key) || is_doubtful(slot, &key)))
			return slot->mark;
	}
	return 0;
}

void
suite_marks_draw(const struct suite_marks *m, struct hy_suite_packet *packet)
{
	const uint64_t both = RTE_MBUF_F_RX_FDIR | RTE_MBUF_F_RX_FDIR_ID;

	packet->port = SUITE_MARKS_PORT;
	packet->mark_flags = both;
	switch (rte_rand_max(16)) {
	case 0:
	case 1:
		packet->mark_flags = rte_rand_max(2) == 0 ? 0 : RTE_MBUF_F_RX_FDIR;
		packet->mark = mark_wrong(m);
		return;
	case 2:
		packet->port = SUITE_MARKS_PORT + 1;
		packet->mark = mark_wrong(m);
		return;
	default:
		packet->mark = mark_draw(m, packet);
		if (packet->mark == 0)
			packet->mark_flags = 0;
	}
}

/* What must occur, by counters of workers. */
#define COUNTED(counter_, what_) \
	{ \
		offsetof(struct hy_mark_worker, counter_), what_ \
	}

static const struct {
	size_t at;
	const char *what;
} wanted[] = {
	COUNTED(marked, "a mark"),
	COUNTED(unmarked, "a packet without a mark"),
	COUNTED(stale, "a mark that stands for no rule"),
	COUNTED(fragments, "a marked packet that its rule does not match"),
	COUNTED(residue, "a marked packet compared with rules of software"),
	COUNTED(sampled, "a sample"),
	COUNTED(mismatches, "a sample that finds a wrong mark"),
	COUNTED(looked, "a search for missing marks"),
	COUNTED(missing, "a missing mark"),
	COUNTED(garbled, "a mark in place of another"),
};

const char *
suite_marks_unreached(const struct suite_marks *m)
{
	const char *unreached = NULL;
	uint64_t packets = 0;

	for (size_t i = RTE_DIM(wanted); i-- > 0;) {
		uint64_t n = 0;

		for (unsigned int w = 0; w < HY_SUITE_WORKERS; w++)
			n += *(const uint64_t *)RTE_PTR_ADD(&m->workers[w], wanted[i].at);
		packets += i < 3 ? n : 0; /* these are all */
		unreached = n == 0 ? wanted[i].what : unreached;
	}
	return hy_policy_view(m->policy)->nb_rules == 0 || packets < ENOUGH ? NULL : unreached;
}
