/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of a pcapng file, inside: pcapng.c makes them, pcapng_block.c writes them. */
#ifndef HY_PCAPNG_BLOCK_H
#define HY_PCAPNG_BLOCK_H

#include <stdint.h>

#include <rte_ethdev.h>

#include <hy_pcapng.h>

#define HY_PCAPNG_PACKET 6                 /* type of a block */
#define HY_PCAPNG_OPTIONS_MAX 1024         /* bytes of a block */
#define HY_PCAPNG_NO_PORT RTE_MAX_ETHPORTS /* of packets that no port has received */
#define HY_PCAPNG_BUFFER (256u << 10)

struct hy_pcapng {
	int fd;
	int error;        /* that the first write failed with */
	uint64_t written; /* bytes of whole blocks that are in the file, */
	uint64_t packets; /* and how many of these are packets; without what is in the buffer */
	uint32_t snap;
	uint64_t tsc, ns; /* the same moment on both clocks */
	uint32_t nb_interfaces;
	uint32_t interface[HY_PCAPNG_NO_PORT + 1]; /* of a port: its number and 1; 0: none yet */
	size_t used, sent; /* bytes of the buffer, and how many the file has */
	uint8_t buffer[HY_PCAPNG_BUFFER];
};

/* Options of a block, one behind the other. */
struct hy_pcapng_options {
	uint32_t size;
	uint8_t bytes[HY_PCAPNG_OPTIONS_MAX];
};

/* Adds an option, if there is room for it. */
void hy_pcapng_option(struct hy_pcapng_options *options, uint16_t code, const void *value,
	size_t size);

/*
 * Writes a block: its fields, data of any length, and options, which this ends. Returns 0; -EAGAIN
 * there is no room for it now; or the negative errno that the file failed with.
 */
int hy_pcapng_block(struct hy_pcapng *file, uint32_t type, const void *fields, uint32_t size,
	const uint8_t *data, uint32_t data_size, struct hy_pcapng_options *options);

#endif
