/* SPDX-License-Identifier: BSD-3-Clause */
/* A dump is of the first table: all have the same routes, which only this thread changes. */

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>

#include <hy_file.h>
#include <hy_signals.h>

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

/* Says what has become of what SIGUSR1 asked for. */
static void
tell(const struct outputs *out, int rc)
{
	char name[PATH_MAX];

	snprintf(name, sizeof(name), "%s", out->routes.name);
	if (rc < 0)
		output_complain(&out->routes, rc);
	else
		fprintf(out->people, "routes: written to %s\n", hy_printable(name));
	fflush(out->people);
}

static int
make(const struct tables *tables, struct output *routes)
{
	FILE *file = output_begin(routes);

	return file == NULL ? -ENOMEM : write_routes(tables, file);
}

/* Replaces what was written before, except on standard output, which is not ours alone. */
static void
dump(const struct tables *tables, struct outputs *out)
{
	const int rc = output_write(&out->routes, make(tables, &out->routes));

	if (rc < 0 || out->routes.standard)
		tell(out, rc);
}

void
dump_poll(const struct tables *tables, struct outputs *out)
{
	int rc;

	if (out->routes.writeback != NULL) {
		if (!output_written(&out->routes, &rc))
			return; /* SIGUSR1 stays pending meanwhile */
		tell(out, rc);
	}
	if (!hy_signals_take(SIGUSR1))
		return;
	if (out->routes.wanted)
		dump(tables, out);
	else
		fprintf(stderr,
			"l3fwd-graph: SIGUSR1 has routes written, and there is no "
			"--dump-routes\n");
}

int
dump_last(const struct tables *tables, struct outputs *out)
{
	struct output *routes = &out->routes;
	int rc;

	if (!routes->wanted)
		return 0;
	if (routes->writeback != NULL) {
		rc = writeback_wait(routes->writeback);
		tell(out, rc);
		if (rc == -ETIMEDOUT)
			return -1; /* with the file still in the thread's hands */
		routes->writeback = NULL;
	}
	return output_finish(routes, make(tables, routes));
}
