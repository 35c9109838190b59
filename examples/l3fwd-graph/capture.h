/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets of all workers into one file, as --capture and telemetry ask for. */
#ifndef L3FWD_CAPTURE_H
#define L3FWD_CAPTURE_H

#include "pipeline.h"

/* How far the capture is, or how far the last one was. */
struct capture_state {
	bool running;
	uint64_t packets; /* in the file */
	uint64_t lost;    /* that found no room before they could be written, or were not written */
	uint64_t unsure;  /* whose drop reason could not be told */
	uint64_t missing; /* points that a worker's graph had at first, and does not have now */
};

/*
 * From here on there can be a capture; begins that of --capture, if there is one. The main thread's.
 * Returns 0, or -1 after saying what is wrong. A file that is slow or takes nothing holds up nobody
 * but callers that start or stop a capture, and those for seconds at most.
 */
int capture_begin(const struct options *options, const struct pipeline *pipeline, FILE *people);
/* Ends it while there are graphs. Returns 0, or -1 if a file is not whole. */
int capture_end(void);

/*
 * Starts a capture while packets flow, as the text says, which is a value of --capture; any thread.
 * Returns 0, or -1 with the reason in error.
 */
int capture_start(const char *text, char *error, size_t size);
/* Stops it, with the file complete when this returns. Returns 0, or -1 with the reason in error. */
int capture_stop(char *error, size_t size);
void capture_status(struct capture_state *state);

#endif
