/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules by templates: what a port takes of them, in which tables, and what becomes of failures. */

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include <rte_ethdev.h>

#include <hy_flow.h>
#include <hy_flow_sim.h>

#include "simnic_fixture.h"

#define MANY 300
#define RULES_MAX 4096

static struct sim_match matches[MANY];
static struct hy_flow_request requests[MANY];

/* Starts a port, which hy_flow_rte_prepare() must have said `wanted` of. */
static uint16_t
port_open_with(const char *name, const char *args, int wanted)
{
	const uint16_t port = nic_probe(name, args);
	const struct rte_eth_conf conf = { .rxmode.mq_mode = RTE_ETH_MQ_RX_RSS };

	assert_int_equal(rte_eth_dev_configure(port, SIM_RULES_QUEUES, SIM_RULES_QUEUES, &conf), 0);
	assert_int_equal(hy_flow_rte_prepare(port, RULES_MAX), wanted);
	for (uint16_t q = 0; q < SIM_RULES_QUEUES; q++) {
		assert_int_equal(rte_eth_rx_queue_setup(port, q, 64, SOCKET_ID_ANY, NULL, sim_pool),
			0);
		assert_int_equal(rte_eth_tx_queue_setup(port, q, 64, SOCKET_ID_ANY, NULL), 0);
	}
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_ptr_equal(hy_flow_rte_of(port), wanted == 0 ? &hy_flow_rte_async : &hy_flow_rte);
	return port;
}

static uint16_t
port_open(const char *name, int wanted)
{
	return port_open_with(name, NULL, wanted);
}

static struct sim_packet
packet_of(uint32_t i)
{
	return (struct sim_packet){ .src = 0x0a000001,
		.dst = 0xc6120000 + i,
		.proto = IPPROTO_UDP,
		.sport = 1024,
		.dport = 53 };
}

/* Requests for rules of one shape, in group 0: packet i gets mark i + 1. */
static void
ask(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct sim_packet packet = packet_of(i);

		sim_match(&matches[i], &packet, i + 1, false, true);
		requests[i] = (struct hy_flow_request){ .attr = &matches[i].attr,
			.items = matches[i].items,
			.actions = matches[i].actions };
	}
}

static struct simnic_templates
templates_of(uint16_t port)
{
	struct simnic_templates t;

	simnic_templates(port, &t);
	return t;
}

static uint32_t
rules_of(uint16_t port)
{
	struct hy_flow_sim_stats stats;

	hy_flow_sim_stats(simnic_engine(port), &stats);
	return stats.rules;
}

static void
assert_nothing_left(uint16_t port)
{
	const struct simnic_templates t = templates_of(port);

	assert_int_equal(t.patterns + t.actions + t.tables + t.unanswered, 0);
	assert_int_equal(rules_of(port), 0);
}

static void
only_a_device_set_up_for_templates_is_made_ready(void **state)
{
	struct rte_flow_error error = { 0 };
	uint16_t port;
	void *flow;

	RTE_SET_USED(state);
	port = port_open("sim_ice0", -ENOTSUP);
	port_open("sim_mlx5_0", -ENOTSUP);
	port_open("sim_hws0", 0);
	assert_int_equal(hy_flow_rte_prepare(RTE_MAX_ETHPORTS, 1), -ENODEV);
	ask(1);
	assert_int_equal(hy_flow_rte_async.create(port, requests[0].attr, requests[0].items,
				 requests[0].actions, &flow, &error),
		-ENOTSUP);
	assert_string_equal(error.message, "the port was not prepared for templates");
	assert_int_equal(hy_flow_rte_async.create(RTE_MAX_ETHPORTS, requests[0].attr,
				 requests[0].items, requests[0].actions, &flow, &error),
		-ENOTSUP);
}

/* The driver takes templates' set-up while the port is stopped only. */
static void
port_that_runs_is_not_made_ready(void **state)
{
	const uint16_t port = port_open("sim_hws0", 0);

	RTE_SET_USED(state);
	assert_int_equal(hy_flow_rte_prepare(port, RULES_MAX), -EINVAL);
	assert_ptr_equal(hy_flow_rte_of(port), &hy_flow_rte);
}

static void
many_rules_of_one_shape_go_into_few_tables_at_once(void **state)
{
	const uint16_t port = port_open("sim_hws0", 0);
	struct simnic_templates t;

	RTE_SET_USED(state);
	ask(MANY);
	hy_flow_rte_async.create_many(port, requests, MANY);
	for (uint32_t i = 0; i < MANY; i++) {
		const struct sim_packet packet = packet_of(i);

		assert_int_equal(requests[i].rc, 0);
		assert_int_equal(nic_marked(port, &packet), i + 1);
	}
	t = templates_of(port);
	assert_int_equal(t.tables, 3); /* of 64, 128 and 256 rules */
	assert_int_equal(t.pushes, 1);
	hy_flow_rte_async.destroy_many(port, requests, MANY);
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(requests[i].rc, 0);
	assert_int_equal(templates_of(port).pushes, 2);
	assert_nothing_left(port);
}

/* Of the queue; more than it holds go in turns. */
static void
more_rules_than_the_queue_holds_are_taken(void **state)
{
	static struct sim_match all[2500];
	static struct hy_flow_request all_requests[RTE_DIM(all)];
	const uint16_t port = port_open("sim_hws0", 0);
	const struct sim_packet last = packet_of(RTE_DIM(all) - 1);

	RTE_SET_USED(state);
	for (uint32_t i = 0; i < RTE_DIM(all); i++) {
		const struct sim_packet packet = packet_of(i);

		sim_match(&all[i], &packet, i + 1, false, true);
		all_requests[i] = (struct hy_flow_request){
			.attr = &all[i].attr, .items = all[i].items, .actions = all[i].actions
		};
	}
	hy_flow_rte_async.create_many(port, all_requests, RTE_DIM(all));
	for (uint32_t i = 0; i < RTE_DIM(all); i++)
		assert_int_equal(all_requests[i].rc, 0);
	assert_int_equal(rules_of(port), RTE_DIM(all));
	assert_int_equal(templates_of(port).pushes, 3);
	assert_int_equal(nic_marked(port, &last), RTE_DIM(all));
	hy_flow_rte_async.destroy_many(port, all_requests, RTE_DIM(all));
	assert_nothing_left(port);
}

/* What differs in group, priority, masks or fate cannot share a table. */
static void
rules_of_different_shapes_do_not_share_a_table(void **state)
{
	const uint16_t port = port_open("sim_hws0", 0);
	static const struct rte_flow_action_queue other = { .index = 1 };

	RTE_SET_USED(state);
	ask(6);
	matches[1].attr.group = 1;
	matches[2].attr.priority = 1;
	matches[3].ip_mask.hdr.src_addr = 0;
	matches[3].ip.hdr.src_addr = 0;
	matches[4].actions[1].conf = &other;
	hy_flow_rte_async.create_many(port, requests, 6);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(requests[i].rc, 0);
	assert_int_equal(templates_of(port).tables, 5); /* 0 and 5 are alike */
	hy_flow_rte_async.destroy_many(port, requests, 6);
	assert_nothing_left(port);
}

/* Refused at once (SCTP, no template), or by an answer (the third): the others are not touched. */
static void
request_that_fails_leaves_the_others_alone(void **state)
{
	const uint16_t port = port_open("sim_hws0", 0);
	static const int wanted[] = { 0, -EINVAL, 0, -EIO, 0 };
	uint32_t n = 0;

	RTE_SET_USED(state);
	ask(5);
	matches[1].items[2].type = RTE_FLOW_ITEM_TYPE_SCTP;
	hy_flow_sim_fail(simnic_engine(port), 3, -EINVAL);
	hy_flow_rte_async.create_many(port, requests, 5);
	for (uint32_t i = 0; i < 5; i++) {
		const struct sim_packet packet = packet_of(i);

		assert_int_equal(requests[i].rc, wanted[i]);
		assert_int_equal(requests[i].flow != NULL, wanted[i] == 0);
		assert_int_equal(nic_marked(port, &packet), wanted[i] == 0 ? (int)i + 1 : -1);
	}
	assert_string_equal(requests[1].error.message, "Unsupported item type");
	for (uint32_t i = 0; i < 5; i++)
		if (requests[i].rc == 0)
			requests[n++] = requests[i];
	assert_int_equal(n, 3);
	hy_flow_rte_async.destroy_many(port, requests, n);
	assert_nothing_left(port);
}

static void
rule_is_validated_by_its_templates_only(void **state)
{
	const uint16_t port = port_open("sim_hws0", 0);
	struct simnic_offences offences;
	struct rte_flow_error error = { 0 };

	RTE_SET_USED(state);
	ask(2);
	assert_int_equal(hy_flow_rte_async.validate(port, requests[0].attr, requests[0].items,
				 requests[0].actions, &error),
		0);
	matches[1].items[2].type = RTE_FLOW_ITEM_TYPE_SCTP;
	assert_int_equal(hy_flow_rte_async.validate(port, requests[1].attr, requests[1].items,
				 requests[1].actions, &error),
		-EINVAL);
	assert_nothing_left(port);
	simnic_offences(port, &offences);
	assert_int_equal(offences.flow_validated, 0);
}

/* A queue that is silent is asked no more: what was asked last may be there or not. */
static void
queue_that_does_not_answer_is_given_up(void **state)
{
	const uint16_t port = port_open("sim_hws0", 0);

	RTE_SET_USED(state);
	ask(3);
	hy_flow_rte_async.create_many(port, requests, 1);
	assert_int_equal(requests[0].rc, 0);
	simnic_mute(port, true, 0);
	hy_flow_rte_async.create_many(port, &requests[1], 1);
	assert_int_equal(requests[1].rc, -ETIMEDOUT);
	hy_flow_rte_async.create_many(port, &requests[2], 1);
	assert_int_equal(requests[2].rc, -EIO);
	hy_flow_rte_async.destroy_many(port, requests, 1);
	assert_int_equal(requests[0].rc, -EIO);
	simnic_mute(port, false, 0);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(hy_flow_rte_prepare(port, RULES_MAX), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	hy_flow_rte_async.create_many(port, &requests[2], 1);
	assert_int_equal(requests[2].rc, 0);
	assert_int_equal(rules_of(port), 1);
}

/* Rules that fail are to be destroyed; when the first of these is not answered, no more are asked. */
static void
queue_that_falls_silent_after_failures_is_asked_once(void **state)
{
	const uint16_t port = port_open_with("sim_hws0", "table_size=1", 0);

	RTE_SET_USED(state);
	ask(5);
	simnic_mute(port, true, 5);
	hy_flow_rte_async.create_many(port, requests, 5);
	assert_int_equal(requests[0].rc, 0);
	for (uint32_t i = 1; i < 5; i++) {
		assert_int_equal(requests[i].rc, -EIO);
		assert_null(requests[i].flow);
	}
	assert_int_equal(templates_of(port).unanswered, 1);
}

/* Made ready anew, its rules and their handles are gone; otherwise they are removed before the stop. */
static void
stopped_port_takes_rules_again(void **state)
{
	const uint16_t port = port_open("sim_hws0", 0);

	RTE_SET_USED(state);
	for (int again = 0; again < 4; again++) {
		ask(MANY);
		hy_flow_rte_async.create_many(port, requests, MANY);
		for (uint32_t i = 0; i < MANY; i++)
			assert_int_equal(requests[i].rc, 0);
		assert_int_equal(rules_of(port), MANY);
		assert_int_equal(templates_of(port).tables, 3);
		if (again % 2 != 0) {
			hy_flow_rte_async.destroy_many(port, requests, MANY);
			assert_nothing_left(port);
		}
		assert_int_equal(rte_eth_dev_stop(port), 0);
		assert_int_equal(rules_of(port), 0);
		if (again % 2 == 0)
			assert_int_equal(hy_flow_rte_prepare(port, RULES_MAX), 0);
		assert_int_equal(rte_eth_dev_start(port), 0);
		assert_nothing_left(port);
	}
}

/* Its id goes to the next device, which nobody has made ready. */
static void
port_that_was_closed_is_not_ready_any_more(void **state)
{
	const uint16_t port = port_open("sim_hws0", 0);

	RTE_SET_USED(state);
	ask(3);
	hy_flow_rte_async.create_many(port, requests, 3);
	assert_int_equal(requests[2].rc, 0);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	hy_flow_rte_forget(port);
	assert_int_equal(rte_eth_dev_close(port), 0);
	hy_flow_rte_forget(RTE_MAX_ETHPORTS); /* which is none */
	assert_ptr_equal(hy_flow_rte_of(port), &hy_flow_rte);
	hy_flow_rte_async.destroy_many(port, requests, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(requests[i].rc, -ENOTSUP);
}

static void
probing_tries_templates_and_leaves_none(void **state)
{
	const uint16_t port = port_open("sim_hws0", 0);
	const struct hy_flow_driver *driver = hy_flow_driver_of("mlx5_pci");
	struct hy_flow_limits limits;
	struct simnic_offences offences;

	RTE_SET_USED(state);
	assert_int_equal(hy_flow_probe(port, &hy_flow_rte_async, driver, &limits), 0);
	assert_int_equal(limits.mark_max, 0xffffef);
	assert_int_equal(limits.priorities, 16);
	assert_string_equal(limits.reason,
		"rte_flow templates took rules with marks up to 16777199 at 16 priorities, "
		"34 of 41 kinds");
	simnic_offences(port, &offences);
	assert_int_equal(offences.flow_validated, 0);
	assert_nothing_left(port);
}

/* They stayed for good, since what a port did not remove is not asked for again. */
static void
rules_stayed_in_hardware_when_their_removal_found_no_memory(void **state)
{
	const uint16_t port = port_open("sim_hws0", 0);

	RTE_SET_USED(state);
	ask(40);
	hy_flow_rte_async.create_many(port, requests, 40);
	assert_int_equal(rules_of(port), 40);
	unit_alloc_fail(1);
	hy_flow_rte_async.destroy_many(port, requests, 40);
	assert_int_equal(unit_alloc_count(), 1);
	unit_alloc_fail(0);
	for (unsigned int i = 0; i < 40; i++)
		assert_int_equal(requests[i].rc, 0);
	assert_nothing_left(port);
}

static const struct CMUnitTest flow_async[] = {
	SIMNIC_TEST(rules_stayed_in_hardware_when_their_removal_found_no_memory),
	SIMNIC_TEST(only_a_device_set_up_for_templates_is_made_ready),
	SIMNIC_TEST(port_that_runs_is_not_made_ready),
	SIMNIC_TEST(many_rules_of_one_shape_go_into_few_tables_at_once),
	SIMNIC_TEST(more_rules_than_the_queue_holds_are_taken),
	SIMNIC_TEST(rules_of_different_shapes_do_not_share_a_table),
	SIMNIC_TEST(request_that_fails_leaves_the_others_alone),
	SIMNIC_TEST(rule_is_validated_by_its_templates_only),
	SIMNIC_TEST(queue_that_does_not_answer_is_given_up),
	SIMNIC_TEST(queue_that_falls_silent_after_failures_is_asked_once),
	SIMNIC_TEST(stopped_port_takes_rules_again),
	SIMNIC_TEST(port_that_was_closed_is_not_ready_any_more),
	SIMNIC_TEST(probing_tries_templates_and_leaves_none),
};

UNIT_SUITE(flow_async)
