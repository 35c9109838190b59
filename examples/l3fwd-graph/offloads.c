/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules in the flow engines of ports. */

#include <hy_terminal.h>

#include "offloads.h"

int
offloads_create(const struct options *options, struct hy_policy *policy, struct hy_hal *hal,
	struct hy_offloads **offloads)
{
	struct hy_offload_params params;
	int rc;

	if (options->offload.params.provider == NULL)
		return 0;
	rc = hy_flow_engines_begin("--offload", &options->offload, options->ports.ports,
		options->ports.nb_ports, hal, &params);
	return rc < 0 ? rc
		      : hy_offloads_create(hal, policy, options->ports.ports,
				options->ports.nb_ports, &params, offloads);
}

int
offloads_create_acl(const struct options *options, struct hy_acl *acl, struct hy_hal *hal)
{
	struct hy_offload_params params;
	int rc;

	if (options->acl_offload.params.provider == NULL)
		return 0;
	rc = hy_flow_engines_begin("--acl-offload", &options->acl_offload, options->ports.ports,
		options->ports.nb_ports, hal, &params);
	if (rc == 0)
		rc = hy_acl_offload(acl, hal, &params);
	for (unsigned int i = 0; i < options->nb_binds && rc == 0; i++)
		if (options->bind[i].way == HY_ACL_IN)
			rc = hy_acl_offload_port(acl, options->bind[i].port, options->bind[i].list);
	if (rc == 0)
		hy_acl_offload_install(acl);
	return hy_terminal_report("--acl-offload", rc);
}

void
offloads_destroy(struct hy_offloads *offloads)
{
	hy_offloads_destroy(offloads);
	hy_flow_engines_end();
}
