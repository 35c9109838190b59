/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulated flow engine: its lifetime and its table of rules.
 *
 * Rules are in one hash table, by mask and masked value. A packet is looked up once for each mask,
 * as in a NIC with a table for each. A lock that workers share separates changes from bursts: the
 * simulator is not on a timed path.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_jhash.h>

#include "hal/internal/list.h"
#include "sim_engine.h"

static const struct hy_sim_profile *const profiles[] = { &hy_sim_generic, &hy_sim_cnxk,
	&hy_sim_cnxk_wide, &hy_sim_cnxk_ip6, &hy_sim_mlx5, &hy_sim_mlx5_guest, &hy_sim_mlx5_hws,
	&hy_sim_ice, &hy_sim_i40e, &hy_sim_iavf };

static const struct hy_sim_profile *
profile_of(const char *name)
{
	for (size_t i = 0; i < RTE_DIM(profiles); i++)
		if (name == NULL || strcmp(profiles[i]->name, name) == 0)
			return profiles[i];
	return NULL;
}

uint32_t
hy_flow_sim_mark_max(const char *profile)
{
	const struct hy_sim_profile *known = profile_of(profile);

	return known == NULL ? 0 : known->mark_max;
}

int
hy_flow_sim_create(const struct hy_flow_sim_params *params, struct hy_flow_sim **sim)
{
	const struct hy_sim_profile *profile = profile_of(params->profile);
	struct hy_flow_sim *s;

	if (profile == NULL || params->mark_max > profile->mark_max)
		return -EINVAL;
	s = calloc(1, sizeof(*s));
	if (s == NULL)
		return -ENOMEM;
	s->profile = profile;
	s->table_size = params->table_size > 0 ? params->table_size : profile->table_size;
	s->counters = params->counters > 0 ? params->counters : profile->counters;
	s->mark_max = params->mark_max > 0 ? params->mark_max : UINT32_MAX;
	s->forgets = profile->forgets || params->lose_rules;
	s->deliver = true;
	s->nb_queues = 1;
	hy_sim_rss_of_port(&s->rss, 1, NULL);
	s->faults = params->faults;
	s->nb_buckets = rte_align32pow2(s->table_size);
	s->rules = calloc(s->table_size, sizeof(s->rules[0]));
	s->buckets = calloc(s->nb_buckets, sizeof(s->buckets[0]));
	rte_rwlock_init(&s->lock);
	if (s->rules == NULL || s->buckets == NULL) {
		hy_flow_sim_destroy(s);
		return -ENOMEM;
	}
	*sim = s;
	return 0;
}

void
hy_flow_sim_destroy(struct hy_flow_sim *sim)
{
	if (sim == NULL)
		return;
	for (uint32_t i = 0; i < sim->nb_rules; i++)
		free(sim->rules[i]);
	free(sim->rules);
	free(sim->buckets);
	free(sim->masks);
	free(sim);
}

const char *
hy_flow_sim_profile(const struct hy_flow_sim *sim)
{
	return sim->profile->name;
}

void
hy_flow_sim_configure(struct hy_flow_sim *sim, uint16_t nb_rx_queues,
	const struct rte_eth_rss_conf *rss)
{
	rte_rwlock_write_lock(&sim->lock);
	sim->nb_queues = nb_rx_queues;
	sim->has_rss = rss != NULL;
	hy_sim_rss_of_port(&sim->rss, nb_rx_queues, rss);
	rte_rwlock_write_unlock(&sim->lock);
}

void
hy_flow_sim_rss(struct hy_flow_sim *sim, struct rte_eth_rss_conf *rss)
{
	rte_rwlock_read_lock(&sim->lock);
	rss->rss_hf = sim->rss.types;
	rss->rss_key_len = HY_SIM_RSS_KEY;
	if (rss->rss_key != NULL)
		memcpy(rss->rss_key, sim->rss.key, HY_SIM_RSS_KEY);
	rte_rwlock_read_unlock(&sim->lock);
}

/* The functions below run under the lock, except the public ones at the end. */

static bool
keys_equal(const struct hy_sim_key *a, const struct hy_sim_key *b)
{
	return memcmp(a->words, b->words, sizeof(a->words)) == 0;
}

static uint32_t
bucket_of(const struct hy_flow_sim *sim, uint32_t mask, const struct hy_sim_key *value)
{
	return rte_jhash_32b((const uint32_t *)value->words, 2 * HY_SIM_WORDS, mask) &
		(sim->nb_buckets - 1);
}

/* The index of a mask, which is added if it is new; or -ENOMEM. */
static int64_t
mask_get(struct hy_flow_sim *sim, const struct hy_sim_key *key, const struct rte_flow_attr *attr)
{
	const uint32_t priority = sim->profile->chains ? attr->priority : 0;
	uint32_t i, unused = sim->nb_masks;

	for (i = 0; i < sim->nb_masks; i++) {
		if (sim->masks[i].rules == 0)
			unused = i;
		else if (sim->masks[i].group == attr->group && sim->masks[i].priority == priority &&
			keys_equal(&sim->masks[i].key, key))
			return i;
	}
	if (unused == sim->nb_masks) {
		if (hy_list_room(&sim->masks, sim->nb_masks, sizeof(*sim->masks)) == NULL)
			return -ENOMEM;
		sim->nb_masks++;
	}
	sim->masks[unused] = (struct mask){
		.key = *key, .group = attr->group, .priority = priority
	};
	return unused;
}

static bool
before(const struct rule *a, const struct rule *b)
{
	return b == NULL || a->wish.attr.priority < b->wish.attr.priority ||
		(a->wish.attr.priority == b->wish.attr.priority && a->id < b->id);
}

struct rule *
hy_sim_match(const struct hy_flow_sim *sim, const struct hy_sim_key *key, uint32_t group)
{
	struct rule *best = NULL, *rule;

	for (uint32_t m = 0; m < sim->nb_masks; m++) {
		const struct mask *mask = &sim->masks[m];
		struct hy_sim_key value;

		if (mask->rules == 0 || mask->group != group)
			continue;
		for (int i = 0; i < HY_SIM_WORDS; i++)
			value.words[i] = key->words[i] & mask->key.words[i];
		for (rule = sim->buckets[bucket_of(sim, m, &value)]; rule != NULL;
			rule = rule->next)
			if (rule->mask == m && keys_equal(&rule->wish.value, &value) &&
				before(rule, best))
				best = rule;
	}
	return best;
}

/* RSS takes a group of queues even over one queue. */
static bool
has_rss(const struct rule *rule)
{
	return hy_sim_which(&rule->wish, RTE_FLOW_ACTION_TYPE_RSS) > 0;
}

static void
unlink_rule(struct hy_flow_sim *sim, uint32_t index)
{
	struct rule *rule = sim->rules[index], **at = &sim->buckets[rule->bucket];

	while (*at != rule)
		at = &(*at)->next;
	*at = rule->next;
	sim->masks[rule->mask].rules--;
	while (sim->nb_masks > 0 && sim->masks[sim->nb_masks - 1].rules == 0)
		sim->nb_masks--;
	sim->types[rule->wish.type].rules--;
	sim->nb_spread -= has_rss(rule);
	sim->nb_counters -= rule->wish.count;
	sim->rules[index] = sim->rules[--sim->nb_rules];
	free(rule);
}

static uint32_t
unlink_all(struct hy_flow_sim *sim)
{
	const uint32_t n = sim->nb_rules;

	while (sim->nb_rules > 0)
		unlink_rule(sim, sim->nb_rules - 1);
	return n;
}

/* The index of a rule, or -ENOENT. */
static int64_t
rule_find(const struct hy_flow_sim *sim, const void *flow)
{
	for (uint32_t i = 0; i < sim->nb_rules; i++)
		if (sim->rules[i]->id == (uintptr_t)flow)
			return i;
	return -ENOENT;
}

/* Checks a rule against those in the table. */
static int
check_others(const struct hy_flow_sim *sim, const struct rule *rule)
{
	const struct hy_sim_wish *wish = &rule->wish;

	for (const struct rule *r = sim->buckets[rule->bucket];
		r != NULL && sim->profile->twin != 0; r = r->next)
		if (r->mask == rule->mask && keys_equal(&r->wish.value, &wish->value) &&
			r->wish.attr.priority == wish->attr.priority)
			return hy_sim_refuse(wish, RTE_FLOW_ERROR_TYPE_HANDLE, -sim->profile->twin,
				"this pattern is there already");
	if (wish->type == HY_SIM_ANY)
		return 0;
	/* i40e_fdir.c, i40e_flow_set_fdir_inset(); ice_fdir_filter.c, ice_fdir_cur_prof_conflict();
	 * for iavf, Linux, ice_virtchnl_fdir.c, ice_vc_fdir_write_flow_prof() */
	if (sim->types[wish->type].rules > 0 &&
		!keys_equal(&sim->types[wish->type].mask, &wish->mask))
		return hy_sim_refuse(wish, RTE_FLOW_ERROR_TYPE_HANDLE, EINVAL,
			"rules of this flow type match on other fields");
	for (unsigned int t = 0; t < HY_SIM_TYPES; t++)
		if ((wish->excludes & 1u << t) != 0 && sim->types[t].rules > 0)
			return hy_sim_refuse(wish, RTE_FLOW_ERROR_TYPE_HANDLE, EINVAL,
				"there are rules of a flow type that excludes this one");
	return 0;
}

/* Checks whether any rule can be added now. */
static int
room(struct hy_flow_sim *sim, const struct hy_sim_wish *wish)
{
	if (sim->profile->needs_start && !sim->started)
		return hy_sim_refuse(wish, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, ENODEV,
			"port not started");
	if (sim->fail_in > 0 && --sim->fail_in == 0)
		return hy_sim_refuse(wish, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, -sim->fail_with,
			"refused by hy_flow_sim_fail()");
	if (sim->nb_rules == sim->table_size)
		return hy_sim_refuse(wish, RTE_FLOW_ERROR_TYPE_HANDLE, -sim->profile->full,
			"the table is full");
	return 0;
}

static int
rule_add(struct hy_flow_sim *sim, struct rule *rule)
{
	int rc = room(sim, &rule->wish);
	int64_t mask;

	if (rc != 0)
		return rc;
	mask = mask_get(sim, &rule->wish.mask, &rule->wish.attr);
	if (mask < 0)
		return hy_sim_refuse(&rule->wish, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, ENOMEM,
			"no memory");
	rule->mask = (uint32_t)mask;
	rule->bucket = bucket_of(sim, rule->mask, &rule->wish.value);
	rc = check_others(sim, rule);
	if (rc == 0 && rule->wish.count && sim->counters > 0 && sim->nb_counters == sim->counters)
		rc = hy_sim_refuse(&rule->wish, RTE_FLOW_ERROR_TYPE_ACTION, -sim->profile->full,
			sim->profile->no_counter);
	if (rc == 0 && sim->profile->admit != NULL)
		rc = sim->profile->admit(&rule->wish);
	if (rc != 0)
		return rc;
	sim->nb_spread += has_rss(rule);
	sim->nb_counters += rule->wish.count;
	rule->id = ++sim->next_id;
	rule->next = sim->buckets[rule->bucket];
	sim->buckets[rule->bucket] = rule;
	sim->rules[sim->nb_rules++] = rule;
	sim->masks[rule->mask].rules++;
	sim->types[rule->wish.type].mask = rule->wish.mask;
	sim->types[rule->wish.type].rules++;
	return 0;
}

int
hy_sim_judge(struct hy_sim_wish *wish, hy_sim_step *const *steps)
{
	int rc = 0;

	while (rc == 0 && *steps != NULL)
		rc = (*steps++)(wish);
	return rc;
}

static int
wish_judge(const struct rte_flow_attr *attr, const struct rte_flow_item *items,
	const struct rte_flow_action *actions, struct hy_sim_wish *wish)
{
	int rc = hy_sim_wish_read(attr, items, actions, wish);

	if (rc == 0)
		rc = hy_sim_judge(wish, wish->sim->profile->judge);
	if (rc == 0 && wish->mark && wish->mark_id > wish->sim->mark_max)
		rc = hy_sim_refuse(wish, RTE_FLOW_ERROR_TYPE_ACTION_CONF, EINVAL,
			"the mark is larger than this NIC can carry");
	return rc;
}

int
hy_flow_sim_check(struct hy_flow_sim *sim, const struct rte_flow_attr *attr,
	const struct rte_flow_item *items, const struct rte_flow_action *actions,
	struct rte_flow_error *error)
{
	struct hy_sim_wish wish = { .sim = sim, .error = error };

	return wish_judge(attr, items, actions, &wish);
}

static void
dawdle(const struct hy_flow_sim *sim)
{
	if (sim->faults.slow_us > 0)
		rte_delay_us_sleep(sim->faults.slow_us);
}

int
hy_flow_sim_add(struct hy_flow_sim *sim, const struct rte_flow_attr *attr,
	const struct rte_flow_item *items, const struct rte_flow_action *actions, void **flow,
	struct rte_flow_error *error)
{
	struct rule *rule = calloc(1, sizeof(*rule));
	int rc;

	if (rule == NULL)
		return rte_flow_error_set(error, ENOMEM, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			"no memory");
	rule->wish.sim = sim;
	rule->wish.error = error;
	rc = wish_judge(attr, items, actions, &rule->wish);
	dawdle(sim);
	rte_rwlock_write_lock(&sim->lock);
	if (rc == 0)
		rc = rule_add(sim, rule);
	if (rc == 0) {
		*flow = (void *)(uintptr_t)rule->id;
		sim->stats.created++;
	} else {
		sim->stats.refused++;
	}
	rte_rwlock_write_unlock(&sim->lock);
	if (rc != 0)
		free(rule);
	return rc;
}

int
hy_flow_sim_remove(struct hy_flow_sim *sim, void *flow, struct rte_flow_error *error)
{
	int64_t index;

	dawdle(sim);
	rte_rwlock_write_lock(&sim->lock);
	index = rule_find(sim, flow);
	if (index >= 0)
		unlink_rule(sim, (uint32_t)index);
	rte_rwlock_write_unlock(&sim->lock);
	return index >= 0 ? 0
			  : rte_flow_error_set(error, ENOENT, RTE_FLOW_ERROR_TYPE_HANDLE, NULL,
				    "no such rule");
}

int
hy_flow_sim_count(struct hy_flow_sim *sim, void *flow, struct rte_flow_query_count *count,
	struct rte_flow_error *error)
{
	const bool late = sim->faults.counts_every_us > 0;
	int64_t index;
	struct rule *rule;
	int rc = 0;

	dawdle(sim);
	rte_rwlock_write_lock(&sim->lock);
	index = rule_find(sim, flow);
	rule = index >= 0 ? sim->rules[index] : NULL;
	if (late)
		hy_sim_counters_read(sim);
	if (rule == NULL) {
		rc = rte_flow_error_set(error, ENOENT, RTE_FLOW_ERROR_TYPE_HANDLE, NULL,
			"no such rule");
	} else if (!rule->wish.count) {
		rc = rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_HANDLE, NULL,
			"the rule has no action COUNT");
	} else {
		count->hits_set = 1;
		count->bytes_set = sim->profile->counts_bytes;
		count->hits = late ? rule->read_hits : rule->hits;
		count->bytes = !count->bytes_set ? 0 : late ? rule->read_bytes : rule->bytes;
		if (count->reset)
			rule->hits = rule->bytes = rule->read_hits = rule->read_bytes = 0;
	}
	rte_rwlock_write_unlock(&sim->lock);
	return rc;
}

void
hy_flow_sim_flush(struct hy_flow_sim *sim)
{
	rte_rwlock_write_lock(&sim->lock);
	unlink_all(sim);
	rte_rwlock_write_unlock(&sim->lock);
}

void
hy_flow_sim_start(struct hy_flow_sim *sim)
{
	rte_rwlock_write_lock(&sim->lock);
	sim->started = true;
	rte_rwlock_write_unlock(&sim->lock);
}

void
hy_flow_sim_stop(struct hy_flow_sim *sim)
{
	rte_rwlock_write_lock(&sim->lock);
	sim->started = false;
	if (sim->forgets)
		sim->stats.lost += unlink_all(sim);
	rte_rwlock_write_unlock(&sim->lock);
}

void
hy_flow_sim_accept(struct hy_flow_sim *sim, const struct rte_ether_addr *mac)
{
	rte_rwlock_write_lock(&sim->lock);
	sim->filters = mac != NULL;
	if (mac != NULL)
		sim->mac = *mac;
	rte_rwlock_write_unlock(&sim->lock);
}

void
hy_flow_sim_deliver(struct hy_flow_sim *sim, bool marks)
{
	rte_rwlock_write_lock(&sim->lock);
	sim->deliver = marks;
	rte_rwlock_write_unlock(&sim->lock);
}

void
hy_flow_sim_fault(struct hy_flow_sim *sim, const struct hy_flow_sim_faults *faults)
{
	rte_rwlock_write_lock(&sim->lock);
	sim->faults = *faults;
	sim->marks = 0;
	rte_rwlock_write_unlock(&sim->lock);
}

void
hy_flow_sim_fail(struct hy_flow_sim *sim, uint32_t nth, int err)
{
	rte_rwlock_write_lock(&sim->lock);
	sim->fail_in = nth;
	sim->fail_with = err;
	rte_rwlock_write_unlock(&sim->lock);
}

void
hy_flow_sim_stats(struct hy_flow_sim *sim, struct hy_flow_sim_stats *stats)
{
	rte_rwlock_write_lock(&sim->lock);
	*stats = sim->stats;
	stats->rules = sim->nb_rules;
	for (uint32_t m = 0; m < sim->nb_masks; m++)
		stats->masks += sim->masks[m].rules > 0;
	for (uint32_t i = 0; i < sim->nb_rules; i++)
		stats->marking += sim->rules[i]->wish.mark || sim->rules[i]->wish.flag;
	rte_rwlock_write_unlock(&sim->lock);
}
