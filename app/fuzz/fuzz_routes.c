/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes the reader of route files (--routes of l3fwd-graph). */

#include <stdlib.h>
#include <string.h>

#include "examples/l3fwd-graph/routes.h"
#include "fuzz.h"

#define PORTS 0x5u

static struct options options = { .ports = PORTS };

static bool
in_order(const struct route *a, const struct route *b)
{
	return a->prefix != b->prefix ? a->prefix < b->prefix : a->depth < b->depth;
}

static void
check_routes(const struct routes *routes)
{
	for (unsigned int i = 0; i < routes->n; i++) {
		const struct route *r = &routes->routes[i];

		FUZZ_CHECK(r->depth <= 32 && (r->depth == 32 || r->prefix << r->depth == 0));
		FUZZ_CHECK(port_enabled(&options, r->port));
		FUZZ_CHECK(i == 0 || in_order(&r[-1], r));
	}
	FUZZ_CHECK(routes_tbl8s(routes) <= routes->n);
	FUZZ_CHECK(routes_next_hops(routes) <= routes->n);
	FUZZ_CHECK(routes->n == 0 || routes_next_hops(routes) > 0);
}

/* Writes routes as they can be read again. */
static char *
text_of(const struct routes *routes, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	FUZZ_CHECK(out != NULL);
	for (unsigned int i = 0; i < routes->n; i++) {
		const struct route *r = &routes->routes[i];

		fprintf(out, "%u.%u.%u.%u/%u port %u mac " RTE_ETHER_ADDR_PRT_FMT "\n",
			r->prefix >> 24, r->prefix >> 16 & 255, r->prefix >> 8 & 255,
			r->prefix & 255, r->depth, r->port, RTE_ETHER_ADDR_BYTES(&r->mac));
	}
	fclose(out);
	return text;
}

static void
check_same(const struct routes *routes, const struct routes *again)
{
	FUZZ_CHECK(again->n == routes->n);
	for (unsigned int i = 0; i < routes->n; i++) {
		const struct route *a = &routes->routes[i], *b = &again->routes[i];

		FUZZ_CHECK(a->prefix == b->prefix && a->depth == b->depth && a->port == b->port &&
			memcmp(&a->mac, &b->mac, sizeof(a->mac)) == 0);
	}
}

static bool
routes_one(const uint8_t *bytes, size_t size)
{
	char error[ROUTES_ERROR_SIZE] = "";
	struct routes routes, again;
	size_t length = 0;
	char *text;

	options.routes = fuzz_file(bytes, size);
	if (routes_read(&options, &routes, error) < 0) {
		FUZZ_CHECK(routes.n == 0 && routes.routes == NULL);
		FUZZ_CHECK(strstr(error, options.routes) != NULL);
		FUZZ_CHECK(strlen(error) < sizeof(error) - 1 || size > 500);
		fuzz_check_message(error);
		return false;
	}
	check_routes(&routes);
	text = text_of(&routes, &length);
	fuzz_file(text, length);
	FUZZ_CHECK(routes_read(&options, &again, error) == 0);
	check_same(&routes, &again);
	free(text);
	routes_free(&routes);
	routes_free(&again);
	return true;
}

static bool
routes_seed(unsigned int i, FILE *out)
{
	static const char *const texts[] = {
		"10.0.0.0/8 port 0 mac 02:00:00:00:00:01\n",
		"# a comment\n\n0.0.0.0/0 port 2 mac 02:00:00:00:00:02 # default\n"
		"192.0.2.1/32\tport 0 mac 02:00:00:00:00:01\r\n",
		"198.18.0.0/24 port 0 mac 02:00:00:00:00:01\n"
		"198.18.0.128/25 port 2 mac 02:00:00:00:00:01\n"
		"198.18.0.0/25 port 0 mac 02:00:00:00:00:02",
		"198.18.0.0/24 port 0 mac 02:00:00:00:00:01\n"
		"198.18.0.0/24 port 2 mac 02:00:00:00:00:01\n",
	};

	return fuzz_seed_text(texts, RTE_DIM(texts), i, out);
}

const struct fuzz_target fuzz_routes = { "routes", NULL, routes_one, routes_seed };
