/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bridge's file read again. Static entries are changed first, since the table may refuse one;
 * then the set-up is exchanged, which cannot fail. Learned entries are deleted only at the end, when
 * nothing is taken back any more.
 */

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <hy_signals.h>

#include "bridge.h"
#include "lib/graph/internal/log.h"

/* States set by command stay, unless the file changes them. */
static void
states_read(struct hy_bridge *bridge)
{
	struct bridge_reload *r = &bridge->reload;

	for (unsigned int i = 0; i < bridge->nb_ports; i++) {
		const uint8_t was = bridge->file->port[i].rules.state;
		const uint8_t is = r->file->port[i].rules.state;

		r->state[i] = is == was ? bridge->state[i] : is;
	}
}

static int
on_read(void *arg, const char *path __rte_unused, char *error)
{
	struct hy_bridge *bridge = arg;
	struct bridge_reload *r = &bridge->reload;
	struct bridge_place at = { .path = bridge->path, .error = error };
	int rc;

	*r = (struct bridge_reload){ 0 };
	rc = bridge_file_read(bridge, &r->file, error);
	if (rc < 0)
		return rc;
	at.line = r->file->entries_line;
	if (r->file->entries != bridge->file->entries)
		return bridge_refuse(&at, "entries",
			"the table has room for %u, which cannot change while frames flow; found %u",
			bridge->file->entries, r->file->entries);
	rc = bridge_statics_fit(bridge, r->file, error);
	if (rc < 0)
		return rc;
	states_read(bridge);
	r->setup = bridge_setup_make(bridge, r->file, r->state);
	r->changes = calloc(bridge->file->nb_statics + r->file->nb_statics + 1,
		sizeof(*r->changes));
	if (r->setup == NULL || r->changes == NULL)
		return HY_REASON(-ENOMEM, error, HY_BRIDGE_ERROR_SIZE, "out of memory");
	return 0;
}

/* Remembers what is there of a key before it changes. */
static struct bridge_change *
remember(struct hy_bridge *bridge, uint64_t key)
{
	struct bridge_change *c = &bridge->reload.changes[bridge->reload.nb_changes];

	c->key = key;
	c->had = hy_l2_get(bridge->table, key, &c->before) == 0;
	return c;
}

static bool
has_key(const struct bridge_file *file, uint64_t key)
{
	unsigned int low = 0, high = file->nb_statics;

	while (low < high) {
		const unsigned int middle = (low + high) / 2;

		if (file->statics[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low < file->nb_statics && file->statics[low].key == key;
}

/* Deletes the static entries that the file has no more. */
static void
statics_delete(struct hy_bridge *bridge)
{
	struct bridge_reload *r = &bridge->reload;

	for (unsigned int i = 0; i < bridge->file->nb_statics; i++) {
		const uint64_t key = bridge->file->statics[i].key;
		const struct bridge_change *c = remember(bridge, key);

		if (has_key(r->file, key) || !c->had || !c->before.is_static)
			continue;
		hy_l2_delete(bridge->table, key);
		r->nb_changes++;
		r->deleted++;
	}
}

/* Adds those that are not there. */
static int
statics_add(struct hy_bridge *bridge)
{
	struct bridge_reload *r = &bridge->reload;

	for (unsigned int i = 0; i < r->file->nb_statics; i++) {
		const struct bridge_static *entry = &r->file->statics[i];
		const struct bridge_change *c = remember(bridge, entry->key);
		int rc;

		if (c->had && c->before.is_static && c->before.port == entry->port)
			continue;
		rc = hy_l2_add(bridge->table, entry->key, entry->port);
		if (rc < 0)
			return rc;
		r->nb_changes++;
		r->added++;
	}
	return 0;
}

/* There was room for what was there before: only a worker that hangs can delay it. */
static void
statics_undo(struct hy_bridge *bridge)
{
	struct bridge_reload *r = &bridge->reload;

	while (r->nb_changes > 0) {
		const struct bridge_change *c = &r->changes[--r->nb_changes];
		const struct hy_l2_source source = { .key = c->key, .port = c->before.port };
		uint8_t outcome;

		if (!c->had || !c->before.is_static)
			hy_l2_delete(bridge->table, c->key);
		if (c->had && !c->before.is_static)
			hy_l2_learn(bridge->table, &source, &outcome, 1);
		while (c->had && c->before.is_static &&
			hy_l2_add(bridge->table, c->key, c->before.port) == -ETIMEDOUT &&
			!hy_stopping())
			;
	}
}

/* Exchanges what is in force for what the reload holds. */
static void
swap(struct hy_bridge *bridge)
{
	struct bridge_reload *r = &bridge->reload;
	struct bridge_file *file = bridge->file;
	uint8_t state[BRIDGE_PORTS];

	bridge->file = r->file;
	r->file = file;
	memcpy(state, bridge->state, sizeof(state));
	memcpy(bridge->state, r->state, sizeof(state));
	memcpy(r->state, state, sizeof(state));
	r->setup = bridge_setup_exchange(bridge, r->setup);
	bridge_limits(bridge);
	r->applied = !r->applied;
}

static int
on_apply(void *arg, char *error)
{
	struct hy_bridge *bridge = arg;
	int rc;

	statics_delete(bridge);
	rc = statics_add(bridge);
	if (rc < 0) {
		statics_undo(bridge);
		return HY_REASON(rc, error, HY_BRIDGE_ERROR_SIZE, "%s: static entries: %s",
			bridge->path,
			rc == -ENOSPC ? "the table is full; see the command flush"
				      : "the table has no free slot, since a worker hangs");
	}
	swap(bridge);
	return 0;
}

static void
on_undo(void *arg)
{
	struct hy_bridge *bridge = arg;

	swap(bridge);
	statics_undo(bridge);
}

/* How many ports differ. */
static unsigned int
ports_changed(const struct hy_bridge *bridge)
{
	const struct bridge_reload *r = &bridge->reload;
	unsigned int n = 0;

	for (unsigned int i = 0; i < bridge->nb_ports; i++)
		n += memcmp(&bridge->file->port[i], &r->file->port[i],
			     offsetof(struct bridge_port, line)) != 0;
	return n;
}

static void
on_say(void *arg, FILE *out)
{
	const struct hy_bridge *bridge = arg;
	const struct bridge_reload *r = &bridge->reload;

	fprintf(out, "bridge: %u of %u ports changed, %u static entries added, %u deleted",
		ports_changed(bridge), bridge->nb_ports, r->added, r->deleted);
}

static void
on_end(void *arg)
{
	struct hy_bridge *bridge = arg;
	struct bridge_reload *r = &bridge->reload;

	bridge_setup_retire(bridge, r->setup);
	if (r->applied && ports_changed(bridge) > 0)
		bridge_sweep(bridge);
	bridge_setup_settle(bridge, true);
	bridge_file_free(r->file);
	free(r->changes);
	*r = (struct bridge_reload){ 0 };
}

struct hy_reload_part
hy_bridge_part(struct hy_bridge *bridge)
{
	return (struct hy_reload_part){
		.what = "bridge",
		.path = bridge->path,
		.read = on_read,
		.apply = on_apply,
		.undo = on_undo,
		.end = on_end,
		.say = on_say,
		.arg = bridge,
	};
}
