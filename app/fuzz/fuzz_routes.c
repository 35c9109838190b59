/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes the reader of route files (hy_routes_create()). */

#include <arpa/inet.h>
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

static bool
in_order6(const struct hy_route *a, const struct hy_route *b)
{
	const int rc = memcmp(a->prefix6, b->prefix6, sizeof(a->prefix6));

	return rc != 0 ? rc < 0 : a->depth < b->depth;
}

static void
check_hop(const struct hy_ip4_next_hop *hop)
{
	FUZZ_CHECK(hop->port == ports[0] || hop->port == ports[1]);
}

static void
check_group(const struct hy_route_group *group)
{
	FUZZ_CHECK(group->n >= 1 && group->n <= HY_IP4_GROUP_MEMBERS);
	for (unsigned int i = 0; i < group->n; i++) {
		const struct hy_route_member *m = &group->members[i];

		check_hop(&m->next_hop);
		FUZZ_CHECK(m->weight >= 1 && m->weight <= HY_IP4_GROUP_WEIGHT);
		FUZZ_CHECK(i == 0 ||
			memcmp(&m[-1].next_hop, &m->next_hop, sizeof(m->next_hop)) != 0);
	}
}

static void
check_target(const struct hy_route *r)
{
	if (r->group != NULL)
		check_group(r->group);
	else
		check_hop(&r->next_hop);
}

static void
check_routes6(const struct route_list *list)
{
	for (unsigned int i = 0; i < list->n; i++) {
		const struct hy_route *r = &list->routes[i];

		FUZZ_CHECK(r->is_ip6 && r->depth <= 128);
		for (unsigned int bit = r->depth; bit < 128; bit++)
			FUZZ_CHECK((r->prefix6[bit / 8] & 0x80 >> bit % 8) == 0);
		check_target(r);
		FUZZ_CHECK(i == 0 || in_order6(&r[-1], r));
	}
}

static void
check_routes(struct hy_routes *routes)
{
	const struct route_list *list = &routes->list;
	const struct hy_ip4_fib_params *fib = &routes->fib;

	for (unsigned int i = 0; i < list->n; i++) {
		const struct hy_route *r = &list->routes[i];

		FUZZ_CHECK(!r->is_ip6 && r->depth <= 32 &&
			(r->depth == 32 || r->prefix << r->depth == 0));
		check_target(r);
		FUZZ_CHECK(i == 0 || in_order(&r[-1], r));
	}
	route_size(routes);
	FUZZ_CHECK(fib->max_routes >= list->n && fib->max_tbl8s > 0 && fib->max_next_hops > 0);
}

static void
hop_write(FILE *out, const struct hy_ip4_next_hop *hop)
{
	fprintf(out, " port %u mac " RTE_ETHER_ADDR_PRT_FMT, hop->port,
		RTE_ETHER_ADDR_BYTES(&hop->mac));
}

static void
group_write(FILE *out, const struct hy_route_group *group)
{
	fprintf(out, " group");
	for (unsigned int i = 0; i < group->n; i++) {
		hop_write(out, &group->members[i].next_hop);
		fprintf(out, " weight %u%s", group->members[i].weight, i + 1 < group->n ? "," : "");
	}
}

static void
target_write(FILE *out, const struct hy_route *r)
{
	if (r->group != NULL)
		group_write(out, r->group);
	else
		hop_write(out, &r->next_hop);
	fprintf(out, "\n");
}

/* Writes routes as they can be read again. */
static char *
text_of(const struct route_list *list, const struct route_list *list6, size_t *size)
{
	char prefix[INET6_ADDRSTRLEN];
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	FUZZ_CHECK(out != NULL);
	for (unsigned int i = 0; i < list->n; i++) {
		const struct hy_route *r = &list->routes[i];

		fprintf(out, "%u.%u.%u.%u/%u", r->prefix >> 24, r->prefix >> 16 & 255,
			r->prefix >> 8 & 255, r->prefix & 255, r->depth);
		target_write(out, r);
	}
	for (unsigned int i = 0; i < list6->n; i++) {
		const struct hy_route *r = &list6->routes[i];

		inet_ntop(AF_INET6, r->prefix6, prefix, sizeof(prefix));
		fprintf(out, "%s/%u", prefix, r->depth);
		target_write(out, r);
	}
	fclose(out);
	return text;
}

static bool
same_group(const struct hy_route_group *a, const struct hy_route_group *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	return a->n == b->n && memcmp(a->members, b->members, a->n * sizeof(*a->members)) == 0;
}

static void
check_same(const struct route_list *list, const struct route_list *again)
{
	FUZZ_CHECK(again->n == list->n);
	for (unsigned int i = 0; i < list->n; i++) {
		const struct hy_route *a = &list->routes[i], *b = &again->routes[i];

		FUZZ_CHECK(a->prefix == b->prefix && a->depth == b->depth &&
			memcmp(a->prefix6, b->prefix6, sizeof(a->prefix6)) == 0 &&
			memcmp(&a->next_hop, &b->next_hop, sizeof(a->next_hop)) == 0);
		FUZZ_CHECK(same_group(a->group, b->group));
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
	check_routes(routes);
	check_routes6(&routes->list6);
	text = text_of(&routes->list, &routes->list6, &length);
	fuzz_file(text, length);
	FUZZ_CHECK(hy_routes_create(&params, &again, error) == 0);
	check_same(&routes->list, &again->list);
	check_same(&routes->list6, &again->list6);
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
	"2001:db8::/32 port 0 mac 02:00:00:00:00:01\n"
	"10.0.0.0/8 port 2 mac 02:00:00:00:00:01\n"
	"::/0 port 2 mac 02:00:00:00:00:02\n"
	"2001:db8::192.0.2.1/128 port 0 mac 02:00:00:00:00:02\n",
	"10.0.0.0/8 group port 0 mac 02:00:00:00:00:01, port 2 mac 02:00:00:00:00:01 weight 9\n"
	"2001:db8::/32 group port 2 mac 02:00:00:00:00:01 weight 9, port 0 mac 02:00:00:00:00:01\n",
	"198.18.0.0/24 port 0 mac 02:00:00:00:00:01\n"
	"198.18.0.0/24 port 2 mac 02:00:00:00:00:01\n",
	NULL,
};

const struct fuzz_target fuzz_routes = { .name = "routes", .one = routes_one, .texts = texts };
