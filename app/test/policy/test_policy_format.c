/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of rules in l3fwd-acl's and ClassBench's formats. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/stat.h>
#include <unistd.h>

#include <hy_policy_format.h>

#include "policy_fixture.h"

static char path[] = "/tmp/hy-test-format-XXXXXX";
static struct hy_policy_file file;
static char error[HY_POLICY_ERROR_SIZE];

static int
format_setup(void **state)
{
	const int fd = mkstemp(strcpy(path, "/tmp/hy-test-format-XXXXXX"));

	RTE_SET_USED(state);
	return fd < 0 ? -1 : close(fd);
}

static int
format_teardown(void **state)
{
	RTE_SET_USED(state);
	hy_policy_file_free(&file);
	return unlink(path);
}

static int
read_bytes(const char *bytes, size_t size, enum hy_policy_format format, uint32_t max)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	assert_int_equal(fwrite(bytes, 1, size, out), size);
	assert_int_equal(fclose(out), 0);
	hy_policy_file_free(&file);
	error[0] = '\0';
	return hy_policy_read(path, format, max, &file, error);
}

/* Reads a text without an error. */
static void
read_good(const char *text, enum hy_policy_format expected)
{
	if (read_bytes(text, strlen(text), HY_POLICY_ANY, 1000) < 0)
		fail_msg("'%s': %s", text, error);
	assert_int_equal(file.format, expected);
}

static void
assert_rule(uint32_t i, unsigned int line, const char *expected)
{
	char text[HY_FLOW_TEXT_SIZE];

	assert_true(i < file.nb_rules);
	assert_int_equal(hy_flow_rule_check(&file.rules[i], error), 0);
	hy_flow_rule_format(&file.rules[i], text, sizeof(text));
	assert_string_equal(text, expected);
	assert_int_equal(file.lines[i], line);
}

static void
l3fwd_acl_denies_by_at_and_permits_by_routes(void **state)
{
	RTE_SET_USED(state);
	/* As in DPDK's own file: the mask leaves a bit of the protocol open. */
	read_good("# comment\n\n@1.2.3.0/24 192.168.0.36/32 0 : 65535 0 : 65535 6/0xfe 0\n"
		  "R0.0.0.0/0  192.168.0.36/32 20:20 1024  :   65535 0x06/0xff 1\r\n"
		  "R0.0.0.0/0 0.0.0.0/0 0 : 65535 0 : 65535 0x00/0x00 0",
		HY_POLICY_L3FWD_ACL);
	assert_int_equal(file.nb_rules, 4);
	assert_int_equal(file.nb_routes, 2);
	assert_rule(0, 3, "rule 1 deny precedence 0 src 1.2.3.0/24 dst 192.168.0.36/32 proto tcp");
	assert_rule(1, 3, "rule 2 deny precedence 0 src 1.2.3.0/24 dst 192.168.0.36/32 proto 7");
	assert_rule(2, 4,
		"rule 3 permit precedence 0 dst 192.168.0.36/32 proto tcp sport 20 "
		"dport 1024-65535");
	assert_rule(3, 5, "rule 4 permit precedence 0 type 0x0800");
	assert_int_equal(file.default_action.action, HY_RULE_PERMIT);
}

static void
addresses_of_ipv6_make_rules_of_ipv6(void **state)
{
	RTE_SET_USED(state);
	read_good("@2001:db8:0:0:0:0:0:0/32 ::/0 0 : 65535 53 : 53 17/0xff\n"
		  "R::/0 ::/0 0 : 65535 0 : 65535 0/0 3\n",
		HY_POLICY_L3FWD_ACL);
	assert_int_equal(file.nb_rules, 2);
	assert_rule(0, 1, "rule 1 deny precedence 0 src 2001:db8::/32 proto udp dport 53");
	assert_rule(1, 2, "rule 2 permit precedence 0 ip6");
	read_good("@2001:db8::1/128\t::/0\t0 : 65535\t0 : 65535\t0x3A/0xFF\t0x0000/0x0000\n",
		HY_POLICY_CLASSBENCH);
	assert_rule(0, 1, "rule 1 permit precedence 0 src 2001:db8::1/128 proto icmp6");
}

static void
classbench_permits_and_has_flags(void **state)
{
	RTE_SET_USED(state);
	read_good("@10.0.0.0/8\t0.0.0.0/0\t0 : 65535\t80 : 80\t0x06/0xFF\t0x0002/0x0012\t\n"
		  "@10.0.0.0/8\t0.0.0.0/0\t0 : 65535\t80 : 81\t0x06/0xFF\t0x1000/0x1000\t\n"
		  "@0.0.0.0/0\t0.0.0.0/0\t0 : 65535\t0 : 65535\t0x00/0x00\t0x0000/0x0000\t\n",
		HY_POLICY_CLASSBENCH);
	assert_int_equal(file.nb_rules, 3);
	assert_int_equal(file.nb_flags, 1);
	assert_rule(0, 1,
		"rule 1 permit precedence 0 src 10.0.0.0/8 proto tcp dport 80 flags S/SA");
	assert_rule(1, 2, "rule 2 permit precedence 0 src 10.0.0.0/8 proto tcp dport 80-81");
	assert_rule(2, 3, "rule 3 permit precedence 0 type 0x0800");
	/* Blanks between the columns, but flags: ClassBench's all the same. */
	read_good("@10.0.0.0/8 0.0.0.0/0 0 : 65535 80 : 80 0x06/0xFF 0x0002/0x0012\n",
		HY_POLICY_CLASSBENCH);
}

/* l3fwd-acl takes tabs as well, and denies what ClassBench's would permit. */
static void
a_line_of_two_formats_is_of_none(void **state)
{
	static const char at[] = "@10.0.0.0/8\t0.0.0.0/0\t0 : 65535\t80 : 80\t0x06/0xFF\n";

	RTE_SET_USED(state);
	assert_int_equal(read_bytes(at, strlen(at), HY_POLICY_ANY, 1), -EINVAL);
	assert_string_equal(error + strlen(path),
		":1: line: denies if the file is l3fwd-acl's, permits if it is classbench's; "
		"hy-policy convert --format FORMAT --to halyard writes one that says which");
	assert_null(file.rules);
	assert_int_equal(read_bytes(at, strlen(at), HY_POLICY_L3FWD_ACL, 1), 0);
	assert_int_equal(file.rules[0].action, HY_RULE_DENY);
	assert_int_equal(read_bytes(at, strlen(at), HY_POLICY_CLASSBENCH, 1), 0);
	assert_int_equal(file.rules[0].action, HY_RULE_PERMIT);
	/* Behind a line of one format only, it is of that. */
	read_good("R0.0.0.0/0\t0.0.0.0/0\t0 : 9\t0 : 9\t6/0xff\t1\n@0.0.0.0/0\t0.0.0.0/0\t0 : "
		  "9\t0 : 9\t6/0xff\n",
		HY_POLICY_L3FWD_ACL);
	assert_int_equal(file.rules[1].action, HY_RULE_DENY);
}

static void
a_format_that_is_named_is_not_guessed(void **state)
{
	static const char at[] = "@10.0.0.0/8 0.0.0.0/0 0 : 65535 80 : 80 0x06/0xFF\n";

	RTE_SET_USED(state);
	assert_int_equal(read_bytes(at, strlen(at), HY_POLICY_L3FWD_ACL, 1), 0);
	assert_int_equal(file.rules[0].action, HY_RULE_DENY);
	assert_int_equal(read_bytes(at, strlen(at), HY_POLICY_CLASSBENCH, 1), 0);
	assert_int_equal(file.rules[0].action, HY_RULE_PERMIT);
	assert_int_equal(read_bytes(at, strlen(at), HY_POLICY_HALYARD, 1), -EINVAL);
	assert_string_equal(error + strlen(path),
		":1: line: '@' starts lines of other formats; the file is read as halyard's");
	read_good("", HY_POLICY_HALYARD);
	read_good("# nothing\n", HY_POLICY_HALYARD);
	read_good("default deny\nrule 7 count\ntruncated permit\n", HY_POLICY_HALYARD);
	assert_int_equal(file.default_action.action, HY_RULE_DENY);
	assert_int_equal(file.default_action.line, 1);
	assert_int_equal(file.truncated.line, 3);
	assert_rule(0, 2, "rule 7 count precedence 0");
}

static void
ports_need_a_protocol_that_has_them(void **state)
{
	RTE_SET_USED(state);
	/* Of the protocols 6 and 7, only one has ports; without a protocol, all that have. */
	read_good("@1.2.3.4/32 0.0.0.0/0 0 : 65535 80 : 80 6/0xfe\n"
		  "@1.2.3.4/32 0.0.0.0/0 0 : 65535 80 : 80 0/0\n",
		HY_POLICY_L3FWD_ACL);
	assert_int_equal(file.nb_rules, 2);
	assert_rule(0, 1, "rule 1 deny precedence 0 src 1.2.3.4/32 proto tcp dport 80");
	assert_rule(1, 2, "rule 2 deny precedence 0 src 1.2.3.4/32 dport 80");
	/* All 128 odd protocols. */
	read_good("@1.2.3.4/32 0.0.0.0/0 0 : 65535 0 : 65535 1/1\n", HY_POLICY_L3FWD_ACL);
	assert_int_equal(file.nb_rules, 128);
	assert_rule(127, 1, "rule 128 deny precedence 0 src 1.2.3.4/32 proto 255");
}

#define GOOD "@1.2.3.4/32 5.6.7.8/32 0 : 65535 80 : 80 6/0xff\n"
#define PREFIX4 " is not an IPv4 prefix A.B.C.D/N, N from 0 to 32, no bits beyond"
#define PREFIX6 " is not an IPv6 prefix ADDRESS/N, N from 0 to 128, no bits beyond"
#define PORTS " is not LOW : HIGH, ports from 0 to 65535, the lower one first"
#define PROTOCOL " is not PROTOCOL/MASK, from 0 to 0xff, no bits beside the mask"

static void
bad_lines_name_line_field_and_what_is_accepted(void **state)
{
	static const struct {
		const char *text, *error;
		int rc;
	} bad[] = {
		{ GOOD "@1.2.3.4 5.6.7.8/32 0 : 1 0 : 1 6/0xff", ":2: source: '1.2.3.4'" PREFIX4,
			-EINVAL },
		{ GOOD "@1.2.3.4/33 5.6.7.8/32 0 : 1 0 : 1 6/0xff",
			":2: source: '1.2.3.4/33'" PREFIX4, -EINVAL },
		{ GOOD "@1.2.3.4/24 5.6.7.8/32 0 : 1 0 : 1 6/0xff",
			":2: source: '1.2.3.4/24'" PREFIX4, -EINVAL },
		{ GOOD "@1.2.3/24 5.6.7.8/32 0 : 1 0 : 1 6/0xff", ":2: source: '1.2.3/24'" PREFIX4,
			-EINVAL },
		{ GOOD "@1.2.3.4/32 ::/0 0 : 1 0 : 1 6/0xff", ":2: destination: '::/0'" PREFIX4,
			-EINVAL },
		{ GOOD "@::/0 1.2.3.4/32 0 : 1 0 : 1 6/0xff",
			":2: destination: '1.2.3.4/32'" PREFIX6, -EINVAL },
		{ GOOD "@1::1/127 ::/0 0 : 1 0 : 1 6/0xff", ":2: source: '1::1/127'" PREFIX6,
			-EINVAL },
		{ GOOD "@1.2.3.4/032 5.6.7.8/32 0 : 1 0 : 1 6/0xff",
			":2: source: '1.2.3.4/032'" PREFIX4, -EINVAL },
		{ GOOD "@1.2.3.4/32",
			":2: destination: missing; an IPv4 prefix A.B.C.D/N, N from 0 to 32, no "
			"bits beyond is accepted",
			-EINVAL },
		{ GOOD "@1.2.3.4/32 5.6.7.8/32 2 : 1 0 : 1 6/0xff",
			":2: source ports: '2 : 1 0 : 1 6/0xff'" PORTS, -EINVAL },
		{ GOOD "@1.2.3.4/32 5.6.7.8/32 0 : 1 0 1 6/0xff",
			":2: destination ports: '0 1 6/0xff'" PORTS, -EINVAL },
		{ GOOD "@1.2.3.4/32 5.6.7.8/32 0 : 1 0 : 65536 6/0xff",
			":2: destination ports: '0 : 65536 6/0xff'" PORTS, -EINVAL },
		{ GOOD "@1.2.3.4/32 5.6.7.8/32 0 : 1 0 : -1 6/0xff",
			":2: destination ports: '0 : -1 6/0xff'" PORTS, -EINVAL },
		{ GOOD "@1.2.3.4/32 5.6.7.8/32 0 : 1 0 : 1 6", ":2: protocol: '6'" PROTOCOL,
			-EINVAL },
		{ GOOD "@1.2.3.4/32 5.6.7.8/32 0 : 1 0 : 1 7/0xfe",
			":2: protocol: '7/0xfe'" PROTOCOL, -EINVAL },
		{ GOOD "@1.2.3.4/32 5.6.7.8/32 0 : 1 0 : 1 256/0xff",
			":2: protocol: '256/0xff'" PROTOCOL, -EINVAL },
		{ GOOD "@1.2.3.4/32 5.6.7.8/32 0 : 1 0 : 1 1/0xff",
			":2: proto: 1 has no ports; tcp, udp and sctp have", -EINVAL },
		{ GOOD "R1.2.3.4/32 5.6.7.8/32 0 : 1 0 : 1 6/0xff",
			":2: port: missing; the number of a route's port is accepted", -EINVAL },
		{ GOOD "@1.2.3.4/32 5.6.7.8/32 0 : 1 0 : 1 6/0xff 0/0",
			":2: port: '0/0' is not a number; lines with flags are ClassBench's",
			-EINVAL },
		{ GOOD "@1.2.3.4/32 5.6.7.8/32 0 : 1 0 : 1 6/0xff 0 1",
			":2: line: '1' is one column too many", -EINVAL },
		{ GOOD "rule 1 deny",
			":2: line: starts with neither '@' nor 'R'; the file is read as "
			"l3fwd-acl's",
			-EINVAL },
		{ "@1.2.3.4/32\t5.6.7.8/32\t0 : 1\t0 : 1\t6/0xff\t0/0\nR1.2.3.4/32",
			":2: line: 'R' starts lines of l3fwd-acl; the file is read as classbench's",
			-EINVAL },
		{ "@1.2.3.4/32\t5.6.7.8/32\t0 : 1\t0 : 1\t6/0xff\t2/1",
			":1: flags: '2/1' is not VALUE/MASK, from 0x0000 to 0xffff, no bits beside "
			"the mask",
			-EINVAL },
		{ "@1.2.3.4/32\t5.6.7.8/32\t0 : 1\t0 : 1\t17/0xff\t2/2",
			":1: proto: 17 has no TCP flags; only tcp has", -EINVAL },
		{ GOOD GOOD GOOD GOOD, ":4: more than 3 rules, the policy's limit", -ENOSPC },
		{ "rule 1 deny\nrule 2 deny\nrule 1 permit\n", ":3: rule: 1 is on line 1 already",
			-EEXIST },
		{ "default deny\ndefault deny\n", ":2: default: is on line 1 already", -EINVAL },
		{ "default count\n", ":1: default: takes permit or deny, and nothing else",
			-EINVAL },
		{ GOOD "@\x1b[0m/32 5.6.7.8/32 0 : 1 0 : 1 6/0xff", ":2: source: '?[0m/32'" PREFIX4,
			-EINVAL },
	};

	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(bad); i++) {
		const char *text = bad[i].text;
		int rc = read_bytes(text, strlen(text), HY_POLICY_ANY, 3);

		if (rc != bad[i].rc || strcmp(error + strlen(path), bad[i].error) != 0)
			fail_msg("'%s': %d, '%s' instead of %d, '%s'", text, rc, error, bad[i].rc,
				bad[i].error);
		assert_null(file.rules);
		assert_null(file.lines);
		assert_int_equal(file.nb_rules, 0);
	}
}

static void
files_that_are_no_text_are_refused(void **state)
{
	static const char nul[] = "rule 1 deny\n\0\n";
	char *longest = malloc(10000);

	RTE_SET_USED(state);
	assert_non_null(longest);
	assert_int_equal(read_bytes(nul, sizeof(nul) - 1, HY_POLICY_ANY, 3), -EINVAL);
	assert_non_null(strstr(error, ":2: line: "));
	memset(longest, '@', 10000);
	assert_int_equal(read_bytes(longest, 10000, HY_POLICY_ANY, 3), -EINVAL);
	assert_non_null(strstr(error, ":1: line: "));
	free(longest);
	assert_int_equal(hy_policy_read("/", HY_POLICY_ANY, 3, &file, error), -EISDIR);
	assert_int_equal(hy_policy_read("/no/such", HY_POLICY_ANY, 3, &file, error), -ENOENT);
	assert_non_null(strstr(error, "/no/such: "));
	assert_int_equal(hy_policy_read("/no/such", HY_POLICY_ANY, 3, &file, NULL), -ENOENT);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(hy_policy_read(path, HY_POLICY_ANY, 3, &file, error), -EINVAL);
	assert_null(file.rules);
}

static void
a_policy_takes_rules_of_its_kind_only(void **state)
{
	struct hy_policy_params params = { .max_rules = 3, .workers = 1 };
	struct hy_policy *list;

	RTE_SET_USED(state);
	assert_int_equal(read_bytes(GOOD GOOD, strlen(GOOD GOOD), HY_POLICY_ANY, 3), 0);
	assert_int_equal(hy_policy_create("classes", &params, &list), 0);
	assert_int_equal(hy_policy_load(list, path, error), -EINVAL);
	assert_string_equal(error + strlen(path),
		":1: action: only rules of access lists have it; others have class CLASS");
	hy_policy_destroy(list);
	params.access = true;
	assert_int_equal(hy_policy_create("access", &params, &list), 0);
	assert_int_equal(hy_policy_load(list, path, error), 0);
	hy_policy_destroy(list);
}

#define FORMAT_TEST(f) cmocka_unit_test_setup_teardown(f, format_setup, format_teardown)

static const struct CMUnitTest format_tests[] = {
	FORMAT_TEST(l3fwd_acl_denies_by_at_and_permits_by_routes),
	FORMAT_TEST(addresses_of_ipv6_make_rules_of_ipv6),
	FORMAT_TEST(classbench_permits_and_has_flags),
	FORMAT_TEST(a_line_of_two_formats_is_of_none),
	FORMAT_TEST(a_format_that_is_named_is_not_guessed),
	FORMAT_TEST(ports_need_a_protocol_that_has_them),
	FORMAT_TEST(bad_lines_name_line_field_and_what_is_accepted),
	FORMAT_TEST(files_that_are_no_text_are_refused),
	FORMAT_TEST(a_policy_takes_rules_of_its_kind_only),
};

UNIT_SUITE(format_tests)
