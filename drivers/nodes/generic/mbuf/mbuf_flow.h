/* SPDX-License-Identifier: BSD-3-Clause */
/* For hy_mbuf_ops: a number for the flow of each packet; see struct hy_object_ops. */
#ifndef MBUF_FLOW_H
#define MBUF_FLOW_H

#include <stdint.h>

void mbuf_flow_hash(void *const *objs, uint32_t *hash, unsigned int n);

#endif
