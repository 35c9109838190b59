/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A capture's writer: a thread, because a file may be slow, and nothing else is to wait for it.
 * What finds no room in the workers' rings meanwhile is counted there as lost.
 */

#include <errno.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>

#include <hy_file.h>
#include <hy_pcapng.h>
#include <hy_privileges.h>

#include "recorder.h"

#define BUFFER_SIZE (1 << 20)
#define TICK_US 1000
#define PATIENCE_TICKS 1000 /* for a FIFO whose reader takes nothing, once it is to end */

struct writer {
	struct hy_pcapng *file;
	bool emptied;   /* the file */
	int error;      /* that the file failed with */
	uint64_t taken; /* packets that were handed to the file */
	uint64_t seen;  /* packets in the file, and for how many ticks no more than these */
	unsigned int ticks;
	alignas(8) uint8_t buffer[BUFFER_SIZE];
};

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
comment_make(const struct part *part, unsigned int p, const char *graph,
	char comment[3 * HY_NAME_SIZE])
{
	const struct hy_capture_point *point = &part->points[p];
	const char *out = point->edge != NULL ? point->edge : point->drop;

	snprintf(comment, (size_t)3 * HY_NAME_SIZE, "%s %s%s%s", graph, point->node,
		out == NULL                  ? ""
			: out == point->edge ? "/"
					     : ":",
		out == NULL ? "" : out);
}

static uint64_t
most_packets(void)
{
	return hy_recorder.recording.max > 0 ? hy_recorder.recording.max : UINT64_MAX;
}

static bool
is_stopped(void)
{
	bool stopped;

	pthread_mutex_lock(&hy_recorder.lock);
	stopped = hy_recorder.stop;
	pthread_mutex_unlock(&hy_recorder.lock);
	return stopped;
}

/* Tells how far the file is. */
static void
tell(const struct writer *w)
{
	pthread_mutex_lock(&hy_recorder.lock);
	hy_recorder.state.packets = hy_pcapng_packets(w->file);
	pthread_cond_broadcast(&hy_recorder.changed);
	pthread_mutex_unlock(&hy_recorder.lock);
}

/* Whether to try a FIFO that is full once more, a moment later. */
static bool
is_patient(struct writer *w)
{
	const uint64_t packets = hy_pcapng_packets(w->file);

	rte_delay_us_sleep(TICK_US);
	if (packets != w->seen || !is_stopped())
		w->ticks = 0;
	w->seen = packets;
	return w->ticks++ < PATIENCE_TICKS;
}

static void
flush(struct writer *w)
{
	int rc;

	while ((rc = hy_pcapng_flush(w->file)) == -EAGAIN && is_patient(w))
		;
	w->error = rc;
	tell(w);
}

/* Reads from the ring of a worker. Returns how much: 0 if there are no graphs any more, too. */
static size_t
part_read(struct writer *w, const struct part *part, char graph[HY_NAME_SIZE])
{
	size_t size = 0;

	pthread_mutex_lock(&hy_recorder.lock);
	if (hy_recorder.params.nb_graphs > 0 && part->nb_points > 0) {
		size = hy_capture_read(part->graph, w->buffer, sizeof(w->buffer));
		snprintf(graph, HY_NAME_SIZE, "%s", hy_graph_name(part->graph));
	}
	pthread_mutex_unlock(&hy_recorder.lock);
	return size;
}

/* Writes what is in the ring of a worker, at most what the buffer holds. Returns how much. */
static size_t
part_write(struct writer *w, const struct part *part)
{
	const struct hy_capture_record *record = (const void *)w->buffer;
	char comments[HY_CAPTURE_POINTS][3 * HY_NAME_SIZE];
	struct hy_pcapng_point points[HY_CAPTURE_POINTS];
	char graph[HY_NAME_SIZE];
	const size_t size = part_read(w, part, graph);

	for (unsigned int p = 0; p < part->nb_points && size > 0; p++) {
		comment_make(part, p, graph, comments[p]);
		points[p] = point_of(&part->points[p], comments[p]);
	}
	for (; (const uint8_t *)record < w->buffer + size; record = hy_capture_next(record)) {
		if (w->taken == most_packets())
			break;
		while ((w->error = hy_pcapng_write(w->file, record, &points[record->point])) ==
				-EAGAIN &&
			is_patient(w))
			;
		if (w->error < 0)
			break;
		w->taken++;
	}
	return size;
}

/* Writes what is in the rings of all workers. Returns whether there was any, and may be more. */
static bool
parts_write(struct writer *w)
{
	size_t size = 0;

	for (unsigned int p = 0; p < RTE_MAX_LCORE && w->error == 0; p++)
		size += part_write(w, &hy_recorder.parts[p]);
	if (size > 0 && w->error == 0)
		flush(w);
	return size > 0 && w->error == 0 && w->taken < most_packets();
}

/* To open a file for writing empties it. Those that are written to are known to hy_output_open(). */
static int
file_spares(char *error)
{
	const char *path = hy_recorder.recording.file;
	const char *reader = hy_input_find(hy_recorder.params.inputs, hy_recorder.params.nb_inputs,
		path);

	if (reader == NULL)
		return 0;
	return HY_REASON(-EBUSY, error, HY_OPTION_ERROR_SIZE,
		"%s: is the file of %s, which is read", path, reader);
}

static int
file_open(struct writer *w, char *error)
{
	const struct hy_recording *o = &hy_recorder.recording;
	char why[HY_FILE_ERROR_SIZE];
	int fd, rc;

	if (file_spares(error) < 0)
		return -1;
	rc = hy_output_open(o->file, o->fifo ? HY_OUTPUT_FIFO : 0, &fd, why);
	if (rc < 0)
		return HY_REASON(-1, error, HY_OPTION_ERROR_SIZE, "%s: %s%s", o->file, why,
			hy_privileges_note(o->file, W_OK));
	rc = hy_output_empty(fd);
	w->emptied = rc == 0;
	if (rc == 0)
		rc = hy_pcapng_open(fd, hy_terminal_program(), o->snap, &w->file);
	if (rc < 0) {
		snprintf(error, HY_OPTION_ERROR_SIZE, "%s: %s", o->file, strerror(-rc));
		close(fd);
	}
	return rc;
}

/* Opens the file, and wakes the thread that waits for it. */
static int
begin(struct writer *w)
{
	char error[HY_OPTION_ERROR_SIZE] = "";
	int rc = w == NULL ? -1 : file_open(w, error);

	pthread_mutex_lock(&hy_recorder.lock);
	hy_recorder.emptied = w != NULL && w->emptied;
	if (rc == 0) {
		hy_recorder.phase = PHASE_WRITING;
	} else {
		snprintf(hy_recorder.error, sizeof(hy_recorder.error), "%s",
			w == NULL ? "out of memory" : error);
		hy_recorder_stop_parts();
		hy_recorder.state.running = false;
		hy_recorder.phase = PHASE_NONE;
	}
	pthread_cond_broadcast(&hy_recorder.changed);
	pthread_mutex_unlock(&hy_recorder.lock);
	return rc;
}

static const char *
reason(int rc)
{
	switch (rc) {
	case -EAGAIN:
		return "nothing reads from this FIFO any more";
	case -ENOENT:
		return "it was removed or replaced while packets were written to it";
	case -ESTALE:
		return "another program changed it while packets were written to it";
	default:
		return strerror(-rc);
	}
}

/* Reports why the file failed. With the lock. */
static void
fail(int rc)
{
	hy_option_refuse("--capture", "%s: %s", hy_recorder.recording.file, reason(rc));
	hy_recorder.failed = true;
	if (rc == -ENOENT || rc == -ESTALE)
		hy_recorder.state.packets = 0; /* nobody can read them */
}

/* Has the workers stop, writes the rest, closes the file, and says how much it was. */
static void
end(struct writer *w)
{
	int rc;

	pthread_mutex_lock(&hy_recorder.lock);
	hy_recorder.stop = true;
	hy_recorder_stop_parts();
	pthread_mutex_unlock(&hy_recorder.lock);
	while (parts_write(w))
		;
	if (w->error == 0)
		flush(w);
	tell(w);
	rc = hy_pcapng_close(w->file);
	rc = w->error < 0 ? w->error : rc;

	pthread_mutex_lock(&hy_recorder.lock);
	if (hy_recorder.params.nb_graphs > 0) {
		if (rc < 0)
			fail(rc);
		hy_recorder_count(true);
		hy_recorder_say();
	}
	hy_recorder.state.running = false;
	hy_recorder.phase = PHASE_NONE;
	pthread_cond_broadcast(&hy_recorder.changed);
	pthread_mutex_unlock(&hy_recorder.lock);
}

static void *
writer_main(void *arg __rte_unused)
{
	struct writer *w = calloc(1, sizeof(*w));

	if (begin(w) == 0) {
		while (!is_stopped() && w->error == 0 && w->taken < most_packets())
			if (!parts_write(w))
				rte_delay_us_sleep(TICK_US);
		end(w);
	}
	free(w);
	return NULL;
}

int
hy_recorder_write_start(void)
{
	return hy_file_thread(writer_main, NULL, "hy-capture");
}
