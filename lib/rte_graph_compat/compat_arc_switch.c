/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Enabling and disabling features while objects are under way. A feature's own word is written
 * first; what makes objects come to it, or pass it by, is one store, to the word of the feature
 * before. A feature that was disabled keeps its way on, and its cookie.
 */

#include <errno.h>
#include <string.h>

#include <hy_grace.h>

#include "compat_arc.h"
#include "lib/graph/internal/log.h"

struct change {
	struct arc *arc;
	unsigned int feature;
	uint32_t index;
};

static union rte_graph_feature_word *
word_of(const struct change *c, unsigned int slot)
{
	return &c->arc->pub.words[(size_t)slot * c->arc->pub.max_indexes + c->index];
}

/* Leads a slot to a later one; its cookie may change as well. */
static void
word_store(const struct change *c, unsigned int from, unsigned int to, uint16_t cookie)
{
	const unsigned int end = c->arc->pub.num_added_features;
	const union rte_graph_feature_word word = {
		.next_edge = from < end ? c->arc->edges[from][to] : RTE_EDGE_ID_INVALID,
		.app_cookie = cookie,
		.next_feature_data = from < end ? to * c->arc->pub.max_indexes + c->index
						: RTE_GRAPH_FEATURE_DATA_INVALID,
	};

	__atomic_store_n(&word_of(c, from)->whole, word.whole, __ATOMIC_RELEASE);
}

/* The slots around a feature that are in use on the index. */
static unsigned int
slot_before(const struct change *c)
{
	const uint64_t below = c->arc->enabled[c->index] & ((UINT64_C(1) << c->feature) - 1);

	return below == 0 ? 0 : 64 - (unsigned int)__builtin_clzll(below);
}

static unsigned int
slot_behind(const struct change *c)
{
	const unsigned int end = c->arc->pub.num_added_features;
	const uint64_t above = c->arc->enabled[c->index] >> c->feature >> 1;

	return above == 0 ? end : c->feature + 2 + (unsigned int)__builtin_ctzll(above);
}

/* Finds the arc, feature and index to change. Returns 0 or a negative errno (logged). */
static int
change_find(struct change *c, rte_graph_feature_arc_t id, uint32_t index, const char *name)
{
	int feature;

	c->arc = hy_compat_arc(id);
	if (c->arc == NULL)
		return HY_REFUSE(-ENOENT, "rte_graph: there is no arc %u", id);
	feature = hy_compat_arc_find(c->arc, name);
	if (feature < 0)
		return HY_REFUSE(-ENOENT, "rte_graph: arc '%s' has no feature '%s'",
			c->arc->pub.feature_arc_name, name == NULL ? "(null)" : name);
	if (index >= c->arc->pub.max_indexes)
		return HY_REFUSE(-ERANGE, "rte_graph: arc '%s' has no index %u: they are below %u",
			c->arc->pub.feature_arc_name, index, c->arc->pub.max_indexes);
	c->feature = (unsigned int)feature;
	c->index = index;
	return 0;
}

/* Checks that the arc has all features that its constraints name. */
static int
constraints_check(const struct arc *arc)
{
	for (unsigned int f = 0; f < arc->pub.num_added_features; f++) {
		const char *names[] = { arc->features[f].after, arc->features[f].before };

		for (unsigned int i = 0; i < RTE_DIM(names); i++) {
			if (names[i][0] == '\0' || hy_compat_arc_find(arc, names[i]) >= 0)
				continue;
			return HY_REFUSE(-EINVAL,
				"rte_graph: arc '%s': feature '%s' runs %s '%s', which it has not",
				arc->pub.feature_arc_name, arc->features[f].name,
				i == 0 ? "after" : "before", names[i]);
		}
	}
	return 0;
}

static void
bitmask_set(const struct change *c, bool on)
{
	const uint64_t bit = UINT64_C(1) << c->feature;
	const uint64_t mask = c->arc->pub.fp_feature_enable_bitmask;

	__atomic_store_n(&c->arc->pub.fp_feature_enable_bitmask, on ? mask | bit : mask & ~bit,
		__ATOMIC_RELAXED);
}

static int
enable(const struct change *c, uint16_t cookie)
{
	struct feature *feature = &c->arc->features[c->feature];
	const unsigned int slot = c->feature + 1, before = slot_before(c);
	int rc = 0;

	if ((c->arc->enabled[c->index] >> c->feature & 1) != 0)
		return HY_REFUSE(-EEXIST,
			"rte_graph: arc '%s': feature '%s' is enabled already on index %u",
			c->arc->pub.feature_arc_name, feature->name, c->index);
	if (c->arc->pub.fp_feature_enable_bitmask == 0)
		rc = constraints_check(c->arc);
	if (rc < 0)
		return rc;
	word_store(c, slot, slot_behind(c), cookie);
	word_store(c, before, slot, word_of(c, before)->app_cookie);
	c->arc->enabled[c->index] |= UINT64_C(1) << c->feature;
	if (feature->indexes++ == 0)
		bitmask_set(c, true);
	return 0;
}

static int
disable(const struct change *c)
{
	struct feature *feature = &c->arc->features[c->feature];
	const unsigned int before = slot_before(c);

	if ((c->arc->enabled[c->index] >> c->feature & 1) == 0)
		return HY_REFUSE(-ENOENT,
			"rte_graph: arc '%s': feature '%s' is not enabled on index %u",
			c->arc->pub.feature_arc_name, feature->name, c->index);
	if (c->feature < c->arc->pub.num_added_features - 1u)
		word_store(c, before, slot_behind(c), word_of(c, before)->app_cookie);
	c->arc->enabled[c->index] &= ~(UINT64_C(1) << c->feature);
	if (--feature->indexes == 0)
		bitmask_set(c, false);
	return 0;
}

/* Arguments for the program's notifier, copied while the arc exists. */
struct notice {
	char arc[RTE_GRAPH_FEATURE_ARC_NAMELEN], feature[RTE_GRAPH_FEATURE_ARC_NAMELEN];
	rte_node_t node;
	uint16_t cookie;
	rte_graph_feature_change_notifier_cb_t notify;
};

/* Makes a change. Returns 0 or a negative errno (logged). With the lock. */
static int
change_make(struct change *c, bool on, struct notice *notice)
{
	const struct feature *feature = &c->arc->features[c->feature];
	const int rc = on ? enable(c, notice->cookie) : disable(c);

	if (rc < 0)
		return rc;
	strcpy(notice->arc, c->arc->pub.feature_arc_name);
	strcpy(notice->feature, feature->name);
	notice->node = feature->node;
	notice->cookie = word_of(c, c->feature + 1)->app_cookie;
	notice->notify = feature->notify;
	return 0;
}

/* Waits for readers and calls the program without the lock: the arc may be destroyed meanwhile. */
static int
change(rte_graph_feature_arc_t id, uint32_t index, const char *name, bool on, uint16_t cookie,
	struct rte_rcu_qsbr *qsbr)
{
	struct notice notice = { .cookie = cookie };
	struct change c;
	int rc;

	hy_compat_lock();
	rc = change_find(&c, id, index, name);
	if (rc == 0)
		rc = change_make(&c, on, &notice);
	hy_compat_unlock();
	if (rc < 0)
		return rc;
	if (qsbr != NULL) {
		const uint64_t token = hy_grace_start(qsbr);

		while (!hy_grace_wait(qsbr, token))
			;
	}
	if (notice.notify != NULL)
		notice.notify(notice.arc, notice.feature, notice.node, index, on, notice.cookie);
	return 0;
}

int
rte_graph_feature_enable(rte_graph_feature_arc_t id, uint32_t index, const char *feature_name,
	uint16_t app_cookie, struct rte_rcu_qsbr *qsbr)
{
	return change(id, index, feature_name, true, app_cookie, qsbr);
}

int
rte_graph_feature_disable(rte_graph_feature_arc_t id, uint32_t index, const char *feature_name,
	struct rte_rcu_qsbr *qsbr)
{
	return change(id, index, feature_name, false, 0, qsbr);
}
