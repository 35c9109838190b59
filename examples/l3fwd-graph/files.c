/* SPDX-License-Identifier: BSD-3-Clause */
/* Routes, policy and access lists, from the command line's point of view. */

#include <hy_terminal.h>

#include "files.h"

#define GIVEN_MOST 8u

int
routes_create(const struct options *options, struct hy_routes **routes)
{
	struct hy_route given[GIVEN_MOST];
	struct hy_routes_params params = {
		.path = options->routes,
		.given = given,
		.ports = options->ports.ports,
		.nb_ports = options->ports.nb_ports,
		.vlans = options->vlan,
		.nb_vlans = options->nb_vlans,
		.max_len = options->ports.max_len - RTE_ETHER_CRC_LEN,
		.max_routes = options->max_routes,
		.max_tbl8s = options->max_tbl8s,
		.max_next_hops = options->max_next_hops,
		.group_seed = options->group_seed,
	};
	char error[HY_ROUTES_ERROR_SIZE];
	int rc;

	/* The benchmarking range of RFC 2544, of which DPDK's app takes eight networks. */
	for (uint16_t p = 0; p < GIVEN_MOST; p++)
		if (port_enabled(options, p))
			given[params.nb_given++] = (struct hy_route){
				.prefix = RTE_IPV4(198u, 18, p, 0),
				.depth = 24,
				.next_hop = { .port = p, .mac = options->eth_dest[p] },
			};
	rc = hy_routes_create(&params, routes, error);
	return rc < 0 ? hy_terminal_refuse(rc, "--routes: %s", error) : 0;
}

uint32_t
nodes_of(const struct hy_workers *workers)
{
	uint32_t nodes = 0;

	for (unsigned int w = 0; w < workers->nb; w++)
		if (workers->worker[w].socket != SOCKET_ID_ANY)
			nodes |= RTE_BIT32(workers->worker[w].socket);
	return nodes;
}

int
classes_create(const struct options *options, const struct hy_workers *workers,
	struct classes *classes)
{
	const struct hy_policy_params params = {
		.max_rules = options->max_rules,
		.workers = workers->nb,
		.socket = SOCKET_ID_ANY,
		.nodes = nodes_of(workers),
		.qsbr = workers->qsbr,
		.max_memory = (uint64_t)options->max_rules_mib << 20,
		.max_build_ms = options->build_ms,
	};
	char error[HY_RELOAD_ERROR_SIZE] = "out of memory";
	struct hy_reload_part rules;
	int rc;

	if (options->policy == NULL)
		return 0;
	rc = hy_policy_create("l3fwd", &params, &classes->policy);
	if (rc == 0) {
		rules = hy_reload_policy(classes->policy, options->policy);
		rc = hy_reload_start(&rules, error);
	}
	if (rc < 0)
		hy_terminal_error("--policy: %s", error);
	while (classes->nb_ways < options->nb_drop_class) {
		classes->ways[classes->nb_ways] = (struct hy_flow_way){
			.class_id = options->drop_class[classes->nb_ways], .edge = HY_FLOW_DENY
		};
		classes->nb_ways++;
	}
	return rc;
}

void
classes_destroy(struct classes *classes)
{
	hy_policy_destroy(classes->policy);
	*classes = (struct classes){ 0 };
}

void
files_reload(const struct options *options, struct hy_routes *routes, const struct classes *classes,
	const struct hy_acl *acl, FILE *out)
{
	struct hy_reload_part parts[2 + HY_ACL_LISTS];
	struct hy_reload_rules rules[1 + HY_ACL_LISTS];
	unsigned int n = 0, nb_rules = acl == NULL ? 0 : hy_acl_rules(acl, rules);

	if (options->routes != NULL)
		parts[n++] = hy_routes_part(routes);
	if (options->policy != NULL)
		rules[nb_rules++] = (struct hy_reload_rules){
			.what = "policy", .policy = classes->policy, .path = options->policy
		};
	hy_reload_together(rules, nb_rules, &parts[n]);
	n += nb_rules;
	if (n == 0)
		hy_terminal_error("routes unchanged: SIGHUP reads files again, which requires "
				  "--routes");
	else
		hy_reload(parts, n, out);
}
