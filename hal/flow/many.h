/* SPDX-License-Identifier: BSD-3-Clause */
/* Many rules at once, or one by one where the provider has no function for many. */
#pragma once

#include <hy_flow.h>

/*
 * Converts rte_errno as set by a driver to a negative errno. Drivers may leave it 0, negative, or
 * set to numbers of their own (net/cnxk, cnxk_flow.c, cnxk_flow_create()): -EIO if it is not an
 * errno.
 */
int hy_flow_errno(void);

void hy_flow_create_many(const struct hy_flow_provider *provider, uint16_t port,
	struct hy_flow_request *requests, unsigned int n);
void hy_flow_destroy_many(const struct hy_flow_provider *provider, uint16_t port,
	struct hy_flow_request *requests, unsigned int n);
