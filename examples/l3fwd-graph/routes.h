/* SPDX-License-Identifier: BSD-3-Clause */
/* Routes: from a file, or DPDK's own defaults. */
#ifndef L3FWD_ROUTES_H
#define L3FWD_ROUTES_H

#include <hy_ip4.h>

#include "options.h"

#define ROUTES_ERROR_SIZE 1024

struct route {
	uint32_t prefix; /* host byte order */
	uint8_t depth;
	uint16_t port;
	struct rte_ether_addr mac;
	unsigned int line; /* of the file */
};

struct routes {
	struct route *routes; /* by prefix, then depth; no prefix is there twice */
	unsigned int n;
};

/*
 * Reads the file of --routes, or makes the defaults. Returns 0; or a negative errno, with no
 * routes, and with what is wrong in error, ROUTES_ERROR_SIZE bytes: -EINTR it is to stop.
 */
int routes_read(const struct options *options, struct routes *routes, char *error);
void routes_free(struct routes *routes);

/* /24s with longer prefixes inside: each needs a tbl8 of a table. */
uint32_t routes_tbl8s(const struct routes *routes);
/* How many different next hops they have. */
uint32_t routes_next_hops(const struct routes *routes);

#endif
