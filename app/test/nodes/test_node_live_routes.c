/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routes and next hops change while a worker forwards: each packet goes where the old or the new
 * table leads it, and none is lost. Ids and addresses tell whose they are.
 */

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include <rte_cpuflags.h>
#include <rte_cycles.h>
#include <rte_vect.h>

#include "drivers/nodes/generic/ip4/ip4_fib.h"
#include "node_fixture.h"

#define NETS 8     /* /24s, of which the even ones have a route of their own */
#define TBL8S 2    /* fewer than nets with long prefixes would want: each is used again at once */
#define PACKETS 64 /* in flight */
#define CHANGES 200000
#define LOT 64
#define SECONDS_MOST 3 /* for more changes than must be */
#define CHANGES_LEAST 1001
#define CHANGES_MOST 2000000 /* until the workers have seen enough */
#define TOLD 0x06            /* first byte of addresses of next hops */
#define MOVING 250           /* the net whose next hop is new each time */

/* The hosts of a net that packets are sent to, and its longer prefixes. */
enum { HOST_SHORT = 1, HOST_26 = 70, HOST_32 = 100, PREFIX_26 = 64 };

static union {
	struct rte_rcu_qsbr v;
	alignas(RTE_CACHE_LINE_SIZE) uint8_t room[1024];
} qsbr;

static struct {
	struct hy_ip4_fib *fib;
	struct hy_graph *graph;
	atomic_bool stop;
	/* Numbers of the moving net's next hops: one that is being added, one that is there. */
	atomic_uint begun, done;
	uint32_t hop[NETS][3]; /* ids: of the /24, of the /26, of the /32 */
	unsigned int changes;
	/* The worker's. */
	uint64_t sent, faults;
	atomic_ullong dropped, by_host[3], moved;
	/* The second worker's. */
	atomic_uint stalls;
	uint64_t stall_faults;
	char fault[256];
} t;

/* An address of a next hop says of which net it is, which of it, and a number. */
static struct hy_ip4_next_hop
hop_of(uint8_t net, uint8_t which, uint32_t number)
{
	return (struct hy_ip4_next_hop){ .port = (uint16_t)(number & 1),
		.mac = { { TOLD, net, which, (uint8_t)(number >> 16), (uint8_t)(number >> 8),
			(uint8_t)number } } };
}

static uint32_t
net_of(unsigned int net)
{
	return IP4(10, 0, net, 0);
}

/* The worker. */

static void
fault(const uint8_t *frame, uint32_t dst, const char *what)
{
	if (t.faults++ == 0)
		snprintf(t.fault, sizeof(t.fault), "to 0x%08x by %02x:%02x:%02x:%02x:%02x:%02x: %s",
			dst, frame[0], frame[1], frame[2], frame[3], frame[4], frame[5], what);
}

/* A packet that left by a port: its next hop must be one of its net's that may be there now. */
static void
sent_check(const uint8_t *frame, unsigned int port, uint32_t first, uint32_t last)
{
	const uint32_t dst = (uint32_t)frame[30] << 24 | (uint32_t)frame[31] << 16 |
		(uint32_t)frame[32] << 8 | frame[33];
	const uint32_t number = (uint32_t)frame[3] << 16 | (uint32_t)frame[4] << 8 | frame[5];
	const uint8_t net = frame[32], host = frame[33];

	t.sent++;
	if (frame[0] != TOLD || frame[1] != net)
		fault(frame, dst, "another net's next hop");
	else if ((number & 1) != port)
		fault(frame, dst, "half of one next hop, half of another");
	else if (net == MOVING && (number < first || number > last))
		fault(frame, dst, "a next hop that was not there then");
	else if (net != MOVING && host == HOST_SHORT && frame[2] != 0)
		fault(frame, dst, "a longer prefix's next hop");
	else if (net != MOVING)
		t.by_host[frame[2]]++;
	else
		t.moved++;
}

static void
dropped_check(const uint8_t *frame)
{
	const uint8_t net = frame[32];

	t.dropped++;
	if (net != MOVING && net % 2 == 0)
		fault(frame, net, "dropped, though its net has a route");
}

static void *
forward(void *arg)
{
	static const uint8_t hosts[] = { HOST_SHORT, HOST_26, HOST_32 };
	struct rte_mbuf **packets = arg;
	uint8_t frame[PACKETS][FRAME_MAX];
	uint32_t lane[PACKETS], len = 0;

	for (unsigned int i = 0; i < PACKETS; i++) {
		const unsigned int net = i % (NETS + 1) == NETS ? MOVING : i % (NETS + 1);

		lane[i] = net_of(net) + hosts[i / (NETS + 1) % 3];
		len = FRAME(frame[i], .dst = lane[i], .payload = 8);
	}
	while (!atomic_load(&t.stop)) {
		const uint32_t first = atomic_load(&t.done);
		uint32_t last;

		for (unsigned int i = 0; i < PACKETS; i++)
			memcpy(rte_pktmbuf_mtod(packets[i], void *), frame[i], len);
		rig_send(t.graph, packets, lane, PACKETS);
		last = atomic_load(&t.begun);
		if (out[0].n + out[1].n + out[RIG_DROP].n != PACKETS)
			fault(frame[0], 0, "packets are lost");
		for (unsigned int o = 0; o < RIG_OUTS; o++) {
			for (unsigned int i = 0; i < out[o].n; i++) {
				const uint8_t *got = rte_pktmbuf_mtod(out[o].packets[i], uint8_t *);

				if (o == RIG_DROP)
					dropped_check(got);
				else
					sent_check(got, o, first, last);
			}
			out[o].n = 0;
		}
	}
	hy_graph_rest(t.graph);
	return NULL;
}

/* A second worker, which stops in the middle of each lookup, where the other one hardly ever does. */

/* rte_lpm: between the levels. The tbl8 must not be another net's by then. */
static void
stall_in_lpm(uint32_t dst)
{
	const uint32_t *tbl24 = (const uint32_t *)t.fib->view.lpm->tbl24;
	const uint32_t *tbl8 = (const uint32_t *)t.fib->view.lpm->tbl8;
	uint32_t entry = __atomic_load_n(&tbl24[dst >> 8], __ATOMIC_ACQUIRE), id;
	const unsigned int net = dst >> 8 & 0xff;

	if ((entry & RTE_LPM_VALID_EXT_ENTRY_BITMASK) == RTE_LPM_VALID_EXT_ENTRY_BITMASK) {
		atomic_fetch_add(&t.stalls, 1);
		rte_delay_us_sleep(1000);
		entry = __atomic_load_n(&tbl8[(entry & 0xffffff) * 256 + (dst & 0xff)],
			__ATOMIC_RELAXED);
	}
	id = entry & 0xffffff;
	if ((entry & RTE_LPM_LOOKUP_SUCCESS) == 0)
		t.stall_faults += net % 2 == 0;
	else
		t.stall_faults += id != t.hop[net][0] && id != t.hop[net][1] && id != t.hop[net][2];
}

/* rte_fib: between two lookups. The copy that is at hand must not change. */
static void
stall_in_fib(uint32_t dst)
{
	struct rte_fib *shown = __atomic_load_n(&t.fib->view.copy, __ATOMIC_ACQUIRE)->rte_fib;
	uint64_t first, second;

	rte_fib_lookup_bulk(shown, &dst, &first, 1);
	atomic_fetch_add(&t.stalls, 1);
	rte_delay_us_sleep(1);
	rte_fib_lookup_bulk(shown, &dst, &second, 1);
	t.stall_faults += first != second;
}

static void *
stall(void *arg)
{
	RTE_SET_USED(arg);
	rte_rcu_qsbr_thread_online(&qsbr.v, 1);
	for (unsigned int i = 0; !atomic_load(&t.stop); i++) {
		if (t.fib->view.lpm != NULL)
			stall_in_lpm(net_of(i % NETS) + HOST_32);
		else
			stall_in_fib(net_of(i % NETS) + HOST_32);
		rte_rcu_qsbr_quiescent(&qsbr.v, 1);
	}
	rte_rcu_qsbr_thread_offline(&qsbr.v, 1);
	return NULL;
}

/* The control plane. Who waits for a worker without a CPU is told after a second, and asks again. */

static int
routes_change(const struct hy_ip4_change changes[], uint32_t n, uint32_t *where)
{
	int rc;

	do {
		rc = hy_ip4_routes_change(t.fib, changes, n, where);
	} while (rc == -ETIMEDOUT);
	return rc;
}

static int
next_hop_add(const struct hy_ip4_next_hop *hop, uint32_t *id)
{
	int rc;

	do {
		rc = hy_ip4_next_hop_add(t.fib, hop, id);
	} while (rc == -ETIMEDOUT);
	return rc;
}

static int
next_hop_set(uint32_t id, const struct hy_ip4_next_hop *hop)
{
	int rc;

	do {
		rc = hy_ip4_next_hop_set(t.fib, id, hop);
	} while (rc == -ETIMEDOUT);
	return rc;
}

static void
change(enum hy_ip4_verb verb, uint32_t prefix, uint8_t depth, uint32_t id)
{
	const struct hy_ip4_change one = { .verb = verb,
		.route = { .prefix = prefix, .depth = depth, .next_hop = id } };

	assert_int_equal(routes_change(&one, 1, NULL), 0);
	t.changes++;
}

/* Until the second worker has begun another lookup in which it stalls. */
static void
stall_await(void)
{
	const unsigned int before = atomic_load(&t.stalls);

	for (unsigned int i = 0; i < 10000 && atomic_load(&t.stalls) == before; i++)
		rte_delay_us_sleep(20);
}

/* Long prefixes come and go: the tbl8 that a net gives back is the next one's. */
static void
net_change(unsigned int net, bool seldom)
{
	const uint32_t at = net_of(net);
	const struct hy_ip4_change all[] = {
		{ HY_IP4_DELETE, { at + HOST_32, 32, 0 } },
		{ HY_IP4_REPLACE, { at + PREFIX_26, 26, t.hop[net][1] } },
		{ HY_IP4_DELETE, { at + PREFIX_26, 26, 0 } },
		{ HY_IP4_DELETE, { at + PREFIX_26, 26, 0 } },
	};
	uint32_t where;

	change(HY_IP4_ADD, at + PREFIX_26, 26, t.hop[net][1]);
	if (seldom)
		rte_delay_us_sleep(100);
	change(HY_IP4_ADD, at + HOST_32, 32, t.hop[net][2]);
	change(HY_IP4_REPLACE, at + PREFIX_26, 26, t.hop[net][2]);
	/* Where both threads share a CPU, the worker ran only while this one waits for it. */
	if (seldom)
		stall_await();
	/* One that fails and is undone, and the same without the fault. */
	assert_int_equal(routes_change(all, 4, &where), -2);
	assert_int_equal(where, 3);
	assert_int_equal(routes_change(all, 3, NULL), 0);
	t.changes += 3 + 3 + 3;
}

/* Many at once, that no packet is for: they go in among the others. */
static void
lot_change(void)
{
	struct hy_ip4_change lot[LOT];

	for (uint32_t i = 0; i < LOT; i++)
		lot[i] = (struct hy_ip4_change){ .verb = i < LOT / 2 ? HY_IP4_ADD : HY_IP4_DELETE,
			.route = { IP4(11, i % (LOT / 2), 0, 0), 16, t.hop[0][0] } };
	assert_int_equal(routes_change(lot, LOT, NULL), 0);
	t.changes += LOT;
}

/* A next hop for each number, in turn: ids and adjacencies are used again and again. */
static void
moving_change(unsigned int number)
{
	const struct hy_ip4_next_hop hop = hop_of(MOVING, 0, number);
	static uint32_t before;
	uint32_t id;

	atomic_store(&t.begun, number);
	assert_int_equal(next_hop_add(&hop, &id), 0);
	change(HY_IP4_REPLACE, net_of(MOVING), 24, id);
	atomic_store(&t.done, number);
	if (number > 1)
		assert_int_equal(hy_ip4_next_hop_delete(t.fib, before), 0);
	before = id;
	t.changes += 2;
}

/* The nets' own next hops lead elsewhere, port and address at once. */
static void
hops_change(unsigned int net, unsigned int number)
{
	for (uint8_t which = 0; which < 3; which++) {
		const struct hy_ip4_next_hop hop = hop_of((uint8_t)net, which, number);

		assert_int_equal(next_hop_set(t.hop[net][which], &hop), 0);
		t.changes++;
	}
}

static void
table_create(enum hy_ip4_engine engine)
{
	const struct hy_ip4_fib_params params = { .engine = engine,
		.max_routes = 128,
		.max_tbl8s = TBL8S,
		.max_next_hops = 100,
		.socket = SOCKET_ID_ANY,
		.qsbr = &qsbr.v };

	memset(&t, 0, sizeof(t));
	assert_int_equal(rte_rcu_qsbr_init(&qsbr.v, 2), 0);
	assert_int_equal(hy_ip4_fib_create("live", &params, &t.fib), 0);
	for (uint16_t p = 0; p < 2; p++) {
		const struct hy_ip4_port port = { .port = p, .max_len = 1514 };

		assert_int_equal(hy_ip4_port_add(t.fib, &port), 0);
	}
	for (unsigned int net = 0; net < NETS; net++) {
		for (uint8_t which = 0; which < 3; which++) {
			const struct hy_ip4_next_hop hop = hop_of((uint8_t)net, which, 0);

			assert_int_equal(hy_ip4_next_hop_add(t.fib, &hop, &t.hop[net][which]), 0);
		}
		if (net % 2 == 0)
			change(HY_IP4_ADD, net_of(net), 24, t.hop[net][0]);
	}
	moving_change(1);
}

static void
graph_create(const char *variant)
{
	struct hy_ip4_rewrite_config rewrite;
	const hy_node_id id = rig_clone("ip4_rewrite", "scalar", NULL);

	rig_qsbr = &qsbr.v;
	rig_nodes("ip4_lookup-rig");
	memset(&rewrite, 0xff, sizeof(rewrite));
	rewrite.tables = (struct hy_ip4_lookup_config){ .fibs = { t.fib }, .nb_fibs = 1 };
	assert_int_equal(hy_node_config(rig_clone("ip4_lookup", variant, "ip4_rewrite-rig"),
				 &rewrite.tables, sizeof(rewrite.tables)),
		0);
	assert_int_equal(hy_node_edge_add(id, "rig_out-0", &rewrite.edge[0]), 0);
	assert_int_equal(hy_node_edge_add(id, "rig_out-1", &rewrite.edge[1]), 0);
	assert_int_equal(hy_node_config(id, &rewrite, sizeof(rewrite)), 0);
	t.graph = rig_graph(PACKETS);
}

/* What workers meet beside the changes is the scheduler's choice: all kinds of routes, and misses. */
static bool
is_enough(void)
{
	for (unsigned int h = 0; h < RTE_DIM(t.by_host); h++)
		if (atomic_load(&t.by_host[h]) == 0)
			return false;
	return atomic_load(&t.moved) > 0 && atomic_load(&t.dropped) > 0 &&
		atomic_load(&t.stalls) > 2;
}

/* Changes without a pause, until there were enough, or it took long enough. */
static double
changes_make(void)
{
	const uint64_t start = rte_get_timer_cycles(), hz = rte_get_timer_hz();
	unsigned int round = 0;
	uint64_t took = 0;

	t.changes = 0;
	while (t.changes < CHANGES_LEAST || (t.changes < CHANGES && took < SECONDS_MOST * hz) ||
		(t.changes < CHANGES_MOST && !is_enough())) {
		round++;
		net_change(round % NETS, round % 64 == 0);
		moving_change(round + 1);
		lot_change();
		/* It waits for both workers, and by then another net has the tbl8. */
		if (round % 16 == 5)
			hops_change(round / 16 % NETS, round / 16);
		took = rte_get_timer_cycles() - start;
	}
	return (double)took / (double)hz;
}

static void
live_run(const char *variant)
{
	struct rte_mbuf *packets[PACKETS];
	uint8_t frame[FRAME_MAX];
	pthread_t worker, staller;
	double seconds;

	table_create(hy_ip4_engine_of(variant));
	graph_create(variant);
	for (unsigned int i = 0; i < PACKETS; i++)
		packets[i] = packet(frame, FRAME(frame, .payload = 8));
	assert_int_equal(pthread_create(&worker, NULL, forward, packets), 0);
	assert_int_equal(rte_rcu_qsbr_thread_register(&qsbr.v, 1), 0);
	assert_int_equal(pthread_create(&staller, NULL, stall, NULL), 0);
	seconds = changes_make();
	atomic_store(&t.stop, true);
	pthread_join(worker, NULL);
	pthread_join(staller, NULL);
	print_message("%s: %u changes, %.0f a second; %ju packets sent, %ju dropped; %ju stalls\n",
		variant, t.changes, t.changes / seconds, (uintmax_t)t.sent, (uintmax_t)t.dropped,
		(uintmax_t)atomic_load(&t.stalls));
	if (t.faults > 0)
		fail_msg("%s: %ju packets of %ju: %s", variant, (uintmax_t)t.faults,
			(uintmax_t)t.sent, t.fault);
	if (t.stall_faults > 0)
		fail_msg("%s: %ju of %ju lookups that stalled went wrong", variant,
			(uintmax_t)t.stall_faults, (uintmax_t)atomic_load(&t.stalls));
	assert_int_equal((t.sent + t.dropped) % PACKETS, 0);
	assert_true(is_enough());
	for (unsigned int i = 0; i < PACKETS; i++)
		rte_pktmbuf_free(packets[i]);
	rig_clear();
	hy_ip4_fib_destroy(t.fib);
	t.fib = NULL;
}

static void
packets_follow_the_old_or_the_new_routes_of_rte_lpm(void **state)
{
	RTE_SET_USED(state);
	live_run("scalar");
	live_run("x4");
#ifdef RTE_ARCH_ARM64
	live_run("neon");
#endif
}

static void
packets_follow_the_old_or_the_new_routes_of_rte_fib(void **state)
{
	RTE_SET_USED(state);
	live_run("fib");
}

#ifdef RTE_ARCH_X86_64
static void
packets_follow_the_old_or_the_new_routes_in_vector_kernels(void **state)
{
	RTE_SET_USED(state);
	if (rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX2) <= 0)
		skip();
	live_run("avx2");
	if (rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512F) <= 0 ||
		rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512VL) <= 0 ||
		rte_vect_set_max_simd_bitwidth(RTE_VECT_SIMD_512) < 0)
		return;
	live_run("avx512");
	live_run("fib_avx512");
}
#endif

static int
live_teardown(void **state)
{
	rig_clear();
	hy_ip4_fib_destroy(t.fib);
	t.fib = NULL;
	return node_teardown(state);
}

#define LIVE_TEST(f) cmocka_unit_test_setup_teardown(f, node_setup, live_teardown)

static const struct CMUnitTest node_live_routes_tests[] = {
	LIVE_TEST(packets_follow_the_old_or_the_new_routes_of_rte_lpm),
	LIVE_TEST(packets_follow_the_old_or_the_new_routes_of_rte_fib),
#ifdef RTE_ARCH_X86_64
	LIVE_TEST(packets_follow_the_old_or_the_new_routes_in_vector_kernels),
#endif
};

UNIT_SUITE(node_live_routes_tests)
