/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rules before a rule that overlap it. A list of many rules has many more pairs, and most do not
 * overlap: pairs are told apart by a few words of each rule, what was found is kept with the plan,
 * and the next plan takes over what is of rules that did not change.
 */

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ether.h>

#include "lower.h"
#include "offload.h"

#define KEPT_MOST 64   /* ranks of a list; beyond them, rules are compared each time */
#define CHANGES_FEW 64 /* of which lists of rules in software are brought up to date, too */

/* Values that no packet has two of, by masks: two rules that differ in one do not overlap. */
struct outline {
	uint64_t value[6], mask[6];
};
enum { SRC, DST = 2, HEADERS = 4, MAC };

/* Ranks in ascending order; from `rest` on, ranks were not looked at. */
struct before {
	uint32_t n, rest;
	uint32_t ranks[];
};

static void
outline_set(struct outline *out, unsigned int word, unsigned int shift, uint64_t value,
	uint64_t mask)
{
	out->value[word] |= value << shift;
	out->mask[word] |= mask << shift;
}

static void
outline_address(struct outline *out, unsigned int word, const uint32_t address[4], uint8_t len)
{
	for (unsigned int i = 0; i < 4 && len > 0; i++, len = (uint8_t)(len - RTE_MIN(len, 32)))
		outline_set(out, word + i / 2, i % 2 == 0 ? 32 : 0, address[i],
			UINT32_MAX << (32 - RTE_MIN(len, 32)) & UINT32_MAX);
}

/* The protocol of IP that a rule names or implies; -1: any. */
static int
protocol_of(const struct hy_flow_match *m)
{
	if ((m->fields & HY_FLOW_TUNNEL) != 0)
		return IPPROTO_UDP;
	if ((m->fields & HY_FLOW_TCP) != 0)
		return IPPROTO_TCP;
	if ((m->fields & HY_FLOW_ICMP) != 0)
		return (m->fields & HY_FLOW_IPV6) != 0 ? IPPROTO_ICMPV6 : IPPROTO_ICMP;
	return (m->fields & HY_FLOW_PROTO) != 0 ? m->proto : -1;
}

static void
outline_headers(struct outline *out, const struct hy_flow_match *m)
{
	const uint32_t ip = hy_flow_ip_of(m);
	const int proto = protocol_of(m);

	if (ip != 0)
		outline_set(out, HEADERS, 0,
			ip == HY_FLOW_IPV6 ? RTE_ETHER_TYPE_IPV6 : RTE_ETHER_TYPE_IPV4, 0xffff);
	else if ((m->fields & HY_FLOW_ETHER_TYPE) != 0)
		outline_set(out, HEADERS, 0, m->ether_type, 0xffff);
	if ((m->fields & HY_FLOW_VLAN) != 0)
		outline_set(out, HEADERS, 16, m->vlan, 0xfff);
	if (proto >= 0)
		outline_set(out, HEADERS, 28, (uint64_t)proto, 0xff);
	if ((m->fields & HY_FLOW_TUNNEL) != 0)
		outline_set(out, HEADERS, 36, HY_FLOW_VXLAN_PORT, 0xffff);
	else if ((m->fields & HY_FLOW_DPORT) != 0 && m->dport[0] == m->dport[1])
		outline_set(out, HEADERS, 36, m->dport[0], 0xffff);
	outline_set(out, MAC, 0, m->dst_mac, m->dst_mac_mask); /* 0 without the field */
	if ((m->fields & HY_FLOW_SPORT) != 0 && m->sport[0] == m->sport[1])
		outline_set(out, MAC, 48, m->sport[0], 0xffff);
}

static bool
are_apart(const struct outline *a, const struct outline *b)
{
	for (unsigned int i = 0; i < RTE_DIM(a->value); i++)
		if (((a->value[i] ^ b->value[i]) & a->mask[i] & b->mask[i]) != 0)
			return true;
	return false;
}

bool
hy_offload_overlap(struct plan *plan, uint32_t a, uint32_t b)
{
	const struct hy_policy_rule *rules = plan->view->rules;

	plan->compared++;
	if (are_apart(&plan->outlines[a], &plan->outlines[b]))
		return false;
	plan->compared += HY_OFFLOAD_PAIR;
	return hy_flow_overlap(&rules[a].rule.match, &rules[b].rule.match);
}

/* NULL: no memory. */
static struct before *
before_keep(const uint32_t ranks[], uint32_t n, uint32_t rest)
{
	struct before *b = malloc(sizeof(*b) + n * sizeof(b->ranks[0]));

	if (b == NULL)
		return NULL;
	b->n = n;
	b->rest = rest;
	memcpy(b->ranks, ranks, n * sizeof(b->ranks[0]));
	return b;
}

static struct before *
before_of(struct plan *plan, uint32_t rank)
{
	uint32_t ranks[KEPT_MOST], n = 0, r;

	if (plan->before[rank] != NULL)
		return plan->before[rank];
	for (r = 0; r < rank && n < KEPT_MOST; r++)
		if (hy_offload_overlap(plan, r, rank))
			ranks[n++] = r;
	plan->before[rank] = before_keep(ranks, n, r);
	return plan->before[rank];
}

/* `at` is a rank, since a list that there was no memory for may be there the next time. */
uint32_t
hy_offload_before(struct plan *plan, uint32_t rank, uint32_t *at)
{
	const struct before *b = before_of(plan, rank);
	const uint32_t rest = b == NULL ? 0 : b->rest;
	uint32_t low = 0, high = b == NULL ? 0 : b->n;

	while (low < high) {
		const uint32_t middle = (low + high) / 2;

		if (b->ranks[middle] < *at)
			low = middle + 1;
		else
			high = middle;
	}
	if (b != NULL && low < b->n) {
		*at = b->ranks[low] + 1;
		return b->ranks[low];
	}
	for (*at = RTE_MAX(*at, rest); *at < rank;) {
		plan->again++;
		if (hy_offload_overlap(plan, *at, rank))
			return (*at)++;
		++*at;
	}
	return NO_SLOT;
}

bool
hy_offload_is_crowded(struct plan *plan, uint32_t rank)
{
	const struct before *b = before_of(plan, rank);

	return b == NULL || b->rest < rank;
}

/*
 * The list of a rule that did not change, from that of the plan before: the ranks of others that did
 * not, which are in the same order, and of changed ones. NULL: it has to be made anew.
 */
static struct before *
before_carry(struct plan *plan, uint32_t rank, const struct before *old, const uint32_t to[],
	const uint32_t changed[], uint32_t nb_changed)
{
	uint32_t ranks[KEPT_MOST], n = 0, c = 0;

	for (uint32_t i = 0; i <= old->n; i++) {
		const uint32_t next = i == old->n ? rank : to[old->ranks[i]];

		for (; next != NO_SLOT && c < nb_changed && changed[c] < next; c++)
			if (hy_offload_overlap(plan, changed[c], rank)) {
				if (n == KEPT_MOST)
					return NULL;
				ranks[n++] = changed[c];
			}
		if (i == old->n || next == NO_SLOT)
			continue;
		if (n == KEPT_MOST)
			return NULL;
		ranks[n++] = next;
	}
	return before_keep(ranks, n, rank);
}

/* New ranks of rules that did not change, by their old ones; the new ranks of others. */
static uint32_t
changes_find(const struct plan *plan, const struct plan *old, uint32_t to[], uint32_t changed[])
{
	uint32_t n = 0;

	memset(to, 0xff, old->view->nb_rules * sizeof(to[0])); /* NO_SLOT */
	for (uint32_t r = 0; r < plan->view->nb_rules; r++) {
		const struct hy_flow_rule *rule = &plan->view->rules[r].rule;
		const uint32_t was = hy_offload_plan_find(old, rule->id);

		if (was != NO_SLOT && old->view->rules[was].rule.precedence == rule->precedence &&
			hy_flow_match_equal(&old->view->rules[was].rule.match, &rule->match))
			to[was] = r;
		else
			changed[n++] = r;
	}
	return n;
}

/* What cannot be had is made when it is asked for. */
static void
lists_carry(struct plan *plan, const struct plan *old)
{
	const uint32_t nb_old = old->view->nb_rules;
	uint32_t *to = malloc(((size_t)nb_old + 1) * sizeof(*to));
	uint32_t *changed = malloc(((size_t)plan->view->nb_rules + 1) * sizeof(*changed));
	uint32_t n = 0;

	if (to != NULL && changed != NULL)
		n = changes_find(plan, old, to, changed);
	for (uint32_t r = 0; to != NULL && changed != NULL && r < nb_old; r++) {
		const struct before *b = old->before[r];

		if (b != NULL && b->rest == r && to[r] != NO_SLOT &&
			(n <= CHANGES_FEW || plan->rules[to[r]].slot != NO_SLOT))
			plan->before[to[r]] = before_carry(plan, to[r], b, to, changed, n);
	}
	free(to);
	free(changed);
}

bool
hy_offload_pairs_make(struct plan *plan, const struct plan *old)
{
	const uint32_t n = plan->view->nb_rules;

	plan->outlines = calloc((size_t)n + 1, sizeof(*plan->outlines));
	plan->before = calloc((size_t)n + 1, sizeof(struct before *));
	if (plan->outlines == NULL || plan->before == NULL)
		return false;
	for (uint32_t r = 0; r < n; r++) {
		const struct hy_flow_match *m = &plan->view->rules[r].rule.match;

		outline_address(&plan->outlines[r], SRC, m->src6, m->src_len);
		outline_address(&plan->outlines[r], DST, m->dst6, m->dst_len);
		outline_headers(&plan->outlines[r], m);
	}
	if (old != NULL)
		lists_carry(plan, old);
	return true;
}

void
hy_offload_pairs_free(struct plan *plan)
{
	for (uint32_t r = 0; plan->before != NULL && r < plan->view->nb_rules; r++)
		free(plan->before[r]);
	free(plan->before);
	free(plan->outlines);
}
