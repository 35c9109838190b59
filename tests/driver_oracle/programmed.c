/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the driver programmed for a rule, as its device compares it, against frames: it may match
 * nothing that the rule does not. Of two rules, the one of lower priority number must win.
 */

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_tcp.h>

#include "laws.h"

#define TAG LAW_TAG

/* A frame in the making. */
struct packet {
	uint16_t tags[2]; /* TCIs; 0: no tag */
	bool service, swapped;
	uint16_t type;
	uint8_t macs[12]; /* destination and source */
	uint32_t src[4], dst[4], vni;
	uint16_t frag, sport, dport;
	uint8_t tos, ttl, proto, options, vxlan_flags, tcp_flags, icmp_type, icmp_code;
	uint8_t around; /* protocol of an IPv4 header with the same addresses in front; 0: none */
};

static uint8_t *
put16(uint8_t *at, uint16_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
	return at + 2;
}

static uint8_t *
put32(uint8_t *at, uint32_t value)
{
	return put16(put16(at, (uint16_t)(value >> 16)), (uint16_t)value);
}

static uint8_t *
write_ip4(const struct packet *p, uint8_t proto, uint8_t *at)
{
	at[0] = (uint8_t)(0x45 + p->options);
	at[1] = p->tos;
	put16(at + 2, 80);
	put16(at + 6, p->frag);
	at[8] = p->ttl;
	at[9] = proto;
	put32(put32(at + 12, p->src[0]), p->dst[0]);
	return at + 20 + 4 * p->options;
}

/* With a header of options, or as a fragment. */
static uint8_t *
write_ip6(const struct packet *p, uint8_t *at)
{
	put32(at, 6u << 28 | (uint32_t)p->tos << 20);
	put16(at + 4, 40);
	at[6] = p->options != 0 ? IPPROTO_HOPOPTS : p->frag != 0 ? IPPROTO_FRAGMENT : p->proto;
	at[7] = p->ttl;
	for (unsigned int i = 0; i < 4; i++) {
		put32(at + 8 + 4 * i, p->src[i]);
		put32(at + 24 + 4 * i, p->dst[i]);
	}
	at += 40;
	if (p->options == 0 && p->frag == 0)
		return at;
	at[0] = p->proto;
	if (p->options == 0)
		put16(at + 2, p->frag == RTE_IPV4_HDR_MF_FLAG ? 1 : (uint16_t)(p->frag << 3));
	return at + 8;
}

static void
write_l4(const struct packet *p, uint8_t *at)
{
	put16(put16(at, p->swapped ? p->dport : p->sport), p->swapped ? p->sport : p->dport);
	if (p->proto == IPPROTO_ICMP || p->proto == IPPROTO_ICMPV6) {
		at[0] = p->icmp_type;
		at[1] = p->icmp_code;
	}
	if (p->proto == IPPROTO_TCP) {
		at[12] = 0x50;
		at[13] = p->tcp_flags;
	}
	if (p->proto == IPPROTO_UDP && p->dport == HY_FLOW_VXLAN_PORT) {
		at[8] = p->vxlan_flags;
		put32(at + 12, p->vni << 8);
	}
}

/* Returns the length: all headers are whole, whatever protocol it is. */
static uint32_t
write_frame(const struct packet *p, uint8_t *frame)
{
	uint8_t *at = frame + sizeof(p->macs);

	memset(frame, 0, 128);
	memcpy(frame, p->macs, sizeof(p->macs));
	if (p->service)
		at = put16(put16(at, RTE_ETHER_TYPE_QINQ), TAG);
	for (unsigned int i = 0; i < 2 && p->tags[i] != 0 && !p->service; i++)
		at = put16(put16(at, RTE_ETHER_TYPE_VLAN), p->tags[i]);
	at = put16(at, p->type);
	if (p->type == RTE_ETHER_TYPE_IPV6)
		write_l4(p, write_ip6(p, at));
	if (p->type != RTE_ETHER_TYPE_IPV4)
		return 128;
	if (p->around != 0)
		at = write_ip4(p, p->around, at);
	if (p->around == IPPROTO_GRE)
		at = put32(at, RTE_ETHER_TYPE_IPV4);
	write_l4(p, write_ip4(p, p->proto, at));
	return 128;
}

static void
packet_others(const struct hy_flow_match *m, struct packet *p)
{
	static const uint8_t macs[12] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2 };

	memcpy(p->macs, macs, sizeof(macs));
	if ((m->fields & HY_FLOW_TCP_FLAGS) != 0) {
		p->proto = IPPROTO_TCP;
		p->tcp_flags = m->tcp_flags;
	}
	if ((m->fields & HY_FLOW_ICMP) != 0) {
		p->proto = (m->fields & HY_FLOW_IPV6) != 0 ? IPPROTO_ICMPV6 : IPPROTO_ICMP;
		p->icmp_type = m->icmp_type[0];
		p->icmp_code = m->icmp_code[0];
	}
}

/* The packet that a rule is for; what the rule leaves open is UDP from 192.0.2.1 to 192.0.2.2. */
static void
packet_of(const struct hy_flow_match *m, struct packet *p)
{
	const bool tunnel = (m->fields & HY_FLOW_TUNNEL) != 0;

	*p = (struct packet){ .type = (m->fields & HY_FLOW_IPV6) != 0 ? RTE_ETHER_TYPE_IPV6
								      : RTE_ETHER_TYPE_IPV4,
		.src = { RTE_IPV4(192, 0, 2, 1) },
		.dst = { RTE_IPV4(192, 0, 2, 2) },
		.sport = 1000,
		.dport = tunnel ? HY_FLOW_VXLAN_PORT : 53,
		.ttl = 64,
		.proto = IPPROTO_UDP,
		.vxlan_flags = 8,
		.vni = 100 };
	if ((m->fields & HY_FLOW_ETHER_TYPE) != 0)
		p->type = m->ether_type;
	if ((m->fields & HY_FLOW_VLAN) != 0)
		p->tags[0] = m->vlan;
	if ((m->fields & HY_FLOW_SRC) != 0)
		memcpy(p->src, m->src6, sizeof(p->src));
	if ((m->fields & HY_FLOW_DST) != 0)
		memcpy(p->dst, m->dst6, sizeof(p->dst));
	if ((m->fields & HY_FLOW_PROTO) != 0)
		p->proto = m->proto;
	if ((m->fields & HY_FLOW_SPORT) != 0)
		p->sport = m->sport[0];
	if ((m->fields & HY_FLOW_DPORT) != 0)
		p->dport = m->dport[0];
	if ((m->fields & HY_FLOW_DSCP) != 0)
		p->tos = (uint8_t)(m->dscp << 2);
	if (tunnel)
		p->vni = m->tunnel;
	packet_others(m, p);
}

enum how { SET, FLIP };

#define CHANGE(words, field_, how_, value_) \
	{ \
		words, offsetof(struct packet, field_), sizeof(((struct packet *)0)->field_), \
			how_, value_ \
	}

/* One thing that is other than in the rule's packet, whose VLAN is TAG. */
static const struct change {
	const char *name;
	size_t at, size;
	enum how how;
	uint32_t value;
} changes[] = {
	CHANGE("its own", options, SET, 0),
	CHANGE("another source", src[0], FLIP, 1),
	CHANGE("another source network", src[0], FLIP, 0x100),
	CHANGE("another end of the source", src[3], FLIP, 1),
	CHANGE("another destination", dst[0], FLIP, 1),
	CHANGE("another destination network", dst[0], FLIP, 0x100),
	CHANGE("another end of the destination", dst[3], FLIP, 1),
	CHANGE("another destination MAC address", macs[5], FLIP, 1),
	CHANGE("another vendor's MAC address", macs[2], FLIP, 1),
	CHANGE("another source MAC address", macs[11], FLIP, 1),
	CHANGE("TCP", proto, SET, IPPROTO_TCP),
	CHANGE("UDP", proto, SET, IPPROTO_UDP),
	CHANGE("SCTP", proto, SET, IPPROTO_SCTP),
	CHANGE("GRE", proto, SET, IPPROTO_GRE),
	CHANGE("ICMP", proto, SET, IPPROTO_ICMP),
	CHANGE("ICMPv6", proto, SET, IPPROTO_ICMPV6),
	CHANGE("other TCP flags", tcp_flags, FLIP, RTE_TCP_ACK_FLAG),
	CHANGE("more TCP flags", tcp_flags, FLIP, RTE_TCP_PSH_FLAG),
	CHANGE("another ICMP type", icmp_type, FLIP, 1),
	CHANGE("another ICMP code", icmp_code, FLIP, 1),
	CHANGE("another DSCP", tos, FLIP, 4),
	CHANGE("ECN", tos, FLIP, 1),
	CHANGE("another source port", sport, FLIP, 1),
	CHANGE("another destination port", dport, FLIP, 1),
	CHANGE("swapped ports", swapped, SET, true),
	CHANGE("the first fragment", frag, SET, RTE_IPV4_HDR_MF_FLAG),
	CHANGE("a later fragment", frag, SET, 16),
	CHANGE("a tag, or none", tags[0], FLIP, TAG),
	CHANGE("another VLAN", tags[0], SET, TAG + 1),
	CHANGE("a tag with a priority", tags[0], SET, 5 << 13 | TAG),
	CHANGE("two tags", tags, SET, TAG << 16 | TAG),
	CHANGE("a service tag", service, SET, true),
	CHANGE("IPv4", type, SET, RTE_ETHER_TYPE_IPV4),
	CHANGE("IPv6", type, SET, RTE_ETHER_TYPE_IPV6),
	CHANGE("PTP", type, SET, RTE_ETHER_TYPE_1588),
	CHANGE("options", options, SET, 1),
	CHANGE("another VNI", vni, FLIP, 1),
	CHANGE("VXLAN without a VNI", vxlan_flags, SET, 0),
	CHANGE("another TTL", ttl, FLIP, 1),
	CHANGE("its own within GRE", around, SET, IPPROTO_GRE),
	CHANGE("its own within IPv4", around, SET, IPPROTO_IPIP),
};

static void
change(struct packet *p, const struct change *c)
{
	uint8_t *field = (uint8_t *)p + c->at;

	for (size_t i = 0; i < c->size; i++) {
		const uint8_t byte = (uint8_t)(c->value >> 8 * i);

		field[i] = c->how == SET ? byte : field[i] ^ byte;
	}
}

struct count {
	const struct law *law;
	unsigned int rules, both, neither, overlooked, fragments, wider;
};

static void
compare_frames(const struct hy_flow_rule *rule, const struct hy_flow_lowered *lowered,
	const char *words, struct count *count)
{
	struct hy_flow_key key;
	uint8_t frame[128];
	struct packet p;

	for (unsigned int i = 0; i < RTE_DIM(changes); i++) {
		packet_of(&rule->match, &p);
		change(&p, &changes[i]);
		const uint32_t len = write_frame(&p, frame);
		const bool hard = oracle.matches(frame, len);
		hy_flow_key(frame, len, &key);
		const bool soft = hy_flow_matches(&rule->match, &key);
		if (hard && !soft && lowered->wider)
			count->wider++; /* whoever reads the mark compares the packet */
		else if (hard && !soft && lowered->fragments && (key.has & HY_FLOW_PORTS) == 0)
			count->fragments++; /* or checks that */
		else if (hard && !soft)
			law_note(words, "hardware matches what the rule does not: %s",
				changes[i].name);
		else if (i == 0 && !hard)
			law_note(words, "hardware does not match the rule's own packet");
		count->both += hard && soft;
		count->neither += !hard && !soft;
		count->overlooked += soft && !hard;
	}
}

static void
program(const struct hy_flow_rule *rule, void *context)
{
	struct rte_flow_error error = { 0 };
	struct hy_flow_lowered lowered;
	struct count *count = context;
	const struct law *law = count->law;
	char words[LAW_WORDS];
	const char *reason;
	void *flow;

	if (law_lower(law, &rule->match, &lowered, &reason) != 0 ||
		hy_flow_rte.create(law->port, &lowered.attr, lowered.items, lowered.actions, &flow,
			&error) != 0)
		return;
	hy_flow_rule_format(rule, words, sizeof(words));
	compare_frames(rule, &lowered, words, count);
	count->rules++;
	if (hy_flow_rte.destroy(law->port, flow, &error) != 0)
		law_note(words, "cannot be destroyed: %s", error.message);
}

int
law_programmed(const struct law *law)
{
	struct count count = { .law = law };

	if (oracle.matches != NULL)
		law_each_shape(program, &count);
	printf("\"looks\": %s, \"rules\": %u, \"both\": %u, \"neither\": %u, \"overlooked\": %u, "
	       "\"fragments\": %u, \"wider\": %u,\n",
		oracle.matches != NULL ? "true" : "false", count.rules, count.both, count.neither,
		count.overlooked, count.fragments, count.wider);
	return 0;
}

#define FRONT 1 /* marks of the two rules of a pair */
#define BACK 2

struct pairs {
	const struct law *law;
	unsigned int asked;
};

/*
 * A rule and one on its destination alone, either of them in front, in either order: the one in
 * front marks. A third rule, which the driver refuses, changes nothing.
 */
static void
ask_pair(const struct hy_flow_rule *rule, const struct law *law, bool narrow_in_front,
	bool back_first)
{
	static const struct rte_flow_attr attr = { .ingress = 1 };
	static const struct rte_flow_action none[] = { { .type = RTE_FLOW_ACTION_TYPE_END } };
	const struct hy_flow_spread one = { .nb_queues = 1 };
	struct hy_flow_match wide = { .fields = HY_FLOW_DST | (rule->match.fields & HY_FLOW_IPV6),
		.dst_len = rule->match.dst_len };
	struct rte_flow_error error = { 0 };
	struct hy_flow_lowered lowered;
	char words[LAW_WORDS];
	void *flows[2], *refused;
	const char *reason;
	uint8_t frame[128];
	struct packet p;

	memcpy(wide.dst6, rule->match.dst6, sizeof(wide.dst6));
	hy_flow_rule_format(rule, words, sizeof(words));
	for (unsigned int i = 0; i < 2; i++) {
		const bool back = (i == 0) == back_first, narrow = back != narrow_in_front;

		if (hy_flow_lower(law->driver, &law->limits, narrow ? &rule->match : &wide,
			    back ? BACK : FRONT, back, &one, &lowered, &reason) != 0 ||
			hy_flow_rte.create(law->port, &lowered.attr, lowered.items, lowered.actions,
				&flows[i], &error) != 0)
			law_note(words, "a pair of rules is refused: %s", error.message);
		if (i == 0 &&
			hy_flow_rte.create(law->port, &attr, lowered.items, none, &refused,
				&error) == 0)
			law_note(words, "a rule without an action is taken");
	}
	packet_of(&rule->match, &p);
	if (oracle.mark(frame, write_frame(&p, frame)) != FRONT)
		law_note(words, "the rule of lower priority number does not win");
	for (unsigned int i = 0; i < 2; i++)
		if (hy_flow_rte.destroy(law->port, flows[i], &error) != 0)
			law_note(words, "cannot be destroyed: %s", error.message);
}

static void
pairs_of(const struct hy_flow_rule *rule, void *context)
{
	struct pairs *pairs = context;
	struct hy_flow_lowered lowered;
	const char *reason;

	if ((rule->match.fields & HY_FLOW_DST) == 0 ||
		(rule->match.fields & ~HY_FLOW_IPV6) == HY_FLOW_DST ||
		law_lower(pairs->law, &rule->match, &lowered, &reason) != 0)
		return;
	for (unsigned int i = 0; i < 4; i++)
		ask_pair(rule, pairs->law, (i & 1) != 0, (i & 2) != 0);
	pairs->asked += 4;
}

int
law_priorities(const struct law *law)
{
	struct pairs pairs = { .law = law };

	if (oracle.mark != NULL && law->limits.priorities > 1)
		law_each_shape(pairs_of, &pairs);
	printf("\"pairs\": %u,\n", pairs.asked);
	return 0;
}
