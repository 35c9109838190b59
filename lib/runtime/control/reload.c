/* SPDX-License-Identifier: BSD-3-Clause */
/* A reload of several files: all are applied, or none. */

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_cycles.h>

#include <hy_privileges.h>
#include <hy_reload.h>
#include <hy_terminal.h>

/* Says of all parts that they are unchanged: of the one that failed, why. */
static void
refuse(const struct hy_reload_part *parts, unsigned int nb_parts, unsigned int failed,
	const char *error)
{
	for (unsigned int i = 0; i < nb_parts; i++) {
		if (i == failed)
			hy_terminal_error("%s unchanged: %s%s", parts[i].what, error,
				hy_privileges_note(parts[i].path, R_OK));
		else
			hy_terminal_error("%s unchanged: the reload of %s failed", parts[i].what,
				parts[failed].what);
	}
}

/* Returns how many parts could be read: all, or *rc says why not. */
static unsigned int
read_all(const struct hy_reload_part *parts, unsigned int nb_parts, char *error, int *rc)
{
	for (unsigned int i = 0; i < nb_parts; i++) {
		*rc = parts[i].read(parts[i].arg, parts[i].path, error);
		if (*rc < 0)
			return i;
	}
	return nb_parts;
}

/* Likewise, of those that could be applied; if not all, none is. */
static unsigned int
apply_all(const struct hy_reload_part *parts, unsigned int nb_parts, char *error, int *rc)
{
	for (unsigned int i = 0; i < nb_parts; i++) {
		*rc = parts[i].apply(parts[i].arg, error);
		if (*rc == 0)
			continue;
		for (unsigned int j = i; j-- > 0;)
			parts[j].undo(parts[j].arg);
		return i;
	}
	return nb_parts;
}

static void
say(const struct hy_reload_part *part, uint64_t start, FILE *out)
{
	part->say(part->arg, out);
	fprintf(out, ", in %" PRIu64 " ms\n",
		(rte_get_timer_cycles() - start) * 1000 / rte_get_timer_hz());
}

/* What has changed is said when it is over: until then, parts hold what went. */
int
hy_reload(const struct hy_reload_part *parts, unsigned int nb_parts, FILE *out)
{
	const uint64_t start = rte_get_timer_cycles();
	char error[HY_RELOAD_ERROR_SIZE] = "";
	int rc = 0;
	unsigned int done = read_all(parts, nb_parts, error, &rc);
	const unsigned int begun = RTE_MIN(done + 1, nb_parts);
	char *said = NULL;
	size_t size = 0;
	FILE *saying = open_memstream(&said, &size);

	if (rc == 0)
		done = apply_all(parts, nb_parts, error, &rc);
	for (unsigned int i = 0; i < begun; i++) {
		if (rc == 0)
			say(&parts[i], start, saying != NULL ? saying : out);
		parts[i].end(parts[i].arg);
	}
	if (saying != NULL && fclose(saying) == 0)
		fwrite(said, 1, size, out);
	free(said);
	if (rc < 0)
		refuse(parts, nb_parts, done, error);
	fflush(out);
	return rc;
}

int
hy_reload_start(const struct hy_reload_part *part, char *error)
{
	int rc = part->read(part->arg, part->path, error);

	if (rc == 0)
		rc = part->apply(part->arg, error);
	part->end(part->arg);
	return rc;
}
