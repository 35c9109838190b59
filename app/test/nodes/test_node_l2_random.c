/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random frames through a bridge's nodes while its set-up, its table and the time change, against the model
 * of l2_model.h: each frame is lost for the right reason, or leaves by the right ports with the right bytes, and
 * the table has the right entries.
 *
 * As in a program, sources are learned after a burst. All of a burst find the table as it was before.
 */

#include <errno.h>
#include <string.h>

#include <rte_cpuflags.h>
#include <rte_ring_elem.h>

#include <hy_fuse.h>
#include <hy_hal.h>
#include <hy_mbuf.h>

#include "l2_model.h"
#include "l2_rig.h"

#ifdef SANITIZED
#define FRAMES 300000
#else
#define FRAMES 1200000
#endif
#define BURST 128 /* frames at most; more sources than L2_RING may be new */
#define AGE 40    /* seconds */

/* What happened, each of which must have. */
enum done {
	ENDS,                                           /* enum model_end, of which drops have */
	INPUT = ENDS + MODEL_FLOODED + 1,               /* these reasons, */
	OUTPUT = INPUT + HY_L2_INPUT_VLAN_FILTERED + 1, /* and these */
	LEARN = OUTPUT + HY_L2_OUTPUT_NO_MEMBER + 1,
	VERDICTS = LEARN + HY_L2_REFUSED_STATIC + 1,
	RING_FULL = VERDICTS + HY_L2_SOURCE_FIXED + 1,
	TAGS, /* popped, pushed, named and kept, by tag that a frame had */
	ADDED = TAGS + 6,
	DELETED,
	FLUSHED,
	AGED,
	STAYED, /* though it was old */
	LIMITED,
	CHANGED,
	IN_PIECES,
	DONE,
};

static uint64_t done[DONE];
static struct model model;
static uint64_t seed, fused_objs;
static struct kept sent[MODEL_PORTS];
static hy_node_id sinks[MODEL_PORTS];
static struct model_frame frames[BURST];
static struct model_outcome outcomes[BURST];

static uint32_t
any(uint32_t n)
{
	return rnd(&seed) % n;
}

static int
sink_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	RTE_SET_USED(graph);
	*(struct kept **)node->ctx = *(struct kept *const *)config;
	return 0;
}

static uint16_t
sink_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	struct kept *kept = *(struct kept **)node->ctx;

	RTE_SET_USED(graph);
	assert_true(kept->n + n <= KEEP_MAX);
	memcpy(&kept->packets[kept->n], objs, n * sizeof(*objs));
	kept->n += n;
	return n;
}

/* The graph. */

static hy_fused_t *fused_run;

static uint16_t
counted_run(struct hy_graph *graph, struct hy_node *const chain[], void **objs, uint16_t n,
	uint16_t next[])
{
	const uint16_t passed = fused_run(graph, chain, objs, n, next);

	fused_objs += passed;
	return passed;
}

static struct hy_fuse fuse = { .run = counted_run, .nb_nodes = 4 };

static void
fuse_offer(const char *variant)
{
	char name[HY_NAME_SIZE];
	const struct hy_fusion *fusion;

	snprintf(name, sizeof(name), "l2_forward-%s", variant);
	fusion = hy_fusion_find(name);
	assert_non_null(fusion);
	fuse.name = fusion->fuse;
	memcpy(fuse.edge, fusion->edge, sizeof(fuse.edge));
	for (unsigned int i = 0; i < fuse.nb_nodes; i++)
		fuse.process[i] = hy_variant_find(fusion->chain[i].family, fusion->chain[i].variant)
					  ->impl.process;
	fused_run = fusion->run;
	assert_int_equal(hy_fuse_offer(&fuse), 0);
}

/* Nodes for which the first edge is right. */
static hy_node_id
node_make(const char *node, const char *variant, const char *next,
	const struct hy_l2_config *config)
{
	const hy_node_id id = rig_clone(node, variant, next);

	l2_rig_config(id, config);
	return id;
}

static struct hy_graph *
graph_make(const char *variant, bool fused)
{
	static const char *const patterns[] = { "rig_source" };
	const struct hy_graph_params params = { .patterns = patterns,
		.nb_patterns = 1,
		.ops = &hy_mbuf_ops,
		.drop_node = "rig_out-2",
		.lanes = { HY_L2_LANE },
		.burst = BURST,
		.socket = SOCKET_ID_ANY };
	struct hy_l2_config config;
	struct hy_graph *graph;
	hy_node_id id;

	rig_fused = true; /* sinks keep no lanes */
	id = l2_rig("l2_input", "scalar");
	assert_int_equal(hy_node_edge_set(id, HY_L2_INPUT_NEXT_LEARN, "l2_learn-rig"), 0);
	config = l2_rig_defaults();
	id = rig_clone("l2_output", "scalar", NULL);
	for (unsigned int p = 0; p < MODEL_PORTS; p++) {
		char name[HY_NAME_SIZE];
		const struct hy_node_desc sink = { .name = name,
			.impl = { .process = sink_process,
				.init = sink_init,
				.ctx_size = sizeof(void *) } };
		const struct kept *kept = &sent[p];

		snprintf(name, sizeof(name), "sent-%u", p);
		assert_int_equal(hy_node_register(&sink, &sinks[p]), 0);
		assert_int_equal(hy_node_config(sinks[p], &kept, sizeof(struct kept *)), 0);
		assert_int_equal(hy_node_edge_add(id, name, &config.edge[p]), 0);
	}
	l2_rig_config(id, &config);
	node_make("l2_flood", NULL, "l2_output-rig", &config);
	id = node_make("l2_lookup", variant, "l2_output-rig", &config);
	assert_int_equal(hy_node_edge_set(id, HY_L2_LOOKUP_NEXT_FLOOD, "l2_flood-rig"), 0);
	assert_int_equal(hy_node_edge_set(id, HY_L2_LOOKUP_NEXT_LOCAL, "rig_out-0"), 0);
	node_make("l2_learn", variant, "l2_lookup-rig", &config);
	if (fused)
		fuse_offer(variant);
	assert_int_equal(hy_graph_create("rig", &params, &graph), 0);
	return graph;
}

static void
graph_end(struct hy_graph *graph, bool fused)
{
	hy_graph_destroy(graph);
	if (fused)
		hy_fuse_withdraw(&fuse);
	for (unsigned int p = 0; p < MODEL_PORTS; p++)
		hy_node_unregister(sinks[p]);
	rig_fused = false;
	l2_rig_end();
}

/* The set-up. */

static void
setup_change(void)
{
	if (any(50) == 0)
		model.tag_type = model.tag_type == 0x8100 ? 0x88a8 : 0x8100;
	model_port_random(&model.port[any(MODEL_PORTS)], &seed);
	model_setup(&model, &l2_setup);
	done[CHANGED]++;
}

/* Frames. */

static struct rte_mbuf *
frame_packet(const struct model_frame *frame, uint32_t number)
{
	const bool pieces = any(30) == 0;
	struct rte_mbuf *m = pieces ? packet_random(frame->bytes, frame->len, 1 + any(20), &seed)
				    : packet(frame->bytes, frame->len);

	m->port = frame->in == MODEL_PORTS ? MODEL_ETHDEV(0) + 1 : MODEL_ETHDEV(frame->in);
	m->hash.usr = number; /* which copies have, too */
	done[IN_PIECES] += pieces;
	return m;
}

/* A burst. */

/* All that left by a port is what the model sends; each frame once. */
static uint64_t
sent_compare(unsigned int port, uint32_t n)
{
	bool seen[BURST] = { false };

	for (unsigned int i = 0; i < sent[port].n; i++) {
		struct rte_mbuf *m = sent[port].packets[i];
		const uint32_t k = m->hash.usr;
		uint8_t right[MODEL_FRAME + 4], bounce[MODEL_FRAME + 4];
		uint32_t len;

		assert_true(k < n && !seen[k]);
		assert_true(outcomes[k].to[port]);
		seen[k] = true;
		len = model_bytes(&model, &frames[k], &outcomes[k], port, right);
		assert_int_equal(m->pkt_len, len);
		assert_memory_equal(rte_pktmbuf_read(m, 0, len, bounce), right, len);
		done[TAGS + outcomes[k].tag * 2 +
			(model.port[port].member[outcomes[k].vlan] == MODEL_TAGGED)]++;
	}
	for (uint32_t k = 0; k < n; k++)
		if (outcomes[k].to[port] && !seen[k])
			fail_msg("frame %u of %u did not leave by port %u", k, n, port);
	for (unsigned int i = 0; i < sent[port].n; i++)
		rte_pktmbuf_free(sent[port].packets[i]);
	n = sent[port].n;
	sent[port].n = 0;
	return n;
}

static struct model_entry *
source_entry(uint32_t k)
{
	const unsigned int station = model_station(frames[k].bytes + 6);

	assert_true(station < MODEL_STATIONS);
	return &model.entry[station][outcomes[k].vlan];
}

static void
entry_set(struct model_entry *e, uint64_t key, uint16_t port)
{
	if (!e->there && model.entries == MODEL_ENTRIES)
		return;
	assert_int_equal(hy_l2_add(l2_table, key, port), 0);
	model_add(&model, e, port);
	done[ADDED]++;
}

/* What workers found is learned, as the model does: those that the ring had room for, in order. */
static void
sources_learn(uint32_t n)
{
	struct hy_l2_source source[L2_RING];
	uint8_t got[L2_RING];
	uint32_t news[BURST], nb = 0;
	const uint32_t found = rte_ring_sc_dequeue_burst_elem(l2_worker.learn, source,
		sizeof(source[0]), L2_RING, NULL);

	for (uint32_t k = 0; k < n; k++) {
		enum hy_l2_verdict verdict;

		if (!outcomes[k].source)
			continue;
		verdict = model_source(&model, source_entry(k), frames[k].in);
		done[VERDICTS + verdict]++;
		if (verdict == HY_L2_SOURCE_NEW || verdict == HY_L2_SOURCE_MOVED)
			news[nb++] = k;
	}
	done[RING_FULL] += nb - found;
	assert_int_equal(found, RTE_MIN(nb, L2_RING - 1u));
	if (any(10) == 0 && found > 0) /* a command comes first */
		entry_set(source_entry(news[0]), source[0].key, (uint16_t)any(MODEL_PORTS));
	hy_l2_learn(l2_table, source, got, found);
	for (uint32_t i = 0; i < found; i++) {
		const struct model_frame *frame = &frames[news[i]];
		const uint16_t vid = model_vids[outcomes[news[i]].vlan];

		assert_int_equal(source[i].key, hy_l2_key(frame->bytes + 6, vid));
		assert_int_equal(source[i].port, frame->in);
		assert_int_equal(got[i], model_learn(&model, source_entry(news[i]), frame->in));
		done[LEARN + got[i]]++;
	}
}

/* Makes a frame, and has the model judge it. calm: one that is forwarded, if there soon is one. */
static void
frame_next(uint32_t k, bool calm)
{
	struct model_outcome *o = &outcomes[k];
	unsigned int tries = calm ? 60 : 1;

	do {
		model_frame_random(&model, &frames[k], &seed);
		*o = model_judge(&model, &frames[k]);
	} while (--tries > 0 && o->end != MODEL_FORWARDED);
	done[ENDS + o->end]++;
	if (o->end == MODEL_DROP_INPUT)
		done[INPUT + o->reason]++;
	if (o->end == MODEL_DROP_OUTPUT)
		done[OUTPUT + o->reason]++;
}

static void
burst(struct hy_graph *graph)
{
	const uint32_t n = 1 + any(BURST);
	const bool calm = any(8) == 0;
	struct rte_mbuf *packets[BURST];
	uint64_t left = 0, right = 0, local = 0;

	for (uint32_t k = 0; k < n; k++) {
		frame_next(k, calm);
		packets[k] = frame_packet(&frames[k], k);
		local += outcomes[k].end == MODEL_LOCAL;
		for (unsigned int p = 0; p < MODEL_PORTS; p++)
			right += outcomes[k].to[p];
	}
	rig_send(graph, packets, NULL, n);
	for (unsigned int p = 0; p < MODEL_PORTS; p++)
		left += sent_compare(p, n);
	assert_int_equal(left, right);
	assert_int_equal(out[0].n, local);
	for (unsigned int i = 0; i < out[0].n; i++)
		assert_int_equal(outcomes[out[0].packets[i]->hash.usr].end, MODEL_LOCAL);
	for (unsigned int i = 0; i < out[RIG_DROP].n; i++)
		assert_true(outcomes[out[RIG_DROP].packets[i]->hash.usr].end <= MODEL_DROP_OUTPUT);
	rig_free();
	sources_learn(n);
}

/* Changes of the table. */

static uint64_t
key_of(unsigned int station, unsigned int vlan)
{
	uint8_t mac[6];

	model_address(station, mac);
	return hy_l2_key(mac, model_vids[vlan]);
}

static void
entries_add(void)
{
	for (unsigned int n = 1 + any(8); n > 0; n--) {
		const unsigned int s = any(8) == 0 ? MODEL_GROUP : any(MODEL_STATIONS);
		const unsigned int v = any(MODEL_VLANS);
		const uint16_t port = (uint16_t)(any(5) == 0 ? HY_L2_LOCAL : any(MODEL_PORTS));

		entry_set(&model.entry[s][v], key_of(s, v), port);
	}
}

static void
entry_delete(void)
{
	const unsigned int station = any(MODEL_STATIONS), vlan = any(MODEL_VLANS);
	struct model_entry *e = &model.entry[station][vlan];

	assert_int_equal(hy_l2_delete(l2_table, key_of(station, vlan)), e->there ? 0 : -ENOENT);
	done[DELETED] += e->there;
	if (e->there)
		model_remove(&model, e);
}

static void
table_flush(void)
{
	const uint16_t port = (uint16_t)(any(3) == 0 ? HY_L2_ANY : any(MODEL_PORTS));
	const unsigned int only = any(2) == 0 ? MODEL_VLANS : any(MODEL_VLANS);
	const bool also_static = any(6) == 0;
	uint32_t right = 0;

	for (unsigned int s = 0; s < MODEL_STATIONS; s++) {
		for (unsigned int v = 0; v < MODEL_VLANS; v++) {
			struct model_entry *e = &model.entry[s][v];

			if (!e->there || (only < MODEL_VLANS && v != only) ||
				(port != HY_L2_ANY && e->port != port) ||
				(e->fixed && !also_static))
				continue;
			model_remove(&model, e);
			right++;
		}
	}
	assert_int_equal(hy_l2_flush(l2_table, port,
				 only == MODEL_VLANS ? HY_L2_ANY : model_vids[only], also_static),
		right);
	done[FLUSHED] += right;
}

/* Time goes on. Entries used less than AGE ago stay; those that were not for longer, by the time told before,
 * are gone. */
static void
time_pass(void)
{
	const uint32_t before = model.clock;
	uint32_t aged, right = 0;

	model.clock += 1 + any(20);
	aged = hy_l2_age(l2_table, model.clock, AGE, 2 * hy_l2_buckets(l2_table));
	for (unsigned int s = 0; s < MODEL_STATIONS; s++) {
		for (unsigned int v = 0; v < MODEL_VLANS; v++) {
			struct model_entry *e = &model.entry[s][v];
			struct hy_l2_entry entry;
			bool stays;

			if (!e->there || e->fixed)
				continue;
			stays = hy_l2_get(l2_table, key_of(s, v), &entry) == 0;
			assert_true(stays || model.clock - e->stamp >= AGE);
			assert_true(!stays || before - e->stamp < AGE);
			done[STAYED] += stays && model.clock - e->stamp >= AGE;
			if (stays)
				continue;
			model_remove(&model, e);
			right++;
		}
	}
	assert_int_equal(aged, right);
	done[AGED] += aged;
}

static void
table_compare(void)
{
	for (unsigned int s = 0; s < MODEL_STATIONS; s++) {
		for (unsigned int v = 0; v < MODEL_VLANS; v++) {
			const struct model_entry *e = &model.entry[s][v];
			struct hy_l2_entry entry;

			assert_int_equal(hy_l2_get(l2_table, key_of(s, v), &entry),
				e->there ? 0 : -ENOENT);
			if (!e->there)
				continue;
			assert_int_equal(entry.port, e->port);
			assert_int_equal(entry.is_static, e->fixed);
		}
	}
}

static void
between(void)
{
	const uint32_t what = any(200);

	if (what < 20)
		setup_change();
	else if (what < 50)
		entries_add();
	else if (what < 60)
		entry_delete();
	else if (what < 63)
		table_flush();
	else if (what < 75)
		time_pass();
	else if (what < 80) {
		const uint16_t port = (uint16_t)any(MODEL_PORTS);

		model.port[port].limit = any(3) == 0 ? 0 : 20 + any(200);
		assert_int_equal(hy_l2_port_limit(l2_table, port, model.port[port].limit), 0);
		done[LIMITED]++;
	} else if (what == 80)
		table_compare();
}

/* What nodes counted, since the graph is there. */
static void
counters_compare(void)
{
	static const char *const input[] = { "not_a_port", "truncated", "reserved_dst",
		"port_blocked", "bad_src", "vlan_invalid", "not_admitted", "vlan_filtered" };
	static const char *const output[] = { "same_port", "port_blocked", "split_horizon",
		"no_member" };
	const uint64_t new = done[VERDICTS + HY_L2_SOURCE_NEW] +
		done[VERDICTS + HY_L2_SOURCE_MOVED];

	for (unsigned int i = 0; i < RTE_DIM(input); i++)
		assert_int_equal(dropped("rig", "l2_input-rig", input[i]), done[INPUT + i]);
	for (unsigned int i = 0; i < RTE_DIM(output); i++)
		assert_int_equal(dropped("rig", "l2_output-rig", output[i]), done[OUTPUT + i]);
	assert_int_equal(dropped("rig", "l2_learn-rig", "port_learning"),
		done[ENDS + MODEL_DROP_LEARN]);
	assert_int_equal(dropped("rig", "l2_flood-rig", "nowhere"), done[ENDS + MODEL_DROP_FLOOD]);
	assert_int_equal(l2_counter("l2_learn-rig", "unknown"), new);
	assert_int_equal(l2_counter("l2_learn-rig", "ring_full"), done[RING_FULL]);
	assert_int_equal(l2_counter("l2_learn-rig", "fixed"), done[VERDICTS + HY_L2_SOURCE_FIXED]);
}

static void
machine(const char *variant, bool fused, uint64_t count)
{
	struct hy_graph *graph = graph_make(variant, fused);
	uint64_t n = 0;

	memset(&model, 0, sizeof(model));
	memset(done, 0, sizeof(done));
	model.tag_type = 0x8100;
	fused_objs = 0;
	for (unsigned int p = 0; p < MODEL_PORTS; p++)
		model_port_random(&model.port[p], &seed);
	model_setup(&model, &l2_setup);
	while (n < count) {
		burst(graph);
		between();
		n = 0;
		for (unsigned int end = 0; end <= MODEL_FLOODED; end++)
			n += done[ENDS + end];
	}
	table_compare();
	counters_compare();
	for (unsigned int d = 0; d < DONE; d++)
		if (done[d] == 0)
			fail_msg("number %u of what may happen never did", d);
	assert_int_equal(fused_objs > count / 50, fused);
	print_message("%s: %ju frames, %ju flooded, %ju forwarded, %ju fused; %ju learned\n",
		variant, (uintmax_t)n, (uintmax_t)done[ENDS + MODEL_FLOODED],
		(uintmax_t)done[ENDS + MODEL_FORWARDED], (uintmax_t)fused_objs,
		(uintmax_t)done[LEARN + HY_L2_LEARNED]);
	graph_end(graph, fused);
}

/* The fastest variant but AVX-512's. */
static const char *
fast(void)
{
#if defined(RTE_ARCH_ARM64)
	return "neon";
#elif defined(RTE_ARCH_X86_64)
	return rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX2) > 0 ? "avx2" : "scalar";
#else
	return "scalar";
#endif
}

static void
random_frames_go_as_in_the_model(void **state)
{
	RTE_SET_USED(state);
	seed = 21;
	machine("scalar", false, FRAMES);
}

static void
random_frames_go_as_in_the_model_when_nodes_are_fused(void **state)
{
	RTE_SET_USED(state);
	seed = 22;
	machine(fast(), true, FRAMES / 2);
}

static const struct CMUnitTest l2_random_tests[] = {
	NODE_TEST(random_frames_go_as_in_the_model),
	NODE_TEST(random_frames_go_as_in_the_model_when_nodes_are_fused),
};

UNIT_SUITE(l2_random_tests)
