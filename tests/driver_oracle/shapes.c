/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules of a policy: each shape that one can have, those of a file, and two by hand as controls. */

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_tcp.h>

#include "laws.h"

#define PTP 0x88f7

/* Addresses of both versions of IP, and of networks of 24 bits. */
static void
address_set(uint32_t address[4], uint8_t *len, bool ip6, bool prefix, uint32_t which)
{
	address[0] = ip6 ? 0x20010d00 : RTE_IPV4(10, (uint8_t)which, 0, prefix ? 0 : 1);
	if (ip6 && !prefix) {
		address[0] |= 0xb8;
		address[3] = which + 1;
	}
	*len = prefix ? 24 : ip6 ? 128 : 32;
}

/* The fields that no other one depends on, and that few rules have. */
static void
others_set(struct hy_flow_match *m, bool part)
{
	if ((m->fields & HY_FLOW_SRC_MAC) != 0) {
		m->src_mac = 0x020000000002;
		m->src_mac_mask = 0xffffffffffff;
	}
	if ((m->fields & HY_FLOW_DST_MAC) != 0) {
		m->dst_mac = part ? 0x020000000000 : 0x020000000001;
		m->dst_mac_mask = part ? 0xffffff000000 : 0xffffffffffff;
	}
	if ((m->fields & HY_FLOW_TCP_FLAGS) != 0) {
		m->tcp_flags = RTE_TCP_SYN_FLAG;
		m->tcp_mask = RTE_TCP_SYN_FLAG | RTE_TCP_ACK_FLAG;
	}
	if ((m->fields & HY_FLOW_ICMP_TYPE) != 0)
		m->icmp_type[0] = m->icmp_type[1] = 8;
	if ((m->fields & HY_FLOW_ICMP_CODE) != 0)
		m->icmp_code[0] = m->icmp_code[1] = 1;
}

/* What varies apart from the set of fields: each has an effect with some fields only. */
struct variant {
	unsigned int proto;
	bool prefix, other, part;
};

static bool
shape_make(uint32_t fields, const struct variant *v, struct hy_flow_rule *rule)
{
	static const uint8_t protos[] = { IPPROTO_TCP, IPPROTO_UDP, IPPROTO_SCTP, IPPROTO_GRE,
		IPPROTO_ICMP };
	const bool ip6 = (fields & HY_FLOW_IPV6) != 0;
	struct hy_flow_match *m = &rule->match;

	if (((fields & HY_FLOW_PROTO) == 0 && v->proto > 0) ||
		((fields & (HY_FLOW_SRC | HY_FLOW_DST)) == 0 && v->prefix) ||
		((fields & HY_FLOW_ETHER_TYPE) == 0 && v->other))
		return false;
	*rule = (struct hy_flow_rule){ .id = 1, .class_id = 1, .match.fields = fields };
	if ((fields & HY_FLOW_ETHER_TYPE) != 0)
		m->ether_type = v->other ? PTP : ip6 ? RTE_ETHER_TYPE_IPV6 : RTE_ETHER_TYPE_IPV4;
	if ((fields & HY_FLOW_VLAN) != 0)
		m->vlan = LAW_TAG;
	if ((fields & HY_FLOW_SRC) != 0)
		address_set(m->src6, &m->src_len, ip6, v->prefix, 0);
	if ((fields & HY_FLOW_DST) != 0)
		address_set(m->dst6, &m->dst_len, ip6, v->prefix, 1);
	if ((fields & HY_FLOW_PROTO) != 0)
		m->proto = ip6 && protos[v->proto] == IPPROTO_ICMP ? IPPROTO_ICMPV6
								   : protos[v->proto];
	if ((fields & HY_FLOW_DSCP) != 0)
		m->dscp = 46;
	if ((fields & HY_FLOW_SPORT) != 0)
		m->sport[0] = m->sport[1] = 1000;
	if ((fields & HY_FLOW_DPORT) != 0)
		m->dport[0] = m->dport[1] = (fields & HY_FLOW_TUNNEL) != 0 ? HY_FLOW_VXLAN_PORT
									   : 53;
	if ((fields & HY_FLOW_TUNNEL) != 0)
		m->tunnel = 100;
	others_set(m, v->part);
	return hy_flow_rule_check(rule, (char[HY_POLICY_ERROR_SIZE]){ 0 }) == 0;
}

/* Of the fields that few rules have, one at a time. */
static const struct {
	uint32_t fields;
	bool part;
} more[] = {
	{ 0, false },
	{ HY_FLOW_SRC_MAC, false },
	{ HY_FLOW_DST_MAC, false },
	{ HY_FLOW_DST_MAC, true },
	{ HY_FLOW_TCP_FLAGS, false },
	{ HY_FLOW_ICMP_TYPE, false },
	{ HY_FLOW_ICMP, false },
};

unsigned int
law_each_shape(void (*visit)(const struct hy_flow_rule *rule, void *context), void *context)
{
	struct hy_flow_rule rule;
	unsigned int n = 0;

	for (uint32_t i = 0; i < 2 * RTE_DIM(more) * (HY_FLOW_ALL + 1); i++) {
		const uint32_t kind = i / (HY_FLOW_ALL + 1);
		const uint32_t fields = i % (HY_FLOW_ALL + 1) | more[kind / 2].fields |
			(kind % 2 != 0 ? HY_FLOW_IPV6 : 0);

		for (unsigned int j = 0; j < 20 && fields != 0; j++) {
			const struct variant v = { j >> 2, (j & 2) != 0, (j & 1) != 0,
				more[kind / 2].part };

			if (!shape_make(fields, &v, &rule))
				continue;
			visit(&rule, context);
			n++;
		}
	}
	return n;
}

struct count {
	const struct law *law;
	unsigned int lowered, unlowered, taken, alike;
	unsigned int drops, drops_taken; /* those that hardware may drop */
};

/* A rule that drops what another marks, wherever it is lowered: the driver must take it. */
static void
ask_drop(const struct hy_flow_rule *rule, const char *text, struct count *count)
{
	const struct law *law = count->law;
	struct hy_flow_limits limits = law->limits;
	struct law_answer driver, simulator;
	struct hy_flow_lowered lowered;
	const char *reason;

	/* A fixture may have no counters to read. */
	limits.drops = law->driver->drops;
	if (hy_flow_lower_drop(law->driver, &limits, &rule->match, 0, &lowered, &reason) != 0)
		return;
	count->drops++;
	const struct law_rule asked = { &lowered.attr, lowered.items, lowered.actions };
	law_ask_driver(law, &asked, &driver);
	law_ask_simulator(law, &asked, &simulator);
	if (law_taken(&driver))
		count->drops_taken++;
	else
		law_note(text, "lowered to DROP, refused: %s", driver.message);
	law_compare(&driver, &simulator, text);
}

static void
ask_rule(const struct hy_flow_rule *rule, void *context)
{
	struct count *count = context;
	struct law_answer driver, simulator;
	struct hy_flow_lowered lowered;
	char text[HY_FLOW_TEXT_SIZE];
	const char *reason;

	hy_flow_rule_format(rule, text, sizeof(text));
	if (law_lower(count->law, &rule->match, &lowered, &reason) != 0) {
		count->unlowered++;
		law_note(text, "not lowered: %s", reason);
		return;
	}
	count->lowered++;
	const struct law_rule asked = { &lowered.attr, lowered.items, lowered.actions };
	law_ask_driver(count->law, &asked, &driver);
	law_ask_simulator(count->law, &asked, &simulator);
	if (law_taken(&driver))
		count->taken++;
	else
		law_note(text, "lowered, refused: %s", driver.message);
	count->alike += !law_compare(&driver, &simulator, text);
	ask_drop(rule, text, count);
}

static void
print_count(const struct count *count, unsigned int asked)
{
	printf("\"asked\": %u, \"lowered\": %u, \"unlowered\": %u, \"taken\": %u, \"alike\": %u,\n",
		asked, count->lowered, count->unlowered, count->taken, count->alike);
	printf("\"drops\": %u, \"drops_taken\": %u,\n", count->drops, count->drops_taken);
}

int
law_shapes(const struct law *law)
{
	struct count count = { .law = law };
	const unsigned int n = law_each_shape(ask_rule, &count);

	print_count(&count, n);
	return 0;
}

/* Rules in the words of a policy's file, a line each. */
int
law_rules(const struct law *law)
{
	struct count count = { .law = law };
	char line[HY_FLOW_TEXT_SIZE], error[HY_POLICY_ERROR_SIZE];
	struct hy_flow_rule rule;
	unsigned int n = 0;

	while (fgets(line, sizeof(line), stdin) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0] == '\0')
			continue;
		if (hy_flow_rule_parse(line, &rule, error) != 0) {
			fprintf(stderr, "standard input, rule %u: %s\n", n + 1, error);
			return -1;
		}
		ask_rule(&rule, &count);
		n++;
	}
	print_count(&count, n);
	return 0;
}

/*
 * All drivers take this flow, and none with a queue that the port lacks. A driver that refuses the
 * first has missed something in its fixture; one that takes the second looks at nothing.
 */
int
law_controls(const struct law *law)
{
	static const struct rte_flow_attr attr = { .ingress = 1 };
	static const struct rte_flow_item_ipv4 ip4 = { .hdr = { .src_addr = RTE_BE32(0x0a000001),
							       .dst_addr = RTE_BE32(0x0a010001) } };
	static const struct rte_flow_item_ipv4 ip4_mask = { .hdr = { .src_addr = UINT32_MAX,
								    .dst_addr = UINT32_MAX } };
	static const struct rte_flow_item_udp udp = { .hdr = { .src_port = RTE_BE16(1000),
							      .dst_port = RTE_BE16(53) } };
	static const struct rte_flow_item_udp udp_mask = { .hdr = { .src_port = UINT16_MAX,
								   .dst_port = UINT16_MAX } };
	static const struct rte_flow_item items[] = {
		{ .type = RTE_FLOW_ITEM_TYPE_ETH },
		{ .type = RTE_FLOW_ITEM_TYPE_IPV4, .spec = &ip4, .mask = &ip4_mask },
		{ .type = RTE_FLOW_ITEM_TYPE_UDP, .spec = &udp, .mask = &udp_mask },
		{ .type = RTE_FLOW_ITEM_TYPE_END },
	};
	static const struct rte_flow_action_mark mark = { .id = LAW_MARK };
	struct rte_flow_action_queue queue = { .index = 0 };
	const struct rte_flow_action actions[] = {
		{ .type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &queue },
		{ .type = RTE_FLOW_ACTION_TYPE_MARK, .conf = &mark },
		{ .type = RTE_FLOW_ACTION_TYPE_END },
	};
	const struct law_rule rule = { &attr, items, actions };
	struct law_answer good, bad;

	law_ask_driver(law, &rule, &good);
	queue.index = LAW_QUEUES;
	law_ask_driver(law, &rule, &bad);
	printf("\"good\": {\"validate\": %d, \"create\": %d}, \"bad\": {\"validate\": %d, "
	       "\"create\": %d},\n",
		good.validate, good.create, bad.validate, bad.create);
	if (!law_taken(&good))
		law_note("control", "refused: %s", good.message);
	return 0;
}
