/* SPDX-License-Identifier: BSD-3-Clause */
/* The run of a variant, from its first burst to the result. */

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_random.h>

#include "conform.h"

#define SMALL 32     /* most bursts are at most this long: near what a kernel takes at once */
#define PACKETS 4095 /* in the pool: a burst for both sides, in segments */
#define CHANGE_EVERY 64
#define ODD_BURST 23 /* of a graph that splits long bursts */

int
conform_fail(struct conform_trial *trial, int packet, const char *format, ...)
{
	struct hy_conform_result *result = trial->result;
	size_t used;
	va_list ap;

	/* Bursts count from 1, packets from 0. */
	used = (size_t)snprintf(result->text, sizeof(result->text), "burst %u (%u packet%s)",
		result->cases + 1, trial->n, trial->n == 1 ? "" : "s");
	if (packet >= 0) {
		const struct rte_mbuf *m = trial->cand.packets[packet];
		const void *bytes;

		used += (size_t)snprintf(result->text + used, sizeof(result->text) - used,
			", packet %d (%u bytes, %u segment%s)", packet, m->pkt_len, m->nb_segs,
			m->nb_segs == 1 ? "" : "s");
		result->shown_len = RTE_MIN(m->pkt_len, (uint32_t)HY_CONFORM_SHOWN_BYTES);
		bytes = rte_pktmbuf_read(m, 0, result->shown_len, result->shown);
		if (bytes != NULL && bytes != result->shown)
			memcpy(result->shown, bytes, result->shown_len);
	}
	used += (size_t)snprintf(result->text + used, sizeof(result->text) - used, ": ");
	va_start(ap, format);
	vsnprintf(result->text + used, sizeof(result->text) - used, format, ap);
	va_end(ap);
	result->outcome = HY_CONFORM_FAILED;
	return -EILSEQ;
}

/* The packet to whose guard pages an address belongs, or -1. */
static int
guarded_packet(const struct conform_trial *trial, uintptr_t address, char *text, size_t size)
{
	uintptr_t nearest = UINTPTR_MAX;
	int packet = -1;

	for (uint32_t i = 0; i < trial->n; i++) {
		char what[HY_TEXT_SIZE];
		const uintptr_t far = conform_guard_of(&trial->arena, trial->cand.packets[i],
			address, what, sizeof(what));

		if (far == 0 || far >= nearest)
			continue;
		nearest = far;
		packet = (int)i;
		snprintf(text, size, "%s", what);
	}
	return packet;
}

void
conform_fail_signal(struct conform_trial *trial, int signal, uintptr_t address)
{
	const bool touched = signal == SIGSEGV || signal == SIGBUS;
	char what[HY_TEXT_SIZE];
	const int packet = touched ? guarded_packet(trial, address, what, sizeof(what)) : -1;

	if (packet >= 0)
		conform_fail(trial, packet, "%s", what);
	else if (signal == SIGALRM)
		conform_fail(trial, -1, "did not return");
	else if (touched)
		conform_fail(trial, -1, "%s at address 0x%" PRIxPTR ", in no packet's guard page",
			strsignal(signal), address);
	else
		conform_fail(trial, -1, "%s", strsignal(signal));
}

/* Its value is rc, to be returned. */
#define refuse(trial, how, rc, ...) \
	(snprintf((trial)->result->text, sizeof((trial)->result->text), __VA_ARGS__), \
		(trial)->result->outcome = (how), (rc))

/* The fusion of a name and a variant; NULL: there is none. Without a variant: any of that name. */
static const struct hy_fusion *
fusion_find(const char *name, const char *variant)
{
	const struct hy_fusion *const *fusions;
	const unsigned int n = hy_fusions(&fusions);

	for (unsigned int i = 0; i < n; i++)
		if (strcmp(fusions[i]->name, name) == 0 &&
			(variant == NULL || strcmp(fusions[i]->variant, variant) == 0))
			return fusions[i];
	return NULL;
}

/* Adds a node to both sides: the family's reference variant, and the variant under test. */
static void
node_add(struct conform_trial *trial, const struct hy_family *family,
	const struct hy_variant *variant, uint16_t onward)
{
	const struct hy_variant *reference = hy_variant_find(family->node.name,
		family->node.impl.variant);

	trial->ref.nodes[trial->ref.nb_nodes++] = (struct conform_node){
		.family = family, .variant = reference, .onward = onward
	};
	trial->cand.nodes[trial->cand.nb_nodes++] = (struct conform_node){
		.family = family, .variant = variant, .onward = onward
	};
}

/* Whether a family has an edge, or a program adds it right behind those that it has. */
static bool
has_edge(const struct hy_family *family, uint16_t edge)
{
	uint16_t n = 0;

	while (n < HY_DESC_EDGES && family->node.edges[n] != NULL)
		n++;
	return edge <= n && edge < HY_DESC_EDGES;
}

/* Finds the chain of a fusion. */
static int
chain_find(struct conform_trial *trial, const struct hy_fusion *fusion)
{
	for (unsigned int k = 0; k < HY_FUSE_MAX && fusion->chain[k].family != NULL; k++) {
		const uint16_t edge = k + 1 < HY_FUSE_MAX ? fusion->edge[k] : 0;
		const char *family = fusion->chain[k].family, *variant = fusion->chain[k].variant;
		const struct hy_family *found = hy_family_find(family);
		const struct hy_variant *is = hy_variant_find(family, variant);
		const bool last = k + 1 == HY_FUSE_MAX || fusion->chain[k + 1].family == NULL;

		if (found == NULL || is == NULL)
			return refuse(trial, HY_CONFORM_SKIPPED, -ENOTSUP,
				"its chain needs %s/%s, which is not registered", family, variant);
		if (!last && !has_edge(found, edge))
			return refuse(trial, HY_CONFORM_FAILED, -ENODATA,
				"never ran: its chain takes edge %u of %s, which has none", edge,
				family);
		node_add(trial, found, is, last ? CONFORM_LAST : edge);
	}
	trial->fusion = fusion;
	trial->cand.fused = true;
	return 0;
}

/* Finds the family or the fusion, its suite, and the nodes of both sides. */
static int
sides_find(struct conform_trial *trial, const char *family, const char *variant)
{
	const struct hy_family *found = hy_family_find(family);
	const struct hy_suite *suite = hy_suite_find(family);
	const bool fusion = fusion_find(family, NULL) != NULL;
	const char *const what = fusion ? "fusion" : "family";

	if (found == NULL && !fusion)
		return refuse(trial, HY_CONFORM_FAILED, -ENOENT, "there is no family '%s'", family);
	if (found != NULL && fusion)
		return refuse(trial, HY_CONFORM_FAILED, -ENOENT,
			"both a family and a fusion are named '%s'", family);
	if (suite == NULL)
		return refuse(trial, HY_CONFORM_FAILED, -ENOENT, "%s '%s' has no suite", what,
			family);
	trial->ref.suite = trial->cand.suite = suite;
	if (fusion && fusion_find(family, variant) != NULL)
		return chain_find(trial, fusion_find(family, variant));
	if (fusion || hy_variant_find(family, variant) == NULL)
		return refuse(trial, HY_CONFORM_FAILED, -ENOENT, "%s '%s' has no variant '%s'",
			what, family, variant);
	node_add(trial, found, hy_variant_find(family, variant), CONFORM_LAST);
	return 0;
}

/* Whether the process can run a variant. Needs of ports do not count: suites replace ports. */
static int
machine_check(struct conform_trial *trial, const struct hy_hal *hal,
	const struct hy_variant *variant)
{
	if (variant->apart != NULL)
		return refuse(trial, HY_CONFORM_SKIPPED, -ENOTSUP, "%s", variant->apart);
	if (variant->parked)
		return refuse(trial, HY_CONFORM_SKIPPED, -ENOTSUP,
			"stands in while a port does not run, and does not do the family's work");
	for (unsigned int i = 0; i < HY_NEEDS_MAX && hy_need_asks(&variant->needs[i]); i++) {
		const struct hy_need *need = &variant->needs[i];
		const enum hy_cap cap = hy_need_cap(need);
		const struct hy_capability *has;

		if (need->bonus != 0 || need->declared != NULL)
			continue;
		if (cap == HY_CAP_NONE)
			return refuse(trial, HY_CONFORM_SKIPPED, -ENOTSUP,
				"needs %s: no pack has registered it", hy_need_name(need));
		if (!hy_cap_concerns(HY_TARGET_PROCESS, cap))
			continue;
		has = hy_hal_capability(hal, (struct hy_target){ .kind = HY_TARGET_PROCESS }, cap);
		if (!hy_need_met(need, has))
			return refuse(trial, HY_CONFORM_SKIPPED, -ENOTSUP, "needs %s: %s",
				hy_need_name(need), has->reason);
	}
	return 0;
}

/* Binds a variant of the process like a selection. For other targets, suites replace devices. */
static int
cand_bind(struct conform_trial *trial, const struct hy_hal *hal, unsigned int k)
{
	const struct hy_target process = { .kind = HY_TARGET_PROCESS };
	const struct conform_node *node = &trial->cand.nodes[k];
	const struct hy_variant *variant = node->variant;
	char reason[HY_REASON_SIZE] = "";
	int rc;

	if (node->family->target != HY_TARGET_PROCESS || variant->on != HY_TARGET_PROCESS ||
		variant->bind == NULL || hy_is_bound(hal, variant, process))
		return 0;
	rc = variant->bind(hal, process, reason, sizeof(reason));
	if (rc < 0)
		return refuse(trial, HY_CONFORM_SKIPPED, -ENOTSUP, "cannot be bound: %s",
			reason[0] != '\0' ? reason : strerror(-rc));
	trial->bound_by = hal;
	trial->bound |= 1u << k;
	return 0;
}

/* Whether the process can run all variants under test, which are bound then. */
static int
cand_prepare(struct conform_trial *trial, const struct hy_hal *hal)
{
	int rc = 0;

	for (unsigned int k = 0; k < trial->cand.nb_nodes && rc == 0; k++)
		rc = machine_check(trial, hal, trial->cand.nodes[k].variant);
	for (unsigned int k = 0; k < trial->cand.nb_nodes && rc == 0; k++)
		rc = cand_bind(trial, hal, k);
	return rc;
}

static void
cand_unbind(struct conform_trial *trial)
{
	for (unsigned int k = 0; k < trial->cand.nb_nodes; k++)
		if ((trial->bound & 1u << k) != 0 && trial->cand.nodes[k].variant->unbind != NULL)
			trial->cand.nodes[k].variant->unbind(trial->bound_by,
				(struct hy_target){ .kind = HY_TARGET_PROCESS });
	trial->bound = 0;
}

static int
side_create(struct conform_trial *trial, struct conform_side *side, const char *name,
	const uint16_t bursts[CONFORM_GRAPHS])
{
	int rc;

	const char *variant = side->fused ? trial->fusion->variant
					  : side->nodes[0].variant->impl.variant;

	side->is = (struct hy_suite_side){
		.name = name, .variant = variant, .pool = trial->pool, .setup = trial->setup
	};
	side->lanes = trial->lanes;
	side->wide = trial->wide;
	rc = conform_side_create(side, bursts);
	if (rc < 0)
		return refuse(trial, HY_CONFORM_FAILED, rc,
			"the graph of %s cannot be created: %s; the log says why", variant,
			strerror(-rc));
	return 0;
}

/* The side under test: with its fusion, if it is one. */
static int
cand_create(struct conform_trial *trial, const uint16_t bursts[CONFORM_GRAPHS], bool compared)
{
	int rc = trial->fusion == NULL ? 0 : conform_fuse_begin(trial, compared);

	if (rc < 0)
		return refuse(trial, HY_CONFORM_FAILED, rc, "the fusion cannot be offered: %s",
			strerror(-rc));
	rc = side_create(trial, &trial->cand, "cand", bursts);
	if (rc == 0 && trial->fusion != NULL && !conform_is_fused(trial))
		return refuse(trial, HY_CONFORM_FAILED, -ENODATA,
			"never ran: a graph does not fuse this chain (see hy_fuse.h)");
	return rc;
}

int
conform_trial_create(struct conform_trial *trial, const struct hy_hal *hal, const char *family,
	const char *variant, const uint16_t bursts[CONFORM_GRAPHS], bool compared)
{
	static const uint16_t single[CONFORM_GRAPHS] = { HY_BURST_DEFAULT };
	int rc = sides_find(trial, family, variant);

	if (rc == 0)
		rc = cand_prepare(trial, hal);
	if (rc < 0) {
		cand_unbind(trial);
		return rc;
	}
	rte_srand(trial->params->seed + trial->setup);
	trial->pool = rte_pktmbuf_pool_create("conform", PACKETS, 0,
		RTE_ALIGN(sizeof(struct conform_tag), RTE_MBUF_PRIV_ALIGN),
		RTE_PKTMBUF_HEADROOM + HY_SUITE_FRAME_MAX + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
	if (trial->pool == NULL || conform_arena_create(&trial->arena) < 0)
		rc = refuse(trial, HY_CONFORM_FAILED, -ENOMEM, "no memory for %u packets", PACKETS);
	if (rc == 0)
		rc = side_create(trial, &trial->ref, "ref", single);
	if (rc == 0)
		rc = cand_create(trial, bursts, compared);
	if (rc < 0)
		conform_trial_destroy(trial);
	return rc;
}

void
conform_trial_destroy(struct conform_trial *trial)
{
	conform_side_destroy(&trial->cand);
	conform_fuse_end(trial);
	conform_side_destroy(&trial->ref);
	conform_arena_destroy(&trial->arena);
	rte_mempool_free(trial->pool);
	cand_unbind(trial);
}

/* Plans a burst: its size, and whether the node gets it whole or in parts. */
static void
burst_plan(struct conform_trial *trial)
{
	const uint32_t number = trial->number;
	struct conform_side *cand = &trial->cand;

	if (number <= HY_BURST_MAX)
		trial->n = number; /* each size once, in one call */
	else if (rte_rand_max(4) == 0)
		trial->n = (uint32_t)rte_rand_max(HY_BURST_MAX + 1);
	else
		trial->n = (uint32_t)rte_rand_max(SMALL + 1);
	trial->graph = number <= HY_BURST_MAX ? 0 : (unsigned int)rte_rand_max(CONFORM_GRAPHS);
	cand->limit[0] = HY_BURST_MAX;
	cand->limit[1] = 0;
	if (trial->graph > 0) { /* two sources feed the node: it is called with parts */
		cand->limit[0] = (uint16_t)(1 + rte_rand_max(HY_BURST_MAX));
		cand->limit[1] = (uint16_t)rte_rand_max(HY_BURST_MAX + 1);
	}
}

/* One burst, from plan to comparison. */
static int
burst_run(struct conform_trial *trial)
{
	uintptr_t address;
	int signal, rc;

	burst_plan(trial);
	rc = conform_burst_make(trial);
	if (rc == 0)
		rc = conform_burst_send_ref(trial);
	if (rc < 0)
		return refuse(trial, HY_CONFORM_FAILED, rc, "burst %u could not be made: %s",
			trial->result->cases + 1, strerror(-rc));
	signal = conform_watch(conform_burst_send_cand, trial, &rc, &address);
	if (signal != 0) {
		conform_fail_signal(trial, signal, address);
		return signal == SIGALRM ? -ETIMEDOUT : -EFAULT;
	}
	if (rc == 0)
		rc = trial->fused_rc;
	return rc < 0 ? rc : conform_burst_compare(trial);
}

/* Occasionally changes the tables of both sides in the same way, before a burst. */
static int
tables_change(struct conform_trial *trial)
{
	const struct hy_suite *suite = trial->ref.suite;
	const unsigned int every = suite->change_every == 0 ? CHANGE_EVERY : suite->change_every;
	int rc;

	if (suite->change == NULL || rte_rand_max(every) != 0)
		return 0;
	trial->changes++;
	rc = suite->change(trial->ref.state, trial->changes);
	if (rc == 0)
		rc = suite->change(trial->cand.state, trial->changes);
	if (rc < 0)
		return refuse(trial, HY_CONFORM_FAILED, rc,
			"change %u of the suite's tables, before burst %u: %s", trial->changes,
			trial->result->cases + 1, strerror(-rc));
	trial->result->changes++;
	return 0;
}

/* Runs all bursts of one set-up: at least `cases`, and until `packets` were sent. */
static int
setup_run(struct conform_trial *trial, const struct hy_hal *hal, const char *family,
	const char *variant, uint32_t cases, uint64_t packets)
{
	static const uint16_t bursts[CONFORM_GRAPHS] = { HY_BURST_MAX, HY_BURST_DEFAULT,
		ODD_BURST };
	struct hy_conform_result *result = trial->result;
	const struct hy_suite *suite = hy_suite_find(family);
	int rc = conform_trial_create(trial, hal, family, variant, bursts, true);

	if (rc < 0)
		return rc;
	packets += result->frames;
	for (trial->number = 0; rc == 0 && (trial->number < cases || result->frames < packets);
		trial->number++) {
		rc = tables_change(trial);
		if (rc == 0)
			rc = burst_run(trial);
		if (rc == 0) {
			result->cases++;
			result->frames += trial->n;
		}
		conform_burst_free(trial);
	}
	conform_side_begin(&trial->ref, 0); /* the last burst is over */
	conform_outcomes_add(trial);
	if (rc == 0 && suite->agree != NULL &&
		!suite->agree(trial->ref.state, trial->cand.state, result->text)) {
		result->outcome = HY_CONFORM_FAILED;
		rc = -EILSEQ;
	}
	if (rc == 0)
		rc = conform_reached_check(trial);
	conform_trial_destroy(trial);
	return rc;
}

int
hy_conform_run(const struct hy_hal *hal, const char *family, const char *variant,
	const struct hy_conform_params *params, struct hy_conform_result *result)
{
	const struct hy_suite *suite = hy_suite_find(family);
	const uint32_t cases = params->cases == 0 ? HY_CONFORM_CASES : params->cases;
	const unsigned int setups = suite == NULL ? 1 : RTE_MAX(suite->nb_setups, 1u);
	struct conform_trial *trial = malloc(sizeof(*trial));
	int rc = 0;

	memset(result, 0, sizeof(*result));
	if (trial == NULL) {
		result->outcome = HY_CONFORM_FAILED;
		return HY_REASON(-ENOMEM, result->text, sizeof(result->text), "out of memory");
	}
	for (unsigned int s = 0; s < setups && rc == 0; s++) {
		memset(trial, 0, sizeof(*trial));
		trial->params = params;
		trial->result = result;
		trial->setup = s;
		trial->brief = cases < HY_CONFORM_CASES;
		rc = setup_run(trial, hal, family, variant, (cases + setups - 1) / setups,
			params->packets / setups);
	}
	if (rc == 0 && trial->fusion != NULL)
		rc = conform_fuse_check(trial->fusion, result);
	if (rc == 0)
		rc = conform_outcomes_check(suite, result);
	free(trial);
	return result->outcome == HY_CONFORM_SKIPPED ? 0 : rc;
}
