/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random changes of a bridge's table against a model that knows no slots. What the table may refuse for
 * lack of room depends on slots: it is accepted only while the worker does not report.
 */

#include <errno.h>
#include <string.h>

#include "l2_fixture.h"

#define KEYS 400
#define LIMIT 100
#define PORTS 16
#define VLANS 5
#define OPERATIONS 1200000
#define INTERVAL 16 /* seconds, in which the time is told */

struct model_entry {
	uint64_t key;
	uint32_t told, used; /* at its last use: the time that was told last, and what it was */
	uint32_t moved;
	uint16_t port;
	bool there, fixed, was_moved;
};

static struct {
	struct model_entry entries[KEYS];
	uint32_t nb, learned[PORTS], max[PORTS];
	uint32_t clock, time; /* told last, and what it is: less than INTERVAL later */
	uint64_t flapped, aged, deleted, added;
	uint64_t aged_port[PORTS], aged_vlan[HY_L2_VIDS];
	bool held; /* the worker is in a walk, and does not report */
} model;

/* What operations did, each of which must have happened. */
enum done {
	LEARN, /* and each enum hy_l2_outcome */
	ADD_NEW = LEARN + HY_L2_OUTCOMES,
	ADD_AGAIN,
	ADD_LEARNED,
	ADD_FULL,
	DELETE,
	DELETE_NONE,
	AGE_SOME,
	AGE_NONE,
	AGE_LATE,
	FLUSH_PORT,
	FLUSH_VLAN,
	FLUSH_BOTH,
	LOOK_KNOWN, /* and each enum hy_l2_verdict */
	GET = LOOK_KNOWN + HY_L2_SOURCE_FIXED + 1,
	GET_NONE,
	LIMIT_PORT,
	HOLD,
	REPORT,
	REST,
	DUMP,
	DONE,
};

static uint64_t done[DONE];

static void
model_remove(struct model_entry *e)
{
	if (!e->fixed)
		model.learned[e->port]--;
	e->there = false;
	model.nb--;
}

static void
model_use(struct model_entry *e)
{
	e->told = model.clock;
	e->used = model.time;
}

static enum hy_l2_outcome
model_learn(struct model_entry *e, uint16_t port)
{
	const bool full = port < PORTS && model.max[port] > 0 &&
		model.learned[port] >= model.max[port];

	if (port >= PORTS)
		return HY_L2_REFUSED_INVALID;
	if (!e->there)
		return model.nb == LIMIT ? HY_L2_REFUSED_LIMIT
			: full           ? HY_L2_REFUSED_PORT
					 : HY_L2_LEARNED;
	if (e->port == port)
		return HY_L2_REFRESHED;
	return e->fixed ? HY_L2_REFUSED_STATIC : full ? HY_L2_REFUSED_PORT : HY_L2_MOVED;
}

static void
do_learn(struct model_entry *e, uint16_t port)
{
	const enum hy_l2_outcome right = model_learn(e, port), got = learn(e->key, port);

	done[LEARN + got]++;
	if (got == HY_L2_REFUSED_ROOM && right == HY_L2_LEARNED && model.held)
		return;
	assert_int_equal(got, right);
	if (right == HY_L2_LEARNED) {
		*e = (struct model_entry){ .key = e->key, .there = true };
		model.nb++;
	}
	if (right == HY_L2_MOVED) {
		model.flapped += e->was_moved && model.clock - e->moved <= 1;
		e->was_moved = true;
		e->moved = model.clock;
		model.learned[e->port]--;
	}
	if (right == HY_L2_LEARNED || right == HY_L2_MOVED)
		model.learned[port]++;
	if (right == HY_L2_LEARNED || right == HY_L2_MOVED || right == HY_L2_REFRESHED) {
		model_use(e);
		e->port = port;
	}
}

static void
do_add(struct model_entry *e, uint16_t port)
{
	int rc;

	if (model.held && !e->there) /* would wait for it */
		return;
	rc = hy_l2_add(table, e->key, port);
	if (!e->there && model.nb == LIMIT) {
		assert_int_equal(rc, -ENOSPC);
		done[ADD_FULL]++;
		return;
	}
	assert_int_equal(rc, 0);
	done[!e->there ? ADD_NEW : e->fixed ? ADD_AGAIN : ADD_LEARNED]++;
	if (e->there && !e->fixed)
		model.learned[e->port]--;
	if (!e->there) {
		*e = (struct model_entry){ .key = e->key, .there = true };
		model.nb++;
		model.added++;
	}
	e->fixed = true;
	e->port = port;
	model_use(e);
}

static void
do_delete(struct model_entry *e)
{
	assert_int_equal(hy_l2_delete(table, e->key), e->there ? 0 : -ENOENT);
	done[e->there ? DELETE : DELETE_NONE]++;
	model.deleted += e->there;
	if (e->there)
		model_remove(e);
}

/*
 * No entry is deleted that was used less than age seconds ago, and each is that was not used for an
 * interval more when the time was told.
 */
static uint32_t
model_age(uint32_t age)
{
	uint32_t aged = 0;

	for (uint32_t i = 0; i < KEYS; i++) {
		struct model_entry *e = &model.entries[i];
		const uint32_t unused = model.time - e->used;
		struct hy_l2_entry entry;
		bool stays;

		if (!e->there || e->fixed)
			continue;
		stays = hy_l2_get(table, e->key, &entry) == 0;
		assert_true(unused >= age || stays);
		assert_true(unused < age + INTERVAL + model.time - model.clock || !stays);
		done[AGE_LATE] += unused >= age && stays;
		if (stays)
			continue;
		model.aged_port[e->port]++;
		model.aged_vlan[e->key >> HY_L2_KEY_VID & 0xfff]++;
		model_remove(e);
		aged++;
	}
	return aged;
}

/* A whole sweep, in parts; half the time, one is told. */
static void
do_age(uint64_t *seed)
{
	const uint32_t buckets = hy_l2_buckets(table), part = 1 + l2_random(seed) % buckets;
	const uint32_t age = 1 + l2_random(seed) % 400;
	uint32_t aged = 0;

	if (l2_random(seed) % 2 == 0) {
		model.clock += INTERVAL;
		model.time = model.clock;
	}
	/* An overflow that empties shortens a sweep, so the parts may begin it again. */
	for (uint32_t swept = 0; swept < 2 * buckets; swept += part)
		aged += hy_l2_age(table, model.clock, age, part);
	assert_int_equal(aged, model_age(age));
	model.aged += aged;
	done[aged > 0 ? AGE_SOME : AGE_NONE]++;
}

static void
do_flush(uint64_t *seed)
{
	const uint32_t what = l2_random(seed) % 3;
	const uint16_t port = what == 1 ? HY_L2_ANY : (uint16_t)(l2_random(seed) % PORTS);
	const uint16_t vid = what == 0
		? HY_L2_ANY
		: (uint16_t)(model.entries[l2_random(seed) % KEYS].key >> HY_L2_KEY_VID & 0xfff);
	const bool also_static = l2_random(seed) % 4 == 0;
	uint32_t right = 0;

	for (uint32_t i = 0; i < KEYS; i++) {
		struct model_entry *e = &model.entries[i];

		if (!e->there || (e->fixed && !also_static) ||
			(port != HY_L2_ANY && e->port != port) ||
			(vid != HY_L2_ANY && (e->key >> HY_L2_KEY_VID & 0xfff) != vid))
			continue;
		model_remove(e);
		right++;
	}
	assert_int_equal(hy_l2_flush(table, port, vid, also_static), right);
	model.deleted += right;
	done[FLUSH_PORT + what] += right > 0;
}

static void
do_look(struct model_entry *e, uint16_t port)
{
	const enum hy_l2_verdict right = !e->there ? HY_L2_SOURCE_NEW
		: e->port == port                  ? HY_L2_SOURCE_KNOWN
		: e->fixed                         ? HY_L2_SOURCE_FIXED
						   : HY_L2_SOURCE_MOVED;

	assert_int_equal(port_of(e->key), e->there ? e->port : HY_L2_MISS);
	assert_int_equal(verdict_of(e->key, port), right);
	done[LOOK_KNOWN + right]++;
	if (right == HY_L2_SOURCE_KNOWN)
		model_use(e);
}

static void
entry_compare(const struct model_entry *e, const struct hy_l2_entry *entry)
{
	assert_true(e->there);
	assert_int_equal(entry->key, e->key);
	assert_int_equal(entry->port, e->port);
	assert_int_equal(entry->is_static, e->fixed);
	assert_int_equal(entry->idle, model.clock - e->told);
}

static void
do_get(const struct model_entry *e)
{
	struct hy_l2_entry entry;
	const int rc = hy_l2_get(table, e->key, &entry);

	done[rc == 0 ? GET : GET_NONE]++;
	assert_int_equal(rc, e->there ? 0 : -ENOENT);
	if (rc == 0)
		entry_compare(e, &entry);
}

/* All of the table is as in the model. */
static void
compare(void)
{
	struct hy_l2_entry entries[LIMIT + 1];
	const struct hy_l2_stats s = stats();
	uint32_t cursor = 0, per_port[PORTS] = { 0 }, per_vlan[HY_L2_VIDS] = { 0 }, fixed = 0;
	const uint32_t n = hy_l2_dump(table, &cursor, entries, LIMIT + 1);

	assert_int_equal(n, model.nb);
	assert_int_equal(cursor, HY_L2_END);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = 0;

		while (k < KEYS && model.entries[k].key != entries[i].key)
			k++;
		assert_true(k < KEYS);
		entry_compare(&model.entries[k], &entries[i]);
		per_port[entries[i].port]++;
		per_vlan[entries[i].key >> HY_L2_KEY_VID & 0xfff]++;
		fixed += entries[i].is_static;
	}
	assert_int_equal(s.entries, n);
	assert_int_equal(s.static_entries, fixed);
	assert_int_equal(s.flapped, model.flapped);
	assert_int_equal(s.aged, model.aged);
	assert_int_equal(s.deleted, model.deleted);
	assert_int_equal(s.added, model.added);
	for (unsigned int o = 0; o < HY_L2_OUTCOMES; o++)
		assert_int_equal(s.learn[o], done[LEARN + o]);
	for (uint16_t p = 0; p < PORTS; p++) {
		assert_int_equal(hy_l2_port_entries(table, p), per_port[p]);
		assert_int_equal(hy_l2_port_aged(table, p), model.aged_port[p]);
	}
	for (uint16_t v = 0; v < HY_L2_VIDS; v++) {
		assert_int_equal(hy_l2_vlan_entries(table, v), per_vlan[v]);
		assert_int_equal(hy_l2_vlan_aged(table, v), model.aged_vlan[v]);
	}
	done[DUMP]++;
}

/* The worker stays long in a walk, or walks and reports, or rests. */
static void
do_worker(uint64_t *seed)
{
	if (l2_random(seed) % 64 != 0)
		return;
	if (!model.held) {
		worker_begins();
		done[HOLD]++;
	} else if (l2_random(seed) % 2 == 0) {
		worker_reports();
		done[REPORT]++;
	} else {
		done[REST]++;
	}
	if (model.held)
		worker_rests();
	model.held = !model.held;
}

static void
operate(uint64_t *seed)
{
	struct model_entry *e = &model.entries[l2_random(seed) % KEYS];
	const uint16_t port = (uint16_t)(l2_random(seed) % PORTS);
	const uint32_t what = l2_random(seed) % 1000;

	if (what % 32 == 0 && model.time < model.clock + INTERVAL - 1)
		model.time++;

	if (what < 450)
		do_learn(e, what == 0 ? PORTS : e->there && what % 3 == 0 ? e->port : port);
	else if (what < 460)
		do_add(e, port);
	else if (what < 650)
		do_delete(e);
	else if (what < 655)
		do_age(seed);
	else if (what < 660)
		do_flush(seed);
	else if (what < 900)
		do_look(e, what % 2 == 0 ? e->port : port);
	else if (what < 970)
		do_get(e);
	else if (what < 980) {
		model.max[port] = l2_random(seed) % 3 == 0 ? 0 : 3 + l2_random(seed) % 8;
		assert_int_equal(hy_l2_port_limit(table, port, model.max[port]), 0);
		done[LIMIT_PORT]++;
	} else
		do_worker(seed);
}

/* Keys of two buckets of the table, so that most entries of these are in the overflow, and others. */
static void
model_begin(void)
{
	uint64_t keys[KEYS / 4];

	memset(&model, 0, sizeof(model));
	memset(done, 0, sizeof(done));
	table_new(LIMIT, qsbr_new(1));
	for (uint32_t i = 0; i < KEYS; i++) {
		if (i % RTE_DIM(keys) == 0 && i < KEYS / 2)
			keys_of_bucket(i / RTE_DIM(keys), keys, RTE_DIM(keys));
		model.entries[i].key = i < KEYS / 2
			? keys[i % RTE_DIM(keys)]
			: key_of(1000000 + i / VLANS, i % VLANS == 0 ? 4095 : i % VLANS - 1);
	}
}

static void
random_changes_are_those_of_the_model(void **state)
{
#ifdef SANITIZED
	const uint32_t operations = OPERATIONS / 10;
#else
	const uint32_t operations = OPERATIONS;
#endif
	uint32_t overflowed = 0;
	uint64_t seed = 20;

	RTE_SET_USED(state);
	model_begin();
	for (uint32_t i = 0; i < operations; i++) {
		operate(&seed);
		overflowed = RTE_MAX(overflowed, stats().overflowed);
		if (i % 1000 == 0)
			compare();
	}
	compare();
	for (unsigned int d = 0; d < DONE; d++)
		if (done[d] == 0)
			fail_msg("operation %u never happened", d);
	assert_true(overflowed >= 20);
	assert_true(model.flapped > 0);
	print_message("%ju learned, %ju moved, %ju flapped, %ju without room, %ju aged; "
		      "%u in the overflow at most\n",
		(uintmax_t)done[LEARN + HY_L2_LEARNED], (uintmax_t)done[LEARN + HY_L2_MOVED],
		(uintmax_t)model.flapped, (uintmax_t)done[LEARN + HY_L2_REFUSED_ROOM],
		(uintmax_t)model.aged, overflowed);
}

static const struct CMUnitTest tests[] = {
	L2_TEST(random_changes_are_those_of_the_model),
};
UNIT_SUITE(tests)
