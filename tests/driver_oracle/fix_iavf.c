/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fixture of net_iavf: the whole driver, probed, configured and started on a virtual function
 * that is not there. Its virtual channel ends in memory, at what Linux's driver of an E810 does for
 * its virtual functions (pf_e810.c).
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>
#include <rte_version.h>

#include <ethdev_driver.h>
#include <bus_pci_driver.h>

#include "oracle.h"
#include "pf_e810.h"
#include "pf_port.h"

#define REGISTERS (1u << 20)
#define RSTAT 0x8800 /* base: iavf_register.h, IAVF_VFGEN_RSTAT */
#define DESCRIPTORS 512
#define POOL 8191

static const struct oracle_profile profiles[] = {
	{
		.name = "e810-vf",
		.source = "Linux 6.6, drivers/net/ethernet/intel/ice: ice_virtchnl.c, "
			  "ice_vc_get_vf_res_msg(), ice_vc_cfg_qs_msg(); ice_virtchnl_fdir.c, "
			  "ice_vc_add_fdir_fltr()",
	},
	{ 0 },
};

#define NAME "0000:00:02.0"

static struct rte_pci_driver *driver;
static struct pf_answer answer;
static bool pending; /* an answer that the driver has not read */

/* Of the driver, which declares it for itself only. */
void iavf_handle_virtchnl_msg(struct rte_eth_dev *dev);

/*
 * Replaced: drivers do not register with the bus, but here. The one that is linked in is the first;
 * EAL loads the installed plugins later, and they come here, too.
 */
void
rte_pci_register(struct rte_pci_driver *registered)
{
	if (driver == NULL && strcmp(registered->driver.name, "net_iavf") == 0)
		driver = registered;
}

void
rte_pci_unregister(struct rte_pci_driver *registered)
{
	RTE_SET_USED(registered);
}

/* Replaced: the admin queue. */

enum iavf_status
iavf_init_adminq(struct iavf_hw *hw)
{
	RTE_SET_USED(hw);
	return IAVF_SUCCESS;
}

enum iavf_status
iavf_shutdown_adminq(struct iavf_hw *hw)
{
	RTE_SET_USED(hw);
	return IAVF_SUCCESS;
}

/* What the driver asks while it is probed it polls for; later its interrupt handler takes answers. */
static bool
is_polled(enum virtchnl_ops op)
{
	return op == VIRTCHNL_OP_VERSION || op == VIRTCHNL_OP_GET_VF_RESOURCES ||
		op == VIRTCHNL_OP_GET_SUPPORTED_RXDIDS ||
		op == VIRTCHNL_OP_GET_OFFLOAD_VLAN_V2_CAPS;
}

enum iavf_status
iavf_aq_send_msg_to_pf(struct iavf_hw *hw, enum virtchnl_ops op, enum iavf_status status, u8 *msg,
	u16 len, struct iavf_asq_cmd_details *details)
{
	struct rte_eth_dev *dev = rte_eth_dev_allocated(NAME);

	RTE_SET_USED(hw);
	RTE_SET_USED(status);
	RTE_SET_USED(details);
	pf_ask(op, msg, len, &answer);
	__atomic_store_n(&pending, true, __ATOMIC_RELEASE);
	if (!is_polled(op) && dev != NULL)
		iavf_handle_virtchnl_msg(dev);
	return IAVF_SUCCESS;
}

enum iavf_status
iavf_clean_arq_element(struct iavf_hw *hw, struct iavf_arq_event_info *event, u16 *left)
{
	RTE_SET_USED(hw);
	if (!__atomic_exchange_n(&pending, false, __ATOMIC_ACQUIRE))
		return IAVF_ERR_ADMIN_QUEUE_NO_WORK;
	memset(&event->desc, 0, sizeof(event->desc));
	event->desc.opcode = rte_cpu_to_le_16(iavf_aqc_opc_send_msg_to_vf);
	event->desc.cookie_high = rte_cpu_to_le_32(answer.op);
	event->desc.cookie_low = rte_cpu_to_le_32(answer.status);
	event->msg_len = RTE_MIN(event->buf_len, answer.len);
	memcpy(event->msg_buf, answer.bytes, event->msg_len);
	if (left != NULL)
		*left = 0;
	return IAVF_SUCCESS;
}

static int
probe(void)
{
	static struct rte_pci_device pci = {
		.id = { .vendor_id = 0x8086, .device_id = 0x1889 },
		.name = NAME,
	};
	uint32_t *bar = rte_zmalloc(NULL, REGISTERS, 4096);

	if (driver == NULL || bar == NULL)
		return -ENODEV;
	bar[RSTAT / sizeof(bar[0])] = VIRTCHNL_VFR_VFACTIVE;
	pci.device.name = pci.name;
	pci.device.driver = &driver->driver;
	pci.mem_resource[0].addr = bar;
	pci.mem_resource[0].len = REGISTERS;
	pci.intr_handle = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
	if (pci.intr_handle == NULL)
		return -ENOMEM;
#if RTE_VERSION < RTE_VERSION_NUM(25, 3, 0, 0)
	pci.driver = driver;
#endif
	return driver->probe(driver, &pci);
}

static int
iavf_open(const struct oracle_profile *profile, uint16_t nb_queues, uint16_t *port)
{
	static const struct rte_eth_conf conf = {
		.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS,
		.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_UDP,
	};
	struct rte_mempool *pool = rte_pktmbuf_pool_create("iavf", POOL, 0, 0,
		RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	int rc = pool != NULL ? probe() : -ENOMEM;

	RTE_SET_USED(profile);
	if (rc == 0)
		rc = rte_eth_dev_get_port_by_name(NAME, port);
	if (rc == 0)
		rc = rte_eth_dev_configure(*port, nb_queues, nb_queues, &conf);
	for (uint16_t q = 0; rc == 0 && q < nb_queues; q++) {
		rc = rte_eth_rx_queue_setup(*port, q, DESCRIPTORS, SOCKET_ID_ANY, NULL, pool);
		if (rc == 0)
			rc = rte_eth_tx_queue_setup(*port, q, DESCRIPTORS, SOCKET_ID_ANY, NULL);
	}
	return rc == 0 ? rte_eth_dev_start(*port) : rc;
}

const struct oracle oracle = {
	.driver = "net_iavf",
	.simulator = "iavf",
	.profiles = profiles,
	.open = iavf_open,
	.room = PF_RULES,
	.creates = true,
	.matches = pf_matches,
	.hashed = pf_port_hashed,
};
