/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lookups of workers. A burst is a bitmap of packets that are still looked for. Each table of their port
 * is searched for all of them: their buckets are fetched first, then the records that have their
 * signatures, and these are compared last. So a table's memory is waited for once a burst.
 *
 * Loops over the words of a mask are compiled for each small number of them.
 */

#include <rte_branch_prediction.h>
#include <rte_cycles.h>

#include "lib/flows/cache/flows_cache.h"

#include "flows_bucket.h"

/* Searches a table, and returns which packets were found. */
static __rte_always_inline uint64_t
search(const struct hy_flows *f, const struct flows_table *table, const struct flows_burst *b,
	uint64_t wanted, const uint32_t nb_words)
{
	const struct flows_buckets *buckets = FLOWS_LOAD(table->buckets);
	uint8_t packet[FLOWS_BURST], ways[FLOWS_BURST];
	uint64_t found = 0, more = 0;
	uint32_t hash[FLOWS_BURST], n = 0;

	hash[0] = packet[0] = 0; /* GCC and cppcheck do not see that some are wanted */
	FLOWS_EACH(i, wanted) {
		packet[n] = (uint8_t)i;
		hash[n] = flows_table_hash(&f->secret, table, &b->key[i], nb_words);
		__builtin_prefetch(&buckets->bucket[hash[n] & buckets->mask]);
		n++;
	}
	f->bucket_ways(buckets, hash, ways, n);
	for (uint32_t k = 0; k < n; k++) {
		const uint32_t i = packet[k];
		uint32_t slot;

		if (ways[k] == 0)
			continue;
		if (unlikely(ways[k] == BUCKET_CONTINUED)) {
			more |= UINT64_C(1) << i;
			continue;
		}
		slot = __atomic_load_n(
			&buckets->bucket[hash[k] & buckets->mask].index[__builtin_ctz(ways[k])],
			__ATOMIC_RELAXED);
		b->flow[i] = slot;
		found |= UINT64_C(1) << i;
		__builtin_prefetch(&f->records[slot]);
	}
	FLOWS_EACH(i, found) {
		const struct flows_record *record = &f->records[b->flow[i]];

		if (likely(FLOWS_TABLE(FLOWS_LOAD(record->tag)) == table->number &&
			    flows_same(table, record->words, &b->key[i], nb_words)))
			continue;
		found &= ~(UINT64_C(1) << i);
		more |= UINT64_C(1) << i; /* it may be in another way */
	}
	FLOWS_EACH(i, more) {
		b->flow[i] = flows_table_find(f, table, &b->key[i]);
		found |= (uint64_t)(b->flow[i] != HY_FLOWS_MISS) << i;
	}
	return found;
}

static uint64_t
search_any(const struct hy_flows *f, const struct flows_table *table, const struct flows_burst *b,
	uint64_t wanted)
{
	switch (table->nb_words) {
	case 1:
		return search(f, table, b, wanted, 1);
	case 2:
		return search(f, table, b, wanted, 2);
	case 3:
		return search(f, table, b, wanted, 3);
	case 4:
		return search(f, table, b, wanted, 4);
	case 5:
		return search(f, table, b, wanted, 5);
	case 6:
		return search(f, table, b, wanted, 6);
	default:
		return search(f, table, b, wanted, table->nb_words);
	}
}

/* Searches the tables of a port for its packets. Returns which were found. */
static uint64_t
search_port(const struct hy_flows *f, struct flows_worker *w, uint16_t port,
	const struct flows_burst *b, uint64_t wanted)
{
	const struct flows_order *order = port < RTE_MAX_ETHPORTS ? FLOWS_LOAD(f->order[port])
								  : NULL;
	uint64_t left = wanted;

	for (uint32_t i = 0; order != NULL && i < order->n && left != 0; i++) {
		const struct flows_table *table = order->table[i];
		uint64_t found;

		if ((table->parse & ~b->parse) != 0)
			continue; /* its keys were not made for this one */
		found = search_any(f, table, b, left);
		left &= ~found;
		if (found == 0)
			continue;
		flows_add(&w->hits[table->number], (uint32_t)__builtin_popcountll(found));
		flows_add(&w->lookups.tables, (i + 1) * (uint32_t)__builtin_popcountll(found));
	}
	return wanted & ~left;
}

/* Searches for up to FLOWS_BURST packets. Returns which were found. */
static uint64_t
classify(const struct hy_flows *f, struct flows_worker *w, const struct flows_burst *b,
	uint64_t wanted)
{
	uint64_t found = 0;

	while (wanted != 0) {
		const uint16_t port = b->key[__builtin_ctzll(wanted)].port;
		uint64_t same = 0;

		FLOWS_EACH(i, wanted)
			same |= (uint64_t)(b->key[i].port == port) << i;
		found |= search_port(f, w, port, b, same);
		wanted &= ~same;
	}
	return found;
}

/* Enters what the tables or the index found into the caches before them. */
static void
caches_enter(const struct hy_flows *f, struct flows_caches *c, uint32_t levels,
	const struct flows_burst *b, uint64_t by_index, uint64_t by_masks)
{
	struct flows_pays *pays = &c->pays;

	FLOWS_EACH(i, (levels & PAYS_BIT(PAYS_INDEX)) == 0 ? 0 : by_masks)
		pays->filled[PAYS_INDEX] += c->ops->enter(f, c->index, b->hash[i], b->flow[i]);
	FLOWS_EACH(i, (levels & PAYS_BIT(PAYS_EXACT)) == 0 ? 0 : by_index | by_masks)
		if (c->kinds.exact_one_in == 1 ||
			flows_random_next(&c->random) % c->kinds.exact_one_in == 0)
			pays->filled[PAYS_EXACT] += flows_exact_enter(f, c->exact, b, (uint32_t)i);
}

static inline uint32_t
count_of(uint64_t bits)
{
	return (uint32_t)__builtin_popcountll(bits);
}

/* Looks up to FLOWS_BURST packets up. Returns which were not found. */
static uint64_t
look_up(const struct hy_flows *f, struct flows_worker *w, struct flows_caches *c, uint32_t levels,
	const struct flows_burst *b, const uint64_t all)
{
	uint64_t exact = 0, index = 0, masks, left = all;

	if ((levels & PAYS_BIT(PAYS_EXACT)) != 0) {
		exact = flows_exact_find(f, c->exact, b, all);
		flows_pays_count(&c->pays, PAYS_EXACT, count_of(all), count_of(exact));
	}
	left &= ~exact;
	if ((levels & PAYS_BIT(PAYS_INDEX)) != 0 && left != 0) {
		index = c->ops->find(f, c->index, b, left);
		flows_pays_count(&c->pays, PAYS_INDEX, count_of(left), count_of(index));
	}
	left &= ~index;
	masks = left == 0 ? 0 : classify(f, w, b, left);
	left &= ~masks;
	if (levels != 0 && (index | masks) != 0)
		caches_enter(f, c, levels, b, index, masks);
	flows_add(&w->lookups.exact, count_of(exact));
	flows_add(&w->lookups.index, count_of(index));
	flows_add(&w->lookups.masks, count_of(masks));
	return left;
}

/* What is due once a burst. */
static void
caches_tend(const struct hy_flows *f, struct flows_caches *c)
{
	const uint32_t epoch = FLOWS_LOAD(f->epoch);

	if (c->exact != NULL)
		flows_exact_sweep(f, c->exact);
	if (c->ops != NULL && c->ops->sweep != NULL)
		c->ops->sweep(f, c->index);
	if (c->epoch != epoch && c->ops != NULL && c->ops->forget != NULL)
		c->ops->forget(c->index);
	c->epoch = epoch;
}

/* A lookup of a burst, from its begin to its end. */
struct turn {
	struct flows_worker *worker;
	struct flows_caches *caches; /* NULL: none */
	uint32_t levels;             /* of these, to be asked */
	uint64_t start;              /* 0: it is not timed */
};

static __rte_always_inline struct turn
turn_begin(struct hy_flows *f, unsigned int worker)
{
	struct turn turn = { .worker = &f->workers[worker] };

	turn.caches = FLOWS_LOAD(turn.worker->caches);
	if (turn.caches == NULL)
		return turn;
	caches_tend(f, turn.caches);
	turn.levels = flows_pays_next(&turn.caches->pays);
	if (unlikely(turn.caches->pays.step != 0))
		turn.start = rte_rdtsc();
	return turn;
}

static __rte_always_inline void
turn_end(const struct turn *turn, uint32_t n, uint32_t misses)
{
	if (unlikely(turn->start != 0))
		flows_pays_take(&turn->caches->pays, rte_rdtsc() - turn->start, n);
	flows_add(&turn->worker->lookups.packets, n);
	flows_add(&turn->worker->lookups.misses, misses);
}

/* The bits of the first n packets of a burst. */
static inline uint64_t
first(uint32_t n)
{
	return n == 0 ? 0 : UINT64_MAX >> (FLOWS_BURST - n);
}

/* Of up to FLOWS_BURST packets. Returns how many are HY_FLOWS_MISS. */
static uint32_t
find_burst(const struct hy_flows *f, const struct turn *turn, const struct flows_burst *b,
	uint32_t n)
{
	const uint64_t missed = look_up(f, turn->worker, turn->caches,
		turn->levels & ~PAYS_BIT(PAYS_FRAMES), b, first(n));

	FLOWS_EACH(i, missed)
		b->flow[i] = HY_FLOWS_MISS;
	return count_of(missed);
}

uint32_t
hy_flows_lookup(struct hy_flows *f, unsigned int worker, uint32_t parse,
	const struct hy_flows_key key[], const uint32_t hash[], uint32_t flow[], uint32_t n)
{
	const struct turn turn = turn_begin(f, worker);
	uint32_t misses = 0;

	for (uint32_t at = 0; at < n; at += FLOWS_BURST) {
		const struct flows_burst b = {
			.key = key + at, .hash = hash + at, .flow = flow + at, .parse = parse
		};

		misses += find_burst(f, &turn, &b, RTE_MIN(n - at, (uint32_t)FLOWS_BURST));
	}
	turn_end(&turn, n, misses);
	return misses;
}

/* By keys, of up to FLOWS_BURST packets. */
static uint32_t
find_by_keys(const struct hy_flows *f, const struct turn *turn, struct hy_flows_rss *rss,
	struct rte_mbuf *const mbufs[], uint32_t flow[], uint32_t n)
{
	struct hy_flows_key key[FLOWS_BURST];
	uint32_t hash[FLOWS_BURST];
	const struct flows_burst b = {
		.key = key, .hash = hash, .flow = flow, .parse = hy_flows_parse(f)
	};

	hy_flows_keys(mbufs, b.parse, key, n); /* fetches what it reads */
	hy_flows_rss_hashes(f, rss, mbufs, key, hash, n);
	return find_burst(f, turn, &b, n);
}

/* By frames first, of up to FLOWS_BURST packets; those not found are entered once they are, by keys. */
static uint32_t
find_by_frames(const struct hy_flows *f, const struct turn *turn, struct hy_flows_rss *rss,
	struct rte_mbuf *const mbufs[], uint32_t flow[], uint32_t n)
{
	struct flows_frames *frames = turn->caches->frames;
	struct flows_pays *pays = &turn->caches->pays;
	const uint64_t found = flows_frames_find(f, frames, mbufs, flow, n);
	const uint64_t left = first(n) & ~found;
	struct rte_mbuf *rest[FLOWS_BURST];
	uint32_t flow_of[FLOWS_BURST], misses, k = 0;
	uint8_t packet[FLOWS_BURST];

	flows_pays_count(pays, PAYS_FRAMES, n, count_of(found));
	flows_add(&turn->worker->lookups.frames, count_of(found));
	if (left == 0)
		return 0;
	FLOWS_EACH(i, left) {
		packet[k] = (uint8_t)i;
		rest[k++] = mbufs[i];
	}
	misses = find_by_keys(f, turn, rss, rest, flow_of, k);
	for (uint32_t j = 0; j < k; j++) {
		flow[packet[j]] = flow_of[j];
		if (flow_of[j] != HY_FLOWS_MISS)
			pays->filled[PAYS_FRAMES] += flows_frames_enter(f, frames, rest[j],
				flow_of[j]);
	}
	return misses;
}

uint32_t
hy_flows_find(struct hy_flows *f, unsigned int worker, struct hy_flows_rss *rss,
	struct rte_mbuf *const mbufs[], uint32_t flow[], uint32_t n)
{
	const struct turn turn = turn_begin(f, worker);
	const bool frames = (turn.levels & PAYS_BIT(PAYS_FRAMES)) != 0;
	uint32_t misses = 0;

	for (uint32_t at = 0; at < n; at += FLOWS_BURST) {
		const uint32_t some = RTE_MIN(n - at, (uint32_t)FLOWS_BURST);

		misses += frames ? find_by_frames(f, &turn, rss, mbufs + at, flow + at, some)
				 : find_by_keys(f, &turn, rss, mbufs + at, flow + at, some);
	}
	turn_end(&turn, n, misses);
	return misses;
}
