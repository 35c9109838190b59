/* SPDX-License-Identifier: BSD-3-Clause */
/* Places: an arc with a node of its own for each port and direction. */

#include <errno.h>
#include <stdio.h>

#include "acl.h"
#include "lib/graph/internal/log.h"

const char *const acl_ways[HY_ACL_WAYS] = { [HY_ACL_IN] = "in", [HY_ACL_OUT] = "out" };

static const struct {
	const char *arc, *node;
} kinds[HY_ACL_WAYS] = {
	[HY_ACL_IN] = { HY_ACL_IN_ARC, HY_ACL_IN_NODE },
	[HY_ACL_OUT] = { HY_ACL_OUT_ARC, HY_ACL_OUT_NODE },
};

struct acl_place *
acl_place_of(const struct hy_acl *acl, uint16_t port, enum hy_acl_way way)
{
	const struct acl_place *place = NULL;

	if (port < RTE_MAX_ETHPORTS)
		place = &acl->places[way][port];
	return place == NULL || place->arc == NULL ? NULL : (struct acl_place *)(uintptr_t)place;
}

/* A place is of one port: all frames have the one index. */
static void
index_none(void *const objs[] __rte_unused, uint32_t index[], uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		index[i] = 0;
}

/* Gives the node its edges, and a configuration that knows them. */
static int
node_configure(struct hy_acl *acl, const struct hy_acl_place *params, hy_node_id node)
{
	struct hy_acl_node_config config = { .table = &acl->table,
		.out = params->way == HY_ACL_OUT,
		.port = params->port,
		.ways = params->ways,
		.nb_ways = params->nb_ways };
	int rc = 0;

	for (unsigned int p = 0; p < RTE_MAX_ETHPORTS && rc == 0; p++) {
		config.to_port[p] = HY_ACL_NO_EDGE;
		if (params->to_port != NULL && params->to_port[p] != NULL)
			rc = hy_node_edge_add(node, params->to_port[p], &config.to_port[p]);
	}
	for (unsigned int w = 0; w < params->nb_ways && rc == 0; w++) {
		params->ways[w].edge = HY_FLOW_DENY;
		if (params->to_class != NULL && params->to_class[w] != NULL)
			rc = hy_node_edge_add(node, params->to_class[w], &params->ways[w].edge);
	}
	return rc < 0 ? rc : hy_node_config(node, &config, sizeof(config));
}

static int
node_make(struct hy_acl *acl, const struct hy_acl_place *params, struct acl_place *place)
{
	char suffix[8];
	hy_node_id base;
	int rc = hy_node_lookup(kinds[params->way].node, &base);

	snprintf(suffix, sizeof(suffix), "%u", params->port);
	if (rc == 0)
		rc = hy_node_clone(base, suffix, &place->node);
	if (rc < 0)
		return rc;
	rc = hy_node_name(place->node, place->feature, sizeof(place->feature));
	if (rc == 0)
		rc = node_configure(acl, params, place->node);
	if (rc < 0)
		hy_node_unregister(place->node);
	return rc;
}

static int
arc_make(const struct hy_acl *acl, const struct hy_acl_place *params, struct acl_place *place)
{
	char name[HY_NAME_SIZE];
	const struct hy_arc_feature feature = { .arc = name, .node = place->feature };
	const struct hy_arc_params arc = { .end = params->end,
		.index = index_none,
		.qsbr = acl->params.qsbr,
		.socket = acl->params.socket };
	int rc;

	snprintf(name, sizeof(name), "%s-%u", kinds[params->way].arc, params->port);
	rc = hy_arc_feature_register(&feature);
	if (rc < 0)
		return rc;
	rc = hy_arc_create(name, &arc, &place->arc);
	if (rc < 0)
		hy_arc_feature_unregister(place->feature);
	return rc;
}

int
hy_acl_place(struct hy_acl *acl, const struct hy_acl_place *params)
{
	struct acl_place *place;
	int rc;

	if (params->port >= RTE_MAX_ETHPORTS)
		return HY_REFUSE(-EINVAL, "access lists of port %u: ports are below %u",
			params->port, RTE_MAX_ETHPORTS);
	place = &acl->places[params->way][params->port];
	if (place->arc != NULL)
		return HY_REFUSE(-EEXIST, "access lists of port %u, %s: there is such a place",
			params->port, acl_ways[params->way]);
	place->bound = ACL_UNBOUND;
	rc = node_make(acl, params, place);
	if (rc < 0)
		return rc;
	rc = arc_make(acl, params, place);
	if (rc < 0)
		hy_node_unregister(place->node);
	return rc;
}

void
acl_place_remove(struct acl_place *place)
{
	if (place->arc == NULL)
		return;
	hy_arc_destroy(place->arc);
	hy_arc_feature_unregister(place->feature);
	hy_node_unregister(place->node);
	*place = (struct acl_place){ 0 };
}

/* Software applies the list whether or not the port does. */
static void
offload_bound(struct hy_acl *acl, uint16_t port)
{
	hy_acl_offload_port(acl, port, hy_acl_bound(acl, port, HY_ACL_IN));
}

int
hy_acl_bind(struct hy_acl *acl, uint16_t port, enum hy_acl_way way, const char *name)
{
	struct acl_place *place = acl_place_of(acl, port, way);
	const struct acl_list *list = acl_find(acl, name);
	int rc;

	if (list == NULL)
		return -ENOENT;
	if (place == NULL)
		return -ENODEV;
	/* The port drops nothing for a list that is not bound. */
	if (acl->hal != NULL && way == HY_ACL_IN && acl->offloads[port].list != list)
		acl_offload_end(acl, port);
	rc = hy_arc_enable(place->arc, place->feature, 0, list->number);
	if (rc == 0)
		place->bound = list->number;
	if (acl->hal != NULL && way == HY_ACL_IN)
		offload_bound(acl, port);
	return rc;
}

int
hy_acl_unbind(struct hy_acl *acl, uint16_t port, enum hy_acl_way way)
{
	struct acl_place *place = acl_place_of(acl, port, way);
	int rc;

	if (place == NULL)
		return -ENODEV;
	if (acl->hal != NULL && way == HY_ACL_IN)
		acl_offload_end(acl, port);
	rc = hy_arc_disable(place->arc, place->feature, 0);
	if (rc == 0)
		place->bound = ACL_UNBOUND;
	else if (acl->hal != NULL && way == HY_ACL_IN)
		offload_bound(acl, port);
	return rc;
}

const char *
hy_acl_bound(const struct hy_acl *acl, uint16_t port, enum hy_acl_way way)
{
	const struct acl_place *place = acl_place_of(acl, port, way);

	for (unsigned int i = 0; place != NULL && i < acl->nb_lists; i++)
		if (acl->lists[i]->number == place->bound)
			return acl->lists[i]->name;
	return NULL;
}
