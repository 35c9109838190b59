/* SPDX-License-Identifier: BSD-3-Clause */
/* Marking rules at random, most of which nobody lowers: answers of driver and simulator. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_ethdev.h>

#include "laws.h"

#define RULES 40000

/* xorshift64*: the same rules everywhere. */
static uint64_t state;

void
law_seed(uint64_t seed)
{
	state = seed;
}

uint32_t
law_below(uint32_t n)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (uint32_t)((state * 0x2545f4914f6cdd1d) >> 33) % n;
}

static bool
one_in(uint32_t n)
{
	return law_below(n) == 0;
}

struct headers {
	struct rte_flow_item_eth eth;
	struct rte_flow_item_vlan vlan;
	struct rte_flow_item_ipv4 ip4;
	struct rte_flow_item_udp udp;
	struct rte_flow_item_tcp tcp;
	struct rte_flow_item_sctp sctp;
	struct rte_flow_item_vxlan vxlan;
};

struct random_rule {
	struct rte_flow_attr attr;
	struct rte_flow_item items[6];
	struct rte_flow_action actions[6];
	unsigned int nb_items, nb_actions;
	struct headers spec, mask, last;
	struct rte_flow_action_mark mark;
	struct rte_flow_action_queue queue;
	struct rte_flow_action_rss rss;
	struct rte_flow_action_jump jump;
	struct rte_flow_action_count count;
	uint16_t queues[LAW_QUEUES];
	char words[LAW_WORDS];
};

static void
say(struct random_rule *r, const char *word)
{
	const size_t used = strlen(r->words);

	snprintf(r->words + used, sizeof(r->words) - used, "%s ", word);
}

/* Sets a field of both headers, and says so. */
#define FIELD(r, header, field, value, bits) \
	do { \
		(r)->spec.header.hdr.field = (value); \
		(r)->mask.header.hdr.field = (bits); \
		say(r, #field); \
	} while (0)

static void
add_item(struct random_rule *r, enum rte_flow_item_type type, const void *spec, const void *mask,
	size_t size, const char *word)
{
	static const struct headers nothing;
	const bool any = memcmp(mask, &nothing, size) == 0;

	r->items[r->nb_items++] = (struct rte_flow_item){
		.type = type, .spec = any ? NULL : spec, .mask = any ? NULL : mask
	};
	say(r, word);
}

#define ITEM(r, TYPE, header) \
	add_item(r, RTE_FLOW_ITEM_TYPE_##TYPE, &(r)->spec.header, &(r)->mask.header, \
		sizeof((r)->mask.header), #header " /")

static void
make_l2(struct random_rule *r, bool ip4)
{
	if (one_in(16))
		FIELD(r, eth, ether_type, ip4 ? RTE_BE16(0x0800) : RTE_BE16(0x88f7), UINT16_MAX);
	if (one_in(24)) {
		memset(&r->mask.eth.hdr.dst_addr, 0xff, RTE_ETHER_ADDR_LEN);
		r->spec.eth.hdr.dst_addr.addr_bytes[5] = 7;
		say(r, "dst_addr");
	}
	ITEM(r, ETH, eth);
	if (one_in(8)) {
		if (!one_in(4))
			FIELD(r, vlan, vlan_tci, RTE_BE16(100),
				one_in(2) ? RTE_BE16(0x0fff) : UINT16_MAX);
		if (one_in(8))
			FIELD(r, vlan, eth_proto, ip4 ? RTE_BE16(0x0800) : RTE_BE16(0x88f7),
				UINT16_MAX);
		ITEM(r, VLAN, vlan);
	}
}

static void
make_ip4(struct random_rule *r)
{
	const rte_be32_t bits = one_in(4) ? RTE_BE32(0xffffff00) : UINT32_MAX;

	if (one_in(2))
		FIELD(r, ip4, src_addr, RTE_BE32(0x0a000000), bits);
	if (one_in(2))
		FIELD(r, ip4, dst_addr, RTE_BE32(0x0a010000), bits);
	if (one_in(8))
		FIELD(r, ip4, fragment_offset, 0, RTE_BE16(0x3fff));
	if (one_in(6))
		FIELD(r, ip4, next_proto_id, 47, 0xff);
	if (one_in(6))
		FIELD(r, ip4, type_of_service, 46 << 2, one_in(4) ? 0xff : 0xfc);
	if (one_in(12))
		FIELD(r, ip4, time_to_live, 64, 0xff);
	ITEM(r, IPV4, ip4);
}

static void
make_ports(struct random_rule *r, struct rte_udp_hdr *spec, struct rte_udp_hdr *mask)
{
	if (one_in(2)) {
		spec->src_port = RTE_BE16(1000);
		mask->src_port = UINT16_MAX;
		say(r, "src_port");
	}
	if (!one_in(3)) {
		spec->dst_port = RTE_BE16(53);
		mask->dst_port = one_in(16) ? RTE_BE16(0xff00) : UINT16_MAX;
		say(r, "dst_port");
	}
}

static void
make_l4(struct random_rule *r)
{
	switch (law_below(4)) {
	case 0:
		make_ports(r, &r->spec.udp.hdr, &r->mask.udp.hdr);
		ITEM(r, UDP, udp);
		if (!one_in(6))
			break;
		if (one_in(2))
			FIELD(r, vxlan, vx_vni, RTE_BE32(100 << 8), RTE_BE32(0xffffff00));
		ITEM(r, VXLAN, vxlan);
		break;
	case 1:
		make_ports(r, (struct rte_udp_hdr *)&r->spec.tcp.hdr,
			(struct rte_udp_hdr *)&r->mask.tcp.hdr);
		ITEM(r, TCP, tcp);
		break;
	case 2:
		make_ports(r, (struct rte_udp_hdr *)&r->spec.sctp.hdr,
			(struct rte_udp_hdr *)&r->mask.sctp.hdr);
		ITEM(r, SCTP, sctp);
		break;
	default:
		break;
	}
}

/* Some patterns that are wrong in themselves. */
static void
spoil(struct random_rule *r)
{
	struct rte_flow_item *item = &r->items[r->nb_items - 1];

	if (item->spec == NULL || !one_in(24))
		return;
	switch (law_below(3)) {
	case 0:
		item->last = item->spec;
		say(r, "(last)");
		break;
	case 1:
		item->spec = NULL;
		say(r, "(no spec)");
		break;
	default:
		item->mask = NULL;
		say(r, "(no mask)");
	}
}

static void
add_action(struct random_rule *r, enum rte_flow_action_type type, const void *conf,
	const char *word)
{
	r->actions[r->nb_actions++] = (struct rte_flow_action){ .type = type, .conf = conf };
	say(r, word);
}

static void
add_rss(struct random_rule *r)
{
	static const uint64_t types[] = { 0, RTE_ETH_RSS_IP, RTE_ETH_RSS_NONFRAG_IPV4_UDP };

	r->rss.queue = r->queues;
	r->rss.queue_num = 1 + law_below(LAW_QUEUES);
	for (uint16_t q = 0; q < LAW_QUEUES; q++)
		r->queues[q] = q;
	if (one_in(16))
		r->queues[0] = LAW_QUEUES;
	if (one_in(32))
		r->rss.queue_num = 0;
	if (one_in(32))
		r->rss.func = RTE_ETH_HASH_FUNCTION_SIMPLE_XOR;
	r->rss.types = types[law_below(RTE_DIM(types))];
	add_action(r, RTE_FLOW_ACTION_TYPE_RSS, &r->rss, "RSS");
}

static void
make_fate(struct random_rule *r)
{
	switch (law_below(8)) {
	case 0:
		break;
	case 1:
		add_action(r, RTE_FLOW_ACTION_TYPE_DROP, NULL, "DROP");
		break;
	case 2:
		add_action(r, RTE_FLOW_ACTION_TYPE_PASSTHRU, NULL, "PASSTHRU");
		break;
	case 3:
		r->jump.group = 1 + law_below(2);
		add_action(r, RTE_FLOW_ACTION_TYPE_JUMP, &r->jump, "JUMP");
		break;
	case 4:
		r->queue.index = one_in(4) ? LAW_QUEUES : law_below(LAW_QUEUES);
		add_action(r, RTE_FLOW_ACTION_TYPE_QUEUE, &r->queue, "QUEUE");
		break;
	default:
		add_rss(r);
	}
}

static void
make_marks(struct random_rule *r)
{
	static const uint32_t marks[] = { LAW_MARK, 0, 0xfffd, 0xfffe, 0xffff, 0x10000, 0xffffef,
		0xfffff0, 0xffffff, 0x1000000, UINT32_MAX };

	if (!one_in(8)) {
		r->mark.id = one_in(3) ? marks[law_below(RTE_DIM(marks))] : LAW_MARK;
		add_action(r, RTE_FLOW_ACTION_TYPE_MARK, &r->mark, "MARK");
	}
	if (one_in(24))
		add_action(r, RTE_FLOW_ACTION_TYPE_FLAG, NULL, "FLAG");
	if (one_in(12))
		add_action(r, RTE_FLOW_ACTION_TYPE_COUNT, &r->count, "COUNT");
}

/* Some drivers want the fate first, others take any order. */
static void
make_actions(struct random_rule *r)
{
	const bool fate_first = one_in(2);

	say(r, "->");
	if (!fate_first)
		make_marks(r);
	make_fate(r);
	if (fate_first)
		make_marks(r);
	if (one_in(24))
		make_fate(r);
	r->actions[r->nb_actions].type = RTE_FLOW_ACTION_TYPE_END;
}

static void
make_rule(const struct law *law, struct random_rule *r)
{
	const bool ip4 = !one_in(8);

	memset(r, 0, sizeof(*r));
	r->attr.ingress = !one_in(64);
	r->attr.priority = one_in(8) ? law_below(5) : 0;
	r->attr.group = one_in(8) ? law_below(3) : law->driver->group;
	make_l2(r, ip4);
	if (ip4) {
		make_ip4(r);
		make_l4(r);
	}
	spoil(r);
	r->items[r->nb_items].type = RTE_FLOW_ITEM_TYPE_END;
	make_actions(r);
}

int
law_random(const struct law *law)
{
	unsigned int taken = 0, refused = 0, alike = 0, created = 0;
	struct law_answer driver, simulator;
	struct random_rule r;
	char example[LAW_WORDS + 64];

	law_seed(1);
	for (unsigned int i = 0; i < RULES; i++) {
		make_rule(law, &r);
		const struct law_rule rule = { &r.attr, r.items, r.actions };
		law_ask_driver(law, &rule, &driver);
		law_ask_simulator(law, &rule, &simulator);
		taken += driver.validate == 0;
		refused += driver.validate != 0;
		created += oracle.creates && driver.create == 0;
		snprintf(example, sizeof(example), "%sgroup %u priority %u mark %u queues %u",
			r.words, r.attr.group, r.attr.priority, r.mark.id, r.rss.queue_num);
		alike += !law_compare(&driver, &simulator, example);
	}
	printf("\"asked\": %u, \"taken\": %u, \"refused\": %u, \"created\": %u, \"alike\": %u,\n",
		RULES, taken, refused, created, alike);
	return 0;
}
