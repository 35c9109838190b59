/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread writes piece by piece while the caller waits, so that all that was printed is in the file
 * even if the program then crashes. A disk that stalls holds up only the thread.
 */

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hy_file.h>

#include "lib/file/internal/job.h"
#include "terminal_file.h"

struct hy_terminal_file {
	int fd;
	pthread_mutex_t lock; /* of all that follows */
	pthread_cond_t changed;
	bool busy;  /* the thread has a piece */
	bool asked; /* the caller wants to know what becomes of it */
	int rc;     /* of the last piece; -errno */
	size_t size;
	char piece[HY_TERMINAL_PIECE];
};

static int
piece_do(const struct hy_terminal_file *file)
{
	int fd;

	if (file->size > 0)
		return hy_output_write(file->fd, file->piece, file->size);
	fd = dup(file->fd);
	return fd >= 0 && close(fd) < 0 ? -errno : 0;
}

static void *
writer_main(void *arg)
{
	struct hy_terminal_file *file = arg;

	pthread_mutex_lock(&file->lock);
	for (;;) {
		while (!file->busy)
			pthread_cond_wait(&file->changed, &file->lock);
		pthread_mutex_unlock(&file->lock);
		file->rc = piece_do(file); /* nobody else looks at it while the thread is busy */
		pthread_mutex_lock(&file->lock);
		file->busy = false;
		pthread_cond_broadcast(&file->changed);
	}
	return NULL;
}

int
hy_terminal_file_start(int fd, struct hy_terminal_file **file)
{
	struct hy_terminal_file *made = calloc(1, sizeof(*made));
	int rc;

	if (made == NULL)
		return -ENOMEM;
	made->fd = fd;
	pthread_mutex_init(&made->lock, NULL);
	pthread_cond_init(&made->changed, NULL);
	rc = hy_file_thread(writer_main, made, "hy-print");
	if (rc < 0)
		free(made);
	else
		*file = made;
	return rc;
}

ssize_t
hy_terminal_file_try(struct hy_terminal_file *file, const char *bytes, size_t size)
{
	int rc = -EAGAIN;

	pthread_mutex_lock(&file->lock);
	if (!file->busy && !file->asked) {
		memcpy(file->piece, bytes, size);
		file->size = size;
		file->busy = file->asked = true;
		pthread_cond_broadcast(&file->changed);
	}
	if (file->asked && file->busy)
		hy_file_tick(&file->changed, &file->lock);
	if (file->asked && !file->busy) {
		file->asked = false;
		rc = file->rc;
	}
	pthread_mutex_unlock(&file->lock);
	errno = -rc;
	return rc < 0 ? -1 : (ssize_t)size;
}

void
hy_terminal_file_forget(struct hy_terminal_file *file)
{
	pthread_mutex_lock(&file->lock);
	file->asked = false;
	pthread_mutex_unlock(&file->lock);
}
