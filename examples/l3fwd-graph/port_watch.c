/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DPDK keeps the last link of a port that interrupts, so that looking costs nothing; others ask
 * their driver. Telemetry's thread reads what was seen here, and asks no driver: the port may be
 * closed at that moment.
 */

#include <inttypes.h>
#include <pthread.h>

#include <rte_cycles.h>

#include "port_watch.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct watched {
	struct port_view view; /* written by the control thread, under the lock */
	struct rte_eth_stats last;
	bool interrupts;
} watched[RTE_MAX_ETHPORTS];

bool
port_watch_interrupts(const struct options *options, const struct rte_eth_dev_info *info)
{
	/* Some devices have one vector for all: then receive interrupts get it. */
	return info->dev_flags != NULL && (*info->dev_flags & RTE_ETH_DEV_INTR_LSC) != 0 &&
		(options->idle != IDLE_INTERRUPT || options->event.on);
}

static void
tell(uint16_t port, const struct port_view *view, FILE *people)
{
	if (!view->link_up)
		fprintf(people, "port %u: link down\n", port);
	else if (view->link_mbps == 0)
		fprintf(people, "port %u: link up\n", port);
	else
		fprintf(people, "port %u: link up, %" PRIu32 " Mbit/s%s\n", port, view->link_mbps,
			view->link_half_duplex ? ", half duplex" : "");
	fflush(people);
}

static void
link_look(uint16_t port, FILE *people)
{
	struct watched *w = &watched[port];
	struct port_view view = w->view;
	struct rte_eth_link link;
	bool changed, first;

	if (rte_eth_link_get_nowait(port, &link) < 0)
		return;
	view.link_up = link.link_status == RTE_ETH_LINK_UP;
	view.link_mbps = link.link_speed == RTE_ETH_SPEED_NUM_UNKNOWN ? 0 : link.link_speed;
	view.link_half_duplex = link.link_duplex == RTE_ETH_LINK_HALF_DUPLEX;
	view.link_known = true;
	changed = w->view.link_known && view.link_up != w->view.link_up;
	first = !w->view.link_known;
	view.link_changes += changed;
	pthread_mutex_lock(&lock);
	w->view = view;
	pthread_mutex_unlock(&lock);
	/* A link that is down from the start is told too. */
	if (changed || (first && !view.link_up))
		tell(port, &view, people);
}

/* Adds what a counter has gained; a reset sets it back to 0. */
static void
gain(uint64_t *total, uint64_t last, uint64_t now)
{
	*total += now >= last ? now - last : now;
}

void
port_watch_count(uint16_t port)
{
	struct watched *w = &watched[port];
	struct rte_eth_stats now;

	if (!rte_eth_dev_is_valid_port(port) || rte_eth_stats_get(port, &now) < 0)
		return;
	pthread_mutex_lock(&lock);
	gain(&w->view.missed, w->last.imissed, now.imissed);
	gain(&w->view.no_mbuf, w->last.rx_nombuf, now.rx_nombuf);
	gain(&w->view.rx_errors, w->last.ierrors, now.ierrors);
	gain(&w->view.tx_errors, w->last.oerrors, now.oerrors);
	pthread_mutex_unlock(&lock);
	w->last = now;
}

void
port_watch_leave(uint16_t port)
{
	struct port_view *view = &watched[port].view;

	port_watch_count(port);
	pthread_mutex_lock(&lock);
	view->link_known = view->link_up = view->link_half_duplex = false;
	view->link_mbps = 0;
	pthread_mutex_unlock(&lock);
}

static bool
link_interrupts(uint16_t port)
{
	struct rte_eth_conf conf;

	return rte_eth_dev_conf_get(port, &conf) == 0 && conf.intr_conf.lsc != 0;
}

void
port_watch_poll(const struct options *options, const struct hy_hal *hal, FILE *people)
{
	static uint64_t next;
	const uint64_t now = rte_rdtsc();
	const bool due = now >= next;

	if (due)
		next = now + rte_get_tsc_hz();
	for (uint16_t p = 0; p < RTE_MAX_ETHPORTS; p++) {
		if (!port_enabled(options, p) || hy_hal_port_state(hal, p) != HY_PORT_UP)
			continue;
		if (due)
			watched[p].interrupts = link_interrupts(p);
		if (due || watched[p].interrupts || !watched[p].view.link_known)
			link_look(p, people);
		if (due)
			port_watch_count(p);
	}
}

const char *
port_watch_link(const struct port_view *view)
{
	if (!view->link_known)
		return "unknown";
	return view->link_up ? "up" : "down";
}

void
port_watch_view(uint16_t port, struct port_view *view)
{
	pthread_mutex_lock(&lock);
	*view = watched[port].view;
	pthread_mutex_unlock(&lock);
}
