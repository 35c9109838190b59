/* SPDX-License-Identifier: BSD-3-Clause */
/* The route file. All of it is read and checked before any route is used. */

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <hy_file.h>
#include <hy_option.h>

#include "lib/graph/internal/table.h"
#include "routes.h"

#define WORDS 6 /* of a line, and one that is too many */

/* The line that is being read. */
struct place {
	const struct hy_routes *routes;
	unsigned int line; /* 0: none */
	char *error;
};

/* Its value is to be returned. */
#define refuse(at, field, ...) \
	(snprintf((at)->error, HY_ROUTES_ERROR_SIZE, \
		 RTE_FMT("%s:%u: %s: " RTE_FMT_HEAD(__VA_ARGS__, ), (at)->routes->path, \
			 (at)->line, field, RTE_FMT_TAIL(__VA_ARGS__, ))), \
		hy_printable((at)->error), -EINVAL)

static int
refuse_file(const struct place *at, int rc, const char *why)
{
	snprintf(at->error, HY_ROUTES_ERROR_SIZE, "%s: %s", at->routes->path, why);
	hy_printable(at->error);
	return rc;
}

static int
read_prefix(const struct place *at, char *text, struct hy_route *route)
{
	char *slash = strchr(text, '/');
	unsigned int depth;
	struct in_addr addr;

	if (slash == NULL)
		return refuse(at, "prefix", "'%s' is not ADDRESS/LENGTH", text);
	*slash = '\0';
	if (inet_pton(AF_INET, text, &addr) != 1)
		return refuse(at, "prefix", "'%s' is not an IPv4 address, A.B.C.D", text);
	if (!hy_option_is_number(slash + 1, 0, 32, &depth))
		return refuse(at, "prefix", "length '%s' is not a number from 0 to 32", slash + 1);
	route->prefix = ntohl(addr.s_addr);
	route->depth = (uint8_t)depth;
	if (depth < 32 && route->prefix << depth != 0)
		return refuse(at, "prefix", "%s/%u has bits set beyond its length", text, depth);
	return 0;
}

static int
read_keyword(const struct place *at, const char *keyword, const char *text)
{
	if (strcmp(text, keyword) == 0)
		return 0;
	return refuse(at, keyword,
		"expected '%s', found '%s'; a line is PREFIX port N mac "
		"MM:MM:MM:MM:MM:MM",
		keyword, text[0] == '\0' ? "the end of the line" : text);
}

static int
read_port(const struct place *at, const char *text, struct hy_route *route)
{
	const struct hy_routes *routes = at->routes;
	char accepted[8 * RTE_MAX_ETHPORTS] = "none";
	unsigned int port;
	int n = 0;

	if (!hy_option_is_number(text, 0, RTE_MAX_ETHPORTS - 1, &port))
		return refuse(at, "port", "'%s' is not a port number", text);
	route->next_hop.port = (uint16_t)port;
	for (unsigned int i = 0; i < routes->nb_ports; i++) {
		if (routes->ports[i] == port)
			return 0;
		n += sprintf(accepted + n, "%s%u", i == 0 ? "" : ", ", routes->ports[i]);
	}
	return refuse(at, "port", "%u is not in use; in use are %s", port, accepted);
}

/* Reads a line that has words; those missing are "". */
static int
read_words(const struct place *at, char *const word[WORDS], struct hy_route *route)
{
	*route = (struct hy_route){ .line = at->line };
	if (read_prefix(at, word[0], route) < 0 || read_keyword(at, "port", word[1]) < 0 ||
		read_port(at, word[2], route) < 0 || read_keyword(at, "mac", word[3]) < 0)
		return -EINVAL;
	/* rte_ether_unformat_addr() also takes other forms; one is enough. */
	if (strlen(word[4]) != 17 || rte_ether_unformat_addr(word[4], &route->next_hop.mac) != 0)
		return refuse(at, "mac", "'%s' is not a MAC address, MM:MM:MM:MM:MM:MM", word[4]);
	if (word[5][0] != '\0')
		return refuse(at, "line", "'%s' behind the MAC address; nothing may follow it",
			word[5]);
	return 0;
}

static int
read_line(const struct place *at, char *line, struct route_list *list)
{
	char none[] = "", *word[WORDS], *save;
	struct hy_route route;
	int rc;

	line[strcspn(line, "#")] = '\0';
	for (unsigned int w = 0; w < WORDS; w++) {
		word[w] = strtok_r(w == 0 ? line : NULL, " \t\r\n", &save);
		if (word[w] == NULL)
			word[w] = none;
	}
	if (word[0] == none)
		return 0;
	rc = read_words(at, word, &route);
	return rc < 0 ? rc : route_list_append(list, &route, at->error);
}

int
route_list_append(struct route_list *list, const struct hy_route *route, char *error)
{
	struct hy_route *grown = hy_table_room(list->routes, list->n, sizeof(*grown));

	if (grown == NULL)
		return HY_REASON(-ENOMEM, error, HY_ROUTES_ERROR_SIZE, "out of memory for routes");
	list->routes = grown;
	list->routes[list->n++] = *route;
	return 0;
}

void
route_list_free(struct route_list *list)
{
	free(list->routes);
	*list = (struct route_list){ 0 };
}

static int
by_prefix(const void *a, const void *b)
{
	const struct hy_route *ra = a, *rb = b;

	if (ra->prefix != rb->prefix)
		return ra->prefix < rb->prefix ? -1 : 1;
	if (ra->depth != rb->depth)
		return ra->depth - rb->depth;
	return ra->line < rb->line ? -1 : ra->line > rb->line;
}

static int
refuse_duplicates(struct place *at, const struct route_list *list)
{
	if (list->n > 0)
		qsort(list->routes, list->n, sizeof(*list->routes), by_prefix);
	for (unsigned int i = 1; i < list->n; i++) {
		const struct hy_route *a = &list->routes[i - 1], *b = &list->routes[i];

		if (a->prefix != b->prefix || a->depth != b->depth)
			continue;
		at->line = b->line;
		return refuse(at, "prefix", "is a duplicate of line %u", a->line);
	}
	return 0;
}

static int
read_lines(struct place *at, struct hy_file *file, struct route_list *list)
{
	char why[HY_FILE_ERROR_SIZE];
	char *line;
	int rc;

	while ((rc = hy_file_line(file, &line, why)) > 0) {
		at->line = file->line;
		rc = read_line(at, line, list);
		if (rc < 0)
			return rc;
	}
	at->line = file->line;
	if (rc == -EINTR)
		return refuse_file(at, rc, why);
	return rc < 0 ? refuse(at, "line", "%s", why) : refuse_duplicates(at, list);
}

int
route_file_read(struct hy_routes *routes, char *error)
{
	struct place at = { .routes = routes, .error = error };
	char why[HY_FILE_ERROR_SIZE];
	struct hy_file file;
	int rc = hy_file_read(routes->path, HY_FILE_MAX, &file, why);

	rc = rc < 0 ? refuse_file(&at, rc, why) : read_lines(&at, &file, &routes->list);
	hy_file_free(&file);
	if (rc < 0)
		route_list_free(&routes->list);
	return rc;
}
