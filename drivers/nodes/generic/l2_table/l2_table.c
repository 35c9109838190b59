/* SPDX-License-Identifier: BSD-3-Clause */
/* A bridge's table: creation and destruction, what is counted. */

#include <errno.h>

#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_random.h>

#include "l2_find.h"
#include "l2_table.h"
#include "lib/graph/internal/log.h"

#define LOAD 4       /* entries of a bucket, on average, of a full table */
#define ROOM_MIN 64u /* entries of an rte_hash: eight may wait, see l2_overflow.c */

struct sizes {
	uint32_t buckets, overflow, slots;
	uint32_t
		words; /* of buckets, and those that a key that is not in its bucket seems to be in */
};

static struct sizes
sizes_of(uint32_t max_entries)
{
	struct sizes s = { .overflow = RTE_MAX(max_entries, ROOM_MIN) };

	s.buckets = rte_align32pow2(RTE_MAX((max_entries + LOAD - 1) / LOAD, 2u));
	s.slots = s.buckets * HY_L2_WAYS + s.overflow + 1;
	s.words = s.buckets * HY_L2_WAYS + L2_ABSENT;
	return s;
}

static bool
params_are_right(const struct hy_l2_table_params *params)
{
	return params->max_entries > 0 && params->max_entries <= HY_L2_ENTRIES_MAX &&
		params->nb_ports > 0 && params->nb_ports <= HY_L2_PORTS;
}

size_t
hy_l2_table_bytes(const struct hy_l2_table_params *params)
{
	const struct sizes s = sizes_of(params->max_entries);
	const struct hy_l2_table *t = NULL;

	if (!params_are_right(params))
		return 0;
	return sizeof(*t) + params->nb_ports * sizeof(*t->ports) + s.words * sizeof(*t->words) +
		s.buckets * sizeof(*t->buckets) +
		s.slots * (sizeof(*t->values) + sizeof(*t->view.seen) + sizeof(*t->moved)) +
		s.overflow * sizeof(*t->overflow_words) + l2_overflow_bytes(s.overflow);
}

static void *
array(const struct hy_l2_table *t, size_t n, size_t size)
{
	return rte_zmalloc_socket("hy_l2_table", n * size, RTE_CACHE_LINE_SIZE, t->params.socket);
}

static int
arrays_create(struct hy_l2_table *t, const struct sizes *s)
{
	t->words = array(t, s->words, sizeof(*t->words));
	t->buckets = array(t, s->buckets, sizeof(*t->buckets));
	t->values = array(t, s->slots, sizeof(*t->values));
	t->view.seen = array(t, s->slots, sizeof(*t->view.seen));
	t->moved = array(t, s->slots, sizeof(*t->moved));
	t->overflow_words = array(t, s->overflow, sizeof(*t->overflow_words));
	t->ports = array(t, t->params.nb_ports, sizeof(*t->ports));
	if (t->words == NULL || t->buckets == NULL || t->values == NULL || t->view.seen == NULL ||
		t->moved == NULL || t->overflow_words == NULL || t->ports == NULL)
		return -ENOMEM;
	for (uint32_t slot = 0; slot < s->slots; slot++)
		t->values[slot] = HY_L2_MISS;
	for (uint16_t port = 0; port < t->params.nb_ports; port++)
		t->ports[port].max = t->params.max_per_port;
	return 0;
}

/* The factor is odd, so that different keys have different products. */
static void
seed(uint64_t words[2], uint64_t number)
{
	words[0] = number * UINT64_C(0xbf58476d1ce4e5b9);
	words[0] ^= words[0] >> 31;
	words[1] = (words[0] * UINT64_C(0x94d049bb133111eb) ^ number >> 27) | 1;
}

int
hy_l2_table_create(const struct hy_l2_table_params *params, struct hy_l2_table **out)
{
	const struct sizes s = sizes_of(params->max_entries);
	struct hy_l2_table *t;

	*out = NULL;
	if (!params_are_right(params)) {
		HY_LOG(ERR,
			"a bridge's table of %u entries and %u ports: 1 to %u entries and 1 to %u "
			"ports are possible",
			params->max_entries, params->nb_ports, HY_L2_ENTRIES_MAX, HY_L2_PORTS);
		return -EINVAL;
	}
	t = rte_zmalloc_socket("hy_l2_table", sizeof(*t), RTE_CACHE_LINE_SIZE, params->socket);
	if (t == NULL)
		return -ENOMEM;
	t->params = *params;
	t->nb_buckets = s.buckets;
	t->overflow_room = s.overflow;
	seed(t->view.seed, params->seed != 0 ? params->seed : rte_rand());
	pthread_mutex_init(&t->lock, NULL);
	if (arrays_create(t, &s) < 0 || l2_overflow_create(t) < 0) {
		hy_l2_table_destroy(t);
		return -ENOMEM;
	}
	t->view.words = t->words;
	t->view.values = t->values;
	t->view.mask = (s.buckets - 1) * HY_L2_WAYS;
	t->view.none = s.slots - 1;
	t->view.overflow_base = s.buckets * HY_L2_WAYS;
	t->view.overflow = t->overflow;
	*out = t;
	return 0;
}

void
hy_l2_table_destroy(struct hy_l2_table *t)
{
	if (t == NULL)
		return;
	rte_hash_free(t->overflow);
	rte_free(t->ports);
	rte_free(t->overflow_words);
	rte_free(t->moved);
	rte_free(t->view.seen);
	rte_free(t->values);
	rte_free(t->buckets);
	rte_free(t->words);
	pthread_mutex_destroy(&t->lock);
	rte_free(t);
}

const struct hy_l2_view *
hy_l2_table_view(const struct hy_l2_table *t)
{
	return &t->view;
}

struct rte_rcu_qsbr *
hy_l2_table_qsbr(const struct hy_l2_table *t)
{
	return t->params.qsbr;
}

int
hy_l2_port_limit(struct hy_l2_table *t, uint16_t port, uint32_t max)
{
	if (port >= t->params.nb_ports)
		return -EINVAL;
	pthread_mutex_lock(&t->lock);
	t->ports[port].max = max;
	pthread_mutex_unlock(&t->lock);
	return 0;
}

void
hy_l2_stats(struct hy_l2_table *t, struct hy_l2_stats *stats)
{
	pthread_mutex_lock(&t->lock);
	*stats = t->stats;
	pthread_mutex_unlock(&t->lock);
}

uint32_t
hy_l2_port_entries(struct hy_l2_table *t, uint16_t port)
{
	uint32_t n = 0;

	pthread_mutex_lock(&t->lock);
	if (port < t->params.nb_ports)
		n = t->ports[port].learned + t->ports[port].fixed;
	pthread_mutex_unlock(&t->lock);
	return n;
}

uint32_t
hy_l2_vlan_entries(struct hy_l2_table *t, uint16_t vid)
{
	uint32_t n = 0;

	pthread_mutex_lock(&t->lock);
	if (vid < HY_L2_VIDS)
		n = t->vlans[vid];
	pthread_mutex_unlock(&t->lock);
	return n;
}

uint64_t
hy_l2_port_aged(struct hy_l2_table *t, uint16_t port)
{
	uint64_t n = 0;

	pthread_mutex_lock(&t->lock);
	if (port < t->params.nb_ports)
		n = t->ports[port].aged;
	pthread_mutex_unlock(&t->lock);
	return n;
}

uint64_t
hy_l2_vlan_aged(struct hy_l2_table *t, uint16_t vid)
{
	uint64_t n = 0;

	pthread_mutex_lock(&t->lock);
	if (vid < HY_L2_VIDS)
		n = t->aged[vid];
	pthread_mutex_unlock(&t->lock);
	return n;
}
