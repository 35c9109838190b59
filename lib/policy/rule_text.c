/* SPDX-License-Identifier: BSD-3-Clause */
/* A rule in words, both ways: keywords, each with its value. */

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <hy_file.h>

#include "policy.h"

#define AT(member) \
	offsetof(struct hy_flow_rule, member), sizeof(((struct hy_flow_rule *)NULL)->member)

static const char prefix[] = "an IPv4 prefix: A.B.C.D/N, N from 1 to 32, no bits beyond";
static const char ports[] = "a port from 0 to 65535, or a range FIRST-LAST";

const struct policy_field policy_fields[POLICY_FIELDS] = {
	{ "rule", POLICY_NUMBER, 0, AT(id), 0, UINT32_MAX, "a number from 0 to 4294967295" },
	{ "class", POLICY_NUMBER, 0, AT(class_id), 1, UINT16_MAX, "a class from 1 to 65535" },
	{ "precedence", POLICY_NUMBER, 0, AT(precedence), 0, UINT32_MAX,
		"a number from 0 to 4294967295" },
	{ "type", POLICY_HEX, HY_FLOW_ETHER_TYPE, AT(match.ether_type), 0x600, UINT16_MAX,
		"an ether type from 0x0600 to 0xffff" },
	{ "vlan", POLICY_NUMBER, HY_FLOW_VLAN, AT(match.vlan), 1, 4094,
		"a VLAN id from 1 to 4094" },
	{ "src", POLICY_PREFIX, HY_FLOW_SRC, AT(match.src), 1, 32, prefix,
		offsetof(struct hy_flow_rule, match.src_len) },
	{ "dst", POLICY_PREFIX, HY_FLOW_DST, AT(match.dst), 1, 32, prefix,
		offsetof(struct hy_flow_rule, match.dst_len) },
	{ "proto", POLICY_PROTO, HY_FLOW_PROTO, AT(match.proto), 0, UINT8_MAX,
		"icmp, tcp, udp, sctp or a number from 0 to 255" },
	{ "sport", POLICY_PORTS, HY_FLOW_SPORT, AT(match.sport[0]), 0, UINT16_MAX, ports },
	{ "dport", POLICY_PORTS, HY_FLOW_DPORT, AT(match.dport[0]), 0, UINT16_MAX, ports },
	{ "dscp", POLICY_NUMBER, HY_FLOW_DSCP, AT(match.dscp), 0, 63, "a code point from 0 to 63" },
	{ "tunnel", POLICY_NUMBER, HY_FLOW_TUNNEL, AT(match.tunnel), 0, (1 << 24) - 1,
		"a VXLAN network identifier from 0 to 16777215" },
};

static void
number_set(void *at, size_t size, uint32_t value)
{
	if (size == sizeof(uint32_t))
		*(uint32_t *)at = value;
	else if (size == sizeof(uint16_t))
		*(uint16_t *)at = (uint16_t)value;
	else
		*(uint8_t *)at = (uint8_t)value;
}

/* Decimal, or hexadecimal after 0x. Numbers with a sign, or beyond max, are refused. */
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

static const struct {
	const char *name;
	uint8_t proto;
} protocols[] = {
	{ "icmp", IPPROTO_ICMP },
	{ "tcp", IPPROTO_TCP },
	{ "udp", IPPROTO_UDP },
	{ "sctp", IPPROTO_SCTP },
};

static bool
read_number(const struct policy_field *field, const char *text, void *at)
{
	uint32_t value;

	for (size_t i = 0; field->kind == POLICY_PROTO && i < RTE_DIM(protocols); i++) {
		if (strcmp(text, protocols[i].name) == 0) {
			number_set(at, field->size, protocols[i].proto);
			return true;
		}
	}
	if (!is_number(text, field->max, &value) || value < field->min)
		return false;
	number_set(at, field->size, value);
	return true;
}

static bool
read_prefix(char *text, uint32_t *value, uint8_t *len)
{
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
		return false;
	*value = ntohl(address.s_addr);
	*len = (uint8_t)bits;
	return true;
}

static bool
read_ports(char *text, uint16_t range[2])
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
		return false;
	range[0] = (uint16_t)first;
	range[1] = (uint16_t)last;
	return true;
}

static bool
read_value(const struct policy_field *field, char *text, struct hy_flow_rule *rule)
{
	void *at = (char *)rule + field->at;

	switch (field->kind) {
	case POLICY_PREFIX:
		return read_prefix(text, at, (uint8_t *)rule + field->len);
	case POLICY_PORTS:
		return read_ports(text, at);
	default:
		return read_number(field, text, at);
	}
}

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
	for (size_t k = 0; k < POLICY_FIELDS; k++) {
		const struct policy_field *field = &policy_fields[k];

		if (strcmp(name, field->name) != 0)
			continue;
		if ((*seen & 1u << k) != 0)
			return complain(error, name, "given twice");
		if (value == NULL)
			return complain(error, name, "the line ends before its value");
		*seen |= 1u << k;
		rule->match.fields |= field->bit;
		if (read_value(field, value, rule))
			return 0;
		if (error != NULL)
			snprintf(error, HY_POLICY_ERROR_SIZE, "%s: '%.64s' is not %s", name,
				hy_printable(value), field->accepted);
		return -EINVAL;
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
write_prefix(FILE *out, uint32_t value, uint8_t len)
{
	fprintf(out, "%u.%u.%u.%u/%u", value >> 24, value >> 16 & 255, value >> 8 & 255,
		value & 255, len);
}

static void
write_proto(FILE *out, uint32_t proto)
{
	for (size_t i = 0; i < RTE_DIM(protocols); i++) {
		if (protocols[i].proto == proto) {
			fputs(protocols[i].name, out);
			return;
		}
	}
	fprintf(out, "%u", proto);
}

static void
write_value(FILE *out, const struct policy_field *field, const struct hy_flow_rule *rule)
{
	const uint16_t *range = (const uint16_t *)((const char *)rule + field->at);

	switch (field->kind) {
	case POLICY_PREFIX:
		write_prefix(out, policy_number(field, rule),
			*((const uint8_t *)rule + field->len));
		break;
	case POLICY_PORTS:
		fprintf(out, "%u", range[0]);
		if (range[1] != range[0])
			fprintf(out, "-%u", range[1]);
		break;
	case POLICY_PROTO:
		write_proto(out, policy_number(field, rule));
		break;
	case POLICY_HEX:
		fprintf(out, "0x%04x", policy_number(field, rule));
		break;
	case POLICY_NUMBER:
		fprintf(out, "%u", policy_number(field, rule));
	}
}

void
policy_rule_write(FILE *out, const struct hy_flow_rule *rule)
{
	for (const struct policy_field *f = policy_fields; f < policy_fields + POLICY_FIELDS; f++) {
		if (f->bit != 0 && (rule->match.fields & f->bit) == 0)
			continue;
		fprintf(out, "%s%s ", f == policy_fields ? "" : " ", f->name);
		write_value(out, f, rule);
	}
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
