/* SPDX-License-Identifier: BSD-3-Clause */
/* What lowering knows of rules, patterns and ports: see lower.c and asks.c. */
#pragma once

#include <hy_flow.h>
#include <hy_policy_view.h>

#define HY_FLOW_MAC_WHOLE 0xffffffffffffu

/* The headers of a pattern, and the fields of the last one. */
struct hy_flow_pattern_items {
	uint32_t ip; /* HY_FLOW_IPV4, HY_FLOW_IPV6, or 0 */
	enum rte_flow_item_type item;
	uint8_t proto; /* of that item; 0: there is none */
	uint32_t fields;
};
extern const struct hy_flow_pattern_items hy_flow_patterns[HY_FLOW_PATTERNS];

/* HY_FLOW_IPV4, HY_FLOW_IPV6, or 0: a rule without IP. */
uint32_t hy_flow_ip_of(const struct hy_flow_match *m);

static inline bool
hy_flow_is_tagged(const struct hy_flow_match *m)
{
	return (m->fields & HY_FLOW_VLAN) != 0;
}

enum hy_flow_pattern hy_flow_pattern_of(const struct hy_flow_driver *driver,
	const struct hy_flow_limits *limits, const struct hy_flow_match *m);

/* Why a driver, or else its port, does not take a rule with the items of a pattern; NULL: it does. */
const char *hy_flow_objection(const struct hy_flow_driver *driver,
	const struct hy_flow_limits *limits, const struct hy_flow_match *m,
	enum hy_flow_pattern pattern);
