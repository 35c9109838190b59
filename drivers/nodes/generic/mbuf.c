/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets as objects of a graph. */

#include <string.h>

#include <hy_mbuf.h>

#include "ethdev_rx.h"

static void
mbuf_release(void **objs, unsigned int n)
{
	rte_pktmbuf_free_bulk((struct rte_mbuf **)objs, n);
}

const struct hy_object_ops hy_mbuf_ops = {
	.release = mbuf_release,
	.arm = ethdev_arm,
	.wait = ethdev_wait,
};

void
hy_mbuf_poke(struct rte_mbuf *m, const uint8_t *bytes, uint32_t n)
{
	for (; n > 0; m = m->next) {
		const uint32_t here = RTE_MIN(n, (uint32_t)m->data_len);

		memcpy(rte_pktmbuf_mtod(m, void *), bytes, here);
		bytes += here;
		n -= here;
	}
}
