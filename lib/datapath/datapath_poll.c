/* SPDX-License-Identifier: BSD-3-Clause */
/* Periodic work of a switch, and changes of its rules. */

#include <errno.h>
#include <string.h>

#include "datapath.h"
#include "lib/graph/internal/log.h"

#define COUNT_MS 500 /* timeouts are in seconds */

void
hy_datapath_poll(struct hy_datapath *datapath, uint64_t now_ms)
{
	datapath->now_ms = now_ms;
	if (now_ms - datapath->counted_ms >= COUNT_MS) {
		datapath->counted_ms = now_ms;
		datapath_lists_count(&datapath->lists, datapath->rules, now_ms);
		if (hy_vswitch_expire(datapath->rules, now_ms) > 0)
			datapath->behind = true;
	}
	hy_datapath_commit(datapath);
	datapath_offload_poll(datapath);
	datapath_collect(datapath);
	datapath_answer(datapath);
}

void
hy_datapath_commit(struct hy_datapath *datapath)
{
	if (datapath->behind)
		datapath_follow(datapath);
}

static int
change(struct hy_vswitch *rules, enum hy_datapath_change what, const struct hy_vswitch_rule *rule,
	uint64_t now_ms, uint32_t *n)
{
	const bool strict = what == HY_DATAPATH_MODIFY_STRICT || what == HY_DATAPATH_DELETE_STRICT;

	*n = 0;
	switch (what) {
	case HY_DATAPATH_ADD:
		return hy_vswitch_add(rules, rule, now_ms);
	case HY_DATAPATH_MODIFY:
	case HY_DATAPATH_MODIFY_STRICT:
		return hy_vswitch_modify(rules, rule, strict, now_ms, n);
	default:
		*n = hy_vswitch_delete(rules, rule, strict);
		return 0;
	}
}

int
hy_datapath_put(struct hy_datapath *datapath, enum hy_datapath_change what, const char *text,
	uint32_t *n, char *error)
{
	const bool selects = what == HY_DATAPATH_DELETE || what == HY_DATAPATH_DELETE_STRICT;
	struct hy_vswitch_rule rule;
	uint32_t changed;
	int rc = hy_vswitch_read(datapath->rules, text,
		selects ? HY_VSWITCH_SELECT : HY_VSWITCH_ADD, &rule, error);

	if (rc < 0)
		return rc;
	rc = change(datapath->rules, what, &rule, datapath_now(), &changed);
	if (rc < 0)
		return HY_REASON(rc, error, HY_DATAPATH_ERROR_SIZE, "%s",
			rc == -ENOSPC ? "there are too many rules" : strerror(-rc));
	if (n != NULL)
		*n = changed;
	datapath->behind = true;
	return 0;
}

int
hy_datapath_change(struct hy_datapath *datapath, enum hy_datapath_change what, const char *text,
	uint32_t *n, char *error)
{
	const int rc = hy_datapath_put(datapath, what, text, n, error);

	if (rc == 0)
		hy_datapath_commit(datapath);
	return rc;
}

static int
on_read(void *arg, const char *path, char *error)
{
	struct hy_datapath *datapath = arg;

	if (path == NULL)
		return HY_REASON(-EINVAL, error, HY_DATAPATH_ERROR_SIZE,
			"the switch has no file of rules");
	datapath->reload.before = datapath->reload.after = hy_vswitch_rules(datapath->rules);
	return 0;
}

/* Reads the file, too: a fault in it changes nothing, and this part is the last. */
static int
on_apply(void *arg, char *error)
{
	struct hy_datapath *datapath = arg;
	int rc;

	/* Rules that stay inherit what was counted so far; lists name the rules as they were. */
	if (datapath->table != NULL) {
		datapath_offload_read(datapath);
		datapath_lists_count(&datapath->lists, datapath->rules, datapath_now());
	}
	rc = hy_vswitch_load(datapath->rules, datapath->path, datapath_now(), error);
	if (rc < 0)
		return rc;
	datapath->reload.after = hy_vswitch_rules(datapath->rules);
	datapath_follow(datapath);
	return 0;
}

static void
on_say(void *arg, FILE *out)
{
	const struct hy_datapath *datapath = arg;

	fprintf(out, "flows: %u rules, before %u", datapath->reload.after, datapath->reload.before);
}

static void
on_end(void *arg __rte_unused)
{
}

struct hy_reload_part
hy_datapath_part(struct hy_datapath *datapath)
{
	return (struct hy_reload_part){
		.what = "flows",
		.path = datapath->path,
		.read = on_read,
		.apply = on_apply,
		.end = on_end,
		.say = on_say,
		.arg = datapath,
	};
}
