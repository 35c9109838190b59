/* SPDX-License-Identifier: BSD-3-Clause */
/* Documents, and the files that they are written to. */

#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hy_document.h>
#include <hy_file.h>
#include <hy_terminal.h>

#include "lib/file/internal/job.h"
#include "writeback.h"

/* Whether a name leads to that file. */
static bool
leads_to(const char *name, const struct stat *file)
{
	struct stat st;

	return stat(name, &st) == 0 && st.st_dev == file->st_dev && st.st_ino == file->st_ino;
}

static int
is_library(struct dl_phdr_info *library, size_t size __rte_unused, void *file)
{
	/* The kernel's vDSO has a name too, but no file. */
	return strchr(library->dlpi_name, '/') != NULL && leads_to(library->dlpi_name, file);
}

const char *
hy_input_find(const struct hy_input *inputs, unsigned int nb_inputs, const char *name)
{
	struct stat file;

	if (stat(name, &file) < 0 || !S_ISREG(file.st_mode))
		return NULL;
	for (unsigned int i = 0; i < nb_inputs; i++)
		if (leads_to(inputs[i].name, &file))
			return inputs[i].option;
	/* It is mapped: to empty it would end the program. */
	return dl_iterate_phdr(is_library, &file) != 0 ? "a loaded library" : NULL;
}

static void
refuse(const struct hy_document *document, const char *why)
{
	char name[4096];

	snprintf(name, sizeof(name), "%s", document->name);
	hy_terminal_error("%s: %s: %s", document->option, hy_printable(name), why);
}

void
hy_document_complain(const struct hy_document *document, int rc)
{
	refuse(document, rc == -ETIMEDOUT ? "the file takes nothing" : strerror(-rc));
}

/* What opening a file needs and leaves. The names live as long as the process. */
struct opening {
	const char *name;
	const struct hy_input *inputs;
	unsigned int nb_inputs;
	int fd;
};

static int
open_run(void *arg, atomic_uint *steps __rte_unused, char *why)
{
	struct opening *o = arg;
	const char *reader = hy_input_find(o->inputs, o->nb_inputs, o->name);

	if (reader == NULL) /* opening it might change it */
		return hy_output_open(o->name, 0, &o->fd, why);
	snprintf(why, HY_FILE_ERROR_SIZE, "is the file of %s, which is read", reader);
	return -EBUSY;
}

static void
open_drop(void *arg)
{
	const struct opening *o = arg;

	if (o->fd >= 0)
		close(o->fd);
}

int
hy_document_open(struct hy_document *document, const char *option, const char *name, bool dash,
	const struct hy_input *inputs, unsigned int nb_inputs)
{
	static const struct hy_file_job job = { "hy-file-open", "opened", open_run, open_drop,
		false };
	struct opening opening = { name, inputs, nb_inputs, -1 };
	char why[HY_FILE_ERROR_SIZE];
	int rc;

	*document = (struct hy_document){ .option = option, .name = name };
	if (name == NULL)
		return 0;
	if (dash && strcmp(name, "-") == 0) {
		document->wanted = document->standard = true;
		return 0;
	}
	rc = hy_file_job(&job, &opening, sizeof(opening), why);
	if (rc < 0)
		refuse(document, why);
	document->wanted = rc == 0;
	document->fd = opening.fd;
	return rc;
}

static bool
has_file(const struct hy_document *document)
{
	return document->wanted && !document->standard;
}

static int
empty_run(void *arg, atomic_uint *steps __rte_unused, char *why)
{
	const int rc = hy_output_empty(*(const int *)arg);

	snprintf(why, HY_FILE_ERROR_SIZE, "%s", strerror(-rc));
	return rc;
}

int
hy_document_empty(struct hy_document *document)
{
	static const struct hy_file_job job = { "hy-file-empty", "emptied", empty_run, NULL, true };
	char why[HY_FILE_ERROR_SIZE];
	int fd = document->fd, rc;

	if (!has_file(document))
		return 0;
	rc = hy_file_job(&job, &fd, sizeof(fd), why);
	if (rc == 0)
		return 0;
	refuse(document, why);
	if (rc != -ETIMEDOUT) /* else the thread still has the file */
		close(fd);
	document->wanted = false;
	return rc;
}

void
hy_document_close(struct hy_document *document)
{
	if (has_file(document) && !hy_document_writing(document))
		close(document->fd);
	document->wanted = false;
}

FILE *
hy_document_begin(struct hy_document *document)
{
	document->stream = document->standard ? stdout
					      : open_memstream(&document->text, &document->size);
	return document->stream;
}

static int
write_begin(struct hy_document *document, bool last, int rc)
{
	if (document->stream == NULL)
		return rc;
	if (rc == 0)
		rc = hy_output_flush(document->stream);
	if (document->standard)
		return rc;
	if (fclose(document->stream) != 0 && rc == 0)
		rc = -errno;
	document->stream = NULL;
	if (rc == 0)
		return hy_writeback_start(document->fd, document->name, last, document->text,
			document->size, &document->writeback);
	free(document->text);
	return rc;
}

int
hy_document_write(struct hy_document *document, int rc)
{
	return write_begin(document, false, rc);
}

bool
hy_document_writing(const struct hy_document *document)
{
	return document->writeback != NULL;
}

bool
hy_document_written(struct hy_document *document, int *rc)
{
	if (!hy_writeback_ended(document->writeback, rc))
		return false;
	document->writeback = NULL;
	return true;
}

int
hy_document_wait(struct hy_document *document)
{
	const int rc = hy_writeback_wait(document->writeback);

	if (rc != -ETIMEDOUT)
		document->writeback = NULL;
	return rc;
}

int
hy_document_finish(struct hy_document *document, int rc)
{
	rc = write_begin(document, true, rc);
	document->wanted = false;
	if (hy_document_writing(document))
		rc = hy_writeback_wait(document->writeback);
	else if (!document->standard)
		close(document->fd); /* with what was in it */
	document->writeback = NULL;
	if (rc < 0)
		hy_document_complain(document, rc);
	return rc;
}
