/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One capture at a time. Workers copy into rings of their own; the main thread writes what it finds
 * there. Telemetry's thread starts and stops captures, too: hence the lock.
 */

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <hy_ip4_filter.h>
#include <hy_pcapng.h>

#include "capture.h"
#include "option.h"
#include "outputs.h"
#include "privileges.h"

#define BUFFER_SIZE (1 << 20)

/* A worker's part: the points whose nodes its graph has. */
struct part {
	struct hy_graph *graph;
	struct hy_capture_point points[HY_CAPTURE_POINTS];
	unsigned int nb_points;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* All under the lock. */
static struct {
	const struct options *program;
	const struct pipeline *pipeline; /* NULL: there are no graphs */
	FILE *people;
	bool failed; /* some file is not whole */

	struct capture_options options;
	struct part parts[RTE_MAX_LCORE];
	struct hy_pcapng *file; /* NULL: none is running */
	struct capture_state state;
	alignas(8) uint8_t buffer[BUFFER_SIZE];
} capture;

static_assert(BUFFER_SIZE >= HY_CAPTURE_RECORD_MAX, "any record fits");

/* Ports are in the names of the nodes that receive and send, as pipeline.c gives them. */
static struct hy_pcapng_point
point_of(const struct hy_capture_point *point, const char *comment)
{
	const char *goes = point->edge != NULL ? point->edge : point->node;
	static const char tx[] = "ethdev_tx-";
	struct hy_pcapng_point of = { .comment = comment, .port = HY_PCAPNG_OWN_PORT };

	if (strncmp(goes, tx, strlen(tx)) == 0) {
		of.port = (uint16_t)strtoul(goes + strlen(tx), NULL, 10);
		of.direction = point->drop == NULL ? HY_PCAPNG_OUT : HY_PCAPNG_ANY;
	} else if (strncmp(point->node, "ethdev_rx", strlen("ethdev_rx")) == 0 ||
		strcmp(point->node, "event_rx") == 0) {
		of.direction = HY_PCAPNG_IN;
	}
	return of;
}

static void
comment_make(const struct part *part, unsigned int p, char comment[3 * HY_NAME_SIZE])
{
	const struct hy_capture_point *point = &part->points[p];
	const char *out = point->edge != NULL ? point->edge : point->drop;

	snprintf(comment, (size_t)3 * HY_NAME_SIZE, "%s %s%s%s", hy_graph_name(part->graph),
		point->node,
		out == NULL                  ? ""
			: out == point->edge ? "/"
					     : ":",
		out == NULL ? "" : out);
}

static uint64_t
most_packets(void)
{
	return capture.options.max > 0 ? capture.options.max : UINT64_MAX;
}

/* Writes what is in the ring of a worker, at most what the buffer holds. Returns how much. */
static size_t
part_write(const struct part *part)
{
	const size_t size = hy_capture_read(part->graph, capture.buffer, sizeof(capture.buffer));
	const struct hy_capture_record *record = (const void *)capture.buffer;
	char comments[HY_CAPTURE_POINTS][3 * HY_NAME_SIZE];
	struct hy_pcapng_point points[HY_CAPTURE_POINTS];

	for (unsigned int p = 0; p < part->nb_points && size > 0; p++) {
		comment_make(part, p, comments[p]);
		points[p] = point_of(&part->points[p], comments[p]);
	}
	for (; (const uint8_t *)record < capture.buffer + size; record = hy_capture_next(record)) {
		if (capture.state.packets == most_packets() ||
			hy_pcapng_write(capture.file, record, &points[record->point]) < 0)
			break;
		capture.state.packets++;
	}
	return size;
}

static void
state_read(void)
{
	capture.state.lost = capture.state.unsure = capture.state.missing = 0;
	for (unsigned int w = 0; w < capture.pipeline->nb_workers; w++) {
		struct hy_capture_state of;

		if (capture.parts[w].nb_points == 0 ||
			hy_capture_status(capture.parts[w].graph, &of) < 0)
			continue;
		capture.state.lost += of.lost;
		capture.state.unsure += of.unsure;
		capture.state.missing += of.missing;
	}
}

static void
parts_stop(unsigned int n)
{
	for (unsigned int w = 0; w < n; w++)
		if (capture.parts[w].nb_points > 0)
			hy_capture_stop(capture.parts[w].graph);
}

/* Stops the workers, writes the rest, and says how much it was. */
static void
finish(void)
{
	const unsigned int nb_parts = capture.pipeline->nb_workers;
	int rc;

	parts_stop(nb_parts);
	for (unsigned int w = 0; w < nb_parts; w++)
		while (capture.parts[w].nb_points > 0 && part_write(&capture.parts[w]) > 0)
			;
	state_read();
	capture.state.running = false;
	rc = hy_pcapng_close(capture.file);
	capture.file = NULL;
	if (rc < 0) {
		fprintf(stderr, "l3fwd-graph: --capture: %s: %s\n", capture.options.file,
			strerror(-rc));
		capture.failed = true;
	}
	fprintf(capture.people,
		"capture: %s: %" PRIu64 " packets, %" PRIu64 " lost, %" PRIu64 " unsure, %" PRIu64
		" missing\n",
		capture.options.file, capture.state.packets, capture.state.lost,
		capture.state.unsure, capture.state.missing);
	fflush(capture.people);
}

/* Deals the points out to the workers whose graphs have the node. */
static int
parts_fill(char *error, size_t size)
{
	for (unsigned int p = 0; p < capture.options.nb_points; p++) {
		const struct hy_capture_point *point = &capture.options.points[p];
		bool found = false;

		for (unsigned int w = 0; w < capture.pipeline->nb_workers; w++) {
			struct part *part = &capture.parts[w];
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
		.match = capture.options.filtered ? hy_ip4_filter_match : NULL,
		.arg = &capture.options.filter,
		.max_objs = capture.options.max,
		.snap = capture.options.snap,
		.nb_bytes = capture.options.ring,
	};

	for (unsigned int w = 0; w < capture.pipeline->nb_workers; w++) {
		const struct part *part = &capture.parts[w];
		int rc = 0;

		params.points = part->points;
		params.nb_points = part->nb_points;
		if (part->nb_points > 0)
			rc = hy_capture_start(part->graph, &params);
		if (rc < 0) {
			snprintf(error, size, "%s: %s", hy_graph_name(part->graph),
				rc == -ENOENT ? "a node has no such edge or drop reason"
					      : strerror(-rc));
			parts_stop(w);
			return -1;
		}
	}
	return 0;
}

/* To open a file for writing empties it. */
static int
file_spares(const char *path, char *error, size_t size)
{
	const struct options *o = capture.program;
	const char *const written[] = { o->json, o->dot, o->graph_json, o->dump };
	bool taken = outputs_reader(o, path) != NULL;

	for (unsigned int i = 0; i < RTE_DIM(written); i++)
		taken = taken || (written[i] != NULL && outputs_meet(path, written[i]));
	if (!taken)
		return 0;
	snprintf(error, size, "'%s' is a file of another option", path);
	return -1;
}

static int
start_locked(const char *text, char *error, size_t size)
{
	const unsigned int nb_parts = capture.pipeline == NULL ? 0 : capture.pipeline->nb_workers;
	int rc;

	if (nb_parts == 0 || capture.file != NULL) {
		snprintf(error, size, "%s",
			nb_parts == 0 ? "no packets flow" : "a capture is running; stop it first");
		return -1;
	}
	if (option_read_capture_text(text, &capture.options) < 0) {
		snprintf(error, size, "%s", option_error);
		return -1;
	}
	for (unsigned int w = 0; w < nb_parts; w++)
		capture.parts[w] = (struct part){ .graph = capture.pipeline->workers[w].graph };
	if (file_spares(capture.options.file, error, size) < 0 || parts_fill(error, size) < 0 ||
		parts_start(error, size) < 0)
		return -1;
	rc = hy_pcapng_open(capture.options.file, "l3fwd-graph", capture.options.snap,
		&capture.file);
	if (rc < 0) {
		parts_stop(nb_parts);
		snprintf(error, size, "%s: %s%s", capture.options.file, strerror(-rc),
			privileges_note(capture.options.file, W_OK));
		return -1;
	}
	capture.state = (struct capture_state){ .running = true };
	return 0;
}

int
capture_start(const char *text, char *error, size_t size)
{
	int rc;

	pthread_mutex_lock(&lock);
	rc = start_locked(text, error, size);
	pthread_mutex_unlock(&lock);
	return rc;
}

int
capture_stop(void)
{
	int rc = -1;

	pthread_mutex_lock(&lock);
	if (capture.file != NULL) {
		finish();
		rc = 0;
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

void
capture_status(struct capture_state *state)
{
	pthread_mutex_lock(&lock);
	if (capture.file != NULL)
		state_read();
	*state = capture.state;
	pthread_mutex_unlock(&lock);
}

void
capture_poll(void)
{
	size_t size = 0;

	pthread_mutex_lock(&lock);
	for (unsigned int w = 0; capture.file != NULL && w < capture.pipeline->nb_workers; w++)
		if (capture.parts[w].nb_points > 0)
			size += part_write(&capture.parts[w]);
	if (size > 0 &&
		(hy_pcapng_flush(capture.file) < 0 || capture.state.packets == most_packets()))
		finish();
	pthread_mutex_unlock(&lock);
}

int
capture_begin(const struct options *options, const struct pipeline *pipeline, FILE *people)
{
	char error[OPTION_ERROR_SIZE];

	pthread_mutex_lock(&lock);
	capture.program = options;
	capture.pipeline = pipeline;
	capture.people = people;
	pthread_mutex_unlock(&lock);
	if (options->capture == NULL || capture_start(options->capture, error, sizeof(error)) == 0)
		return 0;
	capture_end();
	return option_refuse("--capture", "%s", error);
}

int
capture_end(void)
{
	int rc;

	pthread_mutex_lock(&lock);
	if (capture.file != NULL)
		finish();
	capture.pipeline = NULL; /* at once: telemetry may start one more as soon as it can */
	rc = capture.failed ? -1 : 0;
	pthread_mutex_unlock(&lock);
	return rc;
}
