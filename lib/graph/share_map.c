/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where memory of DPDK's heap lies: in files that the process has open, be they hugepages or not;
 * and how another process maps it. The kernel lets in whom it would let debug the process.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <rte_errno.h>

#include "share.h"

/* Appends a page, to the last extent if it goes on there. */
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
	place->page = page->hugepage_sz;
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

/* Whether a file has larger pages: mmap() would map whole ones, beyond the room. */
static bool
pages_exceed(int fd, uint64_t page)
{
	struct statfs fs;

	return fstatfs(fd, &fs) < 0 ||
		(fs.f_type == HUGETLBFS_MAGIC && (uint64_t)fs.f_bsize > page);
}

/* Maps an extent where there is room for it. */
static int
extent_map(pid_t pid, const struct hy_share_extent *extent, uint64_t page, void *at)
{
	char path[64];
	struct stat st;
	int fd, rc = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, (int)extent->fd);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return errno == EACCES || errno == EPERM     ? -EACCES
			: errno == EMFILE || errno == ENFILE ? -ENOMEM
							     : -EAGAIN;
	/* The number may be another file's by now, or another process's. */
	if (fstat(fd, &st) < 0 || st.st_dev != extent->device || st.st_ino != extent->inode ||
		(uint64_t)st.st_size < extent->offset + extent->length || pages_exceed(fd, page))
		rc = -EAGAIN;
	else if (mmap(at, extent->length, PROT_READ, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd,
			 (off_t)extent->offset) == MAP_FAILED)
		rc = -ENOMEM;
	close(fd);
	return rc;
}

int
hy_share_map(pid_t pid, const struct hy_share_place *place, struct hy_share_view *view)
{
	size_t length = 0;
	char *at;
	int rc = 0;

	for (unsigned int i = 0; i < place->nb_extents; i++)
		length += place->extents[i].length;
	view->length = length + place->page;
	/* Room first, where pages of that size can be. */
	view->mapped = mmap(NULL, view->length, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (view->mapped == MAP_FAILED)
		return -ENOMEM;
	at = RTE_PTR_ALIGN_CEIL(view->mapped, place->page);
	view->block = at + place->start;
	for (unsigned int i = 0; i < place->nb_extents && rc == 0; i++) {
		rc = extent_map(pid, &place->extents[i], place->page, at);
		at += place->extents[i].length;
	}
	if (rc < 0)
		hy_share_unmap(view);
	return rc;
}

void
hy_share_unmap(struct hy_share_view *view)
{
	munmap(view->mapped, view->length);
}
