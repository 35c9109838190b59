/* SPDX-License-Identifier: BSD-3-Clause */
/* The far end of a virtual function's channel: the driver of an E810's physical function. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <iavf_prototype.h>
#include <virtchnl.h>

#define PF_RULES 16384  /* ice_fdir.h, ICE_FDIR_MAX_FLTRS */
#define PF_MESSAGE 4096 /* bytes, IAVF_AQ_BUF_SZ */

struct pf_answer {
	enum virtchnl_ops op;
	enum virtchnl_status_code status;
	uint16_t len;
	uint8_t bytes[PF_MESSAGE];
};

/* Answers a message. */
void pf_ask(enum virtchnl_ops op, const uint8_t *msg, uint16_t len, struct pf_answer *answer);

/* Whether a rule of the virtual function marks a frame. */
bool pf_matches(const uint8_t *frame, uint32_t len);
