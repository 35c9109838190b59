/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The HAL listens, takes a port from the workers, and gives it back; in between it is ours. What
 * fails leaves a port down, and the others go on.
 */

#include <errno.h>
#include <string.h>

#include "events.h"
#include "feed.h"
#include "port_watch.h"
#include "ports.h"

static int
on_reset(uint16_t port, void *arg)
{
	struct events *events = arg;

	port_watch_leave(port);
	if (ports_reset(events->options, events->hal, events->pipeline->nb_workers, port) < 0)
		return -EIO;
	events->resets[port]++;
	return 0;
}

static void
on_gone(uint16_t port, void *arg __rte_unused)
{
	port_watch_leave(port);
	ports_gone(port);
}

/* Tells people of a port's life. */
static void
tell(struct hy_hal *hal, uint16_t port, enum hy_port_state state, void *arg)
{
	const struct hy_target target = { .kind = HY_TARGET_PORT, .id = port };
	const struct events *events = arg;

	if (state == HY_PORT_UP)
		fprintf(events->people, "port %u is up again\n", port);
	else
		fprintf(events->people, "port %u is %s: %s\n", port,
			state == HY_PORT_GONE ? "gone" : "down",
			hy_hal_capability(hal, target, HY_CAP_RUNNING)->reason);
	fflush(events->people);
}

static int
complain(int rc)
{
	if (rc < 0)
		fprintf(stderr, "l3fwd-graph: events of ports: %s\n", strerror(-rc));
	return rc < 0 ? -1 : 0;
}

int
events_listen(struct hy_hal *hal)
{
	return complain(hy_hal_watch(hal));
}

int
events_watch(struct events *events)
{
	return complain(hy_hal_port_observe(events->hal, tell, events));
}

void
events_poll(struct events *events)
{
	const struct hy_port_ops ops = { .reset = on_reset, .gone = on_gone, .arg = events };
	char error[HY_HAL_ERROR_SIZE];
	int rc = hy_hal_poll(events->hal, events->pipeline->graphs, events->pipeline->nb_workers,
		&ops, error);

	/* A port that came back may have got a variant that does not keep order. */
	if (rc == 0)
		rc = feed_check(events->options, error, sizeof(error));
	if (rc >= 0 || strcmp(error, events->said) == 0)
		return;
	fprintf(stderr, "l3fwd-graph: %s\n", error);
	strcpy(events->said, error);
}

void
events_end(struct events *events)
{
	hy_hal_port_unobserve(events->hal, tell, events);
}
