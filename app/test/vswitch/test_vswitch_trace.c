/* SPDX-License-Identifier: BSD-3-Clause */
/* What a trace says, word for word; and packets from text. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ether.h>

#include <hy_vswitch_trace.h>

#include "vswitch_fixture.h"

#define PACKETS 10000u

static char *traced; /* freed by the next trace, or the test */

static void
trace_key(const struct hy_flows_key *key)
{
	size_t size;
	FILE *out;

	free(traced);
	traced = NULL;
	out = open_memstream(&traced, &size);
	assert_non_null(out);
	assert_int_equal(hy_vswitch_trace(vswitch, key, out), 0);
	assert_int_equal(fclose(out), 0);
}

static struct hy_flows_key
packet(const char *text)
{
	struct hy_flows_key key;

	if (hy_vswitch_packet(vswitch, text, &key, error) < 0)
		fail_msg("%s: %s", text, error);
	return key;
}

static void
assert_trace(const char *text, const char *expected)
{
	const struct hy_flows_key key = packet(text);

	trace_key(&key);
	assert_string_equal(traced, expected);
}

/* Asserts that the trace has a text as often as given. */
static void
assert_has(const char *text, uint32_t times)
{
	uint32_t n = 0;

	for (const char *at = traced; (at = strstr(at, text)) != NULL; at += strlen(text))
		n++;
	if (n != times)
		fail_msg("'%s' is there %u times, not %u:\n%.4000s", text, n, times, traced);
}

static int
teardown(void **state)
{
	free(traced);
	traced = NULL;
	return vswitch_teardown(state);
}

static void
add_tunnels(void)
{
	struct hy_vswitch_port port = { .number = 5,
		.name = "vx5",
		.is_tunnel = true,
		.tunnel = { .local = { 10, 0, 0, 1 },
			.remote = { 10, 0, 0, 2 },
			.dst_mac = { 2, 0, 0, 0, 0, 2 },
			.src_mac = { 2, 0, 0, 0, 0, 1 },
			.uplink = 1 } };

	assert_int_equal(hy_vswitch_port_add(vswitch, &port), 0);
	port.number = 6;
	strcpy(port.name, "vx6");
	memset(port.tunnel.remote, 0, sizeof(port.tunnel.remote));
	assert_int_equal(hy_vswitch_port_add(vswitch, &port), 0);
}

static void
each_action_is_followed_by_its_outcome(void **state)
{
	RTE_SET_USED(state);
	add_tunnels();
	add_rules(
		"priority=10,cookie=0x5,udp,nw_dst=10.0.0.0/8 actions=dec_ttl,mod_dl_dst:02:00:00:00:00:01,"
		"resubmit(,1),output:1,output:7,2\n"
		"table=1 actions=mod_tp_dst:99,pop_vlan,set_vlan_pcp:1,mod_vlan_vid:5,set_tunnel:7,vx5,vx6,"
		"goto_table:2\n");
	assert_trace("in_port=1,udp,nw_src=10.0.0.1,nw_dst=10.1.1.1,nw_ttl=64,tp_dst=53",
		"Flow: udp,in_port=1,vlan_tci=0x0000,dl_src=00:00:00:00:00:00,"
		"dl_dst=00:00:00:00:00:00,nw_src=10.0.0.1,nw_dst=10.1.1.1,nw_tos=0,nw_ecn=0,"
		"nw_ttl=64,tp_src=0,tp_dst=53\n"
		"\n"
		" 0. udp,nw_dst=10.0.0.0/8, priority 10, cookie 0x5\n"
		"    dec_ttl\n"
		"     >> TTL is 63 now\n"
		"    mod_dl_dst:02:00:00:00:00:01\n"
		"    resubmit(,1)\n"
		"     1. priority 32768\n"
		"        mod_tp_dst:99\n"
		"        pop_vlan\n"
		"         >> skipped: the packet has no tag\n"
		"        set_vlan_pcp:1\n"
		"         >> skipped: the packet has no tag\n"
		"        mod_vlan_vid:5\n"
		"         >> pushes a tag of type 0x8100: the packet has none\n"
		"        set_tunnel:0x7\n"
		"        output:5\n"
		"         >> to tunnel 5 (vx5)\n"
		"        output:6\n"
		"         >> to tunnel 6 (vx6)\n"
		"         >> nothing is sent: the tunnel has no remote address, and tun_dst is 0\n"
		"        goto_table:2\n"
		"         2. no match\n"
		"    output:1\n"
		"     >> skips output to the input port\n"
		"    output:7\n"
		"     >> nothing is sent: the switch has no port 7\n"
		"    output:2\n"
		"     >> to port 2 (eth2)\n"
		"\n"
		"Final flow: udp,tun_id=0x7,in_port=1,dl_vlan=5,dl_vlan_pcp=0,"
		"dl_src=00:00:00:00:00:00,dl_dst=02:00:00:00:00:01,nw_src=10.0.0.1,nw_dst=10.1.1.1,"
		"nw_tos=0,nw_ecn=0,nw_ttl=63,tp_src=0,tp_dst=99\n"
		"Megaflow: udp,tun_dst=0.0.0.0,in_port=1,vlan_tci=0x0000/0x1000,nw_dst=10.0.0.0/8,"
		"nw_frag=no\n"
		"Operations: dec_ttl,dst_mac:02:00:00:00:00:01,l4_dst:99,push_vlan:0x8100/0x0005,"
		"encap(vni:7,src:10.0.0.1,dst:10.0.0.2,port:4789,tos:0x00,ttl:64,"
		"src_mac:02:00:00:00:00:01,dst_mac:02:00:00:00:00:02),output:21,decap,output:22\n");
}

static void
a_packet_from_a_tunnel_is_first_taken_out(void **state)
{
	RTE_SET_USED(state);
	add_tunnels();
	add_rules("in_port=vx5 actions=flood,normal,in_port,all,set_field:5->pkt_mark\n");
	assert_trace("in_port=vx5,tun_id=3,tcp6,nw_ttl=3",
		"Flow: tcp6,tun_id=0x3,tun_src=10.0.0.2,tun_dst=10.0.0.1,in_port=5,vlan_tci=0x0000,"
		"dl_src=00:00:00:00:00:00,dl_dst=00:00:00:00:00:00,ipv6_src=::,ipv6_dst=::,nw_tos=0,"
		"nw_ecn=0,nw_ttl=3,tp_src=0,tp_dst=0,tcp_flags=0\n"
		"\n"
		" 0. in_port=5, priority 32768\n"
		"    FLOOD\n"
		"     >> to all ports but the input port, without those marked no-flood\n"
		"     >> to port 1 (eth1)\n"
		"     >> to port 2 (eth2)\n"
		"     >> to tunnel 6 (vx6)\n"
		"    NORMAL\n"
		"     >> to the bridge\n"
		"    IN_PORT\n"
		"     >> to tunnel 5 (vx5)\n"
		"    ALL\n"
		"     >> to all ports but the input port\n"
		"     >> to port 1 (eth1)\n"
		"     >> to port 2 (eth2)\n"
		"     >> to port 3 (eth3)\n"
		"     >> to tunnel 6 (vx6)\n"
		"    set_field:0x5->pkt_mark\n"
		"\n"
		"Final flow: pkt_mark=0x5,tcp6,tun_id=0x3,tun_src=10.0.0.2,tun_dst=10.0.0.1,"
		"in_port=5,vlan_tci=0x0000,dl_src=00:00:00:00:00:00,dl_dst=00:00:00:00:00:00,"
		"ipv6_src=::,ipv6_dst=::,nw_tos=0,nw_ecn=0,nw_ttl=3,tp_src=0,tp_dst=0,tcp_flags=0\n"
		"Megaflow: tun_id=0x3,tun_src=10.0.0.2,tun_dst=10.0.0.1,tun_ipv6_src=::,"
		"tun_ipv6_dst=::\n"
		"Operations: decap,output:21,output:22,encap(vni:3,src:10.0.0.1,dst:10.0.0.1,"
		"port:4789,tos:0x00,ttl:64,src_mac:02:00:00:00:00:01,dst_mac:02:00:00:00:00:02),"
		"output:21,decap,own,output:9,encap(vni:3,src:10.0.0.1,dst:10.0.0.2,port:4789,"
		"tos:0x00,ttl:64,src_mac:02:00:00:00:00:01,dst_mac:02:00:00:00:00:02),own,output:21,"
		"decap,output:21,output:22,output:23,encap(vni:3,src:10.0.0.1,dst:10.0.0.1,port:4789,"
		"tos:0x00,ttl:64,src_mac:02:00:00:00:00:01,dst_mac:02:00:00:00:00:02),output:21\n");
}

static void
fields_that_a_packet_lacks_are_skipped(void **state)
{
	RTE_SET_USED(state);
	add_rules("actions=mod_nw_src:1.2.3.4,mod_nw_tos:8,dec_ttl,mod_tp_src:1,push_vlan:0x88a8,"
		  "mod_vlan_pcp:3,pop_vlan,pop_vlan,resubmit(2,1)\n"
		  "table=1,in_port=2,ipv6 actions=drop\n"
		  "table=1,in_port=2,priority=5 actions=drop\n");
	assert_trace("in_port=eth3,arp,arp_op=1,dl_vlan=9",
		"Flow: arp,in_port=3,dl_vlan=9,dl_vlan_pcp=0,dl_src=00:00:00:00:00:00,"
		"dl_dst=00:00:00:00:00:00,arp_spa=0.0.0.0,arp_tpa=0.0.0.0,arp_op=1\n"
		"\n"
		" 0. priority 32768\n"
		"    mod_nw_src:1.2.3.4\n"
		"     >> skipped: the packet has no IPv4 header\n"
		"    mod_nw_tos:8\n"
		"     >> skipped: the packet has no IP header\n"
		"    dec_ttl\n"
		"     >> skipped: the packet has no IP header\n"
		"    mod_tp_src:1\n"
		"     >> skipped: the packet has no ports of TCP or UDP\n"
		"    push_vlan:0x88a8\n"
		"    mod_vlan_pcp:3\n"
		"    pop_vlan\n"
		"    pop_vlan\n"
		"    resubmit(2,1)\n"
		"     1. in_port=2, priority 5\n"
		"        drop\n"
		"\n"
		"Final flow: arp,in_port=3,vlan_tci=0x0000,dl_src=00:00:00:00:00:00,"
		"dl_dst=00:00:00:00:00:00,arp_spa=0.0.0.0,arp_tpa=0.0.0.0,arp_op=1\n"
		"Megaflow: arp,in_port=3,vlan_tci=0x1000/0x1000\n"
		"Operations: drop\n");
}

static void
a_spent_ttl_is_told(void **state)
{
	RTE_SET_USED(state);
	add_rules("actions=resubmit(,1),3\ntable=1 actions=dec_ttl,2\n");
	assert_trace("in_port=1,icmp6,icmpv6_type=128,nw_ttl=1",
		"Flow: icmp6,in_port=1,vlan_tci=0x0000,dl_src=00:00:00:00:00:00,"
		"dl_dst=00:00:00:00:00:00,ipv6_src=::,ipv6_dst=::,nw_tos=0,nw_ecn=0,nw_ttl=1,"
		"icmp_type=128,icmp_code=0\n"
		"\n"
		" 0. priority 32768\n"
		"    resubmit(,1)\n"
		"     1. priority 32768\n"
		"        dec_ttl\n"
		"         >> TTL expired: it is 1; ends the actions of this rule\n"
		"    output:3\n"
		"     >> to port 3 (eth3)\n"
		"\n"
		"Final flow: unchanged\n"
		"Megaflow: ipv6,in_port=1\n"
		"Operations: output:23\n");
}

static void
a_packet_without_a_rule_is_dropped(void **state)
{
	RTE_SET_USED(state);
	add_rules("udp actions=2\n");
	assert_trace("in_port=1,tcp,nw_frag=later",
		"Flow: tcp,in_port=1,vlan_tci=0x0000,dl_src=00:00:00:00:00:00,"
		"dl_dst=00:00:00:00:00:00,nw_src=0.0.0.0,nw_dst=0.0.0.0,nw_tos=0,nw_ecn=0,nw_ttl=0,"
		"nw_frag=later,tp_src=0,tp_dst=0,tcp_flags=0\n"
		"\n"
		" 0. no match\n"
		"\n"
		"Final flow: unchanged\n"
		"Megaflow: ip,in_port=1\n"
		"Operations: drop\n");
}

static void
an_unchanged_packet_says_so(void **state)
{
	RTE_SET_USED(state);
	add_rules("actions=2\n");
	assert_trace("in_port=1,tcp",
		"Flow: tcp,in_port=1,vlan_tci=0x0000,dl_src=00:00:00:00:00:00,"
		"dl_dst=00:00:00:00:00:00,nw_src=0.0.0.0,nw_dst=0.0.0.0,nw_tos=0,nw_ecn=0,nw_ttl=0,"
		"tp_src=0,tp_dst=0,tcp_flags=0\n"
		"\n"
		" 0. priority 32768\n"
		"    output:2\n"
		"     >> to port 2 (eth2)\n"
		"\n"
		"Final flow: unchanged\n"
		"Megaflow: in_port=1\n"
		"Operations: output:22\n");
}

static void
packets_of_no_port_are_told(void **state)
{
	struct hy_flows_key key = tcp_key();

	RTE_SET_USED(state);
	add_rule("actions=2");
	key.port = 14;
	trace_key(&key);
	assert_has("\n >> dropped: DPDK's port 14 is no port of the switch\n", 1);
	assert_has("\nFinal flow: unchanged\nMegaflow: \nOperations: drop\n", 1);
	key.kind |= HY_FLOWS_TUNNELLED;
	trace_key(&key);
	assert_has("\n >> dropped: no tunnel of the switch has these addresses\n", 1);
	key = tcp_key();
	key.vlan = RTE_BE16(0x1005);
	key.vlan2 = RTE_BE16(0x1006);
	key.kind |= HY_FLOWS_TRUNCATED;
	trace_key(&key);
	assert_has(" (inner tag 0x1006) (a header is cut or malformed)\n", 1);
}

static void
bounds_are_told_where_a_packet_meets_them(void **state)
{
	const struct hy_flows_key key = tcp_key();
	char text[128];

	RTE_SET_USED(state);
	add_rule("actions=resubmit(,0)");
	trace_key(&key);
	assert_has("resubmit(,0)\n", HY_VSWITCH_DEPTH + 1);
	assert_has(" >> dropped: goes back to an earlier table too deep; the most is 64\n", 1);
	assert_has("Operations: drop\n", 1);
	add_rule("actions=dec_ttl,resubmit(,1),resubmit(,1)");
	add_rule("table=14 actions=drop");
	for (uint32_t table = 1; table < 14; table++) {
		snprintf(text, sizeof(text), "table=%u actions=resubmit(,%u),resubmit(,%u)", table,
			table + 1, table + 1);
		add_rule(text);
	}
	trace_key(&key);
	assert_has(" >> dropped: goes to tables too often; the most is 4096\n", 1);
	assert_has("priority 32768\n", HY_VSWITCH_RESUBMITS + 1);
	add_rule("table=7 actions=2");
	add_rule("actions=dec_ttl,resubmit(,1)");
	trace_key(&key);
	assert_has(" >> dropped: its operations are too many; the most is 64\n", 1);
	assert_has(" >> to port 2 (eth2)\n", HY_FLOW_OPS_LIST);
	add_rule("actions=resubmit(,1)");
	trace_key(&key);
	assert_has(" >> dropped", 0);
	assert_has("output:22", HY_FLOW_OPS_LIST);
}

/* 31 times 31 times 20 outputs to the input port: none is an operation. */
static void
lines_are_bounded(void **state)
{
	const struct hy_flows_key key = tcp_key();
	char text[1200];

	RTE_SET_USED(state);
	for (uint32_t table = 0; table < 2; table++) {
		int at = snprintf(text, sizeof(text), "table=%u actions=1", table);

		for (uint32_t i = 0; i < 31; i++)
			at += snprintf(text + at, sizeof(text) - (size_t)at, ",1,resubmit(,%u)",
				table + 1);
		add_rule(text);
	}
	add_rule("table=2 actions=1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1");
	trace_key(&key);
	assert_has("(more than 16384 lines: the others are left out)\n", 1);
	assert_has("\n", HY_VSWITCH_TRACE_LINES + 7);
	assert_has("Operations: drop\n", 1);
}

static void
packets_are_refused_by_name(void **state)
{
	static const struct {
		const char *text, *error;
	} bad[] = {
		{ "udp", "in_port: missing; a packet comes from a port of the switch" },
		{ "in_port=9,udp", "in_port: the switch has no port 9" },
		{ "in_port=eth9",
			"in_port: 'eth9' is not a port: a number from 0 to 65279, local, "
			"or the name of a port" },
		{ "in_port=1,table=1", "table: a packet has none" },
		{ "in_port=1,priority=1", "priority: a packet has none" },
		{ "in_port=1,cookie=1", "cookie: a packet has none" },
		{ "in_port=1,idle_timeout=1", "idle_timeout: a packet has none" },
		{ "in_port=1,hard_timeout=1", "hard_timeout: a packet has none" },
		{ "in_port=1,n_packets=1", "n_packets: a packet has none" },
		{ "in_port=1 actions=2", "actions: a packet has none" },
		{ "in_port=1,ip,nw_src=10.0.0.0/8",
			"nw_src: '10.0.0.0/8' is not one value, as a packet has" },
		{ "in_port=1,tcp,tp_dst=0x50/0xf0",
			"tp_dst: '0x50/0xf0' is not one value, as a packet has" },
		{ "in_port=1,ip,nw_frag=yes", "nw_frag: 'yes' is not one value, as a packet has" },
		{ "in_port=1,tcp,tcp_flags=+syn",
			"tcp_flags: '+syn' is not one value, as a packet has" },
		{ "in_port=1,nw_src=10.0.0.1", "nw_src: the line must say ip or arp, too" },
		{ "in_port=1,ip,tp_dst=5",
			"tp_dst: the line must say tcp, udp, sctp, tcp6, udp6 or sctp6, too" },
		{ "in_port=1,udp,tcp", "tcp: contradicts what the line said before" },
		{ "in_port=1,udp,nw_frag=later,tp_dst=5",
			"nw_frag: a fragment has no ports, no type and code of ICMP, and no flags of "
			"TCP" },
		{ "in_port=1,tun_id=5", "tun_id: in_port is port 1 (eth1), which is no tunnel" },
		{ "in_port=vx5,tun_src=10.0.0.3",
			"in_port: a packet with these addresses outside comes from port 6 (vx6)" },
		{ "in_port=vx5,tun_dst=10.0.0.3",
			"in_port: no tunnel of the switch has the addresses that the packet has outside" },
		{ "tun_dst=10.0.0.3",
			"tun_dst: no tunnel of the switch has the addresses that the packet has outside" },
	};
	const struct hy_flows_key before = tcp_key();
	struct hy_flows_key key = before;

	RTE_SET_USED(state);
	add_tunnels();
	for (uint32_t i = 0; i < RTE_DIM(bad); i++) {
		assert_int_equal(hy_vswitch_packet(vswitch, bad[i].text, &key, error), -EINVAL);
		assert_string_equal(error, bad[i].error);
		assert_memory_equal(&key, &before, sizeof(key));
	}
}

static void
packets_of_text_are_those_of_frames(void **state)
{
	struct hy_flows_key key = packet(
				    "in_port=eth1,tcp,nw_src=10.0.0.1,nw_dst=10.0.0.2/32,nw_ttl=64,"
				    "tp_src=1000,tp_dst=80,nw_frag=no"),
			    other = tcp_key();

	RTE_SET_USED(state);
	assert_memory_equal(&key, &other, sizeof(key));
	key = packet("in_port=2,ip,nw_frag=later,vlan_tci=0x3005");
	assert_int_equal(key.port, 12);
	assert_int_equal(key.kind, HY_FLOWS_IP | HY_FLOWS_LATER_FRAGMENT);
	assert_int_equal(key.vlan, RTE_BE16(0x3005));
	key = packet("in_port=2,ipv6,nw_frag=first");
	assert_int_equal(key.kind, HY_FLOWS_IP | HY_FLOWS_FIRST_FRAGMENT);
	add_tunnels();
	key = packet("tun_src=10.0.0.7,tun_dst=10.0.0.1,tun_id=5,arp");
	assert_int_equal(key.port, 11);
	assert_int_equal(key.kind, HY_FLOWS_TUNNELLED);
	assert_int_equal(key.vni[2], 5);
	assert_int_equal(key.tunnel_src, RTE_BE32(0x0a000007));
}

static void
operations_have_names(void **state)
{
	static const struct hy_flow_op list[] = {
		{ .type = HY_FLOW_OP_DECAP },
		{ .type = HY_FLOW_OP_DST_MAC, .mac = { 2, 0, 0, 0, 0, 1 } },
		{ .type = HY_FLOW_OP_SRC_MAC, .mac = { 2, 0, 0, 0, 0, 0xff } },
		{ .type = HY_FLOW_OP_PUSH_VLAN,
			.type16 = RTE_BE16(0x88a8),
			.tci = RTE_BE16(0x2005) },
		{ .type = HY_FLOW_OP_POP_VLAN },
		{ .type = HY_FLOW_OP_VLAN_TCI, .tci = RTE_BE16(5), .mask16 = RTE_BE16(0xfff) },
		{ .type = HY_FLOW_OP_IP4_SRC, .ip4 = RTE_BE32(0x0a000001) },
		{ .type = HY_FLOW_OP_IP4_DST, .ip4 = RTE_BE32(0x0a000002) },
		{ .type = HY_FLOW_OP_IP6_SRC, .ip6 = { 0x20, 1, [15] = 1 } },
		{ .type = HY_FLOW_OP_IP6_DST, .ip6 = { 0x20, 1, [15] = 2 } },
		{ .type = HY_FLOW_OP_TOS, .value8 = 8, .mask8 = 0xfc },
		{ .type = HY_FLOW_OP_TTL, .value8 = 9 },
		{ .type = HY_FLOW_OP_DEC_TTL },
		{ .type = HY_FLOW_OP_L4_SRC, .l4 = RTE_BE16(80) },
		{ .type = HY_FLOW_OP_L4_DST, .l4 = RTE_BE16(81) },
		{ .type = HY_FLOW_OP_MARK, .mark = 0x12 },
		{ .type = HY_FLOW_OP_ENCAP,
			.vxlan = { .dst_mac = { 2, [5] = 2 },
				.src_mac = { 2, [5] = 1 },
				.is_ip6 = 1,
				.tos = 4,
				.ttl = 64,
				.vni = { 1, 0, 2 },
				.src = { 0x20, 1, [15] = 3 },
				.dst = { 0x20, 1, [15] = 4 },
				.port = RTE_BE16(4789) } },
		{ .type = HY_FLOW_OP_OWN },
		{ .type = HY_FLOW_OP_OUTPUT, .edge = 300 },
	};
	const char *expected =
		"decap,dst_mac:02:00:00:00:00:01,src_mac:02:00:00:00:00:ff,push_vlan:0x88a8/0x2005,"
		"pop_vlan,vlan_tci:0x0005/0x0fff,ip4_src:10.0.0.1,ip4_dst:10.0.0.2,ip6_src:2001::1,"
		"ip6_dst:2001::2,tos:0x08/0xfc,ttl:9,dec_ttl,l4_src:80,l4_dst:81,mark:0x12,"
		"encap(vni:65538,src:2001::3,dst:2001::4,port:4789,tos:0x04,ttl:64,"
		"src_mac:02:00:00:00:00:01,dst_mac:02:00:00:00:00:02),own,output:300";
	char text[HY_FLOW_OPS_TEXT_SIZE];

	RTE_SET_USED(state);
	assert_int_equal(hy_flow_ops_format(list, RTE_DIM(list), text), strlen(expected));
	assert_string_equal(text, expected);
	assert_int_equal(hy_flow_ops_format(NULL, 0, text), 4);
	assert_string_equal(text, "drop");
}

/* The last lines, of what the same packet gets without a trace. */
static uint32_t
assert_answer(const struct hy_flows_key *key)
{
	char match[HY_VSWITCH_TEXT_SIZE], ops[HY_FLOW_OPS_TEXT_SIZE];
	char expected[sizeof(match) + sizeof(ops) + 64];
	struct hy_flows_key seen;

	hy_vswitch_translate(vswitch, key, &answer);
	for (uint32_t w = 0; w < HY_FLOWS_WORDS; w++)
		seen.words[w] = key->words[w] & answer.mask.words[w];
	seen.port = (uint16_t)(key->port - 10);
	hy_vswitch_match_format(&seen, &answer.mask, match);
	hy_flow_ops_format(answer.ops, answer.nb_ops, ops);
	snprintf(expected, sizeof(expected), "Megaflow: %s\nOperations: %s\n", match, ops);
	trace_key(key);
	assert_non_null(strstr(traced, "\nMegaflow: "));
	assert_string_equal(strstr(traced, "\nMegaflow: ") + 1, expected);
	return answer.nb_ops;
}

static void
a_trace_ends_as_its_translation_and_counts_nothing(void **state)
{
	struct hy_flows_key key = tcp_key();
	uint32_t random = 1, sent = 0, changed = 0;
	struct hy_vswitch_stats stats;
	char text[160];

	RTE_SET_USED(state);
	for (uint32_t i = 0; i < 1000; i++) {
		random = random * 1103515245 + 12345;
		snprintf(text, sizeof(text),
			"priority=%u,table=%u,ip,nw_dst=%u.%u.%u.%u/%u "
			"actions=dec_ttl,%u,mod_nw_dst:1.2.3.%u,resubmit(,%u)",
			i % 100, i % 3, random >> 24, random >> 16 & 255, random >> 8 & 255,
			random & 255, 2 + i % 17, 1 + i % 3, i % 256, 1 + i % 2);
		add_rule(text);
	}
	for (uint32_t i = 0; i < PACKETS; i++) {
		uint32_t n;

		random = random * 1103515245 + 12345;
		key.port = (uint16_t)(11 + i % 3);
		key.dst = rte_cpu_to_be_32(random ^ random >> 13);
		key.ttl = (uint8_t)(random >> 8 & 7);
		n = assert_answer(&key);
		sent += n > 0;
		changed += n > 2;
		for (uint32_t r = 0; r < answer.nb_rules && i % 100 == 0; r++) {
			assert_int_equal(hy_vswitch_get(vswitch, answer.rules[r], &rule, &stats),
				0);
			assert_int_equal(stats.packets + stats.used, 0);
		}
	}
	assert_in_range(sent, PACKETS / 10, PACKETS - PACKETS / 20);
	assert_in_range(changed, PACKETS / 100, sent);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, vswitch_setup, teardown)

static const struct CMUnitTest tests[] = {
	TEST(each_action_is_followed_by_its_outcome),
	TEST(a_packet_from_a_tunnel_is_first_taken_out),
	TEST(fields_that_a_packet_lacks_are_skipped),
	TEST(a_spent_ttl_is_told),
	TEST(a_packet_without_a_rule_is_dropped),
	TEST(an_unchanged_packet_says_so),
	TEST(packets_of_no_port_are_told),
	TEST(bounds_are_told_where_a_packet_meets_them),
	TEST(lines_are_bounded),
	TEST(packets_are_refused_by_name),
	TEST(packets_of_text_are_those_of_frames),
	TEST(operations_have_names),
	TEST(a_trace_ends_as_its_translation_and_counts_nothing),
};
UNIT_SUITE(tests)
