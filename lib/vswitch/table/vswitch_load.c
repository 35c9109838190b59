/* SPDX-License-Identifier: BSD-3-Clause */
/* All rules from a file: a new set is filled, and takes the place of the old one when it is complete. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <hy_file.h>

#include "lib/vswitch/vswitch.h"

#define SPACE " \t\r\n"

/* A file while it is read. */
struct load {
	struct hy_vswitch *vswitch;
	struct vswitch_set *set;
	uint64_t order, now;
	struct hy_vswitch_rule rule;
	struct hy_file file;
	char why[HY_VSWITCH_ERROR_SIZE];
};

/* A rule that was there before keeps its id, its counts and times. */
static void
inherit(struct load *load, struct vswitch_entry *entry)
{
	const struct vswitch_entry *old = vswitch_set_same(load->vswitch->set, load->rule.table,
		&load->rule);
	const struct vswitch_actions *a = entry->actions, *b;

	if (old == NULL)
		return;
	b = old->actions;
	if (a->n == b->n && memcmp(a->action, b->action, a->n * sizeof(a->action[0])) == 0 &&
		entry->cookie == old->cookie && entry->idle_timeout == old->idle_timeout &&
		entry->hard_timeout == old->hard_timeout) {
		entry->stats = old->stats;
		entry->id = old->id;
	}
}

static int
load_line(struct load *load, char *line)
{
	struct vswitch_entry *entry;
	int rc;

	line[strcspn(line, "#")] = '\0';
	line += strspn(line, SPACE);
	if (*line == '\0')
		return 0;
	rc = hy_vswitch_rule_parse(line, HY_VSWITCH_ADD, load->vswitch->name,
		load->vswitch->nb_ports, &load->rule, load->why);
	if (rc < 0)
		return rc;
	if (vswitch_set_same(load->set, load->rule.table, &load->rule) != NULL) {
		strcpy(load->why, "rule: an earlier line has its table, priority and match");
		return -EINVAL;
	}
	rc = vswitch_set_add(load->set, &load->rule, load->order, load->now, &entry);
	if (rc < 0) {
		snprintf(load->why, sizeof(load->why), "%s", strerror(-rc));
		return rc;
	}
	load->order++;
	inherit(load, entry);
	return 0;
}

static int
load_lines(struct load *load)
{
	char *line;
	int rc;

	do {
		rc = hy_file_line(&load->file, &line, load->why);
		if (rc <= 0)
			return rc;
		rc = load_line(load, line);
	} while (rc == 0);
	return rc;
}

/* With the lock: a new set takes the place of the old one, which is then load->set. */
static int
load_set(struct load *load)
{
	struct vswitch_set *old = load->vswitch->set;
	int rc;

	load->order = load->vswitch->order;
	rc = load_lines(load);
	if (rc < 0)
		return rc;
	rc = vswitch_set_renumber(load->set, old, load->vswitch->order);
	if (rc < 0) {
		snprintf(load->why, sizeof(load->why), "%s", strerror(-rc));
		return rc;
	}
	load->vswitch->set = load->set;
	load->vswitch->order = load->order;
	load->set = old;
	vswitch_log_all(load->vswitch);
	return 0;
}

/* The file is read without the lock, as its disk may be slow. */
static int
load_file(struct load *load, const char *path, char *error)
{
	int rc = hy_file_read(path, HY_FILE_MAX, &load->file, load->why);

	if (rc < 0) {
		snprintf(error, HY_VSWITCH_ERROR_SIZE, "%.200s: %.200s", path, load->why);
	} else {
		pthread_mutex_lock(&load->vswitch->lock);
		rc = load_set(load);
		pthread_mutex_unlock(&load->vswitch->lock);
		if (rc < 0)
			snprintf(error, HY_VSWITCH_ERROR_SIZE, "%.200s:%u: %.1200s", path,
				load->file.line, load->why);
	}
	hy_file_free(&load->file);
	hy_printable(error);
	return rc;
}

int
hy_vswitch_load(struct hy_vswitch *vswitch, const char *path, uint64_t now, char *error)
{
	struct load *load = calloc(1, sizeof(*load));
	struct vswitch_set *set = load == NULL ? NULL : vswitch_set_create();
	int rc;

	error[0] = '\0';
	if (set == NULL) {
		free(load);
		snprintf(error, HY_VSWITCH_ERROR_SIZE, "%.200s: %s", path, strerror(ENOMEM));
		return -ENOMEM;
	}
	load->vswitch = vswitch;
	load->set = set;
	load->now = now;
	rc = load_file(load, path, error);
	vswitch_set_destroy(load->set);
	free(load);
	return rc;
}
