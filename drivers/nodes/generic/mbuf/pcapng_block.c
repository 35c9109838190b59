/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks of a pcapng file: they and their options are multiples of four bytes, in the byte order of
 * this machine. Whole blocks wait in a buffer until they are written, so that a file that cannot grow
 * is truncated behind its last whole block, and the number of packets in it is known.
 */

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_common.h>

#include "pcapng_block.h"

#define END_OF_OPTIONS 0

/* 64: the head, fields and end of a packet's block. */
static_assert(HY_PCAPNG_BUFFER > 64 + HY_CAPTURE_SNAP_MAX + HY_PCAPNG_OPTIONS_MAX,
	"any block fits");

void
hy_pcapng_option(struct hy_pcapng_options *options, uint16_t code, const void *value, size_t size)
{
	const uint16_t head[] = { code, (uint16_t)size };
	const uint32_t all = RTE_ALIGN((uint32_t)(sizeof(head) + size), 4u);

	if (all > sizeof(options->bytes) - options->size)
		return;
	memset(options->bytes + options->size, 0, all);
	memcpy(options->bytes + options->size, head, sizeof(head));
	if (size > 0)
		memcpy(options->bytes + options->size + sizeof(head), value, size);
	options->size += all;
}

/* Bytes and packets of the blocks in the buffer that the file has completely. */
static size_t
blocks_sent(const struct hy_pcapng *file, uint64_t *packets)
{
	size_t at = 0;
	uint32_t head[2];

	*packets = 0;
	while (at + sizeof(head) <= file->sent) {
		memcpy(head, file->buffer + at, sizeof(head));
		if (head[1] > file->sent - at)
			break;
		*packets += head[0] == HY_PCAPNG_PACKET;
		at += head[1];
	}
	return at;
}

/* Rejects further packets, and truncates the file after its last complete block if possible. */
static int
fail(struct hy_pcapng *file, int error)
{
	uint64_t packets;

	file->written += blocks_sent(file, &packets);
	file->packets += packets;
	file->error = error;
	file->used = file->sent = 0;
	if (lseek(file->fd, 0, SEEK_CUR) >= 0 && ftruncate(file->fd, (off_t)file->written) < 0)
		return error; /* report the first error */
	return error;
}

static void
put(struct hy_pcapng *file, const void *bytes, size_t size)
{
	if (size > 0)
		memcpy(file->buffer + file->used, bytes, size);
	file->used += size;
}

int
hy_pcapng_block(struct hy_pcapng *file, uint32_t type, const void *fields, uint32_t size,
	const uint8_t *data, uint32_t data_size, struct hy_pcapng_options *options)
{
	static const uint8_t padding[4];
	const uint32_t pad = RTE_ALIGN(data_size, 4u) - data_size;
	uint32_t head[2] = { type };

	hy_pcapng_option(options, END_OF_OPTIONS, NULL, 0);
	head[1] = (uint32_t)(sizeof(head) + sizeof(head[1])) + size + data_size + pad +
		options->size;
	if (head[1] > sizeof(file->buffer) - file->used) {
		const int rc = hy_pcapng_flush(file);

		if (rc < 0)
			return rc;
	}
	put(file, head, sizeof(head));
	put(file, fields, size);
	put(file, data, data_size);
	put(file, padding, pad);
	put(file, options->bytes, options->size);
	put(file, &head[1], sizeof(head[1]));
	return 0;
}

int
hy_pcapng_flush(struct hy_pcapng *file)
{
	uint64_t packets;

	while (file->sent < file->used) {
		const ssize_t n = write(file->fd, file->buffer + file->sent,
			file->used - file->sent);

		if (n == 0)
			return fail(file, -EIO);
		if (n > 0)
			file->sent += (size_t)n;
		else if (errno == EAGAIN)
			return -EAGAIN;
		else if (errno != EINTR)
			return fail(file, -errno);
	}
	file->written += blocks_sent(file, &packets);
	file->packets += packets;
	file->used = file->sent = 0;
	return file->error;
}

uint64_t
hy_pcapng_packets(const struct hy_pcapng *file)
{
	uint64_t packets;

	blocks_sent(file, &packets);
	return file->packets + packets;
}

/* Whether somebody who looks for a file will find all that was written to it, and nothing else. */
static int
file_check(const struct hy_pcapng *file)
{
	struct stat st;

	if (fstat(file->fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return 0;
	if (st.st_nlink == 0)
		return -ENOENT;
	return st.st_size == (off_t)file->written ? 0 : -ESTALE;
}

int
hy_pcapng_close(struct hy_pcapng *file)
{
	int rc;

	if (file == NULL)
		return 0;
	rc = hy_pcapng_flush(file);
	if (rc == 0)
		rc = file_check(file);
	if (close(file->fd) < 0 && rc == 0)
		rc = -errno;
	free(file);
	return rc;
}
