/* SPDX-License-Identifier: BSD-3-Clause */
/* report: everything that can be found out about a machine, in one file that a user can send. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_eventdev.h>

#include <hy_document.h>
#include <hy_file.h>
#include <hy_hal_live.h>

#include "report.h"

#define FORMAT 1 /* version of the file; incremented when a name in it changes its meaning */

void
report_progress(const char *format, ...)
{
	char text[PATH_MAX + 64];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	printf("report: %s\n", hy_printable(text));
	fflush(stdout);
}

const char *
report_errno(int rc)
{
	static char text[128];

	snprintf(text, sizeof(text), "%s (%d)", strerror(rc < 0 ? -rc : rc), rc);
	return text;
}

static int
complain(const struct settings *settings, const char *why)
{
	char name[256];

	snprintf(name, sizeof(name), "%s", settings->file);
	return refuse("report: %s: %s", hy_printable(name), why);
}

/* Refuses a file that is read: an option's, or that of a library or plugin, which HALYARD_PACKS may name. */
static int
read_check(const struct settings *settings)
{
	const struct values *caps = &settings->lists[CAP_FILES], *packs = &settings->lists[PACKS];
	struct hy_input inputs[2 * REPEATS_MAX];
	unsigned int n = 0;
	const char *reader;
	char why[64];

	for (unsigned int i = 0; i < caps->n; i++)
		inputs[n++] = (struct hy_input){ "--cap-file", caps->text[i] };
	for (unsigned int i = 0; i < packs->n; i++)
		inputs[n++] = (struct hy_input){ "--pack", packs->text[i] };
	reader = hy_input_find(inputs, n, settings->file);
	if (reader == NULL)
		return 0;
	snprintf(why, sizeof(why), "is the file of %s, which is read", reader);
	return complain(settings, why);
}

/* The name of a file in the same folder, as mkostemp(3) takes it. Returns 0 or a negative errno. */
static int
beside(const char *file, char name[PATH_MAX])
{
	const char *slash = strrchr(file, '/');
	const int folder = slash == NULL ? 0 : (int)(slash - file) + 1;

	return snprintf(name, PATH_MAX, "%.*s.hy-hal-XXXXXX", folder, file) < PATH_MAX
		? 0
		: -ENAMETOOLONG;
}

/* Whether a file can be put beside an old one, to replace it. Returns 0 or a negative errno. */
static int
replace_check(const char *file)
{
	char name[PATH_MAX], *slash;
	int rc = beside(file, name);

	if (rc < 0)
		return rc;
	slash = strrchr(name, '/');
	strcpy(slash == NULL ? name : slash + 1, ".");
	return access(name, W_OK | X_OK) == 0 ? 0 : -errno;
}

/*
 * Checks now that the file can be written, since the report may take minutes. Leaves it unchanged:
 * if the program is killed or a driver crashes, nothing is left behind.
 */
static int
file_check(const struct settings *settings)
{
	char error[HY_FILE_ERROR_SIZE];
	struct stat st;
	const bool is_new = lstat(settings->file, &st) < 0;
	int fd, rc;

	if (read_check(settings) < 0)
		return -1;
	if (hy_output_open(settings->file, 0, &fd, error) < 0)
		return complain(settings, error);
	close(fd);
	if (is_new)
		unlink(settings->file);
	rc = is_new || !S_ISREG(st.st_mode) ? 0 : replace_check(settings->file);
	if (rc == 0)
		return 0;
	snprintf(error, sizeof(error), "its folder, in which it is replaced: %s", strerror(-rc));
	return complain(settings, error);
}

static int
fd_write(int fd, const char *text, size_t size)
{
	int rc = hy_output_write(fd, text, size), copy;

	/* Some file systems write, and report errors, only when a descriptor is closed: any one. */
	if (rc == 0 && (copy = dup(fd)) >= 0 && close(copy) < 0)
		rc = -errno;
	return rc;
}

/* Replaces a file by another one of its mode and group. */
static int
file_replace(const char *file, const struct stat *old, const char *text, size_t size)
{
	char name[PATH_MAX];
	int rc = beside(file, name), fd;

	if (rc < 0)
		return rc;
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fchown(fd, (uid_t)-1, old->st_gid) == 0) /* else it is for its owner only */
		fchmod(fd, old->st_mode & 0777);
	rc = fd_write(fd, text, size);
	close(fd);
	if (rc == 0 && rename(name, file) < 0)
		rc = -errno;
	if (rc < 0)
		unlink(name);
	return rc;
}

/* Writes all or nothing: on an error, a new file is removed, and an existing one as it was. */
static int
file_write(const struct settings *settings, const char *text, size_t size)
{
	char error[HY_FILE_ERROR_SIZE];
	struct stat st;
	const bool is_new = lstat(settings->file, &st) < 0;
	int fd, rc;

	if (hy_output_open(settings->file, 0, &fd, error) < 0)
		return complain(settings, error);
	if (!is_new && S_ISREG(st.st_mode))
		rc = file_replace(settings->file, &st, text, size);
	else
		rc = fd_write(fd, text, size);
	if (rc != 0) {
		if (is_new)
			unlink(settings->file);
		complain(settings, strerror(-rc));
	}
	close(fd);
	return rc;
}

/* The output of another command, as a part of the report. */
struct part {
	char *text;
	size_t size;
	FILE *out;
};

static int
part_open(struct part *part)
{
	*part = (struct part){ 0 };
	part->out = open_memstream(&part->text, &part->size);
	return part->out == NULL ? -ENOMEM : 0;
}

static void
part_embed(struct outline *o, struct part *part, const char *name, int rc)
{
	if (fclose(part->out) != 0 || rc < 0)
		o->rc = -ENOMEM;
	else
		outline_embed(o, name, part->text);
	free(part->text);
}

/* inventory, selections and packs, as the commands print them. */
static void
hal_write(struct outline *o, const struct hy_hal *hal)
{
	struct part part;

	o->rc = part_open(&part);
	if (o->rc == 0 && o->json) { /* the inventory, too */
		part_embed(o, &part, NULL, hy_hal_explain_json(hal, part.out));
	} else if (o->rc == 0) {
		part_embed(o, &part, "inventory", hy_hal_inventory_print(hal, part.out));
		if (o->rc == 0 && (o->rc = part_open(&part)) == 0)
			part_embed(o, &part, "selections", hy_hal_explain(hal, part.out));
	}
	if (o->rc == 0 && (o->rc = part_open(&part)) == 0)
		part_embed(o, &part, o->json ? NULL : "packs",
			o->json ? hy_packs_json(part.out) : hy_packs_print(part.out));
}

static int
selftest_embed(struct outline *o, const struct settings *settings, const struct hy_hal *hal)
{
	bool passed = false;
	struct part part;
	int rc;

	report_progress("selftest of every variant%s",
		settings->quick ? "" : ": this takes half a minute");
	if ((o->rc = part_open(&part)) < 0)
		return o->rc;
	rc = selftest_write(settings, hal, part.out, &passed);
	part_embed(o, &part, "selftest", 0);
	return rc;
}

/* Lists simulated devices, so that their figures are not taken for real ones. */
static void
simulated_write(struct outline *o)
{
	struct rte_event_dev_info event;
	struct rte_eth_dev_info info;
	uint16_t port;

	outline_words(o, "simulated");
	RTE_ETH_FOREACH_DEV(port) {
		if (rte_eth_dev_info_get(port, &info) == 0 &&
			report_simulated(info.device, info.driver_name))
			outline_word(o, rte_dev_name(info.device));
	}
	for (uint8_t d = 0; d < rte_event_dev_count(); d++)
		if (rte_event_dev_info_get(d, &event) == 0 && report_simulated(event.dev, NULL))
			outline_word(o, rte_dev_name(event.dev));
	outline_words_close(o);
}

static void
head_write(struct outline *o)
{
	const time_t now = time(NULL);
	char date[32] = "";
	struct tm tm;

	if (gmtime_r(&now, &tm) != NULL)
		strftime(date, sizeof(date), "%Y-%m-%d %H:%M UTC", &tm);
	outline_open(o, "report");
	outline_number(o, "format", FORMAT);
	outline_text(o, "date", "%s", date);
	outline_number(o, "ports", rte_eth_dev_count_avail());
	simulated_write(o);
	outline_close(o);
}

/* The selftest comes last: it creates ports of its own. */
static int
all_write(struct outline *o, const struct settings *settings, struct hy_hal *hal)
{
	struct rte_mempool *pool = NULL;
	char error[HY_HAL_ERROR_SIZE];

	report_progress("machine, devices and variants");
	head_write(o);
	report_machine(o);
	report_pci(o);
	if (flows_try(hal) < 0)
		return -1;
	if (hy_hal_plan(hal, error) < 0 || hy_hal_select(hal, error) < 0)
		return refuse("report: %s", error);
	hal_write(o, hal);
	if (rte_eth_dev_count_avail() > 0) {
		pool = ports_pool("hy_hal_report", REPORT_QUEUES);
		if (pool == NULL)
			return -1;
	}
	report_ports(o, pool);
	if (settings->load > 0)
		report_load(o, pool, (unsigned int)settings->load);
	return selftest_embed(o, settings, hal);
}

/* Writes the report in memory first: the file is touched only when it is complete. */
static int
made(const struct settings *settings, struct hy_hal *hal, const struct cleaner *cleaner)
{
	struct outline o = { .cleaner = cleaner, .json = settings->json };
	struct part whole;
	int rc = part_open(&whole);

	if (rc < 0)
		return complain(settings, strerror(-rc));
	o.out = whole.out;
	o.depth = o.json;
	fputs(o.json ? "{" : "Halyard bring-up report\n", o.out);
	rc = all_write(&o, settings, hal);
	fputs(o.json ? "\n}\n" : "", o.out);
	if (fclose(whole.out) != 0 || o.rc != 0)
		rc = rc < 0 ? rc : complain(settings, strerror(ENOMEM));
	if (rc == 0)
		rc = file_write(settings, whole.text, whole.size);
	if (rc == 0)
		report_progress("%s: %zu bytes", settings->file, whole.size);
	free(whole.text);
	return rc;
}

int
report(const struct settings *settings, struct hy_hal *hal)
{
	struct cleaner cleaner;
	int rc = file_check(settings);

	if (rc < 0)
		return rc;
	rc = clean_init(&cleaner);
	rc = rc < 0 ? complain(settings, strerror(-rc)) : made(settings, hal, &cleaner);
	clean_free(&cleaner);
	return rc;
}
