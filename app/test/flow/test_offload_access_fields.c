/* SPDX-License-Identifier: BSD-3-Clause */
/* Access lists in hardware: IPv6, MAC addresses, TCP flags, ICMP, DSCP and tags, in random lists. */

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include <rte_tcp.h>

#include "access_fixture.h"

#define REASONS_MAX 40

/* Which reasons rules had. */
static const char *reasons[REASONS_MAX];

static bool
one_in(uint32_t n)
{
	return rnd(&A.seed) % n == 0;
}

/* Few of them, so that rules and packets meet. */
static void
address6(uint32_t address[4])
{
	address[0] = 0x20010db8;
	address[1] = one_in(4);
	address[2] = 0;
	address[3] = 1 + rnd(&A.seed) % 2;
}

static void
prefix6(uint32_t address[4], uint8_t *len)
{
	static const uint8_t lens[] = { 128, 128, 64, 64, 32, 3 };

	address6(address);
	*len = lens[rnd(&A.seed) % RTE_DIM(lens)];
	if (*len < 128)
		address[2] = address[3] = 0;
	if (*len < 64)
		address[1] = 0;
	if (*len == 3)
		address[0] = one_in(2) ? 0x20000000 : 0;
}

static void
prefix4(uint32_t *address, uint8_t *len)
{
	*len = one_in(2) ? 32 : 16;
	*address = IP4(10, (uint8_t)(rnd(&A.seed) % 2), 0, 1) & UINT32_MAX << (32 - *len);
}

static void
l4_draw(struct hy_flow_match *m)
{
	static const uint8_t protos[] = { IPPROTO_TCP, IPPROTO_TCP, IPPROTO_UDP, IPPROTO_SCTP };
	const bool ip6 = (m->fields & HY_FLOW_IPV6) != 0;

	m->fields |= HY_FLOW_PROTO;
	m->proto = protos[rnd(&A.seed) % RTE_DIM(protos)];
	if (one_in(4)) {
		m->proto = ip6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP;
		m->fields |= one_in(2) ? HY_FLOW_ICMP_TYPE : HY_FLOW_ICMP;
		m->icmp_type[0] = 8;
		m->icmp_type[1] = one_in(8) ? 9 : 8;
		return;
	}
	if (one_in(2)) {
		m->fields |= HY_FLOW_DPORT;
		m->dport[0] = m->dport[1] = one_in(2) ? 80 : 443;
	}
	if (m->proto == IPPROTO_TCP && one_in(3)) {
		m->fields |= HY_FLOW_TCP_FLAGS;
		m->tcp_flags = RTE_TCP_SYN_FLAG;
		m->tcp_mask = RTE_TCP_SYN_FLAG | (one_in(2) ? RTE_TCP_ACK_FLAG : 0);
	} else if (m->proto == IPPROTO_TCP && one_in(8)) {
		m->fields |= HY_FLOW_ESTABLISHED;
	}
}

static void
l2_draw(struct hy_flow_match *m)
{
	if (one_in(6)) {
		m->fields |= HY_FLOW_SRC_MAC;
		m->src_mac = 0x020000000001 + rnd(&A.seed) % 2;
		m->src_mac_mask = one_in(2) ? 0xffffffffffff : 0xff0000000003;
		m->src_mac &= m->src_mac_mask;
	}
	if (one_in(8)) {
		m->fields |= HY_FLOW_VLAN;
		m->vlan = 7;
	}
}

static struct hy_flow_match
match_draw(void)
{
	struct hy_flow_match m = { .fields = one_in(3) ? 0 : HY_FLOW_IPV6 };
	const bool ip6 = m.fields != 0;

	if (!one_in(6)) {
		m.fields |= HY_FLOW_SRC;
		if (ip6)
			prefix6(m.src6, &m.src_len);
		else
			prefix4(&m.src, &m.src_len);
	}
	if (one_in(3)) {
		m.fields |= HY_FLOW_DST;
		if (ip6)
			prefix6(m.dst6, &m.dst_len);
		else
			prefix4(&m.dst, &m.dst_len);
	}
	if (one_in(6)) {
		m.fields |= HY_FLOW_DSCP;
		m.dscp = one_in(2) ? 46 : 0;
	}
	if (one_in(2))
		l4_draw(&m);
	if (one_in(24)) {
		m.fields |= HY_FLOW_FRAGMENT;
		m.fragments = HY_FLOW_NO_FRAGMENT;
	}
	l2_draw(&m);
	return m;
}

/* As NICs with a table for each protocol want them. */
static struct hy_flow_match
flow_draw(void)
{
	struct hy_flow_match m = { .fields = HY_FLOW_IPV6 | HY_FLOW_5_TUPLE,
		.src_len = 128,
		.dst_len = 128,
		.proto = IPPROTO_TCP,
		.sport = { 1024, 1024 } };

	address6(m.src6);
	address6(m.dst6);
	m.dport[0] = m.dport[1] = one_in(2) ? 80 : 443;
	return one_in(3) ? match_draw() : m;
}

static struct hy_flow_rule
rule_draw(uint32_t id)
{
	struct hy_flow_rule rule = {
		.id = id, .precedence = id, .action = one_in(2) ? HY_RULE_DENY : HY_RULE_PERMIT
	};

	do
		rule.match = A.by_ports ? flow_draw() : match_draw();
	while (hy_flow_rule_check(&rule, NULL) != 0);
	return rule;
}

static uint32_t
l4_write(uint8_t *at, uint8_t proto)
{
	static const uint8_t flags[] = { RTE_TCP_SYN_FLAG, RTE_TCP_SYN_FLAG | RTE_TCP_ACK_FLAG,
		RTE_TCP_ACK_FLAG };
	const rte_be16_t ports[] = { RTE_BE16(1024), one_in(2) ? RTE_BE16(80) : RTE_BE16(443) };

	memset(at, 0, 24);
	if (proto == IPPROTO_ICMP || proto == IPPROTO_ICMPV6) {
		at[0] = (uint8_t)(8 + one_in(4));
		at[1] = one_in(4);
		return 24;
	}
	memcpy(at, ports, sizeof(ports));
	at[12] = 0x50;
	at[13] = flags[rnd(&A.seed) % RTE_DIM(flags)];
	return 24;
}

/* Behind no, a few, or more extension headers than software skips; or a fragment. */
static uint32_t
ip6_write(uint8_t *at, uint8_t proto)
{
	static const uint8_t kinds[] = { IPPROTO_HOPOPTS, IPPROTO_DSTOPTS, IPPROTO_ROUTING,
		IPPROTO_FRAGMENT };
	uint32_t extensions = one_in(3) ? 1 + rnd(&A.seed) % 3 : 0, len = 40;
	uint8_t *next = &at[6];
	uint32_t address[4];

	extensions = one_in(30) ? 9 : extensions;
	memset(at, 0, 40);
	at[0] = 0x60;
	if (one_in(3)) { /* DSCP 46 */
		at[0] |= 0x0b;
		at[1] = 0x80;
	}
	for (unsigned int a = 8; a < 40; a += 16) {
		address6(address);
		for (unsigned int i = 0; i < 16; i++)
			at[a + i] = (uint8_t)(address[i / 4] >> (24 - 8 * (i % 4)));
	}
	for (; extensions > 0; extensions--) {
		const uint8_t kind = kinds[rnd(&A.seed) % (extensions == 1 ? 4 : 3)];

		*next = kind;
		next = &at[len];
		memset(&at[len], 0, 8);
		if (kind == IPPROTO_FRAGMENT && !one_in(4))
			at[len + 3] = one_in(2) ? 1 : 0xb8;
		len += 8;
	}
	*next = proto;
	len += l4_write(&at[len], proto);
	at[4] = (uint8_t)((len - 40) >> 8);
	at[5] = (uint8_t)(len - 40);
	return len;
}

static uint32_t
ip4_write(uint8_t *at, uint8_t proto)
{
	const uint32_t len = 20 + l4_write(at + 20, proto);

	memset(at, 0, 20);
	at[0] = 0x45;
	at[1] = one_in(3) ? 46 << 2 : 0;
	at[3] = (uint8_t)len;
	at[6] = one_in(12) ? 0x20 : 0;
	at[7] = one_in(16);
	at[9] = proto;
	at[12] = at[16] = 10;
	at[13] = one_in(2);
	at[17] = one_in(2);
	at[15] = at[19] = 1;
	return len;
}

static bool
send_one(void)
{
	static const uint8_t protos[] = { IPPROTO_TCP, IPPROTO_TCP, IPPROTO_UDP, IPPROTO_SCTP, 0 };
	const bool ip6 = !one_in(3);
	uint8_t frame[256] = { 0 }, proto = protos[rnd(&A.seed) % RTE_DIM(protos)];
	uint32_t at = 12;

	memcpy(frame, &A.mac, sizeof(A.mac));
	frame[6] = 2;
	frame[11] = (uint8_t)(1 + rnd(&A.seed) % 3);
	if (one_in(5)) {
		frame[at] = 0x81;
		frame[at + 3] = one_in(4) ? 8 : 7;
		at += 4;
	}
	frame[at] = ip6 ? 0x86 : 0x08;
	frame[at + 1] = ip6 ? 0xdd : 0x00;
	at += 2;
	if (proto == 0)
		proto = ip6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP;
	at += ip6 ? ip6_write(frame + at, proto) : ip4_write(frame + at, proto);
	return access_pass(frame, one_in(12) ? at - rnd(&A.seed) % 24 : at);
}

static void
reasons_note(void)
{
	for (uint32_t id = 0; id < IDS; id++) {
		const char *reason = hy_offload_reason(A.offload, id);
		unsigned int r = 0;

		while (reason != NULL && r < REASONS_MAX && reasons[r] != NULL &&
			strcmp(reasons[r], reason) != 0)
			r++;
		if (reason != NULL && r < REASONS_MAX && reasons[r] == NULL)
			reasons[r] = strdup(reason);
	}
}

static bool
was_noted(const char *reason)
{
	for (unsigned int r = 0; r < REASONS_MAX && reasons[r] != NULL; r++)
		if (strcmp(reasons[r], reason) == 0)
			return true;
	return false;
}

static void
reasons_forget(void)
{
	for (unsigned int r = 0; r < REASONS_MAX; r++) {
		free((void *)(uintptr_t)reasons[r]);
		reasons[r] = NULL;
	}
}

#ifdef SANITIZED
#define ROUNDS 60 /* fewer have not each field in hardware */
#else
#define ROUNDS 120
#endif

/* Returns how many fields of dropping rules were in hardware at some time. */
static uint32_t
lists_hold(const char *profile, const char *driver, bool by_ports)
{
	uint32_t dropping = 0, marking = 0;

	access_open(profile, driver);
	A.by_ports = by_ports;
	for (int i = 0; i < ROUNDS; i++) {
		for (int change = 0; change < (i == 0 ? IDS : 4); change++) {
			const uint32_t id = rnd(&A.seed) % IDS;
			const struct hy_flow_rule rule = rule_draw(id);

			access_rule_set(&rule);
			A.by_rule[id] = 0;
		}
		assert_int_equal(hy_policy_commit(A.policy), 0);
		for (int n = 0; n < 60; n++)
			send_one();
		hy_offload_poll(A.offload);
		for (int n = 0; n < 60; n++)
			send_one();
		access_settle();
		for (int n = 0; n < 300; n++)
			send_one();
		reasons_note();
		for (uint32_t s = 0; s < A.offload->nb_slots; s++) {
			const struct flow *flow = &A.offload->flows[s];

			dropping |= flow->state == FLOW_LIVE && flow->drop ? flow->match.fields : 0;
			marking |= flow->state == FLOW_LIVE && !flow->drop ? flow->match.fields : 0;
		}
	}
	print_message("%s: %ju of %ju packets dropped, %ju marked; fields 0x%x drop, 0x%x mark\n",
		profile, (uintmax_t)A.dropped, (uintmax_t)(A.dropped + A.arrived),
		(uintmax_t)A.marked, dropping, marking);
	assert_int_equal(A.wrong, 0);
	assert_int_equal(access_stats().state, HY_OFFLOAD_UP);
	hy_offload_read(A.offload);
	assert_int_equal(hy_policy_hardware(A.policy, HY_POLICY_ALL), A.dropped);
	assert_true(A.dropped > ROUNDS && A.arrived > 100 * ROUNDS);
	access_close();
	return dropping;
}

static void
lists_of_all_fields_drop_nothing_that_they_permit(void **state)
{
	const uint32_t most = HY_FLOW_IPV6 | HY_FLOW_5_TUPLE;

	RTE_SET_USED(state);
	assert_int_equal(~lists_hold("mlx5", "mlx5_pci", false) &
			(HY_FLOW_IPV6 | HY_FLOW_HARDWARE) &
			~(HY_FLOW_SPORT | HY_FLOW_TUNNEL | HY_FLOW_DST_MAC | HY_FLOW_ETHER_TYPE),
		0);
	for (unsigned int r = 0; r < REASONS_MAX && reasons[r] != NULL; r++)
		print_message("  %s\n", reasons[r]);
	assert_true(was_noted("a range of ICMP types or codes"));
	assert_true(was_noted("no driver is asked for ACK or RST"));
	assert_true(was_noted("no driver is asked for fragments"));
	assert_true(was_noted("hardware may not recognize a rule before it that it overlaps"));
	assert_true(was_noted("hardware needs it only before one that drops packets there"));
	reasons_forget();
	lists_hold("cnxk", "net_cn10k", false);
	lists_hold("cnxk_wide", "net_cn10k", false);
	assert_true(was_noted("the port does not compare source MAC addresses"));
	assert_true(was_noted("the port does not compare TCP flags"));
	assert_true(was_noted("the port does not compare ICMP types"));
	assert_true(was_noted("the port does not compare source addresses"));
	assert_true(was_noted("zeros, which the NIC finds where IPv6 has extension headers"));
	reasons_forget();
	assert_int_equal(~lists_hold("cnxk_ip6", "net_cn10k", false) &
			(HY_FLOW_IPV6 | HY_FLOW_SRC | HY_FLOW_DST | HY_FLOW_PROTO),
		0);
	reasons_forget();
	assert_int_equal(~lists_hold("ice", "net_ice", true) & most, 0);
	assert_true(was_noted("the driver does not match TCP flags"));
	assert_true(was_noted("the driver matches whole addresses only"));
	reasons_forget();
}

static struct hy_flow_rule
rule6(uint32_t id, enum hy_rule_action action, uint8_t len)
{
	return (struct hy_flow_rule){ .id = id,
		.precedence = id,
		.action = (uint8_t)action,
		.match = { .fields = HY_FLOW_IPV6 | HY_FLOW_SRC,
			.src6 = { 0x20010db8, 0, 0, len == 128 },
			.src_len = len } };
}

/* A NIC may not find what is behind extension headers, where software does. */
static void
a_deny_for_ip6_follows_no_rule_on_a_protocol(void **state)
{
	struct hy_flow_rule permit = rule6(10, HY_RULE_PERMIT, 128);
	struct hy_flow_rule deny = rule6(20, HY_RULE_DENY, 32);

	RTE_SET_USED(state);
	access_open("mlx5", "mlx5_pci");
	permit.match.fields |= HY_FLOW_PROTO;
	permit.match.proto = IPPROTO_TCP;
	access_rule_set(&permit);
	access_rule_set(&deny);
	assert_int_equal(hy_policy_commit(A.policy), 0);
	access_settle();
	assert_string_equal(hy_offload_reason(A.offload, 20),
		"hardware may not recognize a rule before it that it overlaps");
	deny.match.fields |= HY_FLOW_PROTO; /* where it finds the one, it finds the other */
	deny.match.proto = IPPROTO_TCP;
	access_rule_set(&deny);
	assert_int_equal(hy_policy_commit(A.policy), 0);
	access_settle();
	assert_null(hy_offload_reason(A.offload, 20));
	assert_null(hy_offload_reason(A.offload, 10));
	for (int i = 0; i < 2000; i++)
		send_one();
	assert_true(A.dropped > 50);
	assert_int_equal(A.wrong, 0);
	access_assert_counted();
}

static const struct CMUnitTest offload_access_fields_tests[] = {
	ACCESS_TEST(lists_of_all_fields_drop_nothing_that_they_permit),
	ACCESS_TEST(a_deny_for_ip6_follows_no_rule_on_a_protocol),
};

UNIT_SUITE(offload_access_fields_tests)
