/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asks a switch. "hy-test-vswitch-ask" reads rules, one a line, and prints the text of each, or "- " and why
 * it is refused. "hy-test-vswitch-ask FILE" reads keys, 112 bytes each, and prints what the rules of FILE
 * say: outcome, cookies of the rules, mask, operations. The switch has ports 1 to 4 (DPDK's 11 to 14, edges
 * 21 to 24; 3 is no-flood), 5 and 6 (tunnels: 10.0.0.1 to 10.0.0.2, and 10.0.0.1 to any), and edge 9 for NORMAL.
 * "hy-test-vswitch-ask FILE frames" reads frames instead, counts them, and prints the rules
 * with their counts at the end. Its switch has no tunnels.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "vswitch_ports.h"

static void
tunnels_add(struct hy_vswitch *vswitch)
{
	struct hy_vswitch_port tunnel = { .is_tunnel = true,
		.tunnel = { .local = { 10, 0, 0, 1 },
			.dst_mac = { 2, 0, 0, 0, 0, 2 },
			.src_mac = { 2, 0, 0, 0, 0, 1 },
			.uplink = 1 } };

	for (uint16_t n = 5; n <= 6; n++) {
		tunnel.number = n;
		snprintf(tunnel.name, sizeof(tunnel.name), "vx%u", n);
		if (n == 5)
			memcpy(tunnel.tunnel.remote, (uint8_t[]){ 10, 0, 0, 2 }, 4);
		else
			memset(tunnel.tunnel.remote, 0, 4);
		if (hy_vswitch_port_add(vswitch, &tunnel) < 0)
			abort();
	}
}

static int
format_lines(struct hy_vswitch *vswitch)
{
	static struct hy_vswitch_rule rule;
	char line[HY_VSWITCH_TEXT_SIZE], text[HY_VSWITCH_TEXT_SIZE], error[HY_VSWITCH_ERROR_SIZE];

	while (fgets(line, sizeof(line), stdin) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (hy_vswitch_read(vswitch, line, HY_VSWITCH_ADD, &rule, error) < 0) {
			printf("- %s\n", error);
			continue;
		}
		hy_vswitch_rule_format(&rule, text);
		printf("%s\n", text);
	}
	return 0;
}

static void
print_bytes(const char *name, const void *bytes, uint32_t n)
{
	printf("%s", name);
	for (uint32_t i = 0; i < n; i++)
		printf("%02x", ((const uint8_t *)bytes)[i]);
}

static void
print_vxlan(const struct hy_flow_vxlan *vxlan)
{
	print_bytes(" encap:", vxlan->dst_mac, 6);
	print_bytes("/", vxlan->src_mac, 6);
	print_bytes("/", vxlan->vni, 3);
	print_bytes("/", vxlan->src, vxlan->is_ip6 ? 16 : 4);
	print_bytes("/", vxlan->dst, vxlan->is_ip6 ? 16 : 4);
	printf("/%u/%u/%u", rte_be_to_cpu_16(vxlan->port), vxlan->tos, vxlan->ttl);
}

static void
print_op(const struct hy_flow_op *op)
{
	static const char *const names[] = { [HY_FLOW_OP_OUTPUT] = " out:",
		[HY_FLOW_OP_DST_MAC] = " dst_mac:",
		[HY_FLOW_OP_SRC_MAC] = " src_mac:",
		[HY_FLOW_OP_PUSH_VLAN] = " push:",
		[HY_FLOW_OP_POP_VLAN] = " pop",
		[HY_FLOW_OP_VLAN_TCI] = " tci:",
		[HY_FLOW_OP_IP4_SRC] = " ip4_src:",
		[HY_FLOW_OP_IP4_DST] = " ip4_dst:",
		[HY_FLOW_OP_IP6_SRC] = " ip6_src:",
		[HY_FLOW_OP_IP6_DST] = " ip6_dst:",
		[HY_FLOW_OP_TOS] = " tos:",
		[HY_FLOW_OP_TTL] = " ttl:",
		[HY_FLOW_OP_DEC_TTL] = " dec_ttl",
		[HY_FLOW_OP_L4_SRC] = " l4_src:",
		[HY_FLOW_OP_L4_DST] = " l4_dst:",
		[HY_FLOW_OP_MARK] = " mark:",
		[HY_FLOW_OP_DECAP] = " decap",
		[HY_FLOW_OP_ENCAP] = "",
		[HY_FLOW_OP_OWN] = " own" };
	static const uint8_t bytes[] = { [HY_FLOW_OP_DST_MAC] = 6,
		[HY_FLOW_OP_SRC_MAC] = 6,
		[HY_FLOW_OP_PUSH_VLAN] = 4,
		[HY_FLOW_OP_IP4_SRC] = 4,
		[HY_FLOW_OP_IP4_DST] = 4,
		[HY_FLOW_OP_IP6_SRC] = 16,
		[HY_FLOW_OP_IP6_DST] = 16,
		[HY_FLOW_OP_TOS] = 2,
		[HY_FLOW_OP_TTL] = 1,
		[HY_FLOW_OP_L4_SRC] = 2,
		[HY_FLOW_OP_L4_DST] = 2,
		[HY_FLOW_OP_ENCAP] = 0 };

	print_bytes(names[op->type], op->mac, bytes[op->type]);
	if (op->type == HY_FLOW_OP_OUTPUT)
		printf("%u", op->edge);
	if (op->type == HY_FLOW_OP_MARK)
		printf("%08x", op->mark);
	if (op->type == HY_FLOW_OP_VLAN_TCI)
		printf("%04x/%04x", rte_be_to_cpu_16(op->tci), rte_be_to_cpu_16(op->mask16));
	if (op->type == HY_FLOW_OP_ENCAP)
		print_vxlan(&op->vxlan);
}

static void
answer_print(struct hy_vswitch *vswitch, const struct hy_vswitch_answer *answer)
{
	static struct hy_vswitch_rule rule;

	printf("%u", answer->outcome);
	for (uint32_t i = 0; i < answer->nb_rules; i++) {
		if (hy_vswitch_get(vswitch, answer->rules[i], &rule, NULL) < 0)
			abort();
		printf("%c%" PRIu64, i == 0 ? ' ' : ',', rule.cookie);
	}
	print_bytes(" ;", &answer->mask, sizeof(answer->mask));
	for (uint32_t i = 0; i < answer->nb_ops; i++)
		print_op(&answer->ops[i]);
	printf("\n");
}

static void
keys_ask(struct hy_vswitch *vswitch)
{
	static struct hy_vswitch_answer answer;
	struct hy_flows_key key;

	while (fread(&key, sizeof(key), 1, stdin) == 1) {
		hy_vswitch_translate(vswitch, &key, &answer);
		answer_print(vswitch, &answer);
	}
}

static void
frames_ask(struct hy_vswitch *vswitch)
{
	static struct hy_vswitch_answer answer;
	static uint8_t frame[UINT16_MAX];
	struct hy_flows_key key;
	uint16_t head
		[2]; /* OpenFlow number of the port, bytes of the frame behind it; host byte order */

	while (fread(head, sizeof(head), 1, stdin) == 1) {
		if (fread(frame, 1, head[1], stdin) != head[1])
			abort();
		hy_flows_key(frame, head[1], (uint16_t)(10 + head[0]), hy_vswitch_parse(vswitch),
			&key);
		hy_vswitch_translate(vswitch, &key, &answer);
		hy_vswitch_count(vswitch, answer.rules, answer.nb_rules, 1, head[1], 0);
		answer_print(vswitch, &answer);
	}
}

static int
ask(struct hy_vswitch *vswitch, const char *path, bool frames)
{
	char error[HY_VSWITCH_ERROR_SIZE];

	if (hy_vswitch_load(vswitch, path, 0, error) < 0) {
		fprintf(stderr, "%s\n", error);
		return EXIT_FAILURE;
	}
	if (frames) {
		frames_ask(vswitch);
		return hy_vswitch_print(vswitch, NULL, 0, stdout) < 0 ? EXIT_FAILURE : 0;
	}
	keys_ask(vswitch);
	return 0;
}

int
main(int argc, char **argv)
{
	struct hy_vswitch *vswitch;
	int rc;

	if (hy_vswitch_create(9, &vswitch) < 0)
		return EXIT_FAILURE;
	if (vswitch_ports_add(vswitch, 4) < 0)
		abort();
	if (argc < 3)
		tunnels_add(vswitch);
	rc = argc > 1 ? ask(vswitch, argv[1], argc > 2) : format_lines(vswitch);
	hy_vswitch_destroy(vswitch);
	return rc;
}
