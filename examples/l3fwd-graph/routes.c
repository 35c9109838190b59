/* SPDX-License-Identifier: BSD-3-Clause */
/* The route file. All of it is read and checked before any route is used. */

#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hy_file.h>

#include "routes.h"

/* Where in a file a fault is, and what is to be said of it. */
struct place {
	const char *file;
	unsigned int line;
	char *error;
};

static int __rte_format_printf(3, 4)
	refuse(const struct place *at, const char *field, const char *format, ...)
{
	int n = snprintf(at->error, ROUTES_ERROR_SIZE, "%s:%u: %s: ", at->file, at->line, field);
	va_list ap;

	n = RTE_MIN(n, ROUTES_ERROR_SIZE);
	va_start(ap, format);
	vsnprintf(at->error + n, (size_t)(ROUTES_ERROR_SIZE - n), format, ap);
	va_end(ap);
	hy_printable(at->error);
	return -EINVAL;
}

static int
refuse_file(const struct place *at, int rc, const char *why)
{
	snprintf(at->error, ROUTES_ERROR_SIZE, "--routes: %s: %s", at->file, why);
	hy_printable(at->error);
	return rc;
}

static bool
is_number(const char *text, unsigned long max, unsigned long *value)
{
	char *end;

	errno = 0;
	*value = strtoul(text, &end, 10);
	return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0 && *value <= max;
}

static int
read_prefix(const struct place *at, char *text, struct route *route)
{
	char *slash = text == NULL ? NULL : strchr(text, '/');
	unsigned long depth;
	struct in_addr addr;

	if (slash == NULL)
		return refuse(at, "prefix", "'%s' is not ADDRESS/LENGTH", text == NULL ? "" : text);
	*slash = '\0';
	if (inet_pton(AF_INET, text, &addr) != 1)
		return refuse(at, "prefix", "'%s' is not an IPv4 address, A.B.C.D", text);
	if (!is_number(slash + 1, 32, &depth))
		return refuse(at, "prefix", "length '%s' is not a number from 0 to 32", slash + 1);
	route->prefix = ntohl(addr.s_addr);
	route->depth = (uint8_t)depth;
	if (depth < 32 && (route->prefix << depth) != 0)
		return refuse(at, "prefix", "%s/%lu has bits set beyond its length", text, depth);
	return 0;
}

static int
read_keyword(const struct place *at, const char *keyword, const char *text)
{
	if (text != NULL && strcmp(text, keyword) == 0)
		return 0;
	return refuse(at, keyword,
		"expected '%s', found '%s'; a line is PREFIX port N mac "
		"MM:MM:MM:MM:MM:MM",
		keyword, text == NULL ? "the end of the line" : text);
}

static int
read_port(const struct place *at, const struct options *options, const char *text,
	struct route *route)
{
	unsigned long port;

	if (text == NULL || !is_number(text, RTE_MAX_ETHPORTS - 1, &port))
		return refuse(at, "port", "'%s' is not a port number", text == NULL ? "" : text);
	if (!port_enabled(options, (uint16_t)port))
		return refuse(at, "port", "%lu is not in use; -p is 0x%x", port, options->ports);
	route->port = (uint16_t)port;
	return 0;
}

static int
read_mac(const struct place *at, const char *text, struct route *route)
{
	/* rte_ether_unformat_addr() also takes other forms; one is enough. */
	if (text == NULL || strlen(text) != 17 || rte_ether_unformat_addr(text, &route->mac) != 0)
		return refuse(at, "mac", "'%s' is not a MAC address, MM:MM:MM:MM:MM:MM",
			text == NULL ? "" : text);
	return 0;
}

/* Reads a line. Returns 1: a route; 0: nothing on it; -EINVAL: refused. */
static int
read_line(const struct place *at, const struct options *options, char *line, struct route *route)
{
	static const char space[] = " \t\r\n";
	char *save, *word, *comment = strchr(line, '#');

	if (comment != NULL)
		*comment = '\0';
	word = strtok_r(line, space, &save);
	if (word == NULL)
		return 0;
	route->line = at->line;
	if (read_prefix(at, word, route) < 0 ||
		read_keyword(at, "port", strtok_r(NULL, space, &save)) < 0 ||
		read_port(at, options, strtok_r(NULL, space, &save), route) < 0 ||
		read_keyword(at, "mac", strtok_r(NULL, space, &save)) < 0 ||
		read_mac(at, strtok_r(NULL, space, &save), route) < 0)
		return -EINVAL;
	word = strtok_r(NULL, space, &save);
	if (word != NULL)
		return refuse(at, "line", "'%s' behind the MAC address; nothing may follow it",
			word);
	return 1;
}

static int
append(struct routes *routes, const struct route *route, char *error)
{
	/* Room doubles at every power of two. */
	if ((routes->n & (routes->n - 1)) == 0) {
		const size_t room = routes->n == 0 ? 1 : 2 * (size_t)routes->n;
		struct route *grown = realloc(routes->routes, room * sizeof(*grown));

		if (grown == NULL) {
			snprintf(error, ROUTES_ERROR_SIZE, "out of memory for routes");
			return -ENOMEM;
		}
		routes->routes = grown;
	}
	routes->routes[routes->n++] = *route;
	return 0;
}

static int
by_prefix(const void *a, const void *b)
{
	const struct route *ra = a, *rb = b;

	if (ra->prefix != rb->prefix)
		return ra->prefix < rb->prefix ? -1 : 1;
	if (ra->depth != rb->depth)
		return ra->depth - rb->depth;
	return ra->line < rb->line ? -1 : ra->line > rb->line;
}

static int
refuse_duplicates(struct place *at, struct routes *routes)
{
	if (routes->n > 0)
		qsort(routes->routes, routes->n, sizeof(*routes->routes), by_prefix);
	for (unsigned int i = 1; i < routes->n; i++) {
		const struct route *a = &routes->routes[i - 1], *b = &routes->routes[i];

		if (a->prefix != b->prefix || a->depth != b->depth)
			continue;
		at->line = b->line;
		return refuse(at, "prefix", "is a duplicate of line %u", a->line);
	}
	return 0;
}

/* Reads all lines. Returns 0; a negative errno, with the reason in at->error. */
static int
read_lines(struct place *at, const struct options *options, struct hy_file *file,
	struct routes *routes)
{
	char why[HY_FILE_ERROR_SIZE];
	char *line;
	int rc;

	while ((rc = hy_file_line(file, &line, why)) > 0) {
		struct route route;

		at->line = file->line;
		rc = read_line(at, options, line, &route);
		if (rc == 1)
			rc = append(routes, &route, at->error);
		if (rc < 0)
			return rc;
	}
	at->line = file->line;
	if (rc == -EINTR)
		return refuse_file(at, rc, why);
	return rc < 0 ? refuse(at, "line", "%s", why) : refuse_duplicates(at, routes);
}

static int
read_file(const struct options *options, struct routes *routes, char *error)
{
	struct place at = { .file = options->routes, .error = error };
	char why[HY_FILE_ERROR_SIZE];
	struct hy_file file;
	int rc = hy_file_read(at.file, HY_FILE_MAX, &file, why);

	rc = rc < 0 ? refuse_file(&at, rc, why) : read_lines(&at, options, &file, routes);
	hy_file_free(&file);
	return rc;
}

int
routes_read(const struct options *options, struct routes *routes, char *error)
{
	int rc = 0;

	*routes = (struct routes){ 0 };
	if (options->routes != NULL) {
		rc = read_file(options, routes, error);
	} else {
		/* The benchmarking range of RFC 2544, of which DPDK's app takes eight networks. */
		for (uint16_t p = 0; p < 8 && rc == 0; p++) {
			const struct route route = { .prefix = RTE_IPV4(198u, 18, p, 0),
				.depth = 24,
				.port = p,
				.mac = options->eth_dest[p] };

			if (port_enabled(options, p))
				rc = append(routes, &route, error);
		}
	}
	if (rc < 0)
		routes_free(routes);
	return rc;
}

void
routes_free(struct routes *routes)
{
	free(routes->routes);
	*routes = (struct routes){ 0 };
}

uint32_t
routes_tbl8s(const struct routes *routes)
{
	uint32_t n = 0;

	/* Routes within one /24 stand together. */
	for (unsigned int i = 0, last = UINT32_MAX; i < routes->n; i++) {
		const struct route *r = &routes->routes[i];

		if (r->depth <= 24 || r->prefix >> 8 == last)
			continue;
		last = r->prefix >> 8;
		n++;
	}
	return n;
}

static int
by_next_hop(const void *a, const void *b)
{
	const struct route *ra = *(const struct route *const *)a;
	const struct route *rb = *(const struct route *const *)b;

	return ra->port != rb->port ? ra->port - rb->port
				    : memcmp(&ra->mac, &rb->mac, sizeof(ra->mac));
}

uint32_t
routes_next_hops(const struct routes *routes)
{
	const struct route **order = calloc(RTE_MAX(routes->n, 1u), sizeof(*order));
	uint32_t n = routes->n; /* at most, if there is no memory to sort them */

	for (unsigned int i = 0; i < routes->n && order != NULL; i++)
		order[i] = &routes->routes[i];
	if (order != NULL) {
		qsort(order, routes->n, sizeof(*order), by_next_hop);
		for (unsigned int i = 1; i < routes->n; i++)
			n -= by_next_hop(&order[i - 1], &order[i]) == 0;
	}
	free(order);
	return n;
}
