/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mlx5's validation (mlx5_flow.c, mlx5_flow_dv.c): a port that the driver itself configured, on a
 * device that is only what its capabilities say.
 *
 * The fixture fills in what probing reads from firmware and kernel. Everything after that is done by
 * the driver's own functions through ethdev: what it says of the device, its queues, its RSS.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ethdev_driver.h>
#include <mlx5_autoconf.h>
#include <rte_flow_driver.h>
#include <rte_mbuf.h>

#include "mlx5.h"
#include "mlx5_flow.h"
#include "mlx5_rx.h"
#include "oracle.h"

static struct rte_driver driver = { .name = "mlx5_pci" };
static struct rte_device device = { .name = "0000:00:03.0", .driver = &driver };

/* What a device tells when it is probed: linux/mlx5_os.c, common/mlx5/mlx5_devx_cmds.c. */
struct device {
	uint8_t steering_format; /* cmd_hca_cap.steering_format_version */
	bool tunnel_header;      /* ft_field_support_2_nic_receive.tunnel_header_0_1, and misc5 */
	bool guest;              /* a VF in a virtual machine: mlx5_vlan_vmwa_init() */
};

/* mlx5_prm.h, MLX5_STEERING_LOGIC_FORMAT_; 22.11 ends with that of ConnectX-6 Dx. */
static const struct device connectx5 = { .steering_format = 0 };
static const struct device connectx5_guest = { .steering_format = 0, .guest = true };
static const struct device connectx6dx = { .steering_format = 1, .tunnel_header = true };
static const struct device connectx7 = { .steering_format = 2, .tunnel_header = true };

static const struct oracle_profile profiles[] = {
	{ .name = "connectx5",
		.source = "common/mlx5/mlx5_prm.h: MLX5_STEERING_LOGIC_FORMAT_CONNECTX_5",
		.data = &connectx5 },
	{ .name = "connectx5-guest",
		.source = "net/mlx5/linux/mlx5_vlan_os.c: mlx5_vlan_vmwa_init()",
		.simulator = "mlx5_guest",
		.data = &connectx5_guest },
	{ .name = "connectx6dx",
		.source = "common/mlx5/mlx5_prm.h: MLX5_STEERING_LOGIC_FORMAT_CONNECTX_6DX",
		.data = &connectx6dx },
	{ .name = "connectx7",
		.source =
			"DPDK 26.07, common/mlx5/mlx5_prm.h: MLX5_STEERING_LOGIC_FORMAT_CONNECTX_7",
		.data = &connectx7 },
	{ 0 },
};

#define LOG_QUEUE_SIZE 15              /* cmd_hca_cap.log_max_wq_sz */
#define QUEUES 1000                    /* fewer than ethdev or any of these devices allows */
#define RETA RTE_ETH_RSS_RETA_SIZE_512 /* mlx5_os.c takes no more, devices have 2048 */
#define PRIORITIES 5 /* mlx5_flow_discover_priorities() where the kernel has 16 of Verbs */
#define DESCRIPTORS 64

/* The kernel's interface: these two stand before those of linux/mlx5_ethdev_os.c. */
static uint16_t kernel_mtu = RTE_ETHER_MTU;

int
mlx5_get_mtu(struct rte_eth_dev *dev, uint16_t *mtu)
{
	(void)dev;
	*mtu = kernel_mtu;
	return 0;
}

int
mlx5_set_mtu(struct rte_eth_dev *dev, uint16_t mtu)
{
	(void)dev;
	kernel_mtu = mtu;
	return 0;
}

/* As mlx5_os.c leaves it with default devargs: dv_flow_en=1, dv_xmeta_en=0. */
static struct mlx5_dev_ctx_shared *
shared_new(const struct device *is)
{
	struct mlx5_dev_ctx_shared *sh = calloc(1, sizeof(*sh) + sizeof(sh->port[0]));
	struct mlx5_common_device *cdev = calloc(1, sizeof(*cdev));

	if (sh == NULL || cdev == NULL)
		return NULL;
	cdev->config.devx = 1;
	cdev->config.hca_attr.log_max_wq_sz = LOG_QUEUE_SIZE;
	cdev->config.hca_attr.flow_counters_dump = 1;
	sh->cdev = cdev;
	sh->max_port = 1;
	sh->config.dv_flow_en = 1;
	sh->config.dv_xmeta_en = MLX5_XMETA_MODE_LEGACY;
	sh->dev_cap.ind_table_max_size = RETA;
	sh->dev_cap.max_cq = QUEUES;
	sh->dev_cap.max_qp = QUEUES;
	sh->steering_format_version = is->steering_format;
	sh->tunnel_header_0_1 = is->tunnel_header;
	sh->misc5_cap = is->tunnel_header;
	sh->dv_meta_mask = UINT32_MAX;
	sh->dv_mark_mask = MLX5_FLOW_MARK_MASK;
	sh->dv_regc0_mask = UINT32_MAX;
	sh->flow_max_priority = PRIORITIES;
	for (unsigned int i = 0; i < RTE_DIM(sh->flow_mreg_c); i++)
		sh->flow_mreg_c[i] = REG_NON;
	return sh;
}

/*
 * Rules that are created: a device of these has room for any rule that the driver validates, so the
 * driver's create(), which would set up tables and matchers in it, is left out.
 */
static struct rte_flow *
flow_create(struct rte_eth_dev *dev, const struct rte_flow_attr *attr,
	const struct rte_flow_item items[], const struct rte_flow_action actions[],
	struct rte_flow_error *error)
{
	const struct rte_flow_ops *ops = NULL;

	if (mlx5_flow_ops_get(dev, &ops) != 0 ||
		ops->validate(dev, attr, items, actions, error) != 0)
		return NULL;
	return calloc(1, 1);
}

static int
flow_destroy(struct rte_eth_dev *dev, struct rte_flow *flow, struct rte_flow_error *error)
{
	(void)dev;
	(void)error;
	free(flow);
	return 0;
}

/* What was not created counts nothing: as flow_dv_query_count() answers for a new counter. */
static int
flow_query(struct rte_eth_dev *dev, struct rte_flow *flow, const struct rte_flow_action *action,
	void *data, struct rte_flow_error *error)
{
	struct rte_flow_query_count *count = data;

	(void)dev;
	(void)flow;
	if (action->type != RTE_FLOW_ACTION_TYPE_COUNT)
		return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			"action not supported");
	count->hits_set = count->bytes_set = 1;
	return 0;
}

static int
flow_ops_get(struct rte_eth_dev *dev, const struct rte_flow_ops **ops)
{
	static struct rte_flow_ops own;
	const struct rte_flow_ops *drivers = NULL;
	const int rc = mlx5_flow_ops_get(dev, &drivers);

	if (rc != 0)
		return rc;
	own = *drivers;
	own.create = flow_create;
	own.destroy = flow_destroy;
	own.query = flow_query;
	*ops = &own;
	return 0;
}

static struct rte_eth_dev *
port_new(const struct device *is)
{
	static struct eth_dev_ops ops;
	struct mlx5_dev_ctx_shared *sh = shared_new(is);
	struct mlx5_priv *priv = calloc(1, sizeof(*priv));
	struct rte_eth_dev *dev = rte_eth_dev_allocate("oracle");

	if (sh == NULL || priv == NULL || dev == NULL)
		return NULL;
	dev->device = &device;
	ops = mlx5_dev_ops;
	ops.flow_ops_get = flow_ops_get;
	ops.is_removed = NULL; /* would ask the kernel */
	dev->dev_ops = &ops;
	dev->data->dev_private = priv;
	priv->sh = sh;
	priv->dev_data = dev->data;
	priv->min_mtu = RTE_ETHER_MIN_MTU;
	priv->max_mtu = 9978; /* of these devices' Ethernet drivers */
	if (is->guest)
		priv->vmwa_context = (void *)priv; /* only asked whether there is one */
	rte_eth_dev_probing_finish(dev);
	return dev;
}

static int
queues_setup(uint16_t port, uint16_t n)
{
	const struct rte_eth_conf conf = { .rxmode.mq_mode = RTE_ETH_MQ_RX_RSS,
		.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP };
	struct rte_mempool *pool;
	int rc = rte_eth_dev_configure(port, n, 0, &conf);

	if (rc != 0)
		return rc;
	pool = rte_pktmbuf_pool_create("oracle", DESCRIPTORS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, 0);
	if (pool == NULL)
		return -ENOMEM;
	for (uint16_t q = 0; q < n && rc == 0; q++)
		rc = rte_eth_rx_queue_setup(port, q, DESCRIPTORS, 0, NULL, pool);
	return rc;
}

#define SAME(what, should) \
	{ \
#what, (uint64_t)(what), (uint64_t)(should) \
	}

/*
 * Whether driver and fixture mean the same bytes. mlx5_autoconf.h decides on the layout, and may be
 * another than that of the archive: the driver must have found what the fixture wrote, and the
 * fixture finds what the driver wrote.
 */
static int
layout_check(struct rte_eth_dev *dev, uint16_t nb_queues)
{
	const struct mlx5_priv *priv = dev->data->dev_private;
	const struct mlx5_rxq_priv *last = (*priv->rxq_privs)[nb_queues - 1];
	const struct rte_flow_attr root = { 0 };
	struct mlx5_dev_ctx_shared *sh = priv->sh;
	const bool registers = mlx5_flow_ext_mreg_supported(dev);
	struct rte_eth_dev_info info;

	if (rte_eth_dev_info_get(dev->data->port_id, &info) != 0)
		return -ENODEV;
	sh->flow_mreg_c[2] = REG_C_2;

	const struct {
		const char *what;
		uint64_t is, should;
	} fields[] = {
		SAME(info.reta_size, sh->dev_cap.ind_table_max_size),
		SAME(info.max_rx_queues, sh->dev_cap.max_cq),
		SAME(info.max_mtu, priv->max_mtu),
		SAME(info.rx_desc_lim.nb_max, 1u << LOG_QUEUE_SIZE),
		SAME(mlx5_get_lowest_priority(dev, &root), sh->flow_max_priority - 2),
		SAME(registers, false),
		SAME(mlx5_flow_ext_mreg_supported(dev), true),
		SAME(priv->rxqs_n, nb_queues),
		SAME(priv->rss_conf.rss_key_len, MLX5_RSS_HASH_KEY_LEN),
		SAME((uintptr_t)LIST_FIRST(&priv->rxqsctrl), (uintptr_t)last->ctrl),
		SAME((uintptr_t)sh->pppriv, (uintptr_t)dev->process_private),
		SAME(last->idx, nb_queues - 1),
		SAME((uintptr_t)last->priv, (uintptr_t)priv),
		SAME((uintptr_t)last->ctrl->sh, (uintptr_t)sh),
		SAME((uintptr_t)&last->ctrl->rxq, (uintptr_t)dev->data->rx_queues[nb_queues - 1]),
		SAME(last->ctrl->rxq.port_id, dev->data->port_id),
	};
	int rc = 0;

	sh->flow_mreg_c[2] = REG_NON;
	for (size_t i = 0; i < RTE_DIM(fields); i++) {
		if (fields[i].is == fields[i].should)
			continue;
		fprintf(stderr,
			"mlx5: the driver's archive and its headers differ: %s is %#" PRIx64
			", should be %#" PRIx64 "\n",
			fields[i].what, fields[i].is, fields[i].should);
		rc = -EPROTO;
	}
	return rc;
}

static int
open_port(const struct oracle_profile *profile, uint16_t nb_queues, uint16_t *port)
{
	struct rte_eth_dev *dev = port_new(profile->data);
	int rc;

	if (dev == NULL)
		return -ENOMEM;
	rc = queues_setup(dev->data->port_id, nb_queues);
	if (rc == 0)
		rc = layout_check(dev, nb_queues);
	if (rc != 0)
		return rc;
	dev->data->dev_started = 1;
	*port = dev->data->port_id;
	return 0;
}

const struct oracle oracle = {
	.driver = "mlx5_pci",
	.simulator = "mlx5",
	.profiles = profiles,
	.open = open_port,
};
