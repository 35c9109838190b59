/* SPDX-License-Identifier: BSD-3-Clause */
/* The nodes and rings that hand objects over to a pinned node. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_malloc.h>

#include "lib/graph/internal/log.h"

#include "dispatch.h"

const struct hy_reg_owner hy_dispatch_owner = { .name = "a dispatch" };

struct hy_stage *
hy_stage_find(const struct hy_dispatch *dispatch, const char *target)
{
	struct hy_stage *stage = dispatch->stages;

	while (stage != NULL && strcmp(stage->target, target) != 0)
		stage = stage->next;
	return stage;
}

bool
hy_stage_owns(const struct hy_dispatch *dispatch, hy_node_id id)
{
	for (const struct hy_stage *s = dispatch->stages; s != NULL; s = s->next)
		for (unsigned int i = 0; i < STAGE_NODES; i++)
			if (s->nodes[i].id == id)
				return true;
	return id == dispatch->idle;
}

int
hy_stage_config(struct hy_stage *stage, enum hy_stage_node which)
{
	const hy_node_id id = stage->nodes[which].id;
	int rc;

	hy_registry_lock();
	hy_registry_own(id, NULL);
	rc = hy_node_config(id, &stage, sizeof(stage));
	hy_registry_own(id, &hy_dispatch_owner);
	hy_registry_unlock();
	return rc;
}

static int
node_register(const struct hy_dispatch *dispatch, struct hy_stage *stage, enum hy_stage_node which)
{
	struct hy_node_desc desc = hy_handoff_nodes[which];
	char *name = stage->nodes[which].name;
	hy_node_id id;
	int rc;

	if (snprintf(name, HY_NAME_SIZE, "%s-%s-%s", dispatch->name, desc.name, stage->target) >=
		HY_NAME_SIZE)
		return HY_REFUSE(-EINVAL, "dispatch '%s': '%s-%s-%s' is too long for a node's name",
			dispatch->name, dispatch->name, desc.name, stage->target);
	desc.name = name;
	if (which != STAGE_OUT)
		desc.edges[0] = stage->target;
	for (unsigned int l = 0; l < dispatch->nb_lanes; l++)
		desc.lanes[l] = dispatch->lanes[l];
	memcpy(desc.wide, dispatch->wide, sizeof(desc.wide));
	rc = hy_node_register(&desc, &id);
	if (rc < 0)
		return rc;
	stage->nodes[which].id = id;
	rc = hy_stage_config(stage, which);
	if (rc < 0)
		hy_registry_unregister(id, &hy_dispatch_owner);
	return rc;
}

static void
stage_free(const struct hy_dispatch *dispatch, struct hy_stage *stage, unsigned int nb_nodes)
{
	for (unsigned int i = 0; i < nb_nodes; i++)
		hy_registry_unregister(stage->nodes[i].id, &hy_dispatch_owner);
	for (unsigned int i = 0; i < dispatch->nb_workers * dispatch->nb_workers; i++)
		rte_free(stage->rings[i]);
	free(stage);
}

struct hy_stage *
hy_stage_get(struct hy_dispatch *dispatch, const char *target, int *rc)
{
	struct hy_stage *stage = hy_stage_find(dispatch, target);
	const size_t rings = (size_t)dispatch->nb_workers * dispatch->nb_workers;

	if (stage != NULL)
		return stage;
	stage = calloc(1, sizeof(*stage) + rings * sizeof(struct hy_ring *));
	if (stage == NULL) {
		*rc = hy_dispatch_no_memory(dispatch);
		return NULL;
	}
	stage->dispatch = dispatch;
	strcpy(stage->target, target);
	stage->nb_workers = dispatch->nb_workers;
	for (unsigned int i = 0; i < STAGE_NODES; i++) {
		*rc = node_register(dispatch, stage, (enum hy_stage_node)i);
		if (*rc < 0) {
			stage_free(dispatch, stage, i);
			return NULL;
		}
	}
	stage->next = dispatch->stages;
	dispatch->stages = stage;
	return stage;
}

int
hy_stage_ring(struct hy_dispatch *dispatch, struct hy_stage *stage, unsigned int from,
	unsigned int to)
{
	struct hy_ring **ring = &stage->rings[from * dispatch->nb_workers + to];

	if (*ring != NULL)
		return 0;
	/* Workers that read the rings of a stage may find it already: it is empty. */
	__atomic_store_n(ring, hy_ring_new(dispatch, dispatch->sockets[to]), __ATOMIC_RELEASE);
	if (*ring != NULL)
		return 0;
	return HY_REFUSE(-ENOMEM, "dispatch '%s': not enough memory on socket %d", dispatch->name,
		dispatch->sockets[to]);
}

uint64_t
hy_stages_free(struct hy_dispatch *dispatch)
{
	struct hy_stage *stage = dispatch->stages;
	uint64_t released = 0;

	while (stage != NULL) {
		struct hy_stage *next = stage->next;

		for (unsigned int i = 0; i < dispatch->nb_workers * dispatch->nb_workers; i++)
			if (stage->rings[i] != NULL)
				released += hy_ring_release(stage->rings[i], &dispatch->ops);
		stage_free(dispatch, stage, STAGE_NODES);
		stage = next;
	}
	dispatch->stages = NULL;
	return released;
}
