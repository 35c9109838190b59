/* SPDX-License-Identifier: BSD-3-Clause */
/* A pcapng file: pcapng_block.c writes blocks of any kind, pcapng.c says what is in them. */
#pragma once

#include <stdint.h>

#include <rte_ethdev.h>

#include <hy_pcapng.h>

#define HY_PCAPNG_PACKET 6                 /* type of a block */
#define HY_PCAPNG_OPTIONS_MAX 1024         /* bytes of a block */
#define HY_PCAPNG_NO_PORT RTE_MAX_ETHPORTS /* of packets that no port received */
#define HY_PCAPNG_BUFFER (256u << 10)

struct hy_pcapng {
	int fd;
	int error;        /* of the first write that failed */
	uint64_t written; /* bytes of complete blocks in the file, without the buffer */
	uint64_t packets; /* packets among these blocks */
	uint32_t snap;
	uint64_t tsc, ns; /* the same instant on both clocks */
	uint32_t nb_interfaces;
	uint32_t interface[HY_PCAPNG_NO_PORT + 1]; /* by port: its number + 1, or 0 for none yet */
	size_t used, sent; /* bytes in the buffer, and of these in the file */
	uint8_t buffer[HY_PCAPNG_BUFFER];
};

/* The options of a block, one after the other. */
struct hy_pcapng_options {
	uint32_t size;
	uint8_t bytes[HY_PCAPNG_OPTIONS_MAX];
};

/* Adds an option if there is room for it. */
void hy_pcapng_option(struct hy_pcapng_options *options, uint16_t code, const void *value,
	size_t size);

/*
 * Writes a block: its fields, data of any length, and options, which it terminates. Returns 0; -EAGAIN
 * no room at the moment; or the error of the file.
 */
int hy_pcapng_block(struct hy_pcapng *file, uint32_t type, const void *fields, uint32_t size,
	const uint8_t *data, uint32_t data_size, struct hy_pcapng_options *options);
