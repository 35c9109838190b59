/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes the reader of a switch's rules (hy_vswitch_load()), and asks those that it accepts. */

#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include <hy_vswitch_trace.h>

#include "fuzz.h"

static struct hy_vswitch *
make(void)
{
	struct hy_vswitch_port port = { .number = 1, .name = "eth1", .port = 0, .edge = 1 };
	struct hy_vswitch_port tunnel = { .number = 3,
		.name = "vx",
		.is_tunnel = true,
		.tunnel = { .local = { 10, 0, 0, 1 }, .uplink = 1 } };
	struct hy_vswitch *vswitch;

	FUZZ_CHECK(hy_vswitch_create(0, &vswitch) == 0);
	FUZZ_CHECK(hy_vswitch_port_add(vswitch, &port) == 0);
	port = (struct hy_vswitch_port){ .number = 2, .name = "eth2", .port = 1, .edge = 2 };
	FUZZ_CHECK(hy_vswitch_port_add(vswitch, &port) == 0);
	FUZZ_CHECK(hy_vswitch_port_add(vswitch, &tunnel) == 0);
	return vswitch;
}

/* What a switch prints: a file that says the same. */
static char *
text_of(struct hy_vswitch *vswitch, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	FUZZ_CHECK(out != NULL);
	FUZZ_CHECK(hy_vswitch_print(vswitch, NULL, 0, out) == 0);
	fclose(out);
	return text;
}

/* A packet whose bytes outside the mask are changed gets the same. */
static void
check_mask(struct hy_vswitch *vswitch, const struct hy_flows_key *key)
{
	static struct hy_vswitch_answer one, other;
	struct hy_flows_key changed = *key;

	memset(&one, 0, sizeof(one));
	memset(&other, 0, sizeof(other));
	hy_vswitch_translate(vswitch, key, &one);
	for (uint32_t w = 0; w < HY_FLOWS_WORDS; w++)
		changed.words[w] ^= ~one.mask.words[w];
	hy_vswitch_translate(vswitch, &changed, &other);
	FUZZ_CHECK(one.outcome == other.outcome && one.nb_rules == other.nb_rules);
	FUZZ_CHECK(memcmp(one.rules, other.rules, one.nb_rules * sizeof(one.rules[0])) == 0);
	FUZZ_CHECK(one.nb_ops == other.nb_ops);
	FUZZ_CHECK(memcmp(one.ops, other.ops, one.nb_ops * sizeof(one.ops[0])) == 0);
}

static void
check_keys(struct hy_vswitch *vswitch, const uint8_t *bytes, size_t size)
{
	struct hy_flows_key key = { .type = RTE_BE16(0x0800), .kind = HY_FLOWS_IP, .ttl = 9 };

	check_mask(vswitch, &key);
	for (size_t i = 0; i < size; i++)
		((uint8_t *)&key)[i * 13 % sizeof(key)] ^= bytes[i];
	key.port %= 3;
	check_mask(vswitch, &key);
}

/* The first line of the input as a packet: it is refused with a reason, or its trace ends. */
static void
check_packet(struct hy_vswitch *vswitch, const uint8_t *bytes, size_t size)
{
	char line[512], error[HY_VSWITCH_ERROR_SIZE], *text = NULL;
	struct hy_flows_key key;
	FILE *out;

	snprintf(line, sizeof(line), "%.*s", (int)RTE_MIN(size, sizeof(line) - 1),
		(const char *)bytes);
	line[strcspn(line, "\n")] = '\0';
	if (hy_vswitch_packet(vswitch, line, &key, error) < 0) {
		FUZZ_CHECK(strchr(error, ':') != NULL);
		FUZZ_CHECK(strlen(error) < sizeof(error) - 1);
		fuzz_check_message(error);
		return;
	}
	out = open_memstream(&text, &size);
	FUZZ_CHECK(out != NULL);
	FUZZ_CHECK(hy_vswitch_trace(vswitch, &key, out) == 0);
	fclose(out);
	FUZZ_CHECK(strstr(text, "\nOperations: ") != NULL);
	free(text);
}

static bool
vswitch_one(const uint8_t *bytes, size_t size)
{
	struct hy_vswitch *vswitch = make(), *again;
	const char *path = fuzz_file(bytes, size);
	char error[HY_VSWITCH_ERROR_SIZE], *text, *second;
	size_t length, second_length;

	check_packet(vswitch, bytes, size);
	if (hy_vswitch_load(vswitch, path, 0, error) < 0) {
		FUZZ_CHECK(strstr(error, path) != NULL);
		FUZZ_CHECK(strlen(error) < sizeof(error) - 1);
		FUZZ_CHECK(hy_vswitch_rules(vswitch) == 0);
		fuzz_check_message(error);
		hy_vswitch_destroy(vswitch);
		return false;
	}
	check_keys(vswitch, bytes, size);
	text = text_of(vswitch, &length);
	again = make();
	FUZZ_CHECK(hy_vswitch_load(again, fuzz_file(text, length), 0, error) == 0);
	second = text_of(again, &second_length);
	FUZZ_CHECK(length == second_length && memcmp(text, second, length) == 0);
	free(text);
	free(second);
	hy_vswitch_destroy(vswitch);
	hy_vswitch_destroy(again);
	return true;
}

static const char *const texts[] = {
	"actions=normal\n",
	"# a comment\n\npriority=10,in_port=eth1,ip,nw_dst=10.0.0.0/8,actions=dec_ttl,"
	"mod_dl_dst:00:00:00:00:00:01,output:2\r\n",
	"table=3,cookie=0x5,idle_timeout=3,hard_timeout=4,tcp,tp_src=80,tcp_flags=+syn-ack actions=drop\n"
	"tcp,tcp_flags=syn|ack actions=flood,all,in_port\narp,arp_op=1,arp_spa=1.2.0.0/16 actions=1",
	"dl_vlan=5,dl_vlan_pcp=3 actions=pop_vlan,push_vlan:0x88a8,mod_vlan_vid:6,resubmit(,3),"
	"resubmit(2,4),goto_table:9\ntable=3 actions=set_field:1/0xff->pkt_mark,vx\n",
	"tun_id=5/7,tun_src=1.1.1.1,ipv6,ipv6_src=2001::/16,nw_frag=later "
	"actions=set_tunnel:8,set_field:1.2.3.4->tun_dst,set_field:::1/::ff->ipv6_dst,output:vx\n",
	"udp6,udp_dst=0x50/0xf0,nw_ttl=3,nw_tos=32 actions=mod_nw_ecn:2,set_field:8->ip_dscp,1\n",
	"tcp actions=ct(commit)\n",
	"in_port=1,udp,nw_src=10.0.0.1,tp_dst=53",
	"in_port=vx,tun_id=5,tun_src=10.0.0.9,dl_vlan=5,tcp6,nw_frag=no,tcp_flags=syn|ack",
	NULL,
};

const struct fuzz_target fuzz_vswitch = { .name = "vswitch", .one = vswitch_one, .texts = texts };
