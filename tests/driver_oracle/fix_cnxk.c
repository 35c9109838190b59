/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * net_cn9k and net_cn10k: the kernel's admin function (AF) answers by a mailbox, and here from
 * memory. What the driver has it write into the MCAM is kept, and matched against frames.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cn10k_flow.h>
#include <cn9k_flow.h>
#include <cnxk_ethdev.h>
#include <cnxk_flow.h>
#include <roc_api.h>
#include <roc_priv.h>

#include "cnxk_key.h"
#include "oracle.h"

#define CHANNEL 0x800   /* af/rvu.h, NIX_CHAN_CGX_LMAC_CHX(0, 0, 0) */
#define ENTRIES 2048    /* of the MCAM, for this port: all functions share it */
#define NO_ENTRY (-702) /* af/mbox.h, NPC_MCAM_ALLOC_FAILED */

/* af/npc_profile.h, KEX_LD_CFG(), NPC_PARSE_NIBBLE_INTF_RX and npc_mkex_default. */
#define PIECE(size, from, to) \
	((uint64_t)((size)-1) << 16 | (uint64_t)(from) << 8 | 1 << 7 | (uint64_t)(to))
#define CHAN_BCAST_AND_TYPES_TO_LE (0x7 | 1 << 6 | 1 << 9 | 1 << 12 | 1 << 15 | 1 << 18 | 1 << 21)
#define KEY_X2 (1ull << 32)
#define KEY_X4 (2ull << 32)

/* A driver goes with a kernel of its time: both moved ICMP from 3 to 15. */
_Static_assert(NPC_LT_LD_ICMP == 3 || NPC_LT_LD_ICMP == 15, "a third type of ICMP");

static const struct kex linux_default = {
	.config = KEY_X2 | CHAN_BCAST_AND_TYPES_TO_LE,
	.icmp = NPC_LT_LD_ICMP,
	.pieces = {
		[NPC_LID_LA] = { [NPC_LT_LA_ETHER] = { PIECE(6, 0, 9), PIECE(2, 12, 5) },
			[NPC_LT_LA_HIGIG2_ETHER] = { PIECE(2, 8, 9), PIECE(2, 12, 11) } },
		[NPC_LID_LB] = { [NPC_LT_LB_CTAG] = { PIECE(2, 2, 7), PIECE(2, 4, 5) },
			[NPC_LT_LB_STAG_QINQ] = { PIECE(2, 2, 7), PIECE(2, 8, 5) },
			[NPC_LT_LB_FDSA] = { PIECE(1, 1, 7), PIECE(2, 4, 5) } },
		[NPC_LID_LC] = { [NPC_LT_LC_IP] = { PIECE(8, 12, 16), PIECE(1, 1, 15) },
			[NPC_LT_LC_IP6] = { PIECE(8, 0, 16) } },
		[NPC_LID_LD] = { [NPC_LT_LD_UDP] = { PIECE(4, 0, 24) },
			[NPC_LT_LD_TCP] = { PIECE(4, 0, 24) } },
	},
};

/*
 * A profile as a vendor's firmware could bring (af/rvu_npc.c, npc_load_mkex_profile()): in a key
 * twice as long, every field that the simulator knows.
 */
static const struct kex wide = {
	.config = KEY_X4 | CHAN_BCAST_AND_TYPES_TO_LE,
	.icmp = NPC_LT_LD_ICMP,
	.pieces = {
		[NPC_LID_LA] = { [NPC_LT_LA_ETHER] = { PIECE(12, 0, 41), PIECE(2, 12, 5) } },
		[NPC_LID_LB] = { [NPC_LT_LB_CTAG] = { PIECE(2, 2, 7), PIECE(2, 4, 5) },
			[NPC_LT_LB_STAG_QINQ] = { PIECE(2, 2, 7), PIECE(2, 8, 5) } },
		[NPC_LID_LC] = { [NPC_LT_LC_IP] = { PIECE(8, 12, 16), PIECE(9, 1, 32) },
			[NPC_LT_LC_IP6] = { PIECE(8, 0, 16) } },
		[NPC_LID_LD] = { [NPC_LT_LD_UDP] = { PIECE(4, 0, 24) },
			[NPC_LT_LD_TCP] = { PIECE(4, 0, 24), PIECE(1, 13, 28) },
			[NPC_LT_LD_SCTP] = { PIECE(4, 0, 24) },
			[NPC_LT_LD_ICMP] = { PIECE(2, 0, 24) } },
		[NPC_LID_LE] = { [NPC_LT_LE_VXLAN] = { PIECE(4, 4, 28) } },
	},
};

/* One with the addresses of IPv6, two pieces, for which the others have no room. */
static const struct kex ip6 = {
	.config = KEY_X4 | CHAN_BCAST_AND_TYPES_TO_LE,
	.icmp = NPC_LT_LD_ICMP,
	.pieces = {
		[NPC_LID_LA] = { [NPC_LT_LA_ETHER] = { PIECE(2, 12, 5) } },
		[NPC_LID_LB] = { [NPC_LT_LB_CTAG] = { PIECE(2, 2, 7), PIECE(2, 4, 5) },
			[NPC_LT_LB_STAG_QINQ] = { PIECE(2, 2, 7), PIECE(2, 8, 5) } },
		[NPC_LID_LC] = { [NPC_LT_LC_IP] = { PIECE(8, 12, 16), PIECE(1, 1, 15) },
			[NPC_LT_LC_IP6] = { PIECE(16, 8, 16), PIECE(16, 24, 32) } },
		[NPC_LID_LD] = { [NPC_LT_LD_UDP] = { PIECE(4, 0, 48) },
			[NPC_LT_LD_TCP] = { PIECE(4, 0, 48) } },
	},
};

struct chip {
	uint64_t model;
	const struct kex *kex;
	struct rte_flow *(*create)(struct rte_eth_dev *dev, const struct rte_flow_attr *attr,
		const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
		struct rte_flow_error *error);
	int (*destroy)(struct rte_eth_dev *dev, struct rte_flow *flow,
		struct rte_flow_error *error);
};
static const struct chip cn10k = { ROC_MODEL_CN106xx_A0, &linux_default, cn10k_flow_create,
	cn10k_flow_destroy };
static const struct chip cn10k_wide = { ROC_MODEL_CN106xx_A0, &wide, cn10k_flow_create,
	cn10k_flow_destroy };
static const struct chip cn10k_ip6 = { ROC_MODEL_CN106xx_A0, &ip6, cn10k_flow_create,
	cn10k_flow_destroy };
static const struct chip cn9k = { ROC_MODEL_CN96xx_C0, &linux_default, cn9k_flow_create,
	cn9k_flow_destroy };

#define DEFAULT_KEY \
	"Linux, drivers/net/ethernet/marvell/octeontx2/af/npc_profile.h: npc_mkex_default"

static const struct oracle_profile profiles[] = {
	{ .name = "cn10k-default", .source = DEFAULT_KEY, .data = &cn10k },
	{ .name = "cn9k-default", .source = DEFAULT_KEY, .driver = "net_cn9k", .data = &cn9k },
	{ .name = "cn10k-wide",
		.simulator = "cnxk_wide",
		.source = "made up: all fields that the simulator knows",
		.data = &cn10k_wide },
	{ .name = "cn10k-ip6",
		.simulator = "cnxk_ip6",
		.source = "made up: the addresses of IPv6",
		.data = &cn10k_ip6 },
	{ 0 },
};

/* The AF. */

static const struct kex *kex;
static union {
	uint8_t bytes[65536];
	struct mbox_msghdr head;
} request, response;
static int answer;
static struct slot {
	bool used, enabled;
	struct kex_entry entry;
	uint64_t action;
} mcam[ENTRIES];

static void
get_kex(void)
{
	struct npc_get_kex_cfg_rsp *rsp = (void *)&response;

	rsp->rx_keyx_cfg = kex->config;
	for (unsigned int layer = 0; layer < KEX_LAYERS; layer++)
		for (unsigned int type = 0; type < KEX_TYPES; type++)
			for (unsigned int i = 0; i < KEX_PIECES; i++)
				rsp->intf_lid_lt_ld[0][layer][type][i] =
					kex->pieces[layer][type][i];
}

/*
 * af/rvu_npc.c, npc_mcam_alloc_entries(). The first that is free, wherever the driver asks for one:
 * it moves entries until its rules are in order.
 */
static void
alloc_entry(void)
{
	struct npc_mcam_alloc_entry_rsp *rsp = (void *)&response;
	unsigned int i = 0;

	while (i < ENTRIES && mcam[i].used)
		i++;
	if (i == ENTRIES) {
		answer = NO_ENTRY;
		return;
	}
	mcam[i].used = true;
	rsp->entry = rsp->entry_list[0] = (uint16_t)i;
	rsp->count = 1;
}

static void
free_entry(void)
{
	const struct npc_mcam_free_entry_req *req = (const void *)&request;

	if (req->all)
		memset(mcam, 0, sizeof(mcam));
	else if (req->entry < ENTRIES && mcam[req->entry].used)
		mcam[req->entry] = (struct slot){ 0 };
	else
		answer = -EINVAL;
}

static void
write_entry(void)
{
	const struct npc_mcam_write_entry_req *req = (const void *)&request;
	struct slot *slot = &mcam[req->entry % ENTRIES];

	slot->enabled = req->enable_entry != 0;
	slot->action = req->entry_data.action;
	for (unsigned int i = 0; i < KEX_WORDS; i++) {
		slot->entry.value[i] = req->entry_data.kw[i];
		slot->entry.mask[i] = req->entry_data.kw_mask[i];
	}
}

static void
shift_entries(void)
{
	const struct npc_mcam_shift_entry_req *req = (const void *)&request;

	for (unsigned int i = 0; i < req->shift_count; i++) {
		struct slot *from = &mcam[req->curr_entry[i] % ENTRIES];
		struct slot *to = &mcam[req->new_entry[i] % ENTRIES];

		to->entry = from->entry;
		to->action = from->action;
		to->enabled = true;
		from->enabled = false;
	}
}

/* These replace those of roc_mbox.c. */

struct mbox_msghdr *
mbox_alloc_msg_rsp(struct mbox *mbox, int devid, int size, int size_rsp)
{
	(void)mbox;
	(void)devid;
	(void)size;
	(void)size_rsp;
	memset(&request, 0, sizeof(request));
	return &request.head;
}

void
mbox_msg_send(struct mbox *mbox, int devid)
{
	(void)mbox;
	(void)devid;
	memset(&response, 0, sizeof(response));
	answer = 0;
	switch (request.head.id) {
	case MBOX_MSG_NPC_GET_KEX_CFG:
		get_kex();
		break;
	case MBOX_MSG_NPC_MCAM_ALLOC_ENTRY:
		alloc_entry();
		break;
	case MBOX_MSG_NPC_MCAM_FREE_ENTRY:
		free_entry();
		break;
	case MBOX_MSG_NPC_MCAM_WRITE_ENTRY:
		write_entry();
		break;
	case MBOX_MSG_NPC_MCAM_SHIFT_ENTRY:
		shift_entries();
		break;
	case MBOX_MSG_GET_HW_CAP: /* none that matters here: no exact match */
	case MBOX_MSG_NPC_MCAM_ALLOC_COUNTER:
	case MBOX_MSG_NPC_MCAM_CLEAR_COUNTER:
	case MBOX_MSG_NPC_MCAM_COUNTER_STATS: /* no packet has come */
	case MBOX_MSG_NPC_MCAM_FREE_COUNTER:
	case MBOX_MSG_NIX_RSS_FLOWKEY_CFG:
	case MBOX_MSG_NIX_AQ_ENQ:
	case MBOX_MSG_NIX_CN10K_AQ_ENQ:
		break;
	default: /* nothing is believed of what the fixture does not know */
		fprintf(stderr, "the AF gets message 0x%x, which it does not know\n",
			request.head.id);
		abort();
	}
}

int
mbox_get_rsp(struct mbox *mbox, int devid, void **msg)
{
	(void)mbox;
	(void)devid;
	if (msg != NULL)
		*msg = &response;
	return answer;
}

/* The entry of the lowest index wins (af/rvu_npc.c, npc_mcam_alloc_entries()); NULL: none. */
static const struct slot *
match(const uint8_t *frame, uint32_t len)
{
	for (unsigned int i = 0; i < ENTRIES; i++)
		if (mcam[i].used && mcam[i].enabled &&
			(kex_matches(kex, &mcam[i].entry, frame, len, CHANNEL, false) ||
				kex_matches(kex, &mcam[i].entry, frame, len, CHANNEL, true)))
			return &mcam[i];
	return NULL;
}

static bool
matches(const uint8_t *frame, uint32_t len)
{
	return match(frame, len) != NULL;
}

/* hw/nix.h, struct nix_rx_action_s: match_id, which is a mark and 1; 0: none. */
static uint32_t
mark(const uint8_t *frame, uint32_t len)
{
	const struct slot *slot = match(frame, len);
	const uint16_t id = slot != NULL ? (uint16_t)(slot->action >> 40) : 0;

	return id > 0 ? id - 1u : 0;
}

/* The port, with the driver's own operations. */

static struct rte_driver driver;
static struct rte_pci_device device = { .device = { .name = "0002:02:00.0", .driver = &driver } };
static struct roc_model model;
static struct mbox mbox;
static struct mbox_dev mbox_dev;

static int
open_port(const struct oracle_profile *profile, uint16_t nb_queues, uint16_t *port)
{
	const struct chip *chip = profile->data;
	struct rte_eth_dev *eth = rte_eth_dev_allocate("oracle");
	struct cnxk_eth_dev *dev = aligned_alloc(RTE_CACHE_LINE_MIN_SIZE * 2,
		RTE_ALIGN(sizeof(*dev), RTE_CACHE_LINE_MIN_SIZE * 2));
	struct nix *nix;
	void *registers = calloc(1, 1 << 20);
	int rc;

	if (eth == NULL || dev == NULL || registers == NULL)
		return -ENOMEM;
	memset(dev, 0, sizeof(*dev));
	kex = chip->kex;
	model.flag = chip->model;
	roc_model = &model;
	mbox.dev = &mbox_dev;
	driver.name = profile->driver != NULL ? profile->driver : oracle.driver;
	eth->device = &device.device;
	eth->dev_ops = &cnxk_eth_dev_ops;
	eth->data->dev_private = dev;
	eth->data->nb_rx_queues = nb_queues;
	eth->data->dev_configured = 1;
	eth->data->dev_started = 1;
	eth->data->dev_conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	eth->data->dev_conf.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP;
	dev->eth_dev = eth;
	dev->ethdev_rss_hf = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP;
	nix = roc_nix_to_nix_priv(&dev->nix);
	nix->dev.mbox = &mbox;
	nix->nb_rx_queues = nb_queues;
	nix->reta_sz = ROC_NIX_RSS_RETA_SZ_64;
	nix->rx_chan_base = CHANNEL;
	nix->base = (uintptr_t)registers;
	dev->npc.roc_nix = &dev->nix;
	dev->npc.flow_prealloc_size = 1; /* cnxk_ethdev_devargs.c, cnxk_ethdev_parse_devargs() */
	dev->npc.flow_max_priority = 3;
	rc = roc_npc_init(&dev->npc);
	if (rc != 0)
		return rc;
	cnxk_flow_ops.create = chip->create;
	cnxk_flow_ops.destroy = chip->destroy;
	rte_eth_dev_probing_finish(eth);
	*port = eth->data->port_id;
	return 0;
}

const struct oracle oracle = {
	.driver = "net_cn10k",
	.simulator = "cnxk",
	.profiles = profiles,
	.open = open_port,
	.room = ENTRIES,
	.creates = true,
	.matches = matches,
	.mark = mark,
};
