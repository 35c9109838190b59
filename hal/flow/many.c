/* SPDX-License-Identifier: BSD-3-Clause */
/* Many rules at once, with any provider. */

#include <errno.h>

#include <rte_errno.h>

#include "many.h"

int
hy_flow_errno(void)
{
	const int code = rte_errno < 0 ? -rte_errno : rte_errno;

	return code > 0 && code < RTE_MIN_ERRNO ? -code : -EIO;
}

void
hy_flow_create_many(const struct hy_flow_provider *provider, uint16_t port,
	struct hy_flow_request *requests, unsigned int n)
{
	if (provider->create_many != NULL) {
		provider->create_many(port, requests, n);
		return;
	}
	for (struct hy_flow_request *r = requests; r < requests + n; r++)
		r->rc = provider->create(port, r->attr, r->items, r->actions, &r->flow, &r->error);
}

void
hy_flow_destroy_many(const struct hy_flow_provider *provider, uint16_t port,
	struct hy_flow_request *requests, unsigned int n)
{
	if (provider->destroy_many != NULL) {
		provider->destroy_many(port, requests, n);
		return;
	}
	for (struct hy_flow_request *r = requests; r < requests + n; r++)
		r->rc = provider->destroy(port, r->flow, &r->error);
}
