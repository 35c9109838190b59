/* SPDX-License-Identifier: BSD-3-Clause */
/* A dump is of the first table: all have the same routes, which only this thread changes. */

#include <errno.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hy_file.h>

#include "dump.h"

static int
write_route(struct hy_ip4_fib *fib, const struct hy_ip4_route *route, FILE *file)
{
	struct hy_ip4_next_hop hop;
	const int rc = hy_ip4_next_hop_get(fib, route->next_hop, &hop, NULL);

	if (rc < 0)
		return rc;
	fprintf(file, "%u.%u.%u.%u/%u port %u mac ", route->prefix >> 24, route->prefix >> 16 & 255,
		route->prefix >> 8 & 255, route->prefix & 255, route->depth, hop.port);
	for (unsigned int i = 0; i < RTE_ETHER_ADDR_LEN; i++)
		fprintf(file, "%02x%c", hop.mac.addr_bytes[i],
			i + 1 < RTE_ETHER_ADDR_LEN ? ':' : '\n');
	return 0;
}

static int
write_routes(const struct tables *tables, FILE *file)
{
	struct hy_ip4_fib *fib = tables->config.fibs[0];
	const uint32_t n = hy_ip4_routes_get(fib, NULL, 0);
	struct hy_ip4_route *routes = calloc(RTE_MAX(n, 1u), sizeof(*routes));
	int rc = 0;

	if (routes == NULL)
		return -ENOMEM;
	hy_ip4_routes_get(fib, routes, n);
	fprintf(file, "# %u routes\n", n);
	for (uint32_t i = 0; i < n && rc == 0; i++)
		rc = write_route(fib, &routes[i], file);
	free(routes);
	return rc;
}

static int
complain(const struct options *options, int rc)
{
	fprintf(stderr, "l3fwd-graph: --dump-routes: %s: %s\n", options->dump, strerror(-rc));
	return -1;
}

/* Replaces what was written before, except on standard output, which is not ours alone. */
static int
write_again(const struct tables *tables, FILE *file)
{
	int rc;

	if (file != stdout) {
		clearerr(file); /* of a dump that failed: */
		__fpurge(file);
		if (fseek(file, 0, SEEK_SET) == 0 && ftruncate(fileno(file), 0) < 0 &&
			errno != EINVAL) /* /dev/null */
			return -errno;
	}
	rc = write_routes(tables, file);
	return rc == 0 ? hy_output_flush(file) : rc;
}

void
dump_now(const struct options *options, const struct tables *tables, struct outputs *out)
{
	int rc;

	if (out->routes == NULL) {
		fprintf(stderr,
			"l3fwd-graph: SIGUSR1 has routes written, and there is no "
			"--dump-routes\n");
		return;
	}
	rc = write_again(tables, out->routes);
	if (rc < 0)
		complain(options, rc);
	else
		fprintf(out->people, "routes: written to %s\n", options->dump);
	fflush(out->people);
}

int
dump_last(const struct options *options, const struct tables *tables, struct outputs *out)
{
	int rc, finished;

	if (out->routes == NULL)
		return 0;
	rc = write_again(tables, out->routes);
	finished = output_finish(&out->routes);
	rc = rc < 0 ? rc : finished;
	return rc < 0 ? complain(options, rc) : 0;
}
