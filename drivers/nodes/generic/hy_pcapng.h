/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Captures (hy_capture.h) of graphs of packets as a pcapng file, as Wireshark and tshark read it.
 *
 * A packet's interface is the port that it came in by, or that its point names; its time is the
 * node's call, in nanoseconds; its comment is that of its point. Where records were lost, the next
 * packet of the graph says how many. Packets of several graphs are written as they are read: their
 * times are not in order.
 *
 * One thread at a time uses a file.
 */
#ifndef HY_PCAPNG_H
#define HY_PCAPNG_H

#include <stdint.h>

#include <hy_capture.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

#define HY_PCAPNG_OWN_PORT UINT16_MAX /**< The port that a packet came in by. */

/** Which way packets go at a point; the values are pcapng's. */
enum hy_pcapng_direction {
	HY_PCAPNG_ANY = 0, /**< Not known. */
	HY_PCAPNG_IN = 1,  /**< They were just received. */
	HY_PCAPNG_OUT = 2, /**< They are about to be sent. */
};

/** What is written of all packets of a point. */
struct hy_pcapng_point {
	const char *comment;                /**< May be NULL. */
	enum hy_pcapng_direction direction; /**< Of all packets there. */
	uint16_t port;                      /**< HY_PCAPNG_OWN_PORT or where these packets go. */
};

struct hy_pcapng; /**< A file that is written. */

/**
 * Begins a file: writes by which program it is written, and which ports there are.
 *
 * @param fd An empty file that is open for writing, as hy_output_open() of hy_file.h opens one, or
 * a FIFO. Belongs to the file if this returns 0.
 * @param program As the file names it.
 * @param snap Most bytes of a packet, as it was for the capture.
 * @param[out] file Belongs to the caller, until hy_pcapng_close().
 * @return 0; -ENOMEM; what writing failed with, other than -EAGAIN.
 */
int hy_pcapng_open(int fd, const char *program, uint32_t snap, struct hy_pcapng **file);

/**
 * Writes a packet, at first into a buffer.
 *
 * @return 0; -EAGAIN the buffer is full, and a write would wait: the packet was not taken, and may
 * be offered again; what else writing failed with: the file then ends with the last packet that is in
 * it as a whole, and takes no more.
 */
int hy_pcapng_write(struct hy_pcapng *file, const struct hy_capture_record *record,
	const struct hy_pcapng_point *point);

/**
 * Hands what was written to the system, for others to read.
 *
 * @return As hy_pcapng_write(); after -EAGAIN the rest is still in the buffer.
 */
int hy_pcapng_flush(struct hy_pcapng *file);

/** Packets that were handed to the system as a whole. */
uint64_t hy_pcapng_packets(const struct hy_pcapng *file);

/**
 * Ends a file, closes and frees it. NULL is allowed.
 *
 * @return 0; what writing has failed with; -EAGAIN the rest of the buffer was not written.
 */
int hy_pcapng_close(struct hy_pcapng *file);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
