/* SPDX-License-Identifier: BSD-3-Clause */
/* The offloads of a policy to several ports. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include <hy_offloads.h>
#include <hy_terminal.h>

#include "lib/file/internal/json.h"

#define POLL_MS 50      /* between polls that found nothing to do */
#define INSTALL_MS 1000 /* at most, for the rules that exist at the start */
#define TOLD_MOST 8     /* wrong marks of a port that are reported */
#define REASON_SIZE 128

struct port {
	uint16_t port;
	struct hy_offload *offload; /* NULL: refused, for this reason */
	char reason[REASON_SIZE];
	unsigned int told; /* wrong marks */
};

struct hy_offloads {
	struct hy_hal *hal;
	uint64_t next; /* TSC: when to poll again */
	unsigned int nb;
	struct port ports[RTE_MAX_ETHPORTS];
};

static int
port_create(struct hy_offloads *offloads, struct hy_policy *policy,
	const struct hy_offload_params *params, struct port *port)
{
	const struct hy_target target = { .kind = HY_TARGET_PORT, .id = port->port };
	int rc = hy_offload_create(policy, port->port, params, &port->offload, port->reason,
		sizeof(port->reason));

	if (rc == -ENOTSUP) {
		hy_terminal_error("port %u is not offloaded to: %s", port->port, port->reason);
		hy_hal_capability_set(offloads->hal, target, HY_CAP_FLOW_MARK, HY_LEVEL_NO,
			HY_ORIGIN_PROBED, 0, port->reason);
		return 0;
	}
	if (rc == 0)
		rc = hy_offload_follow(port->offload, offloads->hal);
	if (rc < 0)
		hy_terminal_error("offload to port %u: %s", port->port,
			port->reason[0] != '\0' ? port->reason : strerror(-rc));
	return rc;
}

static uint32_t
poll_all(const struct hy_offloads *offloads)
{
	uint32_t done = 0;

	for (unsigned int i = 0; i < offloads->nb; i++)
		if (offloads->ports[i].offload != NULL)
			done += hy_offload_poll(offloads->ports[i].offload);
	return done;
}

/* No slot may be used before settle_us are over. */
static void
install(const struct hy_offloads *offloads, uint32_t settle_us)
{
	const uint64_t until = rte_rdtsc() + INSTALL_MS * rte_get_tsc_hz() / 1000;

	rte_delay_us_sleep(RTE_MIN(settle_us, INSTALL_MS * 1000u));
	while (poll_all(offloads) > 0 && rte_rdtsc() < until)
		;
}

int
hy_offloads_create(struct hy_hal *hal, struct hy_policy *policy, const uint16_t *ports,
	unsigned int nb_ports, const struct hy_offload_params *params, struct hy_offloads **out)
{
	struct hy_offloads *offloads = calloc(1, sizeof(*offloads));
	int rc = 0;

	*out = NULL;
	if (offloads == NULL)
		return hy_terminal_refuse(-ENOMEM, "offloads: out of memory");
	offloads->hal = hal;
	while (offloads->nb < nb_ports && rc == 0) {
		struct port *port = &offloads->ports[offloads->nb];

		port->port = ports[offloads->nb++];
		rc = port_create(offloads, policy, params, port);
	}
	if (rc < 0) {
		hy_offloads_destroy(offloads);
		return rc;
	}
	install(offloads, params->settle_us);
	*out = offloads;
	return 0;
}

void
hy_offloads_destroy(struct hy_offloads *offloads)
{
	for (unsigned int i = 0; offloads != NULL && i < offloads->nb; i++) {
		if (offloads->ports[i].offload != NULL)
			hy_offload_closing(offloads->ports[i].offload);
		hy_offload_destroy(offloads->ports[i].offload);
	}
	free(offloads);
}

static void
mismatch_report(uint16_t port, const struct hy_mark_mismatch *m)
{
	const uint32_t n = RTE_MIN(m->len, (uint32_t)HY_MISMATCH_FRAME);
	char found[64] = "no rule", frame[2 * HY_MISMATCH_FRAME + 1] = "";

	if (m->sw_class != HY_FLOW_NO_CLASS)
		snprintf(found, sizeof(found), "rule %u, class %u", m->sw_rule, m->sw_class);
	for (uint32_t i = 0; i < n; i++)
		sprintf(frame + 2 * i, "%02x", m->frame[i]);
	hy_terminal_error(
		"port %u: mark 0x%x is of rule %u, class %u; software finds %s; %u bytes: "
		"%s%s",
		port, m->mark, m->hw_rule, m->hw_class, found, m->len, frame,
		m->len > n ? "..." : "");
}

void
hy_offloads_poll(struct hy_offloads *offloads)
{
	const uint64_t now = rte_rdtsc();
	struct hy_mark_mismatch mismatch;

	if (offloads == NULL || now < offloads->next)
		return;
	if (poll_all(offloads) == 0)
		offloads->next = now + POLL_MS * rte_get_tsc_hz() / 1000;
	for (unsigned int i = 0; i < offloads->nb; i++) {
		struct port *port = &offloads->ports[i];

		while (port->offload != NULL && hy_offload_mismatch(port->offload, &mismatch) == 0)
			if (port->told++ < TOLD_MOST)
				mismatch_report(port->port, &mismatch);
	}
}

void
hy_offloads_print(const struct hy_offloads *offloads, FILE *out)
{
	for (unsigned int i = 0; offloads != NULL && i < offloads->nb; i++) {
		const struct port *port = &offloads->ports[i];

		if (port->offload != NULL)
			hy_offload_print(port->offload, out);
		else
			fprintf(out, "port %u: no offload: %s\n", port->port, port->reason);
	}
}

void
hy_offloads_json(const struct hy_offloads *offloads, FILE *out)
{
	for (unsigned int i = 0; offloads != NULL && i < offloads->nb; i++) {
		const struct port *port = &offloads->ports[i];

		fprintf(out, "%s\n    ", i > 0 ? "," : "");
		if (port->offload != NULL) {
			hy_offload_json(port->offload, out);
			continue;
		}
		fprintf(out, "{\"port\": %u, \"state\": \"refused\", \"reason\": ", port->port);
		hy_json_string(port->reason, out);
		fputc('}', out);
	}
}
