/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists of operations by what they do and by whose rules, so that each megaflow's packets are counted by
 * its rules, and megaflows that do the same share a list.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_jhash.h>

#include <hy_grace.h>

#include "datapath.h"

/* The last lists are for packets whose rules cannot count: what these do has few forms. */
#define COUNTED (HY_FLOW_OPS_MOST - 4096)

int
datapath_lists_create(struct datapath_lists *lists, const struct hy_workers *workers)
{
	const struct hy_flow_ops_params params = { .name = DATAPATH_NAME,
		.most = HY_FLOW_OPS_MOST,
		.workers = workers->nb,
		.qsbr = workers->qsbr,
		.socket = workers->worker[0].socket };

	return hy_flow_ops_create(&params, &lists->ops);
}

void
datapath_lists_destroy(struct datapath_lists *lists)
{
	for (uint32_t i = 0; i < HY_FLOW_OPS_MOST; i++)
		free(lists->by_number[i]);
	hy_flow_ops_destroy(lists->ops);
}

static uint32_t
hash_of(const struct hy_vswitch_answer *answer, uint32_t nb_rules)
{
	const uint32_t hash = rte_jhash(answer->ops, answer->nb_ops * sizeof(answer->ops[0]),
		answer->nb_ops);

	return rte_jhash(answer->rules, nb_rules * sizeof(answer->rules[0]), hash);
}

static struct datapath_list *
find(const struct datapath_lists *lists, const struct hy_vswitch_answer *answer, uint32_t nb_rules,
	uint32_t hash)
{
	struct datapath_list *list = lists->bucket[hash % DATAPATH_BUCKETS];

	for (; list != NULL; list = list->next)
		if (list->hash == hash && list->nb_ops == answer->nb_ops &&
			list->nb_rules == nb_rules &&
			memcmp(list->ops, answer->ops, answer->nb_ops * sizeof(answer->ops[0])) ==
				0 &&
			memcmp(list->rules, answer->rules, nb_rules * sizeof(answer->rules[0])) ==
				0)
			return list;
	return NULL;
}

/* Makes a list. NULL: there is no room for it. */
static struct datapath_list *
add(struct datapath_lists *lists, const struct hy_vswitch_answer *answer, uint32_t nb_rules,
	uint32_t hash)
{
	struct datapath_list **bucket = &lists->bucket[hash % DATAPATH_BUCKETS];
	const size_t ops = answer->nb_ops * sizeof(answer->ops[0]);
	const size_t rules = nb_rules * sizeof(answer->rules[0]);
	const size_t at = RTE_ALIGN(sizeof(struct datapath_list) + ops, sizeof(uint64_t));
	struct datapath_list *list = calloc(1, at + rules);
	uint64_t *own;

	if (list == NULL)
		return NULL;
	if (hy_flow_ops_add(lists->ops, answer->ops, answer->nb_ops, &list->number) < 0) {
		free(list);
		return NULL;
	}
	own = RTE_PTR_ADD(list, at);
	list->hash = hash;
	list->trail = answer->trail;
	list->nb_ops = answer->nb_ops;
	list->nb_rules = nb_rules;
	memcpy(list->ops, answer->ops, ops);
	memcpy(own, answer->rules, rules);
	list->rules = own;
	list->next = *bucket;
	*bucket = list;
	lists->by_number[list->number] = list;
	lists->counts.lists++;
	return list;
}

/* With the lock. */
static struct datapath_list *
get(struct datapath_lists *lists, const struct hy_vswitch_answer *answer, uint32_t nb_rules,
	uint32_t most)
{
	const uint32_t hash = hash_of(answer, nb_rules);
	struct datapath_list *list = find(lists, answer, nb_rules, hash);

	return list != NULL || lists->counts.lists >= most ? list
							   : add(lists, answer, nb_rules, hash);
}

int
datapath_list_get(struct datapath_lists *lists, const struct hy_vswitch_answer *answer,
	uint32_t *number)
{
	struct datapath_list *list;
	int rc = 0;

	pthread_mutex_lock(&lists->lock);
	list = get(lists, answer, answer->nb_rules, COUNTED);
	if (list == NULL) {
		rc = -ENOSPC;
		lists->wanting = true;
		list = get(lists, answer, 0, HY_FLOW_OPS_MOST);
		if (list != NULL)
			list->partial = true;
		lists->counts.uncounted += list != NULL;
		lists->counts.refused += list == NULL;
	}
	*number = list == NULL ? DATAPATH_NO_LIST : list->number;
	if (list != NULL) {
		list->round = lists->round;
		hy_vswitch_trail_join(&list->trail, &answer->trail);
	}
	pthread_mutex_unlock(&lists->lock);
	return rc;
}

struct datapath_counts
datapath_lists_counts(struct datapath_lists *lists)
{
	struct datapath_counts counts;

	pthread_mutex_lock(&lists->lock);
	counts = lists->counts;
	pthread_mutex_unlock(&lists->lock);
	return counts;
}

void
datapath_list_mark(struct datapath_lists *lists, uint16_t number)
{
	pthread_mutex_lock(&lists->lock);
	if (lists->by_number[number] != NULL)
		lists->by_number[number]->round = lists->round;
	pthread_mutex_unlock(&lists->lock);
}

/* Has the rules of a list count what is new. */
static void
count(struct datapath_lists *lists, struct datapath_list *list, struct hy_vswitch *rules,
	uint64_t now_ms)
{
	uint64_t packets = 0, bytes = 0;

	hy_flow_ops_count(lists->ops, list->number, &packets, &bytes);
	if (packets == list->packets && bytes == list->bytes)
		return;
	hy_vswitch_count(rules, list->rules, list->nb_rules, packets - list->packets,
		bytes - list->bytes, now_ms);
	list->packets = packets;
	list->bytes = bytes;
}

void
datapath_lists_count(struct datapath_lists *lists, struct hy_vswitch *rules, uint64_t now_ms)
{
	pthread_mutex_lock(&lists->lock);
	for (uint32_t i = 0, n = 0; n < lists->counts.lists; i++) {
		if (lists->by_number[i] == NULL)
			continue;
		count(lists, lists->by_number[i], rules, now_ms);
		n++;
	}
	pthread_mutex_unlock(&lists->lock);
}

bool
datapath_list_drops(struct datapath_lists *lists, uint16_t number)
{
	bool drops;

	pthread_mutex_lock(&lists->lock);
	drops = lists->by_number[number] != NULL && lists->by_number[number]->nb_ops == 0;
	pthread_mutex_unlock(&lists->lock);
	return drops;
}

void
datapath_list_credit(struct datapath_lists *lists, struct hy_vswitch *rules, uint16_t number,
	uint64_t packets, uint64_t bytes, uint64_t now_ms)
{
	const struct datapath_list *list;

	pthread_mutex_lock(&lists->lock);
	list = lists->by_number[number];
	if (list != NULL)
		hy_vswitch_count(rules, list->rules, list->nb_rules, packets, bytes, now_ms);
	pthread_mutex_unlock(&lists->lock);
}

/* Deletes a list. With the lock. */
static void
drop(struct datapath_lists *lists, struct datapath_list *list)
{
	struct datapath_list **at = &lists->bucket[list->hash % DATAPATH_BUCKETS];

	while (*at != list)
		at = &(*at)->next;
	*at = list->next;
	lists->by_number[list->number] = NULL;
	lists->counts.lists--;
	hy_flow_ops_delete(lists->ops, list->number);
	free(list);
}

uint32_t
datapath_lists_sweep(struct datapath_lists *lists, struct hy_vswitch *rules, uint64_t now_ms)
{
	uint32_t dropped = 0;

	pthread_mutex_lock(&lists->lock);
	for (uint32_t i = 0; i < HY_FLOW_OPS_MOST; i++) {
		struct datapath_list *list = lists->by_number[i];

		if (list == NULL || list->round == lists->round)
			continue;
		count(lists, list, rules, now_ms);
		drop(lists, list);
		dropped++;
	}
	pthread_mutex_unlock(&lists->lock);
	return dropped;
}
