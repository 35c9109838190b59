/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes pcapng: a section, interfaces, packets.
 *
 * rte_pcapng does not fit: that of DPDK 22.11 writes no comments, counts the padding as bytes of the
 * packet, needs a packet buffer for each copy, and ignores short writes.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_version.h>

#include "pcapng_block.h"

#define BLOCK_SECTION 0x0a0d0d0a
#define BLOCK_INTERFACE 1
#define ORDER 0x1a2b3c4d
#define LINK_ETHERNET 1

enum option {
	OPTION_COMMENT = 1,
	SECTION_PROGRAM = 4,
	INTERFACE_NAME = 2,
	INTERFACE_DESCRIPTION = 3,
	INTERFACE_RESOLUTION = 9,
	PACKET_FLAGS = 2,
	PACKET_LOST = 4,
};

#define TEXT_MAX 512

static void
option_text(struct hy_pcapng_options *options, enum option code, const char *text)
{
	hy_pcapng_option(options, (uint16_t)code, text, RTE_MIN(strlen(text), (size_t)TEXT_MAX));
}

static int
section_write(struct hy_pcapng *file, const char *program)
{
	const struct {
		uint32_t order;
		uint16_t major, minor;
		uint32_t length[2]; /* unknown */
	} section = { ORDER, 1, 0, { UINT32_MAX, UINT32_MAX } };
	struct hy_pcapng_options options = { 0 };
	char text[128];

	snprintf(text, sizeof(text), "%s, %s", program, rte_version());
	option_text(&options, SECTION_PROGRAM, text);
	return hy_pcapng_block(file, BLOCK_SECTION, &section, sizeof(section), NULL, 0, &options);
}

/* A removed port is an interface too, and so is "no port". */
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
	struct hy_pcapng_options options = { 0 };

	if (rte_eth_dev_get_name_by_port(port, name) == 0) {
		snprintf(text, sizeof(text), "port %u", port);
		option_text(&options, INTERFACE_DESCRIPTION, text);
	}
	option_text(&options, INTERFACE_NAME, name);
	hy_pcapng_option(&options, INTERFACE_RESOLUTION, &nanoseconds, sizeof(nanoseconds));
	rc = hy_pcapng_block(file, BLOCK_INTERFACE, &interface, sizeof(interface), NULL, 0,
		&options);
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
	const uint16_t port = RTE_MIN(from, HY_PCAPNG_NO_PORT);
	const uint64_t ns = time_of(file, record->tsc);
	const uint32_t direction = (uint32_t)point->direction;
	const uint64_t lost = record->lost;
	struct hy_pcapng_options options = { 0 };
	uint32_t fields[5] = { 0, (uint32_t)(ns >> 32), (uint32_t)ns, record->size,
		record->length };

	if (file->error < 0)
		return file->error;
	if (file->interface[port] == 0) { /* the port was added later */
		const int rc = interface_write(file, port);

		if (rc < 0)
			return rc;
	}
	fields[0] = file->interface[port] - 1;
	if (point->comment != NULL)
		option_text(&options, OPTION_COMMENT, point->comment);
	if (point->direction != HY_PCAPNG_ANY)
		hy_pcapng_option(&options, PACKET_FLAGS, &direction, sizeof(direction));
	if (lost > 0)
		hy_pcapng_option(&options, PACKET_LOST, &lost, sizeof(lost));
	return hy_pcapng_block(file, HY_PCAPNG_PACKET, fields, sizeof(fields), record->data,
		record->size, &options);
}
