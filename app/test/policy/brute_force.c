/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * "hy-test-brute RULES PACKETS SEED [MIB]": compares the rule that each way to classify finds with the
 * one that brute.h finds, for so many packets: the policy's functions, and each engine that can take
 * the rules, rte_acl with each method that the CPU has. Bursts have each length from 1 to BURST in
 * turn. The ways that try all rules see one packet in SLOW if there are more than FEW.
 *
 * Prints what was compared: "rules N", "way NAME PACKETS", "outcome permit|deny|none PACKETS", and
 * "kind NAME PACKETS".
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_eal.h>
#include <rte_vect.h>

#include <hy_policy_view.h>

#include "brute.h"
#include "lib/policy/engine/acl_tables.h"

#define BURST 256u
#define FEW 1000u
#define SLOW 16u /* bursts */
#define WAYS 16
#define RULES_MAX 16384

struct way {
	const char *name;
	hy_policy_classify_t *by_view;
	const struct policy_engine *engine;
	void *tables;
	enum rte_acl_classify_alg method; /* not DEFAULT: of rte_acl */
	bool slow;                        /* tries all rules */
	uint64_t packets;
};

struct comparison {
	struct brute brute;
	const struct hy_policy_view *view;
	struct way ways[WAYS];
	unsigned int nb_ways;
	void *tables[POLICY_ENGINES];
	uint64_t outcomes[3], kinds[BRUTE_KINDS];
};

static int
fail(const char *what, const char *why)
{
	fprintf(stderr, "hy-test-brute: %s: %s\n", what, why);
	return -1;
}

static void
way_add(struct comparison *c, const struct way *way)
{
	if (c->nb_ways < WAYS)
		c->ways[c->nb_ways++] = *way;
}

/* Has all tables of rte_acl use a method. Returns whether the CPU has it. */
static bool
method_set(const struct acl *acl, enum rte_acl_classify_alg method)
{
	for (unsigned int f = 0; f < ACL_FAMILIES; f++)
		for (uint32_t part = 0; part < acl->family[f].nb_parts; part++)
			if (rte_acl_set_ctx_classify(acl->family[f].parts[part], method) < 0)
				return false;
	return true;
}

static void
methods_add(struct comparison *c, struct way way)
{
	static const struct {
		enum rte_acl_classify_alg method;
		const char *name;
	} methods[] = { { RTE_ACL_CLASSIFY_SCALAR, "rte_acl_scalar" },
		{ RTE_ACL_CLASSIFY_SSE, "rte_acl_sse" }, { RTE_ACL_CLASSIFY_AVX2, "rte_acl_avx2" },
		{ RTE_ACL_CLASSIFY_NEON, "rte_acl_neon" },
		{ RTE_ACL_CLASSIFY_AVX512X16, "rte_acl_avx512x16" },
		{ RTE_ACL_CLASSIFY_AVX512X32, "rte_acl_avx512x32" } };

	for (unsigned int m = 0; m < RTE_DIM(methods); m++) {
		way.name = methods[m].name;
		way.method = methods[m].method;
		if (method_set(way.tables, way.method))
			way_add(c, &way);
	}
}

static int
ways_make(struct comparison *c)
{
	const struct policy_build build = {
		.rules = c->view->rules, .n = c->view->nb_rules, .socket = SOCKET_ID_ANY
	};
	const struct way by_view[] = {
		{ .name = "scan", .by_view = hy_policy_classify_linear, .slow = true },
		{ .name = "compiled", .by_view = hy_policy_classify_compiled }
	};

	for (unsigned int i = 0; i < RTE_DIM(by_view); i++)
		way_add(c, &by_view[i]);
	for (unsigned int e = 0; e < POLICY_ENGINES; e++) {
		const struct policy_engine *engine = policy_engines[e];
		struct way way = { .name = engine->name,
			.engine = engine,
			.slow = engine == &policy_engine_linear };
		uint64_t bytes;
		const int rc = engine->build(&build, &c->tables[e], &bytes);

		if (rc == -E2BIG)
			continue;
		if (rc < 0)
			return fail(engine->name, strerror(-rc));
		way.tables = c->tables[e];
		if (engine == &policy_engine_acl)
			methods_add(c, way);
		else
			way_add(c, &way);
	}
	return 0;
}

static void
ways_free(struct comparison *c)
{
	for (unsigned int e = 0; e < POLICY_ENGINES; e++)
		if (c->tables[e] != NULL)
			policy_engines[e]->free(c->tables[e]);
}

static int
wrong(const struct comparison *c, const struct way *way, const struct brute_packet *packet,
	uint32_t rank, uint32_t expected)
{
	fprintf(stderr, "hy-test-brute: %s finds rule %" PRId64 ", not %" PRId64 ", for ",
		way->name, rank == HY_POLICY_NONE ? -1 : (int64_t)c->view->rules[rank].rule.id,
		expected == BRUTE_NONE ? -1 : (int64_t)c->brute.rules[expected].id);
	for (uint32_t i = 0; i < packet->len; i++)
		fprintf(stderr, "%02x", packet->frame[i]);
	fputc('\n', stderr);
	return -1;
}

/* Makes a burst and finds its rules; notes what comes out. */
static void
burst_make(struct comparison *c, uint64_t *seed, struct brute_packet packets[],
	struct hy_flow_key keys[], uint32_t expected[], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct brute_packet *packet = &packets[i];
		const struct brute_rule *rule;

		brute_packet(&c->brute, seed, packet);
		memset(&keys[i], 0xa5, sizeof(keys[i]));
		hy_flow_key(packet->frame, packet->len, &keys[i]);
		expected[i] = brute_first(&c->brute, packet);
		rule = expected[i] == BRUTE_NONE ? NULL : &c->brute.rules[expected[i]];
		c->outcomes[rule == NULL ? 2 : rule->deny]++;
		for (unsigned int kind = 0; kind < BRUTE_KINDS; kind++)
			c->kinds[kind] += packet->kinds >> kind & 1;
	}
}

static int
burst_compare(struct comparison *c, const struct brute_packet packets[],
	const struct hy_flow_key keys[], const uint32_t expected[], uint32_t n, bool slow_too)
{
	uint32_t rank[BURST];

	for (unsigned int w = 0; w < c->nb_ways; w++) {
		struct way *way = &c->ways[w];

		if (way->slow && !slow_too)
			continue;
		if (way->method != RTE_ACL_CLASSIFY_DEFAULT)
			method_set(way->tables, way->method);
		if (way->engine == NULL)
			way->by_view(c->view, keys, rank, n);
		else
			way->engine->classify(way->tables, keys, rank, n);
		way->packets += n;
		for (uint32_t i = 0; i < n; i++)
			if (rank[i] != expected[i]) /* both in the order of trial */
				return wrong(c, way, &packets[i], rank[i], expected[i]);
	}
	return 0;
}

static int
compare(struct comparison *c, uint64_t nb_packets, uint64_t seed)
{
	static struct brute_packet packets[BURST];
	static struct hy_flow_key keys[BURST];
	uint32_t expected[BURST], size = 1;
	uint64_t done = 0;

	for (uint64_t burst = 0; done < nb_packets; burst++) {
		burst_make(c, &seed, packets, keys, expected, size);
		if (burst_compare(c, packets, keys, expected, size,
			    c->brute.n <= FEW || burst % SLOW == 0) < 0)
			return -1;
		done += size;
		size = size % BURST + 1;
	}
	return 0;
}

static void
report(const struct comparison *c)
{
	static const char *const outcomes[] = { "permit", "deny", "none" };
	static const char *const kinds[] = { [BRUTE_PLAIN] = "plain",
		[BRUTE_TAG] = "tag",
		[BRUTE_OPTIONS] = "options",
		[BRUTE_FIRST] = "first",
		[BRUTE_LATER] = "later",
		[BRUTE_ATOMIC] = "atomic",
		[BRUTE_NO_PORTS] = "no_ports",
		[BRUTE_CUT] = "cut" };

	printf("rules %" PRIu32 "\n", c->brute.n);
	for (unsigned int w = 0; w < c->nb_ways; w++)
		printf("way %s %" PRIu64 "\n", c->ways[w].name, c->ways[w].packets);
	for (unsigned int i = 0; i < RTE_DIM(outcomes); i++)
		printf("outcome %s %" PRIu64 "\n", outcomes[i], c->outcomes[i]);
	for (unsigned int i = 0; i < RTE_DIM(kinds); i++)
		printf("kind %s %" PRIu64 "\n", kinds[i], c->kinds[i]);
}

/* The same order of the same rules: ranks can be compared. */
static int
order_check(const struct comparison *c)
{
	if (c->view->nb_rules != c->brute.n)
		return fail("rules", "their number differs");
	for (uint32_t i = 0; i < c->brute.n; i++)
		if (c->view->rules[i].rule.id != c->brute.rules[i].id ||
			(c->view->rules[i].rule.action == HY_RULE_DENY) != c->brute.rules[i].deny)
			return fail("rules", "their order or actions differ");
	return 0;
}

static int
run(char **args)
{
	const struct hy_policy_params params = {
		.max_rules = RULES_MAX, .workers = 1, .socket = SOCKET_ID_ANY, .access = true
	};
	char error[HY_POLICY_ERROR_SIZE];
	struct comparison c = { .nb_ways = 0 };
	struct hy_policy *policy;
	int rc = brute_read(args[0], &c.brute);

	if (rc < 0)
		return rc;
	if (hy_policy_create("brute", &params, &policy) < 0)
		return fail(args[0], "hy_policy_create");
	if (hy_policy_load(policy, args[0], error) < 0)
		return fail(args[0], error);
	if (hy_policy_commit(policy) < 0)
		return fail(args[0], "hy_policy_commit");
	c.view = hy_policy_view_hold(policy);
	rc = order_check(&c);
	if (rc == 0)
		rc = ways_make(&c);
	if (rc == 0)
		rc = compare(&c, strtoull(args[1], NULL, 10), strtoull(args[2], NULL, 10));
	if (rc == 0)
		report(&c);
	ways_free(&c);
	hy_policy_view_release(policy, c.view);
	hy_policy_destroy(policy);
	brute_free(&c.brute);
	return rc;
}

int
main(int argc, char **argv)
{
	char *mib = argc == 5 ? argv[4] : (char[]){ "256" };
	char *eal[] = { argv[0], (char[]){ "--no-huge" }, (char[]){ "-m" }, mib,
		(char[]){ "--no-pci" }, (char[]){ "--no-shconf" }, (char[]){ "--no-telemetry" },
		(char[]){ "--log-level=error" } };
	int rc;

	if (argc != 4 && argc != 5)
		return -fail("usage", "hy-test-brute RULES PACKETS SEED [MIB]");
	if (rte_eal_init(RTE_DIM(eal), eal) < 0)
		return -fail("EAL", "cannot be initialized");
	rte_vect_set_max_simd_bitwidth(RTE_VECT_SIMD_512);
	rc = run(argv + 1);
	rte_eal_cleanup();
	return rc == 0 && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
