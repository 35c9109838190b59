/* SPDX-License-Identifier: BSD-3-Clause */
/* A capture: shared by what starts and stops it (capture.c) and its writer (capture_write.c). */
#ifndef L3FWD_CAPTURE_RUN_H
#define L3FWD_CAPTURE_RUN_H

#include <pthread.h>

#include "capture.h"
#include "option.h"

/* A worker's part: the points whose nodes its graph has. */
struct part {
	struct hy_graph *graph;
	struct hy_capture_point points[HY_CAPTURE_POINTS];
	unsigned int nb_points;
};

enum capture_phase {
	CAPTURE_NONE,
	CAPTURE_OPENING, /* workers capture already */
	CAPTURE_WRITING,
};

/* Nobody holds the lock while it does anything with a file. */
struct capture_run {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* the phase or state.packets */

	/* Under the lock. */
	const struct options *program;
	const struct pipeline *pipeline; /* NULL: there are no graphs */
	FILE *people;
	enum capture_phase phase;
	bool stop;                     /* it is asked to end */
	bool failed;                   /* some file is not whole */
	char error[OPTION_ERROR_SIZE]; /* why the file could not be opened; or "" */
	struct capture_state state;

	/* The writer's from CAPTURE_OPENING to CAPTURE_NONE. */
	struct capture_options options;
	struct part parts[RTE_MAX_LCORE];
};

extern struct capture_run capture_run;

/* Starts the writer. With the lock, in CAPTURE_OPENING. Returns 0 or a negative errno. */
int capture_write_start(void);

/* Reads what workers have counted; once they are stopped, what did not get into the file is lost. */
void capture_run_count(bool stopped);
/* Has the workers copy no more, and says how much was captured. With the lock. */
void capture_run_stop_parts(void);
void capture_run_say(void);

#endif
