/* SPDX-License-Identifier: BSD-3-Clause */
/* Common kinds of rules, to report how many of them a port takes. */

#include <netinet/in.h>
#include <string.h>

#include <rte_common.h>
#include <rte_ether.h>

#include <hy_policy.h>

#include <hy_flow.h>

#define NET 0xc6120000 /* 198.18.0.0/15, of RFC 2544 */

/* clang-format off */
#define SRC HY_FLOW_SRC
#define DST HY_FLOW_DST
#define DPORT HY_FLOW_DPORT
#define SPORT HY_FLOW_SPORT
#define FROM .src = NET + 1, .src_len = 32
#define TO .dst = NET + 2, .dst_len = 32
#define FROM_NET .src = NET, .src_len = 15
#define TO_NET .dst = NET, .dst_len = 15
#define PORT_FROM .sport = { 2000, 2000 }
#define PORT_TO .dport = { 80, 80 }
#define TAG .vlan = 7

#define OF(fields_, ...) { .fields = (fields_), __VA_ARGS__ }

/* Kinds of rules for a protocol with ports. */
#define OF_PROTOCOL(text, p) \
	{ text, OF(HY_FLOW_PROTO, .proto = (p)) }, \
	{ text ", destination", OF(HY_FLOW_PROTO | DST, .proto = (p), TO) }, \
	{ text ", source port", OF(HY_FLOW_PROTO | SPORT, .proto = (p), PORT_FROM) }, \
	{ text ", destination port", OF(HY_FLOW_PROTO | DPORT, .proto = (p), PORT_TO) }, \
	{ text ", destination and its port", OF(HY_FLOW_PROTO | DST | DPORT, .proto = (p), TO, PORT_TO) }, \
	{ text ", 5-tuple", OF(HY_FLOW_5_TUPLE, .proto = (p), FROM, TO, PORT_FROM, PORT_TO) }, \
	{ text ", 5-tuple with prefixes", OF(HY_FLOW_5_TUPLE, .proto = (p), FROM_NET, TO_NET, PORT_FROM, PORT_TO) }, \
	{ text ", VLAN, 5-tuple", OF(HY_FLOW_5_TUPLE | HY_FLOW_VLAN, .proto = (p), TAG, FROM, TO, PORT_FROM, PORT_TO) }

static const struct hy_flow_kind kinds[] = {
	{ "any packet", OF(0) },
	{ "ether type", OF(HY_FLOW_ETHER_TYPE, .ether_type = 0x88f7) },
	{ "VLAN", OF(HY_FLOW_VLAN, TAG) },
	{ "VLAN, ether type", OF(HY_FLOW_VLAN | HY_FLOW_ETHER_TYPE, TAG, .ether_type = 0x88f7) },
	{ "IPv4", OF(HY_FLOW_ETHER_TYPE, .ether_type = RTE_ETHER_TYPE_IPV4) },
	{ "IPv4, source", OF(SRC, FROM) },
	{ "IPv4, source prefix", OF(SRC, FROM_NET) },
	{ "IPv4, destination", OF(DST, TO) },
	{ "IPv4, destination prefix", OF(DST, TO_NET) },
	{ "IPv4, source and destination", OF(SRC | DST, FROM, TO) },
	{ "IPv4, VLAN, destination", OF(HY_FLOW_VLAN | DST, TAG, TO) },
	{ "IPv4, DSCP", OF(HY_FLOW_DSCP, .dscp = 46) },
	{ "IPv4, DSCP, destination", OF(HY_FLOW_DSCP | DST, .dscp = 46, TO) },
	{ "protocol without ports (GRE)", OF(HY_FLOW_PROTO, .proto = IPPROTO_GRE) },
	OF_PROTOCOL("TCP", IPPROTO_TCP),
	OF_PROTOCOL("UDP", IPPROTO_UDP),
	OF_PROTOCOL("SCTP", IPPROTO_SCTP),
	{ "UDP, DSCP, 5-tuple", OF(HY_FLOW_5_TUPLE | HY_FLOW_DSCP, .proto = IPPROTO_UDP, .dscp = 46, FROM, TO, PORT_FROM, PORT_TO) },
	{ "UDP, range of ports", OF(HY_FLOW_PROTO | DPORT, .proto = IPPROTO_UDP, .dport = { 1024, 2047 }) },
	{ "VXLAN", OF(HY_FLOW_TUNNEL, .tunnel = 100) },
};
/* clang-format on */

unsigned int
hy_flow_kinds(const struct hy_flow_kind **list)
{
	*list = kinds;
	return RTE_DIM(kinds);
}

void
hy_flow_kinds_count(const struct hy_flow_driver *driver, const struct hy_flow_limits *limits,
	struct hy_flow_kind_counts *counts, const char *reasons[])
{
	static const struct hy_flow_spread one_queue = { .nb_queues = 1 };

	*counts = (struct hy_flow_kind_counts){ .kinds = RTE_DIM(kinds) };
	for (unsigned int k = 0; k < RTE_DIM(kinds); k++) {
		struct hy_flow_lowered lowered;
		const char *reason;

		if (hy_flow_lower(driver, limits, &kinds[k].match, 1, 0, &one_queue, &lowered,
			    &reason) == 0) {
			counts->taken++;
			counts->checked += lowered.fragments || lowered.wider;
		}
		if (reasons != NULL)
			reasons[k] = reason;
	}
}

void
hy_flow_kinds_print(const struct hy_flow_driver *driver, const struct hy_flow_limits *limits,
	FILE *out)
{
	const char *reasons[RTE_DIM(kinds)];
	struct hy_flow_kind_counts counts;

	hy_flow_kinds_count(driver, limits, &counts, reasons);
	fprintf(out, "  takes %u of %u kinds of rules", counts.taken, counts.kinds);
	if (counts.checked > 0)
		fprintf(out, ", %u of them with marks checked in software", counts.checked);
	if (driver->spread_rules > 0)
		fprintf(out, "; %u rules at once with several queues", driver->spread_rules);
	fprintf(out, "\n");
	for (unsigned int k = 0; k < RTE_DIM(kinds); k++) {
		const char *const reason = reasons[k], *comma = "";

		if (reason == NULL)
			continue;
		fprintf(out, "    %s: ", reason);
		for (unsigned int other = k; other < RTE_DIM(kinds); other++) {
			if (reasons[other] == NULL || strcmp(reasons[other], reason) != 0)
				continue;
			fprintf(out, "%s%s", comma, kinds[other].name);
			comma = "; ";
			reasons[other] = NULL;
		}
		fprintf(out, "\n");
	}
}
