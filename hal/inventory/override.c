/* SPDX-License-Identifier: BSD-3-Clause */
/* What the user says of capabilities, on the command line and in files. */

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <hy_file.h>

#include "override.h"

static bool
concerns(const struct hy_override *o, const struct hy_hal_device *dev)
{
	if (!hy_cap_concerns(dev->target.kind, o->cap))
		return false;
	if (o->target.kind == HY_TARGET_KINDS)
		return fnmatch(o->driver, dev->driver, 0) == 0;
	return o->target.kind == dev->target.kind && o->target.id == dev->target.id &&
		o->target.peer == dev->target.peer;
}

/* A value that is not given stays, unless the capability is now absent. */
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
 * Code for instructions that the CPU lacks would fault, whatever anybody says; and so would workers
 * on a port that is being reset.
 */
static int
claim_check(const struct hy_hal *hal, const struct hy_override *o, char *error)
{
	const struct hy_capability *cpu = &hal->cpu[o->cap];

	if (o->cap == HY_CAP_RUNNING && o->level >= HY_LEVEL_YES) {
		snprintf(error, HY_HAL_ERROR_SIZE,
			"'%s': that a port runs is seen, not said; accepted: no, unknown", o->text);
		return -ENOTSUP;
	}
	if (o->target.kind != HY_TARGET_PROCESS || o->level < HY_LEVEL_YES || o->cap >= HY_CAPS)
		return 0;
	if (cpu->level >= HY_LEVEL_YES && (!o->has_value || o->value <= cpu->value))
		return 0;
	snprintf(error, HY_HAL_ERROR_SIZE,
		"'%s': no override gives the CPU what it lacks; found: %s %s, up to %" PRIu64
		" (%s)",
		o->text, hy_cap_name(o->cap), hy_level_name(cpu->level), cpu->value, cpu->reason);
	return -ENOTSUP;
}

/* Takes over some that are well-formed: all, or on an error none. */
static int
add(struct hy_hal *hal, const struct hy_override *new, unsigned int n, char *error)
{
	struct hy_override *all = realloc(hal->overrides, (hal->nb_overrides + n) * sizeof(*all));

	if (all == NULL) {
		snprintf(error, HY_HAL_ERROR_SIZE, "out of memory for overrides");
		return -ENOMEM;
	}
	memcpy(all + hal->nb_overrides, new, n * sizeof(*all));
	hal->overrides = all;
	hal->nb_overrides += n;
	hy_overrides_apply(hal, &hal->process);
	for (unsigned int p = 0; p < RTE_MAX_ETHPORTS; p++)
		if (hal->ports[p].present)
			hy_overrides_apply(hal, &hal->ports[p].dev);
	for (unsigned int i = 0; i < hal->list.n; i++)
		hy_overrides_apply(hal, &hal->list.devices[i]);
	return 0;
}

int
hy_hal_override(struct hy_hal *hal, const char *spec, char *error)
{
	struct hy_override override;
	int rc = hy_override_parse(spec, &override, error);

	if (rc == 0)
		rc = claim_check(hal, &override, error);
	return rc < 0 ? rc : add(hal, &override, 1, error);
}

#define FILE_MAX 65536 /* bytes */

/* A file that is being read. */
struct file {
	const char *path;
	unsigned int line;
	struct hy_override *overrides;
	unsigned int n;
};

/* Says where something is wrong, before what it is. */
static int
refuse(const struct file *file, int rc, const char *what, char *error)
{
	snprintf(error, HY_HAL_ERROR_SIZE, "%.120s:%u: %.240s", file->path, file->line, what);
	return rc;
}

/* One line: an override, or nothing but space and a comment. It is cut where the override ends. */
static int
line_read(const struct hy_hal *hal, struct file *file, char *text, char *error)
{
	char what[HY_HAL_ERROR_SIZE];
	struct hy_override *all;
	size_t len;
	int rc;

	text[strcspn(text, "#\r")] = '\0';
	text += strspn(text, " \t");
	len = strlen(text);
	while (len > 0 && (text[len - 1] == ' ' || text[len - 1] == '\t'))
		text[--len] = '\0';
	if (len == 0)
		return 0;
	all = realloc(file->overrides, (file->n + 1) * sizeof(*all));
	if (all == NULL)
		return refuse(file, -ENOMEM, "out of memory", error);
	file->overrides = all;
	rc = hy_override_parse(text, &all[file->n], what);
	if (rc == 0)
		rc = claim_check(hal, &all[file->n], what);
	file->n++;
	return rc < 0 ? refuse(file, rc, what, error) : 0;
}

/* All lines. */
static int
lines_read(const struct hy_hal *hal, struct file *file, struct hy_file *in, char *error)
{
	char why[HY_FILE_ERROR_SIZE];
	char *text;
	int rc;

	while ((rc = hy_file_line(in, &text, why)) > 0) {
		file->line = in->line;
		rc = line_read(hal, file, text, error);
		if (rc < 0)
			return rc;
	}
	file->line = in->line;
	return rc < 0 ? refuse(file, rc, why, error) : 0;
}

int
hy_hal_override_file(struct hy_hal *hal, const char *path, char *error)
{
	struct file file = { .path = path };
	char why[HY_FILE_ERROR_SIZE];
	struct hy_file in;
	int rc = hy_file_read(path, FILE_MAX, &in, why);

	if (rc < 0)
		snprintf(error, HY_HAL_ERROR_SIZE, "%.200s: %s", path, why);
	else
		rc = lines_read(hal, &file, &in, error);
	hy_file_free(&in);
	if (rc == 0 && file.n > 0)
		rc = add(hal, file.overrides, file.n, error);
	free(file.overrides);
	if (rc < 0)
		hy_printable(error);
	return rc;
}
