/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Writes captures (hy_capture.h) of graphs of packets to a pcapng file, which Wireshark and tshark
 * read.
 *
 * The interface of a packet is the port that received it, or the port of its point. Its time is that of
 * the node's call, in nanoseconds. Its comment is that of its point. If records were lost, the next
 * packet of the graph says how many. Packets of several graphs are written in the order in which they
 * are read, so their times are not in order.
 *
 * One thread at a time may use a file.
 */
#pragma once

#include <stdint.h>

#include <hy_capture.h>

HY_API_BEGIN

#define HY_PCAPNG_OWN_PORT UINT16_MAX /**< The port that received the packet. */

/** Direction of packets at a point. The values are pcapng's. */
enum hy_pcapng_direction {
	HY_PCAPNG_ANY = 0, /**< Unknown. */
	HY_PCAPNG_IN = 1,  /**< Just received. */
	HY_PCAPNG_OUT = 2, /**< About to be sent. */
};

/** What the file says about all packets of a point. */
struct hy_pcapng_point {
	const char *comment;                /**< May be NULL. */
	enum hy_pcapng_direction direction; /**< Direction of its packets. */
	uint16_t port; /**< HY_PCAPNG_OWN_PORT, or the port that the packets go to. */
};

struct hy_pcapng; /**< A file being written. */

/**
 * Begins a file: writes the name of the program and the ports of the process.
 *
 * @param fd An empty file that is open for writing, as opened by hy_output_open() of hy_file.h, or a
 * FIFO. The file takes it over if this returns 0.
 * @param program Name of the program, for the file.
 * @param snap Most bytes of a packet, as passed to the capture.
 * @param[out] file Owned by the caller until hy_pcapng_close().
 * @return 0; -ENOMEM; or the error of a write other than -EAGAIN.
 */
int hy_pcapng_open(int fd, const char *program, uint32_t snap, struct hy_pcapng **file);

/**
 * Writes a packet. Writes are buffered.
 *
 * @return 0; -EAGAIN the buffer is full and a write would block: the packet was not taken, and the
 * caller may try again; or the error of a write: the file then ends with its last complete packet, and
 * takes no more.
 */
int hy_pcapng_write(struct hy_pcapng *file, const struct hy_capture_record *record,
	const struct hy_pcapng_point *point);

/**
 * Writes the buffer to the system, so that other programs can read the packets.
 *
 * @return As hy_pcapng_write(). After -EAGAIN the rest is still in the buffer.
 */
int hy_pcapng_flush(struct hy_pcapng *file);

/** @return Packets that were written to the system completely. */
uint64_t hy_pcapng_packets(const struct hy_pcapng *file);

/**
 * Ends a file, closes and frees it. NULL is allowed.
 *
 * @return 0; the error of a write; -EAGAIN the rest of the buffer was not written; -ENOENT the file was
 * removed meanwhile, or another took its name; -ESTALE another program changed its size.
 */
int hy_pcapng_close(struct hy_pcapng *file);

HY_API_END
