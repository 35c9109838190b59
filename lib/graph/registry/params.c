/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters of graphs. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_rcu_qsbr.h>

#include "lib/graph/internal/log.h"
#include "params.h"
#include "registry.h"

/* Whether wide lane `at` has the name of another lane. */
static bool
wide_repeated(const char *const lanes[HY_LANES_MAX], const struct hy_wide_lane *wide,
	unsigned int at)
{
	bool found = false;

	for (unsigned int i = 0; i < HY_LANES_MAX; i++)
		found |= lanes[i] != NULL && strcmp(lanes[i], wide[at].name) == 0;
	for (unsigned int i = 0; i < at; i++)
		found |= strcmp(wide[i].name, wide[at].name) == 0;
	return found;
}

int
hy_wide_check(const char *of, const char *name, const char *const lanes[HY_LANES_MAX],
	const struct hy_wide_lane *wide, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		const uint16_t bytes = wide[i].bytes;

		if (!hy_name_valid(wide[i].name))
			return hy_name_refused("wide lane", wide[i].name);
		if (bytes < 8 || bytes > HY_WIDE_BYTES || !rte_is_power_of_2(bytes))
			return HY_REFUSE(-EINVAL,
				"%s '%s': wide lane '%s' has %u bytes; 8, 16, 32 and 64 are accepted",
				of, name, wide[i].name, bytes);
		if (wide_repeated(lanes, wide, i))
			return HY_REFUSE(-EINVAL, "%s '%s': lane '%s' twice", of, name,
				wide[i].name);
	}
	return 0;
}

int
hy_wide_declared(const char *graph, const struct hy_graph_params *params, const char *node,
	const struct hy_wide_lane *lane)
{
	uint16_t bytes = 0;

	for (unsigned int i = 0; i < params->nb_wide; i++)
		if (strcmp(params->wide[i].name, lane->name) == 0)
			bytes = params->wide[i].bytes;
	if (bytes == lane->bytes)
		return 0;
	return HY_REFUSE(-EINVAL,
		"graph '%s': node '%s' uses wide lane '%s' of %u bytes, declared are %u", graph,
		node, lane->name, lane->bytes, bytes);
}

static int
lanes_check(const char *graph, const struct hy_graph_params *params)
{
	for (unsigned int i = 0; i < HY_LANES_MAX; i++) {
		if (params->lanes[i] == NULL)
			continue;
		if (!hy_name_valid(params->lanes[i]))
			return hy_name_refused("lane", params->lanes[i]);
		for (unsigned int j = 0; j < i; j++) {
			if (params->lanes[j] == NULL ||
				strcmp(params->lanes[i], params->lanes[j]) != 0)
				continue;
			return HY_REFUSE(-EINVAL, "graph '%s': lane '%s' twice", graph,
				params->lanes[i]);
		}
	}
	return 0;
}

static int
detours_check(const char *graph, const struct hy_graph_params *params)
{
	for (unsigned int i = 0; i < params->nb_detours; i++) {
		const struct hy_detour *d = &params->detours[i];

		if (!hy_name_valid(d->target))
			return hy_name_refused("detour's target", d->target);
		if (!hy_name_valid(d->instead))
			return hy_name_refused("detour's node", d->instead);
		for (unsigned int j = 0; j < i; j++) {
			const struct hy_detour *other = &params->detours[j];
			const bool same = strcmp(d->target, other->target) == 0;

			if (!same && strcmp(d->instead, other->instead) != 0)
				continue;
			return HY_REFUSE(-EINVAL, "graph '%s': two detours %s '%s'", graph,
				same ? "from" : "to", same ? d->target : d->instead);
		}
	}
	return 0;
}

int
hy_params_check(const char *graph, const struct hy_graph_params *params)
{
	uint16_t burst;

	if (params == NULL || params->nb_patterns == 0 || params->ops == NULL ||
		params->ops->release == NULL)
		return HY_REFUSE(-EINVAL, "graph '%s': patterns and ops->release are required",
			graph);
	if ((params->ops->arm == NULL) != (params->ops->wait == NULL))
		return HY_REFUSE(-EINVAL,
			"graph '%s': ops->%s without ops->%s; both are accepted, or neither", graph,
			params->ops->arm == NULL ? "wait" : "arm",
			params->ops->arm == NULL ? "arm" : "wait");
	if (params->burst > HY_BURST_MAX)
		return HY_REFUSE(-EINVAL,
			"graph '%s': burst is %u; 1 to %d are accepted, 0 for the default", graph,
			params->burst, HY_BURST_MAX);
	burst = params->burst == 0 ? HY_BURST_DEFAULT : params->burst;
	if (params->source_budget > burst)
		return HY_REFUSE(-EINVAL,
			"graph '%s': source_budget is %u; 1 to %u are accepted, 0 for the burst",
			graph, params->source_budget, burst);
	if (params->qsbr != NULL && params->worker >= params->qsbr->max_threads)
		return HY_REFUSE(-EINVAL,
			"graph '%s': worker is %u; numbers below %u are accepted, since that many "
			"can report to its QSBR variable",
			graph, params->worker, params->qsbr->max_threads);
	for (unsigned int i = 0; i < params->nb_patterns; i++) {
		if (params->patterns == NULL || params->patterns[i] == NULL)
			return HY_REFUSE(-EINVAL, "graph '%s': pattern %u of %u is missing", graph,
				i, params->nb_patterns);
	}
	if (params->nb_detours > 0 && params->detours == NULL)
		return HY_REFUSE(-EINVAL, "graph '%s': %u detours, but no table of them", graph,
			params->nb_detours);
	if (params->nb_wide > HY_WIDE_MAX || (params->nb_wide > 0 && params->wide == NULL))
		return HY_REFUSE(-EINVAL, "graph '%s': %u wide lanes%s; %d are accepted", graph,
			params->nb_wide, params->wide == NULL ? ", but no table of them" : "",
			HY_WIDE_MAX);
	if (lanes_check(graph, params) < 0 ||
		hy_wide_check("graph", graph, params->lanes, params->wide, params->nb_wide) < 0)
		return -EINVAL;
	return detours_check(graph, params);
}

/* Copies a string that may be missing. */
static int
text_copy(const char **copy, const char *text)
{
	if (text != NULL)
		*copy = strdup(text);
	return text != NULL && *copy == NULL ? -ENOMEM : 0;
}

/* Copies detours one by one, so that after a failure the copies can be freed. */
static int
detours_copy(struct hy_graph_params *copy, const struct hy_graph_params *params)
{
	struct hy_detour *detours = calloc(params->nb_detours + 1, sizeof(*detours));
	int rc = detours == NULL ? -ENOMEM : 0;

	copy->detours = detours;
	for (unsigned int i = 0; i < params->nb_detours && rc == 0; i++) {
		copy->nb_detours = i + 1;
		rc = text_copy(&detours[i].target, params->detours[i].target);
		if (rc == 0)
			rc = text_copy(&detours[i].instead, params->detours[i].instead);
	}
	return rc;
}

int
hy_params_copy(struct hy_graph_params *copy, const struct hy_graph_params *params)
{
	const char **patterns = calloc(params->nb_patterns, sizeof(*patterns));
	struct hy_wide_lane *wide = NULL;
	int rc = patterns == NULL ? -ENOMEM : 0;

	*copy = *params;
	copy->patterns = patterns;
	copy->nb_patterns = 0;
	copy->drop_node = NULL;
	copy->detours = NULL;
	copy->nb_detours = 0;
	copy->wide = NULL;
	memset(copy->lanes, 0, sizeof(copy->lanes));
	if (copy->burst == 0)
		copy->burst = HY_BURST_DEFAULT;
	if (copy->sample_every == 0)
		copy->sample_every = 16;
	if (copy->max_sweeps == 0)
		copy->max_sweeps = 8;

	for (unsigned int i = 0; i < params->nb_patterns && rc == 0; i++) {
		rc = text_copy(&patterns[i], params->patterns[i]);
		copy->nb_patterns = i + 1;
	}
	if (rc == 0)
		rc = text_copy(&copy->drop_node, params->drop_node);
	for (unsigned int i = 0; i < HY_LANES_MAX && rc == 0; i++)
		rc = text_copy(&copy->lanes[i], params->lanes[i]);
	if (rc == 0 && params->nb_wide > 0) {
		copy->wide = wide = calloc(params->nb_wide, sizeof(*wide));
		if (wide == NULL)
			rc = -ENOMEM;
		else
			memcpy(wide, params->wide, params->nb_wide * sizeof(*wide));
	}
	if (rc == 0)
		rc = detours_copy(copy, params);
	if (rc < 0)
		hy_params_free(copy);
	return rc;
}

void
hy_params_free(struct hy_graph_params *copy)
{
	for (unsigned int i = 0; i < copy->nb_patterns; i++)
		free((char *)(uintptr_t)copy->patterns[i]);
	free((void *)(uintptr_t)copy->patterns);
	free((char *)(uintptr_t)copy->drop_node);
	for (unsigned int i = 0; i < HY_LANES_MAX; i++)
		free((char *)(uintptr_t)copy->lanes[i]);
	free((void *)(uintptr_t)copy->wide);
	for (unsigned int i = 0; i < copy->nb_detours; i++) {
		free((char *)(uintptr_t)copy->detours[i].target);
		free((char *)(uintptr_t)copy->detours[i].instead);
	}
	free((void *)(uintptr_t)copy->detours);
	memset(copy, 0, sizeof(*copy));
}
