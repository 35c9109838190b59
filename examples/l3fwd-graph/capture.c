/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One capture at a time. Workers copy into rings of their own; a thread writes what it finds there
 * (capture_write.c). The main thread starts and stops captures, and so do telemetry's: hence the
 * lock.
 */

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include <hy_file.h>
#include <hy_ip4_filter.h>
#include <hy_signals.h>

#include "capture_run.h"

#define WAIT_MS 100
#define STALL_WAITS 30 /* for a file that takes nothing, when the capture is to end, */
#define END_WAITS 300  /* and for all that is to be written */

struct capture_run capture_run = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.changed = PTHREAD_COND_INITIALIZER,
};

void
capture_run_count(bool stopped)
{
	struct capture_state *state = &capture_run.state;
	uint64_t captured = 0;

	state->lost = state->unsure = state->missing = 0;
	for (unsigned int w = 0; w < capture_run.pipeline->workers.nb; w++) {
		struct hy_capture_state of;

		if (capture_run.parts[w].nb_points == 0 ||
			hy_capture_status(capture_run.parts[w].graph, &of) < 0)
			continue;
		captured += of.captured;
		state->lost += of.lost;
		state->unsure += of.unsure;
		state->missing += of.missing;
	}
	if (capture_run.options.max > 0)
		captured = RTE_MIN(captured, (uint64_t)capture_run.options.max);
	if (stopped)
		state->lost += captured - state->packets;
}

void
capture_run_stop_parts(void)
{
	for (unsigned int w = 0; capture_run.pipeline != NULL && w < RTE_MAX_LCORE; w++)
		if (capture_run.parts[w].nb_points > 0)
			hy_capture_stop(capture_run.parts[w].graph);
}

void
capture_run_say(void)
{
	const struct capture_state *state = &capture_run.state;
	char name[sizeof(capture_run.options.text)];

	strcpy(name, capture_run.options.file);
	fprintf(capture_run.people,
		"capture: %s: %" PRIu64 " packets, %" PRIu64 " lost, %" PRIu64 " unsure, %" PRIu64
		" missing\n",
		hy_printable(name), state->packets, state->lost, state->unsure, state->missing);
	fflush(capture_run.people);
}

/* Deals the points out to the workers whose graphs have the node. */
static int
parts_fill(char *error, size_t size)
{
	const unsigned int nb_workers = capture_run.pipeline->workers.nb;

	memset(capture_run.parts, 0, sizeof(capture_run.parts));
	for (unsigned int w = 0; w < nb_workers; w++)
		capture_run.parts[w].graph = capture_run.pipeline->workers.graphs[w];
	for (unsigned int p = 0; p < capture_run.options.nb_points; p++) {
		const struct hy_capture_point *point = &capture_run.options.points[p];
		bool found = false;

		for (unsigned int w = 0; w < nb_workers; w++) {
			struct part *part = &capture_run.parts[w];
			struct hy_node *node;

			if (hy_graph_node(part->graph, point->node, &node) < 0)
				continue;
			part->points[part->nb_points++] = *point;
			found = true;
		}
		if (!found) {
			snprintf(error, size, "no worker has a node '%s'", point->node);
			return -1;
		}
	}
	return 0;
}

static int
parts_start(char *error, size_t size)
{
	struct hy_capture_params params = {
		.match = capture_run.options.filtered ? hy_ip4_filter_match : NULL,
		.arg = &capture_run.options.filter,
		.max_objs = capture_run.options.max,
		.snap = capture_run.options.snap,
		.nb_bytes = capture_run.options.ring,
	};

	for (unsigned int w = 0; w < capture_run.pipeline->workers.nb; w++) {
		const struct part *part = &capture_run.parts[w];
		int rc = 0;

		params.points = part->points;
		params.nb_points = part->nb_points;
		if (part->nb_points > 0)
			rc = hy_capture_start(part->graph, &params);
		if (rc < 0) {
			snprintf(error, size, "%s: %s", hy_graph_name(part->graph),
				rc == -ENOENT ? "a node has no such edge or drop reason"
					      : strerror(-rc));
			while (w-- > 0)
				if (capture_run.parts[w].nb_points > 0)
					hy_capture_stop(capture_run.parts[w].graph);
			return -1;
		}
	}
	return 0;
}

/* Waits for the writer to change something, but not for long. With the lock. */
static void
wait_a_little(void)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += WAIT_MS * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_nsec -= 1000000000L;
		until.tv_sec++;
	}
	pthread_cond_clockwait(&capture_run.changed, &capture_run.lock, CLOCK_MONOTONIC, &until);
}

static int
start_locked(const char *text, char *error, size_t size)
{
	int rc;

	if (capture_run.pipeline == NULL || capture_run.phase != CAPTURE_NONE) {
		snprintf(error, size, "%s",
			capture_run.pipeline == NULL ? "no packets flow"
						     : "a capture is running; stop it first");
		return -1;
	}
	if (option_read_capture_text(text, &capture_run.options) < 0) {
		snprintf(error, size, "%s", option_error);
		return -1;
	}
	if (parts_fill(error, size) < 0 || parts_start(error, size) < 0)
		return -1;
	capture_run.phase = CAPTURE_OPENING;
	capture_run.stop = false;
	capture_run.error[0] = '\0';
	capture_run.state = (struct capture_state){ .running = true };
	rc = capture_write_start();
	if (rc < 0) {
		capture_run_stop_parts();
		capture_run.phase = CAPTURE_NONE;
		capture_run.state.running = false;
		snprintf(error, size, "%s", strerror(-rc));
		return -1;
	}
	for (unsigned int i = 0; capture_run.phase == CAPTURE_OPENING && !hy_stopping(); i++) {
		wait_a_little();
		if (i < STALL_WAITS)
			continue;
		capture_run.stop = true; /* as soon as it is open */
		capture_run_stop_parts();
		snprintf(error, size, "%s: opening it takes too long", capture_run.options.file);
		return -1;
	}
	if (capture_run.error[0] == '\0')
		return 0;
	snprintf(error, size, "%s", capture_run.error);
	return -1;
}

int
capture_start(const char *text, char *error, size_t size)
{
	int rc;

	pthread_mutex_lock(&capture_run.lock);
	rc = start_locked(text, error, size);
	pthread_mutex_unlock(&capture_run.lock);
	if (rc < 0)
		hy_printable(error);
	return rc;
}

/* Has the capture end. Returns whether it did: a file that takes nothing is not waited for. */
static bool
stop_locked(void)
{
	uint64_t packets = capture_run.state.packets;
	unsigned int stalled = 0;

	capture_run.stop = true;
	for (unsigned int i = 0; capture_run.phase != CAPTURE_NONE && i < END_WAITS; i++) {
		wait_a_little();
		stalled = capture_run.state.packets == packets ? stalled + 1 : 0;
		packets = capture_run.state.packets;
		if (stalled == STALL_WAITS)
			break;
	}
	return capture_run.phase == CAPTURE_NONE;
}

int
capture_stop(char *error, size_t size)
{
	int rc = -1;

	pthread_mutex_lock(&capture_run.lock);
	if (capture_run.phase == CAPTURE_NONE)
		snprintf(error, size, "no capture is running");
	else if (!stop_locked())
		snprintf(error, size, "the capture's file takes no packets; waiting for it");
	else
		rc = 0;
	pthread_mutex_unlock(&capture_run.lock);
	return rc;
}

void
capture_status(struct capture_state *state)
{
	pthread_mutex_lock(&capture_run.lock);
	if (capture_run.phase != CAPTURE_NONE && capture_run.pipeline != NULL)
		capture_run_count(false);
	*state = capture_run.state;
	pthread_mutex_unlock(&capture_run.lock);
}

int
capture_begin(const struct options *options, const struct pipeline *pipeline, FILE *people)
{
	char error[OPTION_ERROR_SIZE];

	pthread_mutex_lock(&capture_run.lock);
	capture_run.program = options;
	capture_run.pipeline = pipeline;
	capture_run.people = people;
	pthread_mutex_unlock(&capture_run.lock);
	if (options->capture == NULL || capture_start(options->capture, error, sizeof(error)) == 0)
		return 0;
	capture_end();
	return option_refuse("--capture", "%s", error);
}

/* The graphs go away, and the file is stuck: its writer is left behind, and touches them no more. */
static void
abandon(void)
{
	option_refuse("--capture", "%s: the file takes no packets", capture_run.options.file);
	capture_run.failed = true;
	capture_run_stop_parts();
	capture_run_count(true);
	capture_run_say();
}

int
capture_end(void)
{
	int rc;

	pthread_mutex_lock(&capture_run.lock);
	if (capture_run.phase != CAPTURE_NONE && !stop_locked())
		abandon();
	capture_run.pipeline = NULL; /* at once: telemetry may start one more as soon as it can */
	rc = capture_run.failed ? -1 : 0;
	pthread_mutex_unlock(&capture_run.lock);
	return rc;
}
