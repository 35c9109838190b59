/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a port's marks can be trusted. The control thread checks what workers have counted: wrong
 * marks, missing marks, and packets that name another port.
 */

#include <inttypes.h>
#include <stdio.h>

#include "offload.h"

#define WATCH_US 100000   /* least time between checks for missing marks */
#define WINDOW_US 1000000 /* after which the counts start again */
#define LOOKS 256         /* packets that a worker may look at between checks */
#define ENOUGH 32         /* packets without a due mark that are not a coincidence */

/* Packets of a port that name another port, as workers report them. */
static struct foreign {
	bool asked;
	uint16_t other;
	uint64_t bursts;
} foreign[RTE_MAX_ETHPORTS];

void
hy_mark_foreign(uint16_t port, uint16_t other)
{
	struct foreign *f;

	if (port >= RTE_MAX_ETHPORTS)
		return;
	f = &foreign[port];
	if (!__atomic_load_n(&f->asked, __ATOMIC_RELAXED))
		return;
	__atomic_store_n(&f->other, other, __ATOMIC_RELAXED);
	__atomic_fetch_add(&f->bursts, 1, __ATOMIC_RELAXED);
}

void
hy_offload_watch_port(uint16_t port, bool asked)
{
	__atomic_store_n(&foreign[port].bursts, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&foreign[port].asked, asked, __ATOMIC_RELAXED);
}

static uint64_t
relaxed(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

void
hy_offload_counts(const struct hy_offload *o, struct hy_offload_stats *c)
{
	*c = (struct hy_offload_stats){ .foreign = relaxed(&foreign[o->port].bursts),
		.dropped = o->dropped };
	for (unsigned int w = 0; w < o->workers; w++) {
		const struct hy_mark_worker *worker = &o->worker[w];

		c->marked += relaxed(&worker->marked);
		c->unmarked += relaxed(&worker->unmarked);
		c->stale += relaxed(&worker->stale);
		c->fragments += relaxed(&worker->fragments);
		c->residue += relaxed(&worker->residue);
		c->sampled += relaxed(&worker->sampled);
		c->mismatches += relaxed(&worker->mismatches);
		c->looked += relaxed(&worker->looked);
		c->missing += relaxed(&worker->missing);
		c->garbled += relaxed(&worker->garbled);
		c->leaked += relaxed(&worker->leaked);
	}
}

static void
window_begin(struct hy_offload *o, const struct hy_offload_stats *now)
{
	o->watch.begin = *now;
	o->watch.since = hy_offload_now();
}

static void
looks_grant(struct hy_offload *o)
{
	for (unsigned int w = 0; w < o->workers; w++) {
		struct hy_mark_worker *worker = &o->worker[w];

		__atomic_store_n(&worker->looks, relaxed(&worker->looked) + LOOKS,
			__ATOMIC_RELAXED);
	}
}

/*
 * Marks of rules that are leaving are legitimately stale: packets that came with such a mark since the
 * last check do not count. Of rules that the port refused to remove, workers know the marks, and count
 * none of their packets; until they do, these are forgiven likewise. So are packets that a rule would
 * have dropped that is gone, until workers leave the table which has it.
 */
static void
stale_forgive(struct hy_offload *o, const struct hy_offload_stats *now)
{
	if (o->leaving > 0 || (o->stuck > 0 && o->dirty) ||
		o->watch.left + o->params.settle_us > o->watch.judged) {
		o->watch.begin.garbled = now->garbled;
		o->watch.begin.leaked = now->leaked;
	}
}

/* Whether of the packets that hardware should drop in a window, many arrive. */
static bool
drops_leak(struct hy_offload *o, const struct hy_offload_stats *now)
{
	const struct hy_offload_stats *begin = &o->watch.begin;
	const uint64_t leaked = now->leaked - begin->leaked;
	const uint64_t dropped = now->dropped - begin->dropped;
	const uint64_t soft = now->unmarked - begin->unmarked + (now->stale - begin->stale);
	double in_all;

	if (leaked < ENOUGH)
		return false;
	in_all = (double)leaked * (double)soft / (double)(now->looked - begin->looked);
	snprintf(o->demoted, sizeof(o->demoted),
		"%u rules drop packets in hardware, but of their packets %.0f arrived; it counted "
		"%" PRIu64,
		hy_offload_nb_drops(o, FLOW_LIVE), in_all, dropped);
	window_begin(o, now);
	return 2 * in_all > (double)dropped;
}

/* Whether most of the marks that are due in a window do not arrive. */
static bool
marks_missing(struct hy_offload *o, const struct hy_offload_stats *now)
{
	const struct hy_offload_stats *begin = &o->watch.begin;
	const uint64_t looked = now->looked - begin->looked;
	const uint64_t marked = now->marked - begin->marked;
	const uint64_t soft = now->unmarked - begin->unmarked + (now->stale - begin->stale) +
		(now->fragments - begin->fragments);
	const uint64_t lost = now->missing - begin->missing + (now->garbled - begin->garbled);
	double in_all;

	if (lost < ENOUGH) {
		if (marked + now->dropped - begin->dropped >= ENOUGH &&
			hy_offload_now() - o->watch.since >= WINDOW_US)
			window_begin(o, now);
		return false;
	}
	in_all = (double)lost * (double)soft / (double)looked;
	snprintf(o->demoted, sizeof(o->demoted),
		"%u rules are in hardware, and of %.0f packets that they match %" PRIu64
		" came with a mark",
		o->live, in_all + (double)marked, marked);
	window_begin(o, now);
	return in_all > (double)marked;
}

bool
hy_offload_distrust(struct hy_offload *o)
{
	struct hy_offload_stats now;

	hy_offload_counts(o, &now);
	if (now.mismatches >= o->params.demote_after) {
		snprintf(o->demoted, sizeof(o->demoted),
			"%" PRIu64 " of its marks were found wrong, of %" PRIu64 " looked at",
			now.mismatches, now.sampled);
		o->demotion = DEMOTED_WRONG;
		return true;
	}
	if (hy_offload_nb_drops(o, FLOW_STUCK) > 0) {
		snprintf(o->demoted, sizeof(o->demoted),
			"it may have kept a rule that drops packets");
		o->demotion = DEMOTED_KEPT;
		return true;
	}
	if (now.foreign >= o->params.demote_after && o->live > 0) {
		snprintf(o->demoted, sizeof(o->demoted),
			"packets that it received say that they came by port %u",
			__atomic_load_n(&foreign[o->port].other, __ATOMIC_RELAXED));
		o->demotion = DEMOTED_FOREIGN;
		return true;
	}
	if (hy_offload_now() - o->watch.judged < WATCH_US)
		return false;
	stale_forgive(o, &now);
	o->watch.judged = hy_offload_now();
	if (drops_leak(o, &now)) {
		o->demotion = DEMOTED_LEAKS;
		return true;
	}
	if (marks_missing(o, &now)) {
		o->demotion = DEMOTED_MISSING;
		return true;
	}
	looks_grant(o);
	return false;
}

void
hy_offload_watch_begin(struct hy_offload *o)
{
	struct hy_offload_stats now;

	hy_offload_watch_port(o->port, true);
	hy_offload_counts(o, &now);
	window_begin(o, &now);
	looks_grant(o);
}
