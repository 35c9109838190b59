/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets leave: through ports, or through tunnels and the ports that lead there. */

#include <string.h>

#include <rte_common.h>
#include <rte_vxlan.h>

#include "vswitch_translate.h"

#define TUNNEL_TTL 64

static void
op_add(struct vswitch_flow *flow, const struct hy_flow_op *op)
{
	struct hy_vswitch_answer *answer = flow->answer;

	if (answer->nb_ops == HY_FLOW_OPS_LIST)
		answer->outcome = HY_VSWITCH_TOO_LONG;
	else
		answer->ops[answer->nb_ops++] = *op;
}

/* What comes after a tunnel's OUTPUT is of the packet inside. */
void
vswitch_op(struct vswitch_flow *flow, const struct hy_flow_op *op)
{
	static const struct hy_flow_op decap = { .type = HY_FLOW_OP_DECAP }; /* other bytes 0 */

	if (flow->wrapped)
		op_add(flow, &decap);
	flow->wrapped = false;
	op_add(flow, op);
}

static void
output_edge(struct vswitch_flow *flow, uint16_t edge)
{
	static const struct hy_flow_op own = { .type = HY_FLOW_OP_OWN }; /* likewise */
	const bool lends = edge == flow->vswitch->normal_edge;
	struct hy_flow_op op;

	if (flow->lent || (lends && flow->sent))
		vswitch_op(flow, &own);
	memset(&op, 0, sizeof(op));
	op.type = HY_FLOW_OP_OUTPUT;
	op.edge = edge;
	vswitch_op(flow, &op);
	flow->sent = true;
	flow->lent = lends;
}

/* Where the other end is: the tunnel says it, or the packet. */
static bool
remote_of(struct vswitch_flow *flow, const struct hy_vswitch_tunnel *tunnel, uint8_t remote[16])
{
	static const uint8_t zero[16];
	struct hy_flows_key look = { 0 };

	memcpy(remote, tunnel->remote, 16);
	if (memcmp(remote, zero, 16) != 0)
		return true;
	if (tunnel->is_ip6) {
		memcpy(remote, flow->key.tunnel_dst6, 16);
		memset(look.tunnel_dst6, 0xff, 16);
	} else {
		memcpy(remote, &flow->key.tunnel_dst, 4);
		look.tunnel_dst = UINT32_MAX;
	}
	vswitch_look(flow, &look);
	return memcmp(remote, zero, 16) != 0;
}

static void
output_tunnel(struct vswitch_flow *flow, const struct hy_vswitch_tunnel *tunnel)
{
	const struct hy_vswitch_port *uplink = vswitch_port_of(flow->vswitch, tunnel->uplink);
	const struct hy_flows_key look = { .vni = { 0xff, 0xff, 0xff } };
	struct hy_flow_op op;

	memset(&op, 0, sizeof(op));
	if (!remote_of(flow, tunnel, op.vxlan.dst)) {
		VSWITCH_SAY(flow, "nothing is sent: the tunnel has no remote address, and %s is 0",
			tunnel->is_ip6 ? "tun_ipv6_dst" : "tun_dst");
		return;
	}
	op.type = HY_FLOW_OP_ENCAP;
	memcpy(op.vxlan.dst_mac, tunnel->dst_mac, sizeof(op.vxlan.dst_mac));
	memcpy(op.vxlan.src_mac, tunnel->src_mac, sizeof(op.vxlan.src_mac));
	op.vxlan.is_ip6 = tunnel->is_ip6;
	op.vxlan.ttl = TUNNEL_TTL;
	vswitch_look(flow, &look);
	memcpy(op.vxlan.vni, flow->key.vni, sizeof(op.vxlan.vni));
	memcpy(op.vxlan.src, tunnel->local, tunnel->is_ip6 ? 16 : 4);
	op.vxlan.port = RTE_BE16(RTE_VXLAN_DEFAULT_PORT);
	vswitch_op(flow, &op);
	output_edge(flow, uplink->edge);
	flow->wrapped = true;
}

static void
output_port(struct vswitch_flow *flow, const struct hy_vswitch_port *port)
{
	VSWITCH_SAY(flow, "to %s %u (%s)", port->is_tunnel ? "tunnel" : "port", port->number,
		port->name);
	if (port->is_tunnel)
		output_tunnel(flow, &port->tunnel);
	else
		output_edge(flow, port->edge);
}

void
vswitch_output(struct vswitch_flow *flow, uint16_t number)
{
	const struct hy_vswitch *vswitch = flow->vswitch;
	const struct hy_vswitch_port *port;

	switch (number) {
	case HY_VSWITCH_IN_PORT:
		output_port(flow, flow->input);
		return;
	case HY_VSWITCH_NORMAL:
		VSWITCH_SAY(flow, "to the bridge");
		output_edge(flow, vswitch->normal_edge);
		return;
	case HY_VSWITCH_FLOOD:
	case HY_VSWITCH_ALL:
		VSWITCH_SAY(flow, "to all ports but the input port%s",
			number == HY_VSWITCH_ALL ? "" : ", without those marked no-flood");
		for (uint32_t i = 0; i < vswitch->nb_ports; i++)
			if (&vswitch->port[i] != flow->input &&
				(number == HY_VSWITCH_ALL || !vswitch->port[i].no_flood))
				output_port(flow, &vswitch->port[i]);
		return;
	default:
		port = vswitch_port_of(vswitch, number);
		if (port == NULL)
			VSWITCH_SAY(flow, "nothing is sent: the switch has no port %u", number);
		else if (port == flow->input)
			VSWITCH_SAY(flow, "skips output to the input port");
		else
			output_port(flow, port);
	}
}
