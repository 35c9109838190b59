/* SPDX-License-Identifier: BSD-3-Clause */
/* The features of --feature: see feature.h. */

#include <stdio.h>

#include <hy_mbuf.h>
#include <hy_terminal.h>

#include "feature.h"

static const struct {
	const char *arc, *lookup;
} families[FAMILIES] = {
	[HY_IP_V4] = { HY_IP4_INPUT_ARC, "ip4_lookup" },
	[HY_IP_V6] = { HY_IP6_INPUT_ARC, "ip6_lookup" },
};

/* Puts the filters of each family and port side by side. */
static void
lists_fill(const struct options *options, struct features *features)
{
	struct hy_ip_filter *filter = features->filters;

	for (unsigned int at = 0; at < FAMILIES * RTE_MAX_ETHPORTS; at++) {
		const unsigned int family = at / RTE_MAX_ETHPORTS, port = at % RTE_MAX_ETHPORTS;
		struct hy_ip_filter_list *list = &features->lists[family][port];

		list->filters = filter;
		for (unsigned int i = 0; i < options->nb_features; i++)
			if (options->feature[i].family == family &&
				options->feature[i].port == port)
				*filter++ = options->feature[i].filter;
		list->nb_filters = (unsigned int)(filter - list->filters);
	}
}

static int
arc_create(enum hy_ip_family family, struct hy_hal *hal, struct rte_rcu_qsbr *qsbr,
	struct features *features)
{
	const struct hy_ip_filter_config config = { .lists = features->lists[family],
		.nb_lists = RTE_MAX_ETHPORTS };
	char lookup[HY_NAME_SIZE];
	const struct hy_arc_params params = {
		.end = lookup, .index = hy_mbuf_ports, .qsbr = qsbr, .socket = SOCKET_ID_ANY
	};
	hy_node_id id;
	int rc = hy_hal_node(hal, families[family].lookup, 0, &id);

	if (rc == 0)
		rc = hy_node_name(id, lookup, sizeof(lookup));
	if (rc == 0)
		rc = hy_node_lookup(feature_nodes[family], &id);
	if (rc == 0)
		rc = hy_node_config(id, &config, sizeof(config));
	return rc == 0 ? hy_arc_create(families[family].arc, &params, &features->arc[family]) : rc;
}

/* The ports that have filters of a family, a bit each. */
static uint64_t
ports_of(const struct options *options, enum hy_ip_family family)
{
	uint64_t ports = 0;

	for (unsigned int i = 0; i < options->nb_features; i++)
		if (options->feature[i].family == family)
			ports |= UINT64_C(1) << options->feature[i].port;
	return ports;
}

int
features_create(const struct options *options, struct hy_hal *hal, struct rte_rcu_qsbr *qsbr,
	struct features *features)
{
	int rc = 0;

	lists_fill(options, features);
	for (unsigned int family = HY_IP_V4; family < FAMILIES && rc == 0; family++) {
		uint64_t ports = ports_of(options, family);

		if (ports != 0)
			rc = arc_create(family, hal, qsbr, features);
		for (; ports != 0 && rc == 0; ports &= ports - 1) {
			const uint32_t p = (uint32_t)__builtin_ctzll(ports);

			rc = hy_arc_enable(features->arc[family], feature_nodes[family], p, p);
		}
	}
	return hy_terminal_report("--feature", rc);
}

void
features_print(const struct options *options, FILE *out)
{
	for (unsigned int family = HY_IP_V4; family < FAMILIES; family++) {
		uint64_t ports = ports_of(options, family);

		if (ports == 0)
			continue;
		fprintf(out, "  %-16s %-10s port ", feature_nodes[family], "feature");
		for (const char *comma = ""; ports != 0; ports &= ports - 1, comma = ",")
			fprintf(out, "%s%d", comma, __builtin_ctzll(ports));
		fprintf(out, "\n");
	}
}

void
features_destroy(struct features *features)
{
	for (unsigned int family = 0; family < FAMILIES; family++)
		hy_arc_destroy(features->arc[family]);
	*features = (struct features){ 0 };
}
