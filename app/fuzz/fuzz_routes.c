/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes the reader of route files (hy_routes_create()). */

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "lib/routes/routes.h"

static const uint16_t ports[] = { 0, 2 };
static struct hy_routes_params params = { .ports = ports, .nb_ports = RTE_DIM(ports) };

static bool
in_order(const struct hy_route *a, const struct hy_route *b)
{
	return a->prefix != b->prefix ? a->prefix < b->prefix : a->depth < b->depth;
}

static void
check_routes(const struct route_list *list)
{
	struct hy_ip4_fib_params fib = { 0 };

	for (unsigned int i = 0; i < list->n; i++) {
		const struct hy_route *r = &list->routes[i];

		FUZZ_CHECK(r->depth <= 32 && (r->depth == 32 || r->prefix << r->depth == 0));
		FUZZ_CHECK(r->next_hop.port == ports[0] || r->next_hop.port == ports[1]);
		FUZZ_CHECK(i == 0 || in_order(&r[-1], r));
	}
	route_size(list, &fib);
	FUZZ_CHECK(fib.max_routes >= list->n && fib.max_tbl8s > 0 && fib.max_next_hops > 0);
}

/* Writes routes as they can be read again. */
static char *
text_of(const struct route_list *list, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	FUZZ_CHECK(out != NULL);
	for (unsigned int i = 0; i < list->n; i++) {
		const struct hy_route *r = &list->routes[i];

		fprintf(out, "%u.%u.%u.%u/%u port %u mac " RTE_ETHER_ADDR_PRT_FMT "\n",
			r->prefix >> 24, r->prefix >> 16 & 255, r->prefix >> 8 & 255,
			r->prefix & 255, r->depth, r->next_hop.port,
			RTE_ETHER_ADDR_BYTES(&r->next_hop.mac));
	}
	fclose(out);
	return text;
}

static void
check_same(const struct route_list *list, const struct route_list *again)
{
	FUZZ_CHECK(again->n == list->n);
	for (unsigned int i = 0; i < list->n; i++) {
		const struct hy_route *a = &list->routes[i], *b = &again->routes[i];

		FUZZ_CHECK(a->prefix == b->prefix && a->depth == b->depth &&
			memcmp(&a->next_hop, &b->next_hop, sizeof(a->next_hop)) == 0);
	}
}

static bool
routes_one(const uint8_t *bytes, size_t size)
{
	char error[HY_ROUTES_ERROR_SIZE] = "";
	struct hy_routes *routes, *again;
	size_t length = 0;
	char *text;

	params.path = fuzz_file(bytes, size);
	if (hy_routes_create(&params, &routes, error) < 0) {
		FUZZ_CHECK(routes == NULL);
		FUZZ_CHECK(strstr(error, params.path) != NULL);
		FUZZ_CHECK(strlen(error) < sizeof(error) - 1);
		fuzz_check_message(error);
		return false;
	}
	check_routes(&routes->list);
	text = text_of(&routes->list, &length);
	fuzz_file(text, length);
	FUZZ_CHECK(hy_routes_create(&params, &again, error) == 0);
	check_same(&routes->list, &again->list);
	free(text);
	hy_routes_destroy(routes);
	hy_routes_destroy(again);
	return true;
}

static const char *const texts[] = {
	"10.0.0.0/8 port 0 mac 02:00:00:00:00:01\n",
	"# a comment\n\n0.0.0.0/0 port 2 mac 02:00:00:00:00:02 # default\n"
	"192.0.2.1/32\tport 0 mac 02:00:00:00:00:01\r\n",
	"198.18.0.0/24 port 0 mac 02:00:00:00:00:01\n"
	"198.18.0.128/25 port 2 mac 02:00:00:00:00:01\n"
	"198.18.0.0/25 port 0 mac 02:00:00:00:00:02",
	"198.18.0.0/24 port 0 mac 02:00:00:00:00:01\n"
	"198.18.0.0/24 port 2 mac 02:00:00:00:00:01\n",
	NULL,
};

const struct fuzz_target fuzz_routes = { .name = "routes", .one = routes_one, .texts = texts };
