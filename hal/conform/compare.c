/* SPDX-License-Identifier: BSD-3-Clause */
/* One burst: made, sent through both sides, and the fates of its packets compared. */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <rte_random.h>

#include "conform.h"

/* A random kind; one in five is captured, if there are captures. */
static enum hy_suite_kind
kind_random(const struct hy_frames *captures)
{
	const uint32_t r = (uint32_t)rte_rand_max(5);

	if (captures != NULL && captures->n > 0 && r == 0)
		return HY_SUITE_CAPTURED;
	return r < 3 ? HY_SUITE_RANDOM : HY_SUITE_ADVERSARIAL;
}

/* What a burst consists of: one packet in so many is of any kind, the others pass a chain. */
struct mix {
	uint32_t one_in;
	bool whole; /* all have one segment */
};

static struct mix
mix_random(const struct conform_trial *trial)
{
	static const uint32_t rates[] = { 1, 8, 64, UINT32_MAX };

	if (trial->fusion == NULL)
		return (struct mix){ .one_in = 1 };
	if (trial->number <= HY_BURST_MAX) /* each size once, for a fusion to handle all */
		return (struct mix){ .one_in = UINT32_MAX, .whole = true };
	return (struct mix){ .one_in = rates[rte_rand_max(RTE_DIM(rates))],
		.whole = rte_rand_max(8) != 0 };
}

int
conform_packets_make(struct conform_trial *trial, bool typical)
{
	const struct hy_frames *captures = trial->params->captures;
	struct conform_side *ref = &trial->ref, *cand = &trial->cand;
	struct hy_suite_packet *packet = &trial->scratch;
	const struct mix mix = mix_random(trial);

	trial->arena.used = 0;
	for (uint32_t i = 0; i < trial->n; i++) {
		const bool any = mix.one_in < UINT32_MAX && rte_rand_max(mix.one_in) == 0;
		const enum hy_suite_kind kind = typical ? HY_SUITE_TYPICAL
			: any                           ? kind_random(captures)
							: HY_SUITE_PASSING;

		conform_frame(kind, captures, packet);
		if (ref->suite->shape != NULL)
			ref->suite->shape(ref->state, kind, packet);
		trial->result->captured += kind == HY_SUITE_CAPTURED;
		memcpy(trial->lanes[i], packet->lanes, sizeof(trial->lanes[i]));
		memcpy(trial->wide[i], packet->wide, sizeof(trial->wide[i]));
		ref->packets[i] = conform_packet_plain(trial->pool, packet);
		cand->packets[i] = typical
			? conform_packet_plain(trial->pool, packet)
			: conform_packet_odd(trial->pool, &trial->arena, mix.whole, packet);
		if (ref->packets[i] == NULL || cand->packets[i] == NULL) {
			rte_pktmbuf_free(ref->packets[i]);
			rte_pktmbuf_free(cand->packets[i]);
			trial->n = i; /* for conform_burst_free() */
			return -ENOMEM;
		}
		conform_tag(ref->packets[i])->side = ref;
		conform_tag(ref->packets[i])->index = i;
		conform_tag(cand->packets[i])->side = cand;
		conform_tag(cand->packets[i])->index = i;
	}
	conform_side_begin(ref, trial->n);
	conform_side_begin(cand, trial->n);
	return 0;
}

int
conform_burst_make(struct conform_trial *trial)
{
	const int rc = conform_packets_make(trial, false);

	if (rc < 0)
		return rc;
	conform_hold(trial);
	conform_counts_read(&trial->ref, 0, trial->before[0]);
	conform_counts_read(&trial->cand, trial->graph, trial->before[1]);
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

	trial->fused_rc = 0;
	return conform_side_send(&trial->cand, trial->graph, 0, trial->n);
}

/* Compares something of one packet. 0 or -EILSEQ. */
typedef int(packet_compare)(struct conform_trial *trial, uint32_t i);

static int
fate_compare(struct conform_trial *trial, uint32_t i)
{
	const struct conform_fate *ref = &trial->ref.fate[i], *cand = &trial->cand.fate[i];
	char wanted[HY_TEXT_SIZE], got[HY_TEXT_SIZE];

	if (cand->times > 1 && ref->times == 1)
		return conform_fail(trial, (int)i, "sent %u times, expected once", cand->times);
	if (cand->out == ref->out && cand->times == ref->times)
		return 0;
	return conform_fail(trial, (int)i, "got %s, expected %s",
		conform_out_text(&trial->cand, cand->out, got, sizeof(got)),
		conform_out_text(&trial->ref, ref->out, wanted, sizeof(wanted)));
}

/* On an edge, and to the outside, packets keep their order; drops and releases have none. */
static int
order_compare(struct conform_trial *trial, uint32_t i)
{
	const struct conform_fate *ref = &trial->ref.fate[i], *cand = &trial->cand.fate[i];
	char out[HY_TEXT_SIZE];

	if (ref->out == CONFORM_DROP || ref->out == CONFORM_RELEASED || ref->order == cand->order)
		return 0;
	return conform_fail(trial, (int)i, "came as number %u to %s, expected as number %u",
		cand->order, conform_out_text(&trial->ref, ref->out, out, sizeof(out)), ref->order);
}

static int
lanes_compare(struct conform_trial *trial, uint32_t i)
{
	const struct conform_fate *ref = &trial->ref.fate[i], *cand = &trial->cand.fate[i];
	const struct hy_node_desc *node = &trial->ref.nodes[0].family->node;

	for (unsigned int l = 0; l < trial->ref.nb_lanes && ref->out < trial->ref.nb_edges; l++)
		if (ref->lanes[l] != cand->lanes[l])
			return conform_fail(trial, (int)i, "lane %s is 0x%08x, expected 0x%08x",
				node->lanes[l], cand->lanes[l], ref->lanes[l]);
	for (unsigned int l = 0; l < trial->ref.nb_wide && ref->out < trial->ref.nb_edges; l++)
		if (memcmp(ref->wide[l], cand->wide[l], sizeof(ref->wide[l])) != 0)
			return conform_fail(trial, (int)i,
				"wide lane %s differs from the reference's", node->wide[l].name);
	return 0;
}

/* The offset of the first byte that differs; the packet's length if none does. */
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
segments_len(const struct rte_mbuf *m, uint32_t *nb_segs)
{
	uint32_t len = 0;

	for (*nb_segs = 0; m != NULL; m = m->next, ++*nb_segs)
		len += m->data_len;
	return len;
}

/* Compares the metadata that drivers read on transmit and that nodes pass to one another. */
static const char *
metadata_differ(const struct rte_mbuf *ref, const struct rte_mbuf *cand, bool onward,
	uint64_t *wanted, uint64_t *got)
{
	uint32_t ref_segs, cand_segs;
	const uint32_t ref_len = segments_len(ref, &ref_segs);
	const uint32_t cand_len = segments_len(cand, &cand_segs);
	const struct {
		const char *name;
		uint64_t ref, cand;
	} fields[] = {
		{ "pkt_len", ref->pkt_len, cand->pkt_len },
		{ "length of its segments", ref_len, cand_len },
		/* Of its own segments: the reference's packet has others. */
		{ "nb_segs", cand_segs, cand->nb_segs },
		/* A node that sends a packet may set its port for an event device. */
		{ "port", onward ? ref->port : 0, onward ? cand->port : 0 },
		{ "ol_flags", ref->ol_flags & ~RTE_MBUF_F_EXTERNAL,
			cand->ol_flags & ~RTE_MBUF_F_EXTERNAL },
		{ "packet_type", ref->packet_type, cand->packet_type },
		{ "vlan_tci", ref->vlan_tci, cand->vlan_tci },
		{ "vlan_tci_outer", ref->vlan_tci_outer, cand->vlan_tci_outer },
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
contents_compare(struct conform_trial *trial, uint32_t i)
{
	const struct rte_mbuf *ref = trial->ref.packets[i], *cand = trial->cand.packets[i];
	const bool onward = trial->ref.fate[i].out < trial->ref.nb_edges;
	uint64_t want = 0, got = 0;
	const char *field = metadata_differ(ref, cand, onward, &want, &got);
	char room[HY_TEXT_SIZE];
	uint8_t want_byte = 0, got_byte = 0;
	uint32_t at;

	if (field != NULL)
		return conform_fail(trial, (int)i, "%s is 0x%" PRIx64 ", expected 0x%" PRIx64,
			field, got, want);
	at = bytes_differ(ref, cand, &want_byte, &got_byte);
	if (at != ref->pkt_len)
		return conform_fail(trial, (int)i, "byte %u is 0x%02x, expected 0x%02x", at,
			got_byte, want_byte);
	if (!conform_room_untouched(cand, room, sizeof(room)))
		return conform_fail(trial, (int)i, "%s", room);
	return 0;
}

static int
counts_compare(struct conform_trial *trial)
{
	uint64_t ref[CONFORM_COUNTS_MAX], cand[CONFORM_COUNTS_MAX];
	int64_t missing = 0;
	char what[HY_TEXT_SIZE];

	conform_counts_read(&trial->ref, 0, ref);
	conform_counts_read(&trial->cand, trial->graph, cand);
	for (unsigned int k = 0; k < conform_counts(&trial->ref); k++) {
		const int64_t wanted = (int64_t)(ref[k] - trial->before[0][k]);
		const int64_t got = (int64_t)(cand[k] - trial->before[1][k]);
		const enum conform_counter kind = conform_counter_of(&trial->ref, k);

		if (kind == CONFORM_SUMMED)
			missing += wanted - got;
		else if (got != wanted && kind == CONFORM_COMPARED)
			return conform_fail(trial, -1, "%s counted %" PRId64 ", expected %" PRId64,
				conform_count_text(&trial->ref, k, what, sizeof(what)), got,
				wanted);
	}
	if (missing != 0)
		return conform_fail(trial, -1,
			"counters of which one counts a packet counted %" PRId64 " too few",
			missing);
	return 0;
}

int
conform_burst_compare(struct conform_trial *trial)
{
	static packet_compare *const steps[] = { fate_compare, order_compare, lanes_compare,
		contents_compare };
	int rc;

	conform_side_end(&trial->cand);
	rc = conform_hold_check(trial);
	for (size_t s = 0; s < RTE_DIM(steps); s++)
		for (uint32_t i = 0; i < trial->n && rc == 0; i++)
			rc = steps[s](trial, i);
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
