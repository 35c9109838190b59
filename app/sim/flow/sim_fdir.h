/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the flow directors of Intel's NICs have in common: a packet is looked up by exact match, in
 * one table for each flow type, all of whose rules match on the same fields. Of the engines that the
 * drivers have only this one can mark.
 */
#ifndef HY_SIM_FDIR_H
#define HY_SIM_FDIR_H

#include "sim.h"

/* A pattern that a driver knows: its items, the table it goes to, and what excludes it. */
struct hy_sim_pattern {
	enum rte_flow_item_type items[5];
	enum hy_sim_type type;
	uint32_t excludes;
};

/* Sets type and excludes of a wish that has one of n patterns. */
bool hy_sim_fdir_pattern(struct hy_sim_wish *wish, const struct hy_sim_pattern *patterns, size_t n);

/*
 * Takes the fields of items without a mask away: these drivers have no masks by default, and look at
 * neither header then. An item without a mask says that its header is there.
 */
void hy_sim_fdir_unmasked(struct hy_sim_wish *wish);

/* All three: ingress, priority 0, group 0. */
int hy_sim_fdir_attr(const struct rte_flow_attr *attr, struct rte_flow_error *error);

/* Refuses RSS over queues in no ascending order, and half of a pair: queues or key, and its length. */
int hy_sim_fdir_rss(const struct hy_sim_wish *wish, struct rte_flow_error *error);

/* E810, by its PF and its VFs. */

/* Refuses what has none of its patterns, and a range of an IPv4 header but of fragments. */
int hy_sim_fdir_e810_pattern(struct hy_sim_wish *wish, struct rte_flow_error *error);
/*
 * Half an address or half a port is refused; half a DSCP, TTL or protocol, and what is asked of
 * fragments, is left out without a word.
 */
int hy_sim_fdir_fields(struct hy_sim_wish *wish, struct rte_flow_error *error);
/* Whether there is a field to match on. */
bool hy_sim_fdir_any_field(const struct hy_sim_wish *wish);
/* Refuses what has none. */
int hy_sim_fdir_need_field(const struct hy_sim_wish *wish, struct rte_flow_error *error);
/* Takes the values that are left, of whole packets. */
void hy_sim_fdir_settle(struct hy_sim_wish *wish);
/* What is refused here (0: nothing is), but may be taken by an engine that cannot mark. */
int hy_sim_fdir_unmarked(const struct hy_sim_wish *wish, int refused, struct rte_flow_error *error);
/* RSS is over a region of queues; one fate, one MARK, and not nothing. */
int hy_sim_fdir_actions(const struct hy_flow_sim *sim, const struct hy_sim_wish *wish,
	struct rte_flow_error *error);

#endif
