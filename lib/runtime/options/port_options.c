/* SPDX-License-Identifier: BSD-3-Clause */
/* Options for ports, queues and idle workers: see hy_port_options.h. */

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_lcore.h>

#include "readers.h"

static int
read_mask(const char *text, void *to)
{
	struct hy_port_options *o = to;
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 16);
	if (!isxdigit((unsigned char)*text) || *end != '\0' || errno != 0 || value == 0)
		return hy_option_refuse("-p",
			"'%s' is not a mask of ports in hexadecimal, such as 0x3", text);
	o->mask = value;
	o->nb_ports = 0;
	for (uint16_t p = 0; p < 64; p++) {
		if ((value >> p & 1) == 0)
			continue;
		if (p >= RTE_MAX_ETHPORTS ||
			rte_eth_find_next_owned_by(p, RTE_ETH_DEV_NO_OWNER) != p)
			return hy_option_refuse("-p", "'%s' names port %u; %u ports are available",
				text, p, rte_eth_dev_count_avail());
		o->ports[o->nb_ports++] = p;
	}
	return 0;
}

static int
read_budget(const char *text, void *to)
{
	struct hy_port_options *o = to;
	unsigned int p = 0, n = 0;

	if (hy_option_number_before("--rx-budget", &text, '=', "PORT=PACKETS", RTE_MAX_ETHPORTS - 1,
		    &p) < 0 ||
		hy_option_number("--rx-budget", text, 1, HY_BURST_MAX, &n) < 0)
		return -EINVAL;
	o->budget[p] = (uint16_t)n;
	return 0;
}

static int
read_idle(const char *text, void *to)
{
	static const char *const modes[] = {
		[HY_IDLE_POLL] = "poll", [HY_IDLE_PAUSE] = "pause", [HY_IDLE_SLEEP] = "interrupt"
	};
	struct hy_port_options *o = to;
	const size_t len = strcspn(text, ":");

	for (unsigned int m = 0; m < RTE_DIM(modes); m++) {
		if (strlen(modes[m]) != len || strncmp(text, modes[m], len) != 0)
			continue;
		o->idle = (enum hy_idle_mode)m;
		if (text[len] == '\0')
			return 0;
		if (m != HY_IDLE_SLEEP)
			return hy_option_refuse("--idle", "'%s': only interrupt has microseconds",
				text);
		return hy_option_number("--idle", text + len + 1, 1, 1000000, &o->wait_us);
	}
	return hy_option_refuse("--idle", "'%s' is not poll, pause, interrupt or interrupt:USEC",
		text);
}

/* Budgets are for ports that workers poll, and within the burst. Writes them to the queues. */
static int
check_budget(struct hy_port_options *o, uint16_t port)
{
	bool polled = false;

	if (!hy_port_chosen(o, port))
		return hy_option_refuse("--rx-budget", "port %u is not in -p 0x%" PRIx64, port,
			o->mask);
	for (unsigned int q = 0; q < o->nb_queues; q++) {
		if (o->queues[q].port != port)
			continue;
		o->queues[q].budget = o->budget[port];
		polled = true;
	}
	if (!polled)
		return hy_option_refuse("--rx-budget", "no queue of port %u is in --config", port);
	if (o->budget[port] > o->burst)
		return hy_option_refuse("--rx-budget",
			"%u packets of port %u are more than the burst; 1 to %u are accepted",
			o->budget[port], port, o->burst);
	return 0;
}

static int
check(void *to)
{
	struct hy_port_options *o = to;
	int rc;

	if (o->mask == 0)
		return hy_option_refuse("-p",
			"is required: a mask of ports in hexadecimal, such as 0x3");
	rc = hy_config_check(o);
	for (uint16_t p = 0; p < RTE_MAX_ETHPORTS && rc == 0; p++)
		if (o->budget[p] > 0)
			rc = check_budget(o, p);
	return rc;
}

#define AT(field) offsetof(struct hy_port_options, field)

static const struct hy_option options[] = {
	{ "p", HY_OPTION_READ, .read = read_mask, .value = "MASK",
		.help = "ports to use, in hexadecimal" },
	{ "P", HY_OPTION_SET, AT(promiscuous), .help = "promiscuous mode" },
	{ "config", HY_OPTION_READ, .read = hy_config_read, .value = "=(P,Q,L)[,(P,Q,L)]",
		.help = "lcore L polls receive queue Q of port P (default: queue 0 of each port, over "
			"all workers)" },
	{ "max-pkt-len", HY_OPTION_NUMBER, AT(max_len), "N", .min = 64, .max = 9600,
		.help = "longest frame, with CRC (64 to 9600, default 1518)" },
	{ "no-numa", HY_OPTION_CLEAR, AT(numa),
		.help = "one packet pool and table for all NUMA nodes" },
	{ "per-port-pool", HY_OPTION_SET, AT(own_pools), .help = "a packet pool for each port" },
	{ "burst", HY_OPTION_NUMBER, AT(burst), "N", .min = 1, .max = HY_BURST_MAX,
		.help = "packets taken from a queue at a time (1 to 256, default 64)" },
	{ "rx-budget", HY_OPTION_READ, .read = read_budget, .value = "P=N",
		.help = "take at most N packets from a queue of port P before polling other queues (1 "
			"to the burst)",
		.excludes = "mode=eventdev",
		.why = "an event device mixes the packets of all ports" },
	{ "idle", HY_OPTION_READ, .read = read_idle, .value = "MODE[:USEC]",
		.help = "workers without packets keep polling (poll, the default), pause between polls "
			"(pause), or sleep until a packet arrives, for USEC at most (interrupt)" },
};

struct hy_option_group
hy_port_options(struct hy_port_options *o)
{
	*o = (struct hy_port_options){ .burst = HY_BURST_DEFAULT,
		.numa = true,
		.max_len = RTE_ETHER_MAX_LEN,
		.wait_us = hy_idle_defaults.wait_us };
	return (struct hy_option_group){ "Ports and workers", options, RTE_DIM(options), o, check };
}

struct hy_ends
hy_port_ends(const struct hy_port_options *o, unsigned int nb_workers)
{
	return (struct hy_ends){ .ports = o->ports,
		.nb_ports = o->nb_ports,
		.queues = o->queues,
		.nb_queues = o->nb_queues,
		.nb_workers = nb_workers };
}

/* How many workers receive a port's frames. */
static uint16_t
share(const struct hy_port_options *o, uint16_t port)
{
	uint16_t n = 0;

	for (unsigned int q = 0; q < o->nb_queues; q++) {
		bool before = o->queues[q].port != port;

		for (unsigned int i = 0; i < q && !before; i++)
			before = o->queues[i].port == port &&
				o->queues[i].lcore == o->queues[q].lcore;
		n += !before;
	}
	return n;
}

void
hy_port_shares(const struct hy_port_options *o, uint16_t shares[])
{
	for (unsigned int i = 0; i < o->nb_ports; i++)
		shares[i] = RTE_MAX(share(o, o->ports[i]), 1);
}

int
hy_option_check_lcore(const char *option, unsigned int lcore, const char *advice)
{
	if (!rte_lcore_is_enabled(lcore))
		return hy_option_refuse(option, "lcore %u is not enabled; see EAL's --lcores",
			lcore);
	if (lcore == rte_get_main_lcore())
		return hy_option_refuse(option,
			"lcore %u is the main lcore, which controls and prints; %s", lcore, advice);
	return 0;
}
