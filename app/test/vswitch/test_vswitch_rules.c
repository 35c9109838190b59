/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules and ports of a switch are added, changed, deleted, loaded and counted. */

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vswitch_fixture.h"

#define MANY 20000u

static struct hy_vswitch_rule select_rule;

static const struct hy_vswitch_rule *
selected(const char *text)
{
	if (hy_vswitch_read(vswitch, text, HY_VSWITCH_SELECT, &select_rule, error) < 0)
		fail_msg("%s: %s", text, error);
	return &select_rule;
}

/* What the switch prints, with times of 0. */
static void
assert_printed(const char *want)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(hy_vswitch_print(vswitch, NULL, 0, out), 0);
	fclose(out);
	assert_string_equal(text, want);
	free(text);
}

#define ZERO "duration=0.000,n_packets=0,n_bytes=0,idle_age=0,table="

static void
rules_are_printed_by_table_and_priority(void **state)
{
	RTE_SET_USED(state);
	add_rules("table=1,tcp actions=1\npriority=5 actions=drop\npriority=7,ip actions=2\n"
		  "priority=7,arp actions=3");
	assert_printed(ZERO "0,priority=7,ip actions=output:2\n" ZERO
			    "0,priority=7,arp actions=output:3\n" ZERO
			    "0,priority=5 actions=drop\n" ZERO "1,tcp actions=output:1\n");
	assert_int_equal(hy_vswitch_rules(vswitch), 4);
}

static void
the_same_rule_is_replaced(void **state)
{
	RTE_SET_USED(state);
	add_rules(
		"priority=3,tcp actions=1\npriority=3,ip,nw_proto=6 actions=2\npriority=4,tcp actions=3");
	assert_printed(ZERO "0,priority=4,tcp actions=output:3\n" ZERO
			    "0,priority=3,tcp actions=output:2\n");
}

static void
modified_rules_keep_their_counts(void **state)
{
	const struct hy_flows_key key = tcp_key();
	struct hy_vswitch_stats stats;
	uint32_t n;

	RTE_SET_USED(state);
	add_rules(
		"priority=3,tcp,tp_dst=80 actions=2\npriority=2,udp actions=2\ntable=1,tcp actions=2");
	assert_edges(&key, 22, -1);
	hy_vswitch_count(vswitch, answer.rules, answer.nb_rules, 3, 180, 7000);
	read_rule("tcp,cookie=9 actions=3");
	assert_int_equal(hy_vswitch_modify(vswitch, &rule, false, 8000, &n), 0);
	assert_int_equal(n, 1); /* neither of udp, nor of table 1 */
	assert_edges(&key, 23, -1);
	assert_int_equal(hy_vswitch_get(vswitch, answer.rules[0], &rule, &stats), 0);
	assert_int_equal(rule.cookie, 9);
	assert_int_equal(rule.priority, 3);
	assert_int_equal(stats.packets, 3);
	assert_int_equal(stats.bytes, 180);
	assert_int_equal(stats.added, 0);
	assert_int_equal(stats.used, 7000);
	read_rule("priority=4,tcp,tp_dst=80 actions=2");
	assert_int_equal(hy_vswitch_modify(vswitch, &rule, true, 8000, &n), 0);
	assert_int_equal(n, 0); /* none has this priority: it is added */
	assert_int_equal(hy_vswitch_rules(vswitch), 4);
	read_rule("priority=4,tcp,tp_dst=80 actions=1,3");
	assert_int_equal(hy_vswitch_modify(vswitch, &rule, true, 8000, &n), 0);
	assert_int_equal(n, 1);
	assert_edges(&key, 23, -1); /* not where it came from */
}

static void
deleting_selects_narrower_rules_or_one(void **state)
{
	RTE_SET_USED(state);
	add_rules(
		"priority=1,tcp actions=1\npriority=2,tcp actions=1\npriority=2,tcp,tp_dst=80 actions=1\n"
		"table=1,tcp actions=1\nudp actions=1\nip,nw_src=10.1.0.0/16 actions=1");
	assert_int_equal(hy_vswitch_delete(vswitch, selected("priority=3,tcp"), true), 0);
	assert_int_equal(hy_vswitch_delete(vswitch, selected("priority=1,tcp"), true), 1);
	assert_int_equal(hy_vswitch_delete(vswitch, selected("ip,nw_src=10.1.0.0/24"), false), 0);
	assert_int_equal(hy_vswitch_delete(vswitch, selected("ip,nw_src=10.0.0.0/8"), false), 1);
	assert_int_equal(hy_vswitch_delete(vswitch, selected("table=0,tcp"), false), 2);
	assert_int_equal(hy_vswitch_delete(vswitch, selected("tcp"), false), 1);
	assert_printed(ZERO "0,udp actions=output:1\n");
	assert_int_equal(hy_vswitch_delete(vswitch, selected(""), false), 1);
	assert_int_equal(hy_vswitch_rules(vswitch), 0);
}

static void
rules_end_when_their_time_is_over(void **state)
{
	const struct hy_flows_key key = tcp_key();

	RTE_SET_USED(state);
	add_rules(
		"tcp,idle_timeout=2 actions=2\npriority=1,hard_timeout=5 actions=3\npriority=0 actions=1");
	assert_edges(&key, 22, -1);
	hy_vswitch_count(vswitch, answer.rules, answer.nb_rules, 1, 60, 1500);
	hy_vswitch_count(vswitch, answer.rules, answer.nb_rules, 0, 0, 3000); /* no packet */
	assert_int_equal(hy_vswitch_expire(vswitch, 3499), 0);
	assert_int_equal(hy_vswitch_expire(vswitch, 3500), 1);
	assert_edges(&key, 23, -1);
	assert_int_equal(hy_vswitch_expire(vswitch, 4999), 0);
	assert_int_equal(hy_vswitch_expire(vswitch, 5000), 1);
	assert_edges(&key, -1, -1);
	assert_int_equal(hy_vswitch_rules(vswitch), 1);
}

static void
a_number_of_a_deleted_rule_is_of_none(void **state)
{
	const struct hy_flows_key key = tcp_key();
	struct hy_vswitch_stats stats;
	uint64_t old;

	RTE_SET_USED(state);
	add_rule("actions=2");
	assert_edges(&key, 22, -1);
	old = answer.rules[0];
	assert_int_equal(hy_vswitch_delete(vswitch, selected(""), false), 1);
	assert_int_equal(hy_vswitch_get(vswitch, old, &rule, NULL), -ENOENT);
	add_rule("actions=2"); /* in its slot */
	hy_vswitch_count(vswitch, &old, 1, 5, 5, 5);
	assert_edges(&key, 22, -1);
	assert_int_equal(hy_vswitch_get(vswitch, answer.rules[0], &rule, &stats), 0);
	assert_int_equal(stats.packets, 0);
}

static void
a_file_replaces_all_rules_and_keeps_counts(void **state)
{
	const struct hy_flows_key key = tcp_key();
	struct hy_vswitch_stats stats;

	RTE_SET_USED(state);
	add_rules("tcp actions=2\nudp actions=2\narp actions=2");
	assert_edges(&key, 22, -1);
	hy_vswitch_count(vswitch, answer.rules, answer.nb_rules, 4, 400, 100);
	assert_int_equal(hy_vswitch_load(vswitch,
				 rules_file("# a comment\n\n  tcp actions=2 # and another\r\n"
					    "udp actions=3\n"),
				 200, error),
		0);
	assert_int_equal(hy_vswitch_rules(vswitch), 2);
	assert_edges(&key, 22, -1);
	assert_int_equal(hy_vswitch_get(vswitch, answer.rules[0], &rule, &stats), 0);
	assert_int_equal(stats.packets, 4);
	assert_int_equal(stats.added, 0);
	unlink(rules_file(""));
}

#define FILE_RULES 64u

/* The number of a rule of udp to a port. */
static uint64_t
number_of(uint32_t port)
{
	struct hy_flows_key key = tcp_key();

	key.proto = IPPROTO_UDP;
	key.dport = rte_cpu_to_be_16((uint16_t)port);
	hy_vswitch_translate(vswitch, &key, &answer);
	return answer.nb_rules == 0 ? UINT64_MAX : answer.rules[0];
}

/* Who counts a rule's packets by its number goes on, and finds no other rule under that of one that is gone. */
static void
rules_of_a_file_that_stay_keep_their_numbers(void **state)
{
	uint64_t number[FILE_RULES], counted[FILE_RULES] = { 0 }, highest = 0;
	uint32_t actions[FILE_RULES] = { 0 }, stayed = 0, changed = 0, gone = 0, seed = 7;
	char text[FILE_RULES * 48];
	struct hy_vswitch_stats stats;

	RTE_SET_USED(state);
	memset(number, 0xff, sizeof(number));
	for (uint32_t round = 0; round < 200; round++) {
		uint32_t now[FILE_RULES];
		size_t len = 0;

		text[0] = '\0';
		for (uint32_t i = 0; i < FILE_RULES; i++) {
			seed = seed * 1103515245 + 12345;
			now[i] = seed >> 28 < 3 ? seed >> 20 & 3 : actions[i];
			if (now[i] > 0)
				len += (size_t)snprintf(text + len, sizeof(text) - len,
					"udp,tp_dst=%u actions=%u\n", i, now[i]);
		}
		assert_int_equal(hy_vswitch_load(vswitch, rules_file(text), 0, error), 0);
		for (uint32_t i = 0; i < FILE_RULES; i++) {
			const uint64_t before = number[i];

			number[i] = number_of(i);
			assert_int_equal(number[i] == UINT64_MAX, now[i] == 0);
			if (now[i] == actions[i] && now[i] > 0) {
				assert_int_equal(number[i], before);
				stayed++;
			} else if (before != UINT64_MAX) {
				assert_int_equal(hy_vswitch_get(vswitch, before, &rule, NULL),
					-ENOENT);
				changed += now[i] > 0;
				gone += now[i] == 0;
				counted[i] = 0;
			}
			actions[i] = now[i];
			if (number[i] == UINT64_MAX)
				continue;
			hy_vswitch_count(vswitch, &number[i], 1, i + 1, 60, round);
			counted[i] += i + 1;
			assert_int_equal(hy_vswitch_get(vswitch, number[i], &rule, &stats), 0);
			assert_int_equal(rule.key.dport, rte_cpu_to_be_16((uint16_t)i));
			assert_int_equal(stats.packets, counted[i]);
			highest = RTE_MAX(highest, number[i] & 0xffffff);
		}
	}
	assert_true(stayed > 1000 && changed > 100 && gone > 100);
	assert_in_range(highest, FILE_RULES / 2, FILE_RULES - 1); /* slots are used again */
	unlink(rules_file(""));
}

static void
a_file_with_a_fault_changes_nothing(void **state)
{
	static const struct {
		const char *text, *error;
	} files[] = {
		{ "actions=1\n# x\n\ntcp,foo actions=1\n",
			":4: foo: not supported in a match; accepted are " },
		{ "actions=1\nactions=ct\n",
			":2: actions: conntrack action ct is not supported; accepted are " },
		{ "tcp actions=1\nip,nw_proto=6 actions=2\n",
			":2: rule: an earlier line has its table, priority and match" },
		{ "actions=1\nin_port=eth9 actions=2\n", ":2: in_port: 'eth9' is not a port" },
	};
	const struct hy_flows_key key = tcp_key();
	char want[256];

	RTE_SET_USED(state);
	add_rule("actions=3");
	for (uint32_t i = 0; i < RTE_DIM(files); i++) {
		const char *path = rules_file(files[i].text);

		assert_int_equal(hy_vswitch_load(vswitch, path, 0, error), -EINVAL);
		snprintf(want, sizeof(want), "%s%s", path, files[i].error);
		if (strncmp(error, want, strlen(want)) != 0)
			assert_string_equal(error, want);
		assert_printed(ZERO "0 actions=output:3\n");
		assert_edges(&key, 23, -1);
	}
	unlink(rules_file(""));
	assert_int_equal(hy_vswitch_load(vswitch, "/no/such/file", 0, error), -ENOENT);
	assert_string_equal(error, "/no/such/file: No such file or directory");
}

/* Makes each allocation of a change fail, until it goes well; then undoes it. */
static void
assert_survives(int (*change)(void), const char *before)
{
	unsigned int failed = 0;
	int rc;

	do {
		unit_alloc_fail(failed + 1);
		rc = change();
		unit_alloc_fail(0);
		if (rc != 0) {
			assert_int_equal(rc, -ENOMEM);
			assert_printed(before);
			failed++;
		}
	} while (rc != 0);
	assert_true(failed >= 1);
}

static int
change_add(void)
{
	return hy_vswitch_add(vswitch, &rule, 0);
}

static int
change_modify(void)
{
	return hy_vswitch_modify(vswitch, &rule, false, 0, NULL);
}

static void
without_memory_nothing_changes(void **state)
{
	static const char first[] = ZERO "0,priority=3,tcp,tp_dst=80 actions=output:1\n";
	static const char third[] = ZERO "0,priority=3,tcp,tp_dst=80 actions=output:1\n" ZERO
					 "0,priority=3,tcp,tp_dst=81 actions=output:1\n" ZERO
					 "0,priority=2,tcp,tp_dst=80 actions=output:1\n";

	RTE_SET_USED(state);
	read_rule("priority=3,tcp,tp_dst=80 actions=1");
	assert_survives(change_add, "");
	read_rule("priority=3,tcp,tp_dst=81 actions=1"); /* a node of the tree */
	assert_survives(change_add, first);
	add_rule("priority=2,tcp,tp_dst=80 actions=1");
	read_rule("tcp actions=2");
	assert_survives(change_modify, third);
	read_rule("udp actions=2"); /* none to change: is added */
	unit_alloc_fail(2);
	assert_int_equal(change_modify(), -ENOMEM);
	unit_alloc_fail(0);
	assert_int_equal(hy_vswitch_rules(vswitch), 3);
}

static void
without_memory_a_file_changes_nothing(void **state)
{
	const char *path = rules_file("tcp actions=1\nudp actions=2\nudp,tp_dst=1 actions=2\n"
				      "udp,tp_dst=2 actions=2\n");
	const struct hy_flows_key key = tcp_key();
	unsigned int failed = 0;
	int rc;

	RTE_SET_USED(state);
	add_rule("actions=3");
	do {
		unit_alloc_fail(failed + 1);
		rc = hy_vswitch_load(vswitch, path, 0, error);
		unit_alloc_fail(0);
		if (rc != 0) {
			assert_edges(&key, 23, -1);
			assert_int_equal(hy_vswitch_rules(vswitch), 1);
			failed++;
		}
	} while (rc != 0);
	assert_true(failed > 12);
	assert_int_equal(hy_vswitch_rules(vswitch), 4);
	unlink(rules_file(""));
}

static void
many_rules_of_many_masks_come_and_go(void **state)
{
	struct hy_flows_key key = tcp_key();
	char text[128];
	uint32_t deleted = 0;

	RTE_SET_USED(state);
	for (uint32_t i = 0; i < MANY; i++) {
		snprintf(text, sizeof(text), "priority=%u,ip,nw_dst=%u.%u.%u.0/%u actions=2",
			1 + i % 100, 1 + i % 7, i / 256, i % 256, 20 + i % 5);
		add_rule(text);
	}
	key.dst = RTE_BE32(0x03090955); /* 2309 % 7 = 6 is not 3; its prefixes of /20 to /23 are */
	hy_vswitch_translate(vswitch, &key, &answer);
	assert_int_equal(answer.outcome, HY_VSWITCH_DONE);
	while (hy_vswitch_rules(vswitch) > 0) {
		snprintf(text, sizeof(text), "ip,nw_dst=%u.0.0.0/8", 1 + deleted++);
		assert_true(hy_vswitch_delete(vswitch, selected(text), false) > 100);
	}
	assert_int_equal(deleted, 7);
}

static void
ports_are_checked(void **state)
{
	struct hy_vswitch_port port = { .number = 4, .name = "eth4", .port = 14, .edge = 24 };
	struct hy_vswitch_port tunnel = { .number = 5,
		.name = "vx",
		.is_tunnel = true,
		.tunnel = { .local = { 1, 2, 3, 4 }, .uplink = 4 } };

	RTE_SET_USED(state);
	unit_log_clear();
	assert_int_equal(hy_vswitch_port_add(vswitch, &tunnel), -EINVAL); /* no uplink */
	assert_int_equal(hy_vswitch_port_add(vswitch, &port), 0);
	assert_int_equal(hy_vswitch_parse(vswitch), HY_FLOWS_PARSE_ALL);
	assert_int_equal(hy_vswitch_port_add(vswitch, &tunnel), 0);
	assert_int_equal(hy_vswitch_parse(vswitch), HY_FLOWS_PARSE_ALL | HY_FLOWS_PARSE_TUNNEL);
	assert_int_equal(hy_vswitch_port_delete(vswitch, 4), -EBUSY);
	tunnel.number = 6;
	strcpy(tunnel.name, "vy");
	assert_int_equal(hy_vswitch_port_add(vswitch, &tunnel), -EEXIST); /* its addresses */
	tunnel.tunnel.local[0] = 0;
	memset(tunnel.tunnel.local, 0, 16);
	assert_int_equal(hy_vswitch_port_add(vswitch, &tunnel), -EINVAL);
	tunnel.tunnel.local[0] = 9;
	tunnel.tunnel.uplink = 5; /* a tunnel */
	assert_int_equal(hy_vswitch_port_add(vswitch, &tunnel), -EINVAL);
	assert_int_equal(hy_vswitch_port_add(vswitch, &port), -EEXIST);
	port.number = 7;
	assert_int_equal(hy_vswitch_port_add(vswitch, &port), -EEXIST);
	strcpy(port.name, "eth7");
	assert_int_equal(hy_vswitch_port_add(vswitch, &port), -EEXIST);
	port.port = 17;
	for (const char *const *name =
			(const char *const[]){ "", "7", "a b", "flood", "ct", "Drop", NULL };
		*name != NULL; name++) {
		memset(port.name, 0, sizeof(port.name));
		strcpy(port.name, *name);
		assert_false(hy_vswitch_name_valid(*name));
		assert_int_equal(hy_vswitch_port_add(vswitch, &port), -EINVAL);
	}
	assert_false(hy_vswitch_name_valid("sixteen-letters-"));
	assert_true(hy_vswitch_name_valid("fifteen-letters"));
	strcpy(port.name, "good-name.7_");
	port.number = 0;
	assert_int_equal(hy_vswitch_port_add(vswitch, &port), -EINVAL);
	port.number = HY_VSWITCH_PORTS_END;
	assert_int_equal(hy_vswitch_port_add(vswitch, &port), -EINVAL);
	assert_true(unit_log_lines() >= 12);
	port.number = HY_VSWITCH_LOCAL;
	assert_int_equal(hy_vswitch_port_add(vswitch, &port), 0);
	assert_int_equal(hy_vswitch_port_delete(vswitch, 8), -ENOENT);
	assert_int_equal(hy_vswitch_port_delete(vswitch, 5), 0);
	assert_int_equal(hy_vswitch_port_delete(vswitch, 4), 0);
}

static void *
print_slowly(void *arg)
{
	FILE *out = fdopen(*(int *)arg, "w");

	assert_non_null(out);
	assert_int_equal(hy_vswitch_print(vswitch, NULL, 0, out), 0);
	fclose(out);
	return NULL;
}

/* A pipe holds less than the dump. With the lock held, the translation would wait for its reader. */
static void
a_dump_to_a_slow_reader_held_back_translations(void **state)
{
	const struct hy_flows_key key = tcp_key();
	struct pollfd there = { .events = POLLIN };
	char bytes[4096], text[64];
	pthread_t thread;
	size_t dump = 0;
	ssize_t n;
	int ends[2];

	RTE_SET_USED(state);
	for (uint32_t i = 0; i < MANY; i++) {
		snprintf(text, sizeof(text), "priority=%u actions=2", i);
		add_rule(text);
	}
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(pthread_create(&thread, NULL, print_slowly, &ends[1]), 0);
	there.fd = ends[0];
	assert_int_equal(poll(&there, 1, -1), 1);
	alarm(20);
	hy_vswitch_translate(vswitch, &key, &answer);
	alarm(0);
	assert_int_equal(answer.nb_ops, 1);
	while ((n = read(ends[0], bytes, sizeof(bytes))) > 0)
		dump += (size_t)n;
	pthread_join(thread, NULL);
	close(ends[0]);
	assert_true(dump > 1 << 17);
}

/* Its table is none, behind the last one. */
static void
a_rule_that_selects_was_added(void **state)
{
	RTE_SET_USED(state);
	assert_int_equal(hy_vswitch_add(vswitch, selected("tcp"), 0), -EINVAL);
	assert_int_equal(hy_vswitch_modify(vswitch, selected("tcp"), false, 0, NULL), -EINVAL);
	assert_int_equal(hy_vswitch_rules(vswitch), 0);
}

/* One thread reads the clock, another one a later time, and adds a rule or counts its packets first. */
static void
a_late_thread_let_rules_expire_that_are_in_use(void **state)
{
	const struct hy_flows_key key = tcp_key();

	RTE_SET_USED(state);
	add_rules("tcp,idle_timeout=2 actions=2");
	read_rule("priority=1,hard_timeout=5 actions=3");
	assert_int_equal(hy_vswitch_add(vswitch, &rule, 1001), 0);
	hy_vswitch_translate(vswitch, &key, &answer);
	hy_vswitch_count(vswitch, answer.rules, answer.nb_rules, 1, 60, 1001);
	hy_vswitch_count(vswitch, answer.rules, answer.nb_rules, 1, 60, 999);
	assert_int_equal(hy_vswitch_expire(vswitch, 1000), 0);
	assert_int_equal(hy_vswitch_expire(vswitch, 3000), 0);
	assert_int_equal(hy_vswitch_expire(vswitch, 3001), 1);
	assert_int_equal(hy_vswitch_expire(vswitch, 6001), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, vswitch_setup, vswitch_teardown)

static const struct CMUnitTest tests[] = {
	TEST(rules_are_printed_by_table_and_priority),
	TEST(the_same_rule_is_replaced),
	TEST(modified_rules_keep_their_counts),
	TEST(deleting_selects_narrower_rules_or_one),
	TEST(rules_end_when_their_time_is_over),
	TEST(a_number_of_a_deleted_rule_is_of_none),
	TEST(a_file_replaces_all_rules_and_keeps_counts),
	TEST(rules_of_a_file_that_stay_keep_their_numbers),
	TEST(a_file_with_a_fault_changes_nothing),
	TEST(without_memory_nothing_changes),
	TEST(without_memory_a_file_changes_nothing),
	TEST(many_rules_of_many_masks_come_and_go),
	TEST(ports_are_checked),
	TEST(a_dump_to_a_slow_reader_held_back_translations),
	TEST(a_rule_that_selects_was_added),
	TEST(a_late_thread_let_rules_expire_that_are_in_use),
};
UNIT_SUITE(tests)
