/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules in words, and files of them. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include "any_fixture.h"

static void
every_rule_survives_being_written_and_read(void **state)
{
	unsigned int fields[32] = { 0 }, actions[5] = { 0 }, logs = 0;
	uint64_t seed = 3;

	RTE_SET_USED(state);
	for (uint32_t i = 0; i < 200000; i++) {
		const struct hy_flow_rule rule = any_rule(i % 4 == 0, &seed);
		char text[HY_FLOW_TEXT_SIZE], error[HY_POLICY_ERROR_SIZE] = "";
		struct hy_flow_rule read;

		memset(&read, 0xa5, sizeof(read));
		assert_true((size_t)hy_flow_rule_format(&rule, text, sizeof(text)) < sizeof(text));
		if (hy_flow_rule_parse(text, &read, error) < 0)
			fail_msg("'%s': %s", text, error);
		assert_int_equal(read.id, rule.id);
		assert_int_equal(read.precedence, rule.precedence);
		assert_int_equal(read.class_id, rule.class_id);
		assert_int_equal(read.port, rule.port);
		assert_int_equal(read.action, rule.action);
		assert_int_equal(read.log, rule.log);
		if (memcmp(&read.match, &rule.match, sizeof(rule.match)) != 0)
			fail_msg("'%s' is another match", text);
		for (unsigned int bit = 0; bit < 32; bit++)
			fields[bit] += rule.match.fields >> bit & 1;
		actions[rule.action]++;
		logs += rule.log;
	}
	for (unsigned int bit = 0; bit < 17; bit++)
		assert_true(fields[bit] > 1000);
	for (unsigned int a = 0; a < 5; a++)
		assert_true(actions[a] > 1000);
	assert_true(logs > 1000);
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
words_of_access_lists_and_ip6_are_read_and_written(void **state)
{
	static const struct {
		const char *words, *written; /* NULL: the same */
	} lines[] = {
		{ "rule 1 permit precedence 0", NULL },
		{ "deny rule 2", "rule 2 deny precedence 0" },
		{ "rule 3 count log precedence 0 vlan 7", NULL },
		{ "rule 4 port 0 precedence 0", NULL },
		{ "log rule 5 class 1", "rule 5 class 1 log precedence 0" },
		{ "rule 6 deny precedence 0 smac 02:00:00:00:00:01 "
		  "dmac 01:00:5e:00:00:00/ff:ff:ff:80:00:00",
			NULL },
		{ "rule 6 deny smac 2:0:A:0:0:1/ff:ff:ff:FF:ff:ff",
			"rule 6 deny precedence 0 smac 02:00:0a:00:00:01" },
		{ "rule 7 permit precedence 0 src 2001:db8::/32 dst ::1/128 proto tcp", NULL },
		{ "rule 7 permit ip6 dst 2001:DB8:0:0::1",
			"rule 7 permit precedence 0 dst 2001:db8::1/128" },
		{ "rule 8 permit precedence 0 ip6", NULL },
		{ "rule 8 permit precedence 0 type 0x86dd", NULL },
		{ "rule 8 permit proto tcp type 0x86dd",
			"rule 8 permit precedence 0 type 0x86dd ip6 proto tcp" },
		{ "rule 9 permit proto icmp6 icmp 128-129",
			"rule 9 permit precedence 0 ip6 proto icmp6 icmp 128-129" },
		{ "rule 9 permit precedence 0 proto 58", NULL },
		{ "rule 9 permit precedence 0 ip6 proto 1", NULL },
		{ "rule 9 permit precedence 0 proto icmp icmp 3 code 0-5", NULL },
		{ "rule 10 deny precedence 0 flags S/SA", NULL },
		{ "rule 10 deny flags /CEUAPRSF", "rule 10 deny precedence 0 flags /FSRPAUEC" },
		{ "rule 10 deny precedence 0 proto tcp established", NULL },
		{ "rule 11 deny precedence 0 fragment later", NULL },
		{ "rule 11 deny ip6 fragment unknown,none,later,first",
			"rule 11 deny precedence 0 ip6 fragment none,first,later,unknown" },
	};

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < RTE_DIM(lines); i++) {
		char text[HY_FLOW_TEXT_SIZE], error[HY_POLICY_ERROR_SIZE] = "";
		struct hy_flow_rule rule;

		if (hy_flow_rule_parse(lines[i].words, &rule, error) < 0)
			fail_msg("%s: %s", lines[i].words, error);
		hy_flow_rule_format(&rule, text, sizeof(text));
		assert_string_equal(text,
			lines[i].written == NULL ? lines[i].words : lines[i].written);
	}
}

static void
longest_rules_have_room(void **state)
{
	static const char *const longest[] = {
		"rule 4294967295 class 65535 log precedence 4294967295 type 0x86dd vlan 4094 "
		"smac f2:f2:f2:f2:f2:f2/ff:ff:ff:ff:ff:fe dmac f2:f2:f2:f2:f2:f2/ff:ff:ff:ff:ff:fe "
		"src ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.254/127 "
		"dst 1111:2222:3333:4444:5555:6666:7777:8888/128 proto tcp sport 10000-65535 "
		"dport 10000-65535 dscp 63 flags FSRPAUEC/FSRPAUEC established fragment none",
		"rule 4294967295 class 65535 log precedence 4294967295 type 0x86dd vlan 4094 "
		"smac f2:f2:f2:f2:f2:f2/ff:ff:ff:ff:ff:fe dmac f2:f2:f2:f2:f2:f2/ff:ff:ff:ff:ff:fe "
		"src 1111:2222:3333:4444:5555:6666:7777:8888/128 "
		"dst 1111:2222:3333:4444:5555:6666:7777:8888/128 proto icmp6 dscp 63 "
		"icmp 100-255 code 100-255 fragment none,first,later,unknown",
	};
	unsigned int most = 0;

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < RTE_DIM(longest); i++) {
		char text[HY_FLOW_TEXT_SIZE], error[HY_POLICY_ERROR_SIZE] = "";
		struct hy_flow_rule rule;
		int size;

		if (hy_flow_rule_parse(longest[i], &rule, error) < 0)
			fail_msg("%s: %s", longest[i], error);
		size = hy_flow_rule_format(&rule, text, sizeof(text));
		assert_int_equal(size, strlen(text));
		most = RTE_MAX(most, (unsigned int)size);
	}
	print_message("%u bytes\n", most);
	assert_in_range(most, HY_FLOW_TEXT_SIZE / 2, HY_FLOW_TEXT_SIZE - 1);
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
		{ "rule 1 permit deny", "deny: the rule already has an action" },
		{ "rule 1 class 1 permit", "permit: the rule already has an action" },
		{ "rule 1 permit permit", "permit: given twice" },
		{ "rule 1 deny log log", "log: given twice" },
		{ "rule 1 port 65536", "port: '65536' is not a port from 0 to 65535" },
		{ "rule 1 port", "port: the line ends before its value" },
		{ "rule 1 permit smac 02:00:00:00:00",
			"smac: '02:00:00:00:00' is not a MAC address like 02:00:00:00:00:01, or "
			"ADDRESS/MASK, no bits beside" },
		{ "rule 1 permit dmac 02:00:00:00:00:01/ff:ff:ff:00:00:00",
			"dmac: '02:00:00:00:00:01/ff:ff:ff:00:00:00' is not a MAC address like "
			"02:00:00:00:00:01, or ADDRESS/MASK, no bits beside" },
		{ "rule 1 permit dmac 0:0:0:0:0:0/0:0:0:0:0:0",
			"dmac: '0:0:0:0:0:0/0:0:0:0:0:0' is not a MAC address like "
			"02:00:00:00:00:01, or ADDRESS/MASK, no bits beside" },
		{ "rule 1 permit smac 002:0:0:0:0:1",
			"smac: '002:0:0:0:0:1' is not a MAC address like 02:00:00:00:00:01, or "
			"ADDRESS/MASK, no bits beside" },
		{ "rule 1 permit src 2001:db8::1/127",
			"src: '2001:db8::1/127' is not an IPv4 or IPv6 prefix: ADDRESS/N, N from 1 to "
			"32 or 128, no bits beyond" },
		{ "rule 1 permit src ::/0",
			"src: '::/0' is not an IPv4 or IPv6 prefix: ADDRESS/N, N from 1 to 32 or 128, "
			"no bits beyond" },
		{ "rule 1 permit dst 1::1/129",
			"dst: '1::1/129' is not an IPv4 or IPv6 prefix: ADDRESS/N, N from 1 to 32 or "
			"128, no bits beyond" },
		{ "rule 1 permit src 10.0.0.1 dst ::1",
			"src, dst: an IPv4 address in a rule for IPv6" },
		{ "rule 1 permit ip6 src 10.0.0.1",
			"src, dst: an IPv4 address in a rule for IPv6" },
		{ "rule 1 permit proto icmp src ::1",
			"proto: icmp is IPv4's; in a rule for IPv6 it is icmp6" },
		{ "rule 1 permit type 0x86dd proto icmp",
			"proto: icmp is IPv4's; in a rule for IPv6 it is icmp6" },
		{ "rule 1 permit type 0x86dd src 10.0.0.1",
			"type: 0x86dd has no IPv4 fields; those go with 0x0800, or no type at all" },
		{ "rule 1 permit type 0x0800 src ::1",
			"type: 0x0800 has no IPv6 fields; those go with 0x86dd, or no type at all" },
		{ "rule 1 permit type 0x0806 proto tcp",
			"type: 0x0806 has no IPv4 fields; those go with 0x0800, or no type at all" },
		{ "rule 1 permit flags S",
			"flags: 'S' is not SET/CHECKED in letters of FSRPAUEC, such as S/SA, all of "
			"SET in CHECKED" },
		{ "rule 1 permit flags S/",
			"flags: 'S/' is not SET/CHECKED in letters of FSRPAUEC, such as S/SA, all of "
			"SET in CHECKED" },
		{ "rule 1 permit flags F/S",
			"flags: 'F/S' is not SET/CHECKED in letters of FSRPAUEC, such as S/SA, all of "
			"SET in CHECKED" },
		{ "rule 1 permit flags s/sa",
			"flags: 's/sa' is not SET/CHECKED in letters of FSRPAUEC, such as S/SA, all "
			"of SET in CHECKED" },
		{ "rule 1 permit icmp 256",
			"icmp: '256' is not a number from 0 to 255, or a range FIRST-LAST" },
		{ "rule 1 permit code 2-1",
			"code: '2-1' is not a number from 0 to 255, or a range FIRST-LAST" },
		{ "rule 1 permit fragment none,",
			"fragment: 'none,' is not one or more of none, first, later and unknown, with "
			"commas" },
		{ "rule 1 permit fragment some",
			"fragment: 'some' is not one or more of none, first, later and unknown, with "
			"commas" },
		{ "rule 1 permit fragment unknown",
			"fragment: no such packet has the rule's other fields; fragments have no "
			"ports, TCP flags or ICMP types, and unknown is IPv6 without a protocol" },
		{ "rule 1 permit proto udp established",
			"proto: 17 has no TCP flags; only tcp has" },
		{ "rule 1 permit established 1",
			"1: unknown; accepted are rule, class, permit, deny, count, port, log, "
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

static char *
printed(void)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(hy_policy_print(policy, out), 0);
	fclose(out);
	return text;
}

static void
assert_settings(uint8_t action, bool deny_truncated)
{
	const struct hy_policy_view *view = hy_policy_view(policy);

	assert_int_equal(view->default_action, action);
	assert_int_equal(view->deny_truncated, deny_truncated);
}

static void
access_lists_have_settings_that_are_staged_with_their_rules(void **state)
{
	char error[HY_POLICY_ERROR_SIZE], *text;

	RTE_SET_USED(state);
	policy_new_access(4, 1);
	assert_settings(HY_RULE_PERMIT, false);
	assert_int_equal(
		load(" default deny # no more\nrule 1 permit log dst ::1\n\ttruncated\tdeny",
			error),
		0);
	assert_settings(HY_RULE_PERMIT, false);
	commit();
	assert_settings(HY_RULE_DENY, true);
	text = printed();
	assert_string_equal(text,
		"default deny\ntruncated deny\n"
		"rule 1 permit log precedence 0 dst ::1/128 # hits 0\n");
	assert_int_equal(load(text, error), 0);
	free(text);
	commit();
	assert_settings(HY_RULE_DENY, true);
	assert_int_equal(hy_policy_default_set(policy, HY_RULE_PERMIT), 0);
	assert_int_equal(hy_policy_truncated_set(policy, HY_RULE_PERMIT), 0);
	hy_policy_abort(policy);
	commit();
	assert_settings(HY_RULE_DENY, true);
	assert_int_equal(hy_policy_default_set(policy, HY_RULE_PERMIT), 0);
	commit();
	assert_settings(HY_RULE_PERMIT, true);
	assert_int_equal(hy_policy_truncated_set(policy, HY_RULE_PERMIT), 0);
	commit();
	assert_settings(HY_RULE_PERMIT, false);
	assert_int_equal(hy_policy_default_set(policy, HY_RULE_COUNT), -EINVAL);
	assert_int_equal(hy_policy_truncated_set(policy, HY_RULE_CLASSIFY), -EINVAL);
	/* A file without settings has the usual ones. */
	assert_int_equal(hy_policy_default_set(policy, HY_RULE_DENY), 0);
	commit();
	assert_int_equal(load("rule 2 deny", error), 0);
	commit();
	assert_settings(HY_RULE_PERMIT, false);
	text = printed();
	assert_string_equal(text,
		"default permit\ntruncated permit\nrule 2 deny precedence 0 # hits 0\n");
	free(text);
}

static void
bad_settings_are_refused_with_their_line(void **state)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{ "default", ":1: default: takes permit or deny, and nothing else" },
		{ "default count", ":1: default: takes permit or deny, and nothing else" },
		{ "truncated deny deny", ":1: truncated: takes permit or deny, and nothing else" },
		{ "default deny\n\ndefault deny", ":3: default: is on line 1 already" },
		{ "rule 1 deny\ndefault deny\nrule 2",
			":3: action: missing; a line is rule ID ACTION …, ACTION one of class CLASS, "
			"permit, deny, count and port PORT" },
	};
	char error[HY_POLICY_ERROR_SIZE];

	RTE_SET_USED(state);
	policy_new_access(4, 1);
	for (unsigned int i = 0; i < RTE_DIM(bad); i++) {
		assert_int_equal(load(bad[i].text, error), -EINVAL);
		assert_string_equal(error, bad[i].why);
	}
	commit();
	assert_int_equal(hy_policy_rules_get(policy, NULL, 0), 0);
	assert_settings(HY_RULE_PERMIT, false);
}

static void
other_policies_refuse_what_only_access_lists_have(void **state)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{ "rule 1 permit",
			":1: action: only rules of access lists have it; others have class CLASS" },
		{ "rule 1 port 2",
			":1: action: only rules of access lists have it; others have class CLASS" },
		{ "rule 1 class 1 log", ":1: log: only rules of access lists have it" },
		{ "default permit", ":1: default: only access lists have it" },
		{ "rule 1 class 1\ntruncated deny", ":2: truncated: only access lists have it" },
	};
	struct hy_flow_rule rule = { .id = 1, .action = HY_RULE_DENY };
	char error[HY_POLICY_ERROR_SIZE], *text;

	RTE_SET_USED(state);
	policy_new(4, 1, NULL);
	for (unsigned int i = 0; i < RTE_DIM(bad); i++) {
		assert_int_equal(load(bad[i].text, error), -EINVAL);
		assert_string_equal(error, bad[i].why);
	}
	assert_int_equal(hy_flow_rule_check(&rule, error), 0);
	assert_int_equal(hy_policy_add(policy, &rule), -EINVAL);
	assert_int_equal(hy_policy_default_set(policy, HY_RULE_DENY), -EINVAL);
	assert_int_equal(hy_policy_truncated_set(policy, HY_RULE_DENY), -EINVAL);
	assert_int_equal(load("rule 1 class 1 dst ::1", error), 0);
	assert_int_equal(hy_policy_replace(policy, &rule), -EINVAL);
	rule = (struct hy_flow_rule){ .id = 1, .class_id = 1, .log = true };
	assert_int_equal(hy_policy_replace(policy, &rule), -EINVAL);
	commit();
	text = printed();
	assert_string_equal(text, "rule 1 class 1 precedence 0 dst ::1/128 # hits 0\n");
	free(text);
}

static const struct CMUnitTest tests[] = {
	POLICY_TEST(every_rule_survives_being_written_and_read),
	POLICY_TEST(words_of_access_lists_and_ip6_are_read_and_written),
	POLICY_TEST(longest_rules_have_room),
	POLICY_TEST(access_lists_have_settings_that_are_staged_with_their_rules),
	POLICY_TEST(bad_settings_are_refused_with_their_line),
	POLICY_TEST(other_policies_refuse_what_only_access_lists_have),
	POLICY_TEST(all_fields_have_their_words),
	POLICY_TEST(bad_words_are_refused_by_field_with_what_is_accepted),
	POLICY_TEST(file_replaces_all_rules_and_keeps_hits),
	POLICY_TEST(bad_file_stages_nothing_and_names_the_line),
	POLICY_TEST(nul_byte_in_a_file_is_refused_on_any_line),
	POLICY_TEST(failed_allocations_of_a_load_stage_nothing),
};
UNIT_SUITE(tests)
