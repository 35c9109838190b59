/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulated NICs: virtual devices under the names of vendors' drivers, and their control path. */

#include <stdlib.h>
#include <string.h>

#include <ethdev_vdev.h>

#include "lib/graph/internal/dpdk.h"

#include "nic.h"

#define RSS_KEY 40 /* bytes */

/* After DPDK v22.11. flow/sim_*.c simulates the flow engines. */
static const struct vendor vendors[] = {
	{
		.driver = "net_cn10k",
		.alias = "sim_cn10k",
		.profile = "cnxk",
		.rules_keep = true, /* net/cnxk/cnxk_ethdev_ops.c, cnxk_nix_info_get() */
		.negotiates = true, /* cn10k_ethdev.c, cn10k_nix_rx_metadata_negotiate() */
		.odd_errors = true,
		.own_pools = true,
	},
	{
		.driver = "mlx5_pci",
		.alias = "sim_mlx5",
		.profile = "mlx5",
		.threads = true, /* net/mlx5/linux/mlx5_os.c: RTE_ETH_DEV_FLOW_OPS_THREAD_SAFE */
	},
	{
		.driver = "mlx5_pci",
		.alias = "sim_hws",
		.profile = "mlx5_hws",
		.templates = true,
		.threads = true,
	},
	{ "net_ice", "sim_ice", "ice" },
	{ "net_i40e", "sim_i40e", "i40e" },
	{ "net_iavf", "sim_iavf", "iavf" },
	{ "net_sim", "sim_nic", "generic", .no_fast_free = true },
};

static struct rte_vdev_driver drivers[RTE_DIM(vendors)];

static const struct eth_dev_ops ops;

struct nic *
nic_of_dev(const struct rte_eth_dev *dev)
{
	return dev->data->dev_private;
}

struct nic *
nic_of(uint16_t port)
{
	RTE_VERIFY(rte_eth_dev_is_valid_port(port) && rte_eth_devices[port].dev_ops == &ops);
	return nic_of_dev(&rte_eth_devices[port]);
}

static void
strip_follow(const struct rte_eth_dev *dev)
{
	const uint64_t offloads = dev->data->dev_conf.rxmode.offloads;

	__atomic_store_n(&nic_of_dev(dev)->strips, (offloads & RTE_ETH_RX_OFFLOAD_VLAN_STRIP) != 0,
		__ATOMIC_RELAXED);
}

static int
configure(struct rte_eth_dev *dev)
{
	const struct rte_eth_conf *conf = &dev->data->dev_conf;

	strip_follow(dev);
	hy_flow_sim_configure(nic_of_dev(dev)->engine, dev->data->nb_rx_queues,
		conf->rxmode.mq_mode == RTE_ETH_MQ_RX_RSS ? &conf->rx_adv_conf.rss_conf : NULL);
	return 0;
}

static int
start(struct rte_eth_dev *dev)
{
	struct nic *nic = nic_of_dev(dev);

	if (!nic_works(nic))
		return -EIO;
	if ((nic->clears & NIC_CLEARS_AT_START) != 0)
		__atomic_store_n(&nic->missed, 0, __ATOMIC_RELAXED);
	hy_flow_sim_start(nic->engine);
	dev->data->dev_link.link_status = RTE_ETH_LINK_UP;
	return 0;
}

static int
stop(struct rte_eth_dev *dev)
{
	hy_flow_sim_stop(nic_of_dev(dev)->engine);
	nic_templates_flush(nic_of_dev(dev));
	dev->data->dev_link.link_status = RTE_ETH_LINK_DOWN;
	return 0;
}

static int
close_port(struct rte_eth_dev *dev)
{
	struct nic *nic = nic_of_dev(dev);

	nic_queues_free(nic);
	nic_templates_free(nic);
	hy_flow_sim_destroy(nic->engine);
	nic->engine = NULL;
	dev->data->mac_addrs = NULL; /* lies in dev_private, which ethdev frees */
	return 0;
}

/* Like a driver that removes its device and probes it again. */
static int
reset(struct rte_eth_dev *dev)
{
	struct nic *nic = nic_of_dev(dev);

	if (nic->state == NIC_REMOVED)
		return -EIO;
	if (nic->reset_waits > 0) {
		nic->reset_waits--;
		return -EAGAIN;
	}
	if (nic->is_vf)
		rte_eth_random_addr(nic->mac.addr_bytes);
	if ((nic->clears & NIC_CLEARS_AT_RESET) != 0)
		__atomic_store_n(&nic->missed, 0, __ATOMIC_RELAXED);
	hy_flow_sim_flush(nic->engine);
	nic_templates_free(nic);
	__atomic_store_n(&nic->state, NIC_WORKS, __ATOMIC_RELEASE);
	return 0;
}

static int
info(struct rte_eth_dev *dev, struct rte_eth_dev_info *to)
{
	const struct nic *nic = nic_of_dev(dev);
	const struct vendor *vendor = nic->vendor;

	if (__atomic_load_n(&nic->busy, __ATOMIC_RELAXED))
		return -EBUSY;
	to->max_mac_addrs = 1;
	to->max_rx_pktlen = UINT16_MAX;
	to->max_rx_queues = nic->nb_rx_captures > 0 ? nic->nb_rx_captures : SIMNIC_QUEUES;
	to->max_tx_queues = nic->nb_tx_captures > 0 ? nic->nb_tx_captures : SIMNIC_QUEUES;
	to->min_rx_bufsize = 0;
	to->rx_offload_capa = RTE_ETH_RX_OFFLOAD_RSS_HASH | RTE_ETH_RX_OFFLOAD_VLAN_FILTER |
		RTE_ETH_RX_OFFLOAD_VLAN_STRIP | RTE_ETH_RX_OFFLOAD_VLAN_EXTEND;
	to->tx_offload_capa = RTE_ETH_TX_OFFLOAD_MULTI_SEGS |
		(vendor->no_fast_free ? 0 : RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE);
	to->flow_type_rss_offloads = RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP |
		RTE_ETH_RSS_L3_SRC_ONLY | RTE_ETH_RSS_L3_DST_ONLY | RTE_ETH_RSS_L4_SRC_ONLY |
		RTE_ETH_RSS_L4_DST_ONLY;
	to->hash_key_size = RSS_KEY;
	to->dev_capa = vendor->rules_keep ? RTE_ETH_DEV_CAPA_FLOW_RULE_KEEP : 0;
	return 0;
}

static int
negotiate(struct rte_eth_dev *dev, uint64_t *features)
{
	struct nic *nic = nic_of_dev(dev);

	if (!nic->vendor->negotiates || nic->by_rules)
		return -ENOTSUP;
	*features &= RTE_ETH_RX_METADATA_USER_FLAG | RTE_ETH_RX_METADATA_USER_MARK;
	nic->negotiated = *features != 0;
	hy_flow_sim_deliver(nic->engine, nic->negotiated);
	return 0;
}

static int
link_update(struct rte_eth_dev *dev, int wait __rte_unused)
{
	dev->data->dev_link.link_speed = RTE_ETH_SPEED_NUM_100G;
	dev->data->dev_link.link_duplex = RTE_ETH_LINK_FULL_DUPLEX;
	return 0;
}

static int
is_removed(struct rte_eth_dev *dev)
{
	return nic_of_dev(dev)->state == NIC_REMOVED;
}

static int
promiscuous_enable(struct rte_eth_dev *dev)
{
	hy_flow_sim_accept(nic_of_dev(dev)->engine, NULL);
	return 0;
}

static int
promiscuous_disable(struct rte_eth_dev *dev)
{
	hy_flow_sim_accept(nic_of_dev(dev)->engine, &dev->data->mac_addrs[0]);
	return 0;
}

static int
mac_set(struct rte_eth_dev *dev, struct rte_ether_addr *mac)
{
	if (!dev->data->promiscuous)
		hy_flow_sim_accept(nic_of_dev(dev)->engine, mac);
	return 0;
}

static int
rss_hash_get(struct rte_eth_dev *dev, struct rte_eth_rss_conf *rss)
{
	hy_flow_sim_rss(nic_of_dev(dev)->engine, rss);
	return 0;
}

/* Rules keep theirs. */
static int
rss_hash_update(struct rte_eth_dev *dev, struct rte_eth_rss_conf *rss)
{
	uint8_t key[RSS_KEY];
	struct rte_eth_rss_conf next = { .rss_key = key };

	if (dev->data->dev_conf.rxmode.mq_mode != RTE_ETH_MQ_RX_RSS)
		return -ENOTSUP;
	rss_hash_get(dev, &next);
	next.rss_hf = rss->rss_hf;
	if (rss->rss_key != NULL)
		next.rss_key = rss->rss_key;
	hy_flow_sim_configure(nic_of_dev(dev)->engine, dev->data->nb_rx_queues, &next);
	return 0;
}

/* For operations that have no effect here. */
static int
done(struct rte_eth_dev *dev __rte_unused)
{
	return 0;
}

/* No VLAN id is ever filtered out. */
static int
vlan_offload_set(struct rte_eth_dev *dev, int mask __rte_unused)
{
	strip_follow(dev);
	return 0;
}

static int
mtu_set(struct rte_eth_dev *dev __rte_unused, uint16_t mtu __rte_unused)
{
	return 0;
}

#if HY_DPDK_QUEUE_STATS
static int
stats_all(struct rte_eth_dev *dev, struct rte_eth_stats *stats,
	struct eth_queue_stats *queues __rte_unused)
{
	return nic_stats(dev, stats);
}
#else
#define stats_all nic_stats
#endif

static const struct eth_dev_ops ops = {
	.dev_configure = configure,
	.dev_start = start,
	.dev_stop = stop,
	.dev_close = close_port,
	.dev_reset = reset,
	.dev_infos_get = info,
	.is_removed = is_removed,
	.rx_queue_setup = nic_rx_setup,
	.tx_queue_setup = nic_tx_setup,
	.link_update = link_update,
	.promiscuous_enable = promiscuous_enable,
	.promiscuous_disable = promiscuous_disable,
	.mac_addr_set = mac_set,
	.allmulticast_enable = done,
	.allmulticast_disable = done,
	.vlan_offload_set = vlan_offload_set,
	.mtu_set = mtu_set,
	.rss_hash_update = rss_hash_update,
	.rss_hash_conf_get = rss_hash_get,
	.stats_get = stats_all,
	.stats_reset = nic_stats_reset,
	.flow_ops_get = nic_flow_ops,
	.pool_ops_supported = nic_pool_supported,
	.rx_metadata_negotiate = negotiate,
};

static int
number(const char *key, const char *value, void *to)
{
	char *end;
	const unsigned long parsed = strtoul(value, &end, 0);

	if (*value == '\0' || *end != '\0' || parsed > UINT32_MAX)
		return NIC_REFUSE(-EINVAL, "%s=%s is not a number\n", key, value);
	*(uint32_t *)to = (uint32_t)parsed;
	return 0;
}

#define NUMBERS 12 /* of the keys: the others name captures */

static const char *const keys[] = { "table_size", "mark_max", "lose_rules", "no_marks",
	"mark_every", "mark_until", "lie_every", "port_add", "auto_reset", "reset_waits", "vf",
	"clears", "rx_pcap", "tx_pcap", NULL };

static int
engine_make(struct rte_kvargs *args, struct nic *nic)
{
	struct hy_flow_sim_params params = { .profile = nic->vendor->profile };
	uint32_t values[NUMBERS] = { 0 };

	for (size_t k = 0; k < NUMBERS; k++) {
		const int rc = rte_kvargs_process(args, keys[k], number, &values[k]);

		if (rc != 0)
			return rc;
	}
	params.table_size = values[0];
	params.mark_max = values[1];
	params.lose_rules = values[2] != 0;
	params.faults = (struct hy_flow_sim_faults){ values[3], values[4], values[5], values[6],
		values[7] };
	nic->resets_itself = values[8] != 0;
	nic->reset_waits = values[9];
	nic->is_vf = values[10] != 0;
	nic->clears = values[11];
	return hy_flow_sim_create(&params, &nic->engine);
}

/* Opens the captures and creates the engine. */
static int
arguments_take(const char *args, struct nic *nic)
{
	struct rte_kvargs *list = rte_kvargs_parse(args, keys);
	int rc;

	if (list == NULL)
		return -EINVAL;
	rc = nic_captures_open(list, nic);
	if (rc == 0)
		rc = engine_make(list, nic);
	rte_kvargs_free(list);
	return rc;
}

static const struct vendor *
vendor_of(const char *name)
{
	for (size_t i = 0; i < RTE_DIM(vendors); i++)
		if (strncmp(name, vendors[i].alias, strlen(vendors[i].alias)) == 0 ||
			strncmp(name, vendors[i].driver, strlen(vendors[i].driver)) == 0)
			return &vendors[i];
	return NULL;
}

static int
probe(struct rte_vdev_device *vdev)
{
	const struct vendor *vendor = vendor_of(rte_vdev_device_name(vdev));
	struct rte_eth_dev *dev = rte_eth_vdev_allocate(vdev, sizeof(struct nic));
	struct nic *nic;
	int rc;

	if (dev == NULL)
		return -ENOMEM;
	nic = nic_of_dev(dev);
	nic->vendor = vendor;
	rc = vendor->own_pools ? simnic_pool_init() : 0;
	if (rc == 0)
		rc = arguments_take(rte_vdev_device_args(vdev), nic);
	if (rc != 0) {
		nic_queues_free(nic);
		rte_eth_dev_release_port(dev);
		return rc;
	}
	hy_flow_sim_deliver(nic->engine, !vendor->negotiates);
	rte_eth_random_addr(nic->mac.addr_bytes);
	dev->data->mac_addrs = &nic->mac;
	dev->data->promiscuous = 1; /* like DPDK's own virtual ports */
	dev->data->dev_flags |= RTE_ETH_DEV_AUTOFILL_QUEUE_XSTATS | RTE_ETH_DEV_INTR_RMV;
	if (vendor->threads)
		dev->data->dev_flags |= RTE_ETH_DEV_FLOW_OPS_THREAD_SAFE;
	dev->dev_ops = &ops;
#if HY_DPDK_FLOW_FAST
	dev->flow_fp_ops = &nic_templates_fp_ops;
#endif
	dev->rx_pkt_burst = nic_rx;
	dev->tx_pkt_burst = nic_tx;
	rte_eth_dev_probing_finish(dev);
	return 0;
}

static int
remove_port(struct rte_vdev_device *vdev)
{
	struct rte_eth_dev *dev = rte_eth_dev_allocated(rte_vdev_device_name(vdev));

	return dev != NULL ? rte_eth_dev_close(dev->data->port_id) : 0;
}

RTE_INIT(nics_register)
{
	for (size_t i = 0; i < RTE_DIM(vendors); i++) {
		drivers[i].probe = probe;
		drivers[i].remove = remove_port;
		drivers[i].driver.name = vendors[i].driver;
		drivers[i].driver.alias = vendors[i].alias;
		rte_vdev_register(&drivers[i]);
	}
}

RTE_FINI(nics_unregister)
{
	for (size_t i = 0; i < RTE_DIM(vendors); i++)
		rte_vdev_unregister(&drivers[i]);
}

struct hy_flow_sim *
simnic_engine(uint16_t port)
{
	return nic_of(port)->engine;
}

void
simnic_marks_by_rules(uint16_t port)
{
	nic_of(port)->by_rules = true;
	hy_flow_sim_deliver(nic_of(port)->engine, false);
}

bool
simnic_delivers(uint16_t port)
{
	return nic_of(port)->negotiated;
}

void
simnic_break(uint16_t port)
{
	struct nic *nic = nic_of(port);

	if (nic->resets_itself) {
		hy_flow_sim_flush(nic->engine);
		return;
	}
	__atomic_store_n(&nic->state, NIC_BROKEN, __ATOMIC_RELEASE);
	hy_flow_sim_flush(nic->engine);
	rte_eth_dev_callback_process(&rte_eth_devices[port], RTE_ETH_EVENT_INTR_RESET, NULL);
}

void
simnic_recovers(uint16_t port, bool on)
{
	__atomic_store_n(&nic_of(port)->state, on ? NIC_BROKEN : NIC_WORKS, __ATOMIC_RELEASE);
	rte_eth_dev_callback_process(&rte_eth_devices[port],
		on ? RTE_ETH_EVENT_ERR_RECOVERING : RTE_ETH_EVENT_RECOVERY_SUCCESS, NULL);
}

void
simnic_miss(uint16_t port, uint64_t n)
{
	__atomic_fetch_add(&nic_of(port)->missed, n, __ATOMIC_RELAXED);
}

void
simnic_busy(uint16_t port, bool on)
{
	__atomic_store_n(&nic_of(port)->busy, on, __ATOMIC_RELAXED);
}

void
simnic_remove(uint16_t port)
{
	__atomic_store_n(&nic_of(port)->state, NIC_REMOVED, __ATOMIC_RELEASE);
	if (rte_eth_devices[port].data->dev_conf.intr_conf.rmv)
		rte_eth_dev_callback_process(&rte_eth_devices[port], RTE_ETH_EVENT_INTR_RMV, NULL);
}

void
simnic_offences(uint16_t port, struct simnic_offences *offences)
{
	const struct simnic_offences *counted = &nic_of(port)->offences;

	__atomic_load(&counted->flow_when_removed, &offences->flow_when_removed, __ATOMIC_RELAXED);
	__atomic_load(&counted->flow_validated, &offences->flow_validated, __ATOMIC_RELAXED);
	__atomic_load(&counted->flow_when_broken, &offences->flow_when_broken, __ATOMIC_RELAXED);
	__atomic_load(&counted->stats_unanswered, &offences->stats_unanswered, __ATOMIC_RELAXED);
}
