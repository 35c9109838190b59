/* SPDX-License-Identifier: BSD-3-Clause */
/* Many rules at once, by whatever provider: one that does not take many takes them one by one. */
#ifndef HY_FLOW_MANY_H
#define HY_FLOW_MANY_H

#include "hy_flow.h"

void hy_flow_create_many(const struct hy_flow_provider *provider, uint16_t port,
	struct hy_flow_request *requests, unsigned int n);
void hy_flow_destroy_many(const struct hy_flow_provider *provider, uint16_t port,
	struct hy_flow_request *requests, unsigned int n);

#endif
