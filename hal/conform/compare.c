/* SPDX-License-Identifier: BSD-3-Clause */
/* One burst: made once, sent through both sides, and what became of its packets compared. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_random.h>

#include "conform.h"

/* Kinds by turns at random; captures, if there are any, are a fifth. */
static enum hy_suite_kind
kind_random(const struct hy_frames *captures)
{
	const uint32_t r = (uint32_t)rte_rand_max(5);

	if (captures != NULL && captures->n > 0 && r == 0)
		return HY_SUITE_CAPTURED;
	return r < 3 ? HY_SUITE_RANDOM : HY_SUITE_ADVERSARIAL;
}

int
conform_burst_make(struct conform_trial *trial)
{
	struct conform_side *ref = &trial->ref, *cand = &trial->cand;
	const struct hy_suite *suite = ref->suite;

	trial->arena.used = 0;
	for (uint32_t i = 0; i < trial->n; i++) {
		struct hy_suite_packet *packet = &trial->scratch;
		const enum hy_suite_kind kind = kind_random(trial->params->captures);

		conform_frame(kind, trial->params->captures, packet);
		if (suite->shape != NULL)
			suite->shape(ref->state, kind, packet);
		trial->result->captured += kind == HY_SUITE_CAPTURED;
		memcpy(trial->lanes[i], packet->lanes, sizeof(trial->lanes[i]));
		ref->packets[i] = conform_packet_plain(trial->pool, packet);
		cand->packets[i] = conform_packet_odd(trial->pool, &trial->arena, packet);
		if (ref->packets[i] == NULL || cand->packets[i] == NULL) {
			rte_pktmbuf_free(ref->packets[i]);
			rte_pktmbuf_free(cand->packets[i]);
			trial->n = i; /* to be freed */
			return -ENOMEM;
		}
		*conform_tag(ref->packets[i]) = (struct conform_tag){ ref, i };
		*conform_tag(cand->packets[i]) = (struct conform_tag){ cand, i };
	}
	conform_hold(trial);
	conform_side_begin(ref, trial->n);
	conform_side_begin(cand, trial->n);
	conform_counts_read(ref, 0, trial->before[0]);
	conform_counts_read(cand, trial->graph, trial->before[1]);
	return 0;
}

int
conform_burst_send_ref(struct conform_trial *trial)
{
	int rc = trial->n == 0 ? conform_side_send(&trial->ref, 0, 0, 0) : 0;

	trial->ref.limit[0] = 1;
	for (uint32_t i = 0; i < trial->n && rc == 0; i++)
		rc = conform_side_send(&trial->ref, 0, i, 1);
	conform_side_end(&trial->ref);
	return rc;
}

int
conform_burst_send_cand(void *arg)
{
	struct conform_trial *trial = arg;

	return conform_side_send(&trial->cand, trial->graph, 0, trial->n);
}

static int
fates_compare(struct conform_trial *trial)
{
	char wanted[HY_TEXT_SIZE], got[HY_TEXT_SIZE];

	for (uint32_t i = 0; i < trial->n; i++) {
		const struct conform_fate *ref = &trial->ref.fate[i], *cand = &trial->cand.fate[i];

		if (cand->times > 1 && ref->times == 1) {
			conform_fail(trial, (int)i, "sent on %u times, expected once", cand->times);
			return -EILSEQ;
		}
		if (cand->out == ref->out && cand->times == ref->times)
			continue;
		conform_fail(trial, (int)i, "got %s, expected %s",
			conform_out_text(&trial->cand, cand->out, got, sizeof(got)),
			conform_out_text(&trial->ref, ref->out, wanted, sizeof(wanted)));
		return -EILSEQ;
	}
	return 0;
}

/* On an edge, and to the outside, packets keep their order; drops and releases have none. */
static int
order_compare(struct conform_trial *trial)
{
	char out[HY_TEXT_SIZE];

	for (uint32_t i = 0; i < trial->n; i++) {
		const struct conform_fate *ref = &trial->ref.fate[i], *cand = &trial->cand.fate[i];

		if (ref->out == conform_out_drop(&trial->ref) ||
			ref->out == conform_out_released(&trial->ref) || ref->order == cand->order)
			continue;
		conform_fail(trial, (int)i, "came as number %u to %s, expected as number %u",
			cand->order, conform_out_text(&trial->ref, ref->out, out, sizeof(out)),
			ref->order);
		return -EILSEQ;
	}
	return 0;
}

static int
lanes_compare(struct conform_trial *trial)
{
	for (uint32_t i = 0; i < trial->n; i++) {
		const struct conform_fate *ref = &trial->ref.fate[i], *cand = &trial->cand.fate[i];

		for (unsigned int l = 0; l < trial->ref.nb_lanes; l++) {
			if (ref->out >= trial->ref.nb_edges || ref->lanes[l] == cand->lanes[l])
				continue;
			conform_fail(trial, (int)i, "lane %s is 0x%08x, expected 0x%08x",
				trial->ref.family->node.lanes[l], cand->lanes[l], ref->lanes[l]);
			return -EILSEQ;
		}
	}
	return 0;
}

/* The first byte that differs; the packet's length: none. */
static uint32_t
bytes_differ(const struct rte_mbuf *ref, const struct rte_mbuf *cand, uint8_t *wanted, uint8_t *got)
{
	const uint8_t *bytes = rte_pktmbuf_mtod(ref, const uint8_t *);
	uint32_t at = 0;

	for (; cand != NULL; cand = cand->next) {
		const uint8_t *here = rte_pktmbuf_mtod(cand, const uint8_t *);

		if (memcmp(here, bytes + at, cand->data_len) != 0) {
			uint32_t i = 0;

			while (here[i] == bytes[at + i])
				i++;
			*wanted = bytes[at + i];
			*got = here[i];
			return at + i;
		}
		at += cand->data_len;
	}
	return at;
}

static uint32_t
segments_len(const struct rte_mbuf *m)
{
	uint32_t len = 0;

	for (; m != NULL; m = m->next)
		len += m->data_len;
	return len;
}

/* What a driver reads of a packet that it sends, and nodes leave for one another. */
static const char *
metadata_differ(const struct rte_mbuf *ref, const struct rte_mbuf *cand, bool onward,
	uint64_t *wanted, uint64_t *got)
{
	const struct {
		const char *name;
		uint64_t ref, cand;
	} fields[] = {
		{ "pkt_len", ref->pkt_len, cand->pkt_len },
		{ "length of its segments", segments_len(ref), segments_len(cand) },
		/* Of a packet that is sent out, event devices read where to. */
		{ "port", onward ? ref->port : 0, onward ? cand->port : 0 },
		{ "ol_flags", ref->ol_flags & ~RTE_MBUF_F_EXTERNAL,
			cand->ol_flags & ~RTE_MBUF_F_EXTERNAL },
		{ "packet_type", ref->packet_type, cand->packet_type },
		{ "vlan_tci", ref->vlan_tci, cand->vlan_tci },
		{ "hash.rss", ref->hash.rss, cand->hash.rss },
		{ "hash.fdir.hi", ref->hash.fdir.hi, cand->hash.fdir.hi },
		{ "tx_offload", ref->tx_offload, cand->tx_offload },
	};

	for (size_t f = 0; f < RTE_DIM(fields); f++)
		if (fields[f].ref != fields[f].cand) {
			*wanted = fields[f].ref;
			*got = fields[f].cand;
			return fields[f].name;
		}
	return NULL;
}

static int
packets_compare(struct conform_trial *trial)
{
	for (uint32_t i = 0; i < trial->n; i++) {
		const struct rte_mbuf *ref = trial->ref.packets[i], *cand = trial->cand.packets[i];
		const bool onward = trial->ref.fate[i].out < trial->ref.nb_edges;
		uint64_t want = 0, got = 0;
		const char *field = metadata_differ(ref, cand, onward, &want, &got);
		char room[HY_TEXT_SIZE];
		uint8_t want_byte = 0, got_byte = 0;
		uint32_t at;

		if (field != NULL) {
			conform_fail(trial, (int)i, "%s is 0x%" PRIx64 ", expected 0x%" PRIx64,
				field, got, want);
			return -EILSEQ;
		}
		at = bytes_differ(ref, cand, &want_byte, &got_byte);
		if (at != ref->pkt_len) {
			conform_fail(trial, (int)i, "byte %u is 0x%02x, expected 0x%02x", at,
				got_byte, want_byte);
			return -EILSEQ;
		}
		if (!conform_room_untouched(cand, room, sizeof(room))) {
			conform_fail(trial, (int)i, "%s", room);
			return -EILSEQ;
		}
	}
	return 0;
}

static int
counts_compare(struct conform_trial *trial)
{
	uint64_t ref[CONFORM_COUNTS_MAX], cand[CONFORM_COUNTS_MAX];
	char what[HY_TEXT_SIZE];

	conform_counts_read(&trial->ref, 0, ref);
	conform_counts_read(&trial->cand, trial->graph, cand);
	for (unsigned int k = 0; k < conform_counts(&trial->ref); k++) {
		const int64_t wanted = (int64_t)(ref[k] - trial->before[0][k]);
		const int64_t got = (int64_t)(cand[k] - trial->before[1][k]);

		if (got == wanted)
			continue;
		conform_fail(trial, -1, "%s counted %" PRId64 ", expected %" PRId64,
			conform_count_text(&trial->ref, k, what, sizeof(what)), got, wanted);
		return -EILSEQ;
	}
	return 0;
}

int
conform_burst_compare(struct conform_trial *trial)
{
	int rc;

	conform_side_end(&trial->cand);
	rc = conform_hold_check(trial);
	if (rc == 0)
		rc = fates_compare(trial);
	if (rc == 0)
		rc = order_compare(trial);
	if (rc == 0)
		rc = lanes_compare(trial);
	if (rc == 0)
		rc = packets_compare(trial);
	return rc == 0 ? counts_compare(trial) : rc;
}

void
conform_burst_free(struct conform_trial *trial)
{
	conform_hold_end(trial);
	rte_pktmbuf_free_bulk(trial->ref.packets, trial->n);
	rte_pktmbuf_free_bulk(trial->cand.packets, trial->n);
	trial->n = 0;
}
