/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Workers copy into rings of their own; a thread writes what it finds there (recorder_write.c). The
 * main thread starts and stops captures, and so does telemetry's: hence the lock.
 */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <hy_file.h>
#include <hy_ip_filter.h>
#include <hy_signals.h>

#include "lib/file/internal/job.h"
#include "recorder.h"

#define STALL_WAITS 30 /* ticks for a file that takes nothing, when the capture is to end, */
#define END_WAITS 300  /* and for all that is to be written */

struct hy_recorder hy_recorder = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.changed = PTHREAD_COND_INITIALIZER,
};

void
hy_recorder_count(bool stopped)
{
	struct hy_recorder_state *state = &hy_recorder.state;
	uint64_t captured = 0;

	state->lost = state->unsure = state->missing = 0;
	for (unsigned int w = 0; w < hy_recorder.params.nb_graphs; w++) {
		struct hy_capture_state of;

		if (hy_recorder.parts[w].nb_points == 0 ||
			hy_capture_status(hy_recorder.parts[w].graph, &of) < 0)
			continue;
		captured += of.captured;
		state->lost += of.lost;
		state->unsure += of.unsure;
		state->missing += of.missing;
	}
	if (hy_recorder.recording.max > 0)
		captured = RTE_MIN(captured, (uint64_t)hy_recorder.recording.max);
	if (stopped)
		state->lost += captured - state->packets;
}

void
hy_recorder_stop_parts(void)
{
	for (unsigned int w = 0; hy_recorder.params.nb_graphs > 0 && w < RTE_MAX_LCORE; w++)
		if (hy_recorder.parts[w].nb_points > 0)
			hy_capture_stop(hy_recorder.parts[w].graph);
}

void
hy_recorder_say(void)
{
	const struct hy_recorder_state *state = &hy_recorder.state;
	char name[sizeof(hy_recorder.recording.text)];

	strcpy(name, hy_recorder.recording.file);
	fprintf(hy_recorder.params.out,
		"capture: %s: %" PRIu64 " packets, %" PRIu64 " lost, %" PRIu64 " unsure, %" PRIu64
		" missing\n",
		hy_printable(name), state->packets, state->lost, state->unsure, state->missing);
	fflush(hy_recorder.params.out);
}

/* Deals the points out to the workers whose graphs have the node. */
static int
parts_fill(char *error)
{
	const unsigned int nb_workers = hy_recorder.params.nb_graphs;

	memset(hy_recorder.parts, 0, sizeof(hy_recorder.parts));
	for (unsigned int w = 0; w < nb_workers; w++)
		hy_recorder.parts[w].graph = hy_recorder.params.graphs[w];
	for (unsigned int p = 0; p < hy_recorder.recording.nb_points; p++) {
		const struct hy_capture_point *point = &hy_recorder.recording.points[p];
		bool found = false;

		for (unsigned int w = 0; w < nb_workers; w++) {
			struct part *part = &hy_recorder.parts[w];
			struct hy_node *node;

			if (hy_graph_node(part->graph, point->node, &node) < 0)
				continue;
			part->points[part->nb_points++] = *point;
			found = true;
		}
		if (!found)
			return HY_REASON(-EINVAL, error, HY_OPTION_ERROR_SIZE,
				"no worker has a node '%s'", point->node);
	}
	return 0;
}

static int
parts_start(char *error)
{
	struct hy_capture_params params = {
		.match = hy_recorder.recording.filtered ? hy_ip_filter_match : NULL,
		.arg = &hy_recorder.recording.filter,
		.max_objs = hy_recorder.recording.max,
		.snap = hy_recorder.recording.snap,
		.nb_bytes = hy_recorder.recording.ring,
	};

	for (unsigned int w = 0; w < hy_recorder.params.nb_graphs; w++) {
		const struct part *part = &hy_recorder.parts[w];
		int rc = 0;

		params.points = part->points;
		params.nb_points = part->nb_points;
		if (part->nb_points > 0)
			rc = hy_capture_start(part->graph, &params);
		if (rc < 0) {
			snprintf(error, HY_OPTION_ERROR_SIZE, "%s: %s", hy_graph_name(part->graph),
				rc == -ENOENT ? "a node has no such edge or drop reason"
					      : strerror(-rc));
			while (w-- > 0)
				if (hy_recorder.parts[w].nb_points > 0)
					hy_capture_stop(hy_recorder.parts[w].graph);
			return -EINVAL;
		}
	}
	return 0;
}

static int
start_locked(const char *text, char *error)
{
	int rc;

	if (hy_recorder.params.nb_graphs == 0 || hy_recorder.phase != PHASE_NONE)
		return HY_REASON(-EINVAL, error, HY_OPTION_ERROR_SIZE, "%s",
			hy_recorder.params.nb_graphs == 0 ? "no packets flow"
							  : "a capture is running; stop it first");
	if (hy_recording_read(text, &hy_recorder.recording) < 0)
		return HY_REASON(-EINVAL, error, HY_OPTION_ERROR_SIZE, "%s", hy_option_reason());
	if (parts_fill(error) < 0 || parts_start(error) < 0)
		return -EINVAL;
	hy_recorder.phase = PHASE_OPENING;
	hy_recorder.stop = hy_recorder.emptied = false;
	hy_recorder.error[0] = '\0';
	hy_recorder.state = (struct hy_recorder_state){ .running = true };
	rc = hy_recorder_write_start();
	if (rc < 0) {
		hy_recorder_stop_parts();
		hy_recorder.phase = PHASE_NONE;
		hy_recorder.state.running = false;
		return HY_REASON(-EINVAL, error, HY_OPTION_ERROR_SIZE, "%s", strerror(-rc));
	}
	for (unsigned int i = 0; hy_recorder.phase == PHASE_OPENING && !hy_stopping(); i++) {
		hy_file_tick(&hy_recorder.changed, &hy_recorder.lock);
		if (i < STALL_WAITS)
			continue;
		hy_recorder.stop = true; /* as soon as it is open */
		hy_recorder_stop_parts();
		return HY_REASON(-EINVAL, error, HY_OPTION_ERROR_SIZE,
			"%s: opening it takes too long", hy_recorder.recording.file);
	}
	if (hy_recorder.error[0] == '\0')
		return 0;
	return HY_REASON(-EINVAL, error, HY_OPTION_ERROR_SIZE, "%s", hy_recorder.error);
}

int
hy_recorder_start(const char *text, char *error)
{
	int rc;

	pthread_mutex_lock(&hy_recorder.lock);
	rc = start_locked(text, error);
	pthread_mutex_unlock(&hy_recorder.lock);
	if (rc < 0)
		hy_printable(error);
	return rc;
}

/* Has the capture end. Returns whether it did: a file that takes nothing is not waited for. */
static bool
stop_locked(void)
{
	uint64_t packets = hy_recorder.state.packets;
	unsigned int stalled = 0;

	hy_recorder.stop = true;
	for (unsigned int i = 0; hy_recorder.phase != PHASE_NONE && i < END_WAITS; i++) {
		hy_file_tick(&hy_recorder.changed, &hy_recorder.lock);
		stalled = hy_recorder.state.packets == packets ? stalled + 1 : 0;
		packets = hy_recorder.state.packets;
		if (stalled == STALL_WAITS)
			break;
	}
	return hy_recorder.phase == PHASE_NONE;
}

int
hy_recorder_stop(char *error)
{
	int rc = -EINVAL;

	pthread_mutex_lock(&hy_recorder.lock);
	if (hy_recorder.phase == PHASE_NONE)
		snprintf(error, HY_OPTION_ERROR_SIZE, "no capture is running");
	else if (!stop_locked())
		snprintf(error, HY_OPTION_ERROR_SIZE,
			"the capture's file takes no packets; waiting for it");
	else
		rc = 0;
	pthread_mutex_unlock(&hy_recorder.lock);
	return rc;
}

void
hy_recorder_status(struct hy_recorder_state *state)
{
	pthread_mutex_lock(&hy_recorder.lock);
	if (hy_recorder.phase != PHASE_NONE && hy_recorder.params.nb_graphs > 0)
		hy_recorder_count(false);
	*state = hy_recorder.state;
	pthread_mutex_unlock(&hy_recorder.lock);
}

int
hy_recorder_check(const char *text)
{
	struct hy_recording checked;

	return hy_recording_read(text, &checked);
}

/* Whether what was in the file is lost: so is the capture, but it is too late to refuse it. */
static bool
emptied(void)
{
	bool is;

	pthread_mutex_lock(&hy_recorder.lock);
	is = hy_recorder.emptied;
	hy_recorder.failed |= is;
	pthread_mutex_unlock(&hy_recorder.lock);
	return is;
}

int
hy_recorder_begin(const struct hy_recorder_params *params, const char *text)
{
	char error[HY_OPTION_ERROR_SIZE];

	pthread_mutex_lock(&hy_recorder.lock);
	hy_recorder.params = *params;
	hy_recorder.failed = false;
	pthread_mutex_unlock(&hy_recorder.lock);
	if (text == NULL || hy_recorder_start(text, error) == 0)
		return 0;
	hy_option_refuse("--capture", "%s", error);
	if (emptied())
		return 0;
	hy_recorder_end();
	return -EINVAL;
}

/* The graphs go away, and the file is stuck: its writer is left behind, and touches them no more. */
static void
abandon(void)
{
	hy_option_refuse("--capture", "%s: the file accepts no packets",
		hy_recorder.recording.file);
	hy_recorder.failed = true;
	hy_recorder_stop_parts();
	hy_recorder_count(true);
	hy_recorder_say();
}

int
hy_recorder_end(void)
{
	int rc;

	pthread_mutex_lock(&hy_recorder.lock);
	if (hy_recorder.phase != PHASE_NONE && !stop_locked())
		abandon();
	hy_recorder.params.nb_graphs =
		0; /* at once: telemetry may start one more as soon as it can */
	rc = hy_recorder.failed ? -EIO : 0;
	pthread_mutex_unlock(&hy_recorder.lock);
	return rc;
}
