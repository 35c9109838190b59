/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of a rule from words. */

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rule.h"

#define MAC_BYTES 6

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

static bool
read_number(const struct policy_field *field, const char *text, void *at)
{
	uint32_t value;

	if (!is_number(text, field->max, &value) || value < field->min)
		return false;
	number_set(at, field->size, value);
	return true;
}

/* ICMPv6 by its name is of IPv6. */
static bool
read_proto(const struct policy_field *field, const char *text, void *at, struct hy_flow_match *m)
{
	for (size_t i = 0; i < POLICY_PROTOCOLS; i++) {
		if (strcmp(text, policy_protocols[i].name) != 0)
			continue;
		number_set(at, field->size, policy_protocols[i].value);
		if (policy_protocols[i].value == IPPROTO_ICMPV6)
			m->fields |= HY_FLOW_IPV6;
		return true;
	}
	return read_number(field, text, at);
}

/* An IPv6 prefix makes the rule one of IPv6. */
static bool
read_prefix(char *text, uint32_t value[4], uint8_t *len, struct hy_flow_match *m)
{
	const bool ip6 = strchr(text, ':') != NULL;
	const unsigned int words = ip6 ? 4 : 1;
	char *slash = strchr(text, '/');
	uint32_t bits = 32 * words, address[4];
	bool good;

	if (slash != NULL)
		*slash = '\0';
	good = inet_pton(ip6 ? AF_INET6 : AF_INET, text, address) == 1 &&
		(slash == NULL || is_number(slash + 1, 32 * words, &bits)) && bits > 0;
	if (slash != NULL)
		*slash = '/';
	for (unsigned int w = 0; good && w < words; w++) {
		value[w] = ntohl(address[w]);
		good = bits >= 32 * (w + 1) ||
			(bits <= 32 * w ? value[w] : value[w] << bits % 32) == 0;
	}
	*len = (uint8_t)bits;
	m->fields |= ip6 ? HY_FLOW_IPV6 : 0;
	return good;
}

static bool
read_range(const struct policy_field *field, char *text, char *at)
{
	char *dash = strchr(text, '-');
	uint32_t first = 0, last = 0;
	bool good;

	if (dash != NULL)
		*dash = '\0';
	good = is_number(text, field->max, &first);
	last = first;
	if (dash != NULL) {
		good = good && is_number(dash + 1, field->max, &last) && first <= last;
		*dash = '-';
	}
	number_set(at, field->size, first);
	number_set(at + field->size, field->size, last);
	return good;
}

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
}

/* Six bytes of one or two digits. Returns what follows; NULL: it is no address. */
static const char *
read_address(const char *text, uint64_t *address)
{
	*address = 0;
	for (unsigned int byte = 0; byte < MAC_BYTES; byte++) {
		int value = hex_digit(*text++);

		if (value < 0)
			return NULL;
		if (hex_digit(*text) >= 0)
			value = value * 16 + hex_digit(*text++);
		*address = *address << 8 | (unsigned int)value;
		if (byte < MAC_BYTES - 1 && *text++ != ':')
			return NULL;
	}
	return text;
}

static bool
read_mac(const char *text, uint64_t *value, uint64_t *mask)
{
	const char *end = read_address(text, value);

	*mask = (UINT64_C(1) << 48) - 1;
	if (end != NULL && *end == '/')
		end = read_address(end + 1, mask);
	return end != NULL && *end == '\0' && *mask != 0 && (*value & ~*mask) == 0;
}

/* Letters up to an end. */
static bool
read_letters(const char *text, const char *end, uint8_t *flags)
{
	*flags = 0;
	for (; text < end; text++) {
		const char *at = strchr(policy_flags, *text);

		if (at == NULL)
			return false;
		*flags |= (uint8_t)(1 << (at - policy_flags));
	}
	return true;
}

static bool
read_flags(const char *text, uint8_t *value, uint8_t *mask)
{
	const char *slash = strchr(text, '/');

	return slash != NULL && read_letters(text, slash, value) &&
		read_letters(slash + 1, text + strlen(text), mask) && *mask != 0 &&
		(*value & ~*mask) == 0;
}

static bool
read_fragments(const char *text, uint8_t *kinds)
{
	*kinds = 0;
	do {
		const size_t size = strcspn(text, ",");
		size_t i = 0;

		while (i < POLICY_FRAGMENTS &&
			(strlen(policy_fragments[i].name) != size ||
				strncmp(text, policy_fragments[i].name, size) != 0))
			i++;
		if (i == POLICY_FRAGMENTS)
			return false;
		*kinds |= policy_fragments[i].value;
		text += size;
	} while (*text++ == ',');
	return true;
}

bool
policy_value_read(const struct policy_field *field, char *text, struct hy_flow_rule *rule)
{
	void *at = (char *)rule + field->at, *more = (char *)rule + field->more;

	switch (field->kind) {
	case POLICY_PREFIX:
		return read_prefix(text, at, more, &rule->match);
	case POLICY_RANGE:
		return read_range(field, text, at);
	case POLICY_PROTO:
		return read_proto(field, text, at, &rule->match);
	case POLICY_MAC:
		return read_mac(text, at, more);
	case POLICY_FLAGS:
		return read_flags(text, at, more);
	case POLICY_FRAGMENT:
		return read_fragments(text, at);
	default:
		return read_number(field, text, at);
	}
}
