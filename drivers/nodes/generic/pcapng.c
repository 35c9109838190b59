/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing pcapng: a section, interfaces, packets. Blocks and options are multiples
 * of four bytes, in the byte order of this machine.
 *
 * Whole blocks wait in a buffer until they are written. So a file that cannot grow is cut after its
 * last whole block, and the packets in it are known.
 *
 * rte_pcapng is not used: that of DPDK 22.11 has no comments, takes the padding for bytes of the
 * packet, wants a packet buffer for each copy, and takes no heed of a write that was cut short.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_version.h>

#include <hy_pcapng.h>

#define BLOCK_SECTION 0x0a0d0d0a
#define BLOCK_INTERFACE 1
#define BLOCK_PACKET 6
#define ORDER 0x1a2b3c4d
#define LINK_ETHERNET 1

enum option {
	OPTION_END,
	OPTION_COMMENT,
	SECTION_PROGRAM = 4,
	INTERFACE_NAME = 2,
	INTERFACE_DESCRIPTION = 3,
	INTERFACE_RESOLUTION = 9,
	PACKET_FLAGS = 2,
	PACKET_LOST = 4,
};

#define OPTIONS_MAX 1024 /* bytes of a block */
#define TEXT_MAX 512
#define NO_PORT RTE_MAX_ETHPORTS /* of packets that no port has received */

#define BUFFER_SIZE (256u << 10)
/* Of a packet: its fields, data and options, with the heads of all. */
static_assert(BUFFER_SIZE > 64 + HY_CAPTURE_SNAP_MAX + OPTIONS_MAX, "any block fits");

struct hy_pcapng {
	int fd;
	int error;        /* that the first write failed with */
	uint64_t written; /* bytes of whole blocks that are in the file, */
	uint64_t packets; /* and how many of these are packets; without what is in the buffer */
	uint32_t snap;
	uint64_t tsc, ns; /* the same moment on both clocks */
	uint32_t nb_interfaces;
	uint32_t interface[NO_PORT + 1]; /* of a port: its number and 1; 0: none yet */
	size_t used, sent;               /* bytes of the buffer, and how many the file has */
	uint8_t buffer[BUFFER_SIZE];
};

/* Options of a block, one behind the other. */
struct options {
	uint32_t size;
	uint8_t bytes[OPTIONS_MAX];
};

static void
option_add(struct options *options, enum option code, const void *value, size_t size)
{
	const uint16_t head[] = { (uint16_t)code, (uint16_t)size };
	const uint32_t all = RTE_ALIGN((uint32_t)(sizeof(head) + size), 4u);

	if (all > sizeof(options->bytes) - options->size)
		return;
	memset(options->bytes + options->size, 0, all);
	memcpy(options->bytes + options->size, head, sizeof(head));
	if (size > 0)
		memcpy(options->bytes + options->size + sizeof(head), value, size);
	options->size += all;
}

static void
option_text(struct options *options, enum option code, const char *text)
{
	option_add(options, code, text, RTE_MIN(strlen(text), (size_t)TEXT_MAX));
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
		*packets += head[0] == BLOCK_PACKET;
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

/* Writes a block: its fields, data of any length, and options. */
static int
block(struct hy_pcapng *file, uint32_t type, const void *fields, uint32_t size, const uint8_t *data,
	uint32_t data_size, struct options *options)
{
	static const uint8_t padding[4];
	const uint32_t pad = RTE_ALIGN(data_size, 4u) - data_size;
	uint32_t head[2] = { type };

	option_add(options, OPTION_END, NULL, 0);
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

static int
section_write(struct hy_pcapng *file, const char *program)
{
	const struct {
		uint32_t order;
		uint16_t major, minor;
		uint32_t length[2]; /* not known */
	} section = { ORDER, 1, 0, { UINT32_MAX, UINT32_MAX } };
	struct options options = { 0 };
	char text[128];

	snprintf(text, sizeof(text), "%s, %s", program, rte_version());
	option_text(&options, SECTION_PROGRAM, text);
	return block(file, BLOCK_SECTION, &section, sizeof(section), NULL, 0, &options);
}

/* A port that is gone, or none at all, is an interface, too. */
static int
interface_write(struct hy_pcapng *file, uint16_t port)
{
	const struct {
		uint16_t link, reserved;
		uint32_t snap;
	} interface = { LINK_ETHERNET, 0, file->snap };
	const uint8_t nanoseconds = 9;
	int rc;
	char name[RTE_ETH_NAME_MAX_LEN] = "no port", text[16];
	struct options options = { 0 };

	if (rte_eth_dev_get_name_by_port(port, name) == 0) {
		snprintf(text, sizeof(text), "port %u", port);
		option_text(&options, INTERFACE_DESCRIPTION, text);
	}
	option_text(&options, INTERFACE_NAME, name);
	option_add(&options, INTERFACE_RESOLUTION, &nanoseconds, sizeof(nanoseconds));
	rc = block(file, BLOCK_INTERFACE, &interface, sizeof(interface), NULL, 0, &options);
	if (rc == 0)
		file->interface[port] = ++file->nb_interfaces;
	return rc;
}

static uint64_t
time_of(const struct hy_pcapng *file, uint64_t tsc)
{
	const uint64_t hz = rte_get_tsc_hz();
	const bool later = tsc >= file->tsc;
	const uint64_t ticks = later ? tsc - file->tsc : file->tsc - tsc;
	const uint64_t ns = ticks / hz * NS_PER_S + ticks % hz * NS_PER_S / hz;

	return later ? file->ns + ns : file->ns - ns;
}

int
hy_pcapng_open(int fd, const char *program, uint32_t snap, struct hy_pcapng **file)
{
	struct hy_pcapng *made = calloc(1, sizeof(*made));
	struct timespec now;
	uint16_t port;
	int rc;

	if (made == NULL)
		return -ENOMEM;
	made->fd = fd;
	made->snap = snap;
	clock_gettime(CLOCK_REALTIME, &now);
	made->tsc = rte_rdtsc();
	made->ns = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
	rc = section_write(made, program);
	RTE_ETH_FOREACH_DEV(port)
		if (rc == 0)
			rc = interface_write(made, port);
	if (rc == 0)
		rc = hy_pcapng_flush(made);
	if (rc < 0 && rc != -EAGAIN) {
		free(made);
		return rc;
	}
	*file = made;
	return 0;
}

int
hy_pcapng_write(struct hy_pcapng *file, const struct hy_capture_record *record,
	const struct hy_pcapng_point *point)
{
	const uint16_t from = point->port == HY_PCAPNG_OWN_PORT ? record->origin : point->port;
	const uint16_t port = RTE_MIN(from, NO_PORT);
	const uint64_t ns = time_of(file, record->tsc);
	const uint32_t direction = (uint32_t)point->direction;
	const uint64_t lost = record->lost;
	struct options options = { 0 };
	uint32_t fields[5] = { 0, (uint32_t)(ns >> 32), (uint32_t)ns, record->size,
		record->length };

	if (file->error < 0)
		return file->error;
	if (file->interface[port] == 0) { /* it came later */
		const int rc = interface_write(file, port);

		if (rc < 0)
			return rc;
	}
	fields[0] = file->interface[port] - 1;
	if (point->comment != NULL)
		option_text(&options, OPTION_COMMENT, point->comment);
	if (point->direction != HY_PCAPNG_ANY)
		option_add(&options, PACKET_FLAGS, &direction, sizeof(direction));
	if (lost > 0)
		option_add(&options, PACKET_LOST, &lost, sizeof(lost));
	return block(file, BLOCK_PACKET, fields, sizeof(fields), record->data, record->size,
		&options);
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
