/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The log. Workers record single packets; how many others a rule had is what its counter says beyond
 * those. So a sum is exact, whatever the workers had no room for.
 */

#include <errno.h>
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_malloc.h>
#include <rte_ring_elem.h>

#include "acl.h"

int
acl_logs_create(struct hy_acl *acl)
{
	static unsigned int made; /* names of rings are unique in the process */
	const unsigned int n = acl->params.log_records;

	if ((n & (n + 1)) != 0)
		return -EINVAL;
	acl->table.logs = rte_zmalloc_socket("hy_acl",
		acl->params.workers * sizeof(*acl->table.logs), RTE_CACHE_LINE_SIZE,
		acl->params.socket);
	if (acl->table.logs == NULL)
		return -ENOMEM;
	for (unsigned int w = 0; w < acl->params.workers; w++) {
		char name[RTE_RING_NAMESIZE];

		snprintf(name, sizeof(name), "hy_acl_%u",
			__atomic_fetch_add(&made, 1, __ATOMIC_RELAXED));
		acl->table.logs[w].records = rte_ring_create_elem(name,
			sizeof(struct hy_acl_record), n + 1, acl->params.socket,
			RING_F_SP_ENQ | RING_F_SC_DEQ);
		if (acl->table.logs[w].records == NULL)
			return -ENOMEM;
	}
	return 0;
}

void
acl_logs_destroy(struct hy_acl *acl)
{
	for (unsigned int w = 0; acl->table.logs != NULL && w < acl->params.workers; w++)
		rte_ring_free(acl->table.logs[w].records);
	rte_free(acl->table.logs);
	acl->table.logs = NULL;
}

static int
by_rule(const void *a, const void *b)
{
	const struct acl_logged *la = a, *lb = b;

	if (la->rule != lb->rule)
		return la->rule < lb->rule ? -1 : 1;
	return la->index < lb->index ? -1 : la->index > lb->index;
}

static struct acl_logged *
logged_find(const struct acl_list *list, uint32_t rule, uint32_t index)
{
	const struct acl_logged key = { .rule = rule, .index = index };

	return list->nb_logged == 0
		? NULL
		: bsearch(&key, list->logged, list->nb_logged, sizeof(*list->logged), by_rule);
}

static uint64_t
packets_of(const struct acl_list *list, uint32_t index, uint64_t *since)
{
	uint64_t now;

	hy_policy_packets(list->shown.policy, index, since, &now);
	return now;
}

/* A rule of the view. What it counted while it was not logged is left out. */
static struct acl_logged
logged_begin(const struct acl_list *list, const struct hy_policy_rule *rule)
{
	struct acl_logged begun = { .rule = rule->rule.id, .index = rule->index };
	const struct acl_logged *known = logged_find(list, begun.rule, begun.index);
	const struct hy_policy_rule *before = list->view == NULL
		? NULL
		: hy_policy_view_find(list->view, begun.rule);
	uint64_t since;
	const uint64_t now = packets_of(list, begun.index, &since);

	if (known != NULL)
		begun.told = known->told;
	else
		begun.told = before != NULL && before->index == begun.index ? now : since;
	return begun;
}

/* Adds those of the list that are not among the n rules. Returns how many there are then. */
static uint32_t
gone_add(const struct acl_list *list, struct acl_logged logged[], uint32_t n)
{
	const uint32_t there = n;

	for (uint32_t i = 0; i < list->nb_logged; i++) {
		const struct acl_logged *old = &list->logged[i];
		uint64_t since;

		if (bsearch(old, logged, there, sizeof(*logged), by_rule) != NULL)
			continue;
		logged[n] = *old;
		if (!old->gone)
			logged[n].last = packets_of(list, old->index, &since);
		logged[n++].gone = true;
	}
	return n;
}

/* Without memory, the next call tries again. */
void
acl_log_follow(struct acl_list *list)
{
	const struct hy_policy_view *view;
	struct acl_logged *logged;
	uint32_t n = list->nb_logged;

	if (hy_policy_view(list->shown.policy) == list->view)
		return;
	view = hy_policy_view_hold(list->shown.policy);
	for (uint32_t r = 0; r < view->nb_rules; r++)
		n += view->rules[r].rule.log;
	logged = calloc(RTE_MAX(n, 1u), sizeof(*logged));
	if (logged == NULL) {
		hy_policy_view_release(list->shown.policy, view);
		return;
	}
	n = 0;
	for (uint32_t r = 0; r < view->nb_rules; r++)
		if (view->rules[r].rule.log)
			logged[n++] = logged_begin(list, &view->rules[r]);
	qsort(logged, n, sizeof(*logged), by_rule);
	n = gone_add(list, logged, n);
	qsort(logged, n, sizeof(*logged), by_rule);
	acl_log_forget(list);
	list->view = view;
	list->logged = logged;
	list->nb_logged = n;
	list->has_gone = true;
}

void
acl_log_forget(struct acl_list *list)
{
	if (list->view != NULL)
		hy_policy_view_release(list->shown.policy, list->view);
	free(list->logged);
	list->view = NULL;
	list->logged = NULL;
	list->nb_logged = 0;
}

static void
records_tell(struct hy_acl *acl, struct hy_acl_log *log, hy_acl_tell_t *tell, void *arg)
{
	struct hy_acl_event event = { 0 };

	while (rte_ring_sc_dequeue_elem(log->records, &event.record, sizeof(event.record)) == 0) {
		const struct acl_list *list = acl_by_serial(acl, event.record.serial);
		struct acl_logged *logged;

		if (list == NULL) {
			acl->orphaned++;
			continue;
		}
		logged = logged_find(list, event.record.rule, event.record.index);
		if (logged != NULL)
			logged->told++;
		event.list = list->name;
		event.rule = event.record.rule;
		acl->log.logged++;
		tell(&event, arg);
	}
}

/* Tells the sums that are due. One that was told too much of, as a record came late, makes up for it. */
static void
sums_tell(struct hy_acl *acl, struct acl_list *list, bool due, hy_acl_tell_t *tell, void *arg)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < list->nb_logged && (due || list->has_gone); i++) {
		struct acl_logged *logged = &list->logged[i];
		struct hy_acl_event event = { .list = list->name, .rule = logged->rule };
		uint64_t since, now = logged->last;

		if (!logged->gone)
			now = due ? packets_of(list, logged->index, &since) : logged->told;
		if (now > logged->told) {
			event.more = now - logged->told;
			logged->told = now;
			acl->log.more += event.more;
			tell(&event, arg);
		}
		if (!logged->gone)
			list->logged[kept++] = *logged;
	}
	if (due || list->has_gone)
		list->nb_logged = kept;
	list->has_gone = false;
}

void
hy_acl_log_drain(struct hy_acl *acl, bool all, hy_acl_tell_t *tell, void *arg)
{
	const uint64_t now = rte_rdtsc();
	const bool due = all || now - acl->summed >= acl->table.log_interval;

	for (unsigned int i = 0; i < acl->nb_lists; i++)
		acl_log_follow(acl->lists[i]);
	for (unsigned int w = 0; w < acl->params.workers; w++)
		records_tell(acl, &acl->table.logs[w], tell, arg);
	for (unsigned int i = 0; i < acl->nb_lists; i++)
		sums_tell(acl, acl->lists[i], due, tell, arg);
	if (due)
		acl->summed = now;
}

void
hy_acl_log_counts(const struct hy_acl *acl, struct hy_acl_log_counts *counts)
{
	*counts = acl->log;
	counts->lost = acl->orphaned;
	for (unsigned int w = 0; w < acl->params.workers; w++)
		counts->lost += __atomic_load_n(&acl->table.logs[w].lost, __ATOMIC_RELAXED);
}
