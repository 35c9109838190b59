/* SPDX-License-Identifier: BSD-3-Clause */
/* Known facts about drivers that neither the drivers nor probes report. */

#include <fnmatch.h>

#include <rte_version.h>

#include "quirk.h"

#define DPDK(year, month) RTE_VERSION_NUM(year, month, 0, 0)

static const struct hy_quirk quirks[] = {
	/* These drivers deliver marks without negotiation, which they do not implement. */
	{ .drivers = { "mlx5_pci", "mlx5_auxiliary" },
		.before = DPDK(23, 7),
		.cap = HY_CAP_RX_METADATA_MARK,
		.level = HY_LEVEL_YES,
		.reason =
			"rules that mark turn it on: flow_drv_rxq_flags_set(), mlx5_flow.c, 22.11" },
	{ .drivers = { "net_cn9k", "net_cn10k", "net_cn20k" },
		.from = DPDK(23, 3),
		.cap = HY_CAP_RX_METADATA_MARK,
		.level = HY_LEVEL_YES,
		.reason = "rules that mark turn it on: cn10k_flow_create(), cn10k_flow.c, 24.11" },
	{ .drivers = { "net_i40e" },
		.cap = HY_CAP_RX_METADATA_MARK,
		.level = HY_LEVEL_YES,
		.reason = "always on: i40e_rxd_build_fdir(), i40e_rxtx.c, 22.11" },
	{ .drivers = { "net_ice" },
		.cap = HY_CAP_RX_METADATA_MARK,
		.level = HY_LEVEL_YES,
		.reason = "always on: ice_rxd_to_pkt_fields_by_comms_ovs(), ice_rxtx.c, 22.11" },
	{ .drivers = { "net_iavf" },
		.cap = HY_CAP_RX_METADATA_MARK,
		.level = HY_LEVEL_YES,
		.reason = "rules that mark turn it on: iavf_fdir_create(), iavf_fdir.c, 22.11" },

	/* If the PF grants more, the user can override the limit. */
	{ .drivers = { "net_iavf" },
		.before = DPDK(26, 3),
		.cap = HY_CAP_RX_QUEUES,
		.level = HY_LEVEL_YES,
		.most = 16,
		.reason =
			"more only if the PF grants them: iavf_dev_configure(), iavf_ethdev.c, 22.11" },
	{ .drivers = { "net_iavf" },
		.before = DPDK(26, 3),
		.cap = HY_CAP_TX_QUEUES,
		.level = HY_LEVEL_YES,
		.most = 16,
		.reason =
			"more only if the PF grants them: iavf_dev_configure(), iavf_ethdev.c, 22.11" },

	/* Before 24.03, event devices could not report their schedule types. */
	{ .drivers = { "event_sw", "event_dsw", "event_cn*k", "event_dlb2*_pf" },
		.before = DPDK(24, 3),
		.cap = HY_CAP_EVENT_ATOMIC,
		.level = HY_LEVEL_YES,
		.reason = "as the driver says itself from DPDK 24.03 on" },
	{ .drivers = { "event_sw", "event_dsw", "event_cn*k", "event_dlb2*_pf" },
		.before = DPDK(24, 3),
		.cap = HY_CAP_EVENT_PARALLEL,
		.level = HY_LEVEL_YES,
		.reason = "as the driver says itself from DPDK 24.03 on" },
	{ .drivers = { "event_sw", "event_cn*k", "event_dlb2*_pf" },
		.before = DPDK(24, 3),
		.cap = HY_CAP_EVENT_ORDERED,
		.level = HY_LEVEL_YES,
		.reason = "as the driver says itself from DPDK 24.03 on" },
	{ .drivers = { "event_dsw" },
		.before = DPDK(24, 3),
		.cap = HY_CAP_EVENT_ORDERED,
		.level = HY_LEVEL_NO,
		.reason = "dsw_queue_setup(), dsw_evdev.c, 22.11, refuses it" },
	{ .drivers = { "event_dsw" },
		.cap = HY_CAP_EVENT_RECONFIGURE,
		.level = HY_LEVEL_NO,
		.reason = "set up again, its ports fail: dsw_port_setup(), dsw_evdev.c, 22.11" },

	/* With a service core, packets that fill a vector overwrite others. */
	{ .drivers = { "*" },
		.cap = HY_CAP_EVENT_RX_VECTOR,
		.unless = HY_CAP_EVENT_RX_INTERNAL,
		.level = HY_LEVEL_NO,
		.reason = "rxa_create_event_vector(), rte_event_eth_rx_adapter.c, 22.11 to 26.07, "
			  "writes over events" },
};

const struct hy_quirk *
hy_quirks(unsigned int *n)
{
	*n = RTE_DIM(quirks);
	return quirks;
}

bool
hy_quirk_matches(const struct hy_quirk *quirk, const char *driver, uint32_t version)
{
	/* Release candidates and updates have higher numbers than their release. */
	if (version < quirk->from || (quirk->before != 0 && version >= quirk->before))
		return false;
	for (unsigned int i = 0; i < RTE_DIM(quirk->drivers) && quirk->drivers[i] != NULL; i++)
		if (fnmatch(quirk->drivers[i], driver, 0) == 0)
			return true;
	return false;
}

void
hy_quirks_apply(struct hy_hal_device *dev, uint32_t version)
{
	for (unsigned int i = 0; i < RTE_DIM(quirks); i++) {
		const struct hy_quirk *quirk = &quirks[i];
		struct hy_capability *cap = &dev->caps[quirk->cap];

		if (!hy_cap_concerns(dev->target.kind, quirk->cap) ||
			dev->caps[quirk->unless].level >= HY_LEVEL_YES ||
			(quirk->most != 0 && cap->value <= quirk->most) ||
			!hy_quirk_matches(quirk, dev->driver, version))
			continue;
		cap->level = quirk->level;
		if (quirk->level < HY_LEVEL_YES)
			cap->value = 0;
		else if (quirk->most != 0)
			cap->value = quirk->most;
		snprintf(cap->reason, sizeof(cap->reason), "quirk of %s: %s", dev->driver,
			quirk->reason);
	}
}
