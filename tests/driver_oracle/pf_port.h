/* SPDX-License-Identifier: BSD-3-Clause */
/* How a virtual function may configure its port: queues, and the hash that picks one of them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <iavf_prototype.h>
#include <virtchnl.h>

#define PF_VSI 3
#define PF_QUEUES 16 /* ice.h, ICE_MAX_RSS_QS_PER_VF */
#define PF_RSS_KEY 52
#define PF_RSS_TABLE 64

/* Whether the physical function takes a message about queues or the hash; others it always takes. */
bool pf_port_takes(enum virtchnl_ops op, const uint8_t *msg);

/* The RTE_ETH_RSS_ types that the function asked for, and got, since the last call. */
uint64_t pf_port_hashed(void);
