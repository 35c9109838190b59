/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists: created, found, counted, read again, destroyed. */

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_malloc.h>

#include <hy_grace.h>

#include "acl.h"
#include "lib/graph/internal/log.h"

int
hy_acl_create(const struct hy_acl_params *params, struct hy_acl **out)
{
	struct hy_acl *acl;
	int rc;

	*out = NULL;
	if (params->qsbr == NULL || params->workers == 0 || params->workers > RTE_MAX_LCORE)
		return HY_REFUSE(-EINVAL,
			"access lists need a QSBR variable and 1 to %u workers, found %u",
			RTE_MAX_LCORE, params->workers);
	acl = rte_zmalloc_socket("hy_acl", sizeof(*acl), RTE_CACHE_LINE_SIZE, params->socket);
	if (acl == NULL)
		return -ENOMEM;
	acl->params = *params;
	acl->params.policy.access = true;
	acl->params.policy.qsbr = params->qsbr;
	acl->params.policy.workers = params->workers;
	acl->params.policy.socket = params->socket;
	if (acl->params.log_records == 0)
		acl->params.log_records = 1023;
	if (acl->params.log_ms == 0)
		acl->params.log_ms = 1000;
	acl->table.nb_workers = params->workers;
	acl->table.qsbr = params->qsbr;
	acl->table.log_interval = rte_get_tsc_hz() / 1000 * acl->params.log_ms;
	acl->summed = rte_rdtsc();
	rc = acl_logs_create(acl);
	if (rc < 0) {
		hy_acl_destroy(acl);
		return rc;
	}
	acl_show(acl);
	*out = acl;
	return 0;
}

static void
list_free(struct hy_acl *acl, struct acl_list *list)
{
	for (unsigned int w = 0; list->shown.workers != NULL && w < acl->params.workers; w++)
		rte_free(list->shown.workers[w].logged);
	rte_free(list->shown.workers);
	acl_log_forget(list);
	hy_policy_destroy(list->shown.policy);
	rte_free(list);
}

void
hy_acl_destroy(struct hy_acl *acl)
{
	if (acl == NULL)
		return;
	acl_hide(acl);
	for (unsigned int p = 0; p < RTE_MAX_ETHPORTS; p++) {
		if (acl->offloads[p].offload != NULL)
			hy_offload_closing(acl->offloads[p].offload);
		acl_offload_end(acl, (uint16_t)p);
	}
	for (unsigned int way = 0; way < HY_ACL_WAYS; way++)
		for (unsigned int p = 0; p < RTE_MAX_ETHPORTS; p++)
			acl_place_remove(&acl->places[way][p]);
	while (acl->nb_lists > 0)
		list_free(acl, acl->lists[--acl->nb_lists]);
	acl_logs_destroy(acl);
	rte_free(acl);
}

static bool
is_name(const char *name)
{
	size_t n = 0;

	while (isalnum((unsigned char)name[n]) || (name[n] != '\0' && strchr("_.-", name[n])))
		n++;
	return n > 0 && n <= HY_ACL_NAME_MAX && name[n] == '\0';
}

/* What workers write to. */
static int
workers_make(struct hy_acl *acl, struct acl_list *list)
{
	const size_t room = hy_policy_nb_counters(list->shown.policy) * sizeof(struct hy_acl_last);

	list->shown.workers = rte_zmalloc_socket("hy_acl",
		acl->params.workers * sizeof(*list->shown.workers), RTE_CACHE_LINE_SIZE,
		acl->params.socket);
	if (list->shown.workers == NULL)
		return -ENOMEM;
	for (unsigned int w = 0; w < acl->params.workers; w++) {
		list->shown.workers[w].logged = rte_zmalloc_socket("hy_acl", room,
			RTE_CACHE_LINE_SIZE, acl->params.socket);
		if (list->shown.workers[w].logged == NULL)
			return -ENOMEM;
	}
	return 0;
}

static uint32_t
number_free(const struct hy_acl *acl)
{
	uint32_t number = 0;

	while (number < HY_ACL_LISTS && acl->table.lists[number] != NULL)
		number++;
	return number;
}

int
hy_acl_list_create(struct hy_acl *acl, const char *name, const char *path,
	struct hy_policy **policy)
{
	static uint32_t serials;
	const uint32_t number = number_free(acl);
	struct acl_list *list;
	int rc;

	if (!is_name(name))
		return -EINVAL;
	if (acl_find(acl, name) != NULL)
		return -EEXIST;
	if (number == HY_ACL_LISTS)
		return -ENOSPC;
	list = rte_zmalloc_socket("hy_acl", sizeof(*list), RTE_CACHE_LINE_SIZE, acl->params.socket);
	if (list == NULL)
		return -ENOMEM;
	strcpy(list->name, name);
	snprintf(list->what, sizeof(list->what), "acl %s", name);
	list->path = path;
	list->number = number;
	list->shown.serial = __atomic_add_fetch(&serials, 1, __ATOMIC_RELAXED);
	rc = hy_policy_create(name, &acl->params.policy, &list->shown.policy);
	if (rc == 0)
		rc = workers_make(acl, list);
	if (rc < 0) {
		list_free(acl, list);
		return rc;
	}
	acl->lists[acl->nb_lists++] = list;
	__atomic_store_n(&acl->table.lists[number], &list->shown, __ATOMIC_RELEASE);
	*policy = list->shown.policy;
	return 0;
}

/* Whether all workers have left what they read before now. */
static bool
workers_left(const struct hy_acl *acl)
{
	return hy_grace_wait(acl->params.qsbr, hy_grace_start(acl->params.qsbr));
}

static bool
is_bound(const struct hy_acl *acl, const struct acl_list *list)
{
	for (unsigned int p = 0; p < RTE_MAX_ETHPORTS; p++)
		if (acl->offloads[p].list == list)
			return true;
	for (unsigned int way = 0; way < HY_ACL_WAYS; way++)
		for (unsigned int p = 0; p < RTE_MAX_ETHPORTS; p++)
			if (acl->places[way][p].arc != NULL &&
				acl->places[way][p].bound == list->number)
				return true;
	return false;
}

int
hy_acl_list_destroy(struct hy_acl *acl, const char *name)
{
	struct acl_list *list = acl_find(acl, name);
	unsigned int i = 0;

	if (list == NULL)
		return -ENOENT;
	if (is_bound(acl, list))
		return -EBUSY;
	/* A walk that began before the list was unbound may still look for it. */
	if (!workers_left(acl))
		return -ETIMEDOUT;
	__atomic_store_n(&acl->table.lists[list->number], NULL, __ATOMIC_RELEASE);
	if (!workers_left(acl)) {
		__atomic_store_n(&acl->table.lists[list->number], &list->shown, __ATOMIC_RELEASE);
		return -ETIMEDOUT;
	}
	while (acl->lists[i] != list)
		i++;
	acl->nb_lists--;
	for (; i < acl->nb_lists; i++)
		acl->lists[i] = acl->lists[i + 1];
	list_free(acl, list);
	return 0;
}

struct acl_list *
acl_find(const struct hy_acl *acl, const char *name)
{
	for (unsigned int i = 0; i < acl->nb_lists; i++)
		if (strcmp(acl->lists[i]->name, name) == 0)
			return acl->lists[i];
	return NULL;
}

struct acl_list *
acl_by_serial(const struct hy_acl *acl, uint32_t serial)
{
	for (unsigned int i = 0; i < acl->nb_lists; i++)
		if (acl->lists[i]->shown.serial == serial)
			return acl->lists[i];
	return NULL;
}

struct hy_policy *
hy_acl_list(const struct hy_acl *acl, const char *name)
{
	const struct acl_list *list = acl_find(acl, name);

	return list == NULL ? NULL : list->shown.policy;
}

const char *
hy_acl_list_at(const struct hy_acl *acl, unsigned int i)
{
	return i < acl->nb_lists ? acl->lists[i]->name : NULL;
}

static void
counts_sum(const struct hy_acl *acl, const struct acl_list *list, struct hy_acl_counts *sum)
{
	uint64_t *to = (uint64_t *)sum;

	*sum = (struct hy_acl_counts){ 0 };
	for (unsigned int w = 0; w < acl->params.workers; w++) {
		const uint64_t *from = (const uint64_t *)&list->shown.workers[w].counts;

		for (size_t c = 0; c < sizeof(*sum) / sizeof(*to); c++)
			to[c] += __atomic_load_n(&from[c], __ATOMIC_RELAXED);
	}
	sum->hardware = hy_policy_hardware(list->shown.policy, HY_POLICY_ALL);
}

int
hy_acl_counts(const struct hy_acl *acl, const char *name, struct hy_acl_counts *counts)
{
	const struct acl_list *list = acl_find(acl, name);
	const uint64_t *base;
	uint64_t *to = (uint64_t *)counts;

	if (list == NULL)
		return -ENOENT;
	counts_sum(acl, list, counts);
	base = (const uint64_t *)&list->base;
	for (size_t c = 0; c < sizeof(*counts) / sizeof(*to); c++)
		to[c] -= base[c];
	return 0;
}

int
hy_acl_clear(struct hy_acl *acl, const char *name)
{
	struct acl_list *list = acl_find(acl, name);

	if (list == NULL)
		return -ENOENT;
	acl_log_follow(list); /* all packets of new rules are logged */
	hy_acl_offload_read(acl);
	counts_sum(acl, list, &list->base);
	hy_policy_clear(list->shown.policy);
	return 0;
}

int
hy_acl_reload(struct hy_acl *acl, const char *name, const char *path, char *error)
{
	struct acl_list *list = acl_find(acl, name);
	int rc;

	if (list == NULL)
		return HY_REASON(-ENOENT, error, HY_ACL_ERROR_SIZE, "there is no list '%s'", name);
	if (path == NULL)
		path = list->path;
	if (path == NULL)
		return HY_REASON(-EINVAL, error, HY_ACL_ERROR_SIZE, "list '%s' has no file", name);
	acl_log_follow(list); /* before rules change again */
	rc = hy_policy_load(list->shown.policy, path, error);
	if (rc < 0)
		return rc;
	rc = hy_policy_commit(list->shown.policy);
	if (rc < 0)
		snprintf(error, HY_ACL_ERROR_SIZE, "%s", hy_reload_commit_error(rc));
	hy_policy_abort(list->shown.policy);
	return rc;
}

unsigned int
hy_acl_rules(const struct hy_acl *acl, struct hy_reload_rules rules[])
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < acl->nb_lists; i++)
		if (acl->lists[i]->path != NULL)
			rules[n++] = (struct hy_reload_rules){ .what = acl->lists[i]->what,
				.policy = acl->lists[i]->shown.policy,
				.path = acl->lists[i]->path };
	return n;
}
