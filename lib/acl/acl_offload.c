/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists in the hardware of the ports whose "in" they are bound to. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>

#include <hy_hal_live.h>

#include "acl.h"
#include "lib/file/internal/json.h"
#include "lib/graph/internal/log.h"

#define POLL_MS 50      /* between polls */
#define INSTALL_MS 1000 /* at most, for the rules that exist at the start */
#define TOLD_MOST 8     /* wrong marks of a port that are reported */

int
hy_acl_offload(struct hy_acl *acl, struct hy_hal *hal, const struct hy_offload_params *params)
{
	if (acl->hal != NULL)
		return -EEXIST;
	acl->hal = hal;
	acl->offload = *params;
	return 0;
}

void
acl_offload_end(struct hy_acl *acl, uint16_t port)
{
	hy_offload_destroy(acl->offloads[port].offload);
	acl->offloads[port] = (struct acl_offload){ 0 };
}

/* Makes the offload of a port that has none yet. As hy_acl_offload_port(). */
static int
offload_begin(struct hy_acl *acl, uint16_t port)
{
	struct acl_offload *at = &acl->offloads[port];
	const struct acl_list *list = at->list;
	int rc;

	at->waits = hy_hal_port_state(acl->hal, port) != HY_PORT_UP;
	if (at->waits) { /* its driver takes no calls, and observers are told when it does */
		snprintf(at->reason, sizeof(at->reason), "the port is not up");
		return 0;
	}
	rc = hy_offload_create(list->shown.policy, port, &acl->offload, &at->offload, at->reason,
		sizeof(at->reason));
	if (rc == -ENOTSUP) {
		HY_LOG(NOTICE, "port %u does not drop for access list %s: %s", port, list->name,
			at->reason);
		return 0;
	}
	if (rc == 0)
		rc = hy_offload_follow(at->offload, acl->hal);
	if (rc < 0) {
		HY_LOG(ERR, "access list %s is not offloaded to port %u: %s", list->name, port,
			at->reason[0] != '\0' ? at->reason : strerror(-rc));
		acl_offload_end(acl, port);
	}
	return rc;
}

int
hy_acl_offload_port(struct hy_acl *acl, uint16_t port, const char *name)
{
	const struct acl_list *list = name == NULL ? NULL : acl_find(acl, name);
	struct acl_offload *at;

	if (acl->hal == NULL || port >= RTE_MAX_ETHPORTS)
		return -EINVAL;
	if (name != NULL && list == NULL)
		return -ENOENT;
	at = &acl->offloads[port];
	if (at->list == list)
		return 0;
	acl_offload_end(acl, port);
	if (list == NULL)
		return 0;
	at->list = list;
	return offload_begin(acl, port);
}

static uint32_t
poll_all(const struct hy_acl *acl)
{
	uint32_t done = 0;

	for (unsigned int p = 0; p < RTE_MAX_ETHPORTS; p++)
		if (acl->offloads[p].offload != NULL)
			done += hy_offload_poll(acl->offloads[p].offload);
	return done;
}

/* No slot may be used before settle_us are over, and denies wait for rules before them to settle. */
void
hy_acl_offload_install(struct hy_acl *acl)
{
	const uint32_t settle_us = RTE_MIN(acl->offload.settle_us, INSTALL_MS * 1000u);
	const uint64_t until = rte_rdtsc() + INSTALL_MS * rte_get_tsc_hz() / 1000;
	unsigned int quiet = 0;

	while (acl->hal != NULL && quiet < 3 && rte_rdtsc() < until) {
		rte_delay_us_sleep(RTE_MAX(settle_us, 1000u));
		quiet = poll_all(acl) > 0 ? 0 : quiet + 1;
	}
}

static void
mismatches_tell(struct acl_offload *at, uint16_t port)
{
	struct hy_mark_mismatch m;

	while (hy_offload_mismatch(at->offload, &m) == 0)
		if (at->told++ < TOLD_MOST)
			HY_LOG(ERR,
				"port %u: access list %s: mark 0x%x is of rule %u; software finds "
				"rule %u (0: none)",
				port, at->list->name, m.mark, m.hw_rule, m.sw_rule);
}

void
acl_offload_poll(struct hy_acl *acl)
{
	const uint64_t now = rte_rdtsc();

	if (acl->hal == NULL || now - acl->polled < POLL_MS * rte_get_tsc_hz() / 1000)
		return;
	for (unsigned int p = 0; p < RTE_MAX_ETHPORTS; p++)
		if (acl->offloads[p].waits &&
			hy_hal_port_state(acl->hal, (uint16_t)p) == HY_PORT_UP)
			offload_begin(acl, (uint16_t)p); /* what fails is reported */
	if (poll_all(acl) == 0)
		acl->polled = now;
	for (unsigned int p = 0; p < RTE_MAX_ETHPORTS; p++)
		if (acl->offloads[p].offload != NULL)
			mismatches_tell(&acl->offloads[p], (uint16_t)p);
}

void
hy_acl_offload_read(struct hy_acl *acl)
{
	for (unsigned int p = 0; p < RTE_MAX_ETHPORTS; p++)
		if (acl->offloads[p].offload != NULL)
			hy_offload_read(acl->offloads[p].offload);
}

/* Why a rule is not in the hardware of a port; NULL: it is. */
static const char *
why_not(const struct acl_offload *at, uint32_t rule)
{
	return at->offload == NULL ? at->reason : hy_offload_reason(at->offload, rule);
}

void
hy_acl_offload_print(const struct hy_acl *acl, FILE *out)
{
	for (unsigned int p = 0; p < RTE_MAX_ETHPORTS; p++) {
		const struct acl_offload *at = &acl->offloads[p];
		const struct hy_policy_view *view;

		if (at->list == NULL)
			continue;
		if (at->offload != NULL)
			hy_offload_print(at->offload, out);
		else
			fprintf(out, "port %u: no offload: %s\n", p, at->reason);
		fprintf(out, "  rules of access list %s:\n", at->list->name);
		view = hy_policy_view_hold(at->list->shown.policy);
		for (uint32_t r = 0; r < view->nb_rules; r++) {
			const struct hy_flow_rule *rule = &view->rules[r].rule;
			const char *why = why_not(at, rule->id);

			fprintf(out, "    %u %s: %s%s\n", rule->id, acl_actions[rule->action],
				why == NULL ? "in hardware" : "in software: ",
				why == NULL ? "" : why);
		}
		hy_policy_view_release(at->list->shown.policy, view);
	}
}

static void
rules_json(const struct acl_offload *at, FILE *out)
{
	const struct hy_policy_view *view = hy_policy_view_hold(at->list->shown.policy);

	for (uint32_t r = 0; r < view->nb_rules; r++) {
		const uint32_t id = view->rules[r].rule.id;
		const char *why = why_not(at, id);

		fprintf(out, "%s{\"rule\": %u, \"hardware\": %s, \"why_not\": ", r == 0 ? "" : ", ",
			id, why == NULL ? "true" : "false");
		if (why == NULL)
			fprintf(out, "null");
		else
			hy_json_string(why, out);
		fputc('}', out);
	}
	hy_policy_view_release(at->list->shown.policy, view);
}

void
hy_acl_offload_json(const struct hy_acl *acl, FILE *out)
{
	const char *comma = "";

	for (unsigned int p = 0; p < RTE_MAX_ETHPORTS; p++) {
		const struct acl_offload *at = &acl->offloads[p];

		if (at->list == NULL)
			continue;
		fprintf(out, "%s\n    {\"port\": %u, \"list\": \"%s\", \"offload\": ", comma, p,
			at->list->name);
		if (at->offload != NULL)
			hy_offload_json(at->offload, out);
		else
			fprintf(out, "null");
		fprintf(out, ", \"rules\": [");
		rules_json(at, out);
		fprintf(out, "]}");
		comma = ",";
	}
}
