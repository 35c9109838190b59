/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorder's state: of what starts and stops it (recorder.c) and of its writer (recorder_write.c). */
#pragma once

#include <pthread.h>

#include <rte_config.h>

#include <hy_capture.h>
#include <hy_recorder.h>

#include "lib/graph/internal/log.h"

/* What is captured into which file. */
struct hy_recording {
	char text[1024]; /* in which the names lie */
	const char *file;
	struct hy_capture_point points[HY_CAPTURE_POINTS];
	unsigned int nb_points;
	struct hy_ip_filter filter;
	bool filtered;
	unsigned int max; /* packets; 0: no end */
	unsigned int snap;
	unsigned int ring; /* bytes for each worker; 0: as many as hy_capture.h says */
	bool fifo;         /* the file is one that a program reads from */
};

/* Reads a description. Returns 0, or -EINVAL after reporting what is wrong. */
int hy_recording_read(const char *text, struct hy_recording *recording);

/* A worker's part: the points whose nodes its graph has. */
struct part {
	struct hy_graph *graph;
	struct hy_capture_point points[HY_CAPTURE_POINTS];
	unsigned int nb_points;
};

enum phase {
	PHASE_NONE,
	PHASE_OPENING, /* workers capture already */
	PHASE_WRITING,
};

/* The lock is not held during work on a file. */
struct hy_recorder {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* the phase or state.packets */

	/* Under the lock. */
	struct hy_recorder_params params; /* without graphs: before begin, after end */
	enum phase phase;
	bool stop;                        /* it is asked to end */
	bool failed;                      /* some file is not whole */
	bool emptied;                     /* the file, of what was in it */
	char error[HY_OPTION_ERROR_SIZE]; /* why the file could not be opened; or "" */
	struct hy_recorder_state state;

	/* The writer's from PHASE_OPENING to PHASE_NONE. */
	struct hy_recording recording;
	struct part parts[RTE_MAX_LCORE];
};

extern struct hy_recorder hy_recorder;

/* Starts the writer. With the lock, in PHASE_OPENING. Returns 0 or a negative errno. */
int hy_recorder_write_start(void);

/* Reads what workers have counted; once they are stopped, what did not get into the file is lost. */
void hy_recorder_count(bool stopped);
/* Has the workers copy no more, and says how much was captured. With the lock. */
void hy_recorder_stop_parts(void);
void hy_recorder_say(void);
