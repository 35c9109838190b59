/* SPDX-License-Identifier: BSD-3-Clause */
/* A reload: the whole file is read and checked before a table is touched. */

#include <inttypes.h>
#include <unistd.h>

#include <rte_cycles.h>

#include <hy_privileges.h>

#include "reload.h"

static void
routes_reload(const struct options *options, const struct tables *tables, FILE *out)
{
	const uint64_t start = rte_get_timer_cycles();
	char error[ROUTES_ERROR_SIZE] = "SIGHUP has a file read again, and there is no --routes";
	struct tables_change change = { 0 };
	struct routes routes;
	int rc = -1;

	if (options->routes != NULL && routes_read(options, &routes, error) == 0) {
		rc = tables_update(tables, &routes, &change, error);
		routes_free(&routes);
	}
	if (rc < 0)
		fprintf(stderr, "l3fwd-graph: routes unchanged: %s%s\n", error,
			options->routes == NULL ? "" : hy_privileges_note(options->routes, R_OK));
	else
		fprintf(out,
			"routes: %u added, %u replaced, %u deleted, %u unchanged, in %" PRIu64
			" ms\n",
			change.added, change.replaced, change.deleted, change.unchanged,
			(rte_get_timer_cycles() - start) * 1000 / rte_get_timer_hz());
	fflush(out);
}

void
reload(const struct options *options, const struct pipeline *pipeline, FILE *out)
{
	if (options->policy != NULL)
		classes_reload(options, &pipeline->classes, out);
	if (options->policy == NULL || options->routes != NULL)
		routes_reload(options, &pipeline->tables, out);
}
