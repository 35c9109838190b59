/* SPDX-License-Identifier: BSD-3-Clause */
/* What a port's flow engine takes, found out by trying. */

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include <rte_ether.h>

#include <hy_policy.h>

#include "probe.h"

/* Loopback is never on a wire. NICs with a table for each protocol want all of what that matches. */
#define NOBODY 0x7ffffffe
#define DISCARD 9          /* the port of RFC 863 */
#define UNUSED_TYPE 0x88b6 /* IEEE 802's second one for local experiments */
static const struct hy_flow_match nobody = {
	.fields = HY_FLOW_SRC | HY_FLOW_DST,
	.src = NOBODY,
	.dst = NOBODY,
	.src_len = 32,
	.dst_len = 32,
};
static const struct hy_flow_match nobody_exactly = {
	.fields = HY_FLOW_SRC | HY_FLOW_DST | HY_FLOW_PROTO | HY_FLOW_PORTS,
	.src = NOBODY,
	.dst = NOBODY,
	.src_len = 32,
	.dst_len = 32,
	.proto = IPPROTO_UDP,
	.sport = { DISCARD, DISCARD },
	.dport = { DISCARD, DISCARD },
};

struct attempt {
	uint16_t port;
	struct hy_flow_spread spread;
	const struct hy_flow_provider *provider;
	const struct hy_flow_driver *driver;
};

static const struct hy_flow_match *
sentinel_of(const struct hy_flow_driver *driver)
{
	return driver->protocols[0] != 0 ? &nobody_exactly : &nobody;
}

static int
rule_create(const struct attempt *a, const struct hy_flow_match *match, uint32_t mark,
	uint32_t priority, void **flow, const char **why)
{
	struct rte_flow_error error = { 0 };
	struct hy_flow_lowered lowered;
	int rc = hy_flow_lower(a->driver, match, mark, priority, &a->spread, &lowered, why);

	if (rc != 0)
		return rc;
	rc = a->provider->create(a->port, &lowered.attr, lowered.items, lowered.actions, flow,
		&error);
	if (rc != 0)
		*why = error.message != NULL ? error.message : strerror(-rc);
	return rc;
}

static bool
takes(const struct attempt *a, uint32_t mark, uint32_t priority)
{
	const struct hy_flow_match *match = sentinel_of(a->driver);
	struct rte_flow_error error = { 0 };
	struct hy_flow_lowered lowered;
	const char *why;
	void *flow;

	if (a->driver->validates_for_good)
		return rule_create(a, match, mark, priority, &flow, &why) == 0 &&
			a->provider->destroy(a->port, flow, &error) == 0;
	return hy_flow_lower(a->driver, match, mark, priority, &a->spread, &lowered, &why) == 0 &&
		a->provider->validate(a->port, &lowered.attr, lowered.items, lowered.actions,
			&error) == 0;
}

/* The largest of 1 to most that is taken, of which 1 is. */
static uint32_t
largest_mark(const struct attempt *a, uint32_t most)
{
	uint32_t low = 1;

	if (takes(a, most, 0))
		return most;
	while (most - low > 1) {
		const uint32_t mid = low + (most - low) / 2;

		if (takes(a, mid, 0))
			low = mid;
		else
			most = mid;
	}
	return low;
}

static uint32_t
count_priorities(const struct attempt *a, uint32_t most)
{
	uint32_t low = 0;

	if (takes(a, 1, most - 1))
		return most;
	for (most--; most - low > 1;) {
		const uint32_t mid = low + (most - low) / 2;

		if (takes(a, 1, mid))
			low = mid;
		else
			most = mid;
	}
	return low + 1;
}

int
hy_flow_sentinel_create(uint16_t port, const struct hy_flow_provider *provider,
	const struct hy_flow_driver *driver, uint32_t mark, void **flow, const char **why)
{
	/* As of a port with one queue, without RSS, of which a NIC may have few: it meets nothing. */
	const struct attempt a = { port, { .nb_queues = 1 }, provider, driver };

	return rule_create(&a, sentinel_of(driver), mark, 0, flow, why);
}

/* The same fields, prefix lengths and protocol, which make up the table that a rule goes to. */
static struct hy_flow_match
nobody_like(const struct hy_flow_match *like)
{
	struct hy_flow_match m = *like;

	if ((m.fields & HY_FLOW_SRC) != 0)
		m.src = NOBODY & UINT32_MAX << (32 - m.src_len);
	if ((m.fields & HY_FLOW_DST) != 0)
		m.dst = NOBODY & UINT32_MAX << (32 - m.dst_len);
	if ((m.fields & HY_FLOW_SPORT) != 0)
		m.sport[0] = m.sport[1] = DISCARD;
	if ((m.fields & HY_FLOW_DPORT) != 0)
		m.dport[0] = m.dport[1] = DISCARD;
	if ((m.fields & HY_FLOW_ETHER_TYPE) != 0 && m.ether_type != RTE_ETHER_TYPE_IPV4)
		m.ether_type = UNUSED_TYPE;
	return m;
}

/* Where the rule does meet traffic, mark 1 has generation 0: it stands for nothing. */
bool
hy_flow_has_room(uint16_t port, const struct hy_flow_provider *provider,
	const struct hy_flow_driver *driver, const struct hy_flow_match *like)
{
	const struct hy_flow_match match = like != NULL ? nobody_like(like) : *sentinel_of(driver);
	struct attempt a = { .port = port, .provider = provider, .driver = driver };
	struct rte_flow_error error = { 0 };
	const char *why;
	void *flow;

	if (hy_flow_spread_get(port, &a.spread) != 0 ||
		rule_create(&a, &match, 1, 0, &flow, &why) != 0)
		return false;
	provider->destroy(port, flow, &error);
	return true;
}

/* The smallest rule that marks; it tells what is wrong, if something is. */
static int
first_try(const struct attempt *a, struct hy_flow_limits *limits)
{
	struct rte_flow_error error = { 0 };
	const char *why = NULL;
	void *flow;
	int rc = rule_create(a, sentinel_of(a->driver), 1, 0, &flow, &why);

	if (rc == 0)
		rc = a->provider->destroy(a->port, flow, &error);
	if (rc != 0)
		snprintf(limits->reason, sizeof(limits->reason),
			"%s takes no rule that marks: %s (%s)", a->provider->name,
			why != NULL ? why : "it cannot be removed", strerror(-rc));
	return rc;
}

int
hy_flow_probe(uint16_t port, const struct hy_flow_provider *provider,
	const struct hy_flow_driver *driver, struct hy_flow_limits *limits)
{
	struct attempt a = { .port = port, .provider = provider, .driver = driver };

	memset(limits, 0, sizeof(*limits));
	limits->priorities = 1;
	if (hy_flow_spread_get(port, &a.spread) != 0) {
		snprintf(limits->reason, sizeof(limits->reason), "there is no such port");
		return -ENODEV;
	}
	if (first_try(&a, limits) != 0)
		return 0;
	limits->mark_max = largest_mark(&a, driver->mark_max);
	limits->priorities = count_priorities(&a, driver->priorities);
	snprintf(limits->reason, sizeof(limits->reason),
		"%s took rules with marks up to %u at %u priorities", provider->name,
		limits->mark_max, limits->priorities);
	return 0;
}
