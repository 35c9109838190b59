/* SPDX-License-Identifier: BSD-3-Clause */
/* Phase one of bring-up: the port configuration that the variants to be chosen ask for. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hal/internal/hal.h"
#include "hal/internal/list.h"

/* Plans under construction. */
struct draft {
	struct hy_port_plan plans[RTE_MAX_ETHPORTS];
	struct hy_trial *trials;
	unsigned int nb_trials;
};

const struct hy_trial *
hy_trial_find(const struct hy_hal *hal, const struct hy_variant *variant, uint16_t port)
{
	for (unsigned int i = 0; i < hal->nb_trials; i++)
		if (hal->trials[i].variant == variant && hal->trials[i].port == port)
			return &hal->trials[i];
	return NULL;
}

bool
hy_port_next(const struct hy_hal *hal, struct hy_target target, struct hy_target on, uint16_t *at,
	uint16_t *port)
{
	while (*at < RTE_MAX_ETHPORTS) {
		const struct hy_target next = { .kind = HY_TARGET_PORT, .id = (*at)++ };

		*port = next.id;
		if (hal->ports[next.id].present && hy_targets_meet(target, next) &&
			hy_targets_meet(on, next))
			return true;
	}
	return false;
}

/* The lowest bit that is wanted but not offered, or 0. */
static uint64_t
missing(uint64_t wanted, uint64_t offered)
{
	const uint64_t lacking = wanted & ~offered;

	return lacking & -lacking;
}

/* Whether a port can be configured as planned; if not, gives the reason. */
static bool
plan_possible(uint16_t port, const struct hy_port_plan *plan, const struct hy_port_plan *before,
	char *reason, size_t size)
{
	struct rte_eth_dev_info info;
	uint64_t rx, tx;

	if (before->mempool_ops[0] != '\0' && strcmp(before->mempool_ops, plan->mempool_ops) != 0)
		return HY_REASON(false, reason, size,
			"needs a packet pool with operations '%s', but another variant needs '%s'",
			plan->mempool_ops, before->mempool_ops);
	if (rte_eth_dev_info_get(port, &info) != 0)
		return HY_REASON(false, reason, size, "the port gives no information");
	rx = missing(plan->rx_offloads, info.rx_offload_capa);
	tx = missing(plan->tx_offloads, info.tx_offload_capa);
	if (rx != 0)
		snprintf(reason, size, "the port lacks the receive offload %s",
			rte_eth_dev_rx_offload_name(rx));
	else if (tx != 0)
		snprintf(reason, size, "the port lacks the transmit offload %s",
			rte_eth_dev_tx_offload_name(tx));
	return rx == 0 && tx == 0;
}

/* Records why a port cannot be prepared, with its number if the choice is for several ports. */
static void
trial_fail(struct hy_trial *trial, const struct hy_selection *s, const char *reason)
{
	char which[sizeof("port 65535: ")] = "";

	if (s->target.kind != HY_TARGET_PORT)
		snprintf(which, sizeof(which), "port %u: ", trial->port);
	snprintf(trial->reason, sizeof(trial->reason), "cannot be prepared: %s%.160s", which,
		reason);
}

/* Asks a selection's choice how to configure a port. 1: that failed, and the choice was struck. */
static int
prepare_port(const struct hy_hal *hal, struct draft *draft, struct hy_selection *s, uint16_t port,
	char *error)
{
	const struct hy_target target = { .kind = HY_TARGET_PORT, .id = port };
	struct hy_port_plan plan = draft->plans[port];
	struct hy_trial *trial = hy_list_room(&draft->trials, draft->nb_trials, sizeof(*trial));
	char reason[HY_REASON_SIZE] = "";
	int rc;

	if (trial == NULL)
		return hy_no_memory(error);
	draft->nb_trials++;
	trial->variant = s->chosen;
	trial->port = port;
	rc = s->chosen->prepare(hal, target, &plan, reason, sizeof(reason));
	if (rc < 0 && reason[0] == '\0')
		snprintf(reason, sizeof(reason), "%s", strerror(-rc));
	trial->ok = rc == 0 &&
		plan_possible(port, &plan, &draft->plans[port], reason, sizeof(reason));
	if (trial->ok) {
		draft->plans[port] = plan;
		return 0;
	}
	trial_fail(trial, s, reason);
	hy_candidate_decide(hy_candidate_chosen(s), HY_FATE_BIND_FAILED, "%s", trial->reason);
	return 1;
}

/* Prepares a selection's choice for all its ports. */
static int
prepare_one(const struct hy_hal *hal, struct draft *draft, struct hy_selection *s, char *error)
{
	uint16_t at = 0, port;
	int rc = 0;

	while (rc == 0 && s->chosen->prepare != NULL &&
		hy_port_next(hal, s->target, s->on, &at, &port))
		rc = prepare_port(hal, draft, s, port, error);
	return rc;
}

/*
 * Clears plans and successful trials: the final plans must contain only what is chosen in the end.
 */
static void
draft_restart(struct draft *draft)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < draft->nb_trials; i++)
		if (!draft->trials[i].ok)
			draft->trials[kept++] = draft->trials[i];
	draft->nb_trials = kept;
	memset(draft->plans, 0, sizeof(draft->plans));
}

static int
draft_make(const struct hy_hal *hal, struct draft *draft, struct hy_slate *slate, char *error)
{
	int struck;

	do {
		draft_restart(draft);
		struck = hy_slate_resolve(hal, slate, error);
		for (unsigned int i = 0; i < slate->n && struck == 0; i++)
			struck = prepare_one(hal, draft, &slate->selections[i], error);
	} while (struck > 0);
	return struck;
}

int
hy_hal_plan(struct hy_hal *hal, char *error)
{
	struct draft draft = { 0 };
	struct hy_slate slate;
	int rc;

	hal->planning = true;
	rc = hy_slate_make(hal, &slate, error);
	if (rc == 0)
		rc = draft_make(hal, &draft, &slate, error);
	hal->planning = false;
	hy_slate_free(&slate);
	if (rc < 0) {
		free(draft.trials);
		return rc;
	}
	free(hal->trials);
	hal->trials = draft.trials;
	hal->nb_trials = draft.nb_trials;
	memcpy(hal->plans, draft.plans, sizeof(hal->plans));
	return 0;
}

const struct hy_port_plan *
hy_hal_port_plan(const struct hy_hal *hal, uint16_t port)
{
	static const struct hy_port_plan empty;

	return port < RTE_MAX_ETHPORTS ? &hal->plans[port] : &empty;
}

/*
 * What a plan asks for, and marks if the port agreed to them before: each negotiation revokes what
 * it does not ask for.
 */
static uint64_t
metadata_wanted(const struct hy_hal *hal, uint16_t port)
{
	const struct hy_target target = { .kind = HY_TARGET_PORT, .id = port };
	uint64_t wanted = hal->plans[port].rx_metadata;

	if (hy_hal_capability(hal, target, HY_CAP_RX_METADATA_MARK)->level == HY_LEVEL_YES)
		wanted |= RTE_ETH_RX_METADATA_USER_MARK;
	return wanted;
}

int
hy_hal_port_conf(struct hy_hal *hal, uint16_t port, struct rte_eth_conf *conf)
{
	struct hy_port_plan *plan;
	uint64_t granted;
	int rc = 0;

	if (port >= RTE_MAX_ETHPORTS)
		return -EINVAL;
	plan = &hal->plans[port];
	granted = metadata_wanted(hal, port);
	if (granted != 0)
		rc = rte_eth_rx_metadata_negotiate(port, &granted);
	if (rc < 0 && rc != -ENOTSUP && rc != -EBUSY)
		return rc;
	/* -EBUSY: it was configured before, and what it granted then remains valid. */
	if (rc != -EBUSY)
		plan->rx_granted = rc == 0 ? granted : 0;
	conf->rxmode.offloads |= plan->rx_offloads;
	conf->txmode.offloads |= plan->tx_offloads;
	return 0;
}
