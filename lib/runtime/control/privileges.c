/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * glibc applies a change of user to all threads of the process, EAL's included; the kernel takes
 * the capabilities of each that is no longer root's. The result is read back, thread by thread.
 */

#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <hy_privileges.h>
#include <hy_signals.h>
#include <hy_terminal.h>

static char note[48]; /* empty before rights are given up */

#define complain(...) (hy_terminal_error("--user: " __VA_ARGS__), -EPERM)

int
hy_privileges_begin(void)
{
	return hy_terminal_report("no_new_privs",
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : -errno);
}

/* What each thread's status must say. */
struct expected {
	const char *key;
	char value[48];
};

#define EXPECTED 6

static void
expect(const struct hy_user *user, struct expected all[EXPECTED])
{
	const unsigned int uid = user->uid, gid = user->gid;

	all[0].key = "Uid:";
	snprintf(all[0].value, sizeof(all[0].value), "%u\t%u\t%u\t%u", uid, uid, uid, uid);
	all[1].key = "Gid:";
	snprintf(all[1].value, sizeof(all[1].value), "%u\t%u\t%u\t%u", gid, gid, gid, gid);
	all[2] = (struct expected){ "Groups:", "" };
	all[3] = (struct expected){ "CapPrm:", "0000000000000000" };
	all[4] = (struct expected){ "CapEff:", "0000000000000000" };
	all[5] = (struct expected){ "NoNewPrivs:", "1" };
}

/* Compares a line of a status file. Returns 1: as expected; 0: not asked for; -1: something else. */
static int
line_check(const struct expected all[EXPECTED], char *line)
{
	for (unsigned int e = 0; e < EXPECTED; e++) {
		const size_t len = strlen(all[e].key);
		char *value = line + len;

		if (strncmp(line, all[e].key, len) != 0)
			continue;
		value += strspn(value, "\t ");
		value[strcspn(value, "\n")] = '\0';
		while (value[0] != '\0' && value[strlen(value) - 1] == ' ')
			value[strlen(value) - 1] = '\0';
		return strcmp(value, all[e].value) == 0 ? 1 : -1;
	}
	return 0;
}

/* Returns how many lines are as expected; -EAGAIN: this line is not; -ENOENT: the thread has ended. */
static int
status_check(const struct expected all[EXPECTED], const char *path, char *line, int size)
{
	FILE *status = fopen(path, "re");
	int found = 0, rc = 0;

	if (status == NULL)
		return errno == ESRCH ? -ENOENT : -errno;
	while (rc >= 0 && fgets(line, size, status) != NULL) {
		rc = line_check(all, line);
		found += rc;
	}
	if (rc >= 0 && ferror(status)) {
		found = errno == ESRCH ? -ENOENT : -errno;
		rc = 0;
	}
	fclose(status);
	return rc < 0 ? -EAGAIN : found;
}

/* glibc changes no thread that is about to end, as telemetry's do when a client leaves. */
static int
thread_check(const struct expected all[EXPECTED], const char *thread)
{
	char path[sizeof("/proc/self/task//status") + NAME_MAX], line[256] = "";
	unsigned int patience = 1000;
	int rc;

	snprintf(path, sizeof(path), "/proc/self/task/%s/status", thread);
	while ((rc = status_check(all, path, line, sizeof(line))) == -EAGAIN && patience-- > 0)
		usleep(1000);
	if (rc == -ENOENT)
		return 0;
	if (rc == -EAGAIN)
		return complain("thread %s still has '%s'", thread, line);
	if (rc < 0)
		return complain("%s: %s", path, strerror(-rc));
	return rc == EXPECTED ? 0 : complain("%s does not tell what rights are left", path);
}

static int
threads_check(const struct hy_user *user)
{
	struct expected all[EXPECTED];
	unsigned int threads = 0;
	const struct dirent *d;
	DIR *tasks = opendir("/proc/self/task");
	int rc = 0;

	if (tasks == NULL)
		return complain("/proc/self/task: %s", strerror(errno));
	expect(user, all);
	while (rc == 0 && (errno = 0, d = readdir(tasks)) != NULL) {
		if (d->d_name[0] == '.')
			continue;
		rc = thread_check(all, d->d_name);
		threads++;
	}
	if (rc == 0 && errno != 0)
		rc = complain("/proc/self/task: %s", strerror(errno));
	closedir(tasks);
	return rc == 0 && threads == 0 ? complain("/proc/self/task names no thread") : rc;
}

int
hy_privileges_drop(const struct hy_user *user)
{
	const uid_t uid = user->uid;
	const gid_t gid = user->gid;

	if (uid == 0)
		return 0;
	/* A thread that prints may still wait for a disk, and glibc would wait for it. */
	if (hy_stopping())
		return -EINTR;
	/* Groups first: only root may change them. */
	if (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		return complain("cannot become user %u, group %u: %s", uid, gid, strerror(errno));
	if (setresuid(0, 0, 0) == 0 || setresgid(0, 0, 0) == 0)
		return complain("user %u could become root again", uid);
	if (threads_check(user) < 0)
		return -EPERM;
	snprintf(note, sizeof(note), " (as user %u of --user)", uid);
	return 0;
}

bool
hy_privileges_dropped(void)
{
	return note[0] != '\0';
}

const char *
hy_privileges_note(const char *path, int mode)
{
	char folder[4096];
	char *slash;

	if (note[0] == '\0' || access(path, mode) == 0)
		return "";
	if (errno == EACCES)
		return note;
	if (errno != ENOENT || mode != W_OK || strlen(path) >= sizeof(folder))
		return "";
	/* A file that is to be made: it is the folder that must be writable. */
	strcpy(folder, path);
	slash = strrchr(folder, '/');
	if (slash == NULL)
		strcpy(folder, ".");
	else
		slash[slash == folder] = '\0';
	return access(folder, W_OK) == 0 || errno != EACCES ? "" : note;
}
