/* SPDX-License-Identifier: BSD-3-Clause */
/* The l3fwd benchmark's floor: what is received is sent as it came, by the next port. */

#include <stdlib.h>

#include <rte_ethdev.h>

#include <hy_graph.h>

#include "l3fwd.h"

#define BURST HY_BURST_DEFAULT

static void
rxtx_run(void *arg, uint64_t turns)
{
	const struct l3fwd_rig *rig = arg;
	const uint16_t *port = rig->port[USERS_ALL], queue = (uint16_t)rig->lane;
	struct rte_mbuf *mbufs[BURST];

	while (turns-- > 0 && rig_pending(rig)) {
		for (unsigned int p = 0; p < rig->nb_ports; p++) {
			const uint16_t n = rte_eth_rx_burst(port[p], queue, mbufs, BURST);
			const unsigned int to = p + 1 < rig->nb_ports ? p + 1 : 0;

			if (n > 0)
				rte_eth_tx_burst(port[to], queue, mbufs, n);
		}
	}
}

static uint64_t
rxtx_drops(void *arg __rte_unused)
{
	return 0;
}

static void
rxtx_destroy(void *arg)
{
	free(arg);
}

struct l3fwd_way
rxtx_create(const struct l3fwd_rig *rig)
{
	struct l3fwd_rig *copy = malloc(sizeof(*copy));

	if (copy == NULL) {
		bench_cannot("no memory");
		return (struct l3fwd_way){ .name = "rxtx" };
	}
	*copy = *rig;
	return (struct l3fwd_way){ .name = "rxtx",
		.users = USERS_ALL,
		.run = rxtx_run,
		.drops = rxtx_drops,
		.destroy = rxtx_destroy,
		.burst = BURST,
		.arg = copy };
}
