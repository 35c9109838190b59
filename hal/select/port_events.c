/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports that stop, are reset or are removed while workers keep running. Drivers report such events
 * on an EAL thread, which only sets a flag. The control thread then parks the port (selects as if
 * it did not run), waits until the graphs have taken that up, and has exclusive use of the port.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>

#include "hal/internal/hal.h"
#include "hal/internal/list.h"

/* Events of a port, and the wishes that they become until they are served. */
#define EVENT_RESET 0x1u   /* the port asks for a reset */
#define EVENT_STOP 0x2u    /* the program stops it */
#define EVENT_RECOVER 0x4u /* its driver recovers it */
#define EVENT_GONE 0x8u    /* it was removed */
#define EVENT_START 0x10u  /* the program has started it */
#define EVENT_BACK 0x20u   /* its driver has recovered it */
#define EVENTS_LEAVE (EVENT_RESET | EVENT_STOP | EVENT_RECOVER | EVENT_GONE)

static const struct {
	enum rte_eth_event_type type;
	uint32_t event;
} heard[] = {
	{ RTE_ETH_EVENT_INTR_RESET, EVENT_RESET },
	{ RTE_ETH_EVENT_INTR_RMV, EVENT_GONE },
	{ RTE_ETH_EVENT_DESTROY, EVENT_GONE },
	{ RTE_ETH_EVENT_ERR_RECOVERING, EVENT_RECOVER },
	{ RTE_ETH_EVENT_RECOVERY_SUCCESS, EVENT_BACK },
	{ RTE_ETH_EVENT_RECOVERY_FAILED, EVENT_GONE },
};

/*
 * What was noted before and does not count after an event. If the port has to leave, it does, and comes
 * back when that is asked for once more. But a driver's recovery is over even if a reset is due then.
 */
static uint32_t
cancelled_by(uint32_t event)
{
	if ((event & (EVENTS_LEAVE & ~EVENT_RESET)) != 0)
		return EVENT_START | EVENT_BACK;
	return (event & EVENT_RESET) != 0 ? EVENT_START : 0;
}

/* Called on any thread. A start after an event that takes the port away does not cancel that. */
static void
event_add(struct hy_port_life *life, uint32_t event)
{
	uint32_t now = __atomic_load_n(&life->events, __ATOMIC_RELAXED), next;

	do {
		next = (now & ~cancelled_by(event)) | event;
	} while (!__atomic_compare_exchange_n(&life->events, &now, next, false, __ATOMIC_RELEASE,
		__ATOMIC_RELAXED));
}

static int
event_note(uint16_t port, enum rte_eth_event_type type, void *arg, void *ret __rte_unused)
{
	struct hy_hal *hal = arg;

	for (size_t i = 0; i < RTE_DIM(heard); i++)
		if (heard[i].type == type)
			event_add(&hal->life[port], heard[i].event);
	return 0;
}

/* Stops listening to the first n types of events. */
static void
unwatch(struct hy_hal *hal, size_t n)
{
	/* -EAGAIN: the callback is running. */
	while (n-- > 0)
		while (rte_eth_dev_callback_unregister(RTE_ETH_ALL, heard[n].type, event_note,
			       hal) == -EAGAIN)
			rte_pause();
}

int
hy_hal_watch(struct hy_hal *hal)
{
	if (hal->watched)
		return 0;
	for (size_t i = 0; i < RTE_DIM(heard); i++) {
		const int rc = rte_eth_dev_callback_register(RTE_ETH_ALL, heard[i].type, event_note,
			hal);

		if (rc < 0) {
			unwatch(hal, i);
			return rc;
		}
	}
	hal->watched = true;
	return 0;
}

void
hy_hal_unwatch(struct hy_hal *hal)
{
	if (hal->watched)
		unwatch(hal, RTE_DIM(heard));
	hal->watched = false;
}

static int
event_raise(struct hy_hal *hal, uint16_t port, uint32_t event)
{
	if (port >= RTE_MAX_ETHPORTS)
		return -EINVAL;
	if ((event & (EVENT_STOP | EVENT_START)) != 0)
		__atomic_store_n(&hal->life[port].stopped, event == EVENT_STOP, __ATOMIC_RELAXED);
	event_add(&hal->life[port], event);
	return 0;
}

int
hy_hal_port_stop(struct hy_hal *hal, uint16_t port)
{
	return event_raise(hal, port, EVENT_STOP);
}

int
hy_hal_port_start(struct hy_hal *hal, uint16_t port)
{
	return event_raise(hal, port, EVENT_START);
}

enum hy_port_state
hy_hal_port_state(const struct hy_hal *hal, uint16_t port)
{
	return port < RTE_MAX_ETHPORTS ? hal->life[port].state : HY_PORT_GONE;
}

bool
hy_hal_port_recovers(const struct hy_hal *hal, uint16_t port)
{
	return hy_hal_port_state(hal, port) == HY_PORT_DOWN && hal->life[port].recovers;
}

bool
hy_hal_port_answers(const struct hy_hal *hal, uint16_t port)
{
	return hy_hal_port_state(hal, port) != HY_PORT_GONE && !hal->life[port].broken;
}

static int
observer_add(struct hy_hal *hal, struct hy_observer added)
{
	struct hy_observer *o = hy_list_room(&hal->observers, hal->nb_observers, sizeof(*o));

	if (o == NULL)
		return -ENOMEM;
	*o = added;
	hal->nb_observers++;
	return 0;
}

static int
observer_remove(struct hy_hal *hal, struct hy_observer removed)
{
	for (unsigned int i = 0; i < hal->nb_observers; i++) {
		const struct hy_observer *o = &hal->observers[i];

		if (o->notify != removed.notify || o->guard != removed.guard ||
			o->arg != removed.arg)
			continue;
		hy_list_remove(hal->observers, &hal->nb_observers, i, sizeof(*o));
		return 0;
	}
	return -ENOENT;
}

int
hy_hal_port_observe(struct hy_hal *hal, hy_port_observer_t *notify, void *arg)
{
	return observer_add(hal, (struct hy_observer){ .notify = notify, .arg = arg });
}

int
hy_hal_port_unobserve(struct hy_hal *hal, hy_port_observer_t *notify, void *arg)
{
	return observer_remove(hal, (struct hy_observer){ .notify = notify, .arg = arg });
}

int
hy_hal_port_guard(struct hy_hal *hal, hy_port_guard_t *guard, void *arg)
{
	return observer_add(hal, (struct hy_observer){ .guard = guard, .arg = arg });
}

int
hy_hal_port_unguard(struct hy_hal *hal, hy_port_guard_t *guard, void *arg)
{
	return observer_remove(hal, (struct hy_observer){ .guard = guard, .arg = arg });
}

bool
hy_port_frozen(struct hy_hal *hal, uint16_t port)
{
	struct hy_port_life *life = &hal->life[port];
	const bool used = hy_place_has_port(hal, port);

	/* Removed without an event: its nodes still exist, and need a selection. */
	if (life->state == HY_PORT_UP && used && !rte_eth_dev_is_valid_port(port))
		event_raise(hal, port, EVENT_GONE);
	return life->state != HY_PORT_UP || (used && !rte_eth_dev_is_valid_port(port));
}

void
hy_port_running_set(struct hy_hal *hal, uint16_t port)
{
	struct hy_capability *cap = &hal->ports[port].dev.caps[HY_CAP_RUNNING];
	const struct hy_port_life *life = &hal->life[port];
	const bool up = life->state == HY_PORT_UP;

	if (!hal->ports[port].present)
		return;
	cap->level = up ? HY_LEVEL_YES : HY_LEVEL_NO;
	cap->origin = up ? HY_ORIGIN_DECLARED : HY_ORIGIN_OBSERVED;
	snprintf(cap->reason, sizeof(cap->reason), "%s",
		up ? "no reset or removal was seen" : life->reason);
}

static void
state_set(struct hy_hal *hal, uint16_t port, enum hy_port_state state, const char *reason)
{
	struct hy_port_life *life = &hal->life[port];

	life->state = state;
	snprintf(life->reason, sizeof(life->reason), "%s", reason);
	hy_port_running_set(hal, port);
}

/* The same, and notifies the observers. */
static void
state_tell(struct hy_hal *hal, uint16_t port, enum hy_port_state state, const char *reason)
{
	state_set(hal, port, state, reason);
	for (unsigned int i = 0; i < hal->nb_observers; i++)
		if (hal->observers[i].notify != NULL)
			hal->observers[i].notify(hal, port, state, hal->observers[i].arg);
}

static const char *
why_leaving(uint32_t wish)
{
	if ((wish & EVENT_GONE) != 0)
		return "it was removed";
	if ((wish & EVENT_RESET) != 0)
		return "it asks for a reset";
	return (wish & EVENT_RECOVER) != 0 ? "its driver recovers" : "the program stops it";
}

/* Turns events into wishes. Ports that have to leave get no variants that use the device. */
static void
events_take(struct hy_hal *hal)
{
	for (uint16_t p = 0; p < RTE_MAX_ETHPORTS; p++) {
		struct hy_port_life *life = &hal->life[p];
		const uint32_t events = __atomic_exchange_n(&life->events, 0, __ATOMIC_ACQUIRE);

		if (events == 0 || !hal->ports[p].present)
			continue;
		life->wish = (life->wish & ~cancelled_by(events)) | events;
		if (life->state != HY_PORT_UP || (life->wish & EVENTS_LEAVE) == 0)
			continue;
		state_set(hal, p, HY_PORT_LEAVING, why_leaving(life->wish));
		hal->reselect_due = true;
	}
}

static int
port_up(struct hy_hal *hal, uint16_t port, char *error)
{
	if (!rte_eth_dev_is_valid_port(port))
		return HY_REASON(-ENODEV, error, HY_HAL_ERROR_SIZE,
			"port %u cannot be started: no such device", port);
	hal->life[port].state = HY_PORT_UP;
	hal->life[port].fresh = true;
	hal->life[port].broken = hal->life[port].recovers = false;
	hal->life[port].again = 0;
	hy_hal_probe(hal);
	state_tell(hal, port, HY_PORT_UP, "");
	hal->reselect_due = true;
	return 0;
}

/* Whether a reset that had to wait is due. */
static bool
retry_due(const struct hy_port_life *life)
{
	return life->again != 0 && life->state == HY_PORT_DOWN && !life->recovers &&
		rte_get_tsc_cycles() >= life->again;
}

static int
port_reset(struct hy_hal *hal, uint16_t port, const struct hy_port_ops *ops, char *error)
{
	struct hy_port_life *life = &hal->life[port];
	const bool waited = life->again != 0;
	char reason[HY_TEXT_SIZE];
	int rc;

	if (ops == NULL || ops->reset == NULL)
		return 0;
	rc = ops->reset(port, ops->arg);
	if (rc == 0)
		return port_up(hal, port, error);
	life->again = rc == -EAGAIN ? rte_get_tsc_cycles() + rte_get_tsc_hz() : 0;
	if (rc == -EAGAIN)
		snprintf(reason, sizeof(reason),
			"its reset has to wait, and is tried every second");
	else
		snprintf(reason, sizeof(reason), "its reset failed: %s", strerror(-rc));
	state_set(hal, port, HY_PORT_DOWN, reason);
	if (rc == -EAGAIN && waited)
		return 0; /* said before */
	return HY_REASON(rc, error, HY_HAL_ERROR_SIZE, "port %u stays down: %s", port, reason);
}

/* Asks the guards whether a port that is down may be reset or come up. */
static int
guards_ask(struct hy_hal *hal, uint16_t port, char *error)
{
	char reason[HY_TEXT_SIZE] = "";
	int rc = 0;

	for (unsigned int i = 0; i < hal->nb_observers && rc == 0; i++)
		if (hal->observers[i].guard != NULL)
			rc = hal->observers[i].guard(port, reason, sizeof(reason),
				hal->observers[i].arg);
	if (rc == 0)
		return 0;
	hal->life[port].again = 0;
	state_set(hal, port, hal->life[port].state, reason);
	return HY_REASON(rc, error, HY_HAL_ERROR_SIZE, "port %u stays down: %s", port, reason);
}

/* Whether a port that is down comes up. A recovery does not start what the program has stopped. */
static bool
returns(struct hy_port_life *life, uint32_t wish)
{
	if ((wish & EVENT_START) != 0)
		return true;
	if ((wish & EVENT_BACK) != 0 && life->recovers)
		life->broken = life->recovers = false;
	return (wish & EVENT_BACK) != 0 && !__atomic_load_n(&life->stopped, __ATOMIC_RELAXED);
}

/* Serves the wishes for a port that no worker uses any more. */
static int
port_serve(struct hy_hal *hal, uint16_t port, const struct hy_port_ops *ops, char *error)
{
	struct hy_port_life *life = &hal->life[port];
	const uint32_t wish = life->wish | (retry_due(life) ? EVENT_RESET : 0);
	bool back;
	int rc;

	life->wish = 0;
	if ((wish & (EVENT_STOP | EVENT_GONE)) != 0)
		life->again = 0;
	if ((wish & EVENT_GONE) != 0 && life->state != HY_PORT_GONE) {
		state_tell(hal, port, HY_PORT_GONE, why_leaving(wish));
		if (ops != NULL && ops->gone != NULL)
			ops->gone(port, ops->arg);
		return 0;
	}
	if (life->state == HY_PORT_LEAVING) {
		life->held = (wish & (EVENT_STOP | EVENT_RECOVER)) != 0;
		life->recovers = (wish & EVENT_RECOVER) != 0;
		life->broken = life->recovers || (wish & EVENT_RESET) != 0;
		state_tell(hal, port, HY_PORT_DOWN, why_leaving(wish));
	} else if ((wish & EVENT_RECOVER) != 0 && life->state == HY_PORT_DOWN) {
		life->broken = life->recovers = true;
	}
	back = life->state != HY_PORT_UP && returns(life, wish);
	if (!back && ((wish & EVENT_RESET) == 0 || life->state != HY_PORT_DOWN || life->held))
		return 0;
	rc = guards_ask(hal, port, error);
	if (rc < 0)
		return rc;
	if (!back)
		return port_reset(hal, port, ops, error);
	if ((wish & EVENT_START) == 0) /* as if it had been asked for a moment later */
		event_add(life, wish & EVENT_RESET);
	return port_up(hal, port, error);
}

/*
 * Takes down the ports that just came up, since one of them got no variant: others must not wait.
 */
static void
fresh_give_up(struct hy_hal *hal, const char *error)
{
	for (uint16_t p = 0; p < RTE_MAX_ETHPORTS; p++) {
		struct hy_port_life *life = &hal->life[p];

		if (!life->fresh || life->state != HY_PORT_UP)
			continue;
		life->fresh = false;
		life->held = true;
		state_tell(hal, p, HY_PORT_DOWN, error);
	}
}

int
hy_hal_poll(struct hy_hal *hal, struct hy_graph *const *graphs, unsigned int n,
	const struct hy_port_ops *ops, char *error)
{
	int rc = 0;

	events_take(hal);
	if (hal->reselect_due || hal->outdated) {
		const bool outdated = hal->outdated;

		/* A choice that no longer fits its port must not hold up others. */
		hal->keeps = hal->reselect_due;
		rc = hy_hal_reselect(hal, graphs, n, error);
		hal->keeps = false;
		/*
		 * If no port has to leave, nothing depends on the selection: report the error once.
		 */
		hal->outdated &= rc < 0 && rc != -ENOTSUP;
		if (rc == -ENOTSUP)
			fresh_give_up(hal, error);
		if (rc < 0 && hal->reselect_due)
			return rc;
		hal->reselect_due = false;
		for (uint16_t p = 0; p < RTE_MAX_ETHPORTS; p++)
			hal->life[p].fresh = false;
		if (rc == 0 && outdated && hal->selected.unfit)
			rc = -ENOTSUP;
	}
	if (!hy_hal_settle(hal, graphs, n))
		return rc < 0 ? rc : 1;
	for (uint16_t p = 0; p < RTE_MAX_ETHPORTS; p++) {
		const struct hy_port_life *life = &hal->life[p];
		int served = 0;

		if (life->wish != 0 || retry_due(life))
			served = port_serve(hal, p, ops, error);
		rc = rc < 0 ? rc : served;
	}
	return rc < 0 ? rc : hal->reselect_due;
}
