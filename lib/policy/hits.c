/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hit counters. Each worker has an array of its own, which it alone writes and nobody clears: a
 * counter that goes to another rule starts at what it stands at, its base.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>

#include "policy.h"

static uint32_t
nb_slots(const struct hy_policy *policy)
{
	return 2 * policy->params.max_rules;
}

static int
workers_create(struct hy_policy *policy)
{
	policy->hits = calloc(policy->params.workers, sizeof(*policy->hits));
	if (policy->hits == NULL)
		return -ENOMEM;
	policy->shown.hits = policy->hits;
	if (policy->params.access) {
		/* Pages that nothing is counted in cost no memory. */
		policy->hardware = calloc(nb_slots(policy), sizeof(*policy->hardware));
		if (policy->hardware == NULL)
			return -ENOMEM;
	}
	for (unsigned int w = 0; w < policy->params.workers; w++) {
		policy->hits[w] = rte_zmalloc_socket("hy_policy_hits",
			nb_slots(policy) * sizeof(*policy->hits[w]), RTE_CACHE_LINE_SIZE,
			policy->params.socket);
		if (policy->hits[w] == NULL)
			return -ENOMEM;
	}
	return 0;
}

int
policy_hits_create(struct hy_policy *policy)
{
	policy->class_hits = calloc(POLICY_CLASSES, sizeof(*policy->class_hits));
	policy->slots = calloc(nb_slots(policy), sizeof(*policy->slots));
	policy->free_slots = malloc(nb_slots(policy) * sizeof(*policy->free_slots));
	if (policy->class_hits == NULL || policy->slots == NULL || policy->free_slots == NULL)
		return -ENOMEM;
	/* Lowest first, so that rules added together get adjacent counters. */
	for (uint32_t slot = nb_slots(policy); slot-- > 0;)
		policy->free_slots[policy->nb_free++] = slot;
	return workers_create(policy);
}

void
policy_hits_destroy(struct hy_policy *policy)
{
	for (unsigned int w = 0; policy->hits != NULL && w < policy->params.workers; w++)
		rte_free(policy->hits[w]);
	free(policy->hits);
	free(policy->hardware);
	free(policy->free_slots);
	free(policy->slots);
	free(policy->class_hits);
}

static void
counts_add(struct hy_policy_counts *sum, const struct hy_policy_counts *at)
{
	sum->packets += __atomic_load_n(&at->packets, __ATOMIC_RELAXED);
	sum->bytes += __atomic_load_n(&at->bytes, __ATOMIC_RELAXED);
	sum->last = RTE_MAX(sum->last, __atomic_load_n(&at->last, __ATOMIC_RELAXED));
}

/* Of all workers, of hardware, and of all owners. */
static struct hy_policy_counts
slot_sum(const struct hy_policy *policy, uint32_t slot)
{
	struct hy_policy_counts sum = { 0 };

	for (unsigned int w = 0; w < policy->params.workers; w++)
		counts_add(&sum, &policy->hits[w][slot]);
	if (policy->hardware != NULL)
		counts_add(&sum, &policy->hardware[slot]);
	return sum;
}

/* Several ports may count packets of one rule. */
static void
hardware_count(struct hy_policy_counts *at, uint64_t packets, uint64_t bytes, uint64_t now)
{
	__atomic_fetch_add(&at->packets, packets, __ATOMIC_RELAXED);
	__atomic_fetch_add(&at->bytes, bytes, __ATOMIC_RELAXED);
	__atomic_store_n(&at->last, now, __ATOMIC_RELAXED);
}

void
hy_policy_hardware_add(struct hy_policy *policy, uint32_t index, uint64_t packets, uint64_t bytes,
	uint64_t now)
{
	hardware_count(&policy->hardware[index], packets, bytes, now);
	hardware_count(&policy->hardware_all, packets, bytes, now);
}

uint64_t
hy_policy_hardware(const struct hy_policy *policy, uint32_t index)
{
	const struct hy_policy_counts *at = &policy->hardware_all;

	if (policy->hardware == NULL)
		return 0;
	if (index != HY_POLICY_ALL)
		at = &policy->hardware[index];
	return __atomic_load_n(&at->packets, __ATOMIC_RELAXED);
}

void
hy_policy_hardware_counts(const struct hy_policy *policy, uint32_t index,
	struct hy_policy_counts *counts)
{
	*counts = (struct hy_policy_counts){ 0 };
	if (policy->hardware != NULL)
		counts_add(counts, &policy->hardware[index]);
}

bool
hy_policy_is_access(const struct hy_policy *policy)
{
	return policy->params.access;
}

static uint64_t
slot_hits(const struct hy_policy *policy, uint32_t slot)
{
	return slot_sum(policy, slot).packets - policy->slots[slot].base.packets;
}

void
policy_hits_plan(const struct hy_policy *policy, struct policy_view *view)
{
	for (const struct policy_view *v = view; v != NULL; v = v->copy)
		for (uint32_t i = 0; i < v->set->nb_fresh; i++)
			v->set->rules[v->set->fresh[i]].index =
				policy->free_slots[policy->nb_free - 1 - i];
}

void
policy_hits_publish(struct hy_policy *policy, const struct policy_view *view)
{
	for (uint32_t i = 0; i < view->set->nb_fresh; i++) {
		const struct hy_policy_rule *rule = &view->shown.rules[view->set->fresh[i]];

		policy->slots[rule->index] = (struct policy_slot){ .base = slot_sum(policy,
									   rule->index),
			.class_id = rule->rule.class_id,
			.used = true };
	}
	policy->nb_free -= view->set->nb_fresh;
}

void
policy_hits_retire(struct hy_policy *policy, const struct policy_view *view)
{
	for (uint32_t i = 0; i < view->set->nb_left; i++) {
		const uint32_t index = view->set->left[i];
		struct policy_slot *slot = &policy->slots[index];

		policy->class_hits[slot->class_id] += slot_hits(policy, index);
		slot->used = false;
		policy->free_slots[policy->nb_free++] = index;
	}
}

uint64_t
hy_policy_hits(struct hy_policy *policy, uint32_t id)
{
	const struct hy_policy_rule *rule;
	uint64_t hits = 0;

	pthread_mutex_lock(&policy->lock);
	rule = hy_policy_view_find(&policy->view->shown, id);
	if (rule != NULL)
		hits = slot_hits(policy, rule->index);
	pthread_mutex_unlock(&policy->lock);
	return hits;
}

int
hy_policy_counts(struct hy_policy *policy, uint32_t id, struct hy_policy_counts *counts)
{
	const struct hy_policy_rule *rule;

	pthread_mutex_lock(&policy->lock);
	rule = hy_policy_view_find(&policy->view->shown, id);
	if (rule != NULL) {
		const struct hy_policy_counts *base = &policy->slots[rule->index].base;

		*counts = slot_sum(policy, rule->index);
		counts->packets -= base->packets;
		counts->bytes -= base->bytes;
		if (counts->last == base->last)
			counts->last = 0; /* an earlier owner's */
	}
	pthread_mutex_unlock(&policy->lock);
	return rule == NULL ? -ENOENT : 0;
}

void
hy_policy_packets(struct hy_policy *policy, uint32_t index, uint64_t *since, uint64_t *now)
{
	pthread_mutex_lock(&policy->lock);
	*since = policy->slots[index].base.packets;
	*now = slot_sum(policy, index).packets;
	pthread_mutex_unlock(&policy->lock);
}

void
hy_policy_clear(struct hy_policy *policy)
{
	pthread_mutex_lock(&policy->lock);
	for (uint32_t rank = 0; rank < policy->view->shown.nb_rules; rank++) {
		const uint32_t index = policy->view->shown.rules[rank].index;
		struct policy_slot *slot = &policy->slots[index];
		const struct hy_policy_counts now = slot_sum(policy, index);

		policy->class_hits[slot->class_id] += now.packets - slot->base.packets;
		slot->base = now;
	}
	pthread_mutex_unlock(&policy->lock);
}

uint32_t
hy_policy_nb_counters(const struct hy_policy *policy)
{
	return nb_slots(policy);
}

uint64_t
hy_policy_class_hits(struct hy_policy *policy, uint16_t class_id)
{
	uint64_t hits;

	pthread_mutex_lock(&policy->lock);
	hits = policy->class_hits[class_id];
	for (uint32_t slot = 0; slot < nb_slots(policy); slot++)
		if (policy->slots[slot].used && policy->slots[slot].class_id == class_id)
			hits += slot_hits(policy, slot);
	pthread_mutex_unlock(&policy->lock);
	return hits;
}

/* Entries of classes that have hits, from the hits of all. */
static int
classes_list(const uint64_t hits[], struct hy_policy_class **classes, uint32_t *n)
{
	uint32_t i = 0;

	*classes = NULL;
	*n = 0;
	for (uint32_t c = 0; c < POLICY_CLASSES; c++)
		*n += hits[c] > 0;
	if (*n == 0)
		return 0;
	*classes = malloc(*n * sizeof(**classes));
	if (*classes == NULL)
		return -ENOMEM;
	for (uint32_t c = 0; c < POLICY_CLASSES; c++)
		if (hits[c] > 0)
			(*classes)[i++] = (struct hy_policy_class){ (uint16_t)c, hits[c] };
	return 0;
}

int
hy_policy_classes(struct hy_policy *policy, struct hy_policy_class **classes, uint32_t *n)
{
	uint64_t *hits = malloc(POLICY_CLASSES * sizeof(*hits));
	int rc;

	if (hits == NULL)
		return -ENOMEM;
	pthread_mutex_lock(&policy->lock);
	memcpy(hits, policy->class_hits, POLICY_CLASSES * sizeof(*hits));
	for (uint32_t slot = 0; slot < nb_slots(policy); slot++)
		if (policy->slots[slot].used)
			hits[policy->slots[slot].class_id] += slot_hits(policy, slot);
	pthread_mutex_unlock(&policy->lock);
	rc = classes_list(hits, classes, n);
	free(hits);
	return rc;
}
