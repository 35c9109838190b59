/* SPDX-License-Identifier: BSD-3-Clause */
/* The suite of flow_cls finds variants that read a header wrongly. */

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include <hy_conform.h>
#include <hy_flow_cls_node.h>

#include "app/test/unit.h"

static enum {
	RIGHT,
	INNER_TAG,    /* takes the VLAN of the second tag */
	NO_THIRD_TAG, /* does not take a third tag for an ether type */
	NO_SCTP,      /* finds no ports of SCTP */
	CUT_PORTS,    /* takes ports that are cut off for 0 */
	SHORT_PREFIX, /* leaves out the last bit of long prefixes */
	NO_FRAGMENTS, /* takes fragments for whole packets */
	NO_RST,       /* takes TCP with RST for the first packet of a connection */
	MACS_TURNED,  /* takes the source address for the destination */
	FIRST_TYPE,   /* takes the type of the first extension header for the protocol */
} wrong;

/* The number of tags, 2 at most. */
static unsigned int
tags_of(const uint8_t *frame, const struct hy_flow_key *key)
{
	uint16_t second;

	if ((key->has & HY_FLOW_VLAN) == 0)
		return 0;
	second = (uint16_t)(frame[16] << 8 | frame[17]);
	return second == 0x8100 || second == 0x88a8 || second == 0x9100 ? 2 : 1;
}

/* Likewise, of fields that only software matches. */
static void
key_spoil_more(const uint8_t *l3, struct hy_flow_key *key)
{
	if (wrong == NO_FRAGMENTS && (key->has & HY_FLOW_FRAGMENT) != 0)
		key->fragment = HY_FLOW_NO_FRAGMENT;
	if (wrong == NO_RST && (key->tcp_flags & 0x10) == 0)
		key->has &= ~HY_FLOW_ESTABLISHED;
	if (wrong == MACS_TURNED)
		key->dst_mac = key->src_mac;
	if (wrong == FIRST_TYPE && (key->has & HY_FLOW_IPV6) != 0)
		key->proto = l3[6];
}

/* Changes the key of a frame whose tags are complete. */
static void
key_spoil(const uint8_t *frame, uint32_t len, struct hy_flow_key *key)
{
	const unsigned int tags = tags_of(frame, key);
	const uint32_t at = 14 + 4 * tags;
	const bool ip = (key->has & HY_FLOW_IPV4) != 0;

	if (wrong == INNER_TAG && tags == 2)
		key->vlan = (uint16_t)((frame[18] & 0xf) << 8 | frame[19]);
	if (wrong == NO_THIRD_TAG && tags == 2 && key->ether_type == 0x8100)
		key->has &= ~HY_FLOW_ETHER_TYPE;
	if (wrong == NO_SCTP && key->proto == IPPROTO_SCTP)
		key->has &= ~HY_FLOW_PORTS;
	if (wrong == CUT_PORTS && ip && (key->proto == IPPROTO_UDP || key->proto == IPPROTO_TCP) &&
		((frame[at + 6] & 0x3f) | frame[at + 7]) == 0 &&
		len < at + 4 * (frame[at] & 15u) + 4)
		key->has |= HY_FLOW_PORTS;
	key_spoil_more(frame + at, key);
}

static struct hy_flow_cls_answer
answer_of(const struct hy_policy_view *view, const struct hy_flow_key *key)
{
	for (uint32_t r = 0; r < view->nb_rules; r++) {
		struct hy_flow_match match = view->rules[r].rule.match;

		if (wrong == SHORT_PREFIX && match.dst_len > 24)
			match.dst_len--;
		if (hy_flow_matches(&match, key))
			return hy_flow_cls_answer(&view->rules[r]);
	}
	return hy_flow_cls_answer(NULL);
}

static uint16_t
wrong_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct hy_flow_cls_ctx *ctx = (const struct hy_flow_cls_ctx *)node->ctx;
	struct hy_flow_cls_answer answer[HY_BURST_MAX];
	struct hy_flow_key key[HY_BURST_MAX];
	uint8_t bounce[HY_FLOW_HEADERS];
	uint32_t hits = 0;

	if (n > 0)
		hy_flow_cls_keys(objs, n, key);
	for (uint16_t i = 0; i < n; i++) {
		const struct rte_mbuf *m = objs[i];

		if ((key[i].has & HY_FLOW_ETHER_TYPE) != 0)
			key_spoil(hy_mbuf_peek(m, HY_FLOW_HEADERS, bounce), m->pkt_len, &key[i]);
		answer[i] = answer_of(hy_policy_view(ctx->policy), &key[i]);
		hits += answer[i].class_id != HY_FLOW_NO_CLASS;
	}
	hy_counter_add(node, HY_FLOW_CLS_SW_HITS, hits);
	hy_counter_add(node, HY_FLOW_CLS_SW_MISSES, n - hits);
	hy_flow_cls_send(graph, node, objs, n, answer);
	return n;
}

static void
variant_that_reads_headers_wrongly_is_found(void **state)
{
	static const struct hy_variant variant = { .family = "flow_cls",
		.text = "For tests",
		.pack = "test",
		.impl = { .variant = "key_wrong", .process = wrong_process } };
	struct hy_conform_result result;
	struct hy_hal *hal;

	RTE_SET_USED(state);
	assert_int_equal(hy_variant_register(&variant), 0);
	assert_int_equal(hy_hal_create(&hal), 0);
	for (wrong = RIGHT; wrong <= FIRST_TYPE; wrong++) {
		const int rc = hy_conform_run(hal, "flow_cls", "key_wrong",
			&(struct hy_conform_params){ .seed = 3 }, &result);

		if (rc != (wrong == RIGHT ? 0 : -EILSEQ))
			fail_msg("way %d: %d, \"%s\"", (int)wrong, rc, result.text);
	}
	hy_hal_destroy(hal);
}

static const struct CMUnitTest conform_key_tests[] = {
	cmocka_unit_test(variant_that_reads_headers_wrongly_is_found),
};

UNIT_SUITE(conform_key_tests)
