/* SPDX-License-Identifier: BSD-3-Clause */
/* Documents that are written whenever SIGUSR1 asks for it. */

#include <errno.h>
#include <limits.h>
#include <signal.h>

#include <hy_document.h>
#include <hy_file.h>
#include <hy_signals.h>
#include <hy_terminal.h>

/* Tells what came of a request. */
static void
tell(const struct hy_dump *dump, int rc, FILE *out)
{
	char name[PATH_MAX];

	snprintf(name, sizeof(name), "%s", dump->document->name);
	if (rc < 0)
		hy_document_complain(dump->document, rc);
	else
		fprintf(out, "%s: written to %s\n", dump->what, hy_printable(name));
	fflush(out);
}

static int
make(const struct hy_dump *dump)
{
	FILE *file = hy_document_begin(dump->document);

	return file == NULL ? -ENOMEM : dump->make(dump->arg, file);
}

void
hy_dump_poll(const struct hy_dump *dump, FILE *out)
{
	struct hy_document *document = dump->document;
	int rc;

	if (hy_document_writing(document)) {
		if (!hy_document_written(document, &rc))
			return; /* SIGUSR1 stays pending meanwhile */
		tell(dump, rc, out);
	}
	if (!hy_signals_take(SIGUSR1))
		return;
	if (!document->wanted) {
		hy_terminal_error(document->name == NULL
				? "SIGUSR1 writes %s, which requires %s"
				: "SIGUSR1 writes %s, but the file of %s has failed",
			dump->what, document->option);
		return;
	}
	rc = hy_document_write(document, make(dump));
	if (rc < 0 || document->standard)
		tell(dump, rc, out);
}

int
hy_dump_finish(const struct hy_dump *dump, FILE *out)
{
	struct hy_document *document = dump->document;

	if (!document->wanted)
		return 0;
	if (hy_document_writing(document)) {
		const int rc = hy_document_wait(document);

		tell(dump, rc, out);
		if (rc == -ETIMEDOUT)
			return rc; /* the thread still has the file */
	}
	return hy_document_finish(document, make(dump));
}
