/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules, frames, and the rig; see flow_fixture.h. */

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_ethdev.h>
#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>

#include <hy_ethdev.h>
#include <hy_flow_cls.h>
#include <hy_hal_live.h>
#include <hy_mbuf.h>

#include "flow_fixture.h"
#include "hal/flow/offload.h"

#define TRAFFIC_MAX 512

struct flow_rig rig_of_flow;

const struct flow_profile flow_profiles[FLOW_PROFILES] = {
	{ "generic", "net_other" },
	{ "cnxk_wide", "net_cn10k" }, /* every field: keys are no subject here */
	{ "mlx5", "mlx5_pci" },
	{ "ice", "net_ice" },
	{ "i40e", "net_i40e" },
	{ "iavf", "net_iavf" },
};

static struct rte_rcu_qsbr *qsbr;
static struct rte_ether_addr port_address; /* of the port, and so the destination of all frames */

/* What came out of the classifier, in order. */
static uint16_t classes[TRAFFIC_MAX];
static unsigned int nb_classes;
/* What the source "flow_in" has left. */
static struct rte_mbuf **held;
static unsigned int nb_held;
static unsigned int heap_before;
static hy_node_id own[2];
static unsigned int nb_own;

static uint32_t
pick(const uint32_t *of, uint32_t n, uint64_t *seed)
{
	return of[rnd(seed) % n];
}
#define PICK(array, seed) pick(array, RTE_DIM(array), seed)

static const uint32_t sources[] = { 0x0a000001, 0x0a000002, 0x0a010001, 0xc0000201 };
static const uint32_t dests[] = { 0xc6120001, 0xc6120101, 0xc6130001, 0xc6120002, 0x08080808 };
static const uint32_t ports_of[] = { 53, 80, 443, 4789, 1024 };
static const uint32_t protos[] = { IPPROTO_TCP, IPPROTO_UDP, IPPROTO_UDP, IPPROTO_SCTP };
static const uint32_t vlans[] = { 7, 8, 4094 };
static const uint32_t lengths[] = { 8, 15, 16, 24, 32 };

static uint32_t
prefix_of(uint32_t address, uint32_t len)
{
	return address & (UINT32_MAX << (32 - len));
}

static void
exact(struct hy_flow_match *m, uint64_t *seed)
{
	m->fields = HY_FLOW_SRC | HY_FLOW_DST | HY_FLOW_PROTO | HY_FLOW_PORTS;
	m->src = PICK(sources, seed);
	m->dst = PICK(dests, seed);
	m->src_len = m->dst_len = 32;
	m->proto = (uint8_t)PICK(protos, seed);
	m->sport[0] = m->sport[1] = (uint16_t)PICK(ports_of, seed);
	m->dport[0] = m->dport[1] = (uint16_t)PICK(ports_of, seed);
}

/* Fields by chance. */
static void
loose(struct hy_flow_match *m, uint64_t *seed)
{
	do { /* a rule for all would hide those behind it */
		m->fields = rnd(seed) & rnd(seed) & 0x1ff;
	} while (m->fields == 0);
	if ((m->fields & HY_FLOW_VLAN) != 0)
		m->vlan = (uint16_t)PICK(vlans, seed);
	if ((m->fields & HY_FLOW_SRC) != 0) {
		m->src_len = (uint8_t)PICK(lengths, seed);
		m->src = prefix_of(PICK(sources, seed), m->src_len);
	}
	if ((m->fields & HY_FLOW_DST) != 0) {
		m->dst_len = (uint8_t)PICK(lengths, seed);
		m->dst = prefix_of(PICK(dests, seed), m->dst_len);
	}
	if ((m->fields & HY_FLOW_PROTO) != 0)
		m->proto = (uint8_t)PICK(protos, seed);
	if ((m->fields & HY_FLOW_SPORT) != 0)
		m->sport[0] = m->sport[1] = (uint16_t)PICK(ports_of, seed);
	if ((m->fields & HY_FLOW_DPORT) != 0) {
		m->dport[0] = (uint16_t)PICK(ports_of, seed);
		m->dport[1] = (uint16_t)RTE_MAX(m->dport[0], PICK(ports_of, seed));
	}
	if ((m->fields & HY_FLOW_DSCP) != 0)
		m->dscp = rnd(seed) % 2 == 0 ? 46 : 0;
	if ((m->fields & HY_FLOW_TUNNEL) != 0) {
		m->tunnel = 5000 + rnd(seed) % 2;
		if ((m->fields & HY_FLOW_PROTO) != 0)
			m->proto = IPPROTO_UDP;
		if ((m->fields & HY_FLOW_DPORT) != 0)
			m->dport[0] = m->dport[1] = HY_FLOW_VXLAN_PORT;
	}
	if ((m->fields & HY_FLOW_ETHER_TYPE) != 0)
		m->ether_type = m->fields == HY_FLOW_ETHER_TYPE && rnd(seed) % 2 == 0
			? RTE_ETHER_TYPE_ARP
			: RTE_ETHER_TYPE_IPV4;
}

struct hy_flow_rule
flow_rule(uint32_t id, uint64_t *seed)
{
	struct hy_flow_rule rule = { .id = id,
		.precedence = rnd(seed) % 100,
		.class_id = (uint16_t)(1 + rnd(seed) % 1000) };
	char error[HY_POLICY_ERROR_SIZE];

	if (rnd(seed) % 2 == 0)
		exact(&rule.match, seed);
	else
		loose(&rule.match, seed);
	if (hy_flow_rule_check(&rule, error) < 0)
		fail_msg("a rule that should be good is refused: %s", error);
	return rule;
}

static uint32_t
l4_write(uint8_t *at, uint8_t proto, uint64_t *seed)
{
	const rte_be16_t dport = rte_cpu_to_be_16((uint16_t)PICK(ports_of, seed));
	const rte_be16_t sport = rte_cpu_to_be_16((uint16_t)PICK(ports_of, seed));
	const rte_be32_t vx[] = { RTE_BE32(0x08000000),
		rte_cpu_to_be_32((5000 + rnd(seed) % 3) << 8) };

	memcpy(at, &sport, 2);
	memcpy(at + 2, &dport, 2);
	if (proto == IPPROTO_UDP)
		memcpy(at + 8, vx, sizeof(vx));
	return 40;
}

static void
checksum_write(uint8_t *header, uint32_t len)
{
	const uint16_t checksum = (uint16_t)~rte_raw_cksum(header, len);

	memcpy(header + offsetof(struct rte_ipv4_hdr, hdr_checksum), &checksum, sizeof(checksum));
}

static uint32_t
ip4_write(uint8_t *at, uint64_t *seed)
{
	struct rte_ipv4_hdr ip = { .time_to_live = 64 };
	const uint32_t ihl = rnd(seed) % 8 == 0 ? 7 : 5;
	uint32_t len = 4 * ihl;

	ip.version_ihl = (uint8_t)(0x40 | ihl);
	ip.type_of_service = rnd(seed) % 3 == 0 ? 46 << 2 | 1 : 0;
	ip.next_proto_id = rnd(seed) % 8 == 0 ? IPPROTO_ICMP : (uint8_t)PICK(protos, seed);
	ip.src_addr = rte_cpu_to_be_32(PICK(sources, seed));
	ip.dst_addr = rte_cpu_to_be_32(PICK(dests, seed));
	if (rnd(seed) % 16 == 0)
		ip.fragment_offset = rnd(seed) % 2 == 0 ? RTE_BE16(RTE_IPV4_HDR_MF_FLAG)
							: RTE_BE16(100);
	len += l4_write(at + len, ip.next_proto_id, seed);
	ip.total_length = rte_cpu_to_be_16((uint16_t)len);
	memcpy(at, &ip, sizeof(ip));
	checksum_write(at, 4 * ihl);
	return len;
}

uint32_t
flow_frame(uint8_t *frame, uint64_t *seed)
{
	const bool arp = rnd(seed) % 16 == 0;
	const rte_be16_t type = arp ? RTE_BE16(RTE_ETHER_TYPE_ARP) : RTE_BE16(RTE_ETHER_TYPE_IPV4);
	const rte_be16_t tpid = RTE_BE16(RTE_ETHER_TYPE_VLAN);
	uint32_t tags = rnd(seed) % 3 == 0 ? 1 + rnd(seed) % 2 : 0;
	uint32_t at = 12;

	memset(frame, 0, 160);
	memcpy(frame, &port_address, sizeof(port_address));
	frame[11] = 2;
	for (; tags > 0; tags--) {
		const rte_be16_t tci = rte_cpu_to_be_16((uint16_t)(PICK(vlans, seed) |
			(rnd(seed) % 2 == 0 ? 0x2000 : 0)));

		memcpy(frame + at, &tpid, 2);
		memcpy(frame + at + 2, &tci, 2);
		at += 4;
	}
	memcpy(frame + at, &type, 2);
	at += 2;
	return at + (arp ? 46 : ip4_write(frame + at, seed));
}

static uint16_t
in_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const uint16_t made = (uint16_t)RTE_MIN(n, nb_held);

	if (made > 0)
		memcpy(objs, held, made * sizeof(*objs));
	held += made;
	nb_held -= made;
	hy_stream_move(graph, node, 0, made);
	return made;
}

static uint16_t
out_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const uint32_t *lane = hy_lane(graph, node, 0);

	for (uint16_t i = 0; i < n && nb_classes < TRAFFIC_MAX; i++)
		classes[nb_classes++] = (uint16_t)lane[i];
	hy_release(graph, objs, n);
	return n;
}

/* A node "NODE-rig": a variant by hand, or the one that the HAL selects. */
static hy_node_id
node_make(const char *node, const char *variant, const char *next)
{
	hy_node_id id;

	if (R->hal == NULL)
		return rig_clone(node, variant, next);
	assert_int_equal(hy_hal_node_clone(R->hal, node, R->port->id, "rig", &id), 0);
	assert_int_equal(hy_node_edge_set(id, 0, next), 0);
	return id;
}

static void
graph_open(void)
{
	const struct hy_node_desc in = {
		.name = "flow_in",
		.flags = HY_NODE_SOURCE,
		.impl.process = in_process,
		.edges = { "flow_cls-rig" },
	};
	const struct hy_node_desc out_desc = {
		.name = "flow_out",
		.impl.process = out_process,
		.lanes = { HY_FLOW_CLASS_LANE },
	};
	static const char *const patterns[] = { "ethdev_rx-rig", "flow_in" };
	const struct hy_graph_params params = { .patterns = patterns,
		.nb_patterns = 2,
		.ops = &hy_mbuf_ops,
		.drop_node = "pkt_drop",
		.lanes = { HY_FLOW_CLASS_LANE },
		.burst = 64,
		.qsbr = qsbr,
		.socket = SOCKET_ID_ANY };
	const struct hy_ethdev_rx_config rx = { .port = R->port->id };
	const struct hy_flow_cls_config cls = { .policy = R->policy };

	assert_int_equal(hy_node_register(&out_desc, &own[nb_own++]), 0);
	assert_int_equal(hy_node_config(node_make("flow_cls", "mark", "flow_out"), &cls,
				 sizeof(cls)),
		0);
	assert_int_equal(hy_node_config(node_make("ethdev_rx", "poll", "flow_cls-rig"), &rx,
				 sizeof(rx)),
		0);
	assert_int_equal(hy_node_register(&in, &own[nb_own++]), 0);
	if (hy_graph_create("flow", &params, &R->graph) != 0)
		fail_msg("the graph is refused: %s", unit_log());
}

static void
rig_open(const struct flow_profile *profile, struct hy_flow_sim_params sim,
	struct hy_offload_params params, void (*with_hal)(void))
{
	const struct hy_policy_params p = {
		.max_rules = 4096, .workers = 1, .socket = SOCKET_ID_ANY, .qsbr = qsbr
	};
	char reason[256];

	sim.profile = profile->name;
	params.provider = params.provider == NULL ? &hy_flow_simulator : params.provider;
	if (params.driver == NULL)
		params.driver = hy_flow_driver_of(profile->driver);
	params.settle_us = params.settle_us == 0 ? 1000 : params.settle_us;
	params.age_us = params.age_us == 0 ? 1 : params.age_us;
	memset(R, 0, sizeof(*R));
	R->seed = 5;
	R->port = port_open(1, 1, 16);
	assert_int_equal(rte_eth_macaddr_get(R->port->id, &port_address), 0);
	assert_int_equal(hy_flow_sim_attach(R->port->id, &sim), 0);
	R->sim = hy_flow_sim_of(R->port->id);
	assert_int_equal(hy_policy_create("flow", &p, &R->policy), 0);
	if (with_hal != NULL)
		with_hal();
	graph_open();
	if (hy_offload_create(R->policy, R->port->id, &params, &R->offload, reason,
		    sizeof(reason)) != 0)
		fail_msg("no offload: %s", reason);
}

void
flow_open(const struct flow_profile *profile, struct hy_flow_sim_params sim,
	struct hy_offload_params params)
{
	rig_open(profile, sim, params, NULL);
}

static void
hal_open(void)
{
	char error[HY_HAL_ERROR_SIZE];

	assert_int_equal(hy_hal_create(&R->hal), 0);
	assert_int_equal(hy_hal_watch(R->hal), 0);
	if (hy_hal_select(R->hal, error) != 0)
		fail_msg("no selection: %s", error);
}

void
flow_open_followed(const struct flow_profile *profile, struct hy_flow_sim_params sim,
	struct hy_offload_params params)
{
	rig_open(profile, sim, params, hal_open);
	assert_int_equal(hy_offload_follow(R->offload, R->hal), 0);
}

void
flow_commit(void)
{
	int rc;

	do { /* a worker may be without a CPU for longer than a commit waits for it */
		rc = hy_policy_commit(R->policy);
	} while (rc == -ETIMEDOUT);
	assert_int_equal(rc, 0);
}

void
flow_rules_add(uint32_t first, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct hy_flow_rule rule = flow_rule(first + i, &R->seed);

		assert_int_equal(hy_policy_add(R->policy, &rule), 0);
	}
	flow_commit();
}

void
flow_exact_rules(uint32_t first, uint32_t n)
{
	for (uint32_t id = first; id < first + n; id++) {
		const struct hy_flow_rule rule = { .id = id,
			.precedence = id,
			.class_id = (uint16_t)(id + 1),
			.match = {
				.fields = HY_FLOW_SRC | HY_FLOW_DST | HY_FLOW_PROTO | HY_FLOW_PORTS,
				.src = sources[0],
				.dst = dests[0],
				.src_len = 32,
				.dst_len = 32,
				.proto = IPPROTO_UDP,
				.sport = { ports_of[id % 5], ports_of[id % 5] },
				.dport = { ports_of[id / 5 % 5] + (uint16_t)(id / 25),
					ports_of[id / 5 % 5] + (uint16_t)(id / 25) } } };

		assert_int_equal(hy_policy_add(R->policy, &rule), 0);
	}
	flow_commit();
}

uint32_t
flow_exact_frame(uint8_t *frame, uint32_t id)
{
	const struct rte_ipv4_hdr ip = { .version_ihl = 0x45,
		.time_to_live = 64,
		.next_proto_id = IPPROTO_UDP,
		.total_length = RTE_BE16(60),
		.src_addr = rte_cpu_to_be_32(sources[0]),
		.dst_addr = rte_cpu_to_be_32(dests[0]) };
	const rte_be16_t ports[] = { rte_cpu_to_be_16((uint16_t)ports_of[id % 5]),
		rte_cpu_to_be_16((uint16_t)(ports_of[id / 5 % 5] + id / 25)) };

	memset(frame, 0, 74);
	memcpy(frame, &port_address, sizeof(port_address));
	frame[12] = 8;
	memcpy(frame + 14, &ip, sizeof(ip));
	checksum_write(frame + 14, sizeof(ip));
	memcpy(frame + 34, ports, sizeof(ports));
	return 74;
}

void
flow_settle(void)
{
	for (int idle = 0; idle < 3;) {
		usleep(1100);
		idle = hy_offload_poll(R->offload) == 0 ? idle + 1 : 0;
	}
}

static uint16_t
oracle(const struct rte_mbuf *m)
{
	const struct hy_policy_view *view = hy_policy_view(R->policy);
	struct hy_flow_key key;
	uint32_t rank;

	hy_flow_key(rte_pktmbuf_mtod(m, const uint8_t *), m->pkt_len, &key);
	rank = hy_policy_classify(view, &key);
	return rank == HY_POLICY_NONE ? HY_FLOW_NO_CLASS : view->rules[rank].rule.class_id;
}

/* Walks until n packets have come out, and holds them against what they should be. */
static void
walk_and_compare(const uint16_t *wanted, unsigned int n)
{
	nb_classes = 0;
	for (unsigned int w = 0; w < n + 2; w++)
		hy_graph_walk(R->graph);
	hy_graph_rest(R->graph);
	assert_int_equal(nb_classes, n);
	for (unsigned int i = 0; i < n; i++) {
		R->hits[wanted[i]]++;
		if (classes[i] != wanted[i] && R->wrong < 3)
			print_error("packet %ju has class %u, not %u\n", (uintmax_t)R->packets + i,
				classes[i], wanted[i]);
		R->wrong += classes[i] != wanted[i];
	}
	R->packets += n;
	R->compared += n;
}

void
flow_traffic(unsigned int n)
{
	static uint8_t frame[FRAME_MAX];
	struct rte_mbuf *packets[64];
	uint16_t wanted[64];

	for (unsigned int done = 0, burst; done < n; done += burst) {
		burst = RTE_MIN(n - done, 1 + rnd(&R->seed) % 64);
		for (unsigned int i = 0; i < burst; i++) {
			const uint32_t len = flow_frame(frame, &R->seed);

			packets[i] = packet(frame, len);
			packets[i]->port = R->port->id; /* net_ring leaves that to others */
			wanted[i] = oracle(packets[i]);
		}
		port_feed(R->port, 0, packets, burst);
		walk_and_compare(wanted, burst);
	}
}

unsigned int
flow_hold(struct rte_mbuf **packets, const uint8_t *frame, uint32_t len, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		packets[i] = packet(frame, len);
		packets[i]->port = R->port->id;
	}
	port_feed(R->port, 0, packets, n);
	return rte_eth_rx_burst(R->port->id, 0, packets, (uint16_t)n);
}

void
flow_send(struct rte_mbuf **packets, unsigned int n)
{
	uint16_t wanted[TRAFFIC_MAX];

	for (unsigned int i = 0; i < n; i++)
		wanted[i] = oracle(packets[i]);
	held = packets;
	nb_held = n;
	walk_and_compare(wanted, n);
}

uint64_t
flow_counter(const char *counter)
{
	uint64_t n = UINT64_MAX;
	struct hy_stats *stats;

	assert_int_equal(hy_stats_read("flow", &stats), 0);
	for (unsigned int i = 0; i < stats->nb_nodes; i++) {
		const struct hy_node_stats *s = &stats->nodes[i];

		for (unsigned int c = 0; c < s->nb_counters && strcmp(s->name, "flow_cls-rig") == 0;
			c++)
			if (strcmp(s->counters[c].name, counter) == 0)
				n = s->counters[c].value;
	}
	hy_stats_free(stats);
	return n;
}

struct hy_offload_stats
flow_stats(void)
{
	struct hy_offload_stats stats;

	hy_offload_stats(R->offload, &stats);
	return stats;
}

void
flow_assert_counted(void)
{
	const struct hy_offload_stats s = flow_stats();
	struct hy_policy_class *got;
	uint64_t classified = 0, in_all = 0;
	uint32_t n;

	assert_int_equal(hy_policy_classes(R->policy, &got, &n), 0);
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t packets = R->hits[got[i].class_id];

		if (packets != got[i].hits)
			fail_msg("class %u: %ju packets, and rules counted %ju", got[i].class_id,
				(uintmax_t)packets, (uintmax_t)got[i].hits);
		classified += packets;
	}
	free(got);
	for (uint32_t c = 1; c < RTE_DIM(R->hits); c++)
		in_all += R->hits[c];
	assert_int_equal(classified, in_all);
	assert_int_equal(flow_counter("hw_hits") + flow_counter("sw_hits"), classified);
	assert_int_equal(flow_counter("sw_misses"), R->hits[HY_FLOW_NO_CLASS]);
	assert_int_equal(flow_counter("hw_hits"), s.marked - s.mismatches);
	assert_int_equal(flow_counter("hw_stale"), s.stale);
	assert_int_equal(flow_counter("residue_checks"), s.residue);
	assert_int_equal(flow_counter("sampled"), s.sampled);
	assert_int_equal(flow_counter("mismatches"), s.mismatches);
}

int
flow_setup(void **state)
{
	if (qsbr == NULL) {
		qsbr = rte_zmalloc("qsbr", rte_rcu_qsbr_get_memsize(1), RTE_CACHE_LINE_SIZE);
		if (qsbr == NULL || rte_rcu_qsbr_init(qsbr, 1) != 0)
			return -1;
	}
	if (node_setup(state) != 0)
		return -1;
	heap_before = unit_heap_live();
	return 0;
}

/* Of malloc(3), AddressSanitizer knows what leaks. */
int
flow_teardown(void **state)
{
	RTE_SET_USED(state);
	hy_graph_destroy(R->graph);
	hy_offload_destroy(R->offload);
	hy_policy_destroy(R->policy);
	hy_hal_destroy(R->hal);
	if (R->port != NULL) {
		hy_flow_sim_detach(R->port->id);
		hy_offload_kept_forget(R->port->id);
	}
	rig_clear();
	while (nb_own > 0)
		hy_node_unregister(own[--nb_own]);
	memset(R, 0, sizeof(*R));
	ports_close();
	if (!rte_mempool_full(pool) || unit_heap_live() != heap_before) {
		print_error("%u packets are missing; blocks of DPDK's heap: %u before, %u after\n",
			rte_mempool_in_use_count(pool), heap_before, unit_heap_live());
		return -1;
	}
	return 0;
}
