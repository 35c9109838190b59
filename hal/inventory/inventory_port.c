/* SPDX-License-Identifier: BSD-3-Clause */
/* What a port can do. */

#include <errno.h>
#include <string.h>

#include <rte_mbuf_pool_ops.h>

#include "hal/internal/hal.h"

/*
 * Whether packet_type says reliably that IPv4 directly follows the Ethernet header. A driver that
 * reports IPv4 but not VLAN may report IPv4 for a tagged frame, so both are required.
 */
static void
probe_ptypes(uint16_t port, struct hy_capability *cap)
{
	uint32_t ptypes[64];
	bool ip4 = false, vlan = false;
	const int n = rte_eth_dev_get_supported_ptypes(port, RTE_PTYPE_L2_MASK | RTE_PTYPE_L3_MASK,
		ptypes, RTE_DIM(ptypes));

	for (int i = 0; i < RTE_MIN(n, (int)RTE_DIM(ptypes)); i++) {
		ip4 |= RTE_ETH_IS_IPV4_HDR(ptypes[i]) != 0;
		vlan |= (ptypes[i] & RTE_PTYPE_L2_MASK) == RTE_PTYPE_L2_ETHER_VLAN;
	}
	if (n <= 0)
		hy_cap_fill(cap, HY_LEVEL_UNKNOWN, 0, "the driver names no packet types");
	else if (!ip4)
		hy_cap_fill(cap, HY_LEVEL_NO, 0, "the driver's packet types do not include IPv4");
	else if (!vlan)
		hy_cap_fill(cap, HY_LEVEL_NO, 0,
			"the driver's packet types do not distinguish VLAN tags");
	else
		hy_cap_fill(cap, HY_LEVEL_YES, 0,
			"the driver's packet types distinguish IPv4 and VLAN tags");
}

#define RX(cap, flag) HY_CAP_FLAG(HY_CAP_RX_##cap, RTE_ETH_RX_OFFLOAD_, flag)
#define TX(cap, flag) HY_CAP_FLAG(HY_CAP_TX_##cap, RTE_ETH_TX_OFFLOAD_, flag)

static const struct hy_cap_flag rx_offloads[] = { RX(CHECKSUM_IP4, IPV4_CKSUM),
	RX(SCATTER, SCATTER) };
static const struct hy_cap_flag tx_offloads[] = { TX(CHECKSUM_IP4, IPV4_CKSUM),
	TX(SEGMENTS, MULTI_SEGS), TX(FAST_FREE, MBUF_FAST_FREE) };

/* Some devices receive only into pools of their own kind. */
static void
probe_pools(uint16_t port, struct hy_capability *cap)
{
	const char *ops = rte_mbuf_best_mempool_ops();

	if (rte_eth_dev_pool_ops_supported(port, ops) >= 0)
		hy_cap_fill(cap, HY_LEVEL_YES, 0, "the driver takes pools of %s", ops);
	else
		hy_cap_fill(cap, HY_LEVEL_NO, 0, "the driver takes no pools of %s", ops);
}

/*
 * Whether marks of flow rules reach the packets. To ask a driver is to negotiate, which is possible
 * only before the port is configured. The answer stays valid.
 */
static void
probe_mark(uint16_t port, const struct hy_hal_device *old, struct hy_capability *cap)
{
	uint64_t features = RTE_ETH_RX_METADATA_USER_MARK;
	int rc;

	if (old != NULL) {
		*cap = old->caps[HY_CAP_RX_METADATA_MARK];
		return;
	}
	rc = rte_eth_rx_metadata_negotiate(port, &features);
	if (rc == -EBUSY)
		hy_cap_fill(cap, HY_LEVEL_UNKNOWN, 0, "too late to ask: the port is configured");
	else if (rc < 0)
		hy_cap_fill(cap, HY_LEVEL_UNKNOWN, 0, "the driver cannot be asked: %s",
			strerror(-rc));
	else if ((features & RTE_ETH_RX_METADATA_USER_MARK) == 0)
		hy_cap_fill(cap, HY_LEVEL_NO, 0, "the driver was asked, and refused");
	else
		hy_cap_fill(cap, HY_LEVEL_YES, 0, "the driver was asked, and agreed");
	cap->origin = HY_ORIGIN_PROBED;
}

static void
probe_device(struct hy_hal_device *dev, const struct rte_eth_dev_info *info,
	const struct hy_hal_device *old)
{
	const uint16_t id = dev->target.id;
	struct hy_capability *caps = dev->caps;

	hy_cap_limit(&caps[HY_CAP_RX_QUEUES], info->max_rx_queues);
	hy_cap_limit(&caps[HY_CAP_TX_QUEUES], info->max_tx_queues);
	probe_ptypes(id, &caps[HY_CAP_RX_PTYPE_IP4]);
	hy_cap_flags(caps, info->rx_offload_capa, rx_offloads, RTE_DIM(rx_offloads));
	hy_cap_flags(caps, info->tx_offload_capa, tx_offloads, RTE_DIM(tx_offloads));
	probe_pools(id, &caps[HY_CAP_ANY_POOL]);
	probe_mark(id, old, &caps[HY_CAP_RX_METADATA_MARK]);
	for (enum hy_cap c = HY_CAP_FLOW_MARK; c <= HY_CAP_FLOW_PRIORITY; c++)
		hy_cap_fill(&caps[c], HY_LEVEL_UNKNOWN, 0,
			"not tried: it needs a port that is started");
	hy_cap_fill(&caps[HY_CAP_RUNNING], HY_LEVEL_YES, 0, "no reset or removal was seen");
}

void
hy_probe_port(struct hy_hal_port *port, uint16_t id)
{
	const struct hy_hal_port old = *port;
	struct hy_hal_device *dev = &port->dev;
	struct rte_eth_dev_info info;
	int rc = -ENODEV;

	port->present = false;
	/* Used, and not owned by another device (bonding, failsafe). */
	if (!port->ignored && rte_eth_find_next_owned_by(id, RTE_ETH_DEV_NO_OWNER) == id)
		rc = rte_eth_dev_info_get(id, &info);
	/* A driver that is busy with its firmware tells nothing: what was known stays. */
	port->present = rc < 0 && rc != -ENODEV && old.present;
	if (rc == -EIO && old.present) {
		/* Unplugged, but not closed yet: still known, but unusable. */
		hy_cap_fill(&dev->caps[HY_CAP_RUNNING], HY_LEVEL_NO, 0, "the device was removed");
		dev->caps[HY_CAP_RUNNING].origin = HY_ORIGIN_OBSERVED;
	}
	if (rc < 0)
		return;
	port->present = true;
	hy_device_blank(dev, (struct hy_target){ .kind = HY_TARGET_PORT, .id = id });
	rte_eth_dev_get_name_by_port(id, dev->name);
	snprintf(dev->driver, sizeof(dev->driver), "%s",
		info.driver_name == NULL ? "?" : info.driver_name);
	probe_device(dev, &info,
		old.present && strcmp(old.dev.name, dev->name) == 0 ? &old.dev : NULL);
}
