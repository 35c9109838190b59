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

#define WORDS 6  /* of a line, and one that is too many */
#define MEMBER 7 /* words of a member of a group, and one that is too many */
#define ROUTE_FORM "a line is PREFIX port N mac MM:MM:MM:MM:MM:MM, or PREFIX group and members"
#define MEMBER_FORM "a member is port N mac MM:MM:MM:MM:MM:MM, and may have weight W"

#define BLANKS " \t\r\n"

/* The line that is being read. */
struct place {
	struct hy_routes *routes;
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
read_prefix6(const struct place *at, const char *text, const char *length, struct hy_route *route)
{
	unsigned int depth;

	route->is_ip6 = true;
	if (inet_pton(AF_INET6, text, route->prefix6) != 1)
		return refuse(at, "prefix", "'%s' is not an IPv6 address, as in 2001:db8::", text);
	if (!hy_option_is_number(length, 0, 8 * HY_IP6_BYTES, &depth))
		return refuse(at, "prefix", "length '%s' is not a number from 0 to 128", length);
	route->depth = (uint8_t)depth;
	for (unsigned int bit = depth; bit < 8 * HY_IP6_BYTES; bit++)
		if ((route->prefix6[bit / 8] & 0x80 >> bit % 8) != 0)
			return refuse(at, "prefix", "%s/%u has bits set beyond its length", text,
				depth);
	return 0;
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
	if (strchr(text, ':') != NULL)
		return read_prefix6(at, text, slash + 1, route);
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
read_keyword(const struct place *at, const char *keyword, const char *text, const char *form)
{
	if (strcmp(text, keyword) == 0)
		return 0;
	return refuse(at, keyword, "expected '%s', found '%s'; %s", keyword,
		text[0] == '\0' ? "the end of the line" : text, form);
}

/* The VLAN interface of a port, which is in use. */
static int
read_vlan(const struct place *at, unsigned int port, const char *text, uint16_t *out)
{
	const struct hy_routes *routes = at->routes;
	char accepted[512] = "none";
	unsigned int vid, found = 0;
	int n = 0;

	if (!hy_option_is_number(text, 1, HY_VLAN_VID_MAX, &vid))
		return refuse(at, "port", "VLAN '%s' is not a number from 1 to %d", text,
			HY_VLAN_VID_MAX);
	for (unsigned int i = 0; i < routes->nb_vlans; i++) {
		if (routes->vlans[i].port != port)
			continue;
		if (routes->vlans[i].vid == vid) {
			*out = (uint16_t)HY_VLAN_PORT(i);
			return 0;
		}
		if ((size_t)n < sizeof(accepted) - sizeof(", 65535.4094, ..."))
			n += sprintf(accepted + n, "%s%u.%u", found++ == 0 ? "" : ", ", port,
				routes->vlans[i].vid);
		else
			strcpy(accepted + n, ", ...");
	}
	return refuse(at, "port", "%u.%u is no VLAN interface; of this port there are %s", port,
		vid, accepted);
}

static int
read_port(const struct place *at, char *text, uint16_t *out)
{
	const struct hy_routes *routes = at->routes;
	char accepted[8 * RTE_MAX_ETHPORTS] = "none";
	char *vid = text;
	unsigned int port;
	int n = 0;

	strsep(&vid, ".");
	if (!hy_option_is_number(text, 0, RTE_MAX_ETHPORTS - 1, &port))
		return refuse(at, "port", "'%s' is not a port number", text);
	*out = (uint16_t)port;
	for (unsigned int i = 0; i < routes->nb_ports; i++) {
		if (routes->ports[i] == port)
			return vid == NULL ? 0 : read_vlan(at, port, vid, out);
		n += sprintf(accepted + n, "%s%u", i == 0 ? "" : ", ", routes->ports[i]);
	}
	return refuse(at, "port", "%u is not in use; in use are %s", port, accepted);
}

/* Cuts the first words off a text, whose start it is given; those missing are "". */
static void
words_cut(char **text, char *word[], unsigned int n)
{
	for (unsigned int w = 0; w < n; w++) {
		char *start = *text + strspn(*text, BLANKS);
		char *end = start + strcspn(start, BLANKS);

		word[w] = start;
		*text = end;
		if (*end != '\0')
			*(*text)++ = '\0';
	}
}

/* Reads the words of a next hop. */
static int
read_next_hop(const struct place *at, char *const word[4], const char *form,
	struct hy_ip4_next_hop *hop)
{
	if (read_keyword(at, "port", word[0], form) < 0 || read_port(at, word[1], &hop->port) < 0 ||
		read_keyword(at, "mac", word[2], form) < 0)
		return -EINVAL;
	/* rte_ether_unformat_addr() also takes other forms; one is enough. */
	if (strlen(word[3]) != 17 || rte_ether_unformat_addr(word[3], &hop->mac) != 0)
		return refuse(at, "mac", "'%s' is not a MAC address, MM:MM:MM:MM:MM:MM", word[3]);
	return 0;
}

static int
read_member(const struct place *at, char *text, struct hy_route_group *group)
{
	struct hy_route_member *member = &group->members[group->n];
	unsigned int weight = 1;
	char *word[MEMBER];

	words_cut(&text, word, MEMBER);
	*member = (struct hy_route_member){ 0 };
	if (read_next_hop(at, word, MEMBER_FORM, &member->next_hop) < 0)
		return -EINVAL;
	if (word[4][0] != '\0') {
		if (read_keyword(at, "weight", word[4], MEMBER_FORM "; a comma ends it") < 0)
			return -EINVAL;
		if (!hy_option_is_number(word[5], 1, HY_IP4_GROUP_WEIGHT, &weight))
			return refuse(at, "weight", "'%s' is not a number from 1 to %u", word[5],
				HY_IP4_GROUP_WEIGHT);
		if (word[6][0] != '\0')
			return refuse(at, "group", "'%s' behind the weight; a comma ends a member",
				word[6]);
	}
	member->weight = weight;
	for (unsigned int i = 0; i < group->n; i++)
		if (memcmp(&group->members[i].next_hop, &member->next_hop,
			    sizeof(member->next_hop)) == 0)
			return refuse(at, "group", "member %u is a duplicate of member %u",
				group->n + 1, i + 1);
	group->n++;
	return 0;
}

/* Reads the members that are left of a line. */
static int
read_group(const struct place *at, char *text, struct hy_route_group *group)
{
	int rc = 0;

	group->n = 0;
	for (char *next; text != NULL && rc == 0; text = next) {
		next = strchr(text, ',');
		if (next != NULL)
			*next++ = '\0';
		if (group->n == HY_IP4_GROUP_MEMBERS)
			return refuse(at, "group", "has more than %u members",
				HY_IP4_GROUP_MEMBERS);
		rc = read_member(at, text, group);
	}
	return rc;
}

/* Reads the words of a line after its prefix, which leads to a next hop. */
static int
read_rest(const struct place *at, char *first, char *text, struct hy_route *route)
{
	char *word[WORDS - 1] = { first };

	words_cut(&text, word + 1, WORDS - 2);
	if (read_next_hop(at, word, ROUTE_FORM, &route->next_hop) < 0)
		return -EINVAL;
	if (word[4][0] != '\0')
		return refuse(at, "line", "'%s' behind the MAC address; nothing may follow it",
			word[4]);
	return 0;
}

static int
read_line(const struct place *at, char *line)
{
	struct hy_route route = { .line = at->line };
	struct hy_route_group group;
	char *word[2];
	int rc;

	line[strcspn(line, "#")] = '\0';
	words_cut(&line, word, RTE_DIM(word));
	if (word[0][0] == '\0')
		return 0;
	rc = read_prefix(at, word[0], &route);
	if (rc == 0 && strcmp(word[1], "group") == 0) {
		route.group = &group;
		rc = read_group(at, line, &group);
	} else if (rc == 0) {
		rc = read_rest(at, word[1], line, &route);
	}
	return rc < 0 ? rc : route_append(at->routes, &route, at->error);
}

int
route_append(struct hy_routes *routes, const struct hy_route *route, char *error)
{
	struct route_list *list = route->is_ip6 ? &routes->list6 : &routes->list;
	struct hy_route *grown = hy_table_room(list->routes, list->n, sizeof(*grown));
	const struct hy_route_group *group = NULL;

	if (grown != NULL)
		list->routes = grown;
	if (grown != NULL && route->group != NULL)
		group = route_group_copy(&routes->groups, route->group);
	if (grown == NULL || (route->group != NULL && group == NULL))
		return HY_REASON(-ENOMEM, error, HY_ROUTES_ERROR_SIZE, "out of memory for routes");
	list->routes[list->n] = *route;
	list->routes[list->n++].group = group;
	return 0;
}

void
route_lists_free(struct hy_routes *routes)
{
	free(routes->list.routes);
	free(routes->list6.routes);
	routes->list = routes->list6 = (struct route_list){ 0 };
	route_groups_free(&routes->groups);
}

static int
by_prefix(const void *a, const void *b)
{
	const struct hy_route *ra = a, *rb = b;
	const int rc = memcmp(ra->prefix6, rb->prefix6, sizeof(ra->prefix6));

	if (rc != 0)
		return rc;
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

		if (a->prefix != b->prefix || a->depth != b->depth ||
			memcmp(a->prefix6, b->prefix6, sizeof(a->prefix6)) != 0)
			continue;
		at->line = b->line;
		return refuse(at, "prefix", "is a duplicate of line %u", a->line);
	}
	return 0;
}

static int
read_lines(struct place *at, struct hy_file *file)
{
	char why[HY_FILE_ERROR_SIZE];
	char *line;
	int rc;

	while ((rc = hy_file_line(file, &line, why)) > 0) {
		at->line = file->line;
		rc = read_line(at, line);
		if (rc < 0)
			return rc;
	}
	at->line = file->line;
	if (rc == -EINTR)
		return refuse_file(at, rc, why);
	if (rc < 0)
		return refuse(at, "line", "%s", why);
	rc = refuse_duplicates(at, &at->routes->list);
	return rc < 0 ? rc : refuse_duplicates(at, &at->routes->list6);
}

int
route_file_read(struct hy_routes *routes, char *error)
{
	struct place at = { .routes = routes, .error = error };
	char why[HY_FILE_ERROR_SIZE];
	struct hy_file file;
	int rc = hy_file_read(routes->path, HY_FILE_MAX, &file, why);

	rc = rc < 0 ? refuse_file(&at, rc, why) : read_lines(&at, &file);
	hy_file_free(&file);
	if (rc < 0)
		route_lists_free(routes);
	return rc;
}
