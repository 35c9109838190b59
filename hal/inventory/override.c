/* SPDX-License-Identifier: BSD-3-Clause */
/* The user's overrides of capabilities, from the command line and from files. */

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <hy_file.h>

#include "hal/internal/list.h"
#include "override.h"

static bool
concerns(const struct hy_override *o, const struct hy_hal_device *dev)
{
	if (!hy_cap_concerns(dev->target.kind, o->cap))
		return false;
	if (o->target.kind == HY_TARGET_KINDS)
		return fnmatch(o->driver, dev->driver, 0) == 0;
	return hy_target_same(o->target, dev->target);
}

/* Without a value, the capability keeps its value, unless it is now absent. */
static uint64_t
value_of(const struct hy_override *o, const struct hy_capability *cap)
{
	if (o->has_value)
		return o->value;
	return o->level >= HY_LEVEL_YES ? cap->value : 0;
}

void
hy_overrides_apply(const struct hy_hal *hal, struct hy_hal_device *dev)
{
	for (unsigned int i = 0; i < hal->nb_overrides; i++) {
		const struct hy_override *o = &hal->overrides[i];
		struct hy_capability *cap = &dev->caps[o->cap];

		if (!concerns(o, dev))
			continue;
		hy_cap_fill(cap, o->level, value_of(o, cap), "the user says %s", o->text);
		cap->origin = HY_ORIGIN_OVERRIDDEN;
	}
}

/*
 * Refuses overrides that would make the program crash: code for instructions that the CPU lacks,
 * and workers on a port that is being reset.
 */
static int
claim_check(const struct hy_hal *hal, const struct hy_override *o, char *error)
{
	const struct hy_capability *cpu = &hal->cpu[o->cap];

	if (o->cap == HY_CAP_RUNNING && o->level >= HY_LEVEL_YES)
		return HY_REASON(-ENOTSUP, error, HY_HAL_ERROR_SIZE,
			"'%s': an override cannot make a port run; accepted: no, unknown", o->text);
	if (o->target.kind != HY_TARGET_PROCESS || o->level < HY_LEVEL_YES || o->cap >= HY_CAPS)
		return 0;
	if (cpu->level >= HY_LEVEL_YES && (!o->has_value || o->value <= cpu->value))
		return 0;
	return HY_REASON(-ENOTSUP, error, HY_HAL_ERROR_SIZE,
		"'%s': an override cannot add what the CPU lacks; found: %s %s, up to %" PRIu64
		" (%s)",
		o->text, hy_cap_name(o->cap), hy_level_name(cpu->level), cpu->value, cpu->reason);
}

/* Adds a valid override, which is not applied yet. */
static int
add(struct hy_hal *hal, const char *spec, char *error)
{
	struct hy_override *o = hy_list_room(&hal->overrides, hal->nb_overrides, sizeof(*o));
	int rc;

	if (o == NULL)
		return HY_REASON(-ENOMEM, error, HY_HAL_ERROR_SIZE, "out of memory for overrides");
	rc = hy_override_parse(spec, o, error);
	if (rc == 0)
		rc = claim_check(hal, o, error);
	hal->nb_overrides += rc == 0;
	return rc;
}

static void
apply_all(struct hy_hal *hal)
{
	hy_overrides_apply(hal, &hal->process);
	for (unsigned int p = 0; p < RTE_MAX_ETHPORTS; p++)
		if (hal->ports[p].present)
			hy_overrides_apply(hal, &hal->ports[p].dev);
	for (unsigned int i = 0; i < hal->list.n; i++)
		hy_overrides_apply(hal, &hal->list.devices[i]);
}

int
hy_hal_override(struct hy_hal *hal, const char *spec, char *error)
{
	const int rc = add(hal, spec, error);

	if (rc == 0)
		apply_all(hal);
	return rc;
}

#define FILE_MAX 65536 /* bytes */

/* Adds the override of a line, unless it has only space and a comment. Modifies the text. */
static int
line_add(struct hy_hal *hal, char *text, char *error)
{
	size_t len;

	text[strcspn(text, "#\r")] = '\0';
	text += strspn(text, " \t");
	len = strlen(text);
	while (len > 0 && (text[len - 1] == ' ' || text[len - 1] == '\t'))
		text[--len] = '\0';
	return len == 0 ? 0 : add(hal, text, error);
}

int
hy_hal_override_file(struct hy_hal *hal, const char *path, char *error)
{
	const unsigned int before = hal->nb_overrides;
	char what[RTE_MAX(HY_HAL_ERROR_SIZE, HY_FILE_ERROR_SIZE)], *text;
	struct hy_file in;
	int rc = hy_file_read(path, FILE_MAX, &in, what);
	const bool is_read = rc == 0;

	while (rc >= 0 && (rc = hy_file_line(&in, &text, what)) > 0)
		rc = line_add(hal, text, what);
	if (!is_read)
		snprintf(error, HY_HAL_ERROR_SIZE, "%.200s: %.180s", path, what);
	else if (rc < 0)
		snprintf(error, HY_HAL_ERROR_SIZE, "%.120s:%u: %.240s", path, in.line, what);
	hy_file_free(&in);
	if (rc == 0) {
		apply_all(hal);
		return 0;
	}
	hal->nb_overrides = before; /* all or none */
	hy_printable(error);
	return rc;
}
