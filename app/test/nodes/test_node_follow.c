/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Megaflows follow changes of rules: random rules in four tables, which write to packets and send them on, come,
 * change and go. After each commit, the megaflows that were kept say what the rules say now, also of other
 * packets that they stand for, and asking about all of them changes no action.
 */

#include <stdio.h>
#include <string.h>

#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>

#include <hy_flow_lookup.h>

#include "app/test/flows/flows_fixture.h"
#include "app/test/unit.h"
#include "lib/datapath/datapath.h"

#ifdef SANITIZED
#define ROUNDS 40
#else
#define ROUNDS 100
#endif
#define KEYS 40     /* packets of a round */
#define OTHERS 3    /* packets of a megaflow, besides that whose unknown bits are 0 */
#define CHANGES 4   /* of a round, at most */
#define ALL_EVERY 8 /* rounds, until the rules are asked about all megaflows */
#define TUNNEL 7    /* OpenFlow number */

static struct hy_workers all;
static struct hy_datapath *datapath;
static struct hy_vswitch_answer answer;
static uint64_t seed;
static struct {
	uint32_t changes, refused; /* of rules */
	uint32_t made, compared, deleted_later;
} counts;

static uint32_t
any(uint32_t n)
{
	return flows_random(&seed) % n;
}

static bool
one_in(uint32_t n)
{
	return any(n) == 0;
}

/* Appends to a text of 512 bytes. */
#define APPEND(text, ...) snprintf((text) + strlen(text), 512 - strlen(text), __VA_ARGS__)

/* What a rule matches: few values, so that it does. */
static void
match_write(char *text)
{
	static const char *const protos[] = { "", ",ip", ",udp", ",tcp", ",ipv6", ",arp", ",icmp",
		",udp6", ",ipv6,nw_proto=44" };
	const uint32_t proto = any(RTE_DIM(protos));

	APPEND(text, "table=%u", any(4));
	if (one_in(3))
		APPEND(text, ",in_port=%u", one_in(4) ? TUNNEL : 1 + any(3));
	if (one_in(4))
		APPEND(text, ",dl_vlan=%u", 1 + any(3));
	else if (one_in(6))
		APPEND(text, ",vlan_tci=0x0000/0x1000");
	if (one_in(8))
		APPEND(text, ",tun_id=%u", any(3));
	APPEND(text, "%s", protos[proto]);
	if (proto >= 1 && proto <= 3 && one_in(2))
		APPEND(text, ",nw_dst=10.0.%u.%u/%u", any(3), any(3), 22 + any(11));
	if (proto >= 1 && proto <= 3 && one_in(4))
		APPEND(text, ",nw_src=10.0.%u.%u", any(3), any(3));
	if ((proto == 1 || proto == 4) && one_in(4))
		APPEND(text, ",nw_frag=%s", one_in(2) ? "later" : one_in(2) ? "no" : "first");
	if (proto >= 1 && proto <= 4 && one_in(3))
		APPEND(text, ",nw_ttl=%u", any(4));
	if ((proto == 2 || proto == 3 || proto == 7) && one_in(2))
		APPEND(text, ",tp_dst=%u", any(4));
}

static void
actions_write(char *text)
{
	APPEND(text, " actions=");
	for (uint32_t n = 1 + any(4); n > 0; n--) {
		switch (any(14)) {
		case 0:
		case 12:
			APPEND(text, "dec_ttl,");
			break;
		case 1:
			APPEND(text, "mod_nw_dst:10.0.%u.%u,", any(3), any(3));
			break;
		case 2:
			APPEND(text, "mod_vlan_vid:%u,", 1 + any(3));
			break;
		case 3:
		case 13:
			APPEND(text, !one_in(4) ? "pop_vlan," : "push_vlan:0x8100,");
			break;
		case 4:
			APPEND(text, "mod_tp_dst:%u,", any(4));
			break;
		case 5:
			APPEND(text, "set_tunnel:%u,", any(3));
			break;
		case 6:
			APPEND(text, "resubmit(%u,%u),", 1 + any(3), any(4));
			break;
		case 7:
			APPEND(text, "mod_nw_ttl:%u,", any(4));
			break;
		case 8:
		case 9:
			APPEND(text, "resubmit(,%u),", any(4));
			break;
		default:
			APPEND(text, "output:%u,", one_in(5) ? TUNNEL : 1 + any(3));
		}
	}
	APPEND(text, "output:%u", 1 + any(3));
}

/* A rule is added, or some are changed or deleted; it is not yet committed. */
static void
rules_change(void)
{
	static const enum hy_datapath_change whats[] = { HY_DATAPATH_ADD, HY_DATAPATH_ADD,
		HY_DATAPATH_ADD, HY_DATAPATH_MODIFY, HY_DATAPATH_MODIFY_STRICT, HY_DATAPATH_DELETE,
		HY_DATAPATH_DELETE_STRICT };
	const enum hy_datapath_change what = whats[any(RTE_DIM(whats))];
	char text[512] = "", error[HY_DATAPATH_ERROR_SIZE];

	if (what != HY_DATAPATH_DELETE && what != HY_DATAPATH_MODIFY)
		APPEND(text, "priority=%u,", any(8));
	match_write(text);
	if (what != HY_DATAPATH_DELETE && what != HY_DATAPATH_DELETE_STRICT)
		actions_write(text);
	if (hy_datapath_put(datapath, what, text, NULL, error) == 0)
		counts.changes++;
	else
		counts.refused++;
}

/* A packet with the same few values. */
static struct hy_flows_key
key_make(void)
{
	struct hy_flows_key key = key_any(&seed);

	key.port = (uint16_t)(11 + any(3));
	if (key.dst != 0)
		key.dst = rte_cpu_to_be_32(0x0a000000 + (any(3) << 8) + any(3));
	if (key.src != 0)
		key.src = rte_cpu_to_be_32(0x0a000000 + (any(3) << 8) + any(3));
	if (key.ttl != 0)
		key.ttl = (uint8_t)any(4);
	if (key.dport != 0)
		key.dport = rte_cpu_to_be_16((uint16_t)any(4));
	key.vlan = one_in(2) ? 0 : rte_cpu_to_be_16((uint16_t)(0x1000 + 1 + any(3)));
	key.vlan2 = key.vlan == 0 || one_in(2) ? 0
					       : rte_cpu_to_be_16((uint16_t)(0x1000 + 1 + any(3)));
	if (one_in(4)) {
		key.kind |= HY_FLOWS_TUNNELLED;
		key.tunnel_src = rte_cpu_to_be_32(0xc0000202);
		key.tunnel_dst = rte_cpu_to_be_32(0xc0000201);
		key.vni[2] = (uint8_t)any(3);
	}
	return key;
}

/* Installs the megaflow of a packet that none matches, as an upcall does. */
static void
packet_meets_rules(void)
{
	struct hy_flows *cache = hy_datapath_flows(datapath);
	struct hy_flows_flow flow = { .key = key_make() };
	const struct hy_flows_key key = flow.key;
	uint32_t found, hash = 0;

	if (hy_flows_lookup(cache, 0, HY_FLOWS_PARSE_ALL | HY_FLOWS_PARSE_TUNNEL, &key, &hash,
		    &found, 1) == 0)
		return;
	assert_int_equal(datapath_ask(datapath, &key, &flow), 0);
	flow.key = key;
	assert_int_equal(hy_flows_add(cache, &flow), 0);
	counts.made++;
}

/* Whether a packet gets what its megaflow says. */
static void
assert_same(const struct hy_flows_entry *entry, const struct hy_flows_key *key)
{
	const struct datapath_list *list = datapath->lists.by_number[entry->flow.action >> 16];
	char text[HY_VSWITCH_TEXT_SIZE];

	assert_non_null(list);
	hy_vswitch_translate(datapath->rules, key, &answer);
	counts.compared++;
	if (answer.nb_ops == list->nb_ops && answer.nb_rules == list->nb_rules &&
		memcmp(answer.ops, list->ops, list->nb_ops * sizeof(list->ops[0])) == 0 &&
		memcmp(answer.rules, list->rules, list->nb_rules * sizeof(uint64_t)) == 0)
		return;
	hy_vswitch_match_format(&entry->flow.key, &entry->flow.mask, text);
	fail_msg("megaflow %s: %u operations by %u rules; the rules say %u by %u", text,
		list->nb_ops, list->nb_rules, answer.nb_ops, answer.nb_rules);
}

/* Each megaflow stands for what the rules say of packets that have its bits. */
static void
assert_megaflows_follow(void)
{
	struct hy_flows_entry entries[64];
	uint32_t cursor = 0;

	while (cursor != HY_FLOWS_END) {
		const uint32_t n = hy_flows_dump(hy_datapath_flows(datapath), &cursor, entries,
			RTE_DIM(entries));

		for (uint32_t i = 0; i < n; i++) {
			const struct hy_flows_flow *flow = &entries[i].flow;

			for (uint32_t k = 0; k < 1 + OTHERS; k++) {
				const struct hy_flows_key other = key_make();
				struct hy_flows_key key;

				for (uint32_t w = 0; w < HY_FLOWS_WORDS; w++)
					key.words[w] = flow->key.words[w] |
						(k == 0 ? 0
							: other.words[w] & ~flow->mask.words[w]);
				assert_same(&entries[i], &key);
			}
		}
	}
}

/* Asking about all megaflows changes no action. It deletes few: the rules look at more now to say the same. */
static void
assert_all_are_right(void)
{
	struct hy_flows *cache = hy_datapath_flows(datapath);
	struct hy_flows_stats before, after;

	hy_flows_stats(cache, &before);
	hy_flows_revalidate(hy_flow_table_upcalls(datapath->table));
	hy_flows_stats(cache, &after);
	assert_int_equal(after.modified, before.modified);
	counts.deleted_later += (uint32_t)(after.deleted - before.deleted);
}

static void
switch_make(void)
{
	static const struct hy_vswitch_port ports[] = {
		{ .number = 1, .name = "one", .port = 11 },
		{ .number = 2, .name = "two", .port = 12 },
		{ .number = 3, .name = "three", .port = 13 },
		{ .number = TUNNEL,
			.name = "vx",
			.is_tunnel = true,
			.tunnel = { .local = { 192, 0, 2, 1 },
				.remote = { 192, 0, 2, 2 },
				.dst_mac = { 2, 0, 0, 0, 0, 1 },
				.uplink = 1 } },
	};
	const struct hy_datapath_params params = {
		.ports = ports, .nb_ports = RTE_DIM(ports), .max_flows = 1 << 16
	};
	char error[HY_DATAPATH_ERROR_SIZE];

	all.nb = 1;
	all.qsbr = rte_zmalloc(NULL, rte_rcu_qsbr_get_memsize(1), RTE_CACHE_LINE_SIZE);
	assert_int_equal(rte_rcu_qsbr_init(all.qsbr, 1), 0);
	assert_int_equal(rte_rcu_qsbr_thread_register(all.qsbr, 0), 0); /* this one is the worker */
	rte_rcu_qsbr_thread_online(all.qsbr, 0);
	all.worker[0].socket = SOCKET_ID_ANY;
	if (hy_datapath_create(&params, &datapath, error) < 0 ||
		hy_datapath_start(datapath, &all, error) < 0)
		fail_msg("%s", error);
}

static void
megaflows_that_a_change_cannot_touch_are_kept_and_right(void **state)
{
	struct hy_flows_stats stats;

	RTE_SET_USED(state);
	memset(&counts, 0, sizeof(counts));
	seed = 22;
	switch_make();
	for (uint32_t i = 0; i < 60; i++)
		rules_change();
	for (uint32_t round = 0; round < ROUNDS; round++) {
		hy_datapath_commit(datapath);
		rte_rcu_qsbr_quiescent(all.qsbr, 0);
		assert_megaflows_follow();
		if (round % ALL_EVERY == 0)
			assert_all_are_right();
		for (uint32_t i = 0; i < KEYS; i++) {
			packet_meets_rules();
			rte_rcu_qsbr_quiescent(all.qsbr, 0);
		}
		for (uint32_t n = 1 + any(CHANGES); n > 0; n--)
			rules_change();
	}
	hy_flows_stats(hy_datapath_flows(datapath), &stats);
	print_message("%u changes (%u refused), %u rules; %u megaflows made, %ju modified, %ju "
		      "deleted; kept %ju times, asked %ju times; %u packets compared, %u deleted "
		      "later\n",
		counts.changes, counts.refused, hy_vswitch_rules(datapath->rules), counts.made,
		(uintmax_t)stats.modified, (uintmax_t)stats.deleted, (uintmax_t)datapath->kept,
		(uintmax_t)datapath->asked, counts.compared, counts.deleted_later);
	assert_true(counts.compared > 20 * counts.made);
	assert_true(counts.changes > ROUNDS && counts.made > 5 * ROUNDS);
	assert_true(stats.modified > ROUNDS / 4 && stats.deleted > ROUNDS);
	assert_true(datapath->kept > datapath->asked && datapath->asked > ROUNDS);
	assert_true(counts.deleted_later < counts.made / 5);
	rte_rcu_qsbr_thread_offline(all.qsbr, 0);
	assert_int_equal(rte_rcu_qsbr_thread_unregister(all.qsbr, 0), 0);
	hy_datapath_destroy(datapath);
	rte_free(all.qsbr);
}

static const struct CMUnitTest follow_tests[] = {
	FLOWS_TEST(megaflows_that_a_change_cannot_touch_are_kept_and_right),
};

UNIT_SUITE(follow_tests)
