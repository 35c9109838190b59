/* SPDX-License-Identifier: BSD-3-Clause */
/* What ports count under load: they receive for some seconds, and drop all packets. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_mbuf.h>

#include <hy_file.h>

#include "report.h"

#define BURST 64

/* Statistics of a port at one time. */
struct sample {
	struct rte_eth_stats basic;
	struct rte_eth_xstat *values;
	struct rte_eth_xstat_name *names;
	int n;
};

struct load {
	uint16_t nb_queues; /* 0: the port does not run */
	int rc;             /* why not */
	uint64_t packets;   /* received */
	struct sample before, after;
};

static void
sample_take(uint16_t port, struct sample *s)
{
	rte_eth_stats_get(port, &s->basic);
	s->n = RTE_MAX(rte_eth_xstats_get_names(port, NULL, 0), 0);
	s->names = calloc((size_t)s->n + 1, sizeof(*s->names));
	s->values = calloc((size_t)s->n + 1, sizeof(*s->values));
	if (s->names == NULL || s->values == NULL ||
		rte_eth_xstats_get_names(port, s->names, (unsigned int)s->n) != s->n ||
		rte_eth_xstats_get(port, s->values, (unsigned int)s->n) != s->n)
		s->n = 0;
}

static void
sample_free(struct sample *s)
{
	free(s->names);
	free(s->values);
}

static void
poll_all(struct load loads[])
{
	struct rte_mbuf *packets[BURST];
	uint16_t port;

	RTE_ETH_FOREACH_DEV(port) {
		for (uint16_t q = 0; q < loads[port].nb_queues; q++) {
			const uint16_t n = rte_eth_rx_burst(port, q, packets, BURST);

			rte_pktmbuf_free_bulk(packets, n);
			loads[port].packets += n;
		}
	}
}

static void
load_run(struct load loads[], struct rte_mempool *pool, unsigned int seconds)
{
	struct rte_eth_dev_info info;
	uint64_t end;
	uint16_t port;

	RTE_ETH_FOREACH_DEV(port) {
		struct load *l = &loads[port];

		l->rc = rte_eth_dev_info_get(port, &info);
		if (l->rc == 0) {
			l->nb_queues = report_queues(&info);
			l->rc = port_start(port, l->nb_queues, pool);
		}
		if (l->rc != 0)
			l->nb_queues = 0;
		else
			sample_take(port, &l->before);
	}
	end = rte_get_tsc_cycles() + seconds * rte_get_tsc_hz();
	while (rte_get_tsc_cycles() < end)
		poll_all(loads);
	RTE_ETH_FOREACH_DEV(port) {
		if (loads[port].nb_queues == 0)
			continue;
		sample_take(port, &loads[port].after);
		rte_eth_dev_stop(port);
	}
}

/* The counters that changed. One may be missing in the first sample, if queues come and go. */
static void
extended_write(struct outline *o, const struct load *l)
{
	outline_open(o, "extended");
	for (int i = 0; i < l->after.n && i < l->before.n; i++) {
		const uint64_t change = l->after.values[i].value - l->before.values[i].value;
		char *const name = hy_printable(l->after.names[i].name);

		if (change == 0 || strcmp(name, hy_printable(l->before.names[i].name)) != 0)
			continue;
		for (char *c = name; (c = strpbrk(c, "\"\\")) != NULL;)
			*c = '?';
		outline_number(o, name, change);
	}
	outline_close(o);
}

static void
port_write(struct outline *o, uint16_t port, const struct load *l)
{
	const struct rte_eth_stats *a = &l->before.basic, *b = &l->after.basic;

	outline_item(o);
	outline_number(o, "port", port);
	if (l->nb_queues == 0) {
		outline_text(o, "error", "cannot be started: %s", report_errno(l->rc));
	} else {
		outline_number(o, "queues", l->nb_queues);
		outline_number(o, "received", l->packets);
		outline_open(o, "basic");
		outline_number(o, "ipackets", b->ipackets - a->ipackets);
		outline_number(o, "ibytes", b->ibytes - a->ibytes);
		outline_number(o, "imissed", b->imissed - a->imissed);
		outline_number(o, "ierrors", b->ierrors - a->ierrors);
		outline_number(o, "rx_nombuf", b->rx_nombuf - a->rx_nombuf);
		outline_number(o, "opackets", b->opackets - a->opackets);
		outline_number(o, "obytes", b->obytes - a->obytes);
		outline_number(o, "oerrors", b->oerrors - a->oerrors);
		outline_close(o);
		extended_write(o, l);
	}
	outline_close(o);
}

void
report_load(struct outline *o, struct rte_mempool *pool, unsigned int seconds)
{
	struct load *loads = calloc(RTE_MAX_ETHPORTS, sizeof(*loads));
	uint64_t packets = 0;
	uint16_t port;

	if (loads == NULL) {
		o->rc = -ENOMEM;
		return;
	}
	report_progress("load: all ports receive, for %u s", seconds);
	load_run(loads, pool, seconds);
	outline_open(o, "load");
	outline_number(o, "seconds", seconds);
	RTE_ETH_FOREACH_DEV(port) {
		packets += loads[port].packets;
	}
	outline_flag(o, "traffic", packets > 0);
	outline_list(o, "counted");
	RTE_ETH_FOREACH_DEV(port) {
		port_write(o, port, &loads[port]);
		sample_free(&loads[port].before);
		sample_free(&loads[port].after);
	}
	outline_list_close(o);
	outline_close(o);
	free(loads);
}
