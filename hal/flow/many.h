/* SPDX-License-Identifier: BSD-3-Clause */
/* Many rules at once, by whatever provider: one that does not take many takes them one by one. */
#ifndef HY_FLOW_MANY_H
#define HY_FLOW_MANY_H

#include <hy_flow.h>

/*
 * What a driver left in rte_errno, as a negative errno. Drivers are known to fail without a reason,
 * with a negative one, and with numbers of their own (net/cnxk, cnxk_flow.c, cnxk_flow_create()):
 * -EIO for those that are no errno.
 */
int hy_flow_errno(void);

void hy_flow_create_many(const struct hy_flow_provider *provider, uint16_t port,
	struct hy_flow_request *requests, unsigned int n);
void hy_flow_destroy_many(const struct hy_flow_provider *provider, uint16_t port,
	struct hy_flow_request *requests, unsigned int n);

#endif
