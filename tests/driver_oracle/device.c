/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is not flow rules: the port is configured and started in many ways, and what the driver takes
 * is held against what it offers by rte_eth_dev_info_get(), against what the HAL's inventory says,
 * and, for RSS, against what reaches the device.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_ethdev.h>

#include <hy_hal_live.h>

#include "laws.h"

#define POOL 8191
#define DESCRIPTORS 64
#define PROGRAM_DESCRIPTORS 1024 /* what l3fwd-graph asks for */
#define PROGRAM_RSS (RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP) /* likewise */

struct setup {
	uint16_t nb_rx, nb_tx, nb_rxd, nb_txd;
	struct rte_eth_conf conf;
};

struct tally {
	unsigned int taken, refused;
};

/* The port, and what was found out about it. */
struct device {
	uint16_t port;
	struct rte_eth_dev_info info;
	struct rte_mempool *pool;
	struct tally queues, offloads, limits, rss, hal;
	unsigned int most_rx, most_tx; /* queues that it takes */
	unsigned int hashed;           /* types of RSS that reached the device */
};

static struct setup
plain(uint16_t nb_rx, uint16_t nb_tx)
{
	return (struct setup){ nb_rx, nb_tx, DESCRIPTORS, DESCRIPTORS, { 0 } };
}

static struct setup
with_rss(uint16_t nb_rx, uint64_t types)
{
	struct setup setup = plain(nb_rx, 1);

	setup.conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	setup.conf.rx_adv_conf.rss_conf.rss_hf = types;
	return setup;
}

/* From a port in whatever state to one that runs. 0 or a negative errno. */
static int
start(const struct device *dev, const struct setup *setup)
{
	struct rte_eth_rxconf conf = dev->info.default_rxconf;
	int rc = rte_eth_dev_stop(dev->port);

	/* Of the smallest ring, from 26.11 on iavf leaves no more than that unfilled. */
	conf.rx_free_thresh = RTE_MIN(conf.rx_free_thresh, setup->nb_rxd / 4);
	oracle.hashed();
	if (rc == 0)
		rc = rte_eth_dev_configure(dev->port, setup->nb_rx, setup->nb_tx, &setup->conf);
	for (uint16_t q = 0; rc == 0 && q < setup->nb_rx; q++)
		rc = rte_eth_rx_queue_setup(dev->port, q, setup->nb_rxd, SOCKET_ID_ANY, &conf,
			dev->pool);
	for (uint16_t q = 0; rc == 0 && q < setup->nb_tx; q++)
		rc = rte_eth_tx_queue_setup(dev->port, q, setup->nb_txd, SOCKET_ID_ANY, NULL);
	return rc == 0 ? rte_eth_dev_start(dev->port) : rc;
}

/* Tries a setup, and notes if the driver does otherwise than it said. Returns whether it is taken. */
static bool
ask(const struct device *dev, struct tally *tally, const struct setup *setup, bool offered,
	const char *what)
{
	const int rc = start(dev, setup);

	if (rc == 0)
		tally->taken++;
	else
		tally->refused++;
	if ((rc == 0) != offered)
		law_note(rc == 0 ? "" : strerror(-rc), "%s: %s, and %s", what,
			offered ? "offered" : "not offered", rc == 0 ? "taken" : "refused");
	return rc == 0;
}

/* How many queues the driver takes, of 1 to one more than it offers. */
static unsigned int
ask_queues(struct device *dev, bool rx, unsigned int offered)
{
	unsigned int most = 0;

	for (unsigned int n = 1; n <= offered + 1; n++) {
		const struct setup setup = rx
			? with_rss(n, PROGRAM_RSS & dev->info.flow_type_rss_offloads)
			: plain(1, n);

		if (start(dev, &setup) != 0) {
			dev->queues.refused++;
			continue;
		}
		dev->queues.taken++;
		if (n > most + 1)
			law_note("", "%u %s queues are taken, %u are not", n,
				rx ? "receive" : "transmit", n - 1);
		most = n;
	}
	if (most != offered)
		law_note("", "%s queues: %u offered, %u taken", rx ? "receive" : "transmit",
			offered, most);
	return most;
}

static void
ask_offload(struct device *dev, struct tally *tally, bool rx, uint64_t flag, bool offered,
	const char *who)
{
	const char *name = rx ? rte_eth_dev_rx_offload_name(flag)
			      : rte_eth_dev_tx_offload_name(flag);
	struct setup setup = rx && flag == RTE_ETH_RX_OFFLOAD_RSS_HASH
		? with_rss(2, RTE_ETH_RSS_IPV4 & dev->info.flow_type_rss_offloads)
		: plain(1, 1);
	char what[64];

	if (strcmp(name, "UNKNOWN") == 0)
		return;
	if (rx)
		setup.conf.rxmode.offloads = flag;
	else
		setup.conf.txmode.offloads = flag;
	snprintf(what, sizeof(what), "%s%s offload %s", who, rx ? "receive" : "transmit", name);
	ask(dev, tally, &setup, offered, what);
}

static void
ask_offloads(struct device *dev)
{
	for (unsigned int bit = 0; bit < 64; bit++) {
		const uint64_t flag = UINT64_C(1) << bit;

		ask_offload(dev, &dev->offloads, true, flag,
			(dev->info.rx_offload_capa & flag) != 0, "");
		ask_offload(dev, &dev->offloads, false, flag,
			(dev->info.tx_offload_capa & flag) != 0, "");
	}
}

/* What the driver says that it hashes is what the device was told to. */
static void
check_hash(struct device *dev, const char *what)
{
	struct hy_flow_spread spread;
	const uint64_t device = oracle.hashed();

	if (hy_flow_spread_get(dev->port, &spread) != 0 || spread.types != device)
		law_note("", "%s: the driver says %#" PRIx64 ", the device was told %#" PRIx64,
			what, spread.types, device);
	else if (device == 0)
		law_note("", "%s: taken, and not hashed", what);
	else
		dev->hashed++;
}

static void
ask_rss(struct device *dev)
{
	const uint64_t offered = dev->info.flow_type_rss_offloads;
	struct setup setup = with_rss(4, PROGRAM_RSS & offered);

	if (ask(dev, &dev->rss, &setup, true, "RSS as l3fwd-graph asks for it"))
		check_hash(dev, "RSS as l3fwd-graph asks for it");
	for (unsigned int bit = 0; bit < 64; bit++) {
		char what[32];

		setup = with_rss(4, UINT64_C(1) << bit);
		snprintf(what, sizeof(what), "RSS type 1 << %u", bit);
		if (ask(dev, &dev->rss, &setup, (offered >> bit & 1) != 0, what))
			check_hash(dev, what);
	}
}

static void
ask_descriptors(struct device *dev, bool rx)
{
	const struct rte_eth_desc_lim *lim = rx ? &dev->info.rx_desc_lim : &dev->info.tx_desc_lim;
	const struct {
		unsigned int n;
		bool offered;
	} numbers[] = {
		{ lim->nb_min, true },
		{ PROGRAM_DESCRIPTORS, true },
		{ lim->nb_max, true },
		{ lim->nb_min - lim->nb_align, false },
		{ lim->nb_min + 1, false },
		{ lim->nb_max + lim->nb_align, false },
	};

	for (size_t i = 0; i < RTE_DIM(numbers); i++) {
		struct setup setup = plain(1, 1);
		char what[48];

		*(rx ? &setup.nb_rxd : &setup.nb_txd) = (uint16_t)numbers[i].n;
		snprintf(what, sizeof(what), "%u %s descriptors", numbers[i].n,
			rx ? "receive" : "transmit");
		ask(dev, &dev->limits, &setup, numbers[i].offered, what);
	}
}

static void
ask_mtu(struct device *dev)
{
	const struct {
		uint32_t mtu;
		bool offered;
	} mtus[] = { { dev->info.min_mtu, true }, { RTE_ETHER_MTU, true },
		{ dev->info.max_mtu, true }, { dev->info.min_mtu - 1, false },
		{ dev->info.max_mtu + 1, false } };

	for (size_t i = 0; i < RTE_DIM(mtus); i++) {
		struct setup setup = plain(1, 1);
		char what[32];

		setup.conf.rxmode.mtu = mtus[i].mtu;
		snprintf(what, sizeof(what), "MTU %u", mtus[i].mtu);
		ask(dev, &dev->limits, &setup, mtus[i].offered, what);
	}
}

/* What the inventory says of the port is what the driver takes: no more, and no less. */
static void
ask_hal(struct device *dev, const struct hy_hal *hal)
{
	static const struct {
		enum hy_cap cap;
		bool rx;
		uint64_t flag;
	} offloads[] = {
		{ HY_CAP_RX_CHECKSUM_IP4, true, RTE_ETH_RX_OFFLOAD_IPV4_CKSUM },
		{ HY_CAP_RX_SCATTER, true, RTE_ETH_RX_OFFLOAD_SCATTER },
		{ HY_CAP_TX_CHECKSUM_IP4, false, RTE_ETH_TX_OFFLOAD_IPV4_CKSUM },
		{ HY_CAP_TX_SEGMENTS, false, RTE_ETH_TX_OFFLOAD_MULTI_SEGS },
		{ HY_CAP_TX_FAST_FREE, false, RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE },
	};
	const struct hy_target target = { .kind = HY_TARGET_PORT, .id = dev->port };
	const uint64_t rx = hy_hal_capability(hal, target, HY_CAP_RX_QUEUES)->value;
	const uint64_t tx = hy_hal_capability(hal, target, HY_CAP_TX_QUEUES)->value;

	for (size_t i = 0; i < RTE_DIM(offloads); i++)
		ask_offload(dev, &dev->hal, offloads[i].rx, offloads[i].flag,
			hy_hal_capability(hal, target, offloads[i].cap)->level >= HY_LEVEL_YES,
			"the HAL: ");
	if (hy_hal_capability(hal, target, HY_CAP_ANY_POOL)->level < HY_LEVEL_YES)
		law_note("", "the HAL: the driver takes no pools, of which its queues receive");
	printf("\"hal_queues\": [%" PRIu64 ", %" PRIu64 "], \"hal_mark\": %s,\n", rx, tx,
		hy_hal_capability(hal, target, HY_CAP_RX_METADATA_MARK)->level >= HY_LEVEL_YES
			? "true"
			: "false");
}

/*
 * A configuration that every driver takes, and one that none does, which leaves the port as before
 * it is configured for the first time: then metadata can be negotiated, and the HAL is created.
 */
static int
control(struct device *dev, struct hy_hal **hal)
{
	const struct setup good = plain(1, 1), bad = plain(UINT16_MAX, 1);
	uint64_t metadata = RTE_ETH_RX_METADATA_USER_MARK;

	printf("\"good\": %d, ", start(dev, &good));
	printf("\"bad\": %d, ", start(dev, &bad));
	printf("\"negotiated\": %d,\n", rte_eth_rx_metadata_negotiate(dev->port, &metadata));
	return hy_hal_create(hal);
}

static void
print_tally(const char *name, const struct tally *tally)
{
	printf("\"%s\": {\"taken\": %u, \"refused\": %u},\n", name, tally->taken, tally->refused);
}

int
law_device(const struct law *law)
{
	struct device dev = { .port = law->port };
	struct hy_hal *hal;
	int rc;

	printf("\"whole\": %s,\n", oracle.hashed != NULL ? "true" : "false");
	if (oracle.hashed == NULL)
		return 0;
	dev.pool = rte_pktmbuf_pool_create("device", POOL, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
		SOCKET_ID_ANY);
	rc = dev.pool != NULL ? rte_eth_dev_info_get(dev.port, &dev.info) : -ENOMEM;
	if (rc == 0)
		rc = control(&dev, &hal);
	if (rc != 0)
		return rc;
	dev.most_rx = ask_queues(&dev, true, dev.info.max_rx_queues);
	dev.most_tx = ask_queues(&dev, false, dev.info.max_tx_queues);
	ask_offloads(&dev);
	ask_rss(&dev);
	ask_descriptors(&dev, true);
	ask_descriptors(&dev, false);
	ask_mtu(&dev);
	ask_hal(&dev, hal);
	hy_hal_destroy(hal);
	printf("\"most_queues\": [%u, %u], \"hashed\": %u,\n", dev.most_rx, dev.most_tx,
		dev.hashed);
	print_tally("queues", &dev.queues);
	print_tally("offloads", &dev.offloads);
	print_tally("rss", &dev.rss);
	print_tally("limits", &dev.limits);
	print_tally("hal", &dev.hal);
	return 0;
}
