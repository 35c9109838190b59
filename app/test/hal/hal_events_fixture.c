/* SPDX-License-Identifier: BSD-3-Clause */
/* A HAL that is watched, and a record of what it tells its observers. */

#include <errno.h>
#include <string.h>

#include <rte_ethdev.h>

#include <hy_graph_worker.h>

#include "hal/internal/hal.h"
#include "hal_events_fixture.h"

char events_story[256];
int events_reset_result;

static void
tell(const char *what, uint16_t port)
{
	const size_t used = strlen(events_story);

	snprintf(events_story + used, sizeof(events_story) - used, "%s%u ", what, port);
}

void
events_observe(struct hy_hal *of, uint16_t port, enum hy_port_state state, void *arg)
{
	static const char *const names[] = { "up", "leaving", "down", "gone" };

	assert_ptr_equal(of, hal);
	assert_ptr_equal(arg, events_story);
	assert_int_equal(hy_hal_port_state(of, port), state);
	/* Nobody uses it: its source is parked, and nothing is bound to it. */
	if (state != HY_PORT_UP) {
		char name[32];

		snprintf(name, sizeof(name), "live_rx-%u", port);
		assert_string_equal(hy_hal_placement(hal, name)->variant, "parked");
		for (unsigned int i = 0; i < hal->nb_bindings; i++)
			assert_int_not_equal(hal->bindings[i].target.id, port);
	}
	tell(names[state], port);
}

static int
op_reset(uint16_t port, void *arg)
{
	assert_ptr_equal(arg, &events_reset_result);
	tell("reset", port);
	return events_reset_result;
}

static void
op_gone(uint16_t port, void *arg)
{
	assert_ptr_equal(arg, &events_reset_result);
	tell("close", port);
}

static const struct hy_port_ops port_ops = { op_reset, op_gone, &events_reset_result };

void
events_begin(void)
{
	live_make();
	events_story[0] = '\0';
	events_reset_result = 0;
	assert_int_equal(hy_hal_port_observe(hal, events_observe, events_story), 0);
	assert_int_equal(hy_hal_watch(hal), 0);
	assert_int_equal(hy_hal_watch(hal), 0);
}

int
events_poll(void)
{
	return hy_hal_poll(hal, live_graphs, PORTS, &port_ops, error);
}

const struct hy_capability *
events_running(uint16_t port)
{
	return hy_hal_capability(hal, (struct hy_target){ HY_TARGET_PORT, port }, HY_CAP_RUNNING);
}

int
events_poll_out(void)
{
	int rc, failed = 0;

	for (unsigned int i = 0; i < 20; i++) {
		rc = events_poll();
		if (rc < 0 && failed == 0)
			failed = rc;
		live_walk();
		if (rc == 0)
			return failed;
	}
	fail_msg("never done: %s", events_story);
	return -1;
}
