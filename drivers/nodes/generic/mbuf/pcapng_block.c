/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whole blocks wait in a buffer until they are written. So a file that cannot grow is cut after its
 * last whole block, and the packets in it are known.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pcapng_block.h"

#define OPTION_END 0

/* Of a packet: its fields, data and options, with the heads of all. */
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

/* The blocks of the buffer that are in the file as a whole: their bytes, and how many are packets. */
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

/* Takes no more; the file ends behind its last whole block, if it can be cut. */
static int
fail(struct hy_pcapng *file, int error)
{
	uint64_t packets;

	file->written += blocks_sent(file, &packets);
	file->packets += packets;
	file->error = error;
	file->used = file->sent = 0;
	if (lseek(file->fd, 0, SEEK_CUR) >= 0 && ftruncate(file->fd, (off_t)file->written) < 0)
		return error; /* the first reason counts */
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

	hy_pcapng_option(options, OPTION_END, NULL, 0);
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

		if (n >= 0)
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

int
hy_pcapng_close(struct hy_pcapng *file)
{
	int rc;

	if (file == NULL)
		return 0;
	rc = hy_pcapng_flush(file);
	if (close(file->fd) < 0 && rc == 0)
		rc = -errno;
	free(file);
	return rc;
}
