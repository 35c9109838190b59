/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that change while they are read, folders that cannot be read to their end, disks that stall. */

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hy_file.h>

#include "app/test/unit.h"
#include "lib/file/internal/job.h"

#define SIZE (3u << 20) /* is read in several pieces */
#define ROUNDS 50

static char path[] = "/tmp/hy-test-file-XXXXXX";
static char content[SIZE];
static int file_fd;
static unsigned int pieces;

/* Called before each piece. */
static bool
change_before_the_second(void)
{
	if (++pieces == 2) {
		memset(content, 'b', SIZE);
		if (pwrite(file_fd, content, SIZE, 0) != SIZE)
			abort();
	}
	return false;
}

/* Returns how many of the rounds have refused the file. */
static unsigned int
rounds_run(const char *name)
{
	unsigned int refused = 0;
	char error[HY_FILE_ERROR_SIZE];

	file_fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	hy_file_stop_when(change_before_the_second);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		struct hy_file file;

		pieces = 0;
		memset(content, 'a', SIZE);
		if (pwrite(file_fd, content, SIZE, 0) != SIZE)
			abort();
		refused += hy_file_read(name, HY_FILE_MAX, &file, error) == -EAGAIN && pieces > 2;
		hy_file_free(&file);
	}
	hy_file_stop_when(NULL);
	close(file_fd);
	return refused;
}

/* The time of a file has the resolution of the kernel's tick where file systems know no finer one. */
static void
a_file_that_changes_within_the_tick_in_which_it_was_written_is_refused(void **state)
{
	int status;
	pid_t child;

	RTE_SET_USED(state);
	assert_non_null(mkdtemp(path));
	child = fork();
	if (child == 0) {
		char name[sizeof(path) + 8];

		snprintf(name, sizeof(name), "%s/file", path);
		if (unshare(CLONE_NEWNS) < 0 ||
			mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
			mount("none", path, "ramfs", 0, NULL) < 0)
			_exit(255);
		_exit((int)rounds_run(name));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	rmdir(path);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 255)
		skip(); /* no right to mount */
	assert_int_equal(WEXITSTATUS(status), ROUNDS);
}

static unsigned int listed = UINT_MAX; /* entries of folders that may still be read */

/* Stands in for libc's, for the library, too. */
struct dirent *
readdir(DIR *folder)
{
	struct dirent *(*const real)(DIR *) = (struct dirent * (*)(DIR *))
		dlsym(RTLD_NEXT, "readdir");

	if (listed > 0) {
		listed--;
		return real(folder);
	}
	errno = EIO;
	return NULL;
}

/* It was taken for whole: what was not in it was written over. */
static void
a_file_is_not_written_to_if_the_list_of_open_ones_breaks_off(void **state)
{
	char name[] = "/tmp/hy-test-file-XXXXXX", error[HY_FILE_ERROR_SIZE];
	const int open_already = mkstemp(name);
	int fd;

	RTE_SET_USED(state);
	assert_true(open_already >= 0);
	for (unsigned int n = 0; n <= 2; n++) { /* "." and "..", which are no files */
		listed = n;
		assert_int_equal(hy_output_open(name, 0, &fd, error), -EIO);
		assert_string_equal(error, strerror(EIO));
		assert_int_equal(listed, 0);
	}
	listed = UINT_MAX;
	assert_int_equal(hy_output_open(name, 0, &fd, error), -EBUSY);
	close(open_already);
	assert_int_equal(hy_output_open(name, 0, &fd, error), 0);
	close(fd);
	unlink(name);
}

static atomic_bool answers; /* the disk */
static atomic_uint begun, dropped;

static int
stalled_run(void *arg, atomic_uint *steps, char *error)
{
	RTE_SET_USED(arg);
	RTE_SET_USED(steps);
	RTE_SET_USED(error);
	begun++;
	while (!answers)
		usleep(1000);
	return 0;
}

static void
stalled_drop(void *arg)
{
	RTE_SET_USED(arg);
	dropped++;
}

static bool
always(void)
{
	return true;
}

/* Each reload from a disk that does not answer left another thread behind. */
static void
a_disk_that_stalls_holds_few_threads_however_often_it_is_asked(void **state)
{
	static const struct hy_file_job job = { "stalled", "read", stalled_run, stalled_drop,
		false };
	char error[HY_FILE_ERROR_SIZE];
	unsigned int left = 0, refused = 0;
	int arg = 0, rc;

	RTE_SET_USED(state);
	hy_file_stop_when(always); /* they are given up soon */
	for (unsigned int i = 0; i < 12; i++) {
		rc = hy_file_job(&job, &arg, sizeof(arg), error);
		left += rc == -EINTR;
		refused += rc == -EBUSY;
	}
	assert_int_equal(begun, left);
	assert_int_equal(left, HY_FILE_BEHIND_MOST);
	assert_int_equal(refused, 12 - HY_FILE_BEHIND_MOST);
	assert_string_equal(error, "not opened, since earlier files still wait for their disks");
	answers = true;
	hy_file_stop_when(NULL);
	while (dropped < left)
		usleep(1000);
	do /* the last thread that was left behind may still be ending */
		rc = hy_file_job(&job, &arg, sizeof(arg), error);
	while (rc == -EBUSY);
	assert_int_equal(rc, 0);
	assert_int_equal(begun, left + 1);
	assert_int_equal(dropped, left);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_file_that_changes_within_the_tick_in_which_it_was_written_is_refused),
	cmocka_unit_test(a_file_is_not_written_to_if_the_list_of_open_ones_breaks_off),
	cmocka_unit_test(a_disk_that_stalls_holds_few_threads_however_often_it_is_asked),
};

UNIT_SUITE(tests)
