/* SPDX-License-Identifier: BSD-3-Clause */
/* A rule as words. */

#include <arpa/inet.h>
#include <errno.h>

#include "rule.h"

static void
write_prefix(FILE *out, const uint32_t value[], uint8_t len, bool ip6)
{
	char text[INET6_ADDRSTRLEN];
	uint32_t address[4];

	for (unsigned int w = 0; w < (ip6 ? 4 : 1); w++)
		address[w] = htonl(value[w]);
	inet_ntop(ip6 ? AF_INET6 : AF_INET, address, text, sizeof(text));
	fprintf(out, "%s/%u", text, len);
}

static void
write_proto(FILE *out, uint32_t proto, bool ip6)
{
	/* Whose word is of the other version. */
	const bool is_other = proto == (ip6 ? IPPROTO_ICMP : IPPROTO_ICMPV6);

	for (size_t i = 0; i < POLICY_PROTOCOLS && !is_other; i++) {
		if (policy_protocols[i].value == proto) {
			fputs(policy_protocols[i].name, out);
			return;
		}
	}
	fprintf(out, "%u", proto);
}

static void
write_address(FILE *out, uint64_t address)
{
	for (int shift = 40; shift >= 0; shift -= 8)
		fprintf(out, "%02x%s", (unsigned int)(address >> shift & 0xff),
			shift > 0 ? ":" : "");
}

static void
write_mac(FILE *out, uint64_t address, uint64_t mask)
{
	write_address(out, address);
	if (mask == (UINT64_C(1) << 48) - 1)
		return;
	fputc('/', out);
	write_address(out, mask);
}

static void
write_letters(FILE *out, uint8_t flags)
{
	for (unsigned int i = 0; i < 8; i++)
		if ((flags >> i & 1) != 0)
			fputc(policy_flags[i], out);
}

static void
write_fragments(FILE *out, uint8_t kinds)
{
	const char *comma = "";

	for (size_t i = 0; i < POLICY_FRAGMENTS; i++) {
		if ((kinds & policy_fragments[i].value) == 0)
			continue;
		fprintf(out, "%s%s", comma, policy_fragments[i].name);
		comma = ",";
	}
}

static void
write_value(FILE *out, const struct policy_field *field, const struct hy_flow_rule *rule)
{
	const bool ip6 = (rule->match.fields & HY_FLOW_IPV6) != 0;
	const void *at = (const char *)rule + field->at, *more = (const char *)rule + field->more;
	const uint32_t first = policy_number(field, rule, 0);

	switch (field->kind) {
	case POLICY_PREFIX:
		write_prefix(out, at, *(const uint8_t *)more, ip6);
		break;
	case POLICY_RANGE:
		fprintf(out, "%u", first);
		if (policy_number(field, rule, 1) != first)
			fprintf(out, "-%u", policy_number(field, rule, 1));
		break;
	case POLICY_PROTO:
		write_proto(out, first, ip6);
		break;
	case POLICY_MAC:
		write_mac(out, *(const uint64_t *)at, *(const uint64_t *)more);
		break;
	case POLICY_FLAGS:
		write_letters(out, (uint8_t)first);
		fputc('/', out);
		write_letters(out, *(const uint8_t *)more);
		break;
	case POLICY_FRAGMENT:
		write_fragments(out, (uint8_t)first);
		break;
	case POLICY_HEX:
		fprintf(out, "0x%04x", first);
		break;
	default:
		fprintf(out, "%u", first);
	}
}

/* Whether a rule has a part. Addresses say by themselves that they are IPv6. */
static bool
has(const struct policy_field *f, const struct hy_flow_rule *rule)
{
	const uint32_t fields = rule->match.fields;

	if (f->is_action)
		return rule->action == f->action;
	if (f->bit == HY_FLOW_IPV6)
		return (fields & (HY_FLOW_IPV6 | HY_FLOW_SRC | HY_FLOW_DST)) == HY_FLOW_IPV6;
	if (f->bit != 0)
		return (fields & f->bit) != 0;
	return f->kind != POLICY_WORD || policy_number(f, rule, 0) != 0;
}

void
policy_rule_write(FILE *out, const struct hy_flow_rule *rule)
{
	for (const struct policy_field *f = policy_fields; f < policy_fields + POLICY_FIELDS; f++) {
		if (!has(f, rule))
			continue;
		fprintf(out, "%s%s", f == policy_fields ? "" : " ", f->name);
		if (f->kind == POLICY_WORD)
			continue;
		fputc(' ', out);
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
