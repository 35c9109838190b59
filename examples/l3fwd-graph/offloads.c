/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulators behind the ports, which follow the HAL as NICs follow their drivers. */

#include <errno.h>
#include <string.h>

#include <hy_terminal.h>

#include "offloads.h"

/* Simulators lose what NICs lose. A port that is gone has none: it is closed next. */
static void
sim_follow(struct hy_hal *hal __rte_unused, uint16_t port, enum hy_port_state state,
	void *arg __rte_unused)
{
	struct hy_flow_sim *sim = hy_flow_sim_of(port);

	if (sim == NULL)
		return;
	if (state == HY_PORT_GONE)
		hy_flow_sim_detach(port);
	else if (state == HY_PORT_UP)
		hy_flow_sim_start(sim);
	else
		hy_flow_sim_stop(sim);
}

static int
sim_attach(const char *option, const struct hy_flow_sim_params *sim, uint16_t port)
{
	const int rc = hy_flow_sim_attach(port, sim);

	if (rc == -EINVAL)
		hy_terminal_error("%s: mark_max: %u is more than %s has; 1 to %u are accepted",
			option, sim->mark_max, sim->profile, hy_flow_sim_mark_max(sim->profile));
	else if (rc < 0)
		hy_terminal_error("%s: no simulator behind port %u: %s", option, port,
			strerror(-rc));
	return rc;
}

/* The parameters of the offloads of ports, and simulators behind them if the option asks for some. */
static int
engines_create(const char *option, const struct offload_options *offload,
	const struct options *options, struct hy_hal *hal, struct hy_offload_params *params)
{
	int rc;

	*params = offload->params;
	if (params->provider == &hy_flow_rte) {
		params->provider =
			NULL; /* rule by rule or by templates, as the port was prepared */
		return 0;
	}
	rc = hy_hal_port_observe(hal, sim_follow, NULL); /* before those that use them */
	for (unsigned int i = 0; i < options->ports.nb_ports && rc == 0; i++)
		rc = sim_attach(option, &offload->sim, options->ports.ports[i]);
	return rc;
}

int
offloads_create(const struct options *options, struct hy_policy *policy, struct hy_hal *hal,
	struct hy_offloads **offloads)
{
	struct hy_offload_params params;
	int rc;

	if (options->offload.params.provider == NULL)
		return 0;
	rc = engines_create("--offload", &options->offload, options, hal, &params);
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
	rc = engines_create("--acl-offload", &options->acl_offload, options, hal, &params);
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
	for (uint16_t p = 0; p < RTE_MAX_ETHPORTS; p++)
		hy_flow_sim_detach(p);
}
