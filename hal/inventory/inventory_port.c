/* SPDX-License-Identifier: BSD-3-Clause */
/* What a port can do. */

#include <errno.h>
#include <string.h>

#include <rte_mbuf_pool_ops.h>

#include "hal/internal/hal.h"

/*
 * Whether packet_type can be trusted to mean "IPv4 right behind the Ethernet header". A driver that
 * knows IPv4 but not VLAN may say IPv4 of a tagged frame, so both are asked for.
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
		hy_cap_fill(cap, HY_LEVEL_NO, 0, "the driver's packet types do not have IPv4");
	else if (!vlan)
		hy_cap_fill(cap, HY_LEVEL_NO, 0, "the driver's packet types do not tell VLAN tags");
	else
		hy_cap_fill(cap, HY_LEVEL_YES, 0,
			"the driver's packet types tell IPv4 and VLAN tags");
}

static void
probe_offloads(const struct rte_eth_dev_info *info, struct hy_capability *caps)
{
	static const struct {
		enum hy_cap cap;
		bool rx;
		uint64_t flag;
		const char *name;
	} offloads[] = {
		{ HY_CAP_RX_CHECKSUM_IP4, true, RTE_ETH_RX_OFFLOAD_IPV4_CKSUM, "IPV4_CKSUM" },
		{ HY_CAP_RX_SCATTER, true, RTE_ETH_RX_OFFLOAD_SCATTER, "SCATTER" },
		{ HY_CAP_TX_CHECKSUM_IP4, false, RTE_ETH_TX_OFFLOAD_IPV4_CKSUM, "IPV4_CKSUM" },
		{ HY_CAP_TX_SEGMENTS, false, RTE_ETH_TX_OFFLOAD_MULTI_SEGS, "MULTI_SEGS" },
		{ HY_CAP_TX_FAST_FREE, false, RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE, "MBUF_FAST_FREE" },
	};

	for (unsigned int i = 0; i < RTE_DIM(offloads); i++) {
		const uint64_t capa = offloads[i].rx ? info->rx_offload_capa
						     : info->tx_offload_capa;
		const bool has = (capa & offloads[i].flag) != 0;

		hy_cap_fill(&caps[offloads[i].cap], has ? HY_LEVEL_YES : HY_LEVEL_NO, 0,
			has ? "the driver offers %s" : "the driver does not offer %s",
			offloads[i].name);
	}
}

/* Some devices receive into pools of their own kind only. */
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
 * Whether marks of flow rules reach the packets. Drivers that want to be told before the port is
 * configured are told now: it is how to ask them. What they answered holds from then on.
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

/* What another device owns (bonding, failsafe) is that device's. */
static bool
is_ours(const struct hy_hal_port *port, uint16_t id)
{
	return !port->ignored && rte_eth_find_next_owned_by(id, RTE_ETH_DEV_NO_OWNER) == id;
}

static void
probe_device(struct hy_hal_device *dev, const struct rte_eth_dev_info *info,
	const struct hy_hal_device *old)
{
	const uint16_t id = dev->target.id;
	struct hy_capability *caps = dev->caps;

	hy_cap_fill(&caps[HY_CAP_RX_QUEUES], HY_LEVEL_YES, info->max_rx_queues,
		"the driver's limit");
	hy_cap_fill(&caps[HY_CAP_TX_QUEUES], HY_LEVEL_YES, info->max_tx_queues,
		"the driver's limit");
	probe_ptypes(id, &caps[HY_CAP_RX_PTYPE_IP4]);
	probe_offloads(info, caps);
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
	if (is_ours(port, id))
		rc = rte_eth_dev_info_get(id, &info);
	if (rc == -EIO && old.present) {
		/* Pulled out, and not closed yet: it is known, but of no use. */
		port->present = true;
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
