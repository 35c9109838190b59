/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fixture of event_cn10k. What it can do is written in its code; the numbers of queues and ports,
 * which it reads, are made up.
 */

#include <errno.h>

#include <roc_api.h>

#include "events.h"

#define QUEUES 4 /* any number but 0 */

static const struct roc_model cn10k = { .flag = ROC_MODEL_CN106xx_A0 };

/* Replaced: what reads the chip's registers, and the mailbox to the kernel's driver. */

int
roc_model_init(struct roc_model *chip)
{
	*chip = cn10k;
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

struct event_oracle event_oracle = {
	.driver = "event_cn10k",
	.simulator = "sim_event_cn10k0",
	.kin = "net_cn10k",
	.pci = { .id = { .vendor_id = PCI_VENDOR_ID_CAVIUM,
			 .device_id = PCI_DEVID_CNXK_RVU_SSO_TIM_PF },
		.addr.bus = 2 },
};
