/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ports say of themselves while they run. DPDK keeps the last link of a port that interrupts, so
 * that looking costs nothing; others ask their driver. Other threads read what was seen here, and ask
 * no driver: the port may be closed at that moment.
 */

#include <inttypes.h>
#include <pthread.h>

#include <rte_cycles.h>

#include "ports.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct watched {
	struct hy_port_status status; /* written by the control thread, under the lock */
	struct rte_eth_stats last;
	bool base_is_due; /* the driver did not say what it starts from */
	bool interrupts;
} watched[RTE_MAX_ETHPORTS];

static void
tell(uint16_t port, const struct hy_port_status *status, FILE *out)
{
	if (!status->link_up)
		fprintf(out, "port %u: link down\n", port);
	else if (status->link_mbps == 0)
		fprintf(out, "port %u: link up\n", port);
	else
		fprintf(out, "port %u: link up, %" PRIu32 " Mbit/s%s\n", port, status->link_mbps,
			status->link_half_duplex ? ", half duplex" : "");
	fflush(out);
}

static void
link_look(uint16_t port, FILE *out)
{
	struct watched *w = &watched[port];
	struct hy_port_status now = w->status;
	struct rte_eth_link link;
	bool changed, first;

	if (rte_eth_link_get_nowait(port, &link) < 0)
		return;
	now.link_up = link.link_status == RTE_ETH_LINK_UP;
	now.link_mbps = link.link_speed == RTE_ETH_SPEED_NUM_UNKNOWN ? 0 : link.link_speed;
	now.link_half_duplex = link.link_duplex == RTE_ETH_LINK_HALF_DUPLEX;
	now.link_known = true;
	changed = w->status.link_known && now.link_up != w->status.link_up;
	first = !w->status.link_known;
	now.link_changes += changed;
	pthread_mutex_lock(&lock);
	w->status = now;
	pthread_mutex_unlock(&lock);
	/* A link that is down from the start is told too. */
	if (out != NULL && (changed || (first && !now.link_up)))
		tell(port, &now, out);
}

/* Adds what a counter has gained. One that is less than before has begun again. */
static void
gain(uint64_t *total, uint64_t last, uint64_t now)
{
	*total += now >= last ? now - last : now;
}

static void
count(uint16_t port)
{
	struct watched *w = &watched[port];
	struct rte_eth_stats now;

	if (rte_eth_stats_get(port, &now) < 0)
		return;
	if (w->base_is_due) {
		w->base_is_due = false;
		w->last = now;
		return;
	}
	pthread_mutex_lock(&lock);
	gain(&w->status.missed, w->last.imissed, now.imissed);
	gain(&w->status.no_mbuf, w->last.rx_nombuf, now.rx_nombuf);
	gain(&w->status.rx_errors, w->last.ierrors, now.ierrors);
	gain(&w->status.tx_errors, w->last.oerrors, now.oerrors);
	pthread_mutex_unlock(&lock);
	w->last = now;
}

/* Whether the driver of a port may be asked. */
static bool
answers(const struct hy_hal *hal, uint16_t port)
{
	return hy_ports[port].started && hy_hal_port_state(hal, port) != HY_PORT_LEAVING &&
		hy_hal_port_answers(hal, port) && rte_eth_dev_is_valid_port(port);
}

void
hy_port_watch_count(const struct hy_hal *hal)
{
	for (uint16_t p = 0; p < RTE_MAX_ETHPORTS; p++)
		if (answers(hal, p))
			count(p);
}

void
hy_port_watch_base(uint16_t port)
{
	struct rte_eth_stats now;

	watched[port].base_is_due = rte_eth_stats_get(port, &now) < 0;
	if (!watched[port].base_is_due)
		watched[port].last = now;
}

void
hy_port_watch_new(uint16_t port)
{
	pthread_mutex_lock(&lock);
	watched[port] = (struct watched){ 0 };
	pthread_mutex_unlock(&lock);
}

void
hy_port_leave(uint16_t port)
{
	struct hy_port_status *status = &watched[port].status;

	pthread_mutex_lock(&lock);
	status->link_known = status->link_up = status->link_half_duplex = false;
	status->link_mbps = 0;
	pthread_mutex_unlock(&lock);
}

void
hy_port_was_reset(uint16_t port)
{
	pthread_mutex_lock(&lock);
	watched[port].status.resets++;
	pthread_mutex_unlock(&lock);
}

void
hy_port_watch(const struct hy_hal *hal, FILE *out)
{
	static uint64_t next;
	const uint64_t now = rte_rdtsc();
	const bool due = now >= next;
	struct rte_eth_conf conf;

	if (due)
		next = now + rte_get_tsc_hz();
	for (uint16_t p = 0; p < RTE_MAX_ETHPORTS; p++) {
		if (!hy_ports[p].started || hy_hal_port_state(hal, p) != HY_PORT_UP)
			continue;
		if (due)
			watched[p].interrupts = rte_eth_dev_conf_get(p, &conf) == 0 &&
				conf.intr_conf.lsc != 0;
		if (due || watched[p].interrupts || !watched[p].status.link_known)
			link_look(p, out);
		if (due)
			count(p);
	}
}

const char *
hy_port_link(const struct hy_port_status *status)
{
	if (!status->link_known)
		return "unknown";
	return status->link_up ? "up" : "down";
}

void
hy_port_status_read(uint16_t port, struct hy_port_status *status)
{
	if (port >= RTE_MAX_ETHPORTS) {
		*status = (struct hy_port_status){ 0 };
		return;
	}
	pthread_mutex_lock(&lock);
	*status = watched[port].status;
	pthread_mutex_unlock(&lock);
}
