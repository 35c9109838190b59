/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RSS by templates: a rule has one hash. One whose packets may be of several protocols is made of
 * parts, each for a protocol and with its types, as the driver makes them of rules without templates
 * (net/mlx5/mlx5_flow.c, mlx5_flow_expand_rss(); mlx5_flow_hw.c, flow_hw_hashfields_set()).
 */
#ifndef HY_FLOW_ASYNC_EXPAND_H
#define HY_FLOW_ASYNC_EXPAND_H

#include <hy_flow.h>

#define ASYNC_PARTS 7 /* IPv4 and IPv6 each with TCP, UDP, or neither; and what is no IP */
#define ASYNC_ITEMS 10
#define ASYNC_ACTIONS 8 /* with END, as in a table */

/* A part of a rule. Its request points into it, and to what the rule's points to. */
struct async_part {
	struct hy_flow_request request;
	struct rte_flow_attr attr;
	struct rte_flow_item items[ASYNC_ITEMS];
	struct rte_flow_action actions[ASYNC_ACTIONS];
	struct rte_flow_action_rss rss;
};

/*
 * Makes requests for the parts of a rule: at least one, which is the rule itself if it is in group 0,
 * or has no RSS. In other groups each priority becomes three, of which layer 4 comes first.
 */
unsigned int hy_async_expand(const struct hy_flow_request *rule, struct async_part *parts);

#endif
