/* SPDX-License-Identifier: BSD-3-Clause */
/* What adapters can do between an event device and a port or crypto device. */

#include <errno.h>
#include <string.h>

#include <rte_event_eth_rx_adapter.h>
#include <rte_eventdev.h>

#include "hal/internal/hal.h"

#define RX(cap, flag) HY_CAP_FLAG(HY_CAP_EVENT_RX_##cap, RTE_EVENT_ETH_RX_ADAPTER_CAP_, flag)
#define TX(cap, flag) HY_CAP_FLAG(HY_CAP_EVENT_TX_##cap, RTE_EVENT_ETH_TX_ADAPTER_CAP_, flag)
#define CRYPTO(cap, flag) \
	HY_CAP_FLAG(HY_CAP_EVENT_CRYPTO_##cap, RTE_EVENT_CRYPTO_ADAPTER_CAP_, flag)

static const struct hy_cap_flag rx_flags[] = { RX(INTERNAL, INTERNAL_PORT),
	RX(VECTOR, EVENT_VECTOR), RX(FLOW_ID, OVERRIDE_FLOW_ID) };
static const struct hy_cap_flag tx_flags[] = { TX(INTERNAL, INTERNAL_PORT),
	TX(VECTOR, EVENT_VECTOR) };
static const struct hy_cap_flag crypto_flags[] = { CRYPTO(NEW, INTERNAL_PORT_OP_NEW),
	CRYPTO(FWD, INTERNAL_PORT_OP_FWD), CRYPTO(VECTOR, EVENT_VECTOR) };

/* Sets the capabilities of a pair; if the driver could not answer, all are unknown. */
static void
flags_set(struct hy_hal_device *dev, int rc, uint32_t has, const struct hy_cap_flag *flags,
	unsigned int n)
{
	if (rc == 0)
		hy_cap_flags(dev->caps, has, flags, n);
	for (unsigned int i = 0; i < n && rc != 0; i++)
		hy_cap_fill(&dev->caps[flags[i].cap], HY_LEVEL_UNKNOWN, 0,
			"the driver cannot tell: %s", strerror(-rc));
}

static void
probe_port(struct hy_hal_device *dev)
{
	struct hy_capability *vector = &dev->caps[HY_CAP_EVENT_RX_VECTOR];
	struct rte_event_eth_rx_adapter_vector_limits limits;
	const uint8_t event = (uint8_t)dev->target.id;
	const uint16_t port = dev->target.peer;
	uint32_t has = 0;
	int rc = rte_event_eth_rx_adapter_caps_get(event, port, &has);

	flags_set(dev, rc, has, rx_flags, RTE_DIM(rx_flags));
	if (vector->level == HY_LEVEL_YES &&
		rte_event_eth_rx_adapter_vector_limits_get(event, port, &limits) == 0)
		vector->value = limits.max_sz;
	rc = rte_event_eth_tx_adapter_caps_get(event, port, &has);
	flags_set(dev, rc, has, tx_flags, RTE_DIM(tx_flags));
}

/* Adds a pair with an event device, given by index since the list may move. */
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
		uint32_t has = 0;
		int rc;

		if (list->devices[i].target.kind != HY_TARGET_CRYPTO)
			continue;
		dev = pair_add(list, event, HY_TARGET_EVENT_CRYPTO, list->devices[i].target.id);
		if (dev == NULL)
			return -ENOMEM;
		rc = rte_event_crypto_adapter_caps_get((uint8_t)dev->target.id,
			(uint8_t)dev->target.peer, &has);
		flags_set(dev, rc, has, crypto_flags, RTE_DIM(crypto_flags));
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
