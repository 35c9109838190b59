/* SPDX-License-Identifier: BSD-3-Clause */
/* The offload of a policy to a port: its lifetime, and its part in commits. */

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_ethdev.h>
#include <rte_malloc.h>
#include <rte_random.h>
#include <rte_ring_elem.h>

#include <hy_grace.h>

#include "lib/graph/internal/log.h"
#include "offload.h"

#define RULES_MAX (1u << 20)
#define SAMPLE_EVERY_MAX (1u << 31)  /* hy_mark_gap() counts in 64 bits */
#define GENERATIONS_MIN 3            /* traded for slots if marks are few */
#define RESIDUE_MAX HY_MARK_RESIDUES /* limited by the counter in a slot */
#define END_US 1000000               /* for the rules of a port that is closed next */
#define RECORDS 64                   /* of mismatches, for each worker; a ring holds one less */

pthread_mutex_t hy_offload_list_mutex = PTHREAD_MUTEX_INITIALIZER;
struct hy_offload *hy_offload_list;

uint64_t
hy_offload_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* hy_policy_commit() calls the functions whose names begin with `on_`. */
static int
on_prepare(void *arg, const struct hy_policy_view *next)
{
	struct hy_offload *o = arg;
	int rc = 0;

	pthread_mutex_lock(&o->mutex);
	o->next_plan = hy_offload_plan_make(o, next);
	if (o->next_plan != NULL && o->state == HY_OFFLOAD_UP)
		o->next_marks = hy_offload_marks_make(o, o->next_plan);
	if (o->next_plan == NULL || (o->state == HY_OFFLOAD_UP && o->next_marks == NULL)) {
		hy_offload_plan_free(o, o->next_plan);
		o->next_plan = NULL;
		rc = -ENOMEM;
	} else {
		/* As long as the current view is published, software drops these packets. */
		hy_offload_drops_end(o, o->next_plan);
	}
	pthread_mutex_unlock(&o->mutex);
	return rc;
}

static void
on_cancel(void *arg)
{
	struct hy_offload *o = arg;

	pthread_mutex_lock(&o->mutex);
	hy_offload_plan_free(o, o->next_plan);
	hy_offload_marks_free(o->next_marks);
	o->next_plan = NULL;
	o->next_marks = NULL;
	pthread_mutex_unlock(&o->mutex);
}

static void
on_publish(void *arg)
{
	struct hy_offload *o = arg;

	pthread_mutex_lock(&o->mutex);
	/* One may have got stuck since this table was made. */
	o->dirty = o->stuck > 0 || (o->next_marks != NULL && o->next_marks->unsure);
	hy_offload_marks_publish(o, o->next_marks, o->next_plan);
	o->next_plan = NULL;
	o->next_marks = NULL;
	o->retry = false; /* rules refused because of others are untried again */
	o->full = false;
	pthread_mutex_unlock(&o->mutex);
}

/* The previous table refers to the previous view, and must not outlive this. */
static void
on_after(void *arg)
{
	struct hy_offload *o = arg;

	pthread_mutex_lock(&o->mutex);
	hy_offload_collect(o);
	pthread_mutex_unlock(&o->mutex);
}

static struct hy_offload_params
defaults(const struct hy_offload_params *given)
{
	struct hy_offload_params p = { 0 };

	if (given != NULL)
		p = *given;
	p.max_rules = p.max_rules == 0 ? 16384 : p.max_rules;
	p.sample_every = p.sample_every == 0 ? 1024 : p.sample_every;
	p.demote_after = p.demote_after == 0 ? 8 : p.demote_after;
	p.settle_us = p.settle_us == 0 ? 100000 : p.settle_us;
	p.age_us = p.age_us == 0 ? 1000000 : p.age_us;
	p.batch = p.batch == 0 ? 256 : p.batch;
	p.max_residue = p.max_residue == 0 ? 16 : RTE_MIN(p.max_residue, RESIDUE_MAX);
	return p;
}

/* Allocates twice as many slots as rules, since freed slots are in quarantine for a while. */
static int
layout(struct hy_offload *o)
{
	const uint64_t marks = (uint64_t)o->limits.mark_max + 1;
	uint64_t token;

	o->slot_bits = rte_log2_u32(rte_align32pow2(2 * o->params.max_rules));
	while (o->slot_bits > 0 && (marks >> o->slot_bits) < GENERATIONS_MIN + 1)
		o->slot_bits--;
	if (marks >> o->slot_bits < 2)
		return -ENOTSUP;
	o->nb_slots = 1u << o->slot_bits;
	o->generations = (uint32_t)(marks >> o->slot_bits) - 1;
	o->params.max_rules = RTE_MIN(o->params.max_rules, o->nb_slots);
	o->room = RTE_MIN(o->room, o->nb_slots);
	o->flows = calloc(o->nb_slots, sizeof(*o->flows));
	o->batch = calloc(1, sizeof(*o->batch));
	if (o->flows == NULL || o->batch == NULL)
		return -ENOMEM;
	token = hy_grace_start(o->qsbr);
	/* In quarantine: packets marked for a previous offload may still wait. */
	for (uint32_t i = 0; i < o->nb_slots; i++) {
		o->flows[i].generation = 1;
		o->flows[i].since = hy_offload_now();
		o->flows[i].token = token;
	}
	hy_offload_kept_avoid(o);
	return 0;
}

static int
workers_make(struct hy_offload *o)
{
	/* Of rings: those of an offload that a worker did not release are still there. */
	static atomic_uint number;

	o->worker = rte_zmalloc("hy_mark_workers", o->workers * sizeof(*o->worker),
		RTE_CACHE_LINE_SIZE);
	if (o->worker == NULL)
		return -ENOMEM;
	for (unsigned int w = 0; w < o->workers; w++) {
		struct hy_mark_worker *worker = &o->worker[w];
		char name[RTE_RING_NAMESIZE];

		worker->random = rte_rand() | 1;
		worker->every = o->params.sample_every;
		worker->gap = hy_mark_gap(worker);
		snprintf(name, sizeof(name), "hy_mm_%u", atomic_fetch_add(&number, 1));
		worker->records = rte_ring_create_elem(name, sizeof(struct hy_mark_mismatch),
			RECORDS, rte_eth_dev_socket_id(o->port), RING_F_SP_ENQ | RING_F_SC_DEQ);
		if (worker->records == NULL)
			return -ENOMEM;
	}
	return 0;
}

/*
 * How a port treats VLAN tags. It may take other rules, or none, when that changes. While it is
 * promiscuous, it filters none.
 */
static int
vlan_of(uint16_t port)
{
	const int vlan = rte_eth_dev_get_vlan_offload(port);

	return rte_eth_promiscuous_get(port) == 1 ? vlan & ~RTE_ETH_VLAN_FILTER_OFFLOAD : vlan;
}

/* Finds out what the port takes. Leaves rules of others alone. */
static int
port_begin(struct hy_offload *o, char *reason, size_t size)
{
	struct rte_eth_dev_info info;
	const char *why = NULL;
	int rc;

	if (rte_eth_dev_info_get(o->port, &info) != 0 ||
		hy_flow_spread_get(o->port, &o->spread) != 0)
		return HY_REASON(-ENODEV, reason, size, "there is no port %u", o->port);
	if (o->any_provider)
		o->params.provider = hy_flow_rte_of(o->port);
	if (o->any_driver)
		o->params.driver = hy_flow_driver_of(info.driver_name == NULL ? ""
									      : info.driver_name);
	if (hy_offload_resets_itself(o->params.driver, &info))
		return HY_REASON(-ENOTSUP, reason, size,
			"the driver resets the port by itself, and frees its rules then; give the "
			"device the argument %s=0",
			o->params.driver->self_reset);
	o->vlan = vlan_of(o->port);
	rc = hy_flow_probe(o->port, o->params.provider, o->params.driver, &o->limits);
	if (rc == 0 && o->limits.mark_max == 0)
		rc = -ENOTSUP;
	if (rc != 0)
		return HY_REASON(rc, reason, size, "%s", o->limits.reason);
	o->room = o->params.max_rules;
	if (o->params.driver->spread_rules > 0 && o->spread.nb_queues > 1)
		o->room = RTE_MIN(o->room, o->params.driver->spread_rules);
	rc = hy_offload_port_rules_make(o, &why);
	if (rc != 0) {
		snprintf(reason, size, "%s refuses the rules that the driver needs: %s",
			o->params.provider->name, why != NULL ? why : strerror(-rc));
		hy_offload_port_rules_remove(o);
		return -ENOTSUP;
	}
	return 0;
}

void
hy_offload_free(struct hy_offload *o)
{
	for (unsigned int w = 0; o->worker != NULL && w < o->workers; w++)
		rte_ring_free(o->worker[w].records);
	rte_free(o->worker);
	hy_offload_plan_free(o, o->plan);
	free(o->batch);
	free(o->flows);
	pthread_mutex_destroy(&o->mutex);
	free(o);
}

static void
list_add(struct hy_offload *o)
{
	pthread_mutex_lock(&hy_offload_list_mutex);
	o->next = hy_offload_list;
	hy_offload_list = o;
	pthread_mutex_unlock(&hy_offload_list_mutex);
}

static void
list_remove(struct hy_offload *o)
{
	struct hy_offload **at = &hy_offload_list;

	pthread_mutex_lock(&hy_offload_list_mutex);
	while (*at != NULL && *at != o)
		at = &(*at)->next;
	if (*at != NULL)
		*at = o->next;
	pthread_mutex_unlock(&hy_offload_list_mutex);
}

/* hy_offload_destroy() or hy_offload_free() undoes each step. */
static int
offload_build(struct hy_offload *o, char *reason, size_t size)
{
	const struct hy_policy_view *view;
	int rc = port_begin(o, reason, size);

	if (rc == 0)
		rc = layout(o);
	if (rc == -ENOTSUP && reason[0] == '\0')
		snprintf(reason, size, "marks up to %u are too few", o->limits.mark_max);
	if (rc == 0)
		rc = workers_make(o);
	if (rc != 0)
		return rc;
	view = hy_policy_view_hold(o->policy);
	o->plan = hy_offload_plan_make(o, view);
	if (o->plan == NULL) {
		hy_policy_view_release(o->policy, view);
		return -ENOMEM;
	}
	o->plan->held = true;
	o->listener = (struct hy_policy_listener){ on_prepare, on_cancel, on_publish, on_after, o };
	return hy_policy_listen(o->policy, &o->listener);
}

int
hy_offload_create(struct hy_policy *policy, uint16_t port, const struct hy_offload_params *params,
	struct hy_offload **offload, char *reason, size_t size)
{
	static const char *const fixed[] = {
		[REASON_UNTRIED] = "not tried yet",
		[REASON_FULL] = "the port has no room",
		[REASON_COLD] = "others are hit more",
		[REASON_OVERLAP] = "it overlaps a rule in hardware, which has no priorities",
		[REASON_RESIDUE] = "software would have to check too many rules before it",
		[REASON_CROWD] = "it overlaps too many rules before it",
		[REASON_TWIN] = "a rule in hardware has the same pattern",
		[REASON_SPARE] = "hardware needs it only before one that drops packets there",
		[REASON_ORDER] = "not each rule before it that it overlaps precedes it in hardware",
		[REASON_SHADE] = "a rule before it that it overlaps cannot be in hardware",
		[REASON_BLIND] = "hardware may not recognize a rule before it that it overlaps",
		[REASON_DEPTH] = "the port has too few priorities for the rules before it",
		[REASON_LOG] = "its packets are logged",
		[REASON_CUT] = "the list drops cut packets, which hardware does not recognize",
		[REASON_OTHER] = "other reasons",
	};
	struct hy_offload *o;
	int rc;

	reason[0] = '\0';
	if (port >= RTE_MAX_ETHPORTS || hy_policy_qsbr(policy) == NULL ||
		(params != NULL &&
			(params->max_rules > RULES_MAX || params->sample_every > SAMPLE_EVERY_MAX)))
		return HY_REASON(-EINVAL, reason, size,
			"a port, a policy with a QSBR variable, at most %u rules, and a sample of "
			"one in %u at least are needed",
			RULES_MAX, SAMPLE_EVERY_MAX);
	if (hy_offload_of(port) != NULL)
		return HY_REASON(-EEXIST, reason, size, "port %u has an offload already", port);
	o = calloc(1, sizeof(*o));
	if (o == NULL)
		return -ENOMEM;
	o->policy = policy;
	o->access = hy_policy_is_access(policy);
	o->qsbr = hy_policy_qsbr(policy);
	o->workers = hy_policy_workers(policy);
	o->port = port;
	o->left = UINT64_MAX;
	o->pace = 1;
	o->params = defaults(params);
	o->any_provider = o->params.provider == NULL;
	o->any_driver = o->params.driver == NULL;
	o->safety = (struct offload_safety){ true, true, true };
	for (unsigned int r = 0; r < RTE_DIM(fixed); r++)
		snprintf(o->reasons[r], sizeof(o->reasons[r]), "%s",
			fixed[r] == NULL ? "" : fixed[r]);
	pthread_mutex_init(&o->mutex, NULL);
	rc = offload_build(o, reason, size);
	if (rc != 0) {
		hy_offload_port_rules_remove(o);
		hy_offload_free(o);
		return rc;
	}
	list_add(o);
	hy_offload_watch_begin(o);
	o->aged = hy_offload_now();
	*offload = o;
	return 0;
}

/* Plans no rule for hardware. */
static void
plan_empty(struct hy_offload *o)
{
	for (uint32_t r = 0; r < o->plan->view->nb_rules; r++)
		o->plan->rules[r].slot = NO_SLOT;
}

/* Waits up to a second, like a policy. */
static void
wait_for_workers(struct hy_offload *o)
{
	const uint64_t begin = hy_offload_now();

	do {
		hy_offload_collect(o);
	} while (o->garbage != NULL && hy_offload_now() - begin < 1000000);
	if (o->garbage != NULL)
		HY_LOG(ERR,
			"port %u: a worker does not release the port's marks, which stay in memory",
			o->port);
}

void
hy_offload_destroy(struct hy_offload *o)
{
	struct rte_flow_error error;

	if (o == NULL)
		return;
	hy_offload_unfollow(o);
	list_remove(o);
	hy_offload_watch_port(o->port, false);
	hy_policy_unlisten(o->policy, &o->listener);
	pthread_mutex_lock(&o->mutex);
	plan_empty(o);
	if (o->mute) /* it recovers, and takes no calls */
		hy_offload_port_rules_forget(o);
	hy_offload_jump_remove(o);
	if (o->closing)
		o->left = END_US;
	hy_offload_marks_publish(o, NULL, o->plan);
	wait_for_workers(o);
	hy_offload_destroy_left(o, false);
	if (hy_offload_late(o) && o->leaving > 0)
		HY_LOG(WARNING, "port %u answers late: %u flow rules are left to its driver",
			o->port, o->leaving);
	hy_offload_guards_find(o);
	for (uint32_t i = 0; i < o->nb_slots; i++)
		if (o->flows[i].state == FLOW_STUCK ||
			(o->flows[i].state == FLOW_LEAVING &&
				(hy_offload_late(o) || hy_offload_must_stay(o, &o->flows[i]) ||
					o->params.provider->destroy(o->port, o->flows[i].handle,
						&error) != 0)))
			hy_offload_kept_note(o, i);
	if (o->state != HY_OFFLOAD_GONE)
		hy_offload_port_rules_remove(o);
	pthread_mutex_unlock(&o->mutex);
	if (o->garbage == NULL)
		hy_offload_free(o);
}

static void
settle(struct hy_offload *o)
{
	const uint64_t now = hy_offload_now();

	for (uint32_t i = 0; i < o->nb_slots && !hy_offload_is_cut(o); i++) {
		struct flow *flow = &o->flows[i];

		if (flow->state != FLOW_LIVE || flow->settled ||
			now - flow->since < o->params.settle_us)
			continue;
		flow->settled = true;
		o->retry = true;
		o->dirty = true;
	}
}

/* Stops using the marks of hardware that cannot be trusted. Its rules leave as usual. */
static void
demote(struct hy_offload *o)
{
	HY_LOG(ERR, "port %u: %s; software classifies now", o->port, o->demoted);
	o->state = HY_OFFLOAD_DEMOTED;
	plan_empty(o);
	hy_offload_jump_remove(o); /* at once no packet meets the rules, if there is a jump */
	hy_offload_marks_publish(o, NULL, o->plan);
}

/* Whether the port still treats VLAN tags, and spreads packets, as its rules assume. */
static bool
settings_same(const struct hy_offload *o)
{
	struct hy_flow_spread spread;

	if (vlan_of(o->port) != o->vlan)
		return false;
	/* A driver that could not tell its key once has not changed it. */
	return o->params.driver->fate != HY_FLOW_FATE_RSS || o->spread.nb_queues <= 1 ||
		hy_flow_spread_get(o->port, &spread) != 0 || spread.key_len != o->spread.key_len ||
		(spread.types == o->spread.types &&
			memcmp(spread.key, o->spread.key, spread.key_len) == 0);
}

/* Begins again if they have changed. */
static void
settings_follow(struct hy_offload *o)
{
	bool same;

	pthread_mutex_lock(&o->mutex);
	same = o->state != HY_OFFLOAD_UP || !rte_eth_dev_is_valid_port(o->port) || settings_same(o);
	pthread_mutex_unlock(&o->mutex);
	if (same)
		return;
	hy_offload_down(o, true);
	hy_offload_up(o);
	if (o->hal != NULL)
		hy_offload_declare(o, o->hal);
}

uint32_t
hy_offload_poll(struct hy_offload *o)
{
	bool demoted = false;
	uint32_t done = 0;

	settings_follow(o);
	pthread_mutex_lock(&o->mutex);
	o->left = HY_OFFLOAD_TURN_US;
	hy_offload_collect(o);
	hy_offload_drops_read(o, false);
	if (o->state == HY_OFFLOAD_UP && hy_offload_distrust(o)) {
		demote(o);
		demoted = true;
	}
	if (o->state == HY_OFFLOAD_UP || o->state == HY_OFFLOAD_DEMOTED)
		done += hy_offload_destroy_left(o, false);
	if (o->state == HY_OFFLOAD_UP) {
		hy_offload_reach_follow(o);
		settle(o);
		done += hy_offload_age(o);
		done += hy_offload_install(o);
	}
	if (o->state == HY_OFFLOAD_UP && o->dirty) {
		struct marks *marks = hy_offload_marks_make(o, o->plan);

		/* If there is no memory, the current table remains valid. */
		if (marks != NULL) {
			o->dirty = marks->unsure;
			hy_offload_marks_publish(o, marks, o->plan);
			done++;
		}
	}
	o->left = UINT64_MAX;
	pthread_mutex_unlock(&o->mutex);
	if (demoted && o->hal != NULL)
		hy_offload_declare(o, o->hal);
	return done;
}

void
hy_offload_down(struct hy_offload *o, bool answers)
{
	pthread_mutex_lock(&o->mutex);
	/* A port that is down, or recovers, may still have rules. */
	if (o->state != HY_OFFLOAD_GONE && !(answers && (o->state == HY_OFFLOAD_DOWN || o->mute))) {
		hy_offload_forget(o, answers);
		if (o->state == HY_OFFLOAD_UP)
			o->state = HY_OFFLOAD_DOWN;
	}
	pthread_mutex_unlock(&o->mutex);
}

void
hy_offload_recovers(struct hy_offload *o)
{
	pthread_mutex_lock(&o->mutex);
	if (o->state == HY_OFFLOAD_UP || o->state == HY_OFFLOAD_DEMOTED) {
		hy_offload_abandon(o);
		if (o->state == HY_OFFLOAD_UP)
			o->state = HY_OFFLOAD_DOWN;
	}
	pthread_mutex_unlock(&o->mutex);
}

int
hy_offload_up(struct hy_offload *o)
{
	char reason[sizeof(o->limits.reason)] = "";
	int rc = 0;

	pthread_mutex_lock(&o->mutex);
	if (o->state == HY_OFFLOAD_GONE)
		rc = -ENODEV;
	if (o->mute)
		hy_offload_recovered(o);
	if (o->state == HY_OFFLOAD_DOWN) {
		const uint64_t marks = (uint64_t)o->generations << o->slot_bits;

		rc = port_begin(o, reason, sizeof(reason));
		if (rc == 0 && marks + o->nb_slots - 1 > o->limits.mark_max) {
			snprintf(reason, sizeof(reason), "marks up to %u are fewer than before",
				o->limits.mark_max);
			hy_offload_port_rules_remove(o);
			rc = -ENOTSUP;
		}
		if (rc == 0) {
			o->state = HY_OFFLOAD_UP;
			hy_offload_watch_begin(o);
		} else {
			HY_LOG(ERR, "port %u is not offloaded to any more: %s", o->port, reason);
			o->limits = (struct hy_flow_limits){ .priorities = 1 };
			snprintf(o->limits.reason, sizeof(o->limits.reason), "%s", reason);
		}
		o->full = false;
		o->dirty = true;
	}
	pthread_mutex_unlock(&o->mutex);
	return rc;
}

void
hy_offload_gone(struct hy_offload *o)
{
	hy_offload_down(o, false);
	pthread_mutex_lock(&o->mutex);
	o->state = HY_OFFLOAD_GONE;
	pthread_mutex_unlock(&o->mutex);
}

struct hy_offload *
hy_offload_of(uint16_t port)
{
	struct hy_offload *o;

	pthread_mutex_lock(&hy_offload_list_mutex);
	for (o = hy_offload_list; o != NULL && o->port != port;)
		o = o->next;
	pthread_mutex_unlock(&hy_offload_list_mutex);
	return o;
}
