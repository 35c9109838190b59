/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of l3fwd-acl's and ClassBench's files: a rule in columns. */

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_ether.h>

#include <hy_file.h>

#include "format.h"

static const char space[] = " \t\r\f\v";

#define TCP_FLAGS 0xff /* of the sixth column's 16 bits, as in TCP's header */

/* A line's columns. */
struct columns {
	bool route, ip6;
	uint32_t src[4], dst[4];
	uint32_t src_len, dst_len;
	uint32_t sport[2], dport[2];
	uint32_t proto, proto_mask;
	uint32_t flags, flags_mask;
};

static char *
next_word(char **at)
{
	char *word = *at + strspn(*at, space);

	*at = word + strcspn(word, space);
	if (**at != '\0')
		*(*at)++ = '\0';
	return word;
}

/*
 * Decimal, or hexadecimal after 0x, from *at on, which moves behind it. A 0 before other digits is
 * refused: l3fwd-acl reads such numbers as octal.
 */
static bool
read_number(char **at, uint32_t max, uint32_t *value)
{
	const bool hex = (*at)[0] == '0' && ((*at)[1] == 'x' || (*at)[1] == 'X');
	const char *digits = hex ? "0123456789abcdefABCDEF" : "0123456789";
	const char *start = *at + (hex ? 2 : 0);
	const size_t n = strspn(start, digits);

	if (n == 0 || n > 10 || (!hex && n > 1 && start[0] == '0'))
		return false;
	*value = (uint32_t)RTE_MIN(strtoul(start, at, hex ? 16 : 10), UINT32_MAX);
	return *value <= max;
}

static int
refuse_word(struct policy_reading *reading, const char *field, char *word, const char *accepted)
{
	if (*word == '\0')
		return policy_reading_refuse(reading, "%s: missing; %s is accepted", field,
			accepted);
	return policy_reading_refuse(reading, "%s: '%.64s' is not %s", field, hy_printable(word),
		accepted);
}

static bool
read_address(char *text, bool ip6, uint32_t address[4])
{
	uint32_t bytes[4] = { 0 };

	if (inet_pton(ip6 ? AF_INET6 : AF_INET, text, bytes) != 1)
		return false;
	for (unsigned int w = 0; w < 4; w++)
		address[w] = ntohl(bytes[w]);
	return true;
}

static bool
has_bits_beyond(const uint32_t address[4], uint32_t len)
{
	for (uint32_t w = 0; w < 4; w++)
		if (len < 32 * (w + 1) &&
			(len <= 32 * w ? address[w] : address[w] << len % 32) != 0)
			return true;
	return false;
}

static int
read_prefix(struct policy_reading *reading, const char *field, char *word, bool ip6,
	uint32_t address[4], uint32_t *len)
{
	static const char accepted4[] = "an IPv4 prefix A.B.C.D/N, N from 0 to 32, no bits beyond";
	static const char accepted6[] = "an IPv6 prefix ADDRESS/N, N from 0 to 128, no bits beyond";
	char *slash = strchr(word, '/'), *end;
	bool good = slash != NULL;

	if (good) {
		*slash = '\0';
		end = slash + 1;
		good = read_address(word, ip6, address) && read_number(&end, ip6 ? 128 : 32, len) &&
			*end == '\0' && !has_bits_beyond(address, *len);
		*slash = '/';
	}
	return good ? 0 : refuse_word(reading, field, word, ip6 ? accepted6 : accepted4);
}

/* "LOW : HIGH", with or without blanks about the colon. */
static int
read_ports(struct policy_reading *reading, const char *field, char **at, uint32_t range[2])
{
	char *text = *at += strspn(*at, space);
	bool good = read_number(at, UINT16_MAX, &range[0]);

	*at += strspn(*at, space);
	good = good && *(*at) == ':';
	if (good) {
		*at += 1 + strspn(*at + 1, space);
		good = read_number(at, UINT16_MAX, &range[1]) && range[0] <= range[1] &&
			(**at == '\0' || strchr(space, **at) != NULL);
	}
	return good ? 0
		    : refuse_word(reading, field, text,
			      "LOW : HIGH, ports from 0 to 65535, the lower one first");
}

/* "VALUE/MASK" */
static int
read_masked(struct policy_reading *reading, const char *field, char *word, uint32_t max,
	const char *accepted, uint32_t *value, uint32_t *mask)
{
	char *at = word;
	bool good = read_number(&at, max, value) && *at == '/';

	if (good) {
		at++;
		good = read_number(&at, max, mask) && *at == '\0' && (*value & ~*mask) == 0;
	}
	return good ? 0 : refuse_word(reading, field, word, accepted);
}

/* The columns that are not in all lines. */
static int
read_last(struct policy_reading *reading, char **at, struct columns *c)
{
	const bool bench = reading->file->format == HY_POLICY_CLASSBENCH;
	char *word = next_word(at), *end = word;
	uint32_t number;
	int rc = 0;

	if (bench && *word != '\0')
		rc = read_masked(reading, "flags", word, UINT16_MAX,
			"VALUE/MASK, from 0x0000 to 0xffff, no bits beside the mask", &c->flags,
			&c->flags_mask);
	else if ((c->route || *word != '\0') &&
		!(read_number(&end, UINT32_MAX, &number) && *end == '\0'))
		rc = refuse_word(reading, "port", word,
			c->route ? "the number of a route's port"
				 : "a number; lines with flags are ClassBench's");
	word = next_word(at);
	if (rc == 0 && *word != '\0')
		rc = policy_reading_refuse(reading, "line: '%.64s' is one column too many",
			hy_printable(word));
	return rc;
}

static int
read_columns(struct policy_reading *reading, char *at, struct columns *c)
{
	char *src = next_word(&at), *dst = next_word(&at);
	int rc;

	c->ip6 = strchr(src, ':') != NULL;
	rc = read_prefix(reading, "source", src, c->ip6, c->src, &c->src_len);
	if (rc == 0)
		rc = read_prefix(reading, "destination", dst, c->ip6, c->dst, &c->dst_len);
	if (rc == 0)
		rc = read_ports(reading, "source ports", &at, c->sport);
	if (rc == 0)
		rc = read_ports(reading, "destination ports", &at, c->dport);
	if (rc == 0)
		rc = read_masked(reading, "protocol", next_word(&at), UINT8_MAX,
			"PROTOCOL/MASK, from 0 to 0xff, no bits beside the mask", &c->proto,
			&c->proto_mask);
	return rc < 0 ? rc : read_last(reading, &at, c);
}

static bool
is_range(const uint32_t range[2])
{
	return range[0] != 0 || range[1] != UINT16_MAX;
}

static void
set_range(struct hy_flow_match *m, uint32_t field, const uint32_t range[2], uint16_t to[2])
{
	if (!is_range(range))
		return;
	m->fields |= field;
	to[0] = (uint16_t)range[0];
	to[1] = (uint16_t)range[1];
}

static void
set_prefix(struct hy_flow_match *m, uint32_t field, const uint32_t address[4], uint32_t len,
	uint32_t to[4], uint8_t *to_len)
{
	if (len == 0)
		return;
	m->fields |= field;
	memcpy(to, address, 4 * sizeof(*to));
	*to_len = (uint8_t)len;
}

/* The rule of a line, without a protocol. */
static void
rule_of(const struct columns *c, enum hy_policy_format format, struct hy_flow_rule *rule)
{
	struct hy_flow_match *m = &rule->match;

	*rule = (struct hy_flow_rule){ .action = HY_RULE_PERMIT };
	if (format == HY_POLICY_L3FWD_ACL && !c->route)
		rule->action = HY_RULE_DENY;
	set_prefix(m, HY_FLOW_SRC, c->src, c->src_len, m->src6, &m->src_len);
	set_prefix(m, HY_FLOW_DST, c->dst, c->dst_len, m->dst6, &m->dst_len);
	set_range(m, HY_FLOW_SPORT, c->sport, m->sport);
	set_range(m, HY_FLOW_DPORT, c->dport, m->dport);
	if ((c->flags_mask & TCP_FLAGS) != 0) {
		m->fields |= HY_FLOW_TCP_FLAGS;
		m->tcp_flags = (uint8_t)(c->flags & TCP_FLAGS);
		m->tcp_mask = (uint8_t)(c->flags_mask & TCP_FLAGS);
	}
	if (c->ip6)
		m->fields |= HY_FLOW_IPV6;
}

/* Adds a rule; one without a condition is for all packets of IPv4. */
static int
add(struct policy_reading *reading, struct hy_flow_rule *rule)
{
	rule->id = reading->file->nb_rules + 1;
	if (rule->match.fields == 0) {
		rule->match.fields = HY_FLOW_ETHER_TYPE;
		rule->match.ether_type = RTE_ETHER_TYPE_IPV4;
	}
	return policy_reading_add(reading, rule);
}

/* Adds a rule for each protocol that the mask leaves open and that can have the other columns. */
static int
add_protocols(struct policy_reading *reading, const struct columns *c, struct hy_flow_rule *rule)
{
	char why[HY_POLICY_ERROR_SIZE] = "";
	uint32_t added = 0;
	int rc = 0;

	rule->match.fields |= HY_FLOW_PROTO;
	for (uint32_t proto = 0; proto <= UINT8_MAX && rc == 0; proto++) {
		rule->match.proto = (uint8_t)proto;
		if ((proto & c->proto_mask) != c->proto || hy_flow_rule_check(rule, why) < 0)
			continue;
		rc = add(reading, rule);
		added++;
	}
	if (rc == 0 && added == 0)
		rc = policy_reading_refuse(reading, "%s", why);
	return rc;
}

int
policy_columns_read(struct policy_reading *reading, char *text)
{
	struct columns c = { .route = *text == 'R' };
	struct hy_flow_rule rule;
	int rc;

	if (*text != '@' && *text != 'R')
		return policy_reading_refuse(reading,
			"line: starts with neither '@'%s; the file is read as %s's",
			reading->file->format == HY_POLICY_CLASSBENCH ? "" : " nor 'R'",
			hy_policy_format_name(reading->file->format));
	if (c.route && reading->file->format == HY_POLICY_CLASSBENCH)
		return policy_reading_refuse(reading,
			"line: 'R' starts lines of l3fwd-acl; the file is read as classbench's");
	rc = read_columns(reading, text + 1, &c);
	if (rc < 0)
		return rc;
	reading->file->nb_routes += c.route;
	reading->file->nb_flags += (c.flags_mask & ~TCP_FLAGS) != 0;
	rule_of(&c, reading->file->format, &rule);
	return c.proto_mask == 0 ? add(reading, &rule) : add_protocols(reading, &c, &rule);
}

enum hy_policy_format
policy_columns_format(const char *text)
{
	unsigned int slashes = 0;

	if (*text != '@' && *text != 'R')
		return HY_POLICY_HALYARD;
	for (const char *c = text; *c != '\0'; c++)
		slashes += *c == '/';
	if (*text == '@' && slashes > 3)
		return HY_POLICY_CLASSBENCH;
	return *text == '@' && strchr(text, '\t') != NULL ? HY_POLICY_ANY : HY_POLICY_L3FWD_ACL;
}
