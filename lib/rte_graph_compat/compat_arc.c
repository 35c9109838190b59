/* SPDX-License-Identifier: BSD-3-Clause */
/* Feature arcs: registration, creation, search and destruction. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>

#include "compat_arc.h"
#include "lib/graph/internal/log.h"

/* Registered by the macros; never removed. */
static STAILQ_HEAD(arc_list,
	rte_graph_feature_arc_register) arc_list = STAILQ_HEAD_INITIALIZER(arc_list);
static STAILQ_HEAD(feature_list,
	rte_graph_feature_register) feature_list = STAILQ_HEAD_INITIALIZER(feature_list);

/* Between rte_graph_feature_arc_init() and _cleanup(); under the lock. */
static struct {
	struct arc **arcs; /* NULL: not initialised */
	uint32_t max;
	int mbuf_offset;
} all;

void
__rte_graph_feature_arc_register(struct rte_graph_feature_arc_register *reg,
	const char *caller __rte_unused, int line __rte_unused)
{
	STAILQ_INSERT_TAIL(&arc_list, reg, next_arc);
}

void
__rte_graph_feature_register(struct rte_graph_feature_register *reg,
	const char *caller __rte_unused, int line __rte_unused)
{
	STAILQ_INSERT_TAIL(&feature_list, reg, next_feature);
}

struct arc *
hy_compat_arc(rte_graph_feature_arc_t id)
{
	return id < all.max ? all.arcs[id] : NULL;
}

struct rte_graph_feature_arc *
rte_graph_feature_arc_get(rte_graph_feature_arc_t id)
{
	struct arc *arc;

	hy_compat_lock();
	arc = hy_compat_arc(id);
	hy_compat_unlock();
	return arc == NULL ? NULL : &arc->pub;
}

struct arc *
hy_compat_arc_of_name(const char *name)
{
	for (uint32_t i = 0; name != NULL && i < all.max; i++)
		if (all.arcs[i] != NULL && strcmp(all.arcs[i]->pub.feature_arc_name, name) == 0)
			return all.arcs[i];
	return NULL;
}

struct compat_node *
hy_compat_arc_node(const struct arc *arc, unsigned int slot)
{
	return hy_compat_node(slot == 0 ? arc->pub.start_node->id : arc->features[slot - 1].node);
}

/* Whether an arc's edge from a slot to a later one is this edge of the slot's node. */
static bool
slot_names(const struct arc *arc, unsigned int slot, rte_edge_t edge)
{
	for (unsigned int to = slot + 1; to <= arc->pub.num_added_features; to++)
		if (arc->edges[slot][to] == edge)
			return true;
	return false;
}

bool
hy_compat_arc_names(const struct compat_node *node, rte_edge_t edge)
{
	for (uint32_t i = 0; i < all.max && node->arcs > 0; i++)
		for (unsigned int slot = 0;
			all.arcs[i] != NULL && slot <= all.arcs[i]->pub.num_added_features; slot++)
			if (hy_compat_arc_node(all.arcs[i], slot) == node &&
				slot_names(all.arcs[i], slot, edge))
				return true;
	return false;
}

/* Switches a node to its process function for arcs, or back if it leaves. */
static void
node_join(struct compat_node *node, rte_node_process_t process)
{
	node->arcs++;
	node->arc_process = process;
}

static void
node_leave(struct compat_node *node)
{
	if (--node->arcs == 0)
		node->arc_process = NULL;
}

/* Whether a node is registered and has a process function; logs it if not. */
static bool
node_given(const char *what, const char *name, const struct rte_node_register *node,
	rte_node_process_t process)
{
	const struct compat_node *known = node == NULL ? NULL : hy_compat_node(node->id);

	if (known != NULL && strcmp(known->name, node->name) == 0 && process != NULL)
		return true;
	return HY_REFUSE(false, "rte_graph: %s '%s': its node %s", what, name,
		known == NULL || process != NULL ? "is missing or not registered"
						 : "has no function for it");
}

static int
feature_fill(struct feature *feature, const struct rte_graph_feature_register *reg)
{
	int rc = hy_compat_name_copy(feature->name, reg->feature_name, "feature");

	if (rc == 0 && reg->runs_after != NULL)
		rc = hy_compat_name_copy(feature->after, reg->runs_after, "feature");
	if (rc == 0 && reg->runs_before != NULL)
		rc = hy_compat_name_copy(feature->before, reg->runs_before, "feature");
	if (rc == 0 &&
		!node_given("feature", reg->feature_name, reg->feature_node,
			reg->feature_process_fn))
		rc = -EINVAL;
	if (rc < 0)
		return rc;
	feature->node = reg->feature_node->id;
	feature->notify = reg->notifier_cb;
	return 0;
}

/* Puts a feature before the end, which comes first, and sorts. Returns 0 or a negative errno
 * (logged). */
static int
feature_insert(struct arc *arc, const struct rte_graph_feature_register *reg)
{
	const unsigned int n = arc->pub.num_added_features;
	struct feature before[FEATURES_MAX], feature = { 0 };
	int rc = feature_fill(&feature, reg);

	if (rc < 0)
		return rc;
	if (hy_compat_arc_find(arc, feature.name) >= 0)
		return HY_REFUSE(-EEXIST, "rte_graph: arc '%s' has a feature '%s' already",
			arc->pub.feature_arc_name, feature.name);
	if (n >= arc->pub.max_features)
		return HY_REFUSE(-ENOSPC,
			"rte_graph: arc '%s' has no room for feature '%s': it has %u, with its end",
			arc->pub.feature_arc_name, feature.name, n);
	memcpy(before, arc->features, sizeof(before));
	if (n > 0)
		arc->features[n] = arc->features[n - 1];
	arc->features[n > 0 ? n - 1 : 0] = feature;
	arc->pub.num_added_features++;
	rc = hy_compat_arc_sort(arc);
	if (rc < 0) {
		memcpy(arc->features, before, sizeof(before));
		arc->pub.num_added_features--;
		return rc;
	}
	node_join(hy_compat_node(feature.node), reg->feature_process_fn);
	return 0;
}

static void
feature_remove(struct arc *arc, const char *name)
{
	const int f = hy_compat_arc_find(arc, name);
	struct feature *feature = &arc->features[f];

	node_leave(hy_compat_node(feature->node));
	memmove(feature, feature + 1,
		(size_t)(--arc->pub.num_added_features - f) * sizeof(*feature));
}

static void
arc_free(struct arc *arc)
{
	rte_free(arc->pub.words);
	free(arc->enabled);
	free(arc);
}

/* Removes an arc from the table, if it is there. */
static void
arc_undo(struct arc *arc)
{
	for (unsigned int slot = 0; slot <= arc->pub.num_added_features; slot++)
		node_leave(hy_compat_arc_node(arc, slot));
	all.arcs[arc->pub.feature_arc_index] = NULL;
	arc_free(arc);
}

static int
arc_connect(struct arc *arc)
{
	const int rc = hy_compat_arc_connect(arc);

	if (rc == -ENOMEM)
		HY_LOG(ERR, "rte_graph: arc '%s': not enough memory", arc->pub.feature_arc_name);
	return rc;
}

/* An arc without features. */
static struct arc *
arc_new(const struct rte_graph_feature_arc_register *reg)
{
	const size_t slots = 2u + reg->max_features, n = reg->max_indexes;
	struct arc *arc = calloc(1, sizeof(*arc));

	if (arc == NULL)
		return NULL;
	arc->enabled = calloc(n, sizeof(*arc->enabled));
	arc->pub.words = rte_calloc("hy_compat", slots * n, sizeof(*arc->pub.words),
		RTE_CACHE_LINE_SIZE);
	if (arc->enabled == NULL || arc->pub.words == NULL) {
		arc_free(arc);
		return NULL;
	}
	arc->pub.start_node = reg->start_node;
	arc->pub.max_features = (uint16_t)(reg->max_features + 1);
	arc->pub.max_indexes = reg->max_indexes;
	arc->pub.mbuf_dyn_offset = all.mbuf_offset;
	return arc;
}

/* Whether an arc may be created. Returns 0 or a negative errno (logged). */
static int
arc_check(const struct rte_graph_feature_arc_register *reg, const char *name)
{
	const struct rte_graph_feature_register *end = reg->end_feature;

	if (all.arcs == NULL)
		return HY_REFUSE(-EPERM, "rte_graph: arc '%s' without rte_graph_feature_arc_init()",
			name);
	if (hy_compat_arc_of_name(name) != NULL)
		return HY_REFUSE(-EEXIST, "rte_graph: arc '%s': the name is taken", name);
	if (!node_given("arc", name, reg->start_node, reg->start_node_feature_process_fn))
		return -EINVAL;
	if (reg->max_indexes == 0 || end == NULL || end->arc_name == NULL ||
		strcmp(end->arc_name, name) != 0)
		return HY_REFUSE(-EINVAL, "rte_graph: arc '%s': %s", name,
			reg->max_indexes == 0 ? "it has no indexes"
				: end == NULL ? "it has no end feature"
					      : "its end feature is another arc's");
	if (reg->max_features >= FEATURES_MAX)
		return HY_REFUSE(-E2BIG, "rte_graph: arc '%s': %u features, but it can have %u",
			name, reg->max_features, FEATURES_MAX - 1);
	if (hy_compat_node_used(hy_compat_node(reg->start_node->id)))
		return HY_REFUSE(-EBUSY, "rte_graph: arc '%s': a graph has its start node", name);
	return 0;
}

static int
arc_create(const struct rte_graph_feature_arc_register *reg, struct arc **created)
{
	char name[RTE_GRAPH_FEATURE_ARC_NAMELEN];
	uint32_t id = 0;
	struct arc *arc;
	int rc = hy_compat_name_copy(name, reg->arc_name, "arc");

	if (rc == 0)
		rc = arc_check(reg, name);
	if (rc < 0)
		return rc;
	while (id < all.max && all.arcs[id] != NULL)
		id++;
	if (id == all.max)
		return HY_REFUSE(-ENOSPC, "rte_graph: arc '%s': there are %u already", name,
			all.max);
	arc = arc_new(reg);
	if (arc == NULL)
		return HY_REFUSE(-ENOMEM, "rte_graph: arc '%s': not enough memory", name);
	strcpy(arc->pub.feature_arc_name, name);
	arc->pub.feature_arc_index = (rte_graph_feature_arc_t)id;
	rc = feature_insert(arc, reg->end_feature);
	if (rc < 0) {
		arc_free(arc);
		return rc;
	}
	all.arcs[id] = arc;
	node_join(hy_compat_node(reg->start_node->id), reg->start_node_feature_process_fn);
	rc = arc_connect(arc);
	if (rc < 0)
		arc_undo(arc);
	else
		*created = arc;
	return rc;
}

int
rte_graph_feature_arc_create(struct rte_graph_feature_arc_register *reg,
	rte_graph_feature_arc_t *id)
{
	struct arc *arc;
	int rc = -EINVAL;

	if (reg == NULL)
		return HY_REFUSE(rc, "rte_graph: an arc without a registration");
	hy_compat_lock();
	rc = arc_create(reg, &arc);
	if (rc == 0 && id != NULL)
		*id = arc->pub.feature_arc_index;
	hy_compat_unlock();
	return rc;
}

static bool
of_arc(const struct rte_graph_feature_register *feature, const char *arc)
{
	return arc != NULL && feature->arc_name != NULL && strcmp(feature->arc_name, arc) == 0;
}

/* Creates an arc that a macro registered, with all features that macros registered for it: edges
 * are made when the order is final. */
static void
registered_create(const struct rte_graph_feature_arc_register *reg)
{
	struct rte_graph_feature_arc_register whole = *reg;
	struct rte_graph_feature_register *feature;
	uint16_t features = 0;
	struct arc *arc;

	for (feature = STAILQ_FIRST(&feature_list); feature != NULL;
		feature = STAILQ_NEXT(feature, next_feature)) {
		if (!of_arc(feature, reg->arc_name))
			continue;
		features++;
		if (feature->override_index_cb != NULL)
			whole.max_indexes = RTE_MAX(whole.max_indexes,
				feature->override_index_cb());
	}
	whole.max_features = RTE_MAX(whole.max_features, features);
	if (arc_create(&whole, &arc) < 0)
		return;
	for (feature = STAILQ_FIRST(&feature_list); feature != NULL;
		feature = STAILQ_NEXT(feature, next_feature))
		if (of_arc(feature, reg->arc_name))
			feature_insert(arc, feature);
	if (arc_connect(arc) < 0)
		arc_undo(arc);
}

int
hy_compat_feature_arcs_init(uint16_t more, int mbuf_offset)
{
	struct rte_graph_feature_arc_register *reg;
	uint32_t max = more;
	int rc = 0;

	hy_compat_lock();
	for (reg = STAILQ_FIRST(&arc_list); reg != NULL; reg = STAILQ_NEXT(reg, next_arc))
		max++;
	max = RTE_MIN(max, (uint32_t)RTE_GRAPH_FEATURE_ARC_INITIALIZER);
	if (all.arcs != NULL) {
		rc = HY_REFUSE(-EEXIST, "rte_graph: arcs are initialised already");
	} else {
		all.arcs = calloc(max + 1u, sizeof(struct arc *));
		rc = all.arcs == NULL ? -ENOMEM : 0;
	}
	if (rc == 0) {
		all.max = max;
		all.mbuf_offset = mbuf_offset;
		for (reg = STAILQ_FIRST(&arc_list); reg != NULL; reg = STAILQ_NEXT(reg, next_arc))
			registered_create(reg);
	}
	hy_compat_unlock();
	return rc;
}

/* Whether an arc may change. Returns 0 or a negative errno (logged). */
static int
idle_check(const struct arc *arc)
{
	if (hy_compat_node_used(hy_compat_arc_node(arc, 0)))
		return HY_REFUSE(-EBUSY, "rte_graph: arc '%s': a graph has its start node",
			arc->pub.feature_arc_name);
	return 0;
}

static int
feature_add(const struct rte_graph_feature_register *reg)
{
	struct arc *arc = hy_compat_arc_of_name(reg->arc_name);
	int rc;

	if (arc == NULL)
		return HY_REFUSE(-ENOENT, "rte_graph: there is no arc '%s'",
			reg->arc_name == NULL ? "(null)" : reg->arc_name);
	if (arc->pub.fp_feature_enable_bitmask != 0)
		return HY_REFUSE(-EBUSY, "rte_graph: arc '%s': a feature is enabled",
			arc->pub.feature_arc_name);
	rc = idle_check(arc);
	if (rc == 0)
		rc = feature_insert(arc, reg);
	if (rc < 0)
		return rc;
	rc = arc_connect(arc);
	if (rc < 0) {
		feature_remove(arc, reg->feature_name);
		arc_connect(arc); /* everything it needs exists */
	}
	return rc;
}

int
rte_graph_feature_add(struct rte_graph_feature_register *reg)
{
	int rc = -EINVAL;

	if (reg == NULL)
		return HY_REFUSE(rc, "rte_graph: a feature without a registration");
	hy_compat_lock();
	rc = feature_add(reg);
	hy_compat_unlock();
	return rc;
}

int
rte_graph_feature_arc_destroy(rte_graph_feature_arc_t id)
{
	struct arc *arc;
	int rc = -ENOENT;

	hy_compat_lock();
	arc = hy_compat_arc(id);
	if (arc == NULL)
		HY_LOG(ERR, "rte_graph: there is no arc %u", id);
	else
		rc = idle_check(arc);
	if (rc == 0)
		arc_undo(arc);
	hy_compat_unlock();
	return rc;
}

int
rte_graph_feature_arc_cleanup(void)
{
	int rc = 0;

	hy_compat_lock();
	for (uint32_t i = 0; i < all.max && rc == 0; i++)
		if (all.arcs[i] != NULL)
			rc = idle_check(all.arcs[i]);
	for (uint32_t i = 0; i < all.max && rc == 0; i++)
		if (all.arcs[i] != NULL)
			arc_undo(all.arcs[i]);
	if (rc == 0) {
		free(all.arcs);
		all.arcs = NULL;
		all.max = 0;
	}
	hy_compat_unlock();
	return rc;
}
