/* SPDX-License-Identifier: BSD-3-Clause */
/* Features as they register, and the order in which an arc has them. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arc.h"
#include "lib/graph/internal/log.h"
#include "lib/graph/plugin/plugin.h"

struct feature {
	char arc[HY_NAME_SIZE];
	char node[HY_NAME_SIZE];
	char after[HY_ARC_ORDER_MAX][HY_NAME_SIZE]; /* "" after the last */
	char before[HY_ARC_ORDER_MAX][HY_NAME_SIZE];
	uintptr_t serial;     /* no other feature of the process ever has it */
	struct feature *next; /* by node's name, so that no order depends on that of constructors */
};

static struct feature *features; /* under the registry's lock */

static struct feature **
feature_link(const char *node)
{
	struct feature **link = &features;

	while (*link != NULL && strcmp((*link)->node, node) < 0)
		link = &(*link)->next;
	return link;
}

static struct feature *
feature_find(const char *node)
{
	struct feature *feature = *feature_link(node);

	return feature != NULL && strcmp(feature->node, node) == 0 ? feature : NULL;
}

static const struct hy_arc *
arc_of(const struct feature *feature)
{
	for (struct hy_arc *arc = hy_arc_next_of(NULL); arc != NULL; arc = hy_arc_next_of(arc))
		if (hy_arc_position(arc, feature->node) >= 0)
			return arc;
	return NULL;
}

static void
feature_remove(struct feature *feature)
{
	*feature_link(feature->node) = feature->next;
	free(feature);
}

/* Plugins remember a feature by its serial: it may be gone, and its memory another one's. */

static struct feature *
feature_of(uintptr_t serial)
{
	struct feature *feature = features;

	while (feature != NULL && feature->serial != serial)
		feature = feature->next;
	return feature;
}

static bool
feature_busy(uintptr_t serial, char *error)
{
	const struct feature *feature;
	const struct hy_arc *arc;

	hy_registry_lock();
	feature = feature_of(serial);
	arc = feature == NULL ? NULL : arc_of(feature);
	if (arc != NULL)
		snprintf(error, HY_PLUGIN_ERROR_SIZE,
			"its feature '%s' is on arc '%s'; destroy that first", feature->node,
			arc->name);
	hy_registry_unlock();
	return arc != NULL;
}

static void
feature_undo(uintptr_t serial)
{
	struct feature *feature;

	hy_registry_lock();
	feature = feature_of(serial);
	if (feature != NULL)
		feature_remove(feature);
	hy_registry_unlock();
}

static const struct hy_plugin_kind feature_kind = { feature_busy, feature_undo };

static int
names_copy(const char *node, const char *const names[], char copies[][HY_NAME_SIZE])
{
	for (unsigned int i = 0; i < HY_ARC_ORDER_MAX && names[i] != NULL; i++) {
		if (!hy_name_valid(names[i]))
			return hy_name_refused("feature", names[i]);
		if (strcmp(names[i], node) == 0)
			return HY_REFUSE(-EINVAL, "feature '%s': would come before or after itself",
				node);
		strcpy(copies[i], names[i]);
	}
	return 0;
}

static int
feature_fill(struct feature *copy, const struct hy_arc_feature *feature)
{
	int rc;

	strcpy(copy->arc, feature->arc);
	strcpy(copy->node, feature->node);
	rc = names_copy(feature->node, feature->after, copy->after);
	return rc < 0 ? rc : names_copy(feature->node, feature->before, copy->before);
}

int
hy_arc_feature_register(const struct hy_arc_feature *feature)
{
	static uintptr_t serial; /* under the registry's lock */
	struct feature *copy, **link;
	int rc = 0;

	if (!hy_name_valid(feature->node))
		return hy_name_refused("feature", feature->node);
	if (!hy_name_valid(feature->arc))
		return hy_name_refused("arc", feature->arc);
	copy = calloc(1, sizeof(*copy));
	if (copy == NULL)
		return HY_REFUSE(-ENOMEM, "feature '%s': not enough memory", feature->node);
	rc = feature_fill(copy, feature);
	hy_registry_lock();
	if (rc == 0 && feature_find(feature->node) != NULL)
		rc = HY_REFUSE(-EEXIST, "feature '%s': is one of arc '%s' already", feature->node,
			feature_find(feature->node)->arc);
	if (rc == 0) {
		link = feature_link(copy->node);
		copy->next = *link;
		*link = copy;
		copy->serial = ++serial;
		hy_plugin_registered(&feature_kind, copy->serial);
	} else {
		free(copy);
	}
	hy_registry_unlock();
	return rc;
}

int
hy_arc_feature_unregister(const char *node)
{
	struct feature *feature;
	const struct hy_arc *arc;
	int rc = 0;

	hy_registry_lock();
	feature = feature_find(node);
	arc = feature == NULL ? NULL : arc_of(feature);
	if (feature == NULL) {
		rc = HY_REFUSE(-ENOENT, "feature '%s': there is none", node);
	} else if (arc != NULL) {
		rc = HY_REFUSE(-EBUSY, "feature '%s': is on arc '%s'; destroy that first", node,
			arc->name);
	} else {
		feature_remove(feature);
	}
	hy_registry_unlock();
	return rc;
}

/* The features of one arc while they are put in order. */
struct sort {
	const char *arc;
	unsigned int n;
	struct feature *feature[HY_ARC_FEATURES_MAX];
	uint64_t behind[HY_ARC_FEATURES_MAX]; /* bit f: feature f comes first */
};

static int
collect(struct sort *s)
{
	for (struct feature *f = features; f != NULL; f = f->next) {
		if (strcmp(f->arc, s->arc) != 0)
			continue;
		if (s->n == HY_ARC_FEATURES_MAX)
			return HY_REFUSE(-ENOSPC, "arc '%s': more than %d features", s->arc,
				HY_ARC_FEATURES_MAX);
		s->feature[s->n++] = f;
	}
	return 0;
}

static int
constrain(struct sort *s, unsigned int f, const char *other, bool after)
{
	unsigned int o = 0;

	while (o < s->n && strcmp(s->feature[o]->node, other) != 0)
		o++;
	if (o == s->n)
		return HY_REFUSE(-ENOENT,
			"arc '%s': feature '%s' is to come %s '%s', which is no feature of it",
			s->arc, s->feature[f]->node, after ? "after" : "before", other);
	if (after)
		s->behind[f] |= UINT64_C(1) << o;
	else
		s->behind[o] |= UINT64_C(1) << f;
	return 0;
}

static int
constrain_all(struct sort *s)
{
	int rc = 0;

	for (unsigned int f = 0; f < s->n; f++) {
		const struct feature *feature = s->feature[f];

		for (unsigned int i = 0; i < HY_ARC_ORDER_MAX && rc == 0; i++) {
			if (feature->after[i][0] != '\0')
				rc = constrain(s, f, feature->after[i], true);
			if (rc == 0 && feature->before[i][0] != '\0')
				rc = constrain(s, f, feature->before[i], false);
		}
	}
	return rc;
}

static int
circle_refused(const struct sort *s, const unsigned int order[], unsigned int nb_placed)
{
	uint64_t placed = 0;
	char names[HY_TEXT_SIZE] = "";
	size_t used = 0;

	for (unsigned int i = 0; i < nb_placed; i++)
		placed |= UINT64_C(1) << order[i];
	for (unsigned int f = 0; f < s->n && used < sizeof(names); f++)
		if ((placed >> f & 1) == 0)
			used += (size_t)snprintf(names + used, sizeof(names) - used, " '%s'",
				s->feature[f]->node);
	return HY_REFUSE(-EINVAL, "arc '%s': each of%s waits for another of them to come first",
		s->arc, names);
}

unsigned int
hy_arc_sort(unsigned int n, const uint64_t behind[], unsigned int order[])
{
	uint64_t placed = 0;

	for (unsigned int at = 0; at < n; at++) {
		unsigned int f = 0;

		while (f < n && ((placed >> f & 1) != 0 || (behind[f] & ~placed) != 0))
			f++;
		if (f == n)
			return at;
		placed |= UINT64_C(1) << f;
		order[at] = f;
	}
	return n;
}

/* Names the features in order: by name, as far as nothing else is said. */
static int
place_all(const struct sort *s, char (*names)[HY_NAME_SIZE])
{
	unsigned int order[HY_ARC_FEATURES_MAX];
	const unsigned int n = hy_arc_sort(s->n, s->behind, order);

	if (n < s->n)
		return circle_refused(s, order, n);
	for (unsigned int at = 0; at < n; at++)
		strcpy(names[at], s->feature[order[at]]->node);
	return 0;
}

int
hy_arc_order(struct hy_arc *arc)
{
	struct sort s = { .arc = arc->name };
	int rc = collect(&s);

	if (rc == 0)
		rc = constrain_all(&s);
	if (rc < 0)
		return rc;
	arc->features = calloc(s.n + 1, sizeof(*arc->features));
	if (arc->features == NULL)
		return -ENOMEM;
	arc->nb_features = s.n;
	return place_all(&s, arc->features);
}
