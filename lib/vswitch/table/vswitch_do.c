/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Actions change the key, and become operations. Each first looks at what tells whether the packet has the
 * header that it changes, so that an operation meets no packet without it, but for IPv6 addresses behind more
 * extension headers than are walked.
 */

#include <netinet/in.h>
#include <string.h>

#include <rte_common.h>
#include <rte_ether.h>

#include "lib/vswitch/text/vswitch_text.h"
#include "vswitch_translate.h"

#define ALL_FRAGMENTS (HY_FLOWS_FIRST_FRAGMENT | HY_FLOWS_LATER_FRAGMENT)

/* Looks whether the packet has an IP header: of version 4 or 6, or 0: of either. */
static bool
has_ip(struct vswitch_flow *flow, int version)
{
	const struct hy_flows_key type = { .type = UINT16_MAX }, kind = { .kind = HY_FLOWS_IP };
	const bool ip4 = flow->key.type == RTE_BE16(RTE_ETHER_TYPE_IPV4);
	const bool ip6 = flow->key.type == RTE_BE16(RTE_ETHER_TYPE_IPV6);

	vswitch_look(flow, &type);
	if (!(ip4 && version != 6) && !(ip6 && version != 4))
		return false;
	vswitch_look(flow, &kind);
	return (flow->key.kind & HY_FLOWS_IP) != 0;
}

/* Looks whether it has a whole header of TCP or UDP, or the one of these that is given. */
static bool
has_ports(struct vswitch_flow *flow, uint8_t proto)
{
	const struct hy_flows_key protocol = { .proto = UINT8_MAX };
	const struct hy_flows_key kind = { .kind = ALL_FRAGMENTS | HY_FLOWS_TRUNCATED };
	const uint8_t is = flow->key.proto;

	if (!has_ip(flow, 0))
		return false;
	vswitch_look(flow, &protocol);
	if (proto != 0 ? is != proto : is != IPPROTO_TCP && is != IPPROTO_UDP)
		return false;
	vswitch_look(flow, &kind);
	return (flow->key.kind & kind.kind) == 0;
}

static bool
has_tag(struct vswitch_flow *flow)
{
	const struct hy_flows_key look = { .vlan = HY_FLOWS_TAGGED };

	vswitch_look(flow, &look);
	return (flow->key.vlan & HY_FLOWS_TAGGED) != 0;
}

/* Writes part of a field of the key: what is left of it stays the packet's own. */
static void
write_key(struct vswitch_flow *flow, const struct vswitch_field *field,
	const struct hy_vswitch_action *action)
{
	uint8_t *key = (uint8_t *)&flow->key + field->at;
	uint8_t *fresh = (uint8_t *)&flow->fresh + field->at;

	for (uint32_t i = 0; i < field->size; i++) {
		key[i] = (uint8_t)((key[i] & ~action->mask[i]) | action->value[i]);
		fresh[i] &= (uint8_t)~action->mask[i];
	}
}

/* Looks at the bits of a field that an action does not write, for an operation that writes it whole. */
static void
look_at_rest(struct vswitch_flow *flow, const struct vswitch_field *field,
	const struct hy_vswitch_action *action)
{
	struct hy_flows_key rest = { 0 };

	for (uint32_t i = 0; i < field->size; i++)
		((uint8_t *)&rest)[field->at + i] = (uint8_t)~action->mask[i];
	vswitch_look(flow, &rest);
}

static void
push_tag(struct vswitch_flow *flow, rte_be16_t type, rte_be16_t tci)
{
	struct hy_flow_op op;

	memset(&op, 0, sizeof(op));
	op.type = HY_FLOW_OP_PUSH_VLAN;
	op.type16 = type;
	op.tci = tci & (rte_be16_t)~HY_FLOWS_TAGGED;
	vswitch_op(flow, &op);
	if (flow->answer->outcome != HY_VSWITCH_DONE)
		return;
	flow->more[flow->nb_more++] = (struct vswitch_tag){ flow->key.vlan2, flow->fresh.vlan2,
		flow->inner };
	flow->key.vlan2 = flow->key.vlan;
	flow->fresh.vlan2 = flow->fresh.vlan;
	flow->inner = flow->outer;
	flow->key.vlan = tci | HY_FLOWS_TAGGED;
	flow->fresh.vlan = 0;
	flow->outer = VSWITCH_OWN;
}

/* Behind the tags that a key has, there may be others, which are taken for none. */
static void
pop_tag(struct vswitch_flow *flow)
{
	struct vswitch_tag tag = { 0, 0, VSWITCH_OWN };
	struct hy_flow_op op;

	if (!has_tag(flow)) {
		VSWITCH_SAY(flow, "skipped: the packet has no tag");
		return;
	}
	memset(&op, 0, sizeof(op));
	op.type = HY_FLOW_OP_POP_VLAN;
	if (flow->nb_more > 0)
		tag = flow->more[--flow->nb_more];
	flow->key.vlan = flow->key.vlan2;
	flow->fresh.vlan = flow->fresh.vlan2;
	flow->outer = flow->inner;
	flow->key.vlan2 = tag.tci;
	flow->fresh.vlan2 = tag.fresh;
	flow->inner = tag.origin;
	vswitch_op(flow, &op);
}

static void
set_tag(struct vswitch_flow *flow, const struct vswitch_field *field,
	const struct hy_vswitch_action *action)
{
	struct hy_flow_op op;

	memset(&op, 0, sizeof(op));
	op.type = HY_FLOW_OP_VLAN_TCI;
	memcpy(&op.tci, action->value, sizeof(op.tci));
	memcpy(&op.mask16, action->mask, sizeof(op.mask16));
	if (has_tag(flow)) {
		write_key(flow, field, action);
		op.tci &= (rte_be16_t)~HY_FLOWS_TAGGED;
		op.mask16 &= (rte_be16_t)~HY_FLOWS_TAGGED;
		vswitch_op(flow, &op);
	} else if (action->type == HY_VSWITCH_SET_VLAN) {
		VSWITCH_SAY(flow, "pushes a tag of type 0x8100: the packet has none");
		push_tag(flow, RTE_BE16(RTE_ETHER_TYPE_VLAN), op.tci);
	} else {
		VSWITCH_SAY(flow, "skipped: the packet has no tag");
	}
}

/* Writes a field whose operation has no mask: the whole of it, from the key. */
static void
set_whole(struct vswitch_flow *flow, const struct vswitch_field *field,
	const struct hy_vswitch_action *action, enum hy_flow_op_type type)
{
	struct hy_flow_op op;

	look_at_rest(flow, field, action);
	write_key(flow, field, action);
	memset(&op, 0, sizeof(op));
	op.type = (uint8_t)type;
	memcpy(op.mac, (const uint8_t *)&flow->key + field->at, field->size);
	vswitch_op(flow, &op);
}

static void
set_tos(struct vswitch_flow *flow, const struct vswitch_field *field,
	const struct hy_vswitch_action *action)
{
	struct hy_flow_op op;

	memset(&op, 0, sizeof(op));
	op.type = HY_FLOW_OP_TOS;
	op.value8 = action->value[0];
	op.mask8 = action->mask[0];
	write_key(flow, field, action);
	vswitch_op(flow, &op);
}

static void
set_mark(struct vswitch_flow *flow, const struct hy_vswitch_action *action)
{
	struct hy_flow_op op;
	rte_be32_t value, mask;

	memcpy(&value, action->value, sizeof(value));
	memcpy(&mask, action->mask, sizeof(mask));
	flow->mark = (flow->mark & ~rte_be_to_cpu_32(mask)) | rte_be_to_cpu_32(value);
	memset(&op, 0, sizeof(op));
	op.type = HY_FLOW_OP_MARK;
	op.mark = flow->mark;
	vswitch_op(flow, &op);
}

/* Operations that write a field whole, and the packets that have it. */
static const struct {
	enum hy_flow_op_type type;
	uint8_t version, proto; /* of IP, of what it carries; 0: any */
	bool is_ip, has_ports;
} wholes[HY_VSWITCH_FIELDS] = {
	[HY_VSWITCH_DL_SRC] = { HY_FLOW_OP_SRC_MAC },
	[HY_VSWITCH_DL_DST] = { HY_FLOW_OP_DST_MAC },
	[HY_VSWITCH_NW_SRC] = { HY_FLOW_OP_IP4_SRC, 4, .is_ip = true },
	[HY_VSWITCH_NW_DST] = { HY_FLOW_OP_IP4_DST, 4, .is_ip = true },
	[HY_VSWITCH_IPV6_SRC] = { HY_FLOW_OP_IP6_SRC, 6, .is_ip = true },
	[HY_VSWITCH_IPV6_DST] = { HY_FLOW_OP_IP6_DST, 6, .is_ip = true },
	[HY_VSWITCH_NW_TTL] = { HY_FLOW_OP_TTL, .is_ip = true },
	[HY_VSWITCH_TP_SRC] = { HY_FLOW_OP_L4_SRC, .has_ports = true },
	[HY_VSWITCH_TP_DST] = { HY_FLOW_OP_L4_DST, .has_ports = true },
	[HY_VSWITCH_TCP_SRC] = { HY_FLOW_OP_L4_SRC, 0, IPPROTO_TCP, .has_ports = true },
	[HY_VSWITCH_TCP_DST] = { HY_FLOW_OP_L4_DST, 0, IPPROTO_TCP, .has_ports = true },
	[HY_VSWITCH_UDP_SRC] = { HY_FLOW_OP_L4_SRC, 0, IPPROTO_UDP, .has_ports = true },
	[HY_VSWITCH_UDP_DST] = { HY_FLOW_OP_L4_DST, 0, IPPROTO_UDP, .has_ports = true },
};

static void
say_no_ip(struct vswitch_flow *flow, int version)
{
	VSWITCH_SAY(flow, "skipped: the packet has no %s header",
		version == 4           ? "IPv4"
			: version == 6 ? "IPv6"
				       : "IP");
}

static void
say_no_ports(struct vswitch_flow *flow, uint8_t proto)
{
	VSWITCH_SAY(flow, "skipped: the packet has no ports of %s",
		proto == IPPROTO_TCP           ? "TCP"
			: proto == IPPROTO_UDP ? "UDP"
					       : "TCP or UDP");
}

static void
set_field(struct vswitch_flow *flow, const struct hy_vswitch_action *action)
{
	const struct vswitch_field *field = &vswitch_fields[action->field];

	switch (action->field) {
	case HY_VSWITCH_PKT_MARK:
		set_mark(flow, action);
		return;
	case HY_VSWITCH_TUN_ID:
	case HY_VSWITCH_TUN_DST:
	case HY_VSWITCH_TUN_IPV6_DST:
		write_key(flow, field, action);
		return;
	case HY_VSWITCH_VLAN_VID:
	case HY_VSWITCH_VLAN_PCP:
		set_tag(flow, field, action);
		return;
	case HY_VSWITCH_NW_TOS:
	case HY_VSWITCH_IP_DSCP:
	case HY_VSWITCH_NW_ECN:
		if (has_ip(flow, 0))
			set_tos(flow, field, action);
		else
			say_no_ip(flow, 0);
		return;
	}
	if (wholes[action->field].is_ip && !has_ip(flow, wholes[action->field].version)) {
		say_no_ip(flow, wholes[action->field].version);
		return;
	}
	if (wholes[action->field].has_ports && !has_ports(flow, wholes[action->field].proto)) {
		say_no_ports(flow, wholes[action->field].proto);
		return;
	}
	set_whole(flow, field, action, wholes[action->field].type);
	if (action->field == HY_VSWITCH_NW_TTL)
		flow->ttl_counted = false;
}

/*
 * Of a TTL of 2 or more, one bit says that it is. Later ones depend on its value. One that is spent ends
 * the rule's actions.
 */
static bool
dec_ttl(struct vswitch_flow *flow)
{
	struct hy_flows_key look = { 0 };
	struct hy_flow_op op;

	if (!has_ip(flow, 0)) {
		say_no_ip(flow, 0);
		return true;
	}
	look.ttl = flow->key.ttl < 2 || flow->ttl_counted
		? 0xfe
		: (uint8_t)(0x80 >> (__builtin_clz(flow->key.ttl) - 24));
	vswitch_look(flow, &look);
	if (flow->key.ttl < 2) {
		VSWITCH_SAY(flow, "TTL expired: it is %u; ends the actions of this rule",
			flow->key.ttl);
		return false;
	}
	flow->key.ttl--;
	VSWITCH_SAY(flow, "TTL is %u now", flow->key.ttl);
	flow->ttl_counted = flow->fresh.ttl != 0;
	memset(&op, 0, sizeof(op));
	op.type = HY_FLOW_OP_DEC_TTL;
	vswitch_op(flow, &op);
	return true;
}

bool
vswitch_do(struct vswitch_flow *flow, const struct hy_vswitch_action *action)
{
	switch (action->type) {
	case HY_VSWITCH_OUTPUT:
		vswitch_output(flow, action->port);
		break;
	case HY_VSWITCH_SET:
	case HY_VSWITCH_SET_VLAN:
		set_field(flow, action);
		break;
	case HY_VSWITCH_PUSH_VLAN:
		push_tag(flow, action->ether_type, 0);
		break;
	case HY_VSWITCH_POP_VLAN:
		pop_tag(flow);
		break;
	case HY_VSWITCH_DEC_TTL:
		return dec_ttl(flow);
	}
	return true;
}
