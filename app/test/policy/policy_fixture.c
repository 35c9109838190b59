/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules, keys and policies for tests; see policy_fixture.h. */

#include <errno.h>
#include <netinet/in.h>
#include <rte_ether.h>
#include <rte_memory.h>

#include "policy_fixture.h"

struct hy_policy *policy;

static unsigned int heap_before;
static int64_t live_before;

uint32_t
rnd(uint64_t *seed)
{
	/* splitmix64 */
	uint64_t z = (*seed += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)((z ^ (z >> 31)) >> 32);
}

/* One of a few addresses, with all lengths of common prefix between them. */
static uint32_t
address(uint64_t *seed)
{
	return RTE_BIT32(rnd(seed) % 32) ^ (rnd(seed) % 4 == 0 ? rnd(seed) : 0x0a000000);
}

static void
prefix_random(uint32_t *prefix, uint8_t *len, uint64_t *seed)
{
	*len = (uint8_t)(1 + rnd(seed) % 32);
	*prefix = address(seed) & (uint32_t)(UINT64_C(0xffffffff00000000) >> *len);
}

static void
range_random(uint16_t range[2], uint64_t *seed)
{
	const uint16_t a = (uint16_t)rnd(seed), b = (uint16_t)rnd(seed);

	switch (rnd(seed) % 4) {
	case 0: /* one port */
		range[0] = range[1] = (uint16_t)(rnd(seed) % 3 == 0 ? a : 80 + a % 4);
		break;
	case 1: /* to an end */
		range[0] = a % 2 == 0 ? 0 : b;
		range[1] = a % 2 == 0 ? b : UINT16_MAX;
		break;
	default:
		range[0] = RTE_MIN(a, b);
		range[1] = RTE_MAX(a, b);
	}
}

static uint8_t
proto_random(uint64_t *seed)
{
	static const uint8_t protos[] = { IPPROTO_TCP, IPPROTO_UDP, IPPROTO_SCTP };

	return protos[rnd(seed) % RTE_DIM(protos)];
}

struct hy_flow_rule
rule_random(uint32_t id, uint64_t *seed)
{
	struct hy_flow_rule rule = { .id = id,
		.precedence = rnd(seed) % 1000,
		.class_id = (uint16_t)(1 + rnd(seed) % UINT16_MAX) };
	struct hy_flow_match *m = &rule.match;

	/* Each field by chance, but at least one: a rule for all would hide those behind it. */
	while (m->fields == 0)
		m->fields = rnd(seed) & rnd(seed) & 0x1ff;
	if ((m->fields & ~(HY_FLOW_ETHER_TYPE | HY_FLOW_VLAN)) == 0 && rnd(seed) % 2 == 0)
		m->ether_type = RTE_ETHER_TYPE_ARP;
	else
		m->ether_type = RTE_ETHER_TYPE_IPV4;
	m->ether_type = (m->fields & HY_FLOW_ETHER_TYPE) != 0 ? m->ether_type : 0;
	if ((m->fields & HY_FLOW_VLAN) != 0)
		m->vlan = (uint16_t)(1 + rnd(seed) % 4 * 1364);
	if ((m->fields & HY_FLOW_SRC) != 0)
		prefix_random(&m->src, &m->src_len, seed);
	if ((m->fields & HY_FLOW_DST) != 0)
		prefix_random(&m->dst, &m->dst_len, seed);
	if ((m->fields & HY_FLOW_SPORT) != 0)
		range_random(m->sport, seed);
	if ((m->fields & HY_FLOW_DPORT) != 0)
		range_random(m->dport, seed);
	if ((m->fields & HY_FLOW_PROTO) != 0)
		m->proto = proto_random(seed);
	if ((m->fields & HY_FLOW_DSCP) != 0)
		m->dscp = (uint8_t)(rnd(seed) % 64);
	if ((m->fields & HY_FLOW_TUNNEL) != 0) {
		m->tunnel = rnd(seed) % 3 == 0 ? 0xffffff : rnd(seed) % 4;
		if ((m->fields & HY_FLOW_PROTO) != 0)
			m->proto = IPPROTO_UDP;
		if ((m->fields & HY_FLOW_DPORT) != 0)
			m->dport[0] = m->dport[1] = HY_FLOW_VXLAN_PORT;
	}
	if (hy_flow_rule_check(&rule, NULL) < 0)
		fail_msg("a rule that should be good is refused");
	return rule;
}

static uint16_t
port_in(bool named, const uint16_t range[2], uint64_t *seed)
{
	if (!named)
		return (uint16_t)rnd(seed);
	switch (rnd(seed) % 3) { /* the ends are where mistakes are */
	case 0:
		return range[0];
	case 1:
		return range[1];
	default:
		return (uint16_t)(range[0] + rnd(seed) % (range[1] - range[0] + 1u));
	}
}

static uint32_t
address_in(uint32_t prefix, uint8_t len, uint64_t *seed)
{
	return len == 0 ? address(seed) : len == 32 ? prefix : prefix | rnd(seed) >> len;
}

/* Takes away what a packet cannot have: there is nothing in ARP, and no tunnel in TCP. */
static void
make_possible(struct hy_flow_key *key)
{
	if (key->ether_type != RTE_ETHER_TYPE_IPV4)
		key->has &= HY_FLOW_ETHER_TYPE | HY_FLOW_VLAN;
	if (key->proto != IPPROTO_TCP && key->proto != IPPROTO_UDP && key->proto != IPPROTO_SCTP)
		key->has &= ~(uint32_t)(HY_FLOW_PORTS | HY_FLOW_TUNNEL);
	if (key->proto != IPPROTO_UDP || key->dport != HY_FLOW_VXLAN_PORT)
		key->has &= ~(uint32_t)HY_FLOW_TUNNEL;
	if ((key->has & HY_FLOW_IP4) == 0)
		key->src = key->dst = key->proto = key->dscp = 0;
	if ((key->has & HY_FLOW_PORTS) == 0)
		key->sport = key->dport = 0;
	if ((key->has & HY_FLOW_TUNNEL) == 0)
		key->tunnel = 0;
	if ((key->has & HY_FLOW_VLAN) == 0)
		key->vlan = 0;
}

struct hy_flow_key
key_near(const struct hy_flow_rule *rule, uint64_t *seed)
{
	const struct hy_flow_match *m = &rule->match;
	const uint32_t f = m->fields;
	struct hy_flow_key key = {
		.has = (HY_FLOW_IPV4 | HY_FLOW_ALL) &
			~(uint32_t)((f & HY_FLOW_VLAN) == 0 && rnd(seed) % 2 ? HY_FLOW_VLAN : 0),
		.ether_type = f & HY_FLOW_ETHER_TYPE ? m->ether_type : RTE_ETHER_TYPE_IPV4,
		.vlan = f & HY_FLOW_VLAN ? m->vlan : (uint16_t)(rnd(seed) % 4096),
		.src = address_in(m->src, m->src_len, seed),
		.dst = address_in(m->dst, m->dst_len, seed),
		.proto = f & HY_FLOW_PROTO ? m->proto : proto_random(seed),
		.dscp = f & HY_FLOW_DSCP ? m->dscp : (uint8_t)(rnd(seed) % 64),
		.sport = port_in(f & HY_FLOW_SPORT, m->sport, seed),
		.dport = port_in(f & HY_FLOW_DPORT, m->dport, seed),
		.tunnel = f & HY_FLOW_TUNNEL ? m->tunnel : rnd(seed) % 4,
	};

	if ((f & HY_FLOW_TUNNEL) != 0) {
		key.proto = IPPROTO_UDP;
		key.dport = HY_FLOW_VXLAN_PORT;
	}
	switch (rnd(seed) % 16) { /* mostly a hit; else next to it */
	case 0:
		key.sport += (uint16_t)(rnd(seed) % 2 == 0 ? 1 : -1);
		break;
	case 1:
		key.dport += (uint16_t)(rnd(seed) % 2 == 0 ? 1 : -1);
		break;
	case 2:
		key.src ^= RTE_BIT32(rnd(seed) % 32);
		break;
	case 3:
		key.dst ^= RTE_BIT32(rnd(seed) % 32);
		break;
	case 4:
		key.has &= ~(uint32_t)(HY_FLOW_PORTS | HY_FLOW_TUNNEL);
		break;
	case 5:
		key.has &= ~(uint32_t)HY_FLOW_VLAN;
		break;
	case 6:
		key.proto = rnd(seed) % 2 == 0 ? IPPROTO_ICMP : IPPROTO_TCP;
		break;
	case 7:
		key.dscp ^= 1;
		break;
	case 8:
		key.ether_type = RTE_ETHER_TYPE_IPV6;
		break;
	default:
		break;
	}
	make_possible(&key);
	return key;
}

void
policy_new(uint32_t max_rules, unsigned int workers, struct rte_rcu_qsbr *qsbr)
{
	const struct hy_policy_params params = {
		.max_rules = max_rules, .workers = workers, .socket = SOCKET_ID_ANY, .qsbr = qsbr
	};

	assert_int_equal(hy_policy_create("test", &params, &policy), 0);
}

void
policy_new_access(uint32_t max_rules, unsigned int workers)
{
	const struct hy_policy_params params = {
		.max_rules = max_rules, .workers = workers, .socket = SOCKET_ID_ANY, .access = true
	};

	assert_int_equal(hy_policy_create("test", &params, &policy), 0);
}

void
add_dport(uint32_t id, uint32_t precedence, uint16_t class_id, uint16_t dport)
{
	const struct hy_flow_rule rule = { .id = id,
		.precedence = precedence,
		.class_id = class_id,
		.match = { .fields = HY_FLOW_DPORT, .dport = { dport, dport } } };

	assert_int_equal(hy_policy_add(policy, &rule), 0);
}

void
commit(void)
{
	int rc;

	do { /* a worker may be without a CPU for longer than a commit waits for it */
		rc = hy_policy_commit(policy);
	} while (rc == -ETIMEDOUT);
	if (rc < 0)
		fail_msg("a commit failed: %d: %s", rc, unit_log());
}

struct hy_policy_engine_info
info_now(void)
{
	struct hy_policy_engine_info info;

	assert_int_equal(hy_policy_engine(policy, &info), 0);
	return info;
}

uint16_t
class_of(uint16_t dport)
{
	const struct hy_flow_key key = { .has = HY_FLOW_ETHER_TYPE | HY_FLOW_IPV4 | HY_FLOW_IP4 |
			HY_FLOW_PORTS,
		.ether_type = RTE_ETHER_TYPE_IPV4,
		.proto = IPPROTO_UDP,
		.dport = dport };
	const struct hy_policy_view *view = hy_policy_view(policy);
	uint32_t rank;

	hy_policy_classify_compiled(view, &key, &rank, 1);
	assert_int_equal(rank, hy_policy_classify(view, &key));
	return rank == HY_POLICY_NONE ? HY_FLOW_NO_CLASS : view->rules[rank].rule.class_id;
}

int
policy_setup(void **state)
{
	RTE_SET_USED(state);
	unit_alloc_fail(0);
	unit_log_clear();
	heap_before = unit_heap_live();
	live_before = unit_alloc_live();
	return 0;
}

/* What a test leaked is a failure. */
int
policy_teardown(void **state)
{
	RTE_SET_USED(state);
	unit_alloc_fail(0);
	hy_policy_destroy(policy);
	hy_policy_wait_destroyed();
	policy = NULL;
	if (unit_heap_live() != heap_before || unit_alloc_live() != live_before) {
		print_error("leaked %d blocks of DPDK's, %d of malloc's\n",
			(int)(unit_heap_live() - heap_before),
			(int)(unit_alloc_live() - live_before));
		return -1;
	}
	return 0;
}
