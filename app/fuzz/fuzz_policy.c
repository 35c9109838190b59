/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes the reader of policy files (--policy), and checks the policy after a refused file. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <hy_policy_view.h>

#include "fuzz.h"

#define RULES_MAX 16

static struct hy_policy *policy;
/* The rules and settings committed last. */
static struct hy_flow_rule rules[RULES_MAX];
static uint32_t nb_rules;
static uint8_t default_action;
static bool deny_truncated;

/* Creates a policy with one rule: an access list, or another one. */
static void
policy_start(bool access)
{
	const struct hy_policy_params params = {
		.max_rules = RULES_MAX, .workers = 1, .access = access
	};

	FUZZ_CHECK(hy_policy_create("fuzz", &params, &policy) == 0);
	rules[0] = (struct hy_flow_rule){ .id = 5, .class_id = 1 };
	nb_rules = 1;
	default_action = HY_RULE_PERMIT;
	deny_truncated = false;
	FUZZ_CHECK(hy_policy_add(policy, &rules[0]) == 0);
	FUZZ_CHECK(hy_policy_commit(policy) == 0);
}

static void
policy_stop(void)
{
	hy_policy_destroy(policy);
}

static void
policy_init(void)
{
	policy_start(true);
	atexit(policy_stop); /* else LeakSanitizer reports its blocks */
}

static bool
same_rule(const struct hy_flow_rule *a, const struct hy_flow_rule *b)
{
	return a->id == b->id && a->class_id == b->class_id && a->precedence == b->precedence &&
		a->action == b->action && a->port == b->port && a->log == b->log &&
		hy_flow_match_equal(&a->match, &b->match);
}

static void
check_rule(const struct hy_flow_rule *rule)
{
	char text[HY_FLOW_TEXT_SIZE], error[HY_POLICY_ERROR_SIZE] = "";
	struct hy_flow_rule again;

	FUZZ_CHECK(hy_flow_rule_check(rule, error) == 0);
	FUZZ_CHECK(hy_flow_rule_format(rule, text, sizeof(text)) < (int)sizeof(text));
	FUZZ_CHECK(hy_flow_rule_parse(text, &again, error) == 0);
	FUZZ_CHECK(same_rule(rule, &again));
}

/* Checks that the policy has the rules committed last, and that nothing is staged. */
static void
check_unchanged(void)
{
	struct hy_flow_rule now[RULES_MAX];

	FUZZ_CHECK(hy_policy_commit(policy) == 0);
	FUZZ_CHECK(hy_policy_rules_get(policy, now, RULES_MAX) == nb_rules);
	for (uint32_t i = 0; i < nb_rules; i++)
		FUZZ_CHECK(same_rule(&now[i], &rules[i]));
	FUZZ_CHECK(hy_policy_view(policy)->default_action == default_action);
	FUZZ_CHECK(hy_policy_view(policy)->deny_truncated == deny_truncated);
}

/* Checks that the printed policy is read as the same rules. */
static void
check_printed(void)
{
	char *text = NULL, error[HY_POLICY_ERROR_SIZE] = "";
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	FUZZ_CHECK(out != NULL && hy_policy_print(policy, out) == 0);
	fclose(out);
	FUZZ_CHECK(hy_policy_load(policy, fuzz_file(text, size), error) == 0);
	free(text);
	check_unchanged();
}

static bool
load(const uint8_t *bytes, size_t size)
{
	const char *path = fuzz_file(bytes, size);
	char error[HY_POLICY_ERROR_SIZE] = "";
	int rc = hy_policy_load(policy, path, error);

	if (rc < 0) {
		FUZZ_CHECK(strstr(error, path) != NULL);
		fuzz_check_message(error);
		return false;
	}
	rc = hy_policy_commit(policy);
	if (rc < 0) { /* rte_acl refuses rules that overlap too much */
		FUZZ_CHECK(rc == -E2BIG || rc == -ENOMEM);
		hy_policy_abort(policy);
		return false;
	}
	nb_rules = hy_policy_rules_get(policy, rules, RULES_MAX);
	FUZZ_CHECK(nb_rules <= RULES_MAX);
	default_action = hy_policy_view(policy)->default_action;
	deny_truncated = hy_policy_view(policy)->deny_truncated;
	return true;
}

/* Policies of another kind refuse what only access lists have, and take all else. */
static void
check_other_kind(const uint8_t *bytes, size_t size)
{
	bool plain = true;

	for (uint32_t i = 0; i < nb_rules; i++)
		plain &= rules[i].action == HY_RULE_CLASSIFY && !rules[i].log;
	hy_policy_destroy(policy);
	policy_start(false);
	if (load(bytes, size))
		FUZZ_CHECK(plain);
	check_unchanged();
	FUZZ_CHECK(default_action == HY_RULE_PERMIT && !deny_truncated);
}

static bool
policy_one(const uint8_t *bytes, size_t size)
{
	const bool good = load(bytes, size);

	check_unchanged();
	if (!good)
		return false;
	for (uint32_t i = 0; i < nb_rules; i++)
		check_rule(&rules[i]);
	check_printed();
	check_other_kind(bytes, size);
	hy_policy_destroy(policy);
	policy_start(true);
	return true;
}

static const char *const texts[] = {
	"rule 1 class 7\n",
	"# voice\nrule 10 class 1 dscp 46 # EF\nrule 20 class 2 precedence 5 proto udp "
	"sport 1000-2000 dport 53\n",
	"rule 1 class 3 type 0x0800 vlan 100 src 10.0.0.0/8 dst 192.0.2.1\n"
	"rule 2 class 65535 proto 6 dport 80\n",
	"rule 4294967295 class 9 precedence 4294967295 tunnel 16777215 proto icmp\n",
	"rule 1 class 1 proto sctp sport 0\nrule 1 class 2\n",
	"default deny # of an access list\ntruncated deny\nrule 1 permit log\nrule 2 deny ip6\n"
	"rule 3 count proto tcp established\nrule 4 port 3 flags S/SA\n",
	"rule 1 permit src 2001:db8::/32 dst ::1 proto icmp6 icmp 128-129 code 0\n"
	"rule 2 deny type 0x86dd fragment first,later,unknown\n",
	"rule 1 deny smac 02:00:00:00:00:01 dmac 01:00:5e:00:00:00/ff:ff:ff:80:00:00\n"
	"rule 2 class 4 proto icmp icmp 8 fragment none\n",
	"@1.2.3.0/24 192.168.0.36/32 0 : 65535 20:20 6/0xfe 0\n"
	"R0.0.0.0/0 0.0.0.0/0 0 : 65535 0 : 65535 0x00/0x00 1\r\n",
	"@2001:db8::/32\t::/0\t0 : 65535\t1024 : 65535\t0x06/0xFF\t0x0002/0x0012\t\n",
	NULL,
};

const struct fuzz_target fuzz_policy = {
	.name = "policy", .init = policy_init, .one = policy_one, .texts = texts
};
