/* SPDX-License-Identifier: BSD-3-Clause */
/* Capture, the control plane's part: starting, stopping, reading. */

#include <errno.h>
#include <string.h>

#include <rte_malloc.h>
#include <rte_pause.h>

#include "capture.h"
#include "lib/graph/internal/log.h"
#include "lib/graph/update/control.h"

static_assert(sizeof(struct hy_capture_record) % sizeof(uint64_t) == 0, "records lie aligned");
static_assert(HY_CAPTURE_POINTS < CAPTURE_GAP, "no point is a gap");

/* When a capture has ended, all its records can be read. */
static bool
is_running(const struct hy_capture *capture)
{
	return !capture->stopped && !__atomic_load_n(&capture->ended, __ATOMIC_ACQUIRE);
}

/* Gets the capture back from the worker for good; see capture.h. */
static void
withdraw(struct hy_graph *graph)
{
	struct hy_capture *capture = graph->control->capture;

	if (capture == NULL || capture->stopped)
		return;
	__atomic_and_fetch(&graph->attention, ~HY_ATTEND_CAPTURE, __ATOMIC_RELAXED);
	while (__atomic_exchange_n(&graph->capture, NULL, __ATOMIC_ACQ_REL) == NULL)
		rte_pause();
	capture->stopped = true;
}

static int
params_check(const struct hy_graph *graph, const struct hy_capture_params *params)
{
	const char *name = graph->control->name;
	const unsigned int nb_points = params == NULL ? 0 : params->nb_points;

	if (graph->control->params.ops->copy == NULL)
		return HY_REFUSE(-ENOTSUP,
			"graph '%s': capture: its object operations copy nothing", name);
	if (nb_points == 0 || nb_points > HY_CAPTURE_POINTS)
		return HY_REFUSE(-EINVAL, "graph '%s': capture: %u points; 1 to %d are accepted",
			name, nb_points, HY_CAPTURE_POINTS);
	if (params->snap > HY_CAPTURE_SNAP_MAX)
		return HY_REFUSE(-EINVAL,
			"graph '%s': capture: %u bytes of an object; at most %d are accepted", name,
			params->snap, HY_CAPTURE_SNAP_MAX);
	if (params->nb_bytes != 0 &&
		(params->nb_bytes < HY_CAPTURE_BYTES_MIN ||
			params->nb_bytes > HY_CAPTURE_BYTES_MAX))
		return HY_REFUSE(-EINVAL,
			"graph '%s': capture: a ring of %u bytes; %d to %u are accepted", name,
			params->nb_bytes, HY_CAPTURE_BYTES_MIN, HY_CAPTURE_BYTES_MAX);
	return 0;
}

static int
name_copy(const struct hy_graph *graph, const char *from, char to[HY_NAME_SIZE])
{
	to[0] = '\0';
	if (from == NULL)
		return 0;
	if (!hy_name_valid(from))
		return HY_REFUSE(-EINVAL, "graph '%s': capture: '%s' is not a name",
			graph->control->name, from);
	strcpy(to, from);
	return 0;
}

/* Why a point cannot be captured in the present image. */
static int
spot_refuse(const struct hy_graph *graph, const struct hy_capture_spot *spot)
{
	const char *name = graph->control->name;

	if (spot->at == NULL)
		return HY_REFUSE(-ENOENT, "graph '%s': capture: it has no node '%s'", name,
			spot->node);
	if (spot->edge[0] != '\0')
		return HY_REFUSE(-ENOENT, "graph '%s': capture: node '%s' has no edge to '%s'",
			name, spot->node, spot->edge);
	if (spot->drop[0] != '\0')
		return HY_REFUSE(-ENOENT, "graph '%s': capture: node '%s' has no drop reason '%s'",
			name, spot->node, spot->drop);
	return HY_REFUSE(-EINVAL,
		"graph '%s': capture: source '%s' has more than %d edges; name one", name,
		spot->node, HY_CAPTURE_EDGES);
}

static int
spot_fill(const struct hy_graph *graph, const struct hy_capture_point *point,
	struct hy_capture_spot *spot)
{
	const char *name = graph->control->name;
	int rc;

	if (point->node == NULL || (point->edge != NULL && point->drop != NULL))
		return HY_REFUSE(-EINVAL,
			"graph '%s': capture: a point is a node, with an edge or a drop reason or "
			"neither",
			name);
	rc = name_copy(graph, point->node, spot->node);
	if (rc == 0)
		rc = name_copy(graph, point->edge, spot->edge);
	if (rc == 0)
		rc = name_copy(graph, point->drop, spot->drop);
	for (unsigned int d = 0; rc == 0 && d < HY_CORE_DROPS; d++) {
		if (strcmp(spot->drop, hy_core_drops[d].name) != 0)
			continue;
		rc = HY_REFUSE(-EINVAL,
			"graph '%s': capture: objects dropped for '%s' are gone when they count",
			name, spot->drop);
	}
	if (rc < 0)
		return rc;
	hy_capture_find(spot, hy_graph_image(graph));
	return spot->how == CAPTURE_MISSING ? spot_refuse(graph, spot) : 0;
}

static int
capture_alloc(const struct hy_graph *graph, const struct hy_capture_params *params,
	struct hy_capture **out)
{
	const uint32_t n = rte_align32pow2(params->nb_bytes == 0 ? HY_CAPTURE_BYTES_DEFAULT
								 : params->nb_bytes);
	struct hy_capture *capture = rte_zmalloc_socket("hy_capture", sizeof(*capture) + n,
		RTE_CACHE_LINE_SIZE, graph->control->socket);
	int rc = 0;

	if (capture == NULL)
		return HY_REFUSE(-ENOMEM, "graph '%s': capture: no memory for %u bytes",
			graph->control->name, n);
	capture->nb_bytes = n;
	capture->nb_spots = (uint16_t)params->nb_points;
	capture->match = params->match;
	capture->arg = params->arg;
	capture->max_objs = params->max_objs == 0 ? UINT64_MAX : params->max_objs;
	capture->snap = params->snap == 0 ? HY_CAPTURE_SNAP_MAX : params->snap;
	for (unsigned int p = 0; p < params->nb_points && rc == 0; p++)
		rc = spot_fill(graph, &params->points[p], &capture->spots[p]);
	if (rc < 0) {
		rte_free(capture);
		return rc;
	}
	*out = capture;
	return 0;
}

static int
start_locked(struct hy_graph *graph, const struct hy_capture_params *params)
{
	struct hy_control *control = graph->control;
	struct hy_capture *capture;
	int rc = params_check(graph, params);

	if (rc < 0)
		return rc;
	if (control->capture != NULL && is_running(control->capture))
		return HY_REFUSE(-EBUSY, "graph '%s': a capture is running; stop it first",
			control->name);
	rc = capture_alloc(graph, params, &capture);
	if (rc < 0)
		return rc;
	withdraw(graph);
	rte_free(control->capture);
	control->capture = capture;
	__atomic_store_n(&graph->capture, capture, __ATOMIC_RELEASE);
	__atomic_or_fetch(&graph->attention, HY_ATTEND_CAPTURE, __ATOMIC_RELEASE);
	return 0;
}

int
hy_capture_start(struct hy_graph *graph, const struct hy_capture_params *params)
{
	int rc = hy_graph_inside_check("hy_capture_start()");

	if (rc < 0)
		return rc;
	hy_registry_lock();
	rc = hy_graph_busy_check(graph, "hy_capture_start()");
	if (rc == 0)
		rc = start_locked(graph, params);
	hy_registry_unlock();
	return rc;
}

void
hy_capture_stop(struct hy_graph *graph)
{
	if (hy_graph_inside_check("hy_capture_stop()") < 0)
		return;
	hy_registry_lock();
	withdraw(graph);
	hy_registry_unlock();
}

/* Copies the records from head to tail that fit. Returns how much of the buffer is used. */
static size_t
records_copy(struct hy_capture *capture, uint64_t tail, uint8_t *buffer, size_t size)
{
	const uint64_t mask = capture->nb_bytes - 1;
	uint64_t head = capture->head;
	size_t used = 0;

	while (head != tail) {
		const uint64_t to_end = capture->nb_bytes - (head & mask);
		const struct hy_capture_record *record = RTE_PTR_ADD(capture->ring, head & mask);
		uint32_t n;

		if (to_end < sizeof(*record) || record->point == CAPTURE_GAP) {
			head += to_end;
			continue;
		}
		n = hy_capture_size(record->size);
		if (n > size - used)
			break;
		memcpy(buffer + used, record, n);
		used += n;
		head += n;
	}
	__atomic_store_n(&capture->head, head, __ATOMIC_RELEASE);
	return used;
}

size_t
hy_capture_read(struct hy_graph *graph, void *buffer, size_t size)
{
	struct hy_capture *capture;
	size_t used = 0;

	hy_registry_lock();
	capture = graph->control->capture;
	if (capture != NULL)
		used = records_copy(capture, __atomic_load_n(&capture->tail, __ATOMIC_ACQUIRE),
			buffer, size);
	hy_registry_unlock();
	return used;
}

int
hy_capture_status(const struct hy_graph *graph, struct hy_capture_state *status)
{
	const struct hy_capture *capture;

	hy_registry_lock();
	capture = graph->control->capture;
	if (capture != NULL)
		*status = (struct hy_capture_state){
			.running = is_running(capture),
			.captured = hy_count_read(&capture->captured),
			.lost = hy_count_read(&capture->lost),
			.unsure = hy_count_read(&capture->unsure),
			.missing = __atomic_load_n(&capture->missing, __ATOMIC_RELAXED),
		};
	hy_registry_unlock();
	return capture == NULL ? -ENOENT : 0;
}
