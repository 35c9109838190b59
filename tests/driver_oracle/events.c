/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An event device's driver, probed on a device that is not there, beside the simulated one: what both
 * say of themselves, of a port on the same chip and of another one; and what both take.
 * hy-oracle-event_DRIVER PLUGIN prints one JSON object; PLUGIN has the simulated devices.
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

#include <hy_hal.h>

#include "events.h"
#include "flow_port.h"

#define SEQUENCES 64
#define QUEUES 32
#define PORTS 4
#define LINKS 8           /* of a port */
#define PRIVATE (1 << 20) /* more than a port of the driver has; zeroed, it says enough */

static struct rte_pci_driver *driver;

/* Replaced: drivers do not register with the bus, but here, the one that is linked in first. */
void
rte_pci_register(struct rte_pci_driver *registered)
{
	if (driver == NULL && strcmp(registered->driver.name, event_oracle.driver) == 0)
		driver = registered;
}

void
rte_pci_unregister(struct rte_pci_driver *registered)
{
	RTE_SET_USED(registered);
}

static int
probe(void)
{
	struct rte_pci_device *pci = &event_oracle.pci;

	if (driver == NULL)
		return -ENODEV;
	rte_pci_device_name(&pci->addr, pci->name, sizeof(pci->name));
	pci->device.name = pci->name;
	pci->device.driver = &driver->driver;
	return driver->probe(driver, pci);
}

/* A port of the same chip, for which the simulator's cannot stand in: both bring the same pools. */
static int
kin_open(uint16_t *port)
{
	static const struct eth_dev_ops ops = { .dev_infos_get = flow_port_info };
	struct rte_eth_dev *dev = flow_port_alloc(event_oracle.kin, &ops, PRIVATE, NULL, 0);

	if (dev == NULL)
		return -ENOMEM;
	dev->data->dev_configured = dev->data->dev_started = 0;
	rte_eth_dev_probing_finish(dev);
	*port = dev->data->port_id;
	return 0;
}

static void
print_device(const char *name, uint8_t id)
{
	struct rte_event_dev_info info = { 0 };
	const int rc = rte_event_dev_info_get(id, &info);

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
print_pair(const struct hy_hal *hal, uint8_t id, uint16_t port, const char *name)
{
	const enum hy_cap caps[] = { HY_CAP_EVENT_RX_INTERNAL, HY_CAP_EVENT_RX_VECTOR,
		HY_CAP_EVENT_RX_FLOW_ID, HY_CAP_EVENT_TX_INTERNAL, HY_CAP_EVENT_TX_VECTOR };
	const struct hy_target pair = { .kind = HY_TARGET_EVENT_PORT, .id = id, .peer = port };
	uint32_t rx = 0, tx = 0;
	int rc = rte_event_eth_rx_adapter_caps_get(id, port, &rx);

	if (rc == 0)
		rc = rte_event_eth_tx_adapter_caps_get(id, port, &tx);
	printf(", \"%s\": {\"rc\": %d, \"rx\": %" PRIu32 ", \"tx\": %" PRIu32
	       ", \"vector\": %" PRIu64 ", \"hal\": [",
		name, rc, rx, tx, hy_hal_capability(hal, pair, HY_CAP_EVENT_RX_VECTOR)->value);
	for (size_t i = 0; i < RTE_DIM(caps); i++)
		printf("%s%s", i > 0 ? ", " : "",
			hy_hal_capability(hal, pair, caps[i])->level >= HY_LEVEL_YES ? "true"
										     : "false");
	printf("]}");
}

/* Sets up as many queues, for events of a type or all (-1), and ports by default. */
static int
set_up(uint8_t id, unsigned int nb_queues, unsigned int nb_ports, int type, uint32_t sequences)
{
	struct rte_event_queue_conf queue;
	struct rte_event_dev_info info;
	struct rte_event_dev_config conf = { .nb_event_queues = (uint8_t)nb_queues,
		.nb_event_ports = (uint8_t)nb_ports };
	int rc = rte_event_dev_info_get(id, &info);

	conf.nb_events_limit = info.max_num_events;
	conf.nb_event_queue_flows = 1024;
	conf.nb_event_port_dequeue_depth = (uint32_t)info.max_event_port_dequeue_depth;
	conf.nb_event_port_enqueue_depth = info.max_event_port_enqueue_depth;
	conf.dequeue_timeout_ns = info.min_dequeue_timeout_ns;
	if (rc == 0)
		rc = rte_event_dev_configure(id, &conf);
	for (unsigned int q = 0; rc == 0 && q < nb_queues; q++) {
		rc = rte_event_queue_default_conf_get(id, (uint8_t)q, &queue);
		queue.event_queue_cfg = type < 0 ? RTE_EVENT_QUEUE_CFG_ALL_TYPES : 0;
		queue.schedule_type = type < 0 ? 0 : (uint8_t)type;
		queue.nb_atomic_order_sequences = sequences;
		if (rc == 0)
			rc = rte_event_queue_setup(id, (uint8_t)q, &queue);
	}
	for (unsigned int p = 0; rc == 0 && p < nb_ports; p++)
		rc = rte_event_port_setup(id, (uint8_t)p, NULL);
	return rc;
}

/* How many of 1 to one more than is offered are taken. */
static unsigned int
count(uint8_t id, bool queues, unsigned int offered)
{
	unsigned int taken = 0;

	for (unsigned int n = 1; n <= offered + 1; n++)
		taken += set_up(id, queues ? n : 1, queues ? 1 : n, RTE_SCHED_TYPE_ATOMIC, 0) == 0;
	return taken;
}

/* What the device takes, and what the inventory says of that. */
static void
print_setups(const struct hy_hal *hal, uint8_t id)
{
	static const struct {
		enum hy_cap cap;
		int type;
	} types[] = {
		{ HY_CAP_EVENT_ATOMIC, RTE_SCHED_TYPE_ATOMIC },
		{ HY_CAP_EVENT_ORDERED, RTE_SCHED_TYPE_ORDERED },
		{ HY_CAP_EVENT_PARALLEL, RTE_SCHED_TYPE_PARALLEL },
		{ HY_CAP_EVENT_ALL_TYPES, -1 },
	};
	const struct hy_target target = { .kind = HY_TARGET_EVENT, .id = id };
	const uint64_t queues = hy_hal_capability(hal, target, HY_CAP_EVENT_QUEUES)->value;
	const uint64_t ports = hy_hal_capability(hal, target, HY_CAP_EVENT_PORTS)->value;
	int rc;

	printf(", \"queues\": [%" PRIu64 ", %u], \"ports\": [%" PRIu64 ", %u], \"types\": [",
		queues, count(id, true, (unsigned int)queues), ports,
		count(id, false, (unsigned int)ports));
	for (size_t i = 0; i < RTE_DIM(types); i++)
		printf("%s[%s, %d]", i > 0 ? ", " : "",
			hy_hal_capability(hal, target, types[i].cap)->level >= HY_LEVEL_YES
				? "true"
				: "false",
			set_up(id, 1, 1, types[i].type, SEQUENCES));
	rc = rte_event_port_link(id, 0, NULL, NULL, 0);
	printf("], \"linked\": %d, \"started\": %d", rc, rte_event_dev_start(id));
	rte_event_dev_stop(id);
	printf(", \"again\": [%s, %d]",
		hy_hal_capability(hal, target, HY_CAP_EVENT_RECONFIGURE)->level >= HY_LEVEL_YES
			? "true"
			: "false",
		set_up(id, 2, 2, RTE_SCHED_TYPE_PARALLEL, 0));
}

/* Sets up ordered queues, links each to one of four ports, and starts; then stops. */
static bool
runs(uint8_t id, unsigned int nb_queues, uint32_t sequences)
{
	bool ok = set_up(id, nb_queues, PORTS, RTE_SCHED_TYPE_ORDERED, sequences) == 0;

	for (unsigned int q = 0; ok && q < PORTS * LINKS; q++) {
		const uint8_t queue = (uint8_t)(q % nb_queues);

		ok = rte_event_port_link(id, (uint8_t)(q / LINKS), &queue, NULL, 1) == 1;
	}
	ok = ok && rte_event_dev_start(id) == 0;
	if (ok)
		rte_event_dev_stop(id);
	return ok;
}

/* How many queues of so many numbers to restore an order by run, and how many a port takes. */
static void
print_limits(uint8_t id)
{
	static const uint32_t sequences[] = { 0, 1, 16, 32, 64, 100, 128, 256, 512, 1024, 2048 };
	uint8_t queues[QUEUES];
	unsigned int most;

	printf(", \"ordered\": [");
	for (size_t i = 0; i < RTE_DIM(sequences); i++) {
		for (most = 0; most < QUEUES && runs(id, most + 1, sequences[i]); most++)
			;
		printf("%s%u", i > 0 ? ", " : "", most);
	}
	for (most = 0; most < QUEUES; most++)
		queues[most] = (uint8_t)most;
	set_up(id, QUEUES, 1, RTE_SCHED_TYPE_ATOMIC, 0);
	printf("], \"links\": %d", rte_event_port_link(id, 0, queues, NULL, QUEUES));
}

static int
start_eal(char *program, char *plugin)
{
	static char words[][28] = { "--no-huge", "--no-pci", "--no-shconf", "--no-telemetry", "-m",
		"256", "-l", "0", "--log-level=*:1", "--vdev=sim_ice0", "-d" };
	char *args[RTE_DIM(words) + 3] = { program }, vdev[64];

	for (size_t i = 0; i < RTE_DIM(words); i++)
		args[1 + i] = words[i];
	snprintf(vdev, sizeof(vdev), "--vdev=%s", event_oracle.simulator);
	args[RTE_DIM(args) - 2] = plugin;
	args[RTE_DIM(args) - 1] = vdev;
	return rte_eal_init((int)RTE_DIM(args), args);
}

static void
print_all(const struct hy_hal *hal, uint16_t kin, uint16_t other)
{
	/* Not by their names, for the simulator has the name of the driver. */
	static const uint8_t ids[] = { 1, 0 };
	static const char *const names[] = { "driver", "simulator" };

	printf("{\"dpdk\": \"%s\"", rte_version());
	for (size_t i = 0; i < RTE_DIM(names); i++) {
		const uint8_t id = ids[i];

		printf(",\n");
		print_device(names[i], id);
		print_pair(hal, id, kin, "kin");
		print_pair(hal, id, other, "other");
		if (event_oracle.configures) {
			print_setups(hal, id);
			print_limits(id);
		}
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
		fprintf(stderr, "usage: hy-oracle-event_DRIVER PLUGIN\n");
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
		fprintf(stderr, "no device of %s, or no ports: %s\n", event_oracle.driver,
			strerror(-rc));
	fflush(stdout);
	/* The device is not whole enough to be closed by destructors. */
	_Exit(rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}
