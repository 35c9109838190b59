/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_malloc.h>

#include "access_fixture.h"
#include "flow_fixture.h"

struct access_rig access_rig;

void
access_open_long(const char *driver, const struct hy_flow_sim_params *sim, uint32_t max_rules)
{
	const struct hy_policy_params params = {
		.max_rules = max_rules, .workers = 1, .socket = SOCKET_ID_ANY, .access = true
	};
	struct hy_policy_params with = params;
	struct hy_offload_params offload = {
		.driver = hy_flow_driver_of(driver), .settle_us = 1000, .age_us = 1
	};
	char reason[256];

	memset(&A, 0, sizeof(A));
	A.seed = 11;
	A.qsbr = rte_zmalloc(NULL, rte_rcu_qsbr_get_memsize(1), RTE_CACHE_LINE_SIZE);
	assert_non_null(A.qsbr);
	assert_int_equal(rte_rcu_qsbr_init(A.qsbr, 1), 0);
	with.qsbr = A.qsbr;
	A.port = port_open(1, 1, 16);
	assert_int_equal(rte_eth_macaddr_get(A.port->id, &A.mac), 0);
	assert_int_equal(hy_flow_sim_attach(A.port->id, sim), 0);
	A.sim = hy_flow_sim_of(A.port->id);
	A.provider = hy_flow_simulator;
	offload.provider = &A.provider;
	assert_int_equal(hy_policy_create("access", &with, &A.policy), 0);
	if (hy_offload_create(A.policy, A.port->id, &offload, &A.offload, reason, sizeof(reason)) !=
		0)
		fail_msg("%s: no offload: %s", sim->profile, reason);
}

void
access_open_as(const char *driver, const struct hy_flow_sim_params *sim)
{
	access_open_long(driver, sim, 256);
}

void
access_open_sized(const char *profile, const char *driver, uint32_t table_size)
{
	const struct hy_flow_sim_params sim = { .profile = profile, .table_size = table_size };

	access_open_as(driver, &sim);
}

void
access_open(const char *profile, const char *driver)
{
	access_open_sized(profile, driver, 0);
}

void
access_close(void)
{
	hy_offload_destroy(A.offload);
	hy_offload_kept_forget(A.port->id);
	hy_flow_sim_detach(A.port->id);
	ports_close();
	hy_policy_destroy(A.policy);
	hy_policy_wait_destroyed(); /* its tables may be under construction */
	rte_free(A.qsbr);
	memset(&A, 0, sizeof(A));
}

int
access_teardown(void **state)
{
	if (A.policy != NULL)
		access_close();
	return flow_teardown(state);
}
void
access_settle(void)
{
	for (int quiet = 0; quiet < 3;) {
		rte_delay_us_sleep(1200);
		quiet = hy_offload_poll(A.offload) > 0 ? 0 : quiet + 1;
	}
}

bool
access_pass_by(const struct hy_policy_view *view, const uint8_t *frame, uint32_t len)
{
	struct rte_mbuf *m = packet(frame, len);
	struct hy_flow_sim_stats before, after;
	struct hy_flow_key key;
	uint32_t rank;

	m->port = A.port->id;
	hy_flow_sim_stats(A.sim, &before);
	hy_flow_key(frame, len, &key);
	rank = hy_policy_classify(view, &key);
	if (hy_flow_sim_rx(A.sim, &m, 1) == 1) {
		A.arrived++;
		A.marked += (m->ol_flags & RTE_MBUF_F_RX_FDIR_ID) != 0;
		rte_pktmbuf_free(m);
		return true;
	}
	hy_flow_sim_stats(A.sim, &after);
	assert_int_equal(after.dropped, before.dropped + 1);
	A.dropped++;
	if (rank == HY_POLICY_NONE || view->rules[rank].rule.action != HY_RULE_DENY ||
		view->rules[rank].rule.log || view->deny_truncated)
		A.wrong++;
	else if (view->rules[rank].rule.id < IDS)
		A.by_rule[view->rules[rank].rule.id]++;
	return false;
}

bool
access_pass(const uint8_t *frame, uint32_t len)
{
	const struct hy_policy_view *view = hy_policy_view_hold(A.policy);
	const bool arrived = access_pass_by(view, frame, len);

	hy_policy_view_release(A.policy, view);
	return arrived;
}

void
access_rule_set(const struct hy_flow_rule *rule)
{
	if (hy_policy_replace(A.policy, rule) != 0)
		assert_int_equal(hy_policy_add(A.policy, rule), 0);
}

/* Software classified nothing here: all that rules have was counted by hardware. */
void
access_assert_counted(void)
{
	hy_offload_read(A.offload);
	for (uint32_t id = 0; id < IDS; id++) {
		struct hy_policy_counts counts;

		if (hy_policy_counts(A.policy, id, &counts) != 0)
			continue;
		if (counts.packets != A.by_rule[id])
			fail_msg("rule %u has %ju packets, %ju were dropped", id,
				(uintmax_t)counts.packets, (uintmax_t)A.by_rule[id]);
		assert_int_equal(counts.packets > 0, counts.last > 0);
	}
	assert_int_equal(hy_policy_hardware(A.policy, HY_POLICY_ALL), A.dropped);
}

struct hy_offload_stats
access_stats(void)
{
	struct hy_offload_stats s;

	hy_offload_stats(A.offload, &s);
	return s;
}

struct hy_flow_rule
access_source(uint32_t id, enum hy_rule_action action, uint32_t src, uint8_t len)
{
	return (struct hy_flow_rule){ .id = id,
		.precedence = id,
		.action = (uint8_t)action,
		.match = { .fields = HY_FLOW_SRC, .src = src, .src_len = len } };
}

void
access_source_set(uint32_t id, enum hy_rule_action action, uint32_t src, uint8_t len)
{
	const struct hy_flow_rule rule = access_source(id, action, src, len);

	access_rule_set(&rule);
	assert_int_equal(hy_policy_commit(A.policy), 0);
}

/* Whether a packet from a source arrives. */
bool
access_arrives(uint32_t src)
{
	static uint8_t frame[FRAME_MAX];
	const uint32_t len = FRAME(frame, .payload = 40);
	const rte_be32_t address = rte_cpu_to_be_32(src);

	memcpy(frame, &A.mac, sizeof(A.mac));
	memcpy(frame + 26, &address, sizeof(address));
	frame_sum(frame);
	return access_pass(frame, len);
}

int
access_refuse(void *arg, const struct hy_policy_view *next)
{
	RTE_SET_USED(arg);
	RTE_SET_USED(next);
	return -EPERM;
}
