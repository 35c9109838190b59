/* SPDX-License-Identifier: BSD-3-Clause */
/* SIGHUP: routes and policy are read again, and change together. */

#include <hy_reload.h>
#include <hy_terminal.h>

#include "reload.h"
#include "table_update.h"

/* The routes, read again. */
struct routes_reload {
	const struct options *options;
	const struct tables *tables;
	struct routes routes;
	struct tables_update update;
	bool begun;
};

static_assert(HY_RELOAD_ERROR_SIZE >= ROUTES_ERROR_SIZE, "any reason fits");
static_assert(HY_RELOAD_ERROR_SIZE >= HY_POLICY_ERROR_SIZE, "any reason fits");

static int
on_read(void *arg, char *error)
{
	struct routes_reload *reload = arg;

	if (routes_read(reload->options, &reload->routes, error) < 0)
		return -EINVAL;
	reload->begun = true;
	return tables_update_begin(reload->tables, &reload->routes, &reload->update, error);
}

static int
on_apply(void *arg, char *error)
{
	struct routes_reload *reload = arg;

	return tables_update_apply(&reload->update, error);
}

static void
on_undo(void *arg)
{
	struct routes_reload *reload = arg;

	tables_update_undo(&reload->update);
}

static void
on_end(void *arg)
{
	struct routes_reload *reload = arg;

	if (!reload->begun)
		return;
	tables_update_end(&reload->update);
	routes_free(&reload->routes);
}

static void
on_say(const void *arg, FILE *out)
{
	const struct routes_reload *reload = arg;
	const struct route_diff *first = &reload->update.of[0].there;

	fprintf(out, "routes: %u added, %u replaced, %u deleted, %u unchanged", first->added,
		first->replaced, first->deleted, first->unchanged);
}

void
reload(const struct options *options, const struct pipeline *pipeline, FILE *out)
{
	struct routes_reload routes = { .options = options, .tables = &pipeline->tables };
	struct classes_reload classes = { .policy = pipeline->classes.policy,
		.path = options->policy };
	struct hy_reload_part parts[2];
	unsigned int n = 0;

	if (options->routes != NULL)
		parts[n++] = (struct hy_reload_part){
			.what = "routes",
			.path = options->routes,
			.read = on_read,
			.apply = on_apply,
			.undo = on_undo,
			.end = on_end,
			.say = on_say,
			.arg = &routes,
		};
	if (options->policy != NULL)
		parts[n++] = classes_reload_part(&classes); /* last: nothing takes it back */
	if (n == 0)
		hy_terminal_error("routes unchanged: SIGHUP reads files again, which requires "
				  "--routes");
	else
		hy_reload(parts, n, out);
}
