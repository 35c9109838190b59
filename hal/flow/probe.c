/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds out what a port's flow engine takes by trying. */

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_ether.h>

#include <hy_policy_view.h>

#include "lib/graph/internal/log.h"
#include "lower.h"
#include "probe.h"

/* Settings of a port that change what software sees of tags. */
#define TAGS_CHANGE \
	(RTE_ETH_VLAN_STRIP_OFFLOAD | RTE_ETH_QINQ_STRIP_OFFLOAD | RTE_ETH_VLAN_EXTEND_OFFLOAD)

static const struct hy_flow_match nobody = {
	.fields = HY_FLOW_SRC | HY_FLOW_DST,
	.src = HY_FLOW_NOBODY,
	.dst = HY_FLOW_NOBODY,
	.src_len = 32,
	.dst_len = 32,
};
static const struct hy_flow_match nobody_exactly = {
	.fields = HY_FLOW_SRC | HY_FLOW_DST | HY_FLOW_PROTO | HY_FLOW_PORTS,
	.src = HY_FLOW_NOBODY,
	.dst = HY_FLOW_NOBODY,
	.src_len = 32,
	.dst_len = 32,
	.proto = IPPROTO_UDP,
	.sport = { HY_FLOW_DISCARD, HY_FLOW_DISCARD },
	.dport = { HY_FLOW_DISCARD, HY_FLOW_DISCARD },
};

/* The sentinel; with protocol and ports for NICs that have a table for each protocol. */
static const struct hy_flow_match *
sentinel_of(const struct hy_flow_driver *driver)
{
	return driver->protocols[0] != 0 ? &nobody_exactly : &nobody;
}

static int
rule_create(const struct attempt *a, const struct hy_flow_limits *limits,
	const struct hy_flow_match *match, uint32_t mark, uint32_t priority, void **flow,
	const char **why)
{
	struct rte_flow_error error = { 0 };
	struct hy_flow_lowered lowered;
	int rc = hy_flow_lower(a->driver, limits, match, mark, priority, &a->spread, &lowered, why);

	if (rc != 0)
		return rc;
	rc = a->provider->create(a->port, &lowered.attr, lowered.items, lowered.actions, flow,
		&error);
	if (rc != 0)
		*why = error.message != NULL ? error.message : strerror(-rc);
	return rc;
}

static int
sentinel_create(const struct attempt *a, void **flow, const char **why)
{
	return rule_create(a, a->declared, sentinel_of(a->driver), 1, 0, flow, why);
}

static void
rule_remove(struct attempt *a, void *flow)
{
	struct rte_flow_error error = { 0 };
	const int rc = a->provider->destroy(a->port, flow, &error);

	if (rc == 0 || a->broken != NULL)
		return;
	a->rc = rc;
	a->broken = "a rule cannot be removed";
}

/*
 * A refusal is due to the rule only if the port still takes the sentinel: otherwise the port is
 * full, or does not answer any more.
 */
static void
control(struct attempt *a)
{
	const char *why;
	void *flow;

	a->rc = sentinel_create(a, &flow, &why);
	if (a->rc == 0)
		rule_remove(a, flow);
	else
		a->broken = "it refuses a rule that it took before";
}

static bool
create_and_remove(struct attempt *a, const struct hy_flow_limits *limits,
	const struct hy_flow_match *match, uint32_t mark, uint32_t priority)
{
	const char *why;
	void *flow;
	int rc;

	/* Try twice: the port may have been full for a moment. */
	for (unsigned int tries = 0; tries < 2 && a->broken == NULL; tries++) {
		rc = rule_create(a, limits, match, mark, priority, &flow, &why);
		if (rc == 0) {
			rule_remove(a, flow);
			return a->broken == NULL;
		}
		if (rc == -ETIMEDOUT) { /* it may be there */
			a->rc = rc;
			a->broken = "it does not answer";
		} else if (tries == 0) {
			control(a);
		}
	}
	return false;
}

bool
hy_flow_attempt(struct attempt *a, const struct hy_flow_limits *limits,
	const struct hy_flow_match *match, uint32_t mark, uint32_t priority)
{
	struct rte_flow_error error = { 0 };
	struct hy_flow_lowered lowered;
	const char *why;

	if (a->broken != NULL ||
		hy_flow_lower(a->driver, limits, match, mark, priority, &a->spread, &lowered,
			&why) != 0)
		return false;
	if (a->driver->validates_for_good)
		return create_and_remove(a, limits, match, mark, priority);
	return a->provider->validate(a->port, &lowered.attr, lowered.items, lowered.actions,
		       &error) == 0;
}

static bool
takes(struct attempt *a, uint32_t mark, uint32_t priority)
{
	return hy_flow_attempt(a, a->declared, sentinel_of(a->driver), mark, priority);
}

/* The largest mark or priority, from one that the port takes up to `most`. */
static uint32_t
largest(struct attempt *a, bool mark, uint32_t low, uint32_t most)
{
	uint32_t mid = most;

	while (low < most) {
		if (takes(a, mark ? mid : 1, mark ? 0 : mid))
			low = mid;
		else
			most = mid - 1;
		mid = low + (most - low + 1) / 2;
	}
	return low;
}

int
hy_flow_sentinel_create(uint16_t port, const struct hy_flow_provider *provider,
	const struct hy_flow_driver *driver, const struct hy_flow_limits *limits, uint32_t mark,
	void **flow, const char **why)
{
	/*
	 * One queue and no RSS, since a NIC may support few rules with RSS: it matches no traffic.
	 */
	const struct attempt a = {
		.port = port, .provider = provider, .driver = driver, .spread = { .nb_queues = 1 }
	};

	return rule_create(&a, limits, sentinel_of(driver), mark, 0, flow, why);
}

static void
prefix_set(uint32_t prefix[4], const uint32_t address[4], uint8_t len)
{
	for (unsigned int i = 0; i < 4; i++, len = (uint8_t)(len - RTE_MIN(len, 32)))
		prefix[i] = len == 0 ? 0 : address[i] & UINT32_MAX << (32 - RTE_MIN(len, 32));
}

/* A rule for the same table: the same fields, prefix lengths and protocol. */
static struct hy_flow_match
nobody_like(const struct hy_flow_match *like)
{
	static const uint32_t ip4[4] = { HY_FLOW_NOBODY }, ip6[4] = HY_FLOW_NOBODY6;
	const uint32_t *const address = (like->fields & HY_FLOW_IPV6) != 0 ? ip6 : ip4;
	struct hy_flow_match m = *like;

	if ((m.fields & HY_FLOW_SRC) != 0)
		prefix_set(m.src6, address, m.src_len);
	if ((m.fields & HY_FLOW_DST) != 0)
		prefix_set(m.dst6, address, m.dst_len);
	if ((m.fields & HY_FLOW_SRC_MAC) != 0)
		m.src_mac = HY_FLOW_NOBODY_MAC & m.src_mac_mask;
	if ((m.fields & HY_FLOW_DST_MAC) != 0)
		m.dst_mac = HY_FLOW_NOBODY_MAC & m.dst_mac_mask;
	if ((m.fields & HY_FLOW_SPORT) != 0)
		m.sport[0] = m.sport[1] = HY_FLOW_DISCARD;
	if ((m.fields & HY_FLOW_DPORT) != 0) /* there may be no address, and the rule may drop */
		m.dport[0] = m.dport[1] = HY_FLOW_RESERVED;
	if ((m.fields & HY_FLOW_ETHER_TYPE) != 0 && hy_flow_ip_of(&m) == 0)
		m.ether_type = HY_FLOW_UNUSED_TYPE;
	return m;
}

bool
hy_flow_can_be_nobodys(const struct hy_flow_match *match)
{
	const struct hy_flow_match m = nobody_like(match);
	const uint8_t least = (m.fields & HY_FLOW_IPV6) != 0
		? 3
		: 8; /* of shorter ones, packets come */
	/* A source port alone does not tell nobody's packets: UDP's may be any. */
	const bool nobodys = m.src_len >= least || m.dst_len >= least ||
		(m.fields & HY_FLOW_DPORT) != 0 || m.src_mac_mask == HY_FLOW_MAC_WHOLE ||
		m.dst_mac_mask == HY_FLOW_MAC_WHOLE ||
		((m.fields & HY_FLOW_ETHER_TYPE) != 0 && hy_flow_ip_of(&m) == 0);

	return nobodys && !hy_flow_match_equal(&m, match);
}

/* Tries the smallest rule that marks, and explains a failure. */
static int
first_try(const struct attempt *a, struct hy_flow_limits *limits)
{
	struct rte_flow_error error = { 0 };
	const char *why = NULL;
	void *flow;
	int rc = sentinel_create(a, &flow, &why);

	if (rc == 0)
		rc = a->provider->destroy(a->port, flow, &error);
	if (rc == 0)
		return 0;
	if (why == NULL)
		why = "it cannot be removed";
	if (strcmp(why, strerror(-rc)) == 0) /* the driver gave no message */
		snprintf(limits->reason, sizeof(limits->reason), "%s takes no rule that marks: %s",
			a->provider->name, why);
	else
		snprintf(limits->reason, sizeof(limits->reason),
			"%s takes no rule that marks: %s (%s)", a->provider->name, why,
			strerror(-rc));
	return rc;
}

/*
 * Lowers a rule that drops no traffic: one like a rule in hardware, or the sentinel; of TCP where rules
 * need a protocol, since hardware may find UDP's ports in tunnels.
 */
static int
lower_nobodys_drop(const struct hy_flow_driver *driver, const struct hy_flow_limits *limits,
	const struct hy_flow_match *like, struct hy_flow_lowered *lowered, const char **why)
{
	struct hy_flow_match match;

	if (like != NULL) {
		match = nobody_like(like);
		if (hy_flow_lower_drop(driver, limits, &match, 0, lowered, why) == 0)
			return 0;
	}
	match = *sentinel_of(driver);
	if ((match.fields & HY_FLOW_PROTO) != 0)
		match.proto = IPPROTO_TCP;
	return hy_flow_lower_drop(driver, limits, &match, 0, lowered, why);
}

/* Whether the port takes a rule that drops packets and counts them, and tells how many. */
static bool
takes_drops(struct attempt *a)
{
	struct rte_flow_query_count count = { 0 };
	struct rte_flow_error error = { 0 };
	struct hy_flow_lowered lowered;
	const char *why;
	void *flow;
	bool told;

	if (!a->driver->drops || a->provider->query == NULL || a->broken != NULL ||
		lower_nobodys_drop(a->driver, a->declared, NULL, &lowered, &why) != 0 ||
		a->provider->create(a->port, &lowered.attr, lowered.items, lowered.actions, &flow,
			&error) != 0)
		return false;
	told = a->provider->query(a->port, flow, &count, &error) == 0 && count.hits_set;
	rule_remove(a, flow);
	return told;
}

/* If a rule that marks does match traffic, mark 1 is harmless: its generation 0 is never used. */
static int
nobodys_create(const struct attempt *a, const struct hy_flow_limits *limits,
	const struct hy_flow_match *like, bool drop, void **flow)
{
	const struct hy_flow_match match = like != NULL ? nobody_like(like)
							: *sentinel_of(a->driver);
	struct rte_flow_error error = { 0 };
	struct hy_flow_lowered lowered;
	const char *why;
	int rc;

	if (!drop)
		return rule_create(a, limits, &match, 1, 0, flow, &why);
	rc = lower_nobodys_drop(a->driver, limits, like, &lowered, &why);
	return rc != 0 ? rc
		       : a->provider->create(a->port, &lowered.attr, lowered.items, lowered.actions,
				 flow, &error);
}

bool
hy_flow_has_room(uint16_t port, const struct hy_flow_provider *provider,
	const struct hy_flow_driver *driver, const struct hy_flow_limits *limits,
	const struct hy_flow_match *like, bool drop)
{
	struct attempt a = { .port = port, .provider = provider, .driver = driver };
	struct rte_flow_error error = { 0 };
	void *flow;

	if (hy_flow_spread_get(port, &a.spread) != 0 ||
		nobodys_create(&a, limits, like, drop, &flow) != 0)
		return false;
	return provider->destroy(port, flow, &error) == 0; /* else it occupies the room */
}

/*
 * Finds out all limits. Tries as on a port with one queue, since a NIC may support few rules with
 * RSS. If the first rule that marks switches marks on, keeps one meanwhile: otherwise each trial
 * would switch them on and off.
 */
static void
find_out(struct attempt *a, struct hy_flow_limits *limits)
{
	const struct hy_flow_spread spread = a->spread;
	void *held = NULL;

	a->spread = (struct hy_flow_spread){ .nb_queues = 1 };
	if (a->driver->keep_sentinel) {
		a->rc = sentinel_create(a, &held, &a->broken);
		if (a->rc != 0)
			return;
	}
	limits->mark_max = largest(a, true, 1, a->driver->mark_max);
	limits->priorities = largest(a, false, 0, a->driver->priorities - 1) + 1;
	hy_flow_try_patterns(a, limits);
	limits->drops = takes_drops(a);
	/* A port that is failing may have refused rules that were only validated. */
	if (!takes(a, 1, 0) && a->broken == NULL) {
		a->rc = -EIO;
		a->broken = "it refuses a rule that it took before";
	}
	if (held != NULL)
		rule_remove(a, held);
	a->spread = spread;
}

int
hy_flow_probe(uint16_t port, const struct hy_flow_provider *provider,
	const struct hy_flow_driver *driver, struct hy_flow_limits *limits)
{
	struct attempt a = { .port = port, .provider = provider, .driver = driver };
	struct hy_flow_limits declared;
	struct hy_flow_kind_counts kinds;

	memset(limits, 0, sizeof(*limits));
	limits->priorities = 1;
	if (hy_flow_spread_get(port, &a.spread) != 0)
		return HY_REASON(-ENODEV, limits->reason, sizeof(limits->reason), "no such port");
	hy_flow_limits_declared(driver, &declared);
	a.declared = &declared;
	limits->tags_change = (rte_eth_dev_get_vlan_offload(port) & TAGS_CHANGE) != 0;
	if (first_try(&a, limits) != 0)
		return 0;
	find_out(&a, limits);
	if (a.broken != NULL) {
		memset(limits, 0, sizeof(*limits));
		limits->priorities = 1;
		snprintf(limits->reason, sizeof(limits->reason),
			"%s cannot be probed completely: %s (%s)", provider->name, a.broken,
			strerror(-a.rc));
		return 0;
	}
	hy_flow_kinds_count(driver, limits, &kinds, NULL);
	snprintf(limits->reason, sizeof(limits->reason),
		"%s took rules with marks up to %u at %u priorities, %u of %u kinds",
		provider->name, limits->mark_max, limits->priorities, kinds.taken, kinds.kinds);
	return 0;
}
