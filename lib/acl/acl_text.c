/* SPDX-License-Identifier: BSD-3-Clause */
/* What was logged, in words. */

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>

#include "acl.h"

const char *const acl_actions[HY_RULE_TO_PORT + 1] = {
	[HY_RULE_CLASSIFY] = "class",
	[HY_RULE_PERMIT] = "permit",
	[HY_RULE_DENY] = "deny",
	[HY_RULE_COUNT] = "count",
	[HY_RULE_TO_PORT] = "port",
};

struct text {
	char *to;
	size_t size, used; /* used may be more than there is room for */
};

static void __rte_format_printf(2, 3) put(struct text *text, const char *format, ...)
{
	const size_t at = RTE_MIN(text->used, text->size);
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text->size == 0 ? NULL : text->to + at, text->size - at, format, args);
	va_end(args);
	text->used += n < 0 ? 0 : (size_t)n;
}

static void
put_address(struct text *text, const uint32_t words[4], bool ip6)
{
	char address[INET6_ADDRSTRLEN];
	uint32_t be[4];

	for (unsigned int i = 0; i < 4; i++)
		be[i] = htonl(words[i]);
	inet_ntop(ip6 ? AF_INET6 : AF_INET, be, address, sizeof(address));
	put(text, "%s", address);
}

/* An address and, of packets that have ports, the port. */
static void
put_end(struct text *text, const struct hy_flow_key *key, bool source)
{
	const bool ip6 = (key->has & HY_FLOW_IPV6) != 0;
	const bool ports = (key->has & HY_FLOW_PORTS) != 0;

	put(text, ip6 && ports ? "[" : "");
	put_address(text, source ? key->src6 : key->dst6, ip6);
	put(text, ip6 && ports ? "]" : "");
	if (ports)
		put(text, ":%u", source ? key->sport : key->dport);
}

static void
put_proto(struct text *text, const struct hy_flow_key *key)
{
	if ((key->has & HY_FLOW_PROTO) == 0)
		put(text, (key->has & HY_FLOW_IPV6) != 0 ? "ip6" : "ip");
	else if (key->proto == IPPROTO_TCP)
		put(text, "tcp");
	else if (key->proto == IPPROTO_UDP)
		put(text, "udp");
	else if (key->proto == IPPROTO_SCTP)
		put(text, "sctp");
	else if (key->proto == IPPROTO_ICMP)
		put(text, "icmp");
	else if (key->proto == IPPROTO_ICMPV6)
		put(text, "icmp6");
	else
		put(text, "proto %u", key->proto);
}

static void
put_ip(struct text *text, const struct hy_flow_key *key)
{
	static const char letters[] = "FSRPAUEC";

	put_proto(text, key);
	put(text, " ");
	put_end(text, key, true);
	put(text, " > ");
	put_end(text, key, false);
	if ((key->has & HY_FLOW_TCP_FLAGS) != 0) {
		put(text, " flags ");
		for (unsigned int bit = 0; bit < 8; bit++)
			if ((key->tcp_flags >> bit & 1) != 0)
				put(text, "%c", letters[bit]);
		put(text, key->tcp_flags == 0 ? "none" : "");
	}
	if ((key->has & HY_FLOW_ICMP) != 0)
		put(text, " type %u code %u", key->icmp_type, key->icmp_code);
	if ((key->fragment & (HY_FLOW_FIRST_FRAGMENT | HY_FLOW_LATER_FRAGMENT)) != 0)
		put(text,
			key->fragment == HY_FLOW_FIRST_FRAGMENT ? " first fragment"
								: " later fragment");
}

static void
put_mac(struct text *text, uint64_t mac)
{
	for (unsigned int byte = 0; byte < 6; byte++)
		put(text, "%s%02x", byte == 0 ? "" : ":",
			(unsigned int)(mac >> (40 - 8 * byte) & 255));
}

static void
put_packet(struct text *text, const struct hy_acl_record *record)
{
	const struct hy_flow_key *key = &record->key;

	put(text, "%s %u ", record->out ? "to port" : "port", record->port);
	if ((key->has & HY_FLOW_VLAN) != 0)
		put(text, "vlan %u ", key->vlan);
	if ((key->has & (HY_FLOW_IPV4 | HY_FLOW_IPV6)) != 0) {
		put_ip(text, key);
	} else if ((key->has & HY_FLOW_ETHER_TYPE) != 0) {
		put(text, "type 0x%04x ", key->ether_type);
		put_mac(text, key->src_mac);
		put(text, " > ");
		put_mac(text, key->dst_mac);
	} else {
		put(text, "no header");
	}
	if ((key->has & HY_FLOW_TRUNCATED) != 0)
		put(text, " truncated");
	put(text, ", %u bytes", record->len);
}

int
hy_acl_event_format(const struct hy_acl_event *event, char *to, size_t size)
{
	const struct hy_acl_record *record = &event->record;
	struct text text = { .to = to, .size = size };

	put(&text, "acl %s rule %u", event->list, event->rule);
	if (event->more > 0) {
		put(&text, ": %" PRIu64 " more packet%s", event->more, event->more == 1 ? "" : "s");
		return (int)text.used;
	}
	put(&text, " %s", acl_actions[record->action]);
	if (record->action == HY_RULE_CLASSIFY || record->action == HY_RULE_TO_PORT)
		put(&text, " %u", record->to);
	if (record->action == HY_RULE_COUNT)
		put(&text, record->denied ? ", denied" : ", permitted");
	put(&text, ": ");
	put_packet(&text, record);
	return (int)text.used;
}
