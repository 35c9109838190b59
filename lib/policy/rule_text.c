/* SPDX-License-Identifier: BSD-3-Clause */
/* A rule in words, both ways: keywords, each with its value. */

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <hy_file.h>

#include "policy.h"

/* What a keyword's value is read into. */
struct reading {
	struct hy_flow_rule *rule;
	const char *keyword;
	char *error;
};

typedef int(read_value_t)(const struct reading *to, char *text);

static int
refuse(const struct reading *to, char *text, const char *accepted)
{
	if (to->error != NULL)
		snprintf(to->error, HY_POLICY_ERROR_SIZE, "%s: '%.64s' is not %s", to->keyword,
			hy_printable(text), accepted);
	return -EINVAL;
}

/* Decimal, or hexadecimal behind 0x. Numbers with a sign, or beyond max, are none. */
static bool
is_number(const char *text, uint32_t max, uint32_t *value)
{
	const bool hex = text[0] == '0' && text[1] == 'x';
	unsigned long n;
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	n = strtoul(text, &end, hex ? 16 : 10);
	*value = (uint32_t)n;
	return *end == '\0' && errno == 0 && n <= max;
}

static int
read_id(const struct reading *to, char *text)
{
	return is_number(text, UINT32_MAX, &to->rule->id)
		? 0
		: refuse(to, text, "a number from 0 to 4294967295");
}

static int
read_class(const struct reading *to, char *text)
{
	uint32_t value;

	if (!is_number(text, UINT16_MAX, &value) || value == HY_FLOW_NO_CLASS)
		return refuse(to, text, "a class from 1 to 65535");
	to->rule->class_id = (uint16_t)value;
	return 0;
}

static int
read_precedence(const struct reading *to, char *text)
{
	return is_number(text, UINT32_MAX, &to->rule->precedence)
		? 0
		: refuse(to, text, "a number from 0 to 4294967295");
}

static int
read_type(const struct reading *to, char *text)
{
	uint32_t value;

	if (!is_number(text, UINT16_MAX, &value) || value < 0x600)
		return refuse(to, text, "an ether type from 0x0600 to 0xffff");
	to->rule->match.ether_type = (uint16_t)value;
	return 0;
}

static int
read_vlan(const struct reading *to, char *text)
{
	uint32_t value;

	if (!is_number(text, 4094, &value) || value == 0)
		return refuse(to, text, "a VLAN id from 1 to 4094");
	to->rule->match.vlan = (uint16_t)value;
	return 0;
}

static int
read_prefix(const struct reading *to, char *text, uint32_t *prefix, uint8_t *len)
{
	static const char accepted[] = "an IPv4 prefix: A.B.C.D/N, N from 1 to 32, no bits beyond";
	char *slash = strchr(text, '/');
	uint32_t bits = 32;
	struct in_addr address;
	bool good;

	if (slash != NULL)
		*slash = '\0';
	good = inet_pton(AF_INET, text, &address) == 1 &&
		(slash == NULL || is_number(slash + 1, 32, &bits)) && bits > 0;
	if (slash != NULL)
		*slash = '/';
	if (!good || (bits < 32 && (ntohl(address.s_addr) << bits) != 0))
		return refuse(to, text, accepted);
	*prefix = ntohl(address.s_addr);
	*len = (uint8_t)bits;
	return 0;
}

static int
read_src(const struct reading *to, char *text)
{
	return read_prefix(to, text, &to->rule->match.src, &to->rule->match.src_len);
}

static int
read_dst(const struct reading *to, char *text)
{
	return read_prefix(to, text, &to->rule->match.dst, &to->rule->match.dst_len);
}

static const struct {
	const char *name;
	uint8_t proto;
} protocols[] = {
	{ "icmp", IPPROTO_ICMP },
	{ "tcp", IPPROTO_TCP },
	{ "udp", IPPROTO_UDP },
	{ "sctp", IPPROTO_SCTP },
};

static int
read_proto(const struct reading *to, char *text)
{
	uint32_t value;

	for (size_t i = 0; i < RTE_DIM(protocols); i++) {
		if (strcmp(text, protocols[i].name) == 0) {
			to->rule->match.proto = protocols[i].proto;
			return 0;
		}
	}
	if (!is_number(text, UINT8_MAX, &value))
		return refuse(to, text, "icmp, tcp, udp, sctp or a number from 0 to 255");
	to->rule->match.proto = (uint8_t)value;
	return 0;
}

static int
read_ports(const struct reading *to, char *text, uint16_t range[2])
{
	char *dash = strchr(text, '-');
	uint32_t first = 0, last = 0;
	bool good;

	if (dash != NULL)
		*dash = '\0';
	good = is_number(text, UINT16_MAX, &first);
	last = first;
	if (dash != NULL) {
		good = good && is_number(dash + 1, UINT16_MAX, &last) && first <= last;
		*dash = '-';
	}
	if (!good)
		return refuse(to, text, "a port from 0 to 65535, or a range FIRST-LAST");
	range[0] = (uint16_t)first;
	range[1] = (uint16_t)last;
	return 0;
}

static int
read_sport(const struct reading *to, char *text)
{
	return read_ports(to, text, to->rule->match.sport);
}

static int
read_dport(const struct reading *to, char *text)
{
	return read_ports(to, text, to->rule->match.dport);
}

static int
read_dscp(const struct reading *to, char *text)
{
	uint32_t value;

	if (!is_number(text, 63, &value))
		return refuse(to, text, "a code point from 0 to 63");
	to->rule->match.dscp = (uint8_t)value;
	return 0;
}

static int
read_tunnel(const struct reading *to, char *text)
{
	return is_number(text, (1 << 24) - 1, &to->rule->match.tunnel)
		? 0
		: refuse(to, text, "a VXLAN network identifier from 0 to 16777215");
}

static const struct keyword {
	const char *name;
	read_value_t *read;
	uint32_t field; /* of the match; 0: of the rule */
} keywords[] = {
	{ "rule", read_id, 0 },
	{ "class", read_class, 0 },
	{ "precedence", read_precedence, 0 },
	{ "type", read_type, HY_FLOW_ETHER_TYPE },
	{ "vlan", read_vlan, HY_FLOW_VLAN },
	{ "src", read_src, HY_FLOW_SRC },
	{ "dst", read_dst, HY_FLOW_DST },
	{ "proto", read_proto, HY_FLOW_PROTO },
	{ "sport", read_sport, HY_FLOW_SPORT },
	{ "dport", read_dport, HY_FLOW_DPORT },
	{ "dscp", read_dscp, HY_FLOW_DSCP },
	{ "tunnel", read_tunnel, HY_FLOW_TUNNEL },
};

#define KEYWORD_RULE 0x1u
#define KEYWORD_CLASS 0x2u

static int
complain(char *error, const char *keyword, const char *what)
{
	if (error != NULL) {
		snprintf(error, HY_POLICY_ERROR_SIZE, "%.64s: %s", keyword, what);
		hy_printable(error);
	}
	return -EINVAL;
}

/* Reads a keyword's value. seen: keywords of the line so far, as bits. */
static int
read_keyword(const char *name, char *value, struct hy_flow_rule *rule, uint32_t *seen, char *error)
{
	for (size_t k = 0; k < RTE_DIM(keywords); k++) {
		const struct reading to = { rule, name, error };

		if (strcmp(name, keywords[k].name) != 0)
			continue;
		if ((*seen & 1u << k) != 0)
			return complain(error, name, "given twice");
		if (value == NULL)
			return complain(error, name, "the line ends before its value");
		*seen |= 1u << k;
		rule->match.fields |= keywords[k].field;
		return keywords[k].read(&to, value);
	}
	return complain(error, name,
		"unknown; accepted are rule, class, precedence, type, vlan, src, dst, proto, "
		"sport, dport, dscp and tunnel, each with a value");
}

int
hy_flow_rule_parse(const char *text, struct hy_flow_rule *out, char *error)
{
	static const char space[] = " \t\r\n";
	struct hy_flow_rule rule = { 0 };
	char line[POLICY_LINE_SIZE], *save, *word;
	uint32_t seen = 0;
	int rc = 0;

	if (strlen(text) >= sizeof(line)) {
		snprintf(line, sizeof(line), "longer than %zu bytes", sizeof(line) - 1);
		return complain(error, "line", line);
	}
	strcpy(line, text);
	word = strtok_r(line, space, &save);
	while (word != NULL && rc == 0) {
		rc = read_keyword(word, strtok_r(NULL, space, &save), &rule, &seen, error);
		word = strtok_r(NULL, space, &save);
	}
	if (rc < 0)
		return rc;
	if ((seen & KEYWORD_RULE) == 0)
		return complain(error, "rule", "missing; a line is rule ID class CLASS …");
	if ((seen & KEYWORD_CLASS) == 0)
		return complain(error, "class", "missing; a line is rule ID class CLASS …");
	rc = hy_flow_rule_check(&rule, error);
	if (rc == 0)
		*out = rule;
	return rc;
}

static void
write_prefix(FILE *out, const char *keyword, uint32_t prefix, uint8_t len)
{
	fprintf(out, " %s %u.%u.%u.%u/%u", keyword, prefix >> 24, prefix >> 16 & 255,
		prefix >> 8 & 255, prefix & 255, len);
}

static void
write_ports(FILE *out, const char *keyword, const uint16_t range[2])
{
	fprintf(out, " %s %u", keyword, range[0]);
	if (range[1] != range[0])
		fprintf(out, "-%u", range[1]);
}

static void
write_proto(FILE *out, uint8_t proto)
{
	for (size_t i = 0; i < RTE_DIM(protocols); i++) {
		if (protocols[i].proto == proto) {
			fprintf(out, " proto %s", protocols[i].name);
			return;
		}
	}
	fprintf(out, " proto %u", proto);
}

void
policy_rule_write(FILE *out, const struct hy_flow_rule *rule)
{
	const struct hy_flow_match *m = &rule->match;

	fprintf(out, "rule %u class %u precedence %u", rule->id, rule->class_id, rule->precedence);
	if ((m->fields & HY_FLOW_ETHER_TYPE) != 0)
		fprintf(out, " type 0x%04x", m->ether_type);
	if ((m->fields & HY_FLOW_VLAN) != 0)
		fprintf(out, " vlan %u", m->vlan);
	if ((m->fields & HY_FLOW_SRC) != 0)
		write_prefix(out, "src", m->src, m->src_len);
	if ((m->fields & HY_FLOW_DST) != 0)
		write_prefix(out, "dst", m->dst, m->dst_len);
	if ((m->fields & HY_FLOW_PROTO) != 0)
		write_proto(out, m->proto);
	if ((m->fields & HY_FLOW_SPORT) != 0)
		write_ports(out, "sport", m->sport);
	if ((m->fields & HY_FLOW_DPORT) != 0)
		write_ports(out, "dport", m->dport);
	if ((m->fields & HY_FLOW_DSCP) != 0)
		fprintf(out, " dscp %u", m->dscp);
	if ((m->fields & HY_FLOW_TUNNEL) != 0)
		fprintf(out, " tunnel %u", m->tunnel);
}

int
hy_flow_rule_format(const struct hy_flow_rule *rule, char *text, size_t size)
{
	char all[HY_FLOW_TEXT_SIZE];
	FILE *out = fmemopen(all, sizeof(all), "w");

	if (out == NULL)
		return -ENOMEM;
	policy_rule_write(out, rule);
	fclose(out);
	return snprintf(text, size, "%s", all);
}
