/* SPDX-License-Identifier: BSD-3-Clause */
/* One rte_fib (DIR24_8): its creation, and changes that work around faults of the library. */

#include <errno.h>
#include <stdio.h>

#include <rte_errno.h>

#include "ip4_fib.h"

/* One more than are ever in use: rte_fib wants two free ones where it takes one. */
static uint32_t
nb_tbl8s(const struct hy_ip4_fib *fib)
{
	return fib->params.max_tbl8s + 1;
}

uint32_t
ip4_rte_fib_none(const struct hy_ip4_fib *fib)
{
	const uint32_t most = RTE_MAX(fib->params.max_next_hops, nb_tbl8s(fib));

	return most <= INT16_MAX ? INT16_MAX : INT32_MAX;
}

int
ip4_rte_fib_create(const struct hy_ip4_fib *fib, char suffix, struct rte_fib **made)
{
	const uint32_t none = fib->view.rte_fib_none;
	struct rte_fib_conf conf = {
		.type = RTE_FIB_DIR24_8,
		.default_nh = none,
		.max_routes = (int)fib->params.max_routes,
		.dir24_8 = { .nh_sz = none == INT16_MAX ? RTE_FIB_DIR24_8_2B : RTE_FIB_DIR24_8_4B,
			.num_tbl8 = nb_tbl8s(fib) },
	};
	const enum rte_fib_lookup_type lookup = fib->params.engine == HY_IP4_FIB_AVX512
		? RTE_FIB_LOOKUP_DIR24_8_VECTOR_AVX512
		: RTE_FIB_LOOKUP_DIR24_8_SCALAR_MACRO;
	char name[IP4_FIB_NAME_MAX + 3];

	snprintf(name, sizeof(name), "%s.%c", fib->name, suffix);
	*made = rte_fib_create(name, fib->params.socket, &conf);
	if (*made == NULL)
		return -rte_errno;
	if (rte_fib_select_lookup(*made, lookup) == 0)
		return 0;
	rte_fib_free(*made);
	*made = NULL;
	return -ENOTSUP;
}

/*
 * rte_fib counts the /24s with longer prefixes. Before 26.03 it misses a /24 whose first longer prefix
 * has the next hop of the covering route: deleting that prefix makes the count wrap around, and
 * rte_fib accepts no long prefix any more. So such a prefix gets another next hop first.
 */
static int
change_counted(struct rte_fib *to, uint32_t prefix, uint8_t depth, uint32_t id)
{
	struct rte_rib *rib = rte_fib_get_rib(to);
	uint64_t around;

	if (depth > 24 && id != IP4_FIB_NO_ROUTE &&
		rte_rib_get_nxt(rib, prefix, 24, NULL, RTE_RIB_GET_NXT_COVER) == NULL &&
		rte_rib_get_nh(rte_rib_lookup(rib, prefix), &around) == 0 && around == id) {
		const int rc = rte_fib_add(to, prefix, depth, id ^ 1);

		if (rc < 0)
			return rc;
	}
	return id == IP4_FIB_NO_ROUTE ? rte_fib_delete(to, prefix, depth)
				      : rte_fib_add(to, prefix, depth, id);
}

/* The prefix of that depth which contains 255.255.255.255. */
static uint32_t
last_prefix(uint8_t depth)
{
	return UINT32_MAX << (32 - depth);
}

/*
 * Up to 26.07 rte_fib overwrites its whole table when a route changes that ends at 255.255.255.255 and
 * whose end is covered without a gap by longer routes, the last of which ends there too. So these
 * are deleted first, the longest first, and added again afterwards.
 */
int
ip4_rte_fib_change(struct rte_fib *to, uint32_t prefix, uint8_t depth, uint32_t id)
{
	struct rte_rib *rib = rte_fib_get_rib(to);
	uint32_t longer[33];
	int rc = 0;

	if (prefix != last_prefix(depth))
		return change_counted(to, prefix, depth, id);
	for (uint8_t d = 32; d > depth && rc == 0; d--) {
		longer[d] = ip4_rib_find(rib, last_prefix(d), d);
		if (longer[d] != IP4_FIB_NO_ROUTE)
			rc = rte_fib_delete(to, last_prefix(d), d);
	}
	if (rc == 0)
		rc = change_counted(to, prefix, depth, id);
	for (uint8_t d = depth + 1; d <= 32 && rc == 0; d++)
		if (longer[d] != IP4_FIB_NO_ROUTE)
			rc = change_counted(to, last_prefix(d), d, longer[d]);
	return rc;
}
