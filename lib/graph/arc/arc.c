/* SPDX-License-Identifier: BSD-3-Clause */
/* Arcs as programs see them: created and destroyed, features enabled and disabled. */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "arc.h"
#include "lib/graph/internal/log.h"
#include "lib/graph/plugin/plugin.h"

static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

static int
params_check(const char *name, const struct hy_arc_params *params)
{
	if (!hy_name_valid(name))
		return hy_name_refused("arc", name);
	if (!hy_name_valid(params->end))
		return hy_name_refused("end of an arc", params->end);
	if ((params->index == NULL) == (params->index_lane == NULL))
		return HY_REFUSE(-EINVAL,
			"arc '%s': %s index and index_lane; one of them is accepted", name,
			params->index == NULL ? "neither" : "both");
	if (params->index_lane != NULL && !hy_name_valid(params->index_lane))
		return hy_name_refused("lane", params->index_lane);
	return 0;
}

/* Ends are not shared; and no arc starts within another, since objects have one lane for both. */
static int
ends_check(const struct hy_arc *arc)
{
	for (const struct hy_arc *o = hy_arc_next_of(NULL); o != NULL; o = hy_arc_next_of(o)) {
		if (strcmp(o->end, arc->end) == 0)
			return HY_REFUSE(-EEXIST, "arc '%s': arc '%s' ends at '%s' already",
				arc->name, o->name, arc->end);
		if (hy_arc_position(o, arc->end) < 0 && hy_arc_position(arc, o->end) < 0)
			continue;
		return HY_REFUSE(-EINVAL,
			"arc '%s': '%s' is the end of one arc and a feature of another, '%s'",
			arc->name, hy_arc_position(arc, o->end) < 0 ? arc->end : o->end, o->name);
	}
	if (hy_arc_position(arc, arc->end) < 0)
		return 0;
	return HY_REFUSE(-EINVAL, "arc '%s': its end '%s' is a feature of it", arc->name, arc->end);
}

static void
arc_free(struct hy_arc *arc)
{
	hy_arc_table_free(arc);
	free(arc->features);
	free(arc->nb_own);
	free(arc->edges);
	free(arc);
}

static int
arc_fill(struct hy_arc *arc)
{
	size_t nodes;
	int rc = hy_arc_order(arc);

	if (rc == 0)
		rc = ends_check(arc);
	if (rc < 0)
		return rc;
	nodes = arc->nb_features + 1;
	arc->nb_own = calloc(nodes, sizeof(*arc->nb_own));
	arc->edges = calloc(nodes * nodes, sizeof(*arc->edges));
	if (arc->nb_own == NULL || arc->edges == NULL)
		return -ENOMEM;
	arc->nb_own[0] = 1; /* to the end */
	rc = hy_arc_table_create(arc);
	return rc < 0 ? rc : hy_arc_node_register(arc);
}

/*
 * Of a plugin that creates an arc while it is loaded. It remembers the arc by its node's id, which
 * is never used again: the arc may be gone, and its memory another one's.
 */

static struct hy_arc *
arc_of(uintptr_t node)
{
	struct hy_arc *arc = NULL;

	hy_registry_lock();
	while ((arc = hy_arc_next_of(arc)) != NULL && arc->node != node)
		;
	hy_registry_unlock();
	return arc;
}

static bool
arc_busy(uintptr_t node, char *error)
{
	const struct hy_arc *arc;

	hy_registry_lock();
	arc = arc_of(node);
	if (arc != NULL)
		snprintf(error, HY_PLUGIN_ERROR_SIZE, "its arc '%s' exists; destroy that first",
			arc->name);
	hy_registry_unlock();
	return arc != NULL;
}

static void
arc_undo(uintptr_t node)
{
	hy_arc_destroy(arc_of(node)); /* NULL: it is gone */
}

static const struct hy_plugin_kind arc_kind = { arc_busy, arc_undo };

int
hy_arc_create(const char *name, const struct hy_arc_params *params, struct hy_arc **out)
{
	struct hy_arc *arc;
	int rc = params_check(name, params);
	hy_node_id node;

	if (rc < 0)
		return rc;
	arc = calloc(1, sizeof(*arc));
	if (arc == NULL)
		return HY_REFUSE(-ENOMEM, "arc '%s': not enough memory", name);
	strcpy(arc->name, name);
	strcpy(arc->end, params->end);
	arc->params = *params;
	if (params->index_lane != NULL)
		strcpy(arc->index_lane, params->index_lane);
	hy_registry_lock();
	rc = arc_fill(arc);
	if (rc == 0)
		hy_arc_link(arc);
	hy_registry_unlock();
	if (rc < 0) {
		if (rc == -ENOMEM)
			HY_LOG(ERR, "arc '%s': not enough memory", name);
		arc_free(arc);
		return rc;
	}
	node = arc->node;
	hy_plugin_registered(&arc_kind, node);
	if (arc_of(node) == NULL) /* could not be recorded, and was undone */
		return -ENOMEM;
	*out = arc;
	return 0;
}

int
hy_arc_lookup(const char *name, struct hy_arc **arc)
{
	struct hy_arc *found = NULL;

	hy_registry_lock();
	while ((found = hy_arc_next_of(found)) != NULL && strcmp(found->name, name) != 0)
		;
	hy_registry_unlock();
	if (found == NULL)
		return -ENOENT;
	*arc = found;
	return 0;
}

const char *
hy_arc_feature_at(const struct hy_arc *arc, unsigned int position)
{
	return position < arc->nb_features ? arc->features[position] : NULL;
}

int
hy_arc_destroy(struct hy_arc *arc)
{
	int rc = hy_graph_wait_check("hy_arc_destroy()");

	if (arc == NULL || rc < 0)
		return arc == NULL ? 0 : rc;
	pthread_mutex_lock(&changing);
	hy_registry_lock();
	rc = hy_arc_node_unregister(arc);
	if (rc == 0) {
		hy_arc_edges_remove(arc);
		hy_arc_unlink(arc);
		arc_free(arc);
	}
	hy_registry_unlock();
	pthread_mutex_unlock(&changing);
	return rc;
}

static int
feature_refused(const struct hy_arc *arc, const char *feature)
{
	char names[HY_TEXT_SIZE] = "";
	size_t used = 0;

	for (unsigned int f = 0; f < arc->nb_features && used < sizeof(names); f++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
			f == 0 ? "" : ", ", arc->features[f]);
	return HY_REFUSE(-ENOENT, "arc '%s': has no feature '%.80s'; accepted: %s", arc->name,
		feature, used == 0 ? "none" : names);
}

static int
index_check(const struct hy_arc *arc, uint32_t index)
{
	if (index < HY_ARC_INDEXES)
		return 0;
	return HY_REFUSE(-EINVAL, "arc '%s': index is %u; 0 to %u are accepted", arc->name, index,
		HY_ARC_INDEXES - 1);
}

/* Makes an index have a chain. With the arcs' mutex. */
static int
apply(struct hy_arc *arc, uint32_t index, const struct hy_arc_chain *chain)
{
	struct hy_arc_chain before;
	int rc;

	hy_arc_table_read(arc, index, &before);
	if (before.enabled == 0 && chain->enabled == 0) {
		if (arc->nb_in_use == 0)
			hy_arc_take_out(arc); /* an earlier attempt failed */
		return 0;
	}
	rc = hy_arc_table_prepare(arc, index);
	if (rc == 0 && (chain->enabled & ~arc->present) != 0)
		rc = hy_arc_bring_in(arc, chain->enabled);
	if (rc < 0)
		return rc;
	hy_arc_table_write(arc, index, chain);
	arc->nb_in_use += chain->enabled != 0;
	arc->nb_in_use -= before.enabled != 0;
	if (arc->nb_in_use == 0)
		hy_arc_take_out(arc);
	return 0;
}

static int
chain_fill(const struct hy_arc *arc, const struct hy_arc_setting *settings, unsigned int n,
	struct hy_arc_chain *chain)
{
	chain->enabled = 0;
	for (unsigned int i = 0; i < n; i++) {
		const int f = hy_arc_position(arc, settings[i].feature);

		if (f < 0)
			return feature_refused(arc, settings[i].feature);
		if ((chain->enabled >> f & 1) != 0)
			return HY_REFUSE(-EINVAL, "arc '%s': feature '%s' is given twice",
				arc->name, settings[i].feature);
		chain->enabled |= UINT64_C(1) << f;
		chain->cookie[f] = settings[i].cookie;
	}
	return 0;
}

int
hy_arc_set(struct hy_arc *arc, uint32_t index, const struct hy_arc_setting *settings,
	unsigned int n)
{
	struct hy_arc_chain chain;
	int rc = hy_graph_wait_check("hy_arc_set()");

	if (rc == 0)
		rc = index_check(arc, index);
	if (rc < 0)
		return rc;
	rc = chain_fill(arc, settings, n, &chain);
	if (rc < 0)
		return rc;
	pthread_mutex_lock(&changing);
	rc = apply(arc, index, &chain);
	pthread_mutex_unlock(&changing);
	return rc;
}

/* Enables or disables one feature. */
static int
change(struct hy_arc *arc, const char *feature, uint32_t index, bool enable, uint32_t cookie)
{
	const int f = hy_arc_position(arc, feature);
	struct hy_arc_chain chain;
	int rc = hy_graph_wait_check(enable ? "hy_arc_enable()" : "hy_arc_disable()");

	if (rc == 0)
		rc = index_check(arc, index);
	if (rc < 0)
		return rc;
	if (f < 0)
		return feature_refused(arc, feature);
	pthread_mutex_lock(&changing);
	hy_arc_table_read(arc, index, &chain);
	if (enable)
		chain.enabled |= UINT64_C(1) << f;
	else
		chain.enabled &= ~(UINT64_C(1) << f);
	chain.cookie[f] = cookie;
	rc = apply(arc, index, &chain);
	pthread_mutex_unlock(&changing);
	return rc;
}

int
hy_arc_enable(struct hy_arc *arc, const char *feature, uint32_t index, uint32_t cookie)
{
	return change(arc, feature, index, true, cookie);
}

int
hy_arc_disable(struct hy_arc *arc, const char *feature, uint32_t index)
{
	return change(arc, feature, index, false, 0);
}

int
hy_arc_get(const struct hy_arc *arc, const char *feature, uint32_t index, uint32_t *cookie)
{
	const int f = hy_arc_position(arc, feature);
	struct hy_arc_chain chain;
	int rc = hy_graph_wait_check("hy_arc_get()");

	if (rc < 0)
		return rc;
	if (f < 0)
		return -ENOENT;
	pthread_mutex_lock(&changing);
	hy_arc_table_read(arc, index, &chain);
	pthread_mutex_unlock(&changing);
	if ((chain.enabled >> f & 1) == 0)
		return -ENODATA;
	if (cookie != NULL)
		*cookie = chain.cookie[f];
	return 0;
}
