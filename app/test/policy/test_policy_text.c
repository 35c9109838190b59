/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules in words, and files of them. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include "policy_fixture.h"

static void
every_rule_survives_being_written_and_read(void **state)
{
	uint64_t seed = 3;

	RTE_SET_USED(state);
	for (uint32_t id = 0; id < 20000; id++) {
		const struct hy_flow_rule rule = rule_random(rnd(&seed), &seed);
		char text[HY_FLOW_TEXT_SIZE], error[HY_POLICY_ERROR_SIZE] = "";
		struct hy_flow_rule read;

		memset(&read, 0xa5, sizeof(read));
		assert_true((size_t)hy_flow_rule_format(&rule, text, sizeof(text)) < sizeof(text));
		if (hy_flow_rule_parse(text, &read, error) < 0)
			fail_msg("'%s': %s", text, error);
		assert_int_equal(read.id, rule.id);
		assert_int_equal(read.precedence, rule.precedence);
		assert_int_equal(read.class_id, rule.class_id);
		assert_memory_equal(&read.match, &rule.match, sizeof(rule.match));
	}
}

static void
all_fields_have_their_words(void **state)
{
	static const char words[] =
		"rule 4294967295 class 65535 precedence 7 type 0x0800 vlan 4094 "
		"src 255.255.255.254/31 dst 192.0.2.1/32 proto udp "
		"sport 1024-65535 dport 4789 dscp 63 tunnel 16777215";
	static const char other[] = "tunnel 0xffffff  proto 17 dst 192.0.2.1\tdport 4789-4789 "
				    "class 65535 rule 4294967295 src 255.255.255.254/31 dscp 63 "
				    "vlan 4094 sport 1024-65535 precedence 7 type 2048\r\n";
	char text[HY_FLOW_TEXT_SIZE];
	struct hy_flow_rule rule;

	RTE_SET_USED(state);
	assert_int_equal(hy_flow_rule_parse(words, &rule, NULL), 0);
	assert_int_equal(rule.match.fields, 0x1ff);
	assert_int_equal(hy_flow_rule_format(&rule, text, sizeof(text)), strlen(words));
	assert_string_equal(text, words);
	assert_int_equal(hy_flow_rule_parse(other, &rule, NULL), 0);
	hy_flow_rule_format(&rule, text, sizeof(text));
	assert_string_equal(text, words);
	assert_int_equal(hy_flow_rule_format(&rule, text, 10), strlen(words));
	assert_string_equal(text, "rule 4294");
}

static void
bad_words_are_refused_by_field_with_what_is_accepted(void **state)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{ "class 1", "rule: missing; a line is rule ID ACTION …" },
		{ "rule 1",
			"action: missing; a line is rule ID ACTION …, ACTION one of class CLASS, "
			"permit, deny, count and port PORT" },
		{ "rule -1 class 1", "rule: '-1' is not a number from 0 to 4294967295" },
		{ "rule 4294967296 class 1",
			"rule: '4294967296' is not a number from 0 to 4294967295" },
		{ "rule 1x class 1", "rule: '1x' is not a number from 0 to 4294967295" },
		{ "rule 1 class 0", "class: '0' is not a class from 1 to 65535" },
		{ "rule 1 class 65536", "class: '65536' is not a class from 1 to 65535" },
		{ "rule 1 class 1 precedence x",
			"precedence: 'x' is not a number from 0 to 4294967295" },
		{ "rule 1 class 1 type 0x5ff",
			"type: '0x5ff' is not an ether type from 0x0600 to 0xffff" },
		{ "rule 1 class 1 vlan 4095", "vlan: '4095' is not a VLAN id from 1 to 4094" },
		{ "rule 1 class 1 vlan 0", "vlan: '0' is not a VLAN id from 1 to 4094" },
		{ "rule 1 class 1 src 10.0.0.256",
			"src: '10.0.0.256' is not an IPv4 or IPv6 prefix: ADDRESS/N, N from 1 to 32 "
			"or 128, no bits beyond" },
		{ "rule 1 class 1 src 0.0.0.0/0",
			"src: '0.0.0.0/0' is not an IPv4 or IPv6 prefix: ADDRESS/N, N from 1 to 32 "
			"or 128, no bits beyond" },
		{ "rule 1 class 1 dst 10.0.0.1/31",
			"dst: '10.0.0.1/31' is not an IPv4 or IPv6 prefix: ADDRESS/N, N from 1 to 32 "
			"or 128, no bits beyond" },
		{ "rule 1 class 1 dst 10.0.0.0/33",
			"dst: '10.0.0.0/33' is not an IPv4 or IPv6 prefix: ADDRESS/N, N from 1 to 32 "
			"or 128, no bits beyond" },
		{ "rule 1 class 1 proto ip",
			"proto: 'ip' is not icmp, tcp, udp, sctp, icmp6 or a number from 0 to 255" },
		{ "rule 1 class 1 sport 2-1",
			"sport: '2-1' is not a port from 0 to 65535, or a range FIRST-LAST" },
		{ "rule 1 class 1 dport 65536",
			"dport: '65536' is not a port from 0 to 65535, or a range FIRST-LAST" },
		{ "rule 1 class 1 dport 1-2-3",
			"dport: '1-2-3' is not a port from 0 to 65535, or a range FIRST-LAST" },
		{ "rule 1 class 1 dport -",
			"dport: '-' is not a port from 0 to 65535, or a range "
			"FIRST-LAST" },
		{ "rule 1 class 1 dscp 64", "dscp: '64' is not a code point from 0 to 63" },
		{ "rule 1 class 1 tunnel 16777216",
			"tunnel: '16777216' is not a VXLAN network identifier from 0 to 16777215" },
		{ "rule 1 class 1 dscp", "dscp: the line ends before its value" },
		{ "rule 1 class 1 class 1", "class: given twice" },
		{ "rule 1 class 1 mpls 1",
			"mpls: unknown; accepted are rule, class, permit, deny, count, port, log, "
			"precedence, type, vlan, smac, dmac, ip6, src, dst, proto, sport, dport, "
			"dscp, tunnel, flags, established, icmp, code and fragment" },
		{ "rule 1 class 1 proto icmp dport 1",
			"proto: 1 has no ports; tcp, udp and sctp have" },
	};
	char error[HY_POLICY_ERROR_SIZE];
	struct hy_flow_rule rule;

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < RTE_DIM(bad); i++) {
		error[0] = '\0';
		assert_int_equal(hy_flow_rule_parse(bad[i].text, &rule, error), -EINVAL);
		assert_string_equal(error, bad[i].why);
		assert_int_equal(hy_flow_rule_parse(bad[i].text, &rule, NULL), -EINVAL);
	}
}

static char path[] = "/tmp/hy-policy-XXXXXX";

/* Loads a file with these bytes; error gets what is said behind the file's name. */
static int
load_bytes(const char *bytes, size_t n, char *error)
{
	char whole[HY_POLICY_ERROR_SIZE] = "";
	FILE *out;
	int rc, fd;

	strcpy(path, "/tmp/hy-policy-XXXXXX");
	fd = mkstemp(path);
	out = fdopen(fd, "w");
	assert_non_null(out);
	assert_int_equal(fwrite(bytes, 1, n, out), n);
	fclose(out);
	rc = hy_policy_load(policy, path, whole);
	unlink(path);
	error[0] = '\0';
	if (rc < 0) {
		assert_int_equal(strncmp(whole, path, strlen(path)), 0);
		strcpy(error, whole + strlen(path));
	}
	return rc;
}

static int
load(const char *text, char *error)
{
	return load_bytes(text, strlen(text), error);
}

static void
file_replaces_all_rules_and_keeps_hits(void **state)
{
	char error[HY_POLICY_ERROR_SIZE], *text;
	FILE *out;
	size_t size;

	RTE_SET_USED(state);
	policy_new(4, 1, NULL);
	add_dport(1, 0, 10, 80);
	add_dport(2, 0, 20, 81);
	commit();
	hy_policy_hit(hy_policy_counters(policy, 0), hy_policy_view(policy)->rules[0].index);
	add_dport(99, 0, 20, 99); /* staged, and forgotten */
	assert_int_equal(load("# services\n\n"
			      "rule 3 class 30 dport 82 # the new one\n"
			      " \t\n"
			      "rule 1 class 10 precedence 5 dport 80-81",
				 error),
		0);
	assert_int_equal(class_of(81), 20);
	commit();
	assert_int_equal(class_of(80), 10);
	assert_int_equal(class_of(81), 10);
	assert_int_equal(class_of(82), 30);
	assert_int_equal(class_of(99), HY_FLOW_NO_CLASS);
	assert_int_equal(hy_policy_hits(policy, 1), 1);
	out = open_memstream(&text, &size);
	assert_int_equal(hy_policy_print(policy, out), 0);
	fclose(out);
	assert_string_equal(text,
		"rule 3 class 30 precedence 0 dport 82 # hits 0\n"
		"rule 1 class 10 precedence 5 dport 80-81 # hits 1\n");
	free(text);
	assert_int_equal(load("", error), 0);
	commit();
	assert_int_equal(hy_policy_rules_get(policy, NULL, 0), 0);
}

static void
bad_file_stages_nothing_and_names_the_line(void **state)
{
	char error[HY_POLICY_ERROR_SIZE], text[6000];

	RTE_SET_USED(state);
	policy_new(2, 1, NULL);
	add_dport(1, 0, 10, 80);
	commit();
	add_dport(2, 0, 20, 81);
	assert_int_equal(load("rule 5 class 1\n\nrule 6 class x\n", error), -EINVAL);
	assert_string_equal(error, ":3: class: 'x' is not a class from 1 to 65535");
	assert_int_equal(load("rule 5 class 1\nrule 6 class 1\nrule 7 class 1\n", error), -ENOSPC);
	assert_string_equal(error, ":3: more than 2 rules, the policy's limit");
	assert_int_equal(load("rule 6 class 1\nrule 6 class 2\n", error), -EEXIST);
	assert_string_equal(error, ":2: rule: 6 is on line 1 already");
	memset(text, ' ', sizeof(text));
	memcpy(text, "rule 6 class 2 ", 15);
	strcpy(text + sizeof(text) - 4, "x 1");
	assert_int_equal(load(text, error), -EINVAL);
	assert_string_equal(error, ":1: line: longer than 4094 bytes");
	text[0] = '#';
	assert_int_equal(load(text, error), -EINVAL);
	assert_string_equal(error, ":1: line: longer than 4094 bytes");
	assert_int_equal(hy_policy_load(policy, "/nowhere/policy", error), -ENOENT);
	assert_string_equal(error, "/nowhere/policy: No such file or directory");
	assert_int_equal(hy_policy_load(policy, "/dev/zero", error), -EINVAL);
	assert_string_equal(error, "/dev/zero: is not a regular file");
	assert_int_equal(hy_policy_load(policy, "/", error), -EISDIR);
	assert_string_equal(error, "/: Is a directory");
	assert_int_equal(hy_policy_load(policy, "/", NULL), -EISDIR);
	commit();
	assert_int_equal(class_of(80), 10);
	assert_int_equal(class_of(81), 20); /* staged before, and still */
}

static void
nul_byte_in_a_file_is_refused_on_any_line(void **state)
{
	static const char first[] = "rule 1 class 1\0 dport 80\nrule 2 class 2\n";
	static const char last[] = "rule 1 class 1\nrule 2 class 2\0 dport 80";
	static const char comment[] = "rule 1 class 1 # \0";
	char error[HY_POLICY_ERROR_SIZE];

	RTE_SET_USED(state);
	policy_new(2, 1, NULL);
	assert_int_equal(load_bytes(first, sizeof(first) - 1, error), -EINVAL);
	assert_string_equal(error, ":1: line: has a NUL byte");
	assert_int_equal(load_bytes(last, sizeof(last) - 1, error), -EINVAL);
	assert_string_equal(error, ":2: line: has a NUL byte");
	assert_int_equal(load_bytes(comment, sizeof(comment) - 1, error), -EINVAL);
	assert_string_equal(error, ":1: line: has a NUL byte");
	commit();
	assert_int_equal(hy_policy_rules_get(policy, NULL, 0), 0);
}

static void
failed_allocations_of_a_load_stage_nothing(void **state)
{
	char error[HY_POLICY_ERROR_SIZE], text[100 * 32] = "";
	unsigned int loads = 0;
	int rc;

	RTE_SET_USED(state);
	policy_new(100, 1, NULL);
	add_dport(1, 0, 10, 80);
	for (unsigned int id = 0; id < 100; id++)
		sprintf(text + strlen(text), "rule %u class 1\n", id);
	do {
		unit_alloc_fail(++loads);
		rc = load(text, error);
		unit_alloc_fail(0);
		if (rc < 0) {
			assert_int_equal(rc, -ENOMEM);
			assert_string_equal(error, ": Cannot allocate memory");
			commit();
			assert_int_equal(hy_policy_rules_get(policy, NULL, 0), 1);
		}
	} while (rc < 0);
	assert_true(loads > 3);
	commit();
	assert_int_equal(hy_policy_rules_get(policy, NULL, 0), 100);
}

static const struct CMUnitTest tests[] = {
	POLICY_TEST(every_rule_survives_being_written_and_read),
	POLICY_TEST(all_fields_have_their_words),
	POLICY_TEST(bad_words_are_refused_by_field_with_what_is_accepted),
	POLICY_TEST(file_replaces_all_rules_and_keeps_hits),
	POLICY_TEST(bad_file_stages_nothing_and_names_the_line),
	POLICY_TEST(nul_byte_in_a_file_is_refused_on_any_line),
	POLICY_TEST(failed_allocations_of_a_load_stage_nothing),
};
UNIT_SUITE(tests)
