/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Offloads, from the ports' start to their end. They follow the HAL, which takes their rules from
 * ports that stop or go; a simulator does what its port does.
 */

#include <errno.h>
#include <string.h>

#include <rte_cycles.h>

#include "offloads.h"

#define POLL_MS 50      /* between polls that found nothing to do */
#define INSTALL_MS 1000 /* for the rules that are there at the start */
#define TOLD_MOST 8     /* wrong marks of a port, in full */

static uint64_t
ms(unsigned int n)
{
	return n * rte_get_tsc_hz() / 1000;
}

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
sim_attach(const struct offload_options *o, uint16_t port)
{
	const int rc = hy_flow_sim_attach(port, &o->sim);

	if (rc == -EINVAL)
		fprintf(stderr,
			"l3fwd-graph: --offload: mark_max: %u is more than %s has; 1 to %u are "
			"accepted\n",
			o->sim.mark_max, o->sim.profile, hy_flow_sim_mark_max(o->sim.profile));
	else if (rc < 0)
		fprintf(stderr, "l3fwd-graph: --offload: no simulator behind port %u: %s\n", port,
			strerror(-rc));
	return rc;
}

/* So that selections know it, and reports. */
static void
refuse(struct offloads *offloads, uint16_t port, const char *reason)
{
	const struct hy_target target = { .kind = HY_TARGET_PORT, .id = port };
	char *why = offloads->refused[port];

	snprintf(why, sizeof(offloads->refused[port]), "%s", reason);
	for (; *why != '\0'; why++)
		if (*why == '"' || *why == '\\' || (unsigned char)*why < ' ')
			*why = '\'';
	fprintf(stderr, "l3fwd-graph: port %u is not offloaded to: %s\n", port, reason);
	hy_hal_capability_set(offloads->hal, target, HY_CAP_FLOW_MARK, HY_LEVEL_NO,
		HY_ORIGIN_PROBED, 0, reason);
}

static int
port_create(struct offloads *offloads, struct hy_policy *policy, uint16_t port)
{
	const struct offload_options *o = &offloads->options->offload;
	struct hy_offload_params params = o->params;
	struct hy_offload **offload = &offloads->ports[port];
	char reason[128] = "";
	int rc;

	if (o->sim.profile != NULL && sim_attach(o, port) < 0)
		return -1;
	if (params.provider == &hy_flow_rte)
		params.provider = NULL; /* rule by rule or by templates, as the port was prepared */
	rc = hy_offload_create(policy, port, &params, offload, reason, sizeof(reason));
	if (rc == -ENOTSUP) {
		refuse(offloads, port, reason);
		return 0;
	}
	if (rc == 0)
		rc = hy_offload_follow(*offload, offloads->hal);
	if (rc < 0)
		fprintf(stderr, "l3fwd-graph: --offload: port %u: %s\n", port,
			reason[0] != '\0' ? reason : strerror(-rc));
	return rc;
}

static uint32_t
poll_all(struct offloads *offloads)
{
	uint32_t done = 0;

	for (uint16_t p = 0; p < RTE_MAX_ETHPORTS; p++)
		if (offloads->ports[p] != NULL)
			done += hy_offload_poll(offloads->ports[p]);
	return done;
}

/* So that the first packets find rules. Before settle_us no slot may be used. */
static void
install(struct offloads *offloads)
{
	const uint32_t settle_us = offloads->options->offload.params.settle_us;
	const uint64_t until = rte_rdtsc() + ms(INSTALL_MS);

	rte_delay_us_sleep(RTE_MIN(settle_us, INSTALL_MS * 1000u));
	while (poll_all(offloads) > 0 && rte_rdtsc() < until)
		;
}

int
offloads_create(const struct options *options, struct hy_policy *policy, struct hy_hal *hal,
	struct offloads *offloads)
{
	uint16_t port;
	int rc;

	if (options->offload.params.provider == NULL)
		return 0;
	rc = hy_hal_port_observe(hal, sim_follow, offloads); /* before those that use simulators */
	if (rc < 0) {
		fprintf(stderr, "l3fwd-graph: --offload: %s\n", strerror(-rc));
		return -1;
	}
	offloads->options = options;
	offloads->hal = hal;
	RTE_ETH_FOREACH_DEV(port)
		if (port_enabled(options, port) && port_create(offloads, policy, port) < 0)
			return -1;
	install(offloads);
	return 0;
}

void
offloads_destroy(struct offloads *offloads)
{
	if (offloads->hal == NULL)
		return;
	for (uint16_t p = 0; p < RTE_MAX_ETHPORTS; p++) {
		hy_offload_destroy(offloads->ports[p]);
		hy_flow_sim_detach(p);
	}
	hy_hal_port_unobserve(offloads->hal, sim_follow, offloads);
	*offloads = (struct offloads){ 0 };
}

static void
mismatch_print(uint16_t port, const struct hy_mark_mismatch *m)
{
	const uint32_t n = RTE_MIN(m->len, (uint32_t)HY_MISMATCH_FRAME);

	fprintf(stderr, "l3fwd-graph: port %u: mark 0x%x is of rule %u, class %u; software finds ",
		port, m->mark, m->hw_rule, m->hw_class);
	if (m->sw_class == HY_FLOW_NO_CLASS)
		fprintf(stderr, "no rule");
	else
		fprintf(stderr, "rule %u, class %u", m->sw_rule, m->sw_class);
	fprintf(stderr, "; %u bytes: ", m->len);
	for (uint32_t i = 0; i < n; i++)
		fprintf(stderr, "%02x", m->frame[i]);
	fprintf(stderr, "%s\n", m->len > n ? "..." : "");
}

void
offloads_poll(struct offloads *offloads)
{
	const uint64_t now = rte_rdtsc();
	struct hy_mark_mismatch mismatch;

	if (offloads->hal == NULL || now < offloads->next)
		return;
	if (poll_all(offloads) == 0)
		offloads->next = now + ms(POLL_MS);
	for (uint16_t p = 0; p < RTE_MAX_ETHPORTS; p++)
		while (offloads->ports[p] != NULL &&
			hy_offload_mismatch(offloads->ports[p], &mismatch) == 0)
			if (offloads->told[p]++ < TOLD_MOST)
				mismatch_print(p, &mismatch);
}

void
offloads_print(const struct offloads *offloads, FILE *out)
{
	for (uint16_t p = 0; offloads->hal != NULL && p < RTE_MAX_ETHPORTS; p++) {
		if (offloads->ports[p] != NULL)
			hy_offload_print(offloads->ports[p], out);
		else if (offloads->refused[p][0] != '\0')
			fprintf(out, "port %u: no offload: %s\n", p, offloads->refused[p]);
	}
}

void
offloads_json(const struct offloads *offloads, FILE *out)
{
	const char *comma = "";

	for (uint16_t p = 0; offloads->hal != NULL && p < RTE_MAX_ETHPORTS; p++) {
		if (offloads->ports[p] == NULL && offloads->refused[p][0] == '\0')
			continue;
		fprintf(out, "%s\n    ", comma);
		if (offloads->ports[p] != NULL)
			hy_offload_json(offloads->ports[p], out);
		else
			fprintf(out, "{\"port\": %u, \"state\": \"refused\", \"reason\": \"%s\"}",
				p, offloads->refused[p]);
		comma = ",";
	}
}
