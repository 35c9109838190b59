/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks a list of operations, and makes its steps: up to the last output, with tunnels' headers built. */

#include <errno.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_malloc.h>
#include <rte_udp.h>
#include <rte_vxlan.h>

#include "lib/flows/internal/flow_list.h"
#include "lib/flows/internal/headers.h"
#include "lib/graph/internal/log.h"

#define IP6_VERSION 6

/* What is wrong with an operation, or NULL. */
static const char *
fault_of(const struct hy_flow_op *op)
{
	if (op->type > HY_FLOW_OP_OWN)
		return "is unknown";
	if (op->type == HY_FLOW_OP_PUSH_VLAN && !flow_is_tag(op->type16))
		return "pushes a tag of another type than 0x8100, 0x88a8 and 0x9100";
	if (op->type != HY_FLOW_OP_ENCAP)
		return NULL;
	if (op->vxlan.is_ip6 > 1)
		return "has a tunnel of neither IPv4 nor IPv6";
	if (op->vxlan.ttl == 0)
		return "has a tunnel with a TTL of 0";
	return op->vxlan.port == 0 ? "has a tunnel to UDP port 0" : NULL;
}

/* Writes IPv4's header. */
static void
outer_ip4(const struct hy_flow_vxlan *vxlan, struct flow_outer *outer, uint8_t *at)
{
	struct rte_ipv4_hdr ip = { .version_ihl = RTE_IPV4_VHL_DEF,
		.type_of_service = vxlan->tos,
		.fragment_offset = RTE_BE16(RTE_IPV4_HDR_DF_FLAG),
		.time_to_live = vxlan->ttl,
		.next_proto_id = IPPROTO_UDP };

	memcpy(&ip.src_addr, vxlan->src, sizeof(ip.src_addr));
	memcpy(&ip.dst_addr, vxlan->dst, sizeof(ip.dst_addr));
	for (uint32_t i = 0; i < sizeof(ip); i += sizeof(uint16_t)) {
		uint16_t word;

		memcpy(&word, (const uint8_t *)&ip + i, sizeof(word));
		outer->sum += word;
	}
	memcpy(at, &ip, sizeof(ip));
}

static void
outer_ip6(const struct hy_flow_vxlan *vxlan, uint8_t *at)
{
	at[0] = (uint8_t)(IP6_VERSION << 4 | vxlan->tos >> 4);
	at[1] = (uint8_t)(vxlan->tos << 4);
	at[offsetof(struct rte_ipv6_hdr, proto)] = IPPROTO_UDP;
	at[offsetof(struct rte_ipv6_hdr, hop_limits)] = vxlan->ttl;
	memcpy(at + offsetof(struct rte_ipv6_hdr, src_addr), vxlan->src, sizeof(vxlan->src));
	memcpy(at + offsetof(struct rte_ipv6_hdr, dst_addr), vxlan->dst, sizeof(vxlan->dst));
}

static void
outer_make(const struct hy_flow_vxlan *vxlan, struct flow_outer *outer)
{
	const bool ip6 = vxlan->is_ip6 != 0;
	const uint16_t ip = ip6 ? sizeof(struct rte_ipv6_hdr) : sizeof(struct rte_ipv4_hdr);
	const uint16_t udp = sizeof(struct rte_udp_hdr) + sizeof(struct rte_vxlan_hdr);
	uint8_t *at = outer->bytes;
	const rte_be16_t type = ip6 ? RTE_BE16(RTE_ETHER_TYPE_IPV6) : RTE_BE16(RTE_ETHER_TYPE_IPV4);

	outer->udp = RTE_ETHER_HDR_LEN + ip;
	outer->size = outer->udp + udp;
	outer->counted = ip6 ? udp : ip + udp;
	memcpy(at, vxlan->dst_mac, sizeof(vxlan->dst_mac));
	memcpy(at + RTE_ETHER_ADDR_LEN, vxlan->src_mac, sizeof(vxlan->src_mac));
	memcpy(at + 2 * RTE_ETHER_ADDR_LEN, &type, sizeof(type));
	if (ip6)
		outer_ip6(vxlan, at + RTE_ETHER_HDR_LEN);
	else
		outer_ip4(vxlan, outer, at + RTE_ETHER_HDR_LEN);
	at += outer->udp;
	memcpy(at + offsetof(struct rte_udp_hdr, dst_port), &vxlan->port, sizeof(vxlan->port));
	at += sizeof(struct rte_udp_hdr);
	at[0] = FLOW_VXLAN_HAS_VNI;
	memcpy(at + 4, vxlan->vni, sizeof(vxlan->vni));
}

/* Joins an operation to the step before it, if both write an address. */
static bool
step_join(struct flow_step *before, const struct hy_flow_op *op)
{
	const uint8_t other = op->type == HY_FLOW_OP_DST_MAC ? HY_FLOW_OP_SRC_MAC
							     : HY_FLOW_OP_DST_MAC;

	if ((op->type != HY_FLOW_OP_DST_MAC && op->type != HY_FLOW_OP_SRC_MAC) ||
		before->type != other)
		return false;
	if (op->type == HY_FLOW_OP_DST_MAC)
		memcpy(before->mac + RTE_ETHER_ADDR_LEN, before->mac, RTE_ETHER_ADDR_LEN);
	memcpy(before->mac + (op->type == HY_FLOW_OP_DST_MAC ? 0 : RTE_ETHER_ADDR_LEN), op->mac,
		RTE_ETHER_ADDR_LEN);
	before->type = FLOW_STEP_MACS;
	return true;
}

static void
step_make(const struct hy_flow_op *op, struct flow_step *step, struct flow_outer **outer)
{
	step->type = op->type;
	switch (op->type) {
	case HY_FLOW_OP_OUTPUT:
		step->edge = op->edge;
		break;
	case HY_FLOW_OP_MARK:
		step->mark = op->mark;
		break;
	case HY_FLOW_OP_ENCAP:
		outer_make(&op->vxlan, *outer);
		step->outer = (*outer)++;
		break;
	default:
		memcpy(step->address, op->ip6, sizeof(step->address)); /* any of the others */
	}
}

/* Both addresses of a list that makes a router's changes in any order, and has one output. */
static const uint8_t *
route_of(const struct flow_list *list)
{
	const struct flow_step *step = list->step;

	if (list->n != 3 || list->outputs != 1)
		return NULL;
	if (step[0].type == HY_FLOW_OP_DEC_TTL && step[1].type == FLOW_STEP_MACS)
		return step[1].mac;
	return step[0].type == FLOW_STEP_MACS && step[1].type == HY_FLOW_OP_DEC_TTL ? step[0].mac
										    : NULL;
}

/* Steps of operations, of which the last one is an output. */
static void
steps_make(const struct hy_flow_op ops[], uint32_t n, struct flow_list *list,
	struct flow_outer *outer)
{
	for (uint32_t i = 0; i < n; i++) {
		if (list->n > 0 && step_join(&list->step[list->n - 1], &ops[i]))
			continue;
		step_make(&ops[i], &list->step[list->n++], &outer);
		list->outputs += ops[i].type == HY_FLOW_OP_OUTPUT;
	}
	list->edge = n > 0 ? ops[n - 1].edge : 0;
	list->route = route_of(list);
}

int
flow_list_compile(const struct hy_flow_op ops[], uint32_t n, const char *name, int socket,
	struct flow_list **out)
{
	uint32_t used = 0, outers = 0;
	struct flow_list *list;
	size_t steps;

	if (n > HY_FLOW_OPS_LIST)
		return HY_REFUSE(-EINVAL, "'%s': a list has %u operations; most are %u", name, n,
			HY_FLOW_OPS_LIST);
	for (uint32_t i = 0; i < n; i++) {
		const char *fault = fault_of(&ops[i]);

		if (fault != NULL)
			return HY_REFUSE(-EINVAL, "'%s': operation %u of a list %s", name, i,
				fault);
		if (ops[i].type == HY_FLOW_OP_OUTPUT)
			used = i + 1;
		outers += ops[i].type == HY_FLOW_OP_ENCAP;
	}
	steps = sizeof(*list) + used * sizeof(list->step[0]);
	list = rte_zmalloc_socket("flow_list", steps + outers * sizeof(struct flow_outer), 0,
		socket);
	if (list == NULL)
		return -ENOMEM;
	steps_make(ops, used, list, (struct flow_outer *)((uintptr_t)list + steps));
	*out = list;
	return 0;
}
