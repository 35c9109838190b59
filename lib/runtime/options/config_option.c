/* SPDX-License-Identifier: BSD-3-Clause */
/* The value of --config, its default, and what must hold for both. */

#include <errno.h>
#include <inttypes.h>

#include <rte_lcore.h>

#include "readers.h"

int
hy_config_read(const char *text, void *to)
{
	struct hy_port_options *o = to;
	const char *at = text;
	uint16_t field[3];

	o->nb_queues = 0;
	do {
		if (o->nb_queues == HY_QUEUES_MAX)
			return hy_option_refuse("--config", "more than %d queues", HY_QUEUES_MAX);
		if (at != text)
			at++;
		if (hy_option_tuple(&at, field, RTE_DIM(field)) < 0)
			break;
		o->queues[o->nb_queues++] = (struct hy_rx_queue){
			.port = field[0], .queue = field[1], .lcore = field[2]
		};
		if (*at == '\0')
			return 0;
	} while (*at == ',');
	return hy_option_refuse("--config", "'%s' is not (port,queue,lcore)[,...]", text);
}

/* Queue 0 of each port, dealt out to the workers in turn. */
static int
config_default(struct hy_port_options *o)
{
	unsigned int lcore = rte_get_next_lcore(-1, 1, 0);

	if (lcore == RTE_MAX_LCORE)
		return hy_option_refuse("--config",
			"there is no worker lcore; EAL's --lcores or -l must name two or more");
	for (unsigned int i = 0; i < o->nb_ports; i++) {
		o->queues[o->nb_queues++] = (struct hy_rx_queue){ .port = o->ports[i],
			.lcore = lcore };
		lcore = rte_get_next_lcore(lcore, 1, 1);
	}
	return 0;
}

/* The queues of a port are numbered from 0 without gaps; each is there once. */
static int
check_number(const struct hy_port_options *o, const struct hy_rx_queue *q)
{
	bool before = q->queue == 0;

	for (const struct hy_rx_queue *other = o->queues; other < o->queues + o->nb_queues;
		other++) {
		if (other->port != q->port)
			continue;
		before |= other->queue + 1 == q->queue;
		if (other < q && other->queue == q->queue)
			return hy_option_refuse("--config", "queue %u of port %u twice", q->queue,
				q->port);
	}
	return before ? 0
		      : hy_option_refuse("--config", "port %u has queue %u but not queue %u",
				q->port, q->queue, q->queue - 1);
}

int
hy_config_check(struct hy_port_options *o)
{
	int rc = o->nb_queues == 0 ? config_default(o) : 0;

	for (const struct hy_rx_queue *q = o->queues; q < o->queues + o->nb_queues && rc == 0;
		q++) {
		if (!hy_port_chosen(o, q->port))
			return hy_option_refuse("--config", "port %u is not in -p 0x%" PRIx64,
				q->port, o->mask);
		rc = hy_option_check_lcore("--config", q->lcore, "give the queue to a worker");
		if (rc == 0)
			rc = check_number(o, q);
	}
	return rc;
}
