/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Documents: reports that a program makes in memory and then puts into a file as a whole. A thread
 * writes the file, so that a stalled disk holds up nobody.
 *
 * A document is named by an option of the command line, with which messages begin. All are reported
 * by hy_terminal_error(). Its file is opened when the program is otherwise ready and emptied when
 * nothing can be refused any more, so that a start that is refused leaves it unchanged.
 *
 * A document is used by one thread at a time. Functions return 0 or a negative errno value.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <hy_api.h>

HY_API_BEGIN

/** A file that the program reads; must not be overwritten. */
struct hy_input {
	const char *option; /**< That names it. */
	const char *name;   /**< Its path. */
};

/**
 * Finds a file among those that the program reads and the libraries that it has loaded, plugins and
 * drivers included, also by another path. Any thread.
 *
 * @return The input's option, or "a loaded library"; NULL: the file is none of them.
 */
const char *hy_input_find(const struct hy_input *inputs, unsigned int nb_inputs, const char *name);

/** A document. Zeroed: none. The program may read wanted and standard; the rest is private. */
struct hy_document {
	const char *option;             /**< Of the command line; outlives the document. */
	const char *name;               /**< Its value; lives as long as the process. */
	bool wanted;                    /**< Opened, and not finished. */
	bool standard;                  /**< It is standard output, not a file. */
	int fd;                         /**< Private, as all that follow: its file. */
	char *text;                     /**< What is made, */
	size_t size;                    /**< its bytes, */
	FILE *stream;                   /**< and its stream. */
	struct hy_writeback *writeback; /**< A text on its way into the file; NULL: none. */
};

/**
 * Opens the file of a document as hy_output_open() does, without changing it.
 *
 * @param option Names the option; set in the document even if @p name is NULL.
 * @param name Path; NULL: the document is not wanted.
 * @param dash "-" is standard output.
 * @param inputs Files that are refused.
 * @return 0; -EBUSY it is one of the inputs; or an error of hy_output_open(). Errors are reported.
 */
int hy_document_open(struct hy_document *document, const char *option, const char *name, bool dash,
	const struct hy_input *inputs, unsigned int nb_inputs);

/**
 * Empties the file, even while the program is stopped. Where that fails, the document is not wanted
 * any more.
 *
 * @return 0; what truncating it failed with (reported).
 */
int hy_document_empty(struct hy_document *document);

/** Closes the file if it is still open and no thread writes it. */
void hy_document_close(struct hy_document *document);

/** Begins a text. @return A stream for it; NULL: out of memory. */
FILE *hy_document_begin(struct hy_document *document);

/**
 * Ends the text, and begins to replace the file's content by it. On standard output, the text is
 * there when this returns; otherwise hy_document_written() tells.
 *
 * @param rc What making the text came to: if negative, the file stays as it is.
 * @return 0; @p rc; or what starting the thread or writing failed with. Not reported.
 */
int hy_document_write(struct hy_document *document, int rc);

/** Whether hy_document_write() has begun what hy_document_written() has not seen end. */
bool hy_document_writing(const struct hy_document *document);

/**
 * Looks whether the text is in the file, without waiting for it.
 *
 * @param[out] rc If so: 0; or what writing it failed with, -ENOENT if the file was removed or
 * renamed meanwhile.
 */
bool hy_document_written(struct hy_document *document, int *rc);

/**
 * Waits for it, as long as the file takes something every few seconds.
 *
 * @return As *rc of hy_document_written(); -ETIMEDOUT: the thread is left behind with the file.
 */
int hy_document_wait(struct hy_document *document);

/**
 * As hy_document_write() for the last text; then waits for it and closes the file.
 *
 * @return 0; @p rc; or why the file is not whole. Errors are reported.
 */
int hy_document_finish(struct hy_document *document, int rc);

/** Reports what writing a document failed with, a negative errno. */
void hy_document_complain(const struct hy_document *document, int rc);

/** A document that is also written on request, by SIGUSR1, while the program runs. */
struct hy_dump {
	struct hy_document *document; /**< Outlives the dump. */
	const char *what;             /**< It shows, in messages: "routes". */
	/** Writes it. @return 0 or a negative errno. */
	int (*make)(const void *arg, FILE *file);
	const void *arg; /**< For make. */
};

/**
 * Writes the document in place of what was written before, if SIGUSR1 has asked for it; waits for
 * no file, so that later calls see to the rest. To be called often, by the control thread.
 *
 * @param out Where success is told; errors are reported.
 */
void hy_dump_poll(const struct hy_dump *dump, FILE *out);

/**
 * Writes it a last time, if it is wanted.
 *
 * @return 0; or why the file is not whole (reported).
 */
int hy_dump_finish(const struct hy_dump *dump, FILE *out);

HY_API_END
