/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The folder that graphs are shared in: where it is by default, and whose it is. Another user who
 * can change a name on the way to it, or in it, could lead a program to files that are not its own.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_eal.h>

#include "lib/graph/internal/log.h"
#include "share.h"

/* The user's runtime folder, created by systemd or another login manager. */
static int
base_folder(char base[PATH_MAX])
{
	const char *named = getenv("RUNTIME_DIRECTORY"); /* the order is EAL's */
	struct stat st;

	if (named == NULL)
		named = getuid() == 0 ? "/var/run" : getenv("XDG_RUNTIME_DIR");
	if (named != NULL)
		return snprintf(base, PATH_MAX, "%s", named) < PATH_MAX ? 0 : -EINVAL;
	/* EAL then uses /tmp, where any user may have created the folder first. */
	snprintf(base, PATH_MAX, "/run/user/%u", (unsigned int)getuid());
	return lstat(base, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == getuid() ? 0 : -ENOENT;
}

int
hy_share_folder(const char *prefix, char *path, size_t size)
{
	char base[PATH_MAX];
	int n, rc;

	if (prefix == NULL) {
		prefix = strrchr(rte_eal_get_runtime_dir(), '/');
		prefix = prefix == NULL ? "rte" : prefix + 1;
	}
	rc = base_folder(base);
	if (rc == -ENOENT)
		return HY_REFUSE(rc,
			"share: no folder that only user %u can make: %s is not there, and "
			"XDG_RUNTIME_DIR is not set; set it, or name a folder",
			(unsigned int)getuid(), base);
	n = rc < 0 ? -1 : snprintf(path, size, "%s/dpdk/%s/halyard", base, prefix);
	if (n >= 0 && (size_t)n < size && prefix[0] != '\0' && strchr(prefix, '/') == NULL)
		return 0;
	return HY_REFUSE(-EINVAL,
		"share: file prefix '%.64s': the path of its folder would be too long, or the "
		"prefix is empty or contains '/'",
		prefix);
}

int
hy_share_path(const char *folder, char path[PATH_MAX])
{
	const size_t n = folder == NULL ? 0 : strlen(folder);

	if (folder == NULL)
		return hy_share_folder(NULL, path, PATH_MAX);
	if (n > 0 && n < PATH_MAX) {
		memcpy(path, folder, n + 1);
		return 0;
	}
	return HY_REFUSE(-EINVAL,
		"share: the path of the folder has %zu bytes; 1 to %d are accepted", n,
		PATH_MAX - 1);
}

static int
failed(const char *path)
{
	const int rc = -errno;

	return HY_REFUSE(rc, "share: %s: %s", path, strerror(errno));
}

static int
distrusted(const char *path, const char *why, uid_t owner)
{
	return HY_REFUSE(-EPERM, "share: %s: %s (owner: user %u); not used by user %u", path, why,
		(unsigned int)owner, (unsigned int)geteuid());
}

/* Whether only root and the user control the entries of a folder on the way. */
static int
way_check(int folder, const char *path)
{
	struct stat st;

	if (fstat(folder, &st) < 0)
		return failed(path);
	if (st.st_uid != 0 && st.st_uid != geteuid())
		return distrusted(path, "a folder of another user's", st.st_uid);
	/* In a sticky folder nobody can rename another user's entries. */
	if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (st.st_mode & S_ISVTX) == 0)
		return distrusted(path, "other users can write in this folder", st.st_uid);
	return 0;
}

/* Opens a folder in one that was checked. A link is followed if the user or root made it. */
static int
step(int from, const char *name, const char *path)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	struct stat st;
	int fd, rc;

	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return failed(path);
	if (!S_ISLNK(st.st_mode))
		fd = openat(from, name, flags | O_NOFOLLOW);
	else if (st.st_uid == 0 || st.st_uid == geteuid())
		fd = openat(from, name, flags);
	else
		return distrusted(path, "a link of another user's", st.st_uid);
	if (fd < 0)
		return failed(path);
	rc = way_check(fd, path);
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

/* Whether the right user owns the folder, and only the owner can change its entries. */
static int
own_check(int folder, const char *path, bool others, uid_t *owner)
{
	struct stat st;

	if (fstat(folder, &st) < 0)
		return failed(path);
	if (st.st_uid != geteuid() && !others)
		return distrusted(path, "a folder of another user's", st.st_uid);
	if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return distrusted(path, "other users can write in this folder", st.st_uid);
	*owner = st.st_uid;
	return 0;
}

/* Opens the folder itself, which must not be a link. */
static int
end(int from, const char *name, const char *path, bool others, uid_t *owner)
{
	const int fd = openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	int rc;

	if (fd < 0 && errno == ENOTDIR && fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		S_ISLNK(st.st_mode))
		return distrusted(path, "a link, and not a folder", st.st_uid);
	if (fd < 0)
		return -errno;
	rc = own_check(fd, path, others, owner);
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

/* Removes the last name of a path, which becomes that of the parent folder. */
static const char *
last_name(char *path)
{
	size_t n = strlen(path);
	char *slash;

	while (n > 1 && path[n - 1] == '/')
		path[--n] = '\0';
	slash = strrchr(path, '/');
	if (slash == NULL)
		return NULL;
	*slash = '\0';
	return slash + 1;
}

/* Opens the folder above, from the root on or from where the process is. */
static int
way_open(char *above, bool absolute, bool make)
{
	/* Not "/": qemu, as an emulator of processes (-L), puts its own root in that place. */
	const char *at = absolute ? "/proc/self/root" : ".";
	char done[PATH_MAX] = "", *rest = above, *name;
	int fd = open(at, O_RDONLY | O_DIRECTORY | O_CLOEXEC), next;

	if (fd < 0)
		return failed(at);
	next = way_check(fd, at);
	while (next >= 0 && (name = strsep(&rest, "/")) != NULL) {
		const size_t n = strlen(done);

		if (name[0] == '\0')
			continue;
		snprintf(done + n, sizeof(done) - n, "%s%s", n > 0 || absolute ? "/" : "", name);
		if (make && mkdirat(fd, name, 0700) < 0 && errno != EEXIST)
			next = failed(done);
		else
			next = step(fd, name, done);
		if (next >= 0) {
			close(fd);
			fd = next;
		}
	}
	if (next >= 0)
		return fd;
	close(fd);
	return next;
}

int
hy_share_folder_make(const char *path, bool parents)
{
	char above[PATH_MAX];
	const char *name;
	uid_t owner;
	int way, fd;

	strcpy(above, path);
	name = last_name(above);
	if (name == NULL) {
		name = path;
		above[0] = '\0';
	}
	way = way_open(above, path[0] == '/', parents);
	if (way < 0)
		return way;
	if (mkdirat(way, name, 0700) < 0 && errno != EEXIST) {
		fd = failed(path);
	} else {
		fd = end(way, name, path, false, &owner);
		if (fd < 0 && fd != -EPERM) /* that is logged */
			HY_LOG(ERR, "share: %s: %s", path, strerror(-fd));
	}
	close(way);
	return fd;
}

int
hy_share_folder_look(const char *path, uid_t *owner)
{
	return end(AT_FDCWD, path, path, geteuid() == 0, owner);
}

bool
hy_share_file_trusted(int fd, uid_t owner)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == owner && st.st_nlink == 1;
}

DIR *
hy_share_opendir(int folder)
{
	const int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (dir == NULL && fd >= 0) {
		const int why = errno;

		close(fd);
		errno = why;
	}
	return dir;
}

const char *
hy_share_readdir(DIR *folder)
{
	const struct dirent *d;

	errno = 0;
	do
		d = readdir(folder);
	while (d != NULL && strncmp(d->d_name, HY_SHARE_PREFIX, strlen(HY_SHARE_PREFIX)) != 0);
	return d == NULL ? NULL : d->d_name;
}

/* Whether a file is a description of an earlier process of the user. */
static bool
is_left(int folder, const char *name)
{
	const int fd = openat(folder, name,
		O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
	uint64_t magic;
	bool left;

	if (fd < 0)
		return false;
	left = hy_share_file_trusted(fd, geteuid()) &&
		read(fd, &magic, sizeof(magic)) == sizeof(magic) && magic == HY_SHARE_MAGIC;
	close(fd);
	return left;
}

int
hy_share_folder_clear(int folder, const char *path)
{
	DIR *dir = hy_share_opendir(folder);
	const char *name;
	int rc = 0;

	if (dir == NULL)
		return failed(path);
	while (rc == 0 && (name = hy_share_readdir(dir)) != NULL) {
		if (!is_left(folder, name)) {
			rc = HY_REFUSE(-EEXIST,
				"share: %s/%s: no description that Halyard left; move it, or name "
				"another folder",
				path, name);
		} else if (unlinkat(folder, name, 0) < 0) {
			rc = failed(path);
		}
	}
	if (rc == 0 && errno != 0)
		rc = failed(path);
	closedir(dir);
	return rc;
}
