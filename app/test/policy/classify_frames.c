/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * "hy-test-classify RULES CAPTURE": prints a line for each frame of a capture: the id of the first
 * rule that matches by each way to classify, "-" for none; and the fields that rules can see.
 *
 * Before, "ways" and their names, in the order of the ids; "default ACTION truncated ACTION", and a line for each rule in order: "rule ID PRECEDENCE
 * ACTION ARGUMENT", and "log". Bursts have each length from 1 to BURST in
 * turn. A frame lies at the end of memory of its own, at each alignment in turn, and without the
 * bytes that no key depends on.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pcap/pcap.h>

#include <rte_common.h>
#include <rte_eal.h>

#include <hy_policy_view.h>

#include "lib/policy/engine/engine.h"

#define BURST 256u
#define RULES 16384

/* A way to classify: by the policy's functions, or by an engine's tables for the policy's rules. */
struct way {
	const char *name;
	hy_policy_classify_t *by_view;
	const struct policy_engine *engine;
	void *tables;
};

static struct way ways[2 + POLICY_ENGINES] = {
	{ .name = "linear", .by_view = hy_policy_classify_linear },
	{ .name = "compiled", .by_view = hy_policy_classify_compiled },
};
static size_t nb_ways = 2;

static int
fail(const char *what, const char *why)
{
	fprintf(stderr, "%s: %s\n", what, why);
	return EXIT_FAILURE;
}

static void
print_numbers(const struct hy_flow_key *key)
{
	const struct {
		uint32_t bit;
		const char *name;
		uint32_t value;
	} numbers[] = {
		{ HY_FLOW_VLAN, "vlan", key->vlan },
		{ HY_FLOW_PROTO, "proto", key->proto },
		{ HY_FLOW_DSCP, "dscp", key->dscp },
		{ HY_FLOW_SPORT, "sport", key->sport },
		{ HY_FLOW_DPORT, "dport", key->dport },
		{ HY_FLOW_ICMP_TYPE, "icmp", key->icmp_type },
		{ HY_FLOW_ICMP_CODE, "code", key->icmp_code },
		{ HY_FLOW_TUNNEL, "tunnel", key->tunnel },
		{ HY_FLOW_FRAGMENT, "fragment", key->fragment },
	};

	for (size_t i = 0; i < RTE_DIM(numbers); i++)
		if ((key->has & numbers[i].bit) != 0)
			printf(" %s=%" PRIu32, numbers[i].name, numbers[i].value);
}

static void
print_address(const char *name, const uint32_t *words, bool ip6)
{
	printf(" %s=", name);
	for (int i = 0; i < (ip6 ? 4 : 1); i++)
		printf("%08" PRIx32, words[i]);
}

static void
print_key(const struct hy_flow_key *key)
{
	const bool ip4 = (key->has & HY_FLOW_IPV4) != 0, ip6 = (key->has & HY_FLOW_IPV6) != 0;

	if ((key->has & HY_FLOW_DST_MAC) != 0)
		printf(" dmac=%012" PRIx64, key->dst_mac);
	if ((key->has & HY_FLOW_SRC_MAC) != 0)
		printf(" smac=%012" PRIx64, key->src_mac);
	if ((key->has & HY_FLOW_ETHER_TYPE) != 0)
		printf(" type=%04" PRIx16, key->ether_type);
	if ((key->has & HY_FLOW_TCP_FLAGS) != 0)
		printf(" flags=%02" PRIx8, key->tcp_flags);
	if (ip4 || ip6)
		printf(" ip=%s%s", ip4 ? "4" : "", ip6 ? "6" : "");
	if ((key->has & HY_FLOW_SRC) != 0)
		print_address("src", key->src6, ip6);
	if ((key->has & HY_FLOW_DST) != 0)
		print_address("dst", key->dst6, ip6);
	print_numbers(key);
	printf("%s\n", (key->has & HY_FLOW_TRUNCATED) != 0 ? " truncated" : "");
}

static void
burst_print(const struct hy_policy_view *view, const struct hy_flow_key key[], uint32_t n)
{
	uint32_t rank[RTE_DIM(ways)][BURST];

	for (size_t w = 0; w < nb_ways; w++) {
		if (ways[w].engine == NULL)
			ways[w].by_view(view, key, rank[w], n);
		else
			ways[w].engine->classify(ways[w].tables, key, rank[w], n);
	}
	for (uint32_t i = 0; i < n; i++) {
		for (size_t w = 0; w < nb_ways; w++) {
			if (rank[w][i] == HY_POLICY_NONE)
				printf("- ");
			else
				printf("%" PRIu32 " ", view->rules[rank[w][i]].rule.id);
		}
		print_key(&key[i]);
	}
}

/* A key must not depend on what lies behind a frame, nor on what lay in the key before. */
static int
key_make(const u_char *bytes, uint32_t len, uint32_t shift, struct hy_flow_key *key)
{
	const uint32_t seen = RTE_MIN(len, (uint32_t)HY_FLOW_HEADERS);
	uint8_t *memory = malloc(RTE_MAX(shift + seen, 1u));

	if (memory == NULL)
		return -1;
	memcpy(memory + shift, bytes, seen);
	memset(key, 0xa5, sizeof(*key));
	hy_flow_key(memory + shift, len, key);
	free(memory);
	return 0;
}

static int
capture_print(const struct hy_policy_view *view, pcap_t *pcap)
{
	struct hy_flow_key key[BURST];
	uint32_t n = 0, size = 1;
	struct pcap_pkthdr *header;
	const u_char *bytes;
	int rc;

	while ((rc = pcap_next_ex(pcap, &header, &bytes)) == 1) {
		if (key_make(bytes, header->caplen, n % 8, &key[n]) < 0)
			return fail("key", "out of memory");
		if (++n < size)
			continue;
		burst_print(view, key, n);
		size = size % BURST + 1;
		n = 0;
	}
	burst_print(view, key, n);
	return rc == PCAP_ERROR_BREAK ? EXIT_SUCCESS : fail("capture", pcap_geterr(pcap));
}

static void
rules_print(const struct hy_policy_view *view)
{
	static const char *const actions[] = { [HY_RULE_CLASSIFY] = "class",
		[HY_RULE_PERMIT] = "permit",
		[HY_RULE_DENY] = "deny",
		[HY_RULE_COUNT] = "count",
		[HY_RULE_TO_PORT] = "port" };

	printf("ways");
	for (size_t w = 0; w < nb_ways; w++)
		printf(" %s", ways[w].name);
	printf("\ndefault %s truncated %s\n", actions[view->default_action],
		view->deny_truncated ? "deny" : "permit");
	for (uint32_t r = 0; r < view->nb_rules; r++) {
		const struct hy_flow_rule *rule = &view->rules[r].rule;

		printf("rule %" PRIu32 " %" PRIu32 " %s %u%s\n", rule->id, rule->precedence,
			actions[rule->action], rule->class_id | rule->port,
			rule->log ? " log" : "");
	}
}

/* Has each engine build its tables, except those that cannot take the rules. */
static int
engines_build(const struct hy_policy_view *view)
{
	const struct policy_build build = {
		.rules = view->rules, .n = view->nb_rules, .socket = SOCKET_ID_ANY
	};

	for (unsigned int e = 0; e < POLICY_ENGINES && view->nb_rules > 0; e++) {
		struct way *way = &ways[nb_ways];
		uint64_t bytes;
		int rc = policy_engines[e]->build(&build, &way->tables, &bytes);

		if (rc == -E2BIG)
			continue;
		if (rc < 0)
			return fail(policy_engines[e]->name, strerror(-rc));
		way->name = policy_engines[e]->name;
		way->engine = policy_engines[e];
		nb_ways++;
	}
	return EXIT_SUCCESS;
}

static void
engines_free(void)
{
	for (size_t w = 0; w < nb_ways; w++)
		if (ways[w].engine != NULL)
			ways[w].engine->free(ways[w].tables);
}

static int
classify(const char *rules, const char *capture)
{
	const struct hy_policy_params params = { .max_rules = RULES, .workers = 1, .access = true };
	char error[RTE_MAX(HY_POLICY_ERROR_SIZE, PCAP_ERRBUF_SIZE)];
	const struct hy_policy_view *view;
	struct hy_policy *policy;
	pcap_t *pcap;
	int rc;

	if (hy_policy_create("classify", &params, &policy) < 0)
		return fail(rules, "hy_policy_create");
	if (hy_policy_load(policy, rules, error) < 0)
		return fail(rules, error);
	if (hy_policy_commit(policy) < 0)
		return fail(rules, "hy_policy_commit");
	pcap = pcap_open_offline(capture, error);
	if (pcap == NULL)
		return fail(capture, error);
	view = hy_policy_view_hold(policy);
	rc = engines_build(view);
	if (rc == EXIT_SUCCESS) {
		rules_print(view);
		rc = capture_print(view, pcap);
	}
	engines_free();
	hy_policy_view_release(policy, view);
	pcap_close(pcap);
	hy_policy_destroy(policy);
	return rc;
}

int
main(int argc, char **argv)
{
	char *eal[] = { argv[0], (char[]){ "--no-huge" }, (char[]){ "-m" }, (char[]){ "128" },
		(char[]){ "--no-pci" }, (char[]){ "--no-shconf" }, (char[]){ "--no-telemetry" },
		(char[]){ "--log-level=error" } };
	int rc;

	if (argc != 3)
		return fail(argv[0], "usage: hy-test-classify RULES CAPTURE");
	if (rte_eal_init(RTE_DIM(eal), eal) < 0)
		return fail("EAL", "cannot be initialized");
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	rc = classify(argv[1], argv[2]);
	rte_eal_cleanup();
	if (fflush(stdout) != 0)
		return fail("standard output", "cannot be written");
	return rc;
}
