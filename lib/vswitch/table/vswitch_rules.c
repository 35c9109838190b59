/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules are added, changed, deleted, counted and printed. */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include <hy_file.h>

#include "lib/vswitch/vswitch.h"

/* Whether it is one to add, and not one that selects others. */
static bool
is_whole(const struct hy_vswitch_rule *rule)
{
	return rule->table < HY_VSWITCH_TABLES && rule->nb_actions <= HY_VSWITCH_ACTIONS;
}

/*
 * The rules that one selects, one after the other: the first from slot *at on, which is then the one behind it.
 * NULL: there are no more. A strict one selects one of each table at most, from table *at on.
 */
static struct vswitch_entry *
select_next(const struct hy_vswitch *vswitch, const struct hy_vswitch_rule *rule, bool strict,
	uint32_t *at)
{
	struct vswitch_set *set = vswitch->set;

	while (strict && *at < HY_VSWITCH_TABLES) {
		const uint32_t table = (*at)++;
		const bool is_meant = rule->table == HY_VSWITCH_TABLES || rule->table == table;
		struct vswitch_entry *entry = is_meant ? vswitch_set_same(set, table, rule) : NULL;

		if (entry != NULL)
			return entry;
	}
	while (!strict && *at < set->slots) {
		struct vswitch_entry *entry = set->slot[(*at)++];

		if (entry != NULL && vswitch_selects(rule, false, entry))
			return entry;
	}
	return NULL;
}

/* With the lock. */
static int
add(struct hy_vswitch *vswitch, const struct hy_vswitch_rule *rule, uint64_t now)
{
	const struct vswitch_entry *same = vswitch_set_same(vswitch->set, rule->table, rule);
	const uint64_t before = same == NULL ? 0 : same->id;
	struct vswitch_entry *entry;
	int rc = vswitch_set_add(vswitch->set, rule, vswitch->order, now, &entry);

	if (rc < 0)
		return rc;
	vswitch->order++;
	if (same != NULL) /* the new one is met by the packets that met it, and by no others */
		vswitch_log_gone(vswitch, before);
	else
		vswitch_log_new(vswitch, entry);
	return 0;
}

int
hy_vswitch_add(struct hy_vswitch *vswitch, const struct hy_vswitch_rule *rule, uint64_t now)
{
	int rc;

	if (!is_whole(rule))
		return -EINVAL;
	pthread_mutex_lock(&vswitch->lock);
	rc = add(vswitch, rule, now);
	pthread_mutex_unlock(&vswitch->lock);
	return rc;
}

static void
entry_modify(struct hy_vswitch *vswitch, struct vswitch_entry *entry,
	const struct hy_vswitch_rule *rule, struct vswitch_actions *actions)
{
	vswitch_log_gone(vswitch, entry->id);
	vswitch_actions_drop(entry->actions);
	actions->refs++;
	entry->actions = actions;
	entry->cookie = rule->cookie;
}

int
hy_vswitch_modify(struct hy_vswitch *vswitch, const struct hy_vswitch_rule *rule, bool strict,
	uint64_t now, uint32_t *n)
{
	struct vswitch_actions *actions;
	struct vswitch_entry *entry;
	uint32_t changed = 0, at = 0;
	int rc = 0;

	if (!is_whole(rule))
		return -EINVAL;
	actions = vswitch_actions_make(rule);
	if (actions == NULL)
		return -ENOMEM;
	pthread_mutex_lock(&vswitch->lock);
	for (; (entry = select_next(vswitch, rule, strict, &at)) != NULL; changed++)
		entry_modify(vswitch, entry, rule, actions);
	if (changed == 0)
		rc = add(vswitch, rule, now);
	vswitch_actions_drop(actions);
	pthread_mutex_unlock(&vswitch->lock);
	if (rc == 0 && n != NULL)
		*n = changed;
	return rc;
}

static void
entry_remove(struct hy_vswitch *vswitch, struct vswitch_entry *entry)
{
	vswitch_log_gone(vswitch, entry->id);
	vswitch_set_remove(vswitch->set, entry);
}

uint32_t
hy_vswitch_delete(struct hy_vswitch *vswitch, const struct hy_vswitch_rule *rule, bool strict)
{
	uint32_t deleted = 0, at = 0;
	struct vswitch_entry *entry;

	pthread_mutex_lock(&vswitch->lock);
	for (; (entry = select_next(vswitch, rule, strict, &at)) != NULL; deleted++)
		entry_remove(vswitch, entry);
	vswitch_set_settle(vswitch->set);
	pthread_mutex_unlock(&vswitch->lock);
	return deleted;
}

uint32_t
hy_vswitch_rules(struct hy_vswitch *vswitch)
{
	uint32_t n;

	pthread_mutex_lock(&vswitch->lock);
	n = vswitch->set->n;
	pthread_mutex_unlock(&vswitch->lock);
	return n;
}

int
hy_vswitch_get(struct hy_vswitch *vswitch, uint64_t id, struct hy_vswitch_rule *rule,
	struct hy_vswitch_stats *stats)
{
	const struct vswitch_entry *entry;

	pthread_mutex_lock(&vswitch->lock);
	entry = vswitch_set_get(vswitch->set, id);
	if (entry != NULL) {
		vswitch_entry_rule(entry, rule);
		if (stats != NULL)
			*stats = entry->stats;
	}
	pthread_mutex_unlock(&vswitch->lock);
	return entry != NULL ? 0 : -ENOENT;
}

void
hy_vswitch_count(struct hy_vswitch *vswitch, const uint64_t rules[], uint32_t n, uint64_t packets,
	uint64_t bytes, uint64_t now)
{
	pthread_mutex_lock(&vswitch->lock);
	for (uint32_t i = 0; i < n; i++) {
		struct vswitch_entry *entry = vswitch_set_get(vswitch->set, rules[i]);

		if (entry == NULL || packets == 0)
			continue;
		entry->stats.packets += packets;
		entry->stats.bytes += bytes;
		entry->stats.used = RTE_MAX(entry->stats.used, now);
	}
	pthread_mutex_unlock(&vswitch->lock);
}

/* Since a time. Another thread may have read the clock later, and be here first. */
static uint64_t
since(uint64_t then, uint64_t now)
{
	return now > then ? now - then : 0;
}

static bool
is_over(const struct vswitch_entry *entry, uint64_t now)
{
	return (entry->idle_timeout != 0 &&
		       since(entry->stats.used, now) >= entry->idle_timeout * UINT64_C(1000)) ||
		(entry->hard_timeout != 0 &&
			since(entry->stats.added, now) >= entry->hard_timeout * UINT64_C(1000));
}

uint32_t
hy_vswitch_expire(struct hy_vswitch *vswitch, uint64_t now)
{
	struct vswitch_set *set;
	uint32_t before, deleted;

	pthread_mutex_lock(&vswitch->lock);
	set = vswitch->set;
	before = set->n;
	for (uint32_t i = 0; i < set->slots; i++)
		if (set->slot[i] != NULL && is_over(set->slot[i], now))
			entry_remove(vswitch, set->slot[i]);
	vswitch_set_settle(set);
	deleted = before - set->n;
	pthread_mutex_unlock(&vswitch->lock);
	return deleted;
}

static int
by_rank(const void *a, const void *b)
{
	const struct vswitch_entry *const *x = a, *const *y = b;

	if ((*x)->table != (*y)->table)
		return (*x)->table < (*y)->table ? -1 : 1;
	if ((*x)->priority != (*y)->priority)
		return (*x)->priority > (*y)->priority ? -1 : 1;
	return (*x)->order < (*y)->order ? -1 : (*x)->order > (*y)->order;
}

static void
print_entry(const struct vswitch_entry *entry, uint64_t now, struct hy_vswitch_rule *rule,
	char *text, FILE *out)
{
	vswitch_entry_rule(entry, rule);
	hy_vswitch_rule_format(rule, text);
	fprintf(out,
		"duration=%" PRIu64 ".%03" PRIu64 ",n_packets=%" PRIu64 ",n_bytes=%" PRIu64
		",idle_age=%" PRIu64 ",%s\n",
		since(entry->stats.added, now) / 1000, since(entry->stats.added, now) % 1000,
		entry->stats.packets, entry->stats.bytes, since(entry->stats.used, now) / 1000,
		text);
}

int
hy_vswitch_print(struct hy_vswitch *vswitch, const struct hy_vswitch_rule *select, uint64_t now,
	FILE *out)
{
	struct vswitch_entry **entries;
	struct hy_vswitch_rule rule;
	char text[HY_VSWITCH_TEXT_SIZE], *bytes = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&bytes, &size); /* whoever reads `out` may be slow */
	uint32_t n = 0;
	int rc;

	if (stream == NULL)
		return -ENOMEM;
	pthread_mutex_lock(&vswitch->lock);
	entries = calloc(vswitch->set->n + 1, sizeof(struct vswitch_entry *));
	if (entries == NULL) {
		pthread_mutex_unlock(&vswitch->lock);
		fclose(stream);
		free(bytes);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < vswitch->set->slots; i++)
		if (vswitch->set->slot[i] != NULL &&
			(select == NULL || vswitch_selects(select, false, vswitch->set->slot[i])))
			entries[n++] = vswitch->set->slot[i];
	qsort(entries, n, sizeof(struct vswitch_entry *), by_rank);
	for (uint32_t i = 0; i < n; i++)
		print_entry(entries[i], now, &rule, text, stream);
	pthread_mutex_unlock(&vswitch->lock);
	free(entries);
	if (fclose(stream) != 0) {
		free(bytes);
		return -ENOMEM;
	}
	fwrite(bytes, 1, size, out);
	rc = hy_output_flush(out);
	free(bytes);
	return rc;
}
