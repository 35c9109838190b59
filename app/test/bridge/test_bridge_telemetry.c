/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Telemetry's commands: a client asks on a thread of its own, as DPDK's does, and the control thread
 * answers in hy_bridge_poll().
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include <hy_telemetry.h>

#include "bridge_fixture.h"
#include "lib/bridge/bridge.h"
#include "lib/graph/internal/dpdk.h"

#define COMMANDS 16
#define FILE_TEXT \
	"entries 300\nport 5 access 10\nport 1 trunk 10,20\nport 2 trunk 20\n" \
	"static 02:00:00:00:00:01 vlan 10 local\n"

/* What was registered. */
static struct {
	char name[64];
	telemetry_cb call;
} commands[COMMANDS];
static unsigned int nb_commands;

/* The answer: "NAME=VALUE " each, and "ENTRY.NAME=VALUE " of dictionaries in it. */
static char answer[1 << 15];
static const struct rte_tel_data *top;
static struct {
	struct rte_tel_data *data;
	char name[16];
} parts[256];
static unsigned int nb_parts;

/* These stand in for DPDK's, whose libraries register commands of their own before main(). */
int
rte_telemetry_register_cmd(const char *name, telemetry_cb call, const char *help)
{
	if (strncmp(name, "/halyard/l2/", 12) != 0)
		return 0;
	assert_true(strlen(help) > 10 && strlen(help) < RTE_TEL_MAX_STRING_LEN);
	assert_true(nb_commands < COMMANDS);
	snprintf(commands[nb_commands].name, sizeof(commands[0].name), "%s", name);
	commands[nb_commands++].call = call;
	return 0;
}

static int
add(const struct rte_tel_data *data, const char *name, const char *value)
{
	const size_t n = strlen(answer);
	const char *part = "";

	for (unsigned int i = 0; i < nb_parts; i++)
		if (parts[i].data == data)
			part = parts[i].name;
	snprintf(answer + n, sizeof(answer) - n, "%s%s%s=%s ", part, data == top ? "" : ".", name,
		value);
	return 0;
}

int
rte_tel_data_add_dict_string(struct rte_tel_data *data, const char *name, const char *value)
{
	return add(data, name, value);
}

int
rte_tel_data_add_dict_int(struct rte_tel_data *data, const char *name, HY_DPDK_TELEMETRY_INT value)
{
	char text[32];

	snprintf(text, sizeof(text), "%jd", (intmax_t)value);
	return add(data, name, text);
}

int
rte_tel_data_add_dict_uint(struct rte_tel_data *data, const char *name, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%ju", (uintmax_t)value);
	return add(data, name, text);
}

int
rte_tel_data_add_dict_container(struct rte_tel_data *data, const char *name,
	struct rte_tel_data *added, int keep)
{
	if (data != top || keep != 0 || nb_parts == RTE_DIM(parts))
		return -1;
	parts[nb_parts].data = added;
	snprintf(parts[nb_parts++].name, sizeof(parts[0].name), "%s", name);
	return 0;
}

/* A client's question, and its thread. */
static struct {
	const char *name, *parameter;
	int rc;
	atomic_bool ended;
} question;

static void *
client_main(void *arg)
{
	unsigned int i = 0;

	while (i < nb_commands && strcmp(commands[i].name, question.name) != 0)
		i++;
	question.rc = i == nb_commands ? -1
				       : commands[i].call(question.name, question.parameter, arg);
	atomic_store(&question.ended, true);
	return NULL;
}

static uint64_t
number(const char *name)
{
	const char *at = strstr(answer, name);

	return at == NULL ? UINT64_MAX : strtoull(at + strlen(name), NULL, 10);
}

/* Asks, while the control thread polls or not, and returns the answer. */
static const char *
ask_while(bool polls, const char *name, const char *parameter)
{
	struct rte_tel_data *data = rte_tel_data_alloc();
	pthread_t client;

	assert_non_null(data);
	top = data;
	answer[0] = '\0';
	question.name = name;
	question.parameter = parameter;
	atomic_store(&question.ended, false);
	assert_int_equal(pthread_create(&client, NULL, client_main, data), 0);
	while (!atomic_load(&question.ended)) {
		if (polls)
			hy_bridge_poll(bridge, 1);
		rte_delay_us_sleep(200);
	}
	pthread_join(client, NULL);
	assert_int_equal(question.rc, 0);
	for (unsigned int i = 0; i < nb_parts; i++)
		rte_tel_data_free(parts[i].data);
	nb_parts = 0;
	rte_tel_data_free(data);
	return answer;
}

static const char *
ask(const char *name, const char *parameter)
{
	return ask_while(true, name, parameter);
}

static int
setup(void **state)
{
	if (nb_commands == 0 && hy_bridge_telemetry("/any") < 0)
		return -1;
	return bridge_setup(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, bridge_teardown)

static void
commands_have_names_of_the_library(void **state)
{
	static const char *const names[] = { "stats", "ports", "vlans", "dump", "add", "del",
		"flush", "state" };

	RTE_SET_USED(state);
	assert_int_equal(nb_commands, RTE_DIM(names));
	for (unsigned int i = 0; i < nb_commands; i++) {
		assert_memory_equal(commands[i].name, "/halyard/l2/", 12);
		assert_string_equal(commands[i].name + 12, names[i]);
	}
}

static void
counts_are_told_of_all_of_ports_and_of_vlans(void **state)
{
	RTE_SET_USED(state);
	bridge_new(FILE_TEXT);
	find(0, key_of(2, 10), 0);
	find(0, key_of(3, 20), 1);
	hy_bridge_poll(bridge, 1);
	find(0, key_of(3, 20), 2);
	hy_bridge_poll(bridge, 1);
	bridge->worker[1]->flooded_by_port[0] = 4;
	bridge->worker[1]->flooded_by_vlan[10] = 4;
	assert_string_equal(ask("/halyard/l2/stats", NULL),
		"max_entries=300 static=1 overflowed=0 added=1 deleted=0 flapped=0 entries=3 learned=2 "
		"moved=1 refreshed=0 aged=0 refused=0 flooded=4 ");
	assert_string_equal(ask("/halyard/l2/ports", NULL),
		"5.state=forwarding 5.entries=1 5.learned=1 5.moved=0 5.refreshed=0 5.aged=0 "
		"5.refused=0 5.flooded=4 1.state=forwarding 1.entries=0 1.learned=1 1.moved=0 "
		"1.refreshed=0 1.aged=0 1.refused=0 1.flooded=0 2.state=forwarding 2.entries=1 "
		"2.learned=0 2.moved=1 2.refreshed=0 2.aged=0 2.refused=0 2.flooded=0 ");
	assert_string_equal(ask("/halyard/l2/vlans", NULL),
		"10.ports=2 10.entries=2 10.learned=1 10.moved=0 10.refreshed=0 10.aged=0 "
		"10.refused=0 10.flooded=4 20.ports=2 20.entries=1 20.learned=1 20.moved=1 "
		"20.refreshed=0 20.aged=0 20.refused=0 20.flooded=0 ");
	assert_string_equal(ask("/halyard/l2/vlans", "21"), "");
	assert_string_equal(ask("/halyard/l2/vlans", "4096"),
		"error=vlan: '4096' is not a number from 0 to 4095 ");
}

/* VLANs that do not fit follow. */
static void
many_vlans_are_told_in_parts(void **state)
{
	RTE_SET_USED(state);
	bridge_new("port 5 access 10\nport 1 trunk all\nport 2 trunk all\n");
	for (uint16_t vid = 1; vid <= 100; vid++)
		find(0, key_of(1, vid), 1);
	ask("/halyard/l2/vlans", "");
	assert_non_null(strstr(answer, "60.entries=1 "));
	assert_null(strstr(answer, "61.entries"));
	assert_int_equal(number("next="), 61);
	ask("/halyard/l2/vlans", "61");
	assert_null(strstr(answer, " 60.entries"));
	assert_non_null(strstr(answer, "61.entries=1 "));
	assert_non_null(strstr(answer, "100.entries=1 "));
	assert_null(strstr(answer, "next"));
}

static void
dump_shows_entries_of_a_port_and_a_vlan(void **state)
{
	RTE_SET_USED(state);
	bridge_new(FILE_TEXT "static 02:00:00:00:00:09 vlan 20 port 2\n");
	find(0, key_of(2, 10), 0);
	hy_bridge_poll(bridge, 1);
	find(0, key_of(3, 20), 1);
	hy_bridge_poll(bridge, 1);
	assert_string_equal(ask("/halyard/l2/dump", "port 5"),
		"0.mac=02:00:00:00:00:02 0.vlan=10 0.port=5 0.idle=0 ");
	assert_string_equal(ask("/halyard/l2/dump", "port,1,vlan,20"),
		"0.mac=02:00:00:00:00:03 0.vlan=20 0.port=1 0.idle=0 ");
	assert_string_equal(ask("/halyard/l2/dump", "port 2"),
		"0.mac=02:00:00:00:00:09 0.vlan=20 0.port=2 0.static=1 ");
	assert_string_equal(ask("/halyard/l2/dump", "port 1 vlan 10"), "");
	ask("/halyard/l2/dump", NULL);
	assert_non_null(strstr(answer, "02:00:00:00:00:01"));
	assert_non_null(strstr(answer, "port=local"));
	assert_non_null(strstr(answer, "3.mac="));
	assert_null(strstr(answer, "4.mac="));
	assert_string_equal(ask("/halyard/l2/dump", "static"),
		"error=entries: 'static' selects none; accepted are port P, vlan V and cursor C ");
}

static void
dump_goes_on_at_the_cursor(void **state)
{
	char parameter[32] = "";
	unsigned int read = 0, calls = 0;

	RTE_SET_USED(state);
	bridge_new(FILE_TEXT);
	for (uint32_t i = 2; i <= 251; i++)
		find(0, key_of(i, 10), 0);
	hy_bridge_poll(bridge, 1);
	do {
		ask("/halyard/l2/dump", parameter);
		for (const char *at = answer; (at = strstr(at, ".mac=")) != NULL; at++)
			read++;
		snprintf(parameter, sizeof(parameter), "cursor %ju", (uintmax_t)number("next="));
		calls++;
	} while (strstr(answer, "next=") != NULL && calls < 10);
	assert_int_equal(read, 251);
	assert_in_range(calls, 3, 4);
}

static void
entries_are_added_deleted_and_flushed(void **state)
{
	RTE_SET_USED(state);
	bridge_new(FILE_TEXT);
	ask("/halyard/l2/add", "02:00:00:00:00:05 vlan 20 port 2");
	assert_int_equal(number("static="), 2);
	assert_int_equal(port_of(key_of(5, 20)), 2);
	ask("/halyard/l2/add", "02:00:00:00:00:06,vlan,20,local");
	assert_int_equal(port_of(key_of(6, 20)), HY_L2_LOCAL);
	ask("/halyard/l2/del", "02:00:00:00:00:05 vlan 20");
	assert_int_equal(number("static="), 2);
	assert_int_equal(port_of(key_of(5, 20)), HY_L2_MISS);
	for (uint32_t i = 10; i < 20; i++)
		find(0, key_of(i, 10 + i % 2 * 10), 1);
	hy_bridge_poll(bridge, 1);
	assert_string_equal(ask("/halyard/l2/flush", "port 1 vlan 20"), "flushed=5 ");
	assert_string_equal(ask("/halyard/l2/flush", "vlan 20 static"), "flushed=1 ");
	assert_string_equal(ask("/halyard/l2/flush", NULL), "flushed=5 ");
	assert_int_equal(port_of(key_of(1, 10)), HY_L2_LOCAL);
	assert_string_equal(ask("/halyard/l2/flush", "static"), "flushed=1 ");
	ask("/halyard/l2/state", "5 learning");
	assert_memory_equal(answer, "5.state=learning 5.entries=", 27);
	assert_int_equal(setup_now()->port[0].state, HY_L2_LEARNING);
}

static void
commands_that_are_wrong_say_what_is_accepted(void **state)
{
	static const struct {
		const char *name, *parameter, *error;
	} wrong[] = {
		{ "/halyard/l2/add", NULL,
			"mac: 'the end of the line' is not a MAC address, MM:MM:MM:MM:MM:MM" },
		{ "/halyard/l2/add", "02:00:00:00:00:01 vlan 30 port 1",
			"vlan: no port is a member of VLAN 30" },
		{ "/halyard/l2/add", "02:00:00:00:00:01 vlan 20 port 5",
			"port: 5 is no member of VLAN 20" },
		{ "/halyard/l2/add", "02:00:00:00:00:01 vlan 20 port 9",
			"port: '9' is no port of the bridge; these are 5, 1, 2" },
		{ "/halyard/l2/del", "02:00:00:00:00:01 vlan 20", "there is no such entry" },
		{ "/halyard/l2/del", "02:00:00:00:00:01 vlan 20 port 1",
			"line: 'port' is behind its end" },
		{ "/halyard/l2/flush", "all",
			"entries: 'all' selects none; accepted are port P, vlan V and static" },
		{ "/halyard/l2/state", "1",
			"state: 'the end of the line' is not blocking, learning or "
			"forwarding" },
		{ "/halyard/l2/state", "1 blocking now", "line: 'now' is behind its end" },
	};
	unsigned int compared = 0;

	RTE_SET_USED(state);
	bridge_new(FILE_TEXT);
	for (unsigned int i = 0; i < RTE_DIM(wrong); i++) {
		char expected[256];

		snprintf(expected, sizeof(expected), "error=%s ", wrong[i].error);
		assert_string_equal(ask(wrong[i].name, wrong[i].parameter), expected);
		compared++;
	}
	assert_int_equal(compared, RTE_DIM(wrong));
	assert_int_equal(bridge_counts(bridge).entries, 1);
	assert_int_equal(setup_now()->forwarding, 7);
}

static void
full_table_is_told(void **state)
{
	RTE_SET_USED(state);
	bridge_new("entries 1\nport 5 access 10\nport 1 access 10\nport 2 access 10\n"
		   "static 02:00:00:00:00:01 vlan 10 local\n");
	assert_string_equal(ask("/halyard/l2/add", "02:00:00:00:00:02 vlan 10 port 1"),
		"error=the table is full ");
}

/* Nobody answers: there is no bridge, it is too busy, or it goes. */
static void
client_is_told_why_nobody_answers(void **state)
{
	const uint64_t start = rte_get_timer_cycles();

	RTE_SET_USED(state);
	assert_string_equal(ask_while(false, "/halyard/l2/stats", NULL),
		"error=there is no bridge ");
	bridge_new(FILE_TEXT);
	assert_string_equal(ask_while(false, "/halyard/l2/stats", NULL),
		"error=the control thread is busy ");
	assert_in_range((rte_get_timer_cycles() - start) / rte_get_timer_hz(), 4, 30);
	hy_bridge_destroy(bridge);
	bridge = NULL;
	assert_string_equal(ask_while(false, "/halyard/l2/stats", NULL),
		"error=there is no bridge ");
}

static const struct CMUnitTest tests[] = {
	TEST(commands_have_names_of_the_library),
	TEST(counts_are_told_of_all_of_ports_and_of_vlans),
	TEST(many_vlans_are_told_in_parts),
	TEST(dump_shows_entries_of_a_port_and_a_vlan),
	TEST(dump_goes_on_at_the_cursor),
	TEST(entries_are_added_deleted_and_flushed),
	TEST(commands_that_are_wrong_say_what_is_accepted),
	TEST(full_table_is_told),
	TEST(client_is_told_why_nobody_answers),
};
UNIT_SUITE(tests)
