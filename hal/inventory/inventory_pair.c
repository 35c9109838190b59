/* SPDX-License-Identifier: BSD-3-Clause */
/* What adapters can do between an event device and a port or crypto device: it takes both to say. */

#include <errno.h>
#include <string.h>

#include <rte_event_eth_rx_adapter.h>
#include <rte_eventdev.h>

#include "hal/internal/hal.h"

/* A driver that cannot answer for a pair is not asked again: all of it is unknown. */
static void
unknown(struct hy_hal_device *dev, const enum hy_cap caps[], unsigned int n, int rc)
{
	for (unsigned int i = 0; i < n; i++)
		hy_cap_fill(&dev->caps[caps[i]], HY_LEVEL_UNKNOWN, 0, "the driver cannot say: %s",
			strerror(-rc));
}

static void
probe_rx_vector(uint8_t event, uint16_t port, bool has, struct hy_capability *cap)
{
	struct rte_event_eth_rx_adapter_vector_limits limits;

	hy_cap_flag(cap, has, "EVENT_VECTOR");
	if (has && rte_event_eth_rx_adapter_vector_limits_get(event, port, &limits) == 0)
		cap->value = limits.max_sz;
}

static void
probe_port(struct hy_hal_device *dev)
{
	static const enum hy_cap rx[] = { HY_CAP_EVENT_RX_INTERNAL, HY_CAP_EVENT_RX_VECTOR,
		HY_CAP_EVENT_RX_FLOW_ID };
	static const enum hy_cap tx[] = { HY_CAP_EVENT_TX_INTERNAL, HY_CAP_EVENT_TX_VECTOR };
	const uint8_t event = (uint8_t)dev->target.id;
	const uint16_t port = dev->target.peer;
	struct hy_capability *caps = dev->caps;
	uint32_t has;
	int rc = rte_event_eth_rx_adapter_caps_get(event, port, &has);

	if (rc < 0) {
		unknown(dev, rx, RTE_DIM(rx), rc);
	} else {
		hy_cap_flag(&caps[HY_CAP_EVENT_RX_INTERNAL],
			(has & RTE_EVENT_ETH_RX_ADAPTER_CAP_INTERNAL_PORT) != 0, "INTERNAL_PORT");
		hy_cap_flag(&caps[HY_CAP_EVENT_RX_FLOW_ID],
			(has & RTE_EVENT_ETH_RX_ADAPTER_CAP_OVERRIDE_FLOW_ID) != 0,
			"OVERRIDE_FLOW_ID");
		probe_rx_vector(event, port, (has & RTE_EVENT_ETH_RX_ADAPTER_CAP_EVENT_VECTOR) != 0,
			&caps[HY_CAP_EVENT_RX_VECTOR]);
	}
	rc = rte_event_eth_tx_adapter_caps_get(event, port, &has);
	if (rc < 0) {
		unknown(dev, tx, RTE_DIM(tx), rc);
		return;
	}
	hy_cap_flag(&caps[HY_CAP_EVENT_TX_INTERNAL],
		(has & RTE_EVENT_ETH_TX_ADAPTER_CAP_INTERNAL_PORT) != 0, "INTERNAL_PORT");
	hy_cap_flag(&caps[HY_CAP_EVENT_TX_VECTOR],
		(has & RTE_EVENT_ETH_TX_ADAPTER_CAP_EVENT_VECTOR) != 0, "EVENT_VECTOR");
}

static void
probe_crypto(struct hy_hal_device *dev)
{
	static const enum hy_cap all[] = { HY_CAP_EVENT_CRYPTO_NEW, HY_CAP_EVENT_CRYPTO_FWD,
		HY_CAP_EVENT_CRYPTO_VECTOR };
	struct hy_capability *caps = dev->caps;
	uint32_t has;
	const int rc = rte_event_crypto_adapter_caps_get((uint8_t)dev->target.id,
		(uint8_t)dev->target.peer, &has);

	if (rc < 0) {
		unknown(dev, all, RTE_DIM(all), rc);
		return;
	}
	hy_cap_flag(&caps[HY_CAP_EVENT_CRYPTO_NEW],
		(has & RTE_EVENT_CRYPTO_ADAPTER_CAP_INTERNAL_PORT_OP_NEW) != 0,
		"INTERNAL_PORT_OP_NEW");
	hy_cap_flag(&caps[HY_CAP_EVENT_CRYPTO_FWD],
		(has & RTE_EVENT_CRYPTO_ADAPTER_CAP_INTERNAL_PORT_OP_FWD) != 0,
		"INTERNAL_PORT_OP_FWD");
	hy_cap_flag(&caps[HY_CAP_EVENT_CRYPTO_VECTOR],
		(has & RTE_EVENT_CRYPTO_ADAPTER_CAP_EVENT_VECTOR) != 0, "EVENT_VECTOR");
}

/* Adds a pair; by index, since the list moves as it grows. */
static struct hy_hal_device *
pair_add(struct hy_device_list *list, unsigned int event, enum hy_target_kind kind, uint16_t peer)
{
	char name[sizeof(list->devices->name)], driver[sizeof(list->devices->driver)];

	strcpy(name, list->devices[event].name);
	strcpy(driver, list->devices[event].driver);
	return hy_device_add(list,
		(struct hy_target){
			.kind = kind, .id = list->devices[event].target.id, .peer = peer },
		name, driver);
}

static int
port_pairs(const struct hy_hal *hal, struct hy_device_list *list, unsigned int event)
{
	for (uint16_t p = 0; p < RTE_MAX_ETHPORTS; p++) {
		struct hy_hal_device *dev;

		if (!hal->ports[p].present)
			continue;
		dev = pair_add(list, event, HY_TARGET_EVENT_PORT, p);
		if (dev == NULL)
			return -ENOMEM;
		probe_port(dev);
	}
	return 0;
}

static int
crypto_pairs(struct hy_device_list *list, unsigned int event)
{
	const unsigned int nb_devices = list->n;

	for (unsigned int i = 0; i < nb_devices; i++) {
		struct hy_hal_device *dev;

		if (list->devices[i].target.kind != HY_TARGET_CRYPTO)
			continue;
		dev = pair_add(list, event, HY_TARGET_EVENT_CRYPTO, list->devices[i].target.id);
		if (dev == NULL)
			return -ENOMEM;
		probe_crypto(dev);
	}
	return 0;
}

int
hy_probe_pairs(const struct hy_hal *hal, struct hy_device_list *list)
{
	const unsigned int nb_devices = list->n;
	int rc = 0;

	for (unsigned int i = 0; i < nb_devices && rc == 0; i++) {
		if (list->devices[i].target.kind != HY_TARGET_EVENT)
			continue;
		rc = port_pairs(hal, list, i);
		if (rc == 0)
			rc = crypto_pairs(list, i);
	}
	return rc;
}
