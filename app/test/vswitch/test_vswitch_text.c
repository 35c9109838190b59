/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of rules: what is read as what, what is refused and how. */

#include <errno.h>
#include <string.h>

#include "vswitch_fixture.h"

#define ACTIONS \
	"output, normal, flood, all, in_port, local, drop, mod_dl_src, mod_dl_dst, mod_nw_src, mod_nw_dst, " \
	"mod_nw_tos, mod_nw_ecn, mod_nw_ttl, mod_tp_src, mod_tp_dst, mod_vlan_vid, mod_vlan_pcp, " \
	"set_vlan_vid, set_vlan_pcp, push_vlan, pop_vlan, strip_vlan, dec_ttl, set_field, set_tunnel, " \
	"resubmit, goto_table, and the number or the name of a port"
#define FIELDS \
	"table, priority, cookie, idle_timeout, hard_timeout, ip, ipv6, arp, icmp, tcp, udp, sctp, icmp6, " \
	"tcp6, udp6, sctp6, tun_id, tun_src, tun_dst, tun_ipv6_src, tun_ipv6_dst, in_port, dl_vlan, " \
	"dl_vlan_pcp, vlan_vid, vlan_pcp, vlan_tci, dl_src, dl_dst, dl_type, arp_spa, arp_tpa, nw_src, " \
	"nw_dst, ipv6_src, ipv6_dst, arp_op, nw_proto, nw_tos, ip_dscp, nw_ecn, nw_ttl, nw_frag, " \
	"icmp_type, icmp_code, icmpv6_type, icmpv6_code, tp_src, tp_dst, tcp_src, tcp_dst, udp_src, " \
	"udp_dst, sctp_src, sctp_dst, tcp_flags, and actions"
#define SETS \
	"pkt_mark, tun_id, tun_dst, tun_ipv6_dst, vlan_vid, vlan_pcp, dl_src, dl_dst, nw_src, nw_dst, " \
	"ipv6_src, ipv6_dst, nw_tos, ip_dscp, nw_ecn, nw_ttl, tp_src, tp_dst, tcp_src, tcp_dst, udp_src, " \
	"udp_dst"
#define PORT \
	"a port: a number from 0 to 65279, the name of a port, in_port, normal, flood, all or local"
#define NOT_TAGGED "without 0x1000, the bit of a tag, it must be 0"

/* A rule, and its text in the fixed order, behind "table=0". */
static const struct {
	const char *text, *canonical;
} good[] = {
	{ "actions=drop", " actions=drop" },
	{ "actions=", " actions=drop" },
	{ " , actions = 1 ", " actions=output:1" },
	{ "action=1,,2 3", " actions=output:1,output:2,output:3" },
	{ "in_port=1,actions=output:2", ",in_port=1 actions=output:2" },
	{ "in_port=eth3 actions=eth2,output:eth1,output=3",
		",in_port=3 actions=output:2,output:1,output:3" },
	{ "in_port=LOCAL actions=local,IN_PORT,Normal,FLOOD,all",
		",in_port=LOCAL actions=LOCAL,IN_PORT,NORMAL,FLOOD,ALL" },
	{ "priority=10,ip,nw_dst=10.0.0.0/8,actions=dec_ttl,mod_dl_dst:0:0:0:0:0:a,2",
		",priority=10,ip,nw_dst=10.0.0.0/8 actions=dec_ttl,mod_dl_dst:00:00:00:00:00:0a,output:2" },
	{ "priority=32768,cookie=0xffffffffffffffff,idle_timeout=3,hard_timeout=65535 actions=1",
		",cookie=0xffffffffffffffff,idle_timeout=3,hard_timeout=65535 actions=output:1" },
	{ "duration=3.5s,n_packets=2,n_bytes=100,idle_age=1,hard_age=2,actions=1",
		" actions=output:1" },
	{ "dl_src=1:2:3:4:5:6,eth_dst=01:00:00:00:00:00/01:00:00:00:00:00 actions=1",
		",dl_src=01:02:03:04:05:06,dl_dst=01:00:00:00:00:00/01:00:00:00:00:00 actions=output:1" },
	{ "dl_type=0x88cc actions=1", ",dl_type=0x88cc actions=output:1" },
	{ "dl_type=2048,nw_proto=6 actions=1", ",tcp actions=output:1" },
	{ "eth_type=0x86dd,ip_proto=17 actions=1", ",udp6 actions=output:1" },
	{ "tcp,nw_proto=6,dl_type=0x800 actions=1", ",tcp actions=output:1" },
	{ "ip,nw_proto=47 actions=1", ",ip,nw_proto=47 actions=output:1" },
	{ "dl_vlan=5 actions=1", ",dl_vlan=5 actions=output:1" },
	{ "dl_vlan=5,dl_vlan_pcp=3 actions=1", ",dl_vlan=5,dl_vlan_pcp=3 actions=output:1" },
	{ "dl_vlan=5,vlan_pcp=3 actions=1", ",dl_vlan=5,dl_vlan_pcp=3 actions=output:1" },
	{ "dl_vlan=0xFFFF actions=1", ",vlan_tci=0x0000 actions=output:1" },
	{ "vlan_tci=0x1000/0x1000 actions=1", ",vlan_tci=0x1000/0x1000 actions=output:1" },
	{ "vlan_tci=0xf005/0xffff actions=1", ",dl_vlan=5,dl_vlan_pcp=7 actions=output:1" },
	{ "vlan_vid=0x1005 actions=1", ",dl_vlan=5 actions=output:1" },
	{ "vlan_vid=0 actions=1", ",vlan_tci=0x0000/0x1fff actions=output:1" },
	{ "vlan_vid=0x1004/0x1004 actions=1", ",vlan_tci=0x1004/0x1004 actions=output:1" },
	{ "ip,ip_src=1.2.3.4/8,nw_dst=1.2.3.4/255.0.255.0 actions=1",
		",ip,nw_src=1.0.0.0/8,nw_dst=1.0.3.0/255.0.255.0 actions=output:1" },
	{ "ip,nw_src=1.2.3.4/0 actions=1", ",ip actions=output:1" },
	{ "ipv6,ipv6_src=2001:db8::1/32,ipv6_dst=::1/::ffff actions=1",
		",ipv6,ipv6_src=2001:db8::/32,ipv6_dst=::1/::ffff actions=output:1" },
	{ "arp,nw_src=1.2.3.4,arp_tpa=5.6.7.8/16,nw_proto=2 actions=1",
		",arp,arp_spa=1.2.3.4,arp_tpa=5.6.0.0/16,arp_op=2 actions=output:1" },
	{ "ip,nw_tos=0x23,nw_ecn=1,nw_ttl=64 actions=1",
		",ip,nw_tos=32,nw_ecn=1,nw_ttl=64 actions=output:1" },
	{ "ipv6,ip_dscp=8,ip_ecn=3 actions=1", ",ipv6,nw_tos=32,nw_ecn=3 actions=output:1" },
	{ "ip,ip_frag=no actions=1", ",ip,nw_frag=no actions=output:1" },
	{ "ip,nw_frag=yes actions=1", ",ip,nw_frag=yes actions=output:1" },
	{ "ip,nw_frag=first actions=1", ",ip,nw_frag=first actions=output:1" },
	{ "ip,nw_frag=later actions=1", ",ip,nw_frag=later actions=output:1" },
	{ "ip,nw_frag=not_later actions=1", ",ip,nw_frag=not_later actions=output:1" },
	{ "tcp,tp_src=80,tcp_dst=0x50/0xf0 actions=1",
		",tcp,tp_src=80,tp_dst=0x50/0xf0 actions=output:1" },
	{ "udp6,udp_src=1,udp_dst=2 actions=1", ",udp6,tp_src=1,tp_dst=2 actions=output:1" },
	{ "sctp,sctp_src=1,sctp_dst=2 actions=1", ",sctp,tp_src=1,tp_dst=2 actions=output:1" },
	{ "sctp6,tp_dst=2 actions=1", ",sctp6,tp_dst=2 actions=output:1" },
	{ "icmp,icmp_type=8,icmp_code=0 actions=1",
		",icmp,icmp_type=8,icmp_code=0 actions=output:1" },
	{ "icmp6,icmpv6_type=135,icmpv6_code=1 actions=1",
		",icmp6,icmp_type=135,icmp_code=1 actions=output:1" },
	{ "tcp,tcp_flags=+syn-ack actions=1", ",tcp,tcp_flags=+syn-ack actions=output:1" },
	{ "tcp,tcp_flags=-ack+fin actions=1", ",tcp,tcp_flags=+fin-ack actions=output:1" },
	{ "tcp,tcp_flags=ack|syn actions=1", ",tcp,tcp_flags=syn|ack actions=output:1" },
	{ "tcp,tcp_flags=0x2/0x12 actions=1", ",tcp,tcp_flags=+syn-ack actions=output:1" },
	{ "tcp,tcp_flags=0 actions=1", ",tcp,tcp_flags=0 actions=output:1" },
	{ "tun_id=5/7,tun_src=1.1.1.1,tun_dst=2.2.0.0/16 actions=1",
		",tun_id=0x5/0x7,tun_src=1.1.1.1,tun_dst=2.2.0.0/16 actions=output:1" },
	{ "tun_ipv6_src=::1,tun_ipv6_dst=2001::/16 actions=1",
		",tun_ipv6_src=::1,tun_ipv6_dst=2001::/16 actions=output:1" },
	{ "actions=mod_dl_src:1:2:3:4:5:6,mod_nw_src:1.2.3.4,mod_nw_dst:5.6.7.8,mod_tp_src:1,mod_tp_dst:0x2",
		" actions=mod_dl_src:01:02:03:04:05:06,mod_nw_src:1.2.3.4,mod_nw_dst:5.6.7.8,mod_tp_src:1,"
		"mod_tp_dst:2" },
	{ "actions=mod_nw_tos:35,mod_nw_ecn:2,mod_nw_ttl:9",
		" actions=mod_nw_tos:32,mod_nw_ecn:2,mod_nw_ttl:9" },
	{ "actions=push_vlan:0x88a8,mod_vlan_vid:6,mod_vlan_pcp:2,set_vlan_vid:4095,set_vlan_pcp:0,strip_vlan",
		" actions=push_vlan:0x88a8,mod_vlan_vid:6,mod_vlan_pcp:2,set_vlan_vid:4095,set_vlan_pcp:0,"
		"pop_vlan" },
	{ "dl_vlan=3 actions=set_field:0x1005->vlan_vid,set_field:3->vlan_pcp,set_field:5/7->vlan_vid",
		",dl_vlan=3 actions=set_vlan_vid:5,set_vlan_pcp:3,set_field:0x0005/0x0007->vlan_vid" },
	{ "actions=set_field:7->tun_id,set_tunnel:8,set_field:1/3->tun_id,set_field:1.2.3.4->tun_dst",
		" actions=set_tunnel:0x7,set_tunnel:0x8,set_field:0x1/0x3->tun_id,set_field:1.2.3.4->tun_dst" },
	{ "actions=set_field:2001::1->tun_ipv6_dst,set_field:5/0xff->pkt_mark",
		" actions=set_field:2001::1->tun_ipv6_dst,set_field:0x5/0xff->pkt_mark" },
	{ "ipv6 actions=set_field:::1/::ff->ipv6_src,set_field:2001::->ipv6_dst",
		",ipv6 actions=set_field:::1/::ff->ipv6_src,set_field:2001::->ipv6_dst" },
	{ "tcp actions=set_field:80->tcp_src,set_field:5/7->tp_dst,set_field:1.2.0.0/16->ip_src",
		",tcp actions=set_field:80->tcp_src,set_field:0x5/0x7->tp_dst,set_field:1.2.0.0/16->nw_src" },
	{ "udp actions=set_field:8->ip_dscp,set_field:64->nw_ttl,set_field:53->udp_dst",
		",udp actions=set_field:8->ip_dscp,mod_nw_ttl:64,set_field:53->udp_dst" },
	{ "actions=resubmit:2,resubmit(2),resubmit(,3),resubmit(eth2, 4),resubmit(in_port,5),resubmit(6,)",
		" actions=resubmit(2,0),resubmit(2,0),resubmit(,3),resubmit(2,4),resubmit(,5),resubmit(6,0)" },
	{ "actions=1,goto_table:254", " actions=output:1,goto_table:254" },
};

static const struct {
	const char *text, *error;
} wrong[] = {
	{ "", "actions: missing; a rule is MATCH,... actions=ACTION,..." },
	{ "tcp", "actions: missing; a rule is MATCH,... actions=ACTION,..." },
	{ "foo=3 actions=1", "foo: not supported in a match; accepted are " FIELDS },
	{ "ct_state=+new actions=1", "ct_state: not supported in a match; accepted are " FIELDS },
	{ "arp,arp_sha=1:2:3:4:5:6 actions=1",
		"arp_sha: not supported in a match; accepted are " FIELDS },
	{ "pkt_mark=3 actions=1", "pkt_mark: not supported in a match; accepted are " FIELDS },
	{ "send_flow_rem actions=1",
		"send_flow_rem: not supported in a match; accepted are " FIELDS },
	{ "tcp=1 actions=1", "tcp: has no value" },
	{ "in_port actions=1", "in_port: its value is missing" },
	{ "priority actions=1", "priority: its value is missing" },
	{ "table=255 actions=1", "table: '255' is not a number from 0 to 254" },
	{ "table=1,table=1 actions=1", "table: given twice" },
	{ "priority=65536 actions=1", "priority: '65536' is not a number from 0 to 65535" },
	{ "priority=-1 actions=1", "priority: '-1' is not a number from 0 to 65535" },
	{ "cookie=1/-1 actions=1", "cookie: '1/-1' is not a number from 0 to 0xffffffffffffffff" },
	{ "idle_timeout=65536 actions=1",
		"idle_timeout: '65536' is not a number of seconds from 0 to 65535" },
	{ "hard_timeout=x actions=1",
		"hard_timeout: 'x' is not a number of seconds from 0 to 65535" },
	{ "in_port=eth9 actions=1",
		"in_port: 'eth9' is not a port: a number from 0 to 65279, local, or the name of a port" },
	{ "in_port=65280 actions=1",
		"in_port: '65280' is not a port: a number from 0 to 65279, local, or the name of a port" },
	{ "dl_src=1:2:3:4:5 actions=1",
		"dl_src: '1:2:3:4:5' is not an address such as 02:00:00:00:00:01, or one with /MASK" },
	{ "dl_type=0x10000 actions=1", "dl_type: '0x10000' is not a number from 0 to 0xffff" },
	{ "dl_vlan=4096 actions=1",
		"dl_vlan: '4096' is not a VLAN id from 0 to 4095, or 0xffff for packets without a tag" },
	{ "dl_vlan=5/7 actions=1",
		"dl_vlan: '5/7' is not a VLAN id from 0 to 4095, or 0xffff for packets without a tag" },
	{ "dl_vlan_pcp=8 actions=1", "dl_vlan_pcp: '8' is not a priority from 0 to 7" },
	{ "vlan_pcp=3 actions=1",
		"vlan_pcp: the line must say dl_vlan, vlan_vid or vlan_tci that asks for a tag, too" },
	{ "vlan_tci=5 actions=1", "vlan_tci: 0x5 matches no packet: " NOT_TAGGED },
	{ "dl_vlan=0xffff,dl_vlan_pcp=1 actions=1",
		"dl_vlan_pcp: contradicts what the line said before" },
	{ "vlan_vid=0/0x1000,vlan_tci=5/7 actions=1",
		"vlan_tci: 0x5 matches no packet: " NOT_TAGGED },
	{ "nw_src=1.2.3.4 actions=1", "nw_src: the line must say ip or arp, too" },
	{ "ipv6,nw_dst=1.2.3.4 actions=1", "nw_dst: the line must say ip or arp, too" },
	{ "ip,nw_src=1.2.3 actions=1",
		"nw_src: '1.2.3' is not an IPv4 address, or one with /LENGTH or /MASK" },
	{ "ip,nw_src=1.2.3.4/33 actions=1",
		"nw_src: '1.2.3.4/33' is not an IPv4 address, or one with /LENGTH or /MASK" },
	{ "ip,ipv6_src=::1 actions=1", "ipv6_src: the line must say ipv6, too" },
	{ "ipv6,ipv6_src=::1/129 actions=1",
		"ipv6_src: '::1/129' is not an IPv6 address, or one with /LENGTH or /MASK" },
	{ "ip,arp_spa=1.2.3.4 actions=1", "arp_spa: the line must say arp, too" },
	{ "ip,arp_op=1 actions=1", "arp_op: the line must say arp, too" },
	{ "arp,arp_op=256 actions=1", "arp_op: '256' is not a number from 0 to 255" },
	{ "nw_proto=6 actions=1", "nw_proto: the line must say ip, ipv6 or arp, too" },
	{ "arp,nw_ttl=6 actions=1", "nw_ttl: the line must say ip or ipv6, too" },
	{ "ip,ip_dscp=64 actions=1", "ip_dscp: '64' is not a number from 0 to 63" },
	{ "ip,nw_ecn=4 actions=1", "nw_ecn: '4' is not a number from 0 to 3" },
	{ "ip,nw_frag=maybe actions=1",
		"nw_frag: 'maybe' is not no, yes, first, later or not_later" },
	{ "tp_src=80 actions=1",
		"tp_src: the line must say tcp, udp, sctp, tcp6, udp6 or sctp6, too" },
	{ "icmp,tp_src=8 actions=1",
		"tp_src: the line must say tcp, udp, sctp, tcp6, udp6 or sctp6, too" },
	{ "tcp,udp_src=80 actions=1", "udp_src: the line must say udp or udp6, too" },
	{ "tcp,tp_dst=65536 actions=1",
		"tp_dst: '65536' is not a number from 0 to 65535, or one with /MASK" },
	{ "icmp,icmpv6_type=1 actions=1", "icmpv6_type: the line must say icmp6, too" },
	{ "tcp,icmp_code=1 actions=1", "icmp_code: the line must say icmp or icmp6, too" },
	{ "ip,tcp_flags=2 actions=1", "tcp_flags: the line must say tcp or tcp6, too" },
	{ "tcp,tcp_flags=+ns actions=1",
		"tcp_flags: '+ns' is not flags such as +syn-ack or syn|ack, of fin, syn, rst, psh, ack, urg, "
		"ece and cwr; or a number from 0 to 0xff, or one with /MASK" },
	{ "tcp,udp actions=1", "udp: contradicts what the line said before" },
	{ "in_port=1,in_port=2 actions=1", "in_port: contradicts what the line said before" },
	{ "tun_id=0x1000000 actions=1",
		"tun_id: '0x1000000' is not a number from 0 to 0xffffff, or one with /MASK" },
	{ "actions=ct(commit)",
		"actions: conntrack action ct is not supported; accepted are " ACTIONS },
	{ "actions=learn(table=1)",
		"actions: learning action learn is not supported; accepted are " ACTIONS },
	{ "actions=load:5->NXM_NX_REG0[]",
		"actions: register action load is not supported; accepted are " ACTIONS },
	{ "actions=group:1",
		"actions: group action group is not supported; accepted are " ACTIONS },
	{ "actions=meter:1",
		"actions: meter action meter is not supported; accepted are " ACTIONS },
	{ "actions=CONTROLLER:65535",
		"actions: controller action CONTROLLER is not supported; accepted are " ACTIONS },
	{ "actions=exit", "actions: action exit is not supported; accepted are " ACTIONS },
	{ "actions=65280", "actions: action 65280 is not supported; accepted are " ACTIONS },
	{ "actions=drop,1", "drop: must be the only action" },
	{ "actions=output", "output: its value is missing; accepted is " PORT },
	{ "actions=output:eth9", "output: 'eth9' is not " PORT },
	{ "actions=normal:1", "normal: has no value" },
	{ "actions=drop:1", "drop: has no value" },
	{ "actions=dec_ttl(1)", "dec_ttl: has no value" },
	{ "actions=pop_vlan:1", "pop_vlan: has no value" },
	{ "actions=push_vlan:0x9100", "push_vlan: '0x9100' is not 0x8100 or 0x88a8" },
	{ "actions=push_vlan", "push_vlan: its value is missing; accepted is 0x8100 or 0x88a8" },
	{ "actions=mod_vlan_vid:4096", "mod_vlan_vid: '4096' is not a VLAN id from 0 to 4095" },
	{ "actions=mod_vlan_pcp:8", "mod_vlan_pcp: '8' is not a priority from 0 to 7" },
	{ "actions=mod_nw_src:1.2.3.4/8",
		"mod_nw_src: '1.2.3.4/8' is not a value without a mask; set_field has masks" },
	{ "actions=mod_nw_ttl:256", "mod_nw_ttl: '256' is not a number from 0 to 255" },
	{ "actions=set_tunnel:x",
		"set_tunnel: 'x' is not a number from 0 to 0xffffff, or one with /MASK" },
	{ "actions=set_field:5", "set_field: '5' is not VALUE->FIELD or VALUE/MASK->FIELD" },
	{ "actions=set_field:5->arp_op",
		"set_field: 'arp_op' is not a field that can be written; accepted are " SETS },
	{ "actions=set_field:1.2.3.4->ip_src",
		"set_field: ip_src is only of packets that match ip" },
	{ "ip actions=set_field:5->tcp_src",
		"set_field: tcp_src is only of packets that match tcp or tcp6" },
	{ "actions=set_field:0x1005->vlan_vid",
		"set_field: vlan_vid is of packets with a tag; the rule must match one, or push one first" },
	{ "dl_vlan=3 actions=set_field:5->vlan_vid",
		"set_field: a VLAN id to write is 0x1000 plus the id; pop_vlan removes a tag" },
	{ "actions=resubmit",
		"resubmit: its value is missing; accepted is PORT, (PORT), (PORT,TABLE) or "
		"(,TABLE)" },
	{ "actions=resubmit(,)", "resubmit: ',' is not PORT, (PORT), (PORT,TABLE) or (,TABLE)" },
	{ "actions=resubmit(,255)", "resubmit: '255' is not the number of a table from 0 to 254" },
	{ "actions=resubmit(1,2,ct)",
		"resubmit: '2,ct' is not the number of a table from 0 to 254" },
	{ "actions=resubmit(x,2)",
		"resubmit: 'x' is not a port: a number from 0 to 65279, the name of a port, in_port or local" },
	{ "actions=resubmit(1", "resubmit: its ')' is missing" },
	{ "table=3 actions=goto_table:3",
		"goto_table: table 3 is not behind the rule's own, 3; resubmit goes anywhere" },
	{ "actions=goto_table:2,1", "1: stands behind goto_table, which is last" },
};

static void
rules_have_one_text_in_a_fixed_order(void **state)
{
	char text[HY_VSWITCH_TEXT_SIZE], again[HY_VSWITCH_TEXT_SIZE];
	struct hy_vswitch_rule first;
	size_t length;

	RTE_SET_USED(state);
	for (uint32_t i = 0; i < RTE_DIM(good); i++) {
		read_rule(good[i].text);
		first = rule;
		length = hy_vswitch_rule_format(&rule, text);
		assert_int_equal(length, strlen(text));
		assert_memory_equal(text, "table=0", 7);
		assert_string_equal(text + 7, good[i].canonical);
		read_rule(text);
		assert_memory_equal(&rule, &first, sizeof(rule));
		hy_vswitch_rule_format(&rule, again);
		assert_string_equal(again, text);
	}
}

static void
what_is_wrong_is_refused_by_its_name(void **state)
{
	struct hy_vswitch_rule before;

	RTE_SET_USED(state);
	read_rule("tcp actions=1");
	before = rule;
	for (uint32_t i = 0; i < RTE_DIM(wrong); i++) {
		if (hy_vswitch_read(vswitch, wrong[i].text, HY_VSWITCH_ADD, &rule, error) !=
			-EINVAL)
			fail_msg("'%s' is accepted", wrong[i].text);
		assert_string_equal(error, wrong[i].error);
		assert_memory_equal(&rule, &before, sizeof(rule));
	}
}

static void
a_selection_has_neither_actions_nor_times(void **state)
{
	RTE_SET_USED(state);
	assert_int_equal(hy_vswitch_read(vswitch, "tcp,tp_dst=80", HY_VSWITCH_SELECT, &rule, error),
		0);
	assert_int_equal(rule.table, HY_VSWITCH_TABLES);
	assert_int_equal(hy_vswitch_read(vswitch, "table=3", HY_VSWITCH_SELECT, &rule, error), 0);
	assert_int_equal(rule.table, 3);
	assert_int_equal(hy_vswitch_read(vswitch, "tcp actions=1", HY_VSWITCH_SELECT, &rule, error),
		-EINVAL);
	assert_string_equal(error, "actions: only a rule that is added has them");
	assert_int_equal(hy_vswitch_read(vswitch, "cookie=1", HY_VSWITCH_SELECT, &rule, error),
		-EINVAL);
	assert_string_equal(error, "cookie: only a rule that is added has it");
}

static void
bounds_of_a_rule_are_kept(void **state)
{
	char text[HY_VSWITCH_TEXT_SIZE + 10] = "actions=";

	RTE_SET_USED(state);
	for (uint32_t i = 0; i < HY_VSWITCH_ACTIONS; i++)
		strcat(text, "1,");
	read_rule(text);
	assert_int_equal(rule.nb_actions, HY_VSWITCH_ACTIONS);
	strcat(text, "2");
	assert_int_equal(hy_vswitch_read(vswitch, text, HY_VSWITCH_ADD, &rule, error), -EINVAL);
	assert_string_equal(error, "2: the rule has more than 64 actions");
	memset(text, ' ', HY_VSWITCH_TEXT_SIZE);
	text[HY_VSWITCH_TEXT_SIZE] = '\0';
	assert_int_equal(hy_vswitch_read(vswitch, text, HY_VSWITCH_ADD, &rule, error), -EINVAL);
	assert_string_equal(error, "line: longer than 8191 bytes");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, vswitch_setup, vswitch_teardown)

static const struct CMUnitTest tests[] = {
	TEST(rules_have_one_text_in_a_fixed_order),
	TEST(what_is_wrong_is_refused_by_its_name),
	TEST(a_selection_has_neither_actions_nor_times),
	TEST(bounds_of_a_rule_are_kept),
};
UNIT_SUITE(tests)
