/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of operations as text. */

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include <rte_common.h>

#include <hy_flow_ops.h>

struct out {
	char *text;
	size_t at;
};

static void put(struct out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void
put(struct out *out, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(out->text + out->at, HY_FLOW_OPS_TEXT_SIZE - out->at, format, args);
	va_end(args);
	out->at = RTE_MIN(out->at + (size_t)RTE_MAX(n, 0), (size_t)HY_FLOW_OPS_TEXT_SIZE - 1);
}

static void
put_mac(struct out *out, const char *name, const uint8_t mac[6])
{
	put(out, "%s:%02x:%02x:%02x:%02x:%02x:%02x", name, mac[0], mac[1], mac[2], mac[3], mac[4],
		mac[5]);
}

static void
put_ip(struct out *out, const char *name, bool is_ip6, const void *address)
{
	char text[INET6_ADDRSTRLEN];

	inet_ntop(is_ip6 ? AF_INET6 : AF_INET, address, text, sizeof(text));
	put(out, "%s:%s", name, text);
}

static void
put_encap(struct out *out, const struct hy_flow_vxlan *vxlan)
{
	put(out, "encap(vni:%u", vxlan->vni[0] << 16 | vxlan->vni[1] << 8 | vxlan->vni[2]);
	put_ip(out, ",src", vxlan->is_ip6 != 0, vxlan->src);
	put_ip(out, ",dst", vxlan->is_ip6 != 0, vxlan->dst);
	put(out, ",port:%u,tos:0x%02x,ttl:%u", rte_be_to_cpu_16(vxlan->port), vxlan->tos,
		vxlan->ttl);
	put_mac(out, ",src_mac", vxlan->src_mac);
	put_mac(out, ",dst_mac", vxlan->dst_mac);
	put(out, ")");
}

static void
put_op(struct out *out, const struct hy_flow_op *op)
{
	switch (op->type) {
	case HY_FLOW_OP_OUTPUT:
		put(out, "output:%u", op->edge);
		break;
	case HY_FLOW_OP_DST_MAC:
		put_mac(out, "dst_mac", op->mac);
		break;
	case HY_FLOW_OP_SRC_MAC:
		put_mac(out, "src_mac", op->mac);
		break;
	case HY_FLOW_OP_PUSH_VLAN:
		put(out, "push_vlan:0x%04x/0x%04x", rte_be_to_cpu_16(op->type16),
			rte_be_to_cpu_16(op->tci));
		break;
	case HY_FLOW_OP_POP_VLAN:
		put(out, "pop_vlan");
		break;
	case HY_FLOW_OP_VLAN_TCI:
		put(out, "vlan_tci:0x%04x/0x%04x", rte_be_to_cpu_16(op->tci),
			rte_be_to_cpu_16(op->mask16));
		break;
	case HY_FLOW_OP_IP4_SRC:
		put_ip(out, "ip4_src", false, &op->ip4);
		break;
	case HY_FLOW_OP_IP4_DST:
		put_ip(out, "ip4_dst", false, &op->ip4);
		break;
	case HY_FLOW_OP_IP6_SRC:
		put_ip(out, "ip6_src", true, op->ip6);
		break;
	case HY_FLOW_OP_IP6_DST:
		put_ip(out, "ip6_dst", true, op->ip6);
		break;
	case HY_FLOW_OP_TOS:
		put(out, "tos:0x%02x/0x%02x", op->value8, op->mask8);
		break;
	case HY_FLOW_OP_TTL:
		put(out, "ttl:%u", op->value8);
		break;
	case HY_FLOW_OP_DEC_TTL:
		put(out, "dec_ttl");
		break;
	case HY_FLOW_OP_L4_SRC:
		put(out, "l4_src:%u", rte_be_to_cpu_16(op->l4));
		break;
	case HY_FLOW_OP_L4_DST:
		put(out, "l4_dst:%u", rte_be_to_cpu_16(op->l4));
		break;
	case HY_FLOW_OP_MARK:
		put(out, "mark:0x%x", op->mark);
		break;
	case HY_FLOW_OP_DECAP:
		put(out, "decap");
		break;
	case HY_FLOW_OP_ENCAP:
		put_encap(out, &op->vxlan);
		break;
	case HY_FLOW_OP_OWN:
		put(out, "own");
		break;
	default:
		put(out, "unknown:%u", op->type);
		break;
	}
}

size_t
hy_flow_ops_format(const struct hy_flow_op list[], uint32_t n, char *text)
{
	struct out out = { .text = text };

	text[0] = '\0';
	if (n == 0)
		put(&out, "drop");
	for (uint32_t i = 0; i < n; i++) {
		if (i > 0)
			put(&out, ",");
		put_op(&out, &list[i]);
	}
	return out.at;
}
