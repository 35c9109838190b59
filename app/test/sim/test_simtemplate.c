/* SPDX-License-Identifier: BSD-3-Clause */
/* What a NIC with templates refuses, through rte_flow: each refusal with the nearest that is taken. */

#include <errno.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_ethdev.h>

#include <hy_flow_sim.h>

#include "simnic_fixture.h"

#define ITEM(type_, ...) \
	{ \
		.type = RTE_FLOW_ITEM_TYPE_##type_, __VA_ARGS__ \
	}
#define ACTION(type_) \
	{ \
		.type = RTE_FLOW_ACTION_TYPE_##type_ \
	}

static uint16_t port;
static struct rte_flow_error error;
static const struct rte_flow_queue_attr queue = { .size = 2 };

static int
configure(const struct rte_flow_queue_attr *with)
{
	const struct rte_flow_port_attr attr = { 0 };
	const struct rte_flow_queue_attr *queues[] = { with };

	return rte_flow_configure(port, &attr, 1, queues, &error);
}

static void
open_port(const char *name, int wanted)
{
	const struct rte_eth_conf conf = { 0 };

	port = nic_probe(name, NULL);
	assert_int_equal(rte_eth_dev_configure(port, 1, 1, &conf), 0);
	assert_int_equal(configure(&queue), wanted);
	assert_int_equal(rte_eth_rx_queue_setup(port, 0, 64, SOCKET_ID_ANY, NULL, sim_pool), 0);
	assert_int_equal(rte_eth_tx_queue_setup(port, 0, 64, SOCKET_ID_ANY, NULL), 0);
}

static struct rte_flow_pattern_template *
pattern(const struct rte_flow_item *items)
{
	const struct rte_flow_pattern_template_attr attr = { .ingress = 1 };

	error.message = NULL;
	return rte_flow_pattern_template_create(port, &attr, items, &error);
}

static struct rte_flow_actions_template *
actions(const struct rte_flow_action *list, const struct rte_flow_action *masks)
{
	const struct rte_flow_actions_template_attr attr = { .ingress = 1 };

	error.message = NULL;
	return rte_flow_actions_template_create(port, &attr, list, masks, &error);
}

static void
templates_are_taken_and_refused_as_by_the_driver(void **state)
{
	static const struct rte_flow_item_udp udp = { .hdr.dst_port = RTE_BE16(53) };
	static const struct rte_flow_item good[] = { ITEM(ETH), ITEM(IPV4), ITEM(UDP), ITEM(END) },
					  sctp[] = { ITEM(ETH), ITEM(IPV4), ITEM(SCTP), ITEM(END) },
					  range[] = { ITEM(ETH), ITEM(IPV4),
						  ITEM(UDP, .spec = &udp, .last = &udp),
						  ITEM(END) };
	static const struct rte_flow_action in_order[] = { ACTION(MARK), ACTION(COUNT),
		ACTION(DROP), ACTION(END) },
					    late[] = { ACTION(COUNT), ACTION(MARK), ACTION(DROP),
						    ACTION(END) },
					    passthru[] = { ACTION(MARK), ACTION(PASSTHRU),
						    ACTION(END) };

	RTE_SET_USED(state);
	open_port("sim_hws0", 0);
	assert_non_null(pattern(good));
	assert_null(pattern(sctp));
	assert_string_equal(error.message, "Unsupported item type");
	assert_int_equal(rte_errno, EINVAL);
	assert_null(pattern(range));
	assert_string_equal(error.message, "no ranges");
	assert_non_null(actions(in_order, in_order));
	assert_null(actions(late, late));
	assert_string_equal(error.message, "actions out of order: MARK, COUNT, fate");
	assert_null(actions(passthru, passthru));
	assert_string_equal(error.message, "action not supported in template API");
	assert_null(actions(in_order, late));
	assert_string_equal(error.message, "mask type does not match action type");
	assert_int_equal(rte_errno, ENOTSUP);
}

static const struct rte_flow_item eth[] = { ITEM(ETH), ITEM(END) };
static const struct rte_flow_action drop[] = { ACTION(DROP), ACTION(END) };

static struct rte_flow_template_table *
table(uint32_t group, uint32_t priority, struct rte_flow_pattern_template *patterns[],
	uint8_t nb_patterns, struct rte_flow_actions_template *of)
{
	const struct rte_flow_template_table_attr attr = {
		.flow_attr = { .ingress = 1, .group = group, .priority = priority },
		.nb_flows = 3,
	};

	return rte_flow_template_table_create(port, &attr, patterns, nb_patterns, &of, 1, &error);
}

static void
tables_are_taken_and_refused_as_by_the_driver(void **state)
{
	struct rte_flow_pattern_template *patterns[3];
	struct rte_flow_actions_template *dropped;
	struct rte_flow_template_table *t;

	RTE_SET_USED(state);
	open_port("sim_hws0", 0);
	for (int i = 0; i < 3; i++)
		patterns[i] = pattern(eth);
	dropped = actions(drop, drop);
	assert_null(table(0, 0, patterns, 2, dropped));
	assert_int_equal(rte_errno, EINVAL);
	assert_null(table(1, 0, patterns, 3, dropped));
	assert_null(table(0, UINT16_MAX + 1, patterns, 1, dropped));
	assert_int_equal(rte_errno, EINVAL);
	assert_non_null(table(0, UINT16_MAX, patterns, 1, dropped));
	t = table(1, UINT16_MAX + 1, patterns + 1, 2, dropped);
	assert_non_null(t);
	assert_int_equal(rte_flow_pattern_template_destroy(port, patterns[2], &error), -EBUSY);
	assert_int_equal(rte_flow_actions_template_destroy(port, dropped, &error), -EBUSY);
	assert_int_equal(rte_flow_template_table_destroy(port, t, &error), 0);
	assert_int_equal(rte_flow_pattern_template_destroy(port, patterns[2], &error), 0);
}

static struct rte_flow *
rule(struct rte_flow_template_table *t, const struct rte_flow_item *items)
{
	static const struct rte_flow_op_attr later = { .postpone = 1 };

	return rte_flow_async_create(port, 0, &later, t, items, 0, drop, 0, NULL, &error);
}

/* A queue of two requests, a table of three rules, rounded up to four. */
static void
queue_holds_and_answers_as_the_drivers(void **state)
{
	static const struct rte_flow_op_attr later = { .postpone = 1 };
	static const struct rte_flow_item other[] = { ITEM(IPV4), ITEM(END) };
	struct rte_flow_pattern_template *p;
	struct rte_flow_template_table *t;
	struct rte_flow_op_result results[4];
	struct hy_flow_sim_stats stats;
	struct rte_flow *flow;

	RTE_SET_USED(state);
	open_port("sim_hws0", 0);
	p = pattern(eth);
	t = table(0, 0, &p, 1, actions(drop, drop));
	assert_null(rule(t, eth));
	assert_int_equal(rte_errno, EINVAL); /* it does not run */
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_null(rule(t, other));
	assert_int_equal(rte_errno, EINVAL);
	flow = rule(t, eth);
	assert_non_null(flow);
	assert_int_equal(rte_flow_async_destroy(port, 0, &later, flow, NULL, &error), -EBUSY);
	assert_non_null(rule(t, eth));
	assert_null(rule(t, eth)); /* the queue is full, */
	assert_int_equal(rte_errno, ENOMEM);
	hy_flow_sim_stats(simnic_engine(port), &stats);
	assert_int_equal(stats.rules, 0); /* of what was not pushed; */
	assert_int_equal(rte_flow_pull(port, 0, results, 4, &error), 0);
	assert_int_equal(rte_flow_push(port, 0, &error), 0);
	hy_flow_sim_stats(simnic_engine(port), &stats);
	assert_int_equal(stats.rules, 2);
	assert_null(rule(t, eth)); /* and stays so until it is pulled */
	assert_int_equal(rte_flow_pull(port, 0, results, 4, &error), 2);
	assert_int_equal(results[0].status, RTE_FLOW_OP_SUCCESS);
	assert_non_null(rule(t, eth));
	assert_non_null(rule(t, eth));
	assert_int_equal(rte_flow_push(port, 0, &error), 0);
	assert_int_equal(rte_flow_pull(port, 0, results, 4, &error), 2);
	assert_null(rule(t, eth)); /* the table is full */
	assert_int_equal(rte_errno, ENOMEM);
	assert_int_equal(rte_flow_template_table_destroy(port, t, &error), -EBUSY);
	assert_int_equal(rte_flow_async_destroy(port, 0, &later, flow, NULL, &error), 0);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(configure(&queue), 0); /* what had been asked went with the rules */
}

static void
rules_one_by_one_are_refused_with_templates_and_the_other_way_round(void **state)
{
	const struct sim_packet packet = { .dst = 1 };
	struct simnic_offences offences;
	struct sim_match flow;

	RTE_SET_USED(state);
	sim_match(&flow, &packet, 7, false, true);
	open_port("sim_hws0", 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_null(nic_rule(port, &packet, 7));
	assert_int_equal(rte_errno, ENOTSUP);
	assert_int_equal(rte_flow_validate(port, &flow.attr, flow.items, flow.actions, NULL),
		-ENOTSUP);
	simnic_offences(port, &offences);
	assert_int_equal(offences.flow_validated, 1);
	assert_int_equal(rte_flow_destroy(port, (struct rte_flow *)&flow, &error), -ENOTSUP);
	open_port("sim_mlx5_0", -ENOTSUP);
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_non_null(nic_rule(port, &packet, 7));
}

static const struct CMUnitTest simtemplate[] = {
	SIMNIC_TEST(templates_are_taken_and_refused_as_by_the_driver),
	SIMNIC_TEST(tables_are_taken_and_refused_as_by_the_driver),
	SIMNIC_TEST(queue_holds_and_answers_as_the_drivers),
	SIMNIC_TEST(rules_one_by_one_are_refused_with_templates_and_the_other_way_round),
};

UNIT_SUITE(simtemplate)
