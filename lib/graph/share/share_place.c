/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where memory of DPDK's heap lies: in files that the process has open, be they hugepages or not;
 * and how another process reads it. The kernel lets in whom it would let debug the process.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "share.h"

/* Appends a page, to the last extent if it is adjacent. */
static int
page_add(struct hy_share_place *place, const struct rte_memseg *page)
{
	struct hy_share_extent *last = &place->extents[place->nb_extents];
	const int fd = rte_memseg_get_fd((struct rte_memseg *)(uintptr_t)page);
	struct stat st;
	size_t offset;

	if (fd < 0 || rte_memseg_get_fd_offset((struct rte_memseg *)(uintptr_t)page, &offset) < 0)
		return -ENOTSUP;
	if (place->nb_extents > 0 && last[-1].fd == (uint64_t)fd &&
		last[-1].offset + last[-1].length == offset) {
		last[-1].length += page->len;
		return 0;
	}
	if (fstat(fd, &st) < 0)
		return -ENOTSUP;
	if (place->nb_extents == HY_SHARE_EXTENTS_MAX)
		return -ENOTSUP;
	*last = (struct hy_share_extent){
		.length = page->len,
		.fd = (uint64_t)fd,
		.offset = offset,
		.device = st.st_dev,
		.inode = st.st_ino,
	};
	place->nb_extents++;
	return 0;
}

int
hy_share_locate(const void *block, size_t size, struct hy_share_place *place)
{
	const struct rte_memseg *page = rte_mem_virt2memseg(block, NULL);
	const void *end = RTE_PTR_ADD(block, size);
	size_t pages;
	int rc = 0;

	*place = (struct hy_share_place){ .address = (uintptr_t)block, .size = size };
	if (page == NULL)
		return -ENOTSUP;
	place->start = RTE_PTR_DIFF(block, page->addr);
	pages = (place->start + size) / page->len + 1;
	place->extents = calloc(RTE_MIN(pages, (size_t)HY_SHARE_EXTENTS_MAX),
		sizeof(*place->extents));
	if (place->extents == NULL)
		return -ENOMEM;
	while (rc == 0 && page != NULL) {
		const void *next = RTE_PTR_ADD(page->addr, page->len);

		rc = page_add(place, page);
		page = next < end ? rte_mem_virt2memseg(next, NULL) : NULL;
		if (next < end && page == NULL)
			rc = -ENOTSUP;
	}
	if (rc < 0)
		hy_share_place_free(place);
	return rc;
}

void
hy_share_place_free(struct hy_share_place *place)
{
	free(place->extents);
	place->extents = NULL;
	place->nb_extents = 0;
}

/* Opens a file that the process has open. Its type is checked before it is opened for reading. */
static int
extent_open(pid_t pid, uid_t owner, const struct hy_share_extent *extent)
{
	char path[64];
	struct stat st;
	int fd, rc;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, (int)extent->fd);
	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* The number may be another file's by now, or another process's. */
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != owner ||
		st.st_dev != extent->device || st.st_ino != extent->inode) {
		rc = -EAGAIN;
	} else {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		rc = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* it may have a lease */
		if (rc < 0)
			rc = -errno;
	}
	close(fd);
	return rc;
}

static int
extent_read(pid_t pid, uid_t owner, const struct hy_share_extent *extent, uint64_t offset, void *to,
	size_t size)
{
	const int fd = extent_open(pid, owner, extent);
	ssize_t n;

	if (fd == -EACCES || fd == -EPERM)
		return -EACCES;
	if (fd == -EMFILE || fd == -ENFILE)
		return -ENOMEM;
	if (fd < 0)
		return -EAGAIN;
	n = pread(fd, to, size, (off_t)(extent->offset + offset));
	close(fd);
	return n == (ssize_t)size ? 0 : -EAGAIN;
}

int
hy_share_read(pid_t pid, uid_t owner, const struct hy_share_place *place, uint64_t offset, void *to,
	size_t size)
{
	uint64_t from = place->start + offset;
	char *at = to;

	for (unsigned int i = 0; i < place->nb_extents && size > 0; i++) {
		const struct hy_share_extent *extent = &place->extents[i];

		if (from < extent->length) {
			const size_t n = (size_t)RTE_MIN(extent->length - from, (uint64_t)size);
			const int rc = extent_read(pid, owner, extent, from, at, n);

			if (rc < 0)
				return rc;
			at += n;
			size -= n;
			from += n;
		}
		from -= extent->length;
	}
	return size == 0 ? 0 : -EAGAIN;
}
