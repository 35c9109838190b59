/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports, graph, worker and oracle; see five_rig.h. */

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>

#include <hy_ethdev.h>
#include <hy_flow_cls.h>
#include <hy_mbuf.h>

#include "five_rig.h"

#define MARKED (RTE_MBUF_F_RX_FDIR | RTE_MBUF_F_RX_FDIR_ID)
#define EXACT (HY_FLOW_SRC | HY_FLOW_DST | HY_FLOW_PROTO | HY_FLOW_PORTS)
#define LOOSE 16                 /* one rule of so many */
#define FEED (UINT64_C(1) << 40) /* more than anybody waits for */

struct five F;

/* Two have less room than there are rules for them. */
static const struct {
	const char *name, *args;
} nics[RING] = {
	[CNXK] = { "sim_cn10k0", "table_size=40" },
	[MLX5] = { "sim_hws0", NULL },
	[ICE] = { "sim_ice0", "table_size=16" },
	[I40E] = { "sim_i40e0", "table_size=12" },
};

static struct rte_ring *loop;
static struct hy_flow_key keys[FRAMES];
static uint16_t answers[ANSWERS][FRAMES]; /* by version */
static uint64_t committed;                /* the version that all workers see */
static uint64_t seen;                     /* that, when the walk began; the worker's */
static bool stop;
static pthread_t thread;
static bool running;
static hy_node_id check_id;
static uint16_t edge_of_port[RTE_MAX_ETHPORTS];

/* Works out every frame's class by rules that are about to be shown. */
static int
answer(void *arg, const struct hy_policy_view *next)
{
	uint16_t *to = answers[next->version % ANSWERS];

	RTE_SET_USED(arg);
	for (uint32_t i = 0; i < FRAMES; i++) {
		const uint32_t rank = hy_policy_classify(next, &keys[i]);

		to[i] = rank == HY_POLICY_NONE ? HY_FLOW_NO_CLASS : next->rules[rank].rule.class_id;
	}
	return 0;
}

static struct hy_policy_listener oracle = { .prepare = answer };

void
five_commit(void)
{
	int rc;

	do { /* a worker may be without a CPU for longer than a commit waits for it */
		rc = hy_policy_commit(F.policy);
	} while (rc == -ETIMEDOUT);
	assert_int_equal(rc, 0);
	__atomic_store_n(&committed, hy_policy_view(F.policy)->version, __ATOMIC_RELEASE);
}

static uint32_t
number_of(const struct rte_mbuf *m)
{
	uint32_t number;

	memcpy(&number, rte_pktmbuf_mtod_offset(m, const uint8_t *, m->data_len - sizeof(number)),
		sizeof(number));
	return number;
}

static struct five_port *
port_of(uint16_t id)
{
	struct five_port *p = F.port;

	while (p->id != id)
		assert_true(++p < F.port + PORTS);
	return p;
}

static uint64_t
cycles(uint64_t ms)
{
	return rte_get_tsc_hz() / 1000 * ms;
}

/*
 * Whether a packet waited for longer than offloads are promised: the worker lost its CPU between the
 * line, where marks are looked at for their age, and here. Its class may be any.
 */
static bool
is_late(const struct five_port *p, uint64_t tsc)
{
	return p != &F.port[RING] && tsc - p->line.asked > cycles(LATE_MS);
}

/* Whether a class is what the rules give that were there during this walk; from `seen` to `now`. */
static void
check(uint32_t number, uint16_t class_id, uint64_t now, bool late)
{
	const bool fits = answers[now % ANSWERS][number] == class_id;
	const bool fitted = answers[seen % ANSWERS][number] == class_id;

	F.by_class[class_id]++;
	__atomic_fetch_add(&F.quiet, seen == now, __ATOMIC_RELAXED);
	F.either += fits != fitted;
	if (fits || fitted || late)
		return;
	if (F.wrong++ < 3)
		print_error("frame %u has class %u, not %u of rules %ju\n", number, class_id,
			answers[now % ANSWERS][number], (uintmax_t)now);
}

static uint16_t
check_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const uint32_t *class_id = hy_lane(graph, node, 0);
	const uint64_t now = hy_policy_view(F.policy)->version, tsc = rte_rdtsc();
	uint16_t next[HY_BURST_MAX];

	for (uint16_t i = 0; i < n; i++) {
		const struct rte_mbuf *m = objs[i];
		struct five_port *port = port_of(m->port);
		const bool late = is_late(port, tsc);

		port->late += late;
		check(number_of(m), (uint16_t)class_id[i], now, late);
		next[i] = edge_of_port[m->port];
	}
	__atomic_store_n(&F.checked, F.checked + n, __ATOMIC_RELEASE);
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

uint64_t
five_checked(void)
{
	return __atomic_load_n(&F.checked, __ATOMIC_ACQUIRE);
}

uint64_t
five_quiet(void)
{
	return __atomic_load_n(&F.quiet, __ATOMIC_RELAXED);
}

/* Packets wait between the NIC, which has marked them, and the worker. */
static uint16_t
wait_in_line(uint16_t port, uint16_t queue, struct rte_mbuf **pkts, uint16_t n, uint16_t max,
	void *arg)
{
	const uint64_t now = rte_rdtsc(), overdue = cycles(OVERDUE_MS);
	struct line *line = arg;
	/* Before the marks: this thread may have lost its CPU since the NIC has set them. */
	const uint64_t since = line->asked == 0 ? now : line->asked;
	uint16_t n_out = 0;

	RTE_SET_USED(port);
	RTE_SET_USED(queue);
	for (uint16_t i = 0; i < n; i++, line->n++) {
		line->entry[(line->head + line->n) % LINE].pkt = pkts[i];
		line->entry[(line->head + line->n) % LINE].since = since;
	}
	for (; line->n > LINE_WAIT && n_out < max;
		line->n--, line->head = (line->head + 1) % LINE) {
		struct rte_mbuf *m = line->entry[line->head].pkt;

		if (now - line->entry[line->head].since > overdue) {
			line->overdue++;
			line->marked += (m->ol_flags & MARKED) == MARKED;
			rte_pktmbuf_free(m);
			continue;
		}
		pkts[n_out++] = m;
	}
	line->asked = now;
	return n_out;
}

static void
port_start(uint16_t port)
{
	struct rte_eth_conf conf = { 0 };
	struct rte_eth_dev_info info;

	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	conf.intr_conf.rmv = (*info.dev_flags & RTE_ETH_DEV_INTR_RMV) != 0; /* not the ring's */
	assert_int_equal(hy_hal_port_conf(F.hal, port, &conf), 0);
	assert_int_equal(rte_eth_dev_configure(port, 1, 1, &conf), 0);
	hy_flow_rte_prepare(port, STABLE + CHURNED); /* most NICs want no preparation */
	assert_int_equal(rte_eth_rx_queue_setup(port, 0, 64, 0, NULL, pool), 0);
	assert_int_equal(rte_eth_tx_queue_setup(port, 0, 64, 0, NULL), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
}

static int
op_reset(uint16_t port, void *arg)
{
	RTE_SET_USED(arg);
	port_of(port)->resets++;
	assert_int_equal(rte_eth_dev_reset(port), 0);
	port_start(port);
	return 0;
}

static const struct hy_port_ops ops = { .reset = op_reset };

/* Tells a port's offload what becomes of the port, and the HAL what becomes of its marks. */
static void
follow(struct hy_hal *hal, uint16_t port, enum hy_port_state state, void *arg)
{
	struct five_port *p = port_of(port);

	RTE_SET_USED(arg);
	p->downs += state == HY_PORT_DOWN;
	p->ups += state == HY_PORT_UP;
	p->gone += state == HY_PORT_GONE;
	if (p->offload == NULL)
		return;
	if (state == HY_PORT_DOWN)
		hy_offload_down(p->offload, hy_hal_port_answers(hal, port));
	else if (state == HY_PORT_UP)
		assert_int_equal(hy_offload_up(p->offload), 0);
	else if (state == HY_PORT_GONE)
		hy_offload_gone(p->offload);
	assert_int_equal(hy_offload_declare(p->offload, hal), 0);
}

void
five_control(void)
{
	char error[HY_HAL_ERROR_SIZE] = "";

	if (hy_hal_poll(F.hal, &F.graph, 1, &ops, error) < 0)
		fail_msg("the HAL fails: %s", error);
	for (unsigned int p = 0; p < PORTS; p++)
		if (F.port[p].offload != NULL &&
			hy_hal_port_state(F.hal, F.port[p].id) == HY_PORT_UP)
			hy_offload_poll(F.port[p].offload);
}

static void
ports_make(void)
{
	char error[HY_HAL_ERROR_SIZE];

	for (unsigned int p = 0; p < RING; p++) {
		assert_int_equal(rte_vdev_init(nics[p].name, nics[p].args), 0);
		assert_int_equal(rte_eth_dev_get_port_by_name(nics[p].name, &F.port[p].id), 0);
	}
	loop = rte_ring_create("five", 2 * LOOPED, SOCKET_ID_ANY, 0);
	assert_non_null(loop);
	F.port[RING].id = (uint16_t)rte_eth_from_ring(loop);
	assert_int_equal(hy_hal_create(&F.hal), 0);
	assert_int_equal(hy_hal_declare(F.hal, HY_FLOW_RULES, STABLE + CHURNED, "the test"), 0);
	assert_int_equal(hy_hal_plan(F.hal, error), 0);
	for (unsigned int p = 0; p < PORTS; p++)
		port_start(F.port[p].id);
	assert_int_equal(hy_hal_probe(F.hal), 0);
}

struct hy_flow_rule
five_rule(uint32_t id, uint16_t class_id)
{
	const bool loose = rnd(&F.seed) % LOOSE == 0;
	struct hy_flow_rule rule;

	do {
		rule = flow_rule(id, &F.seed);
	} while (((rule.match.fields & EXACT) != EXACT) != loose);
	rule.class_id = class_id;
	return rule;
}

static void
policy_make(void)
{
	const struct hy_policy_params params = {
		.max_rules = STABLE + CHURNED, .workers = 1, .socket = SOCKET_ID_ANY, .qsbr = F.qsbr
	};
	struct simnic_frame frame;

	assert_int_equal(hy_policy_create("five", &params, &F.policy), 0);
	for (uint32_t id = 0; id < STABLE; id++) {
		const struct hy_flow_rule rule = five_rule(id, (uint16_t)(id + 1));

		assert_int_equal(hy_policy_add(F.policy, &rule), 0);
	}
	five_commit();
	five_frames_make();
	for (uint32_t i = 0; i < FRAMES; i++) {
		five_frame_get(i, &frame);
		hy_flow_key(frame.data, frame.len, &keys[i]);
	}
	answer(NULL, hy_policy_view(F.policy));
	assert_int_equal(hy_policy_listen(F.policy, &oracle), 0);
}

static void
offloads_make(const struct hy_offload_params *params)
{
	char reason[256];

	for (unsigned int p = 0; p < PORTS; p++) {
		const int rc = hy_offload_create(F.policy, F.port[p].id, params, &F.port[p].offload,
			reason, sizeof(reason));

		if (rc != (p == RING ? -ENOTSUP : 0))
			fail_msg("offload to port %u: %d, %s", p, rc, reason);
		if (rc == 0)
			assert_int_equal(hy_offload_declare(F.port[p].offload, F.hal), 0);
	}
}

static hy_node_id
node_add(const char *family, unsigned int port, const void *config, size_t size)
{
	char name[16];
	hy_node_id id;

	snprintf(name, sizeof(name), "%u", port);
	assert_int_equal(hy_hal_node_clone(F.hal, family, F.port[port].id, name, &id), 0);
	assert_int_equal(hy_node_config(id, config, size), 0);
	return id;
}

static void
nodes_make(void)
{
	const struct hy_node_desc check_desc = {
		.name = "five_check", .impl.process = check_process, .lanes = { HY_FLOW_CLASS_LANE }
	};
	const struct hy_flow_cls_config cls = { .policy = F.policy };
	char name[HY_NAME_SIZE];

	assert_int_equal(hy_node_register(&check_desc, &check_id), 0);
	for (unsigned int p = 0; p < PORTS; p++) {
		const struct hy_ethdev_rx_config rx = { .port = F.port[p].id };
		const struct hy_ethdev_tx_config tx = { .port = F.port[p].id, .nb_queues = 1 };
		const hy_node_id rx_id = node_add("ethdev_rx", p, &rx, sizeof(rx));

		snprintf(name, sizeof(name), "flow_cls-%u", p);
		assert_int_equal(hy_node_edge_set(rx_id, 0, name), 0);
		assert_int_equal(hy_node_edge_set(node_add("flow_cls", p, &cls, sizeof(cls)), 0,
					 "five_check"),
			0);
		node_add("ethdev_tx", p, &tx, sizeof(tx));
		snprintf(name, sizeof(name), "ethdev_tx-%u", p);
		assert_int_equal(hy_node_edge_add(check_id, name, &edge_of_port[F.port[p].id]), 0);
	}
}

void
five_open(const struct hy_offload_params *params)
{
	const struct hy_graph_params graph = { .patterns = (const char *[]){ "ethdev_rx-*" },
		.nb_patterns = 1,
		.ops = &hy_mbuf_ops,
		.drop_node = "pkt_drop",
		.lanes = { HY_FLOW_CLASS_LANE },
		.burst = 64,
		.qsbr = F.qsbr,
		.socket = SOCKET_ID_ANY };
	char error[HY_HAL_ERROR_SIZE];

	ports_make();
	policy_make();
	offloads_make(params);
	if (hy_hal_select(F.hal, error) != 0)
		fail_msg("no selection: %s", error);
	nodes_make();
	if (hy_graph_create("five", &graph, &F.graph) != 0)
		fail_msg("the graph is refused: %s", unit_log());
	assert_int_equal(hy_hal_port_observe(F.hal, follow, NULL), 0);
	assert_int_equal(hy_hal_watch(F.hal), 0);
}

static void *
work(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		seen = __atomic_load_n(&committed, __ATOMIC_ACQUIRE);
		hy_graph_walk(F.graph);
	}
	hy_graph_rest(F.graph);
	return arg;
}

static void
loop_fill(void)
{
	for (uint32_t i = 0; i < LOOPED; i++) {
		struct simnic_frame frame;
		struct rte_mbuf *m;

		five_frame_get(i * (FRAMES / LOOPED), &frame);
		m = packet(frame.data, frame.len);
		m->port = F.port[RING].id; /* net_ring leaves that to others */
		assert_int_equal(rte_ring_enqueue(loop, m), 0);
	}
}

void
five_start(void)
{
	static struct simnic_frame feed[PHASES * PHASE];

	for (uint32_t i = 0; i < PHASES * PHASE; i++) {
		const uint32_t any = rnd(&F.seed) % FRAMES;
		const bool usual = rnd(&F.seed) % 8 != 0;

		five_frame_get(usual ? any - any % PHASES + i / PHASE : any, &feed[i]);
	}
	for (unsigned int p = 0; p < RING; p++) {
		F.port[p].callback = rte_eth_add_rx_callback(F.port[p].id, 0, wait_in_line,
			&F.port[p].line);
		assert_non_null(F.port[p].callback);
		simnic_feed(F.port[p].id, 0, feed, PHASES * PHASE, FEED);
	}
	loop_fill();
	stop = false;
	assert_int_equal(pthread_create(&thread, NULL, work, NULL), 0);
	running = true;
}

void
five_stop(void)
{
	if (!running)
		return;
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	running = false;
}

uint64_t
five_fed(unsigned int port)
{
	return FEED - simnic_feed_left(F.port[port].id, 0);
}

/* Objects, a counter, or a reason for drops. */
static uint64_t
named(const struct hy_node_stats *s, const char *what)
{
	if (strcmp(what, "objs") == 0)
		return s->objs;
	for (unsigned int c = 0; c < s->nb_counters; c++)
		if (strcmp(s->counters[c].name, what) == 0)
			return s->counters[c].value;
	for (unsigned int d = 0; d < s->nb_drops; d++)
		if (strcmp(s->drops[d].name, what) == 0)
			return s->drops[d].objs;
	fail_msg("%s has no %s", s->name, what);
	return 0;
}

uint64_t
five_count(const char *node, unsigned int port, const char *what)
{
	char name[HY_NAME_SIZE];
	struct hy_stats *stats;
	uint64_t n = UINT64_MAX;

	snprintf(name, sizeof(name), "%s-%u", node, port);
	assert_int_equal(hy_stats_read("five", &stats), 0);
	for (unsigned int i = 0; i < stats->nb_nodes; i++)
		if (strcmp(stats->nodes[i].name, name) == 0)
			n = named(&stats->nodes[i], what);
	hy_stats_free(stats);
	assert_true(n != UINT64_MAX);
	return n;
}

/* What DPDK keeps for ever of the first ports of a kind is there before blocks are counted. */
static void
warm_up(void)
{
	for (unsigned int p = 0; p < RING; p++) {
		rte_vdev_init(nics[p].name, nics[p].args);
		rte_vdev_uninit(nics[p].name);
	}
}

int
five_setup(void **state)
{
	warm_up();
	if (simnic_pool_init() != 0 || node_setup(state) != 0)
		return -1;
	memset(&F, 0, sizeof(F));
	F.seed = 5;
	committed = 0;
	F.qsbr = rte_zmalloc("five", rte_rcu_qsbr_get_memsize(1), RTE_CACHE_LINE_SIZE);
	return F.qsbr == NULL || rte_rcu_qsbr_init(F.qsbr, 1) != 0 ? -1 : 0;
}

static void
port_close(struct five_port *p)
{
	struct line *line = &p->line;

	if (p->callback != NULL) {
		rte_eth_remove_rx_callback(p->id, 0, p->callback);
		rte_free((void *)(uintptr_t)p->callback);
	}
	for (; line->n > 0; line->n--, line->head = (line->head + 1) % LINE)
		rte_pktmbuf_free(line->entry[line->head].pkt);
	rte_eth_dev_stop(p->id);
}

int
five_teardown(void **state)
{
	void *left;

	five_stop();
	hy_graph_destroy(F.graph);
	for (unsigned int p = 0; p < PORTS; p++)
		hy_offload_destroy(F.port[p].offload);
	hy_policy_unlisten(F.policy, &oracle);
	hy_policy_destroy(F.policy);
	hy_hal_destroy(F.hal);
	hy_node_unregister(check_id);
	for (unsigned int p = 0; p < PORTS; p++)
		port_close(&F.port[p]);
	for (unsigned int p = 0; p < RING; p++)
		assert_int_equal(rte_vdev_uninit(nics[p].name), 0);
	rte_eal_hotplug_remove("vdev", "net_ring_five");
	while (rte_ring_dequeue(loop, &left) == 0)
		rte_pktmbuf_free(left);
	rte_ring_free(loop);
	rte_free(F.qsbr);
	return node_teardown(state);
}
