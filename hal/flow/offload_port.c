/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rules that a port needs in addition to those of the policy, and their order.
 *
 * If the policy's rules are in a group, a rule in group 0 leads packets there. Whenever that is
 * in hardware, so is the group's default rule: a NIC may drop packets that no rule of a group
 * matches.
 *
 * That rule must match no packet that the port would not accept otherwise. The driver's own rules
 * for the port's addresses are in group 0, too: a rule for all packets would make the port
 * promiscuous, and take packets from the kernel (net/mlx5/mlx5_trigger.c, mlx5_traffic_enable();
 * linux/mlx5_os.c, mlx5_os_set_promisc(), which only virtual functions need). Packets to other
 * addresses, broadcast and multicast are left to the driver's rules, and so to software.
 */

#include <errno.h>
#include <string.h>

#include <rte_ethdev.h>

#include "lib/graph/internal/log.h"
#include "offload.h"
#include "probe.h"

/*
 * Of the rule in group 0, so that the program's own rules there take precedence: mlx5's lowest
 * priority for applications, 3, or 1 with fewer levels (mlx5_flow.c, mlx5_get_lowest_priority()).
 */
#define JUMP_PRIORITY 3
/* After it was refused; then twice as long each time, since a port that does not answer may keep each. */
#define RETRY_US UINT64_C(1000000)
#define RETRY_MOST_US (64 * RETRY_US)

static int
rule_make(struct hy_offload *o, const struct hy_flow_lowered *rule, void **flow, const char **why)
{
	struct rte_flow_error error = { 0 };
	const int rc = o->params.provider->create(o->port, &rule->attr, rule->items, rule->actions,
		flow, &error);

	if (rc != 0 && rc != -ETIMEDOUT)
		*flow = NULL;
	if (rc != 0)
		*why = error.message;
	return rc;
}

/* Tries only once: after a failure the handle may be invalid. False: the rule may still exist. */
static bool
rule_remove(struct hy_offload *o, void **flow, const char *what)
{
	struct rte_flow_error error = { 0 };
	const int rc = *flow == NULL ? 0 : o->params.provider->destroy(o->port, *flow, &error);

	*flow = NULL;
	if (rc != 0)
		HY_LOG(WARNING, "port %u keeps %s: %s", o->port, what,
			error.message != NULL ? error.message : strerror(-rc));
	return rc == 0;
}

/* Which packets the port accepts that may reach the policy's rules. */
static struct reach
reach_of(const struct hy_offload *o)
{
	const struct hy_flow_driver *driver = o->params.driver;
	struct reach reach = { .own = driver->own_address ||
			(driver->group > 0 && rte_eth_promiscuous_get(o->port) != 1) };

	if (reach.own)
		rte_eth_macaddr_get(o->port, &reach.address);
	return reach;
}

static int
jump_make(struct hy_offload *o, const char **why)
{
	struct hy_flow_lowered rule;
	bool stays = false;
	int rc = 0;

	for (uint32_t p = JUMP_PRIORITY + 1; p > 0 && o->jump == NULL && !stays; p--) {
		hy_flow_lower_jump(o->params.driver, p - 1, o->reach.own ? &o->reach.address : NULL,
			&rule);
		rc = rule_make(o, &rule, &o->jump, why);
		/* No answer and no handle: it may exist, and cannot be removed. */
		stays = rc == -ETIMEDOUT && o->jump == NULL;
	}
	o->jump_stays |= stays;
	return rc;
}

static int
group_make(struct hy_offload *o, const char **why)
{
	struct hy_flow_lowered rule;
	int rc = hy_flow_lower_default(o->params.driver, &o->spread, &rule);

	if (rc != 0) {
		*why = "the port has more receive queues than a rule spreads packets over";
		return rc;
	}
	/* The driver's rules for addresses name VLANs then; the jump would not. */
	if (o->reach.own &&
		(rte_eth_dev_get_vlan_offload(o->port) & RTE_ETH_VLAN_FILTER_OFFLOAD) != 0) {
		*why = "packets of any VLAN would pass the port's filter";
		return -ENOTSUP;
	}
	rc = rule_make(o, &rule, &o->fallback, why);
	return rc == 0 ? jump_make(o, why) : rc;
}

bool
hy_offload_is_cut(const struct hy_offload *o)
{
	return o->params.driver->group > 0 && (o->jump == NULL || o->jump_wait > 0);
}

/*
 * Replaces the rule that leads to the group, the new one first. Packets that came by the old one may
 * wait in a queue without a mark: no marks are due until the rules have settled once more.
 */
static void
jump_replace(struct hy_offload *o)
{
	const bool was_cut = hy_offload_is_cut(o);
	void *old = o->jump;
	const char *why = NULL;
	int rc;

	o->jump = NULL;
	rc = jump_make(o, &why);
	o->jump_wait = rc == 0 ? 0 : RTE_MIN(RTE_MAX(2 * o->jump_wait, RETRY_US), RETRY_MOST_US);
	if (rc == 0 && was_cut)
		HY_LOG(NOTICE, "port %u: a rule leads to the policy's rules again", o->port);
	if (rc != 0 && !was_cut)
		HY_LOG(WARNING,
			"port %u: no rule leads to the policy's rules, until the port takes one: "
			"%s",
			o->port, why != NULL ? why : strerror(-rc));
	o->jump_tried = hy_offload_now();
	if (!rule_remove(o, &old, "the rule that led to the policy's rules"))
		o->jump_stays = true;
	for (uint32_t i = 0; i < o->nb_slots; i++) {
		if (o->flows[i].state != FLOW_LIVE)
			continue;
		o->flows[i].settled = false;
		o->flows[i].since = hy_offload_now();
	}
}

void
hy_offload_reach_follow(struct hy_offload *o)
{
	const struct reach reach = reach_of(o);

	if (!rte_eth_dev_is_valid_port(o->port))
		return;
	if (reach.own == o->reach.own &&
		rte_is_same_ether_addr(&reach.address, &o->reach.address) &&
		(!hy_offload_is_cut(o) || hy_offload_now() - o->jump_tried < o->jump_wait))
		return;
	o->reach = reach;
	o->dirty = true;
	if (o->params.driver->group > 0)
		jump_replace(o);
}

int
hy_offload_port_rules_make(struct hy_offload *o, const char **why)
{
	int rc = 0;

	o->reach = reach_of(o);
	if (o->params.driver->group > 0)
		rc = group_make(o, why);
	if (rc == 0 && o->params.driver->keep_sentinel)
		rc = hy_flow_sentinel_create(o->port, o->params.provider, o->params.driver,
			&o->limits, o->limits.mark_max, &o->sentinel, why);
	return rc;
}

void
hy_offload_jump_remove(struct hy_offload *o)
{
	if (!rule_remove(o, &o->jump, "the rule that leads to the policy's rules"))
		o->jump_stays = true;
}

void
hy_offload_port_rules_remove(struct hy_offload *o)
{
	hy_offload_jump_remove(o);
	if (!o->jump_stays)
		rule_remove(o, &o->fallback, "the default rule");
	rule_remove(o, &o->sentinel, "the rule that no traffic meets");
	hy_offload_port_rules_forget(o);
}

void
hy_offload_port_rules_forget(struct hy_offload *o)
{
	o->jump = NULL;
	o->jump_wait = 0;
	o->jump_stays = false;
	o->fallback = NULL;
	o->sentinel = NULL;
}
