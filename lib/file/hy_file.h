/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * File access for programs that must not block: text files to read, files to write, and text from
 * files to display.
 *
 * No function here waits for another program, or waits long for a disk or a server that does not
 * answer a read. Only regular files are read. Only regular files of the caller's own are written,
 * and FIFOs on request. No device is opened, except /dev/null.
 *
 * Errors are negative errno values. Functions that take @p error also write the reason there, as
 * text of at most HY_FILE_ERROR_SIZE bytes that names neither the program nor the path.
 *
 * All functions may be called from any thread, before and after rte_eal_init().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <hy_api.h>

HY_API_BEGIN

#define HY_FILE_ERROR_SIZE 128    /**< Bytes of a reason, with its NUL. */
#define HY_FILE_MAX (256ul << 20) /**< Most bytes of a text file with a record a line. */
#define HY_FILE_LINE_MAX 4094     /**< Most bytes of a line, without its end. */
#define HY_FILE_STALL_MS 5000     /**< Most milliseconds between two answers of a file system. */

/**
 * Prepares the process for files. A program calls this first in main(), on its only thread.
 *
 * Opens /dev/null on each of the file descriptors 0, 1 and 2 that is closed, so that no other file
 * gets that number and is then written to as standard output or error. Ignores SIGXFSZ, so that a
 * write beyond a limit on file sizes fails with -EFBIG. Replaces stdout by a stream that keeps its
 * first error for hy_output_flush(). Replaces stderr by an unbuffered stream whose writes pass
 * through hy_printable_lines(), since messages repeat names and arguments of the command line.
 * Neither has a fileno(). If the process ends with status 0 and what was printed cannot be written,
 * whoever calls exit(), the reason is printed and the status is EXIT_FAILURE.
 *
 * @return 0; -ENOMEM; or the error of opening /dev/null. Errors are reported on standard error, if
 * that is open. The program should then exit.
 */
int hy_file_prepare(void);

/**
 * Starts a detached thread that receives no signals, for work that may have to wait for a disk.
 *
 * @param name At most 15 characters.
 * @return 0; -EAGAIN too many threads; another error of pthread_create().
 */
int hy_file_thread(void *(*run)(void *arg), void *arg, const char *name);

/**
 * Sets a condition on which reading gives up with -EINTR, such as a signal that ends the program.
 * It is called often, from any thread that reads. A process has one condition; NULL removes it.
 */
void hy_file_stop_when(bool (*stop)(void));

/**
 * Whether that condition is set and holds: for what takes long with a file that was read, and can be
 * given up with -EINTR, too.
 */
bool hy_file_stops(void);

/** A text file in memory. All members are private. */
struct hy_file {
	char *text;        /**< NUL-terminated. */
	size_t size;       /**< Bytes, without that NUL. */
	size_t at;         /**< Where the next line begins. */
	unsigned int line; /**< Number of the last line read, from 1. */
};

/**
 * Reads a whole regular file. Symbolic links are followed. A thread reads it: if the file system
 * does not answer for HY_FILE_STALL_MS, or the condition of hy_file_stop_when() holds meanwhile,
 * the thread is abandoned, and frees its memory when it gets an answer.
 *
 * @param max Most bytes to accept, such as HY_FILE_MAX.
 * @param[out] file Freed by hy_file_free(), also after an error.
 * @param error As above; must not be NULL.
 * @return 0; -EISDIR, -EINVAL not a regular file; -EFBIG too large; -EAGAIN it changed while it was
 * read; -EINTR the condition of hy_file_stop_when() holds; -ETIMEDOUT the file system does not
 * answer; -EBUSY several threads that were abandoned still wait; -ENOMEM; or an error of starting the
 * thread, opening or reading.
 */
int hy_file_read(const char *path, size_t max, struct hy_file *file, char *error);

/**
 * Reads the next line, without its end. The caller may change its bytes; it is valid until
 * hy_file_free().
 *
 * @param error As above; must not be NULL.
 * @return 1; 0 at the end of the file; -EINVAL the line is longer than HY_FILE_LINE_MAX or has a
 * NUL byte; -EINTR the condition of hy_file_stop_when() holds.
 */
int hy_file_line(struct hy_file *file, char **line, char *error);

/** Frees a file from hy_file_read(). */
void hy_file_free(struct hy_file *file);

/** Other files that hy_output_open() opens. */
enum hy_output_flags {
	/** A FIFO that a program has open for reading, and nothing else. */
	HY_OUTPUT_FIFO = 1,
};

/**
 * Opens a file for writing: a new one with mode 0600; one of the caller's own, whose content and
 * mode stay; or /dev/null. The last part of the path must not be a symbolic link, and the file must
 * have no other name: either may lead to a file that another user chose. A FIFO is opened on request;
 * writing to it fails with EAGAIN instead of waiting for the reader. Each write appends (O_APPEND): if
 * another program truncates the file, its old content does not become a hole.
 *
 * A regular file is the caller's alone until it is closed. A file that the process already has open
 * under any name, such as standard output or a driver's input, is refused. So is a file that
 * another process opened by this function, unless the file system has no locks.
 *
 * @param flags 0 or HY_OUTPUT_FIFO.
 * @param[out] fd Descriptor of the file. Other programs do not inherit it.
 * @param error As above; must not be NULL.
 * @return 0; -ELOOP a symbolic link; -EMLINK a file with several names; -EPERM another user owns it;
 * -EINVAL another kind of file than is accepted; -EBUSY it is in use; -ENXIO nothing reads from the
 * FIFO; or an error of opening.
 */
int hy_output_open(const char *path, unsigned int flags, int *fd, char *error);

/** Removes the content of a file from hy_output_open(). @return 0; an error of truncating. */
int hy_output_empty(int fd);

/**
 * Writes all bytes to a file descriptor.
 *
 * @return 0; -EIO a write took no bytes; or the error of an incomplete write.
 */
int hy_output_write(int fd, const char *bytes, size_t size);

/**
 * Flushes a stream to the system.
 *
 * @return 0; or an error. If an earlier write failed: its error for the stdout of
 * hy_file_prepare(), and -EIO for other streams, which do not keep it.
 */
int hy_output_flush(FILE *out);

/**
 * Flushes standard output when a program ends, and reports on standard error if some of it is lost.
 * main() returns the result.
 *
 * @return EXIT_SUCCESS or EXIT_FAILURE.
 */
int hy_output_end(const char *program);

/**
 * Replaces, in place, with '?' everything that a terminal could interpret as a command: control
 * characters, and bytes that are not UTF-8. For text from a file, or a file's name, in a message.
 *
 * @return text.
 */
char *hy_printable(char *text);

/** The same for text of several lines: line ends and tabs stay. */
void hy_printable_lines(char *bytes, size_t size);

/**
 * Copies leading bytes, and treats the copy like hy_printable_lines(). It ends between two
 * characters, so that the next copy begins with a whole one.
 *
 * @param most Most bytes to copy; at least 4.
 * @return Bytes copied: 0 only if size is 0.
 */
size_t hy_printable_copy(char *to, size_t most, const char *bytes, size_t size);

HY_API_END
