/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulators behind the ports, which follow the HAL as NICs follow their drivers. */

#include <errno.h>
#include <string.h>

#include <hy_hal_live.h>
#include <hy_terminal.h>

#include "hy_flow_engines.h"

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

int
hy_flow_engines_begin(const char *option, const struct hy_flow_engines *engines,
	const uint16_t *ports, unsigned int nb_ports, struct hy_hal *hal,
	struct hy_offload_params *params)
{
	int rc;

	*params = engines->params;
	if (params->provider == &hy_flow_rte) {
		/* Rule by rule or by templates, as the port was prepared. */
		params->provider = NULL;
		return 0;
	}
	rc = hy_hal_port_observe(hal, sim_follow, NULL); /* before those that use them */
	if (rc < 0)
		hy_terminal_error("%s: %s", option, strerror(-rc));
	for (unsigned int i = 0; i < nb_ports && rc == 0; i++)
		rc = sim_attach(option, &engines->sim, ports[i]);
	return rc;
}

void
hy_flow_engines_end(void)
{
	for (uint16_t p = 0; p < RTE_MAX_ETHPORTS; p++)
		hy_flow_sim_detach(p);
}
