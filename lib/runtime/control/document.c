/* SPDX-License-Identifier: BSD-3-Clause */
/* Documents, and the files that they are written to. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hy_document.h>
#include <hy_file.h>
#include <hy_terminal.h>

#include "writeback.h"

/* Whether two names lead to one regular file. */
static bool
same_file(const char *one, const char *two)
{
	struct stat a, b;

	return stat(one, &a) == 0 && stat(two, &b) == 0 && S_ISREG(a.st_mode) &&
		a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

const char *
hy_input_find(const struct hy_input *inputs, unsigned int nb_inputs, const char *name)
{
	for (unsigned int i = 0; i < nb_inputs; i++)
		if (same_file(name, inputs[i].name))
			return inputs[i].option;
	return NULL;
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

int
hy_document_open(struct hy_document *document, const char *option, const char *name, bool dash,
	const struct hy_input *inputs, unsigned int nb_inputs)
{
	char why[HY_FILE_ERROR_SIZE], printable[4096];
	const char *reader;
	int rc;

	*document = (struct hy_document){ .option = option, .name = name };
	if (name == NULL)
		return 0;
	if (dash && strcmp(name, "-") == 0) {
		document->wanted = document->standard = true;
		return 0;
	}
	reader = hy_input_find(inputs, nb_inputs, name); /* opening it might change it */
	if (reader != NULL) {
		snprintf(printable, sizeof(printable), "%s", name);
		hy_terminal_error("%s: '%s' is the file of %s, which is read", option,
			hy_printable(printable), reader);
		return -EBUSY;
	}
	rc = hy_output_open(name, 0, &document->fd, why);
	if (rc < 0)
		refuse(document, why);
	document->wanted = rc == 0;
	return rc;
}

static bool
has_file(const struct hy_document *document)
{
	return document->wanted && !document->standard;
}

int
hy_document_empty(struct hy_document *document)
{
	const int rc = has_file(document) ? hy_output_empty(document->fd) : 0;

	if (rc < 0)
		hy_document_complain(document, rc);
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
		return hy_writeback_start(document->fd, last, document->text, document->size,
			&document->writeback);
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
