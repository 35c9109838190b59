/* SPDX-License-Identifier: BSD-3-Clause */
/* The features of --feature: see feature.h. */

#include <stdio.h>

#include <hy_mbuf.h>
#include <hy_terminal.h>

#include "feature.h"

/* Puts each port's filters side by side. */
static void
lists_fill(const struct options *options, struct features *features)
{
	struct hy_ip4_filter *filter = features->filters;

	for (unsigned int p = 0; p < RTE_MAX_ETHPORTS; p++) {
		struct hy_ip4_filter_list *list = &features->lists[p];

		list->filters = filter;
		for (unsigned int i = 0; i < options->nb_features; i++)
			if (options->feature[i].port == p)
				*filter++ = options->feature[i].filter;
		list->nb_filters = (unsigned int)(filter - list->filters);
	}
}

static int
arc_create(struct hy_hal *hal, struct rte_rcu_qsbr *qsbr, struct features *features)
{
	const struct hy_ip4_filter_config config = { .lists = features->lists,
		.nb_lists = RTE_MAX_ETHPORTS };
	char lookup[HY_NAME_SIZE];
	const struct hy_arc_params params = {
		.end = lookup, .index = hy_mbuf_ports, .qsbr = qsbr, .socket = SOCKET_ID_ANY
	};
	hy_node_id id;
	int rc = hy_hal_node(hal, "ip4_lookup", 0, &id);

	if (rc == 0)
		rc = hy_node_name(id, lookup, sizeof(lookup));
	if (rc == 0)
		rc = hy_node_lookup(HY_IP4_FILTER_NODE, &id);
	if (rc == 0)
		rc = hy_node_config(id, &config, sizeof(config));
	return rc == 0 ? hy_arc_create(HY_IP4_INPUT_ARC, &params, &features->arc) : rc;
}

int
features_create(const struct options *options, struct hy_hal *hal, struct rte_rcu_qsbr *qsbr,
	struct features *features)
{
	int rc;

	if (options->nb_features == 0)
		return 0;
	lists_fill(options, features);
	rc = arc_create(hal, qsbr, features);
	for (uint32_t p = 0; p < RTE_MAX_ETHPORTS && rc == 0; p++)
		if (features->lists[p].nb_filters > 0)
			rc = hy_arc_enable(features->arc, HY_IP4_FILTER_NODE, p, p);
	return hy_terminal_report("--feature", rc);
}

void
features_print(const struct options *options, FILE *out)
{
	uint32_t ports = 0;

	for (unsigned int i = 0; i < options->nb_features; i++)
		ports |= UINT32_C(1) << options->feature[i].port;
	if (ports == 0)
		return;
	fprintf(out, "  %-16s %-10s port ", HY_IP4_FILTER_NODE, "feature");
	for (const char *comma = ""; ports != 0; ports &= ports - 1, comma = ",")
		fprintf(out, "%s%d", comma, __builtin_ctz(ports));
	fprintf(out, "\n");
}

void
features_destroy(struct features *features)
{
	hy_arc_destroy(features->arc);
	*features = (struct features){ 0 };
}
