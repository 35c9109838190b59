/* SPDX-License-Identifier: BSD-3-Clause */
/* Two sorted lists of routes are merged, and the changes put into an order for readers. */

#include <errno.h>
#include <stdlib.h>

#include "route_diff.h"

/* Which of two routes comes first in a merge; NULL is the end of its list. */
static int
compare(const struct hy_ip4_route *a, const struct hy_ip4_route *b)
{
	if (a == NULL || b == NULL)
		return (a == NULL) - (b == NULL);
	if (a->prefix != b->prefix)
		return a->prefix < b->prefix ? -1 : 1;
	return a->depth - b->depth;
}

static void
count(struct route_diff *diff, const struct hy_ip4_route *route, uint32_t *last)
{
	diff->routes += route->depth > 0; /* tables hold the default route beside the others */
	if (route->depth <= 24 || route->prefix >> 8 == *last)
		return;
	*last = route->prefix >> 8;
	diff->tbl8s++;
}

static void
change(struct route_diff *diff, enum hy_ip4_verb verb, const struct hy_ip4_route *route)
{
	diff->changes[diff->n++] = (struct hy_ip4_change){ .verb = verb, .route = *route };
	diff->added += verb == HY_IP4_ADD;
	diff->replaced += verb == HY_IP4_REPLACE;
	diff->deleted += verb == HY_IP4_DELETE;
}

int
route_diff(const struct route_set *from, const struct route_set *to, struct route_diff *diff)
{
	uint32_t last = UINT32_MAX; /* the /24 that was counted */

	*diff = (struct route_diff){ 0 };
	diff->changes = calloc((size_t)from->n + to->n + 1, sizeof(*diff->changes));
	if (diff->changes == NULL)
		return -ENOMEM;
	for (uint32_t f = 0, t = 0; f < from->n || t < to->n;) {
		const struct hy_ip4_route *old = f < from->n ? &from->routes[f] : NULL;
		const struct hy_ip4_route *new = t < to->n ? &to->routes[t] : NULL;
		const int first = compare(old, new);

		count(diff, first <= 0 ? old : new, &last);
		if (first < 0)
			change(diff, HY_IP4_DELETE, old);
		else if (first > 0)
			change(diff, HY_IP4_ADD, new);
		else if (old->next_hop != new->next_hop)
			change(diff, HY_IP4_REPLACE, new);
		else
			diff->unchanged++;
		f += first <= 0;
		t += first >= 0;
	}
	return 0;
}

void
route_diff_free(struct route_diff *diff)
{
	free(diff->changes);
	*diff = (struct route_diff){ 0 };
}

/*
 * Adds, the longest first; then replacements; then deletions, the shortest first. An address obeys
 * the longest prefix that covers it. If that is a new one, it is the first of its new ones to come,
 * and what comes or goes behind it does not show. If it is an old one, it is the last of its old
 * ones to go, and all that is new lies ready below. If it stays, new ones below it do not show and
 * old ones neither.
 */
static int
by_turn(const void *a, const void *b)
{
	static const int turn[] = { [HY_IP4_ADD] = 0, [HY_IP4_REPLACE] = 1, [HY_IP4_DELETE] = 2 };
	const struct hy_ip4_change *ca = a, *cb = b;
	const struct hy_ip4_route *ra = &ca->route, *rb = &cb->route;

	if (ca->verb != cb->verb)
		return turn[ca->verb] - turn[cb->verb];
	if (ra->depth != rb->depth)
		return ca->verb == HY_IP4_ADD ? rb->depth - ra->depth : ra->depth - rb->depth;
	return ra->prefix < rb->prefix ? -1 : ra->prefix > rb->prefix;
}

void
route_diff_order(struct route_diff *diff)
{
	qsort(diff->changes, diff->n, sizeof(*diff->changes), by_turn);
}
