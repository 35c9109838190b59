/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cache of frames: whatever it remembers, a packet gets a megaflow that matches its own key. Packets
 * differ from others in one bit, or in their length; megaflows come and go, and so do masks.
 */

#include <netinet/in.h>
#include <string.h>

#include <rte_mbuf.h>
#include <rte_memory.h>

#include "lib/flows/flows.h"

#include "flows_fixture.h"
#include "flows_frames.h"

#define BURST 64
#define BASES 200 /* frames, of which packets are copies */
#define PORTS 3
#define HEADERS 60 /* bytes in which a copy may differ */
#define LEN 80
#define PLAIN_LEN 54 /* least length of what the cache has */

struct base {
	uint8_t frame[FLOWS_FRAME_ROOM];
	uint32_t len;
	uint16_t port;
	struct hy_flows_key key, mask;
	uint32_t first; /* base that has the same megaflow */
	bool there;     /* this one's megaflow is installed */
};

/* Of the first two, there are always megaflows; of the others, few. */
static const struct hy_flows_key masks[] = { MASK_DST, { .src = RTE_BE32(0xff) }, MASK_5_TUPLE,
	{ .dst_mac = { 0, 0, 0, 0, 0, 3 } }, { .src_mac = { 0, 0, 0, 0, 0, 3 }, .tos = 0xff },
	{ .ttl = 3, .dst = RTE_BE32(0xff) }, { .tcp_flags = 3, .proto = 0xff },
	{ .dport = UINT16_MAX }, { .words = { [0 ... HY_FLOWS_WORDS - 1] = UINT64_MAX } } };
static struct base bases[BASES];
static bool tunnels;
static struct hy_flows_rss rss;
/* Packets by what became of them. */
static uint32_t from_frames, missed, changed_found, changed_missed, cut_short;

static uint8_t
few(uint64_t *seed)
{
	return (uint8_t)(flows_random(seed) % 3);
}

/* Ethernet, IPv4, and TCP or UDP, at times to the port of VXLAN. */
static uint32_t
plain_write(uint8_t *frame, uint64_t *seed)
{
	static const uint16_t ports[] = { 53, 80, 4789 };
	const rte_be16_t dport = rte_cpu_to_be_16(ports[few(seed)]);

	memset(frame, 1, LEN);
	frame[5] = few(seed);
	frame[11] = few(seed);
	memcpy(frame + 12, "\x08\x00\x45\x00", 4);
	memset(frame + 20, 0, 2);
	frame[22] = (uint8_t)(63 + few(seed));
	frame[23] = flows_random(seed) % 2 == 0 ? IPPROTO_TCP : IPPROTO_UDP;
	frame[29] = few(seed);
	frame[33] = few(seed);
	memcpy(frame + 36, &dport, sizeof(dport));
	frame[42] = 0x08; /* there is a VNI, if it is VXLAN */
	frame[47] = few(seed);
	return LEN;
}

static struct hy_flows_key
key_read(const uint8_t *frame, uint32_t len, uint16_t port)
{
	return flows_key_slowly(frame, len, port, tunnels);
}

static bool
same_megaflow(const struct base *one, const struct base *other)
{
	return memcmp(&one->mask, &other->mask, sizeof(one->mask)) == 0 &&
		hy_flows_equal(&one->key, &other->key, &one->mask);
}

static void
bases_make(uint64_t *seed)
{
	for (uint32_t i = 0; i < BASES; i++) {
		struct base *b = &bases[i];

		b->len = i % 4 == 0 ? flows_frame(b->frame, seed) : plain_write(b->frame, seed);
		b->port = (uint16_t)(flows_random(seed) % PORTS);
		b->key = key_read(b->frame, b->len, b->port);
		b->mask = masks[i < 2 * RTE_DIM(masks) ? i % RTE_DIM(masks) : i % 2];
		b->mask.port = UINT16_MAX; /* each megaflow is of one port */
		for (b->first = 0; !same_megaflow(&bases[b->first], b);)
			b->first++;
		b->there = false;
	}
}

/* Whether a packet with a key may get an action; HY_FLOWS_MISS: none. */
static bool
is_right(const struct hy_flows_key *key, uint32_t action)
{
	bool some = false;

	for (uint32_t i = 0; i < BASES; i++) {
		const bool matches = bases[i].there &&
			hy_flows_equal(&bases[i].key, key, &bases[i].mask);

		if (matches && action == i + 1)
			return true;
		some |= matches;
	}
	return action == HY_FLOWS_MISS && !some;
}

/* A megaflow comes, or goes. */
static void
megaflow_change(uint64_t *seed)
{
	const uint32_t few_masks = flows_random(seed) % 2 == 0 ? BASES : 2 * RTE_DIM(masks);
	struct base *b = &bases[bases[flows_random(seed) % few_masks].first];
	const struct hy_flows_flow flow = {
		.key = b->key, .mask = b->mask, .action = (uint32_t)(b - bases) + 1
	};

	if (b->there)
		assert_int_equal(hy_flows_delete(flows, &flow.key, &flow.mask), 0);
	else
		assert_int_equal(hy_flows_add(flows, &flow), 0);
	b->there = !b->there;
}

/* A copy of a base, or nearly one. Returns whether it differs. */
static bool
packet_make(struct rte_mbuf *m, uint8_t *frame, uint64_t *seed)
{
	const struct base *b = &bases[flows_random(seed) % BASES];
	const bool differs = flows_random(seed) % 4 == 0;
	uint32_t len = b->len;

	memcpy(frame, b->frame, len);
	if (differs)
		frame[flows_random(seed) % HEADERS] ^= (uint8_t)(1 << flows_random(seed) % 8);
	if (flows_random(seed) % 8 == 0) /* so many that some share a place */
		frame[47] = (uint8_t)flows_random(seed);
	if (flows_random(seed) % 16 == 0)
		len = RTE_MIN(len, PLAIN_LEN - 4 + flows_random(seed) % 8);
	cut_short += len < b->len;
	*m = (struct rte_mbuf){ .buf_addr = frame,
		.data_len = (uint16_t)len,
		.pkt_len = len,
		.port = flows_random(seed) % 8 == 0 ? (uint16_t)(flows_random(seed) % PORTS)
						    : b->port,
		.nb_segs = 1 };
	return differs;
}

static void
burst(uint64_t *seed)
{
	static uint8_t frames[BURST][FLOWS_FRAME_ROOM];
	uint32_t flow[BURST], misses = 0;
	struct rte_mbuf packets[BURST], *mbufs[BURST];
	struct hy_flows_lookups before, after;
	bool differs[BURST];

	for (uint32_t i = 0; i < BURST; i++) {
		differs[i] = packet_make(&packets[i], frames[i], seed);
		mbufs[i] = &packets[i];
	}
	hy_flows_lookups(flows, 0, &before);
	misses = hy_flows_find(flows, 0, &rss, mbufs, flow, BURST);
	hy_flows_lookups(flows, 0, &after);
	for (uint32_t i = 0; i < BURST; i++) {
		const struct hy_flows_key key = key_read(frames[i], packets[i].pkt_len,
			packets[i].port);
		uint32_t action = HY_FLOWS_MISS;

		hy_flows_actions(flows, &flow[i], &action, 1);
		assert_true(is_right(&key, action));
		misses -= action == HY_FLOWS_MISS;
		missed += action == HY_FLOWS_MISS;
		changed_found += differs[i] && action != HY_FLOWS_MISS;
		changed_missed += differs[i] && action == HY_FLOWS_MISS;
	}
	assert_int_equal(misses, 0);
	assert_int_equal(after.packets - before.packets, BURST);
	from_frames += (uint32_t)(after.frames - before.frames);
}

static void
packets_get_a_megaflow_of_their_own_key(void **state)
{
	const uint32_t bursts = flows_packets(400000) / BURST / 2;
	uint64_t seed = 31;

	RTE_SET_USED(state);
	for (uint32_t k = 0; k < 2; k++) {
		const struct hy_flows_params params = { .max_flows = 1000,
			.max_masks = 64,
			.max_port_masks = 16,
			.pressed_idle = 100,
			.workers = 1,
			.socket = SOCKET_ID_ANY,
			.tunnels = k == 1,
			.seed = k };

		tunnels = params.tunnels;
		from_frames = missed = changed_found = changed_missed = cut_short = 0;
		bases_make(&seed);
		assert_int_equal(hy_flows_create(&params, &flows), 0);
		assert_int_equal(hy_flows_caches_set(flows,
					 &(struct hy_flows_caches){ .frames = true }),
			0);
		for (uint32_t i = 0; i < BASES; i++)
			megaflow_change(&seed);
		for (uint32_t i = 0; i < bursts; i++) {
			burst(&seed);
			megaflow_change(&seed);
		}
		print_message(
			"of %u packets, %u by their frame, %u missed; of those changed %u found, "
			"%u missed; %u cut; what is looked at changed %u times\n",
			bursts * BURST, from_frames, missed, changed_found, changed_missed,
			cut_short, flows->epoch);
		assert_true(from_frames > bursts * BURST / 8);
		assert_true(missed > bursts * BURST / 8);
		assert_true(changed_found > bursts * BURST / 64);
		assert_true(changed_missed > bursts * BURST / 64);
		assert_true(cut_short > bursts * BURST / 64);
		assert_true(flows->epoch > bursts / 16);
		hy_flows_destroy(flows);
		flows = NULL;
	}
}

/* A thousand flows in turn, so many packets of each in a row. Returns how many of 100 are found by frames. */
static uint32_t
found_by_frames(uint32_t train)
{
	/* The second is of another port, so that all of the source is looked at. */
	const struct hy_flows_flow one = { .mask = { .port = UINT16_MAX }, .action = 1 };
	const struct hy_flows_flow other = {
		.key = { .port = 1 }, .mask = { .port = UINT16_MAX, .src = UINT32_MAX }, .action = 2
	};
	static uint8_t frames[BURST][FLOWS_FRAME_ROOM];
	struct hy_flows_lookups before = { 0 }, after;
	struct rte_mbuf packets[BURST], *mbufs[BURST];
	uint32_t flow[BURST], n = 0;
	uint64_t seed = 1;

	flows_new(10, 8, 1, NULL);
	assert_int_equal(hy_flows_add(flows, &one), 0);
	assert_int_equal(hy_flows_add(flows, &other), 0);
	assert_int_equal(hy_flows_caches_set(flows, &(struct hy_flows_caches){ .frames = true }),
		0);
	for (uint32_t round = 0; round < 6; round++) {
		hy_flows_lookups(flows, 0, &before);
		for (uint32_t k = 0; k < 1000 * train; k += BURST) {
			for (uint32_t i = 0; i < BURST; i++) {
				const uint32_t src = n++ / train % 1000 * 2654435761u;

				plain_write(frames[i], &seed);
				memcpy(frames[i] + 26, &src, sizeof(src));
				frames[i][23] = IPPROTO_TCP;
				packets[i] = (struct rte_mbuf){ .buf_addr = frames[i],
					.data_len = LEN,
					.pkt_len = LEN,
					.nb_segs = 1 };
				mbufs[i] = &packets[i];
			}
			assert_int_equal(hy_flows_find(flows, 0, &rss, mbufs, flow, BURST), 0);
		}
	}
	hy_flows_lookups(flows, 0, &after);
	hy_flows_destroy(flows);
	flows = NULL;
	return (uint32_t)((after.frames - before.frames) * 100 / (after.packets - before.packets));
}

static void
frames_of_a_place_do_not_drive_each_other_out(void **state)
{
	const uint32_t single = found_by_frames(1), trains = found_by_frames(16);

	RTE_SET_USED(state);
	print_message("%u %% of packets one by one, %u %% of trains of 16\n", single, trains);
	assert_true(single > 90 && trains > 90);
}

/* Looks up one plain frame with a type of service. Returns the action of its megaflow. */
static uint32_t
action_of_tos(uint8_t tos)
{
	static uint8_t bytes[LEN];
	struct rte_mbuf packet = { .buf_addr = bytes,
		.data_len = LEN,
		.pkt_len = LEN,
		.nb_segs = 1,
		.ol_flags = RTE_MBUF_F_RX_RSS_HASH,
		.hash = { .rss = 7 } };
	struct rte_mbuf *const mbuf = &packet;
	uint32_t flow, action = HY_FLOWS_MISS;

	memcpy(bytes + 12, "\x08\x00\x45", 3);
	bytes[15] = tos;
	bytes[23] = IPPROTO_UDP;
	memcpy(bytes + 30, "\x0a\x00\x00\x01", 4);
	hy_flows_find(flows, 0, &rss, &mbuf, &flow, 1);
	hy_flows_actions(flows, &flow, &action, 1);
	return action;
}

static uint32_t looked, found_early;

/* A worker looks up while a megaflow is added. */
static void
look_meanwhile(void)
{
	looked++;
	found_early += action_of_tos(0x20) == 2;
	unit_alloc_hook = look_meanwhile;
}

/* The index still leads to the slot of a megaflow that was deleted, and that another one has now. */
static void
a_frame_was_entered_under_masks_that_lacked_that_of_its_megaflow(void **state)
{
	const rte_be32_t dst = rte_cpu_to_be_32(0x0a000001);
	const struct hy_flows_flow first = { .key = { .dst = dst }, .mask = MASK_DST, .action = 1 };
	const struct hy_flows_flow second = { .key = { .dst = dst, .tos = 0x20 },
		.mask = { .dst = UINT32_MAX, .tos = 0xff },
		.action = 2 };
	const struct hy_flows_flow other = { .key = { .dst = RTE_BE32(7) }, .mask = MASK_DST };
	const struct hy_flows_flow filler = { .key = { .dst = RTE_BE32(8) }, .mask = MASK_DST };

	RTE_SET_USED(state);
	looked = found_early = 0;
	/* Hashes are the NIC's, which do not depend on masks, or made of what masks look at. */
	for (int k = 2; k < 2 * HY_FLOWS_INDEXES; k++) {
		const struct hy_flows_caches kinds = { .frames = true,
			.index = (enum hy_flows_index)(k / 2) };

		rss.promised[0] = k % 2 == 1;

		flows_new(10, 8, 1, NULL);
		assert_int_equal(hy_flows_caches_set(flows, &kinds), 0);
		assert_int_equal(hy_flows_add(flows, &other), 0);         /* its mask stays */
		while (flows->slots[flows->free].next != FLOWS_NOWHERE) { /* one slot is left */
			assert_int_equal(hy_flows_add(flows, &filler), 0);
			assert_int_equal(hy_flows_delete(flows, &filler.key, &filler.mask), 0);
		}
		assert_int_equal(hy_flows_add(flows, &first), 0);
		assert_int_equal(action_of_tos(0x20), 1);
		assert_int_equal(hy_flows_delete(flows, &first.key, &first.mask), 0);
		unit_alloc_hook = look_meanwhile;
		assert_int_equal(hy_flows_add(flows, &second), 0);
		unit_alloc_hook = NULL;
		assert_int_equal(action_of_tos(0), HY_FLOWS_MISS);
		assert_int_equal(action_of_tos(0x20), 2);
		assert_int_equal(action_of_tos(0), HY_FLOWS_MISS);
		hy_flows_destroy(flows);
		flows = NULL;
	}
	rss.promised[0] = false;
	print_message("%u lookups meanwhile, %u of which found it\n", looked, found_early);
	assert_true(looked > 8 && found_early > 0 && found_early < looked);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(packets_get_a_megaflow_of_their_own_key, flows_setup,
		flows_teardown),
	cmocka_unit_test_setup_teardown(
		a_frame_was_entered_under_masks_that_lacked_that_of_its_megaflow, flows_setup,
		flows_teardown),
	cmocka_unit_test_setup_teardown(frames_of_a_place_do_not_drive_each_other_out, flows_setup,
		flows_teardown),
};
UNIT_SUITE(tests)
