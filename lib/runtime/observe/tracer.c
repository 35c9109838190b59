/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces of all workers: started and stopped by any thread, under a lock, and shown as text. */

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include <hy_ip_filter.h>
#include <hy_tracer.h>

#include "lib/graph/internal/log.h"
#include "lib/graph/internal/trace_print.h"
#include "tracer.h"

#define RECORDS_A_PACKET 8 /* one for each node; programs have five or so on a packet's way */
#define PACKETS_MAX 1000

/* What is traced. */
struct choice {
	unsigned int nb_packets; /* of each worker */
	bool filtered;
	struct hy_ip_filter filter;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct hy_graph *const *traced; /* NULL: none; under the lock, as all here */
static unsigned int nb_traced;
static struct choice chosen; /* which workers read while they trace */

static int
choice_read(const char *text, struct choice *choice)
{
	char copy[128];
	char *colon;

	if (strlen(text) >= sizeof(copy))
		return hy_option_refuse("--trace", "'%s' is not N[:FILTER]", text);
	strcpy(copy, text);
	colon = strchr(copy, ':');
	*choice = (struct choice){ .filtered = colon != NULL };
	if (colon != NULL)
		*colon = '\0';
	if (hy_option_number("--trace", copy, 1, PACKETS_MAX, &choice->nb_packets) < 0)
		return -EINVAL;
	return colon == NULL ? 0 : hy_option_filter("--trace", colon + 1, &choice->filter);
}

int
hy_tracer_check(const char *text)
{
	struct choice checked;

	return choice_read(text, &checked);
}

static void
stop_first(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		hy_trace_stop(traced[i]);
}

static void
status_read(struct hy_tracer_state *state)
{
	*state = (struct hy_tracer_state){ 0 };
	for (unsigned int i = 0; i < nb_traced; i++) {
		struct hy_trace_state of;

		if (hy_trace_status(traced[i], &of) < 0)
			continue;
		state->running |= of.running;
		state->packets += of.marked;
		state->records += of.recorded;
		state->lost += of.lost;
	}
}

static int
start_locked(const char *text, char *error)
{
	struct hy_tracer_state state;
	struct hy_trace_params params = { .match = hy_ip_filter_match, .arg = &chosen.filter };
	struct choice choice;
	int rc = 0;

	status_read(&state);
	if (traced == NULL || state.running)
		return HY_REASON(-EINVAL, error, HY_OPTION_ERROR_SIZE, "%s",
			traced == NULL ? "no packets flow" : "a trace is running; stop it first");
	if (choice_read(text, &choice) < 0)
		return HY_REASON(-EINVAL, error, HY_OPTION_ERROR_SIZE, "%s", hy_option_reason());
	chosen = choice; /* nothing is traced that could read it now */
	if (!chosen.filtered)
		params.match = NULL;
	params.nb_objs = chosen.nb_packets;
	params.nb_records = chosen.nb_packets * RECORDS_A_PACKET;
	for (unsigned int i = 0; i < nb_traced && rc == 0; i++) {
		rc = hy_trace_start(traced[i], &params);
		if (rc < 0)
			stop_first(i);
	}
	if (rc < 0)
		snprintf(error, HY_OPTION_ERROR_SIZE, "%s", strerror(-rc));
	return rc < 0 ? -EINVAL : 0;
}

int
hy_tracer_start(const char *text, char *error)
{
	int rc;

	pthread_mutex_lock(&lock);
	rc = start_locked(text, error);
	pthread_mutex_unlock(&lock);
	return rc;
}

void
hy_tracer_stop(void)
{
	pthread_mutex_lock(&lock);
	stop_first(nb_traced);
	pthread_mutex_unlock(&lock);
}

void
hy_tracer_status(struct hy_tracer_state *state)
{
	pthread_mutex_lock(&lock);
	status_read(state);
	pthread_mutex_unlock(&lock);
}

int
hy_tracer_begin(struct hy_graph *const *graphs, unsigned int nb_graphs, const char *text)
{
	char error[HY_OPTION_ERROR_SIZE];

	pthread_mutex_lock(&lock);
	traced = graphs;
	nb_traced = nb_graphs;
	pthread_mutex_unlock(&lock);
	if (text == NULL || hy_tracer_start(text, error) == 0)
		return 0;
	hy_tracer_end();
	return hy_option_refuse("--trace", "%s", error);
}

void
hy_tracer_end(void)
{
	pthread_mutex_lock(&lock);
	traced = NULL;
	nb_traced = 0;
	pthread_mutex_unlock(&lock);
}

unsigned int
hy_tracer_each(unsigned int most, void (*call)(const struct hy_tracer_line *line, void *arg),
	void *arg)
{
	unsigned int n = 0;

	pthread_mutex_lock(&lock);
	for (unsigned int i = 0; i < nb_traced; i++) {
		struct hy_tracer_line line = { .graph = hy_graph_name(traced[i]) };

		while (n < most && hy_trace_read(traced[i], &line.record, 1) == 1) {
			hy_trace_format(traced[i], &line.record, line.text, sizeof(line.text));
			call(&line, arg);
			n++;
		}
	}
	pthread_mutex_unlock(&lock);
	return n;
}

static int
worker_print(struct hy_graph *graph, FILE *out)
{
	const struct hy_trace_style style = { "packet", "us", (double)rte_get_tsc_hz() / 1e6, 1 };
	const char *name = hy_graph_name(graph);
	struct hy_trace_record *records;
	struct hy_trace_state status;
	unsigned int n;
	int rc = -ENOMEM;

	if (hy_trace_status(graph, &status) < 0)
		return 0; /* it was never traced */
	n = (unsigned int)status.recorded;
	records = calloc(n + 1, sizeof(*records));
	if (records != NULL) {
		n = hy_trace_read(graph, records, n);
		rc = hy_trace_print(graph, records, n, &style, out);
	}
	if (rc == 0)
		fprintf(out, "%s: %" PRIu32 " packets traced, %u records, %" PRIu64 " lost\n", name,
			status.marked, n, status.lost);
	if (rc == 0 && status.unmarked > 0)
		fprintf(out,
			"%s: %" PRIu64 " more matched while %d were followed, the most at a time\n",
			name, status.unmarked, HY_TRACE_LIVE_MAX);
	if (rc == 0)
		fprintf(out, "\n");
	free(records);
	return rc;
}

int
hy_tracer_print(FILE *out)
{
	int rc = 0;

	pthread_mutex_lock(&lock);
	for (unsigned int i = 0; i < nb_traced && rc == 0; i++)
		rc = worker_print(traced[i], out);
	pthread_mutex_unlock(&lock);
	return hy_terminal_report("--trace", rc);
}
