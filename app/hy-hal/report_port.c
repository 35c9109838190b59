/* SPDX-License-Identifier: BSD-3-Clause */
/* A port in a report: what its driver says, then the results of trials. */

#include <string.h>

#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_errno.h>

#include <hy_flow.h>

#include "report.h"

static const char *
bus_of(const struct rte_device *device)
{
	const struct rte_bus *bus = device == NULL ? NULL : rte_dev_bus(device);

	return bus == NULL ? "none" : rte_bus_name(bus);
}

/*
 * Simulated devices have the driver names of vendors, so that all code treats them as the real
 * ones. But they are on the bus of virtual devices, where no such NIC can be.
 */
bool
report_simulated(const struct rte_device *device, const char *driver)
{
	if (strcmp(bus_of(device), "vdev") != 0)
		return false;
	return strncmp(rte_dev_name(device), "sim_", 4) == 0 ||
		(driver != NULL && strcmp(hy_flow_driver_of(driver)->driver, "*") != 0);
}

static void
firmware_write(struct outline *o, uint16_t port)
{
	char version[256] = "";
	const int rc = rte_eth_dev_fw_version_get(port, version, sizeof(version));

	if (rc == 0)
		outline_version(o, "firmware", version);
	else
		outline_text(o, "firmware", "unknown: %s",
			rc > 0 ? "its text is too long" : report_errno(rc));
}

/* The names of the bits that are set, including DPDK's name for unknown bits. */
static void
bits_write(struct outline *o, const char *name, uint64_t bits, const char *(*name_of)(uint64_t bit))
{
	outline_words(o, name);
	for (unsigned int b = 0; b < 64; b++)
		if ((bits & RTE_BIT64(b)) != 0)
			outline_word(o, name_of(RTE_BIT64(b)));
	outline_words_close(o);
}

static void
ptypes_write(struct outline *o, uint16_t port)
{
	uint32_t ptypes[256];
	const int n = rte_eth_dev_get_supported_ptypes(port, RTE_PTYPE_ALL_MASK, ptypes,
		RTE_DIM(ptypes));

	outline_words(o, "packet_types");
	for (int i = 0; i < RTE_MIN(n, (int)RTE_DIM(ptypes)); i++) {
		char name[128];

		if (rte_get_ptype_name(ptypes[i], name, sizeof(name)) != 0)
			continue;
		name[strcspn(name, " ")] = '\0'; /* DPDK appends a space */
		outline_word(o, name);
	}
	outline_words_close(o);
}

static void
limits_write(struct outline *o, uint16_t port, const struct rte_eth_dev_info *info)
{
	outline_number(o, "max_rx_queues", info->max_rx_queues);
	outline_number(o, "max_tx_queues", info->max_tx_queues);
	outline_text(o, "rx_descriptors", "%u to %u, a multiple of %u", info->rx_desc_lim.nb_min,
		info->rx_desc_lim.nb_max, info->rx_desc_lim.nb_align);
	outline_text(o, "tx_descriptors", "%u to %u, a multiple of %u", info->tx_desc_lim.nb_min,
		info->tx_desc_lim.nb_max, info->tx_desc_lim.nb_align);
	outline_text(o, "mtu", "%u to %u", info->min_mtu, info->max_mtu);
	outline_number(o, "max_rx_packet", info->max_rx_pktlen);
	outline_number(o, "reta_size", info->reta_size);
	outline_number(o, "rss_key_bytes", info->hash_key_size);
	outline_text(o, "default_rx", "burst %u, %u queues of %u descriptors",
		info->default_rxportconf.burst_size, info->default_rxportconf.nb_queues,
		info->default_rxportconf.ring_size);
	outline_text(o, "default_tx", "burst %u, %u queues of %u descriptors",
		info->default_txportconf.burst_size, info->default_txportconf.nb_queues,
		info->default_txportconf.ring_size);
	bits_write(o, "device_capabilities", info->dev_capa, rte_eth_dev_capability_name);
	bits_write(o, "rx_offloads", info->rx_offload_capa, rte_eth_dev_rx_offload_name);
	bits_write(o, "tx_offloads", info->tx_offload_capa, rte_eth_dev_tx_offload_name);
	ptypes_write(o, port);
}

static void
link_write(struct outline *o, uint16_t port)
{
	struct rte_eth_link link = { 0 };
	const int rc = rte_eth_link_get_nowait(port, &link);

	if (rc < 0)
		outline_text(o, "link", "unknown: %s", report_errno(rc));
	else
		outline_text(o, "link", "%s, %s", link.link_status != 0 ? "up" : "down",
			rte_eth_link_speed_to_str(link.link_speed));
}

static void
bursts_write(struct outline *o, uint16_t port)
{
	struct rte_eth_burst_mode mode = { 0 };

	if (rte_eth_rx_burst_mode_get(port, 0, &mode) == 0)
		outline_text(o, "rx_burst", "%s", mode.info);
	mode = (struct rte_eth_burst_mode){ 0 };
	if (rte_eth_tx_burst_mode_get(port, 0, &mode) == 0)
		outline_text(o, "tx_burst", "%s", mode.info);
}

static void
running_write(struct outline *o, uint16_t port, const struct rte_eth_dev_info *info,
	struct rte_mempool *pool)
{
	const uint16_t queues = report_queues(info);
	int rc;

	report_progress("port %u: start, RSS types, flow rules", port);
	outline_open(o, "running");
	outline_number(o, "queues", queues);
	rc = port_start(port, queues, pool);
	if (rc != 0) {
		outline_text(o, "error", "cannot be started: %s", report_errno(rc));
	} else {
		link_write(o, port);
		bursts_write(o, port);
		report_trial_running(o, port, info);
		report_flow(o, port, info);
		rte_eth_dev_stop(port);
	}
	outline_close(o);
}

static void
port_write(struct outline *o, uint16_t port, struct rte_mempool *pool)
{
	struct rte_eth_dev_info info = { 0 };
	char name[RTE_ETH_NAME_MAX_LEN] = "";
	const int rc = rte_eth_dev_info_get(port, &info);

	report_progress("port %u: firmware and limits", port);
	rte_eth_dev_get_name_by_port(port, name);
	outline_item(o);
	outline_number(o, "port", port);
	outline_text(o, "name", "%s", name);
	if (rc != 0) {
		outline_text(o, "error", "its driver gives no information: %s", report_errno(rc));
	} else {
		const int socket = rte_eth_dev_socket_id(port);

		outline_text(o, "driver", "%s", info.driver_name == NULL ? "?" : info.driver_name);
		outline_text(o, "bus", "%s", bus_of(info.device));
		outline_flag(o, "simulated", report_simulated(info.device, info.driver_name));
		if (socket >= 0)
			outline_number(o, "numa_node", (uint64_t)socket);
		firmware_write(o, port);
		limits_write(o, port, &info);
		report_progress("port %u: queues, offloads and RSS types that it refuses", port);
		report_trial_stopped(o, port, &info);
		running_write(o, port, &info, pool);
	}
	outline_close(o);
}

void
report_ports(struct outline *o, struct rte_mempool *pool)
{
	uint16_t port;

	outline_list(o, "ports");
	RTE_ETH_FOREACH_DEV(port) {
		port_write(o, port, pool);
	}
	outline_list_close(o);
}
