/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random policies and packets, on ports of all NICs while their settings change: with an offload, a
 * packet comes to the queue to which it comes without, or is refused as without, and a mark that
 * workers accept gives it the class of software.
 */

#include <netinet/in.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "driver_rig.h"
#include "drivers/nodes/generic/classify/flow_cls_mark.h"

#define LIVES 3    /* of each NIC */
#define STEPS 12   /* changes of a life */
#define FRAMES 200 /* after each */
#define RULES 24

static const struct {
	const char *nic, *profile;
} nics[] = { { "sim_mlx5_0", "mlx5" }, { "sim_hws0", "mlx5_hws" }, { "sim_cn10k0", "cnxk" },
	{ "sim_ice0", "ice" }, { "sim_i40e0", "i40e" }, { "sim_iavf0", "iavf" },
	{ "sim_nic0", "generic" } };

static struct rte_ether_addr own;
static struct hy_flow_sim *bare; /* the same port without rules */
static uint64_t seed;
static struct tally {
	unsigned int sent, refused, marked, software, ruled, spread, rss;
} tally;
static const uint64_t rss_types[] = { RIG_RSS, RTE_ETH_RSS_IP, RTE_ETH_RSS_UDP | RTE_ETH_RSS_IPV4,
	RTE_ETH_RSS_IPV6, RIG_RSS | RTE_ETH_RSS_L4_DST_ONLY };

static uint32_t
one_of(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

static struct hy_flow_match
match_random(void)
{
	static const uint16_t types[] = { 0x0800, 0x0806, 0x86dd, 0x8100, 0x88a8, 0x9100, 0x88f7 };
	static const uint8_t protos[] = { IPPROTO_TCP, IPPROTO_UDP, IPPROTO_SCTP, IPPROTO_ICMP };
	struct hy_flow_match m = { 0 };

	if (one_of(6) == 0) {
		m.fields = HY_FLOW_ETHER_TYPE;
		m.ether_type = types[one_of(RTE_DIM(types))];
	} else if (one_of(2) == 0) {
		m.fields = HY_FLOW_5_TUPLE;
		m.proto = protos[one_of(3)];
	} else {
		m.fields = one_of(16) << 1 & (HY_FLOW_SRC | HY_FLOW_DST | HY_FLOW_PROTO);
		if (one_of(4) == 0)
			m.fields |= HY_FLOW_DSCP;
		if ((m.fields & HY_FLOW_PROTO) != 0)
			m.proto = protos[one_of(4)];
		if ((m.fields & HY_FLOW_PROTO) != 0 && m.proto != IPPROTO_ICMP)
			m.fields |= one_of(2) * HY_FLOW_SPORT | one_of(2) * HY_FLOW_DPORT;
		if (m.fields == 0)
			m.fields = one_of(2) ? HY_FLOW_TUNNEL : HY_FLOW_DST;
	}
	if (one_of(4) == 0) {
		m.fields |= HY_FLOW_VLAN;
		m.vlan = (uint16_t)(7 + one_of(2));
	}
	if ((m.fields & HY_FLOW_SRC) != 0) {
		m.src_len = one_of(3) == 0 ? 24 : 32;
		m.src = 0x0a000000 + (m.src_len == 32 ? one_of(3) : 0);
	}
	if ((m.fields & HY_FLOW_DST) != 0) {
		m.dst_len = one_of(3) == 0 ? 24 : 32;
		m.dst = 0xc6120000 + (m.dst_len == 32 ? one_of(3) : 0);
	}
	if ((m.fields & HY_FLOW_SPORT) != 0)
		m.sport[0] = m.sport[1] = (uint16_t)(80 + one_of(2));
	if ((m.fields & HY_FLOW_DPORT) != 0)
		m.dport[0] = m.dport[1] = one_of(4) == 0 ? 4789 : 443;
	if ((m.fields & HY_FLOW_DSCP) != 0)
		m.dscp = 46;
	if ((m.fields & HY_FLOW_TUNNEL) != 0)
		m.tunnel = one_of(2);
	return m;
}

static void
rules_change(uint32_t n)
{
	char error[HY_POLICY_ERROR_SIZE];

	for (uint32_t i = 0; i < n; i++) {
		const uint32_t id = one_of(RULES);
		const struct hy_flow_rule rule = { .id = id,
			.precedence = one_of(20),
			.class_id = (uint16_t)(1 + id),
			.match = match_random() };

		if (hy_flow_rule_check(&rule, error) != 0)
			fail_msg("%s", error);
		hy_policy_remove(D->policy, id);
		assert_int_equal(hy_policy_add(D->policy, &rule), 0);
	}
	assert_int_equal(hy_policy_commit(D->policy), 0);
}

static void
put16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static uint32_t
frame_random(uint8_t *frame)
{
	static const uint16_t tpids[] = { 0x8100, 0x8100, 0x88a8, 0x9100 };
	static const uint16_t types[] = { 0x0806, 0x86dd, 0x88f7 };
	static const uint8_t protos[] = { IPPROTO_TCP, IPPROTO_UDP, IPPROTO_UDP, IPPROTO_SCTP,
		IPPROTO_ICMP, IPPROTO_GRE };
	static const uint8_t others[][6] = { { 2, 0, 0, 0, 0xf0, 0x0d },
		{ 0xff, 0xff, 0xff, 0xff, 0xff, 0xff }, { 1, 0, 0x5e, 0, 0, 5 } };
	uint32_t at = 12, len;

	memset(frame, 0, 128);
	if (one_of(3) != 0)
		memcpy(frame, &own, 6);
	else
		memcpy(frame, others[one_of(3)], 6);
	frame[6] = 2;
	for (uint32_t tags = one_of(2) ? 0 : one_of(4); tags > 0; tags--, at += 4) {
		put16(frame + at, tpids[one_of(4)]);
		put16(frame + at + 2, 7 + one_of(2) + (one_of(4) == 0 ? 0x2000 : 0));
	}
	put16(frame + at, one_of(8) == 0 ? types[one_of(3)] : 0x0800);
	at += 2;
	frame[at] = one_of(8) == 0 ? 0x47 : 0x45;
	frame[at + 1] = one_of(3) == 0 ? 46 << 2 : 0;
	put16(frame + at + 2, 60);
	if (one_of(12) == 0)
		put16(frame + at + 6, one_of(2) ? 0x2000 : 100);
	frame[at + 8] = 64;
	frame[at + 9] = protos[one_of(RTE_DIM(protos))];
	put16(frame + at + 12, 0x0a00);
	put16(frame + at + 14, one_of(4));
	put16(frame + at + 16, 0xc612);
	put16(frame + at + 18, one_of(4));
	at += (uint32_t)(frame[at] & 15) * 4;
	put16(frame + at, 80 + one_of(3));
	put16(frame + at + 2, one_of(4) == 0 ? 4789 : 443);
	frame[at + 8] = 8;
	frame[at + 14] = (uint8_t)one_of(3);
	len = at + 40;
	if (one_of(6) == 0)
		len = 14 + one_of(len - 14);
	if (one_of(6) == 0)
		frame[12 + one_of(50)] ^= (uint8_t)(1u << one_of(8));
	return len;
}

/* The class that a worker gives a packet by its mark; -1: it asks software. */
static int
class_by_mark(const struct rte_mbuf *m)
{
	const struct hy_mark_table *table = D->offload != NULL && D->offload->marks != NULL
		? &D->offload->marks->table
		: NULL;
	struct hy_mark_worker worker = { .gap = 1000 };
	const struct hy_mark_slot *slot;
	struct mark_tally t = { 0 };
	const int64_t mark = sim_mark_of(m);

	if (mark <= 0 || table == NULL)
		return -1;
	slot = &table->slots[mark & table->slot_mask];
	if (slot->mark != mark)
		return -1;
	if (((slot->checks & HY_MARK_RULE) != 0 && !flow_cls_matches(table, slot, m)) ||
		((slot->checks & HY_MARK_FRAGMENTS) != 0 && !flow_cls_is_whole(m)))
		return -1;
	return (int)flow_cls_checked(table, slot, &worker, m, &t).class_id;
}

static int
class_by_software(const struct rte_mbuf *m)
{
	const struct hy_policy_view *view = hy_policy_view_hold(D->policy);
	struct hy_flow_key key;
	uint32_t rank;
	int class;

	hy_flow_key(rte_pktmbuf_mtod(m, const uint8_t *), m->pkt_len, &key);
	hy_policy_classify_compiled(view, &key, &rank, 1);
	class = rank == HY_POLICY_NONE ? 0 : view->rules[rank].rule.class_id;
	hy_policy_view_release(D->policy, view);
	return class;
}

static void
packet_try(const char *nic, unsigned int life, unsigned int step)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(sim_pool);
	const uint32_t len = frame_random(rte_pktmbuf_mtod(m, uint8_t *));
	int wanted, got, class;

	m->data_len = (uint16_t)len;
	m->pkt_len = len;
	wanted = hy_flow_sim_queue(bare, m);
	got = hy_flow_sim_queue(simnic_engine(D->port), m);
	if (wanted != got) {
		rte_pktmbuf_dump(stderr, m, len);
		fail_msg("%s, life %u, step %u: queue %d without an offload, %d with one", nic,
			life, step, wanted, got);
	}
	tally.sent++;
	tally.spread += wanted > 0;
	tally.refused += wanted < 0;
	assert_int_equal(rte_ring_enqueue(simnic_rx_wire(D->port, 0), m), 0);
	if (rte_eth_rx_burst(D->port, 0, &m, 1) == 0)
		return;
	class = class_by_mark(m);
	tally.marked += class >= 0;
	tally.ruled += class_by_software(m) > 0;
	if (class >= 0 && class != class_by_software(m)) {
		rte_pktmbuf_dump(stderr, m, m->pkt_len);
		fail_msg("%s, life %u, step %u: class %d by mark 0x%x, %d by software", nic, life,
			step, class, m->hash.fdir.hi, class_by_software(m));
	}
	rte_pktmbuf_free(m);
}

static struct rte_eth_rss_conf rss_at_start;

/* Other types, and mostly another key. */
static void
rss_change(void)
{
	uint8_t key[40] = { 0 };
	struct rte_eth_rss_conf rss = { .rss_hf = rss_types[one_of(RTE_DIM(rss_types))],
		.rss_key = key,
		.rss_key_len = sizeof(key) };

	for (size_t i = 0; i < sizeof(key); i++)
		key[i] = (uint8_t)one_of(256);
	assert_int_equal(rte_eth_dev_rss_hash_update(D->port, &rss), 0);
	hy_flow_sim_configure(bare, D->nb_queues, &rss);
	tally.rss++;
}

static void
step(unsigned int what)
{
	static const int vlans[] = { 0, 0, RTE_ETH_VLAN_STRIP_OFFLOAD, RTE_ETH_VLAN_EXTEND_OFFLOAD,
		RTE_ETH_VLAN_FILTER_OFFLOAD };

	switch (what) {
	case 0:
		rte_eth_promiscuous_enable(D->port);
		hy_flow_sim_accept(bare, NULL);
		break;
	case 1:
		rte_eth_promiscuous_disable(D->port);
		hy_flow_sim_accept(bare, &own);
		break;
	case 2:
		own.addr_bytes[5]++;
		assert_int_equal(rte_eth_dev_default_mac_addr_set(D->port, &own), 0);
		if (rte_eth_promiscuous_get(D->port) != 1)
			hy_flow_sim_accept(bare, &own);
		break;
	case 3:
		assert_int_equal(rte_eth_dev_set_vlan_offload(D->port,
					 vlans[one_of(RTE_DIM(vlans))]),
			0);
		break;
	case 4:
		if (D->offload == NULL)
			break;
		hy_offload_down(D->offload, true);
		rte_eth_dev_stop(D->port);
		driver_start();
		hy_flow_sim_configure(bare, D->nb_queues, &rss_at_start);
		hy_offload_up(D->offload);
		break;
	case 5:
		if (D->offload == NULL)
			driver_offload(NULL);
		else if (one_of(3) == 0)
			driver_demote();
		else if (one_of(2) == 0) {
			hy_offload_destroy(D->offload);
			D->offload = NULL;
		}
		break;
	case 6:
		rss_change();
		break;
	default:
		rules_change(1 + one_of(RULES));
	}
	if (D->offload != NULL)
		driver_settle();
}

static void
life_try(size_t n, unsigned int life)
{
	const struct hy_flow_sim_params params = { .profile = nics[n].profile };
	const uint16_t queues = (uint16_t)(1 + one_of(7));

	rss_at_start = (struct rte_eth_rss_conf){ .rss_hf = rss_types[one_of(RTE_DIM(rss_types))] };
	driver_open(nics[n].nic, NULL, queues, rss_at_start.rss_hf);
	assert_int_equal(hy_flow_sim_create(&params, &bare), 0);
	hy_flow_sim_configure(bare, queues, &rss_at_start);
	hy_flow_sim_start(bare);
	assert_int_equal(rte_eth_macaddr_get(D->port, &own), 0);
	rules_change(RULES);
	driver_offload(NULL);
	for (unsigned int s = 0; s < STEPS; s++) {
		step(one_of(9));
		for (unsigned int f = 0; f < FRAMES; f++)
			packet_try(nics[n].nic, life, s);
	}
	hy_offload_destroy(D->offload);
	D->offload = NULL;
	assert_int_equal(driver_sim().rules, 0);
	assert_int_equal(driver_sim().missed, 0);
	hy_flow_sim_destroy(bare);
}

static void
offload_changes_neither_queue_nor_class_of_any_packet(void **state)
{
	for (size_t n = 0; n < RTE_DIM(nics); n++) {
		memset(&tally, 0, sizeof(tally));
		for (unsigned int life = 0; life < LIVES; life++) {
			seed = 1000 * n + life + 1;
			if (n + life > 0) {
				driver_teardown(state);
				driver_setup(state);
			}
			life_try(n, life);
		}
		print_message("%s: %u packets, %u refused, %u for a queue other than 0, %u meet a "
			      "rule, %u classified by marks\n",
			nics[n].nic, tally.sent, tally.refused, tally.spread, tally.ruled,
			tally.marked);
		assert_true(tally.refused > 0 && tally.spread > 0 && tally.marked > 0 &&
			tally.rss > 0);
	}
}

static const struct CMUnitTest driver_random[] = {
	DRIVER_TEST(offload_changes_neither_queue_nor_class_of_any_packet),
};

UNIT_SUITE(driver_random)
