/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules in order of precedence, found by id too. */

#include <errno.h>
#include <stdlib.h>

#include <rte_malloc.h>

#include "compiled.h"

static int
by_value(const void *a, const void *b)
{
	const uint64_t va = *(const uint64_t *)a, vb = *(const uint64_t *)b;

	return va < vb ? -1 : va > vb;
}

/* Places of rules by precedence and then by id, which is the order that they come in. */
static void
order_make(const struct hy_flow_rule *rules, uint32_t n, uint64_t order[])
{
	bool sorted = true;

	for (uint32_t i = 0; i < n; i++) {
		order[i] = (uint64_t)rules[i].precedence << 32 | i;
		sorted &= i == 0 || order[i] > order[i - 1];
	}
	if (!sorted)
		qsort(order, n, sizeof(*order), by_value);
}

int
policy_rules_create(const struct hy_flow_rule *rules, uint32_t n, int socket,
	struct policy_rules **out)
{
	struct policy_rules *to = calloc(1, sizeof(*to));
	uint64_t *order = malloc((n + 1) * sizeof(*order));

	if (to != NULL) {
		to->holders = 1;
		to->n = n;
		to->rules = rte_malloc_socket("hy_policy_rules", (n + 1) * sizeof(*to->rules),
			RTE_CACHE_LINE_SIZE, socket);
		to->by_id = malloc((n + 1) * sizeof(*to->by_id));
	}
	if (order == NULL || to == NULL || to->rules == NULL || to->by_id == NULL) {
		free(order);
		policy_rules_drop(to);
		return -ENOMEM;
	}
	order_make(rules, n, order);
	for (uint32_t rank = 0; rank < n; rank++) {
		const uint32_t place = (uint32_t)order[rank];

		to->rules[rank] = (struct hy_policy_rule){ .rule = rules[place] };
		to->by_id[place] = rank;
	}
	free(order);
	*out = to;
	return 0;
}

void
policy_rules_hold(struct policy_rules *rules)
{
	__atomic_add_fetch(&rules->holders, 1, __ATOMIC_RELAXED);
}

void
policy_rules_drop(struct policy_rules *rules)
{
	if (rules == NULL || __atomic_sub_fetch(&rules->holders, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	rte_free(rules->rules);
	free(rules->by_id);
	free(rules);
}
