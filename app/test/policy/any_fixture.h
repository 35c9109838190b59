/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules of all fields, and keys that packets can have. */
#pragma once

#include "policy_fixture.h"

/* A good rule. With few values, two of them often overlap; else every value can occur. */
struct hy_flow_rule any_rule(bool few, uint64_t *seed);

/*
 * Completes a key of which all values are given: sets what a packet of this version of IP (0: none),
 * kind of fragment and protocol has, and clears the rest.
 */
void any_key_finish(struct hy_flow_key *key, unsigned int version, bool tagged);

/* The key of a packet that the rule matches, or misses by little. */
struct hy_flow_key any_key(const struct hy_flow_match *m, uint64_t *seed);
