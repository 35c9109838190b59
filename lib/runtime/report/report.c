/* SPDX-License-Identifier: BSD-3-Clause */
/* What a report reads: statistics, ports and workers. */

#include <stdio.h>

#include <rte_cycles.h>

#include <hy_hal_live.h>
#include <hy_report.h>

void
hy_report_port_add(struct hy_report *report, uint16_t port, const char *fed)
{
	struct hy_report_port *p = &report->ports[report->nb_ports++];
	struct rte_eth_dev_info info;

	*p = (struct hy_report_port){ .port = port, .state = "up" };
	snprintf(p->fed, sizeof(p->fed), "%s", fed);
	if (rte_eth_dev_info_get(port, &info) == 0 && info.driver_name != NULL)
		snprintf(p->driver, sizeof(p->driver), "%s", info.driver_name);
	rte_eth_macaddr_get(port, &p->mac);
}

void
hy_report_ends_add(struct hy_report *report, const struct hy_ends *ends)
{
	for (unsigned int i = 0; i < ends->nb_ports; i++) {
		char fed[HY_NAME_SIZE] = "";

		if (report->mode != NULL && report->mode->mode == HY_MODE_EVENTDEV)
			snprintf(fed, sizeof(fed), "%s-%u", ends->next, ends->ports[i]);
		hy_report_port_add(report, ends->ports[i], fed);
		if (ends->arc != NULL)
			snprintf(report->ports[report->nb_ports - 1].arc, HY_NAME_SIZE, "%s-%u",
				ends->arc, ends->ports[i]);
	}
	report->vlans = ends->vlans;
	report->nb_vlans = ends->nb_vlans;
}

void
hy_report_start(struct hy_report *report)
{
	report->start = report->last = rte_rdtsc();
}

const char *
hy_report_port_state(const struct hy_report *report, uint16_t port)
{
	static const char *const states[] = { [HY_PORT_UP] = "up",
		[HY_PORT_LEAVING] = "down",
		[HY_PORT_DOWN] = "down",
		[HY_PORT_GONE] = "gone" };

	return states[hy_hal_port_state(report->hal, port)];
}

static void
ports_read(struct hy_report *report)
{
	hy_ports_count();
	for (unsigned int i = 0; i < report->nb_ports; i++) {
		struct hy_report_port *p = &report->ports[i];

		p->state = hy_report_port_state(report, p->port);
		hy_port_status_read(p->port, &p->status);
	}
}

void
hy_report_worker_read(const struct hy_worker *worker, struct hy_report_worker *to)
{
	to->lcore = worker->lcore;
	hy_idle_read(&worker->idle, &to->rest);
	/* Read last, so that no more walks are idle than there are. */
	to->walks = __atomic_load_n(&worker->graph->walks, __ATOMIC_ACQUIRE);
}

static void
workers_read(struct hy_report *report)
{
	report->nb_workers = report->all->nb;
	for (unsigned int i = 0; i < report->nb_workers; i++)
		hy_report_worker_read(&report->all->worker[i], &report->workers[i]);
}

int
hy_report_read(struct hy_report *report)
{
	struct hy_stats *stats;
	const int rc = hy_stats_read(HY_WORKERS_GRAPHS, &stats);

	if (rc < 0)
		return rc;
	hy_report_free(report);
	report->stats = stats;
	report->seconds = report->interval = 0;
	ports_read(report);
	workers_read(report);
	return 0;
}

int
hy_report_read_between_walks(struct hy_report *report, unsigned int wait_us)
{
	const double hz = (double)rte_get_tsc_hz();
	struct hy_stats *stats;
	const int rc = hy_stats_read_between_walks(HY_WORKERS_GRAPHS, wait_us, &stats);
	const uint64_t now = rte_rdtsc();

	if (rc < 0)
		return rc;
	hy_stats_free(report->before);
	/* Rates count from the table before, or from the start. */
	report->before = report->last == report->start ? NULL : report->stats;
	if (report->before == NULL)
		hy_stats_free(report->stats);
	report->stats = stats;
	report->seconds = (double)(now - report->start) / hz;
	report->interval = (double)(now - report->last) / hz;
	report->last = now;
	ports_read(report);
	workers_read(report);
	return 0;
}

void
hy_report_free(struct hy_report *report)
{
	hy_stats_free(report->before);
	hy_stats_free(report->stats);
	report->before = report->stats = NULL;
}
