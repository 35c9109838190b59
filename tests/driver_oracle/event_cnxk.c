/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * event_cn10k, probed on a device that is not there, beside the simulated one: what both say of
 * themselves, of a port of their own kind and of another. What the driver says is written in its
 * code; the numbers of queues and ports, which it reads, are left out.
 * hy-oracle-event_cnxk PLUGIN prints one JSON object; PLUGIN has the simulated devices.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_event_eth_rx_adapter.h>
#include <rte_event_eth_tx_adapter.h>
#include <rte_eventdev.h>
#include <rte_version.h>

#include <roc_api.h>

#include <hy_hal.h>

#include "flow_port.h"

#define DRIVER "event_cn10k"
#define ADDRESS \
	{ \
		.bus = 2 \
	}
#define NAME "0000:02:00.0"
#define QUEUES 4 /* any number but 0 */
#define KIN "net_cn10k"
#define PRIVATE (1 << 20) /* more than a port of the driver has; zeroed, it says enough */

static struct rte_pci_driver *driver;
static struct roc_model model = { .flag = ROC_MODEL_CN106xx_A0 };

/* Replaced: drivers do not register with the bus, but here, the one that is linked in first. */
void
rte_pci_register(struct rte_pci_driver *registered)
{
	if (driver == NULL && strcmp(registered->driver.name, DRIVER) == 0)
		driver = registered;
}

void
rte_pci_unregister(struct rte_pci_driver *registered)
{
	RTE_SET_USED(registered);
}

/* Replaced: what reads the chip's registers, and the mailbox to the kernel's driver. */

int
roc_model_init(struct roc_model *chip)
{
	*chip = model;
	roc_model = chip;
	return 0;
}

int
roc_sso_dev_init(struct roc_sso *sso)
{
	sso->max_hws = sso->max_hwgrp = QUEUES;
	return 0;
}

int
roc_tim_init(struct roc_tim *tim)
{
	RTE_SET_USED(tim);
	return -ENODEV;
}

static int
probe(void)
{
	static struct rte_pci_device pci = {
		.id = { .vendor_id = PCI_VENDOR_ID_CAVIUM,
			.device_id = PCI_DEVID_CNXK_RVU_SSO_TIM_PF },
		.addr = ADDRESS,
		.name = NAME,
	};

	if (driver == NULL)
		return -ENODEV;
	pci.device.name = pci.name;
	pci.device.driver = &driver->driver;
	return driver->probe(driver, &pci);
}

/* A port of the same chip, for which the simulator's cannot stand in: both bring the same pools. */
static int
kin_open(uint16_t *port)
{
	static const struct eth_dev_ops ops = { .dev_infos_get = flow_port_info };
	struct rte_eth_dev *dev = flow_port_alloc(KIN, &ops, PRIVATE, NULL, 0);

	if (dev == NULL)
		return -ENOMEM;
	dev->data->dev_configured = dev->data->dev_started = 0;
	rte_eth_dev_probing_finish(dev);
	*port = dev->data->port_id;
	return 0;
}

static void
print_device(const char *name, int id)
{
	struct rte_event_dev_info info = { 0 };
	const int rc = id < 0 ? id : rte_event_dev_info_get((uint8_t)id, &info);

	printf("\"%s\": {\"rc\": %d, \"driver\": \"%s\", \"caps\": %" PRIu32 ", \"flows\": %" PRIu32
	       ", \"queue_priorities\": %u, \"event_priorities\": %u, \"dequeue\": %u, "
	       "\"enqueue\": %" PRIu32,
		name, rc, rc == 0 ? info.driver_name : "", info.event_dev_cap,
		info.max_event_queue_flows, info.max_event_queue_priority_levels,
		info.max_event_priority_levels, info.max_event_port_dequeue_depth,
		info.max_event_port_enqueue_depth);
}

/* What adapters between a device and a port can do, and what the inventory says of that. */
static void
print_pair(const struct hy_hal *hal, int id, uint16_t port, const char *name)
{
	const enum hy_cap caps[] = { HY_CAP_EVENT_RX_INTERNAL, HY_CAP_EVENT_RX_VECTOR,
		HY_CAP_EVENT_RX_FLOW_ID, HY_CAP_EVENT_TX_INTERNAL, HY_CAP_EVENT_TX_VECTOR };
	const struct hy_target pair = {
		.kind = HY_TARGET_EVENT_PORT, .id = (uint16_t)id, .peer = port
	};
	uint32_t rx = 0, tx = 0;
	int rc = rte_event_eth_rx_adapter_caps_get((uint8_t)id, port, &rx);

	if (rc == 0)
		rc = rte_event_eth_tx_adapter_caps_get((uint8_t)id, port, &tx);
	printf(", \"%s\": {\"rc\": %d, \"rx\": %" PRIu32 ", \"tx\": %" PRIu32
	       ", \"vector\": %" PRIu64 ", \"hal\": [",
		name, rc, rx, tx, hy_hal_capability(hal, pair, HY_CAP_EVENT_RX_VECTOR)->value);
	for (size_t i = 0; i < RTE_DIM(caps); i++)
		printf("%s%s", i > 0 ? ", " : "",
			hy_hal_capability(hal, pair, caps[i])->level >= HY_LEVEL_YES ? "true"
										     : "false");
	printf("]}");
}

static int
start_eal(char *program, char *plugin)
{
	static char words[][28] = { "--no-huge", "--no-pci", "--no-shconf", "--no-telemetry", "-m",
		"256", "-l", "0", "--log-level=*:1", "--vdev=sim_ice0", "--vdev=sim_event_cn10k0",
		"-d" };
	char *args[RTE_DIM(words) + 2] = { program };

	for (size_t i = 0; i < RTE_DIM(words); i++)
		args[1 + i] = words[i];
	args[RTE_DIM(args) - 1] = plugin;
	return rte_eal_init((int)RTE_DIM(args), args);
}

static void
print_all(const struct hy_hal *hal, uint16_t kin, uint16_t other)
{
	static const char *const devices[] = { NAME, "sim_event_cn10k0" };
	static const char *const names[] = { "driver", "simulator" };

	printf("{\"dpdk\": \"%s\"", rte_version());
	for (size_t i = 0; i < RTE_DIM(names); i++) {
		const int id = rte_event_dev_get_dev_id(devices[i]);

		printf(",\n");
		print_device(names[i], id);
		print_pair(hal, id, kin, "kin");
		print_pair(hal, id, other, "other");
		printf("}");
	}
	printf("}\n");
}

int
main(int argc, char **argv)
{
	struct hy_hal *hal;
	uint16_t kin, other;
	int rc;

	if (argc != 2) {
		fprintf(stderr, "usage: hy-oracle-event_cnxk PLUGIN\n");
		return 2;
	}
	if (start_eal(argv[0], argv[1]) < 0)
		return EXIT_FAILURE;
	rc = probe();
	if (rc == 0)
		rc = kin_open(&kin);
	if (rc == 0)
		rc = rte_eth_dev_get_port_by_name("sim_ice0", &other);
	if (rc == 0)
		rc = hy_hal_create(&hal);
	if (rc == 0)
		print_all(hal, kin, other);
	else
		fprintf(stderr, "no " DRIVER ", or no ports: %s\n", strerror(-rc));
	fflush(stdout);
	/* The device is not whole enough to be closed by destructors. */
	_Exit(rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}
