/* SPDX-License-Identifier: BSD-3-Clause */
/* Routes: from a file, or DPDK's own defaults. */
#ifndef L3FWD_ROUTES_H
#define L3FWD_ROUTES_H

#include <stdatomic.h>

#include <hy_ip4.h>

#include "options.h"

struct route {
	uint32_t prefix; /* host byte order */
	uint8_t depth;
	uint16_t port;
	struct rte_ether_addr mac;
	unsigned int line; /* of the file */
};

struct routes {
	struct route *routes; /* by prefix */
	unsigned int n;
};

/* Reads the file of --routes, or makes the defaults. Returns 0, or less after saying why not. */
int routes_read(const struct options *options, struct routes *routes);
void routes_free(struct routes *routes);

/* Tables that rte_lpm needs for the prefixes longer than /24. */
unsigned int routes_tbl8s(const struct routes *routes);

/* How many different next hops they have. */
unsigned int routes_next_hops(const struct routes *routes);

/*
 * Puts them into a table that has the ports. Returns 0, or -1 after saying what is wrong. Takes
 * seconds for 100,000s of routes; gives up once *stop is set.
 */
int routes_load(const struct routes *routes, struct hy_ip4_fib *fib, const atomic_bool *stop);

#endif
