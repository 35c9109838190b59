/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What has changed, and whether an answer that was given before can be another one now.
 *
 * A packet goes from table to table by the rules that it meets. If all of these stay as they are, and no
 * table that it asks gets a rule that matches it and has a higher priority than what it met there, it meets
 * the same rules: those that it did not meet have no say, whether they stay or go. So an answer is asked for
 * anew if it names a rule that went or got other actions, or if a new rule's table was asked, its
 * priority is higher than the lowest that was met (or nothing was met there), and its match and that of the
 * answer have packets in common. Bits that were written on the way are taken to match, as they are not
 * known.
 */

#include <netinet/in.h>
#include <string.h>

#include <rte_common.h>
#include <rte_ether.h>

#include "lib/vswitch/vswitch.h"

#define BITS (8 * HY_VSWITCH_CHANGES) /* in maybe[] */

#define NONE ((uint16_t)HY_VSWITCH_CHANGES)
#define BUCKETS (2 * HY_VSWITCH_CHANGES) /* a power of two */

static inline uint32_t
bit_of(uint64_t id)
{
	return (uint32_t)((id * UINT64_C(0x9e3779b97f4a7c15)) >> 32) % BITS;
}

void
vswitch_log_all(struct hy_vswitch *vswitch)
{
	vswitch->changes.all = true;
}

void
vswitch_log_gone(struct hy_vswitch *vswitch, uint64_t id)
{
	struct hy_vswitch_changes *changes = &vswitch->changes;

	changes->all |= changes->nb_gone == HY_VSWITCH_CHANGES;
	if (changes->all)
		return;
	changes->gone[changes->nb_gone++] = id;
	changes->maybe[bit_of(id) / 64] |= UINT64_C(1) << bit_of(id) % 64;
}

void
vswitch_log_new(struct hy_vswitch *vswitch, const struct vswitch_entry *entry)
{
	struct hy_vswitch_changes *changes = &vswitch->changes;

	changes->all |= changes->nb_new == HY_VSWITCH_CHANGES;
	if (changes->all)
		return;
	changes->highest = RTE_MAX(changes->highest, entry->priority);
	changes->tables[entry->table / 64] |= UINT64_C(1) << entry->table % 64;
	changes->came[changes->nb_new++] = (struct hy_vswitch_new){ .key = entry->key,
		.mask = entry->subtable->mask,
		.words = hy_flows_words(&entry->subtable->mask),
		.priority = entry->priority,
		.table = entry->table };
}

/* The bucket of keys that are the same in a mask. The port, which megaflows name otherwise, is left out. */
static uint32_t
bucket_of(const struct hy_flows_key *key, const struct hy_vswitch_new *of)
{
	const struct hy_flows_key port = { .port = UINT16_MAX };
	uint64_t hash = of->words;

	for (uint32_t words = of->words; words != 0; words &= words - 1) {
		const unsigned int w = (unsigned int)__builtin_ctz(words);

		hash ^= key->words[w] & of->mask.words[w] & ~port.words[w];
		hash = (hash ^ hash >> 32) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	return (uint32_t)hash & (BUCKETS - 1);
}

/* Sorts new rules by their masks, and by their keys. */
static void
sort(struct hy_vswitch_changes *changes)
{
	changes->nb_masks = 0;
	for (uint32_t b = 0; b < BUCKETS; b++)
		changes->bucket[b] = NONE;
	for (uint32_t i = 0; i < changes->nb_new; i++) {
		struct hy_vswitch_new *new = &changes->came[i];
		uint16_t *bucket = &changes->bucket[bucket_of(&new->key, new)];
		uint32_t m = 0;

		while (m < changes->nb_masks &&
			memcmp(&changes->came[changes->last[m]].mask, &new->mask,
				sizeof(new->mask)) != 0)
			m++;
		new->peer = m < changes->nb_masks ? changes->last[m] : NONE;
		new->like = *bucket;
		changes->last[m] = *bucket = (uint16_t)i;
		changes->nb_masks = RTE_MAX(changes->nb_masks, m + 1);
	}
}

void
hy_vswitch_changes(struct hy_vswitch *vswitch, struct hy_vswitch_changes *changes)
{
	struct hy_vswitch_changes *log = &vswitch->changes;

	pthread_mutex_lock(&vswitch->lock);
	changes->all = log->all;
	changes->nb_gone = log->nb_gone;
	changes->nb_new = log->nb_new;
	changes->highest = log->highest;
	memcpy(changes->tables, log->tables, sizeof(log->tables));
	memcpy(changes->gone, log->gone, log->nb_gone * sizeof(log->gone[0]));
	memcpy(changes->maybe, log->maybe, sizeof(log->maybe));
	memcpy(changes->came, log->came, log->nb_new * sizeof(log->came[0]));
	log->all = false;
	log->nb_gone = log->nb_new = log->highest = 0;
	memset(log->tables, 0, sizeof(log->tables));
	memset(log->maybe, 0, sizeof(log->maybe));
	pthread_mutex_unlock(&vswitch->lock);
	sort(changes);
}

static bool
is_gone(const struct hy_vswitch_changes *changes, uint64_t id)
{
	if ((changes->maybe[bit_of(id) / 64] >> bit_of(id) % 64 & 1) == 0)
		return false;
	for (uint32_t i = 0; i < changes->nb_gone; i++)
		if (changes->gone[i] == id)
			return true;
	return false;
}

static bool
has_bit(const uint64_t words[HY_VSWITCH_TRAIL], uint8_t table)
{
	return (words[table / 64] >> table % 64 & 1) != 0;
}

/* Whether a new rule could count for a packet that it matches. */
static bool
could_count(const struct hy_vswitch_new *new, const struct hy_vswitch_trail *trail)
{
	return has_bit(trail->missed, new->table) ||
		(has_bit(trail->tables, new->table) && new->priority > trail->lowest);
}

enum hy_vswitch_touch
hy_vswitch_touch(const struct hy_vswitch_changes *changes, const uint64_t rules[], uint32_t n,
	const struct hy_vswitch_trail *trail)
{
	if (changes->all)
		return HY_VSWITCH_TOUCHED;
	for (uint32_t i = 0; i < n; i++)
		if (is_gone(changes, rules[i]))
			return HY_VSWITCH_TOUCHED;
	for (uint32_t i = 0; i < HY_VSWITCH_TRAIL; i++)
		if ((trail->missed[i] & changes->tables[i]) != 0 ||
			((trail->tables[i] & changes->tables[i]) != 0 &&
				changes->highest > trail->lowest))
			return HY_VSWITCH_MAYBE;
	return HY_VSWITCH_UNTOUCHED;
}

/* Makes a packet's key and the bits of it that are known those that rules match: see hy_vswitch_rule.h. */
static void
as_rules_match(struct hy_flows_key *key, struct hy_flows_key *known)
{
	const uint8_t later = HY_FLOWS_LATER_FRAGMENT | HY_FLOWS_UNKNOWN_FRAGMENT;
	const uint8_t all = later | HY_FLOWS_FIRST_FRAGMENT;
	const bool is_later = (key->kind & known->kind & later) != 0;
	const bool is_ip6 = known->type == UINT16_MAX && key->type == RTE_BE16(RTE_ETHER_TYPE_IPV6);
	const bool is_not_later = !is_later && (known->kind & later) == later;

	if (is_ip6 && is_later)
		key->proto = IPPROTO_FRAGMENT;
	else if (known->type != UINT16_MAX || (is_ip6 && !is_not_later))
		known->proto = 0;
	if (!is_later && !is_not_later)
		known->kind &= (uint8_t)~all;
	if (is_later)
		known->kind |= HY_FLOWS_FIRST_FRAGMENT | HY_FLOWS_LATER_FRAGMENT;
	key->kind = vswitch_kind_of(key->kind);
}

/* The OpenFlow number of the port by which a packet came; NO_PORT: none of the switch. */
static uint16_t
input_of(struct hy_vswitch *vswitch, const struct hy_flows_key *key)
{
	const struct hy_vswitch_port *port;
	uint16_t number;

	pthread_mutex_lock(&vswitch->lock);
	port = vswitch_input(vswitch, key);
	number = port == NULL ? HY_VSWITCH_NO_PORT : port->number;
	pthread_mutex_unlock(&vswitch->lock);
	return number;
}

/* A key and the bits of it that are known, as rules match them, while new ones are compared with it. */
struct look {
	struct hy_vswitch *vswitch;
	const struct hy_vswitch_trail *trail;
	const struct hy_flows_key *of; /* the megaflow's */
	struct hy_flows_key key, known;
	bool has_input; /* the key's port is that of the switch */
};

/* Whether a new rule may match the key, and count. */
static bool
may_match(struct look *look, const struct hy_vswitch_new *new)
{
	uint64_t differ = 0;

	for (uint32_t words = new->words; words != 0; words &= words - 1) {
		const unsigned int w = (unsigned int)__builtin_ctz(words);

		differ |= (look->key.words[w] ^ new->key.words[w]) & look->known.words[w] &
			new->mask.words[w];
	}
	if (differ != 0 || !could_count(new, look->trail))
		return false;
	if (new->mask.port == 0 || look->trail->own.port == 0)
		return true;
	if (!look->has_input)
		look->key.port = input_of(look->vswitch, look->of);
	look->has_input = true;
	return ((look->key.port ^ new->key.port) & new->mask.port) == 0;
}

/* Whether all bits of a new rule's mask but the port's are known. */
static bool
knows_all(const struct look *look, const struct hy_vswitch_new *new)
{
	const struct hy_flows_key port = { .port = UINT16_MAX };
	uint64_t unknown = 0;

	for (uint32_t words = new->words; words != 0; words &= words - 1) {
		const unsigned int w = (unsigned int)__builtin_ctz(words);

		unknown |= new->mask.words[w] & ~look->known.words[w] & ~port.words[w];
	}
	return unknown == 0;
}

bool
hy_vswitch_touches(struct hy_vswitch *vswitch, const struct hy_vswitch_changes *changes,
	const struct hy_vswitch_trail *trail, const struct hy_flows_key *key,
	const struct hy_flows_key *mask)
{
	struct look look = {
		.vswitch = vswitch, .trail = trail, .of = key, .key = *key, .known = *mask
	};

	as_rules_match(&look.key, &look.known);
	for (uint32_t w = 0; w < HY_FLOWS_WORDS; w++)
		look.known.words[w] &= trail->own.words[w];
	look.known.port = 0;
	for (uint32_t m = 0; m < changes->nb_masks; m++) {
		const struct hy_vswitch_new *new = &changes->came[changes->last[m]];
		uint16_t i = changes->last[m];

		if (knows_all(&look, new)) {
			for (i = changes->bucket[bucket_of(&look.key, new)]; i != NONE;
				i = changes->came[i].like)
				if (may_match(&look, &changes->came[i]))
					return true;
			continue;
		}
		for (; i != NONE; i = changes->came[i].peer)
			if (may_match(&look, &changes->came[i]))
				return true;
	}
	return false;
}

void
hy_vswitch_trail_join(struct hy_vswitch_trail *trail, const struct hy_vswitch_trail *other)
{
	for (uint32_t i = 0; i < HY_VSWITCH_TRAIL; i++) {
		trail->tables[i] |= other->tables[i];
		trail->missed[i] |= other->missed[i];
	}
	for (uint32_t w = 0; w < HY_FLOWS_WORDS; w++)
		trail->own.words[w] &= other->own.words[w];
	trail->lowest = RTE_MIN(trail->lowest, other->lowest);
}
