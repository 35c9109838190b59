/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of access lists share: lists of rules by UDP port, and a rig with one place. */
#pragma once

#include <hy_acl.h>
#include <hy_mbuf.h>

#include "app/test/nodes/node_fixture.h"

#define ACL_WORKERS 2

extern struct hy_acl *acl;
extern struct rte_rcu_qsbr *acl_qsbr; /* to which graphs of the tests report */

/* Creates lists with such parameters; workers and the QSBR variable are filled in. */
void acl_make(const struct hy_acl_params *params);
/* A list, and a rule of it for UDP packets to a port, or for all, with port 0; not committed. */
struct hy_policy *list_make(const char *name);
void rule_add(struct hy_policy *policy, uint32_t id, uint16_t dport, enum hy_rule_action action,
	uint16_t arg, bool log);
void rules_commit(struct hy_policy *policy);

/* A UDP frame to a port. */
uint32_t udp_write(uint8_t *frame, uint16_t dport);
struct rte_mbuf *udp_packet(uint16_t dport);

/*
 * The rig of node_fixture.h: rig_source → rig_out-0, with the place "in" of port 3 between. Port 1 and
 * class 7 lead to rig_out-1, class 9 is denied, what is dropped comes to rig_out-2. The lane that is kept
 * is the class.
 */
#define RIG_PORT 3
extern int acl_socket; /* of its graph; SOCKET_ID_ANY if the test does not set it */
struct hy_graph *acl_rig(enum hy_acl_way way);
/* Sends n packets to a port each, and rests. */
void acl_send(struct hy_graph *graph, const uint16_t dports[], unsigned int n);
/* Destroys the rig, and what else there is. */
void acl_done(void);

int acl_setup(void **state);
int acl_teardown(void **state);
#define ACL_TEST(f) cmocka_unit_test_setup_teardown(f, acl_setup, acl_teardown)
