/* SPDX-License-Identifier: BSD-3-Clause */
/* What a port's flow engine takes, found out by trying. */

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include <rte_ether.h>

#include <hy_policy.h>

#include "probe.h"

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

/* The rule that no traffic meets, with all that NICs with a table for each protocol want. */
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
 * A refusal says something of a rule only if the port goes on to take the one that it took at first:
 * else it is full by now, or answers no longer.
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
		a->broken = "it took a rule before that it refuses now";
}

static bool
create_and_remove(struct attempt *a, const struct hy_flow_limits *limits,
	const struct hy_flow_match *match, uint32_t mark, uint32_t priority)
{
	const char *why;
	void *flow;
	int rc;

	/* Once more: others may have filled the port, and have left it again. */
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

/* The largest of 1 to most that is taken, of which 1 is. */
static uint32_t
largest_mark(struct attempt *a, uint32_t most)
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
count_priorities(struct attempt *a, uint32_t most)
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
	const struct hy_flow_driver *driver, const struct hy_flow_limits *limits, uint32_t mark,
	void **flow, const char **why)
{
	/* As of a port with one queue, without RSS, of which a NIC may have few: it meets nothing. */
	const struct attempt a = {
		.port = port, .provider = provider, .driver = driver, .spread = { .nb_queues = 1 }
	};

	return rule_create(&a, limits, sentinel_of(driver), mark, 0, flow, why);
}

/* The same fields, prefix lengths and protocol, which make up the table that a rule goes to. */
static struct hy_flow_match
nobody_like(const struct hy_flow_match *like)
{
	struct hy_flow_match m = *like;

	if ((m.fields & HY_FLOW_SRC) != 0)
		m.src = HY_FLOW_NOBODY & UINT32_MAX << (32 - m.src_len);
	if ((m.fields & HY_FLOW_DST) != 0)
		m.dst = HY_FLOW_NOBODY & UINT32_MAX << (32 - m.dst_len);
	if ((m.fields & HY_FLOW_SPORT) != 0)
		m.sport[0] = m.sport[1] = HY_FLOW_DISCARD;
	if ((m.fields & HY_FLOW_DPORT) != 0)
		m.dport[0] = m.dport[1] = HY_FLOW_DISCARD;
	if ((m.fields & HY_FLOW_ETHER_TYPE) != 0 && m.ether_type != RTE_ETHER_TYPE_IPV4)
		m.ether_type = HY_FLOW_UNUSED_TYPE;
	return m;
}

bool
hy_flow_can_be_nobodys(const struct hy_flow_match *match)
{
	const struct hy_flow_match m = nobody_like(match);

	return memcmp(&m, match, sizeof(m)) != 0;
}

/* Where the rule does meet traffic, mark 1 has generation 0: it stands for nothing. */
bool
hy_flow_has_room(uint16_t port, const struct hy_flow_provider *provider,
	const struct hy_flow_driver *driver, const struct hy_flow_limits *limits,
	const struct hy_flow_match *like)
{
	const struct hy_flow_match match = like != NULL ? nobody_like(like) : *sentinel_of(driver);
	struct attempt a = { .port = port, .provider = provider, .driver = driver };
	struct rte_flow_error error = { 0 };
	const char *why;
	void *flow;

	if (hy_flow_spread_get(port, &a.spread) != 0 ||
		rule_create(&a, limits, &match, 1, 0, &flow, &why) != 0)
		return false;
	return provider->destroy(port, flow, &error) == 0; /* one that stays has the room */
}

/* The smallest rule that marks; it tells what is wrong, if something is. */
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
	if (strcmp(why, strerror(-rc)) == 0) /* rte_flow has no better words */
		snprintf(limits->reason, sizeof(limits->reason), "%s takes no rule that marks: %s",
			a->provider->name, why);
	else
		snprintf(limits->reason, sizeof(limits->reason),
			"%s takes no rule that marks: %s (%s)", a->provider->name, why,
			strerror(-rc));
	return rc;
}

/*
 * What there is to find out. Patterns are tried as on a port with one queue, since NICs may have few
 * rules with RSS. Where marks are switched on by the first rule that marks, one is held meanwhile:
 * they would go on and off with each trial.
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
	limits->mark_max = largest_mark(a, a->driver->mark_max);
	limits->priorities = count_priorities(a, a->driver->priorities);
	hy_flow_try_patterns(a, limits);
	/* Rules that were only validated may have been refused by a port that was on its way out. */
	if (!takes(a, 1, 0) && a->broken == NULL) {
		a->rc = -EIO;
		a->broken = "it took a rule before that it refuses now";
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
	if (hy_flow_spread_get(port, &a.spread) != 0) {
		snprintf(limits->reason, sizeof(limits->reason), "no such port");
		return -ENODEV;
	}
	hy_flow_limits_declared(driver, &declared);
	a.declared = &declared;
	if (first_try(&a, limits) != 0)
		return 0;
	find_out(&a, limits);
	if (a.broken != NULL) {
		memset(limits, 0, sizeof(*limits));
		limits->priorities = 1;
		snprintf(limits->reason, sizeof(limits->reason),
			"%s cannot be tried to the end: %s (%s)", provider->name, a.broken,
			strerror(-a.rc));
		return 0;
	}
	hy_flow_kinds_count(driver, limits, &kinds, NULL);
	snprintf(limits->reason, sizeof(limits->reason),
		"%s took rules with marks up to %u at %u priorities, %u of %u kinds",
		provider->name, limits->mark_max, limits->priorities, kinds.taken, kinds.kinds);
	return 0;
}
