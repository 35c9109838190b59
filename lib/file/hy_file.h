/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Files of a program that must not stop for them: text files that it reads, files that it writes,
 * and text from files that it shows.
 *
 * No function here waits for another program, nor for long for a disk or a server that does not answer
 * a read. Only regular files are read; only regular files of the
 * caller's own are written, apart from FIFOs on request. No device is opened, except /dev/null.
 *
 * Errors are negative errno values. Functions that take @p error also write the reason there, as
 * text of at most HY_FILE_ERROR_SIZE bytes that names neither the program nor the path.
 *
 * All functions may be called from any thread, before and after rte_eal_init().
 */
#ifndef HY_FILE_H
#define HY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

#define HY_FILE_ERROR_SIZE 128    /**< Bytes of a reason, with its NUL. */
#define HY_FILE_MAX (256ul << 20) /**< Most bytes of a text file with a record a line. */
#define HY_FILE_LINE_MAX 1022     /**< Most bytes of a line, without its end. */
#define HY_FILE_STALL_MS 5000     /**< Most milliseconds between two answers of a file system. */

/**
 * Prepares the process for files. A program calls this first of all in main(), on its only thread.
 *
 * Opens /dev/null on each of the file descriptors 0, 1 and 2 that is closed, so that no other file
 * gets that number and is then written to as standard output or error. Ignores SIGXFSZ, so that a
 * write beyond a limit on file sizes fails with -EFBIG. Replaces stdout by a stream that remembers what
 * its first error was, for hy_output_flush(). Replaces stderr by a stream, unbuffered too,
 * of which each write passes hy_printable_lines(): messages repeat names and words of the command
 * line, whoever prints them. Neither has a fileno().
 *
 * @return 0; -ENOMEM; or what opening /dev/null failed with: the program should exit, as it cannot
 * report.
 */
int hy_file_prepare(void);

/**
 * Starts a detached thread that takes no signals: for work that may have to wait for a disk.
 *
 * @param name Of at most 15 characters.
 * @return 0; -EAGAIN there are too many threads; another error of pthread_create().
 */
int hy_file_thread(void *(*run)(void *arg), void *arg, const char *name);

/**
 * Sets a condition on which reading gives up, with -EINTR: a signal that ends the program, say. It
 * is called often, from any thread that reads. There is one a process; NULL removes it.
 */
void hy_file_stop_when(bool (*stop)(void));

/** A text file in memory. All members are private. */
struct hy_file {
	char *text;        /**< With a NUL behind it. */
	size_t size;       /**< Bytes, without that NUL. */
	size_t at;         /**< Where the next line begins. */
	unsigned int line; /**< Number of the line read last, from 1. */
};

/**
 * Reads a regular file as a whole. Symbolic links are followed. A thread reads it: if the file system
 * does not answer for HY_FILE_STALL_MS, or the condition of hy_file_stop_when() holds meanwhile, the
 * thread is left behind and frees what it has once it gets an answer.
 *
 * @param max Most bytes that are accepted, such as HY_FILE_MAX.
 * @param[out] file To be freed by hy_file_free(), also after an error.
 * @param error As above; may not be NULL.
 * @return 0; -EISDIR, -EINVAL it is no regular file; -EFBIG it is too large; -EAGAIN it changed while it was
 * read; -EINTR the condition of hy_file_stop_when() holds; -ETIMEDOUT the file system does not answer;
 * -ENOMEM; or what starting the thread, opening or reading failed with.
 */
int hy_file_read(const char *path, size_t max, struct hy_file *file, char *error);

/**
 * Takes the next line out, without its end. The caller may change its bytes; it is valid until
 * hy_file_free().
 *
 * @param error As above; may not be NULL.
 * @return 1; 0 at the end of the file; -EINVAL the line is longer than HY_FILE_LINE_MAX or has a NUL
 * byte; -EINTR the condition of hy_file_stop_when() holds.
 */
int hy_file_line(struct hy_file *file, char **line, char *error);

/** Frees what hy_file_read() has read. */
void hy_file_free(struct hy_file *file);

/** What else hy_output_open() opens. */
enum hy_output_flags {
	/** A FIFO that a program has open for reading, and nothing else. */
	HY_OUTPUT_FIFO = 1,
};

/**
 * Opens a file for writing: a new one with mode 0600; one of the caller's own, whose content and mode
 * stay; or /dev/null. The last part of the path may not be a symbolic link. A FIFO is opened on
 * request: writing to it then fails with EAGAIN where it would wait for the reader.
 *
 * A regular file is the caller's alone until it is closed: one that the process has open already, by
 * whatever name, be it as standard output or as what a driver reads, is refused, and so is one that
 * another process has opened by this function. Where file systems have no locks, the latter is not
 * noticed.
 *
 * @param flags 0 or HY_OUTPUT_FIFO.
 * @param[out] fd Of the file. It is not inherited by other programs.
 * @param error As above; may not be NULL.
 * @return 0; -ELOOP it is a symbolic link; -EPERM it belongs to another user; -EINVAL it is another
 * kind of file than is accepted; -EBUSY it is in use; -ENXIO nothing reads from the FIFO; or what
 * opening failed with.
 */
int hy_output_open(const char *path, unsigned int flags, int *fd, char *error);

/** Removes the content of a file from hy_output_open(). @return 0; what truncating failed with. */
int hy_output_empty(int fd);

/**
 * Writes all of some bytes to a file descriptor.
 *
 * @return 0; or what the write failed with that was not complete.
 */
int hy_output_write(int fd, const char *bytes, size_t size);

/**
 * Hands all that was written to a stream to the system.
 *
 * @return 0; or what it failed with. If an earlier write failed: what that failed with, for the stdout of
 * hy_file_prepare(), and -EIO for other streams, which do not remember it.
 */
int hy_output_flush(FILE *out);

/**
 * Hands all that was printed to the file system, when a program ends, and says on standard error if some of
 * it is lost. main() returns what this returns.
 *
 * @return EXIT_SUCCESS or EXIT_FAILURE.
 */
int hy_output_end(const char *program);

/**
 * Replaces with '?', in place, all that a terminal could take for a command: control characters, and
 * bytes that are not UTF-8. For text from a file, or the name of one, in a message.
 *
 * @return text.
 */
char *hy_printable(char *text);

/** The same for bytes that may be several lines: line ends and tabs stay. */
void hy_printable_lines(char *bytes, size_t size);

/**
 * Copies the beginning of some bytes, and treats the copy as hy_printable_lines() does. It ends
 * between two characters, so that the next copy begins with a whole one.
 *
 * @param most Most bytes to copy; at least 4.
 * @return Bytes that were copied: 0 only if size is.
 */
size_t hy_printable_copy(char *to, size_t most, const char *bytes, size_t size);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
