/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How buckets are dealt out. First it is counted how many each member gets or gives, one bucket at a time;
 * then one pass over the buckets moves them. Shares are compared as products, without fractions.
 */

#include "ip4_group.h"

/* Who gets and gives how many. */
struct plan {
	int64_t lacks[HY_IP4_GROUP_MEMBERS]; /* buckets below its share, times the sum of weights */
	int64_t bucket;                      /* one, in these units */
	uint32_t gets[HY_IP4_GROUP_MEMBERS], gives[HY_IP4_GROUP_MEMBERS];
	uint32_t can_give[HY_IP4_GROUP_MEMBERS];
	uint32_t nobodys;
};

static bool
is_nobodys(const struct ip4_deal *deal, uint32_t b)
{
	return deal->owner[b] == IP4_NOBODY || deal->weight[deal->owner[b]] == 0;
}

static void
count(const struct ip4_deal *deal, struct plan *plan)
{
	*plan = (struct plan){ 0 };
	for (unsigned int i = 0; i < deal->n; i++)
		plan->bucket += deal->weight[i];
	for (unsigned int i = 0; i < deal->n; i++)
		plan->lacks[i] = (int64_t)deal->weight[i] * deal->nb_buckets;
	for (uint32_t b = 0; b < deal->nb_buckets; b++) {
		const uint8_t owner = deal->owner[b];

		if (is_nobodys(deal, b)) {
			plan->nobodys++;
			continue;
		}
		plan->lacks[owner] -= plan->bucket;
		plan->can_give[owner] += deal->kept == NULL || deal->kept[b] != owner;
	}
}

static void
get(struct plan *plan, unsigned int i)
{
	plan->gets[i]++;
	plan->lacks[i] -= plan->bucket;
}

/* Of those members, the one that lacks most; deal->n: none may have any. */
static unsigned int
poorest(const struct ip4_deal *deal, const struct plan *plan, uint64_t among)
{
	unsigned int found = deal->n;

	for (unsigned int i = 0; i < deal->n; i++)
		if ((among >> i & 1) != 0 && deal->weight[i] > 0 &&
			(found == deal->n || plan->lacks[i] > plan->lacks[found]))
			found = i;
	return found;
}

/* The one that has most beyond its share, of those that can give; deal->n: none. */
static unsigned int
richest(const struct ip4_deal *deal, const struct plan *plan)
{
	unsigned int found = deal->n;

	for (unsigned int i = 0; i < deal->n; i++)
		if (plan->can_give[i] > 0 &&
			(found == deal->n || plan->lacks[i] < plan->lacks[found]))
			found = i;
	return found;
}

/* Takers take one at a time, as long as that makes shares better. */
static void
take(const struct ip4_deal *deal, struct plan *plan)
{
	for (;;) {
		const unsigned int to = poorest(deal, plan, deal->takers);
		const unsigned int from = richest(deal, plan);

		if (to == deal->n || from == deal->n ||
			plan->lacks[to] - plan->lacks[from] <= plan->bucket ||
			(deal->takers != IP4_ALL && plan->lacks[to] < plan->bucket))
			return;
		plan->gives[from]++;
		plan->can_give[from]--;
		plan->lacks[from] += plan->bucket;
		get(plan, to);
	}
}

/* Moves buckets as planned. Those who get take turns, so that none gets only neighbours. */
static void
move(struct ip4_deal *deal, struct plan *plan)
{
	unsigned int to = 0;

	for (uint32_t b = 0; b < deal->nb_buckets; b++) {
		const uint8_t owner = deal->owner[b];

		if (!is_nobodys(deal, b)) {
			if (plan->gives[owner] == 0 ||
				(deal->kept != NULL && deal->kept[b] == owner))
				continue;
			plan->gives[owner]--;
		}
		do {
			to = to + 1 < deal->n ? to + 1 : 0;
		} while (plan->gets[to] == 0);
		plan->gets[to]--;
		deal->owner[b] = (uint8_t)to;
	}
}

void
ip4_deal(struct ip4_deal *deal)
{
	struct plan plan;

	count(deal, &plan);
	for (; plan.nobodys > 0; plan.nobodys--)
		get(&plan, poorest(deal, &plan, IP4_ALL));
	take(deal, &plan);
	move(deal, &plan);
}
