/* SPDX-License-Identifier: BSD-3-Clause */
/* The value of --config, (P,Q,L)[,(P,Q,L)]; its default, and what must hold of both. */

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_lcore.h>

#include "option.h"
#include "options.h"

static const char *
skip_space(const char **text)
{
	*text += strspn(*text, " \t");
	return *text;
}

/* One "(port,queue,lcore)", with blanks and hexadecimal as DPDK has it; *text moves behind it. */
static int
read_queue(const char **text, struct hy_rx_queue *queue)
{
	unsigned long field[3];
	const char *at = *text;

	for (unsigned int i = 0; i < 3; i++) {
		char *end;

		if (*skip_space(&at) != (i == 0 ? '(' : ','))
			return -1;
		at++;
		if (!isdigit((unsigned char)*skip_space(&at)))
			return -1;
		errno = 0;
		field[i] = strtoul(at, &end, 0);
		if (errno != 0 || field[i] > UINT16_MAX)
			return -1;
		at = end;
	}
	if (*skip_space(&at) != ')')
		return -1;
	at++;
	queue->port = (uint16_t)field[0];
	queue->queue = (uint16_t)field[1];
	queue->lcore = (unsigned int)field[2];
	*text = at;
	return 0;
}

int
option_read_config(const char *text, struct options *options)
{
	const char *at = text;

	options->nb_queues = 0;
	do {
		if (options->nb_queues == QUEUES_MAX)
			return hy_option_refuse("--config", "more than %d queues", QUEUES_MAX);
		if (at != text)
			at++;
		if (read_queue(&at, &options->queues[options->nb_queues++]) < 0)
			return hy_option_refuse("--config", "'%s' is not (port,queue,lcore)[,...]",
				text);
	} while (*skip_space(&at) == ',');
	if (*at != '\0')
		return hy_option_refuse("--config", "'%s' is not (port,queue,lcore)[,...]", text);
	return 0;
}

/* Queue 0 of every port, dealt out to the workers in turn. */
int
option_default_config(struct options *options)
{
	unsigned int lcore = rte_get_next_lcore(-1, 1, 0);
	uint16_t p;

	RTE_ETH_FOREACH_DEV(p) {
		if (!port_enabled(options, p))
			continue;
		if (lcore == RTE_MAX_LCORE)
			return hy_option_refuse("--config",
				"there is no worker lcore; EAL's --lcores or -l "
				"must name two or more");
		options->queues[options->nb_queues++] = (struct hy_rx_queue){ .port = p,
			.lcore = lcore };
		lcore = rte_get_next_lcore(lcore, 1, 1);
	}
	return 0;
}

/* Each queue once, from 0 on without a gap, of an enabled port, on a worker. */
int
option_check_config(const struct options *options)
{
	for (unsigned int i = 0; i < options->nb_queues; i++) {
		const struct hy_rx_queue *q = &options->queues[i];
		bool before = q->queue == 0;

		if (!port_enabled(options, q->port))
			return hy_option_refuse("--config", "port %u is not in -p 0x%x", q->port,
				options->ports);
		if (!rte_lcore_is_enabled(q->lcore))
			return hy_option_refuse("--config",
				"lcore %u is not enabled; see EAL's --lcores", q->lcore);
		if (q->lcore == rte_get_main_lcore())
			return hy_option_refuse("--config",
				"lcore %u is the main lcore, which controls and prints; "
				"give the queue to a worker",
				q->lcore);
		for (unsigned int j = 0; j < options->nb_queues; j++) {
			const struct hy_rx_queue *other = &options->queues[j];

			if (other->port != q->port)
				continue;
			before |= other->queue + 1 == q->queue;
			if (j < i && other->queue == q->queue)
				return hy_option_refuse("--config", "queue %u of port %u twice",
					q->queue, q->port);
		}
		if (!before)
			return hy_option_refuse("--config", "port %u has queue %u but not queue %u",
				q->port, q->queue, q->queue - 1);
	}
	return 0;
}
