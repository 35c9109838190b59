/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the flow directors of Intel's NICs have in common: each flow type has a table, all rules of
 * which match the same fields, exactly. Of the drivers' engines, only this one can mark.
 */
#pragma once

#include "sim.h"

/*
 * Sets the type of a wish with items eth[ / vlan, if tags][ / ipv4, or ipv6, if ip6[ / udp, tcp or
 * sctp]]. False: it has other items.
 */
bool hy_sim_fdir_pattern(struct hy_sim_wish *wish, bool tags, bool ip6);

/* Refuses other attributes than ingress, priority 0 and group 0. */
hy_sim_step hy_sim_fdir_attr;

/*
 * Refuses RSS whose queues do not ascend, and queues or a key without their length, or vice versa.
 */
hy_sim_step hy_sim_fdir_rss;

/* The E810: its PF and its VFs. */

/* Refuses unknown patterns, and ranges of IPv4 headers except of fragments. */
hy_sim_step hy_sim_fdir_e810_pattern, hy_sim_fdir_e810_pattern6; /* the second one: IPv6, too */
/*
 * Refuses partly masked addresses and ports; silently ignores partly masked DSCP, TTL and protocol.
 */
hy_sim_step hy_sim_fdir_fields;
/* Whether there is a field to match. */
bool hy_sim_fdir_any_field(const struct hy_sim_wish *wish);
/* Refuses wishes without a field to match. */
hy_sim_step hy_sim_fdir_need_field;
/* Masks the value with the fields that remain; rules on layer 4 do not match fragments. */
hy_sim_step hy_sim_fdir_settle;
/* Takes the steps of this engine. Other engines might accept a rule without MARK that it refuses. */
int hy_sim_fdir_engine(struct hy_sim_wish *wish, hy_sim_step *const *steps);
/* Refuses what hy_sim_fdir_rss() refuses, and RSS not over a region of queues. */
hy_sim_step hy_sim_fdir_region;
/* Refuses several fates or MARKs, and rules without action. */
hy_sim_step hy_sim_fdir_fate;
