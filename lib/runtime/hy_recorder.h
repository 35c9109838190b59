/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The recorder: captures packets of all workers' graphs (hy_capture.h) into a file that Wireshark
 * reads (hy_pcapng.h). One capture runs at a time, started by the option --capture or while packets
 * flow.
 *
 * A capture is described by text: FILE, and words with commas between. at=NODE, at=NODE/TARGET or
 * at=NODE:REASON say where; each may be repeated. src=PREFIX, dst=PREFIX and proto=NUMBER say which
 * packets; max=N how many, snaplen=BYTES how much of each. ring=BYTES is the room for what waits to
 * be written, and fifo says that FILE is one that a program reads from.
 *
 * A thread of its own writes the file: one that is slow holds up no worker, and what finds no room
 * in the rings is counted as lost. A file that takes nothing holds up only functions that start or
 * stop a capture, and those for seconds at most.
 *
 * Functions return 0 or a negative errno value. Those that take @p error write the reason there,
 * HY_OPTION_ERROR_SIZE bytes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <hy_document.h>
#include <hy_graph.h>
#include <hy_option.h>

HY_API_BEGIN

/** How far the capture is, or how far the last one was. */
struct hy_recorder_state {
	bool running;     /**< A capture was started and has not ended. */
	uint64_t packets; /**< In the file. */
	uint64_t lost;    /**< Found no room before they could be written, or were not written. */
	uint64_t unsure;  /**< With a drop reason that could not be determined. */
	uint64_t missing; /**< Points that a worker's graph had at first, and does not have now. */
};

/** What a recorder works on. */
struct hy_recorder_params {
	struct hy_graph *const
		*graphs;        /**< Of the workers; outlive the recorder, as does the array. */
	unsigned int nb_graphs; /**< 1 to RTE_MAX_LCORE. */
	/** Files that no capture may overwrite; live as long as the process. */
	const struct hy_input *inputs;
	unsigned int nb_inputs; /**< Entries. */
	FILE *out;              /**< Where a line says what was captured, at the end. */
};

/** Whether a text describes a capture. Any thread. @return 0; -EINVAL it does not (reported). */
int hy_recorder_check(const char *text);

/**
 * Allows captures from now on, and starts one. Main thread; the graphs exist.
 *
 * @param text Of the option --capture, with which messages begin; NULL: start none now.
 * @return 0, also if the file was emptied and then failed (reported): hy_recorder_end() returns -EIO;
 * -EINVAL the capture could not start (reported), and hy_recorder_end() was called.
 */
int hy_recorder_begin(const struct hy_recorder_params *params, const char *text);

/**
 * Ends the capture, if one runs, and allows no more: before graphs are destroyed. Main thread.
 *
 * @return 0; -EIO some file since hy_recorder_begin() is not whole (reported).
 */
int hy_recorder_end(void);

/** Starts a capture. Any thread. @return 0; -EINVAL with the reason in @p error. */
int hy_recorder_start(const char *text, char *error);

/**
 * Stops the capture. Any thread.
 *
 * @return 0: its file is complete; -EINVAL with the reason in @p error.
 */
int hy_recorder_stop(char *error);

/** Reads how far the capture is. Any thread. */
void hy_recorder_status(struct hy_recorder_state *state);

HY_API_END
