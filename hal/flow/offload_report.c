/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of an offload: as a structure, as text, as JSON and in telemetry. */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ring_elem.h>
#include <rte_telemetry.h>

#include <hy_file.h>

#include "lib/file/internal/json.h"
#include "lib/graph/internal/dpdk.h"
#include "offload.h"

static const char *const states[] = {
	[HY_OFFLOAD_UP] = "up",
	[HY_OFFLOAD_DOWN] = "down",
	[HY_OFFLOAD_GONE] = "gone",
	[HY_OFFLOAD_DEMOTED] = "demoted",
};

/* With the offload's mutex held. */
static void
stats_read(const struct hy_offload *o, struct hy_offload_stats *s)
{
	hy_offload_counts(o, s);
	s->port = o->port;
	s->state = o->state;
	s->limits = o->limits;
	s->hw_rules = o->live;
	/* A rule that went may be live until there is memory for a table without it. */
	s->sw_rules = o->plan->view->nb_rules - RTE_MIN(o->plan->view->nb_rules, o->live);
	s->leaving = o->leaving;
	s->room = o->room;
	s->full = o->full;
	s->installed = o->installed;
	s->evicted = o->evicted;
	s->lost = o->lost;
	s->failed = o->failed;
	s->drop_rules = hy_offload_nb_drops(o, FLOW_LIVE);
	if (o->state == HY_OFFLOAD_DEMOTED)
		memcpy(s->demoted, o->demoted, sizeof(s->demoted));
}

void
hy_offload_stats(struct hy_offload *o, struct hy_offload_stats *stats)
{
	pthread_mutex_lock(&o->mutex);
	stats_read(o, stats);
	pthread_mutex_unlock(&o->mutex);
}

const char *
hy_offload_reason(struct hy_offload *o, uint32_t rule_id)
{
	static const char *const why[] = {
		[HY_OFFLOAD_DOWN] = "the port does not run",
		[HY_OFFLOAD_GONE] = "the port was removed",
	};
	static const char *const demoted[] = {
		[DEMOTED_WRONG] = "marks of the port were found wrong",
		[DEMOTED_MISSING] = "marks of the port do not arrive",
		[DEMOTED_FOREIGN] = "packets of the port name another port",
		[DEMOTED_LEAKS] = "packets that the port should drop arrive",
		[DEMOTED_KEPT] = "the port may have kept a rule that drops packets",
	};
	const char *reason = NULL;
	uint32_t rank;

	pthread_mutex_lock(&o->mutex);
	rank = hy_offload_plan_find(o->plan, rule_id);
	if (rank != NO_SLOT && o->state == HY_OFFLOAD_DEMOTED)
		reason = demoted[o->demotion];
	else if (rank != NO_SLOT && o->state != HY_OFFLOAD_UP)
		reason = why[o->state];
	else if (rank != NO_SLOT && o->plan->rules[rank].reason != REASON_NONE)
		reason = o->reasons[o->plan->rules[rank].reason];
	else if (rank != NO_SLOT && hy_offload_is_cut(o))
		reason = "no rule of the port leads to it";
	pthread_mutex_unlock(&o->mutex);
	return reason;
}

int
hy_offload_mismatch(struct hy_offload *o, struct hy_mark_mismatch *mismatch)
{
	int rc = -ENOENT;

	pthread_mutex_lock(&o->mutex);
	for (unsigned int w = 0; w < o->workers && rc != 0; w++)
		rc = rte_ring_sc_dequeue_elem(o->worker[w].records, mismatch, sizeof(*mismatch));
	pthread_mutex_unlock(&o->mutex);
	return rc == 0 ? 0 : -ENOENT;
}

/* The share of packets that hardware classified, in percent. */
static double
hit_rate(const struct hy_offload_stats *s)
{
	const uint64_t packets = s->marked + s->unmarked + s->stale + s->fragments;

	return packets == 0 ? 0 : 100.0 * (double)s->marked / (double)packets;
}

/* What is reported of an offload. */
struct report {
	struct hy_offload_stats s;
	struct hy_flow_kind_counts kinds;
	uint32_t count[REASONS]; /* rules that each reason keeps in software */
};

static void
report_read(const struct hy_offload *o, struct report *r)
{
	stats_read(o, &r->s);
	hy_flow_kinds_count(o->params.driver, &r->s.limits, &r->kinds, NULL);
	memset(r->count, 0, sizeof(r->count));
	for (uint32_t i = 0; i < o->plan->view->nb_rules; i++)
		r->count[o->plan->rules[i].reason]++;
	r->count[REASON_NONE] = 0;
}

/* Packets of an access list: all that arrive are classified by software. */
static void
access_print(const struct hy_offload_stats *s, FILE *out)
{
	fprintf(out, "  packets: %" PRIu64 " dropped in hardware by %u rules\n", s->dropped,
		s->drop_rules);
	fprintf(out,
		"  of those that arrived: %" PRIu64 " had a mark, all compared, %" PRIu64
		" wrong; %" PRIu64 " unmarked, %" PRIu64 " with a stale mark\n",
		s->marked, s->mismatches, s->unmarked, s->stale);
	fprintf(out,
		"  of those without a valid mark: %" PRIu64 " looked at; %" PRIu64
		" should have been dropped, a mark was due to %" PRIu64 "\n",
		s->looked, s->leaked, s->missing + s->garbled);
}

/* One whose marks are read. */
static void
drops_print(const struct hy_offload_stats *s, FILE *out)
{
	fprintf(out,
		"  dropped in hardware: %" PRIu64
		" packets by %u rules; of those looked at, %" PRIu64 " more should have been\n",
		s->dropped, s->drop_rules, s->leaked);
}

static void
packets_print(const struct hy_offload_stats *s, FILE *out)
{
	fprintf(out,
		"  packets: %" PRIu64 " classified by hardware (%.1f %%), %" PRIu64
		" unmarked, %" PRIu64 " with a stale mark, %" PRIu64 " marked fragments\n",
		s->marked, hit_rate(s), s->unmarked, s->stale, s->fragments);
	fprintf(out,
		"  of those by hardware: %" PRIu64 " compared with rules of software, %" PRIu64
		" sampled, %" PRIu64 " wrong\n",
		s->residue, s->sampled, s->mismatches);
	fprintf(out,
		"  of those without a valid mark: %" PRIu64 " looked at; a mark was due to %" PRIu64
		" without one and %" PRIu64 " with another\n",
		s->looked, s->missing, s->garbled);
}

static void
print(const struct hy_offload *o, FILE *out)
{
	struct report r;
	const struct hy_offload_stats *s = &r.s;

	report_read(o, &r);
	fprintf(out, "port %u: offload %s, rules as of %s by %s\n", s->port, states[s->state],
		o->params.driver->driver, o->params.provider->name);
	if (s->demoted[0] != '\0')
		fprintf(out, "  %s\n", s->demoted);
	fprintf(out, "  %s\n", s->limits.reason);
	if (s->limits.mark_max > 0)
		hy_flow_kinds_print(o->params.driver, &s->limits, out);
	fprintf(out, "  rules: %u in hardware, %u in software, %u leaving%s\n", s->hw_rules,
		s->sw_rules, s->leaving, s->full ? "; the port is full" : "");
	for (unsigned int i = 0; i < REASONS; i++)
		if (r.count[i] > 0)
			fprintf(out, "    %u in software: %s\n", r.count[i], o->reasons[i]);
	fprintf(out,
		"  so far: %" PRIu64 " installed, %" PRIu64 " evicted, %" PRIu64 " lost, %" PRIu64
		" not removed\n",
		s->installed, s->evicted, s->lost, s->failed);
	if (o->access && !o->params.classes)
		access_print(s, out);
	else
		packets_print(s, out);
	if (o->access && o->params.classes)
		drops_print(s, out);
	if (s->foreign > 0)
		fprintf(out, "  %" PRIu64 " bursts had packets that name another port\n",
			s->foreign);
}

/* The numbers among the statistics, by their names in JSON and telemetry. */
#define NUMBER(member) \
	{ \
#member, offsetof(struct hy_offload_stats, member), \
			sizeof(((struct hy_offload_stats *)0)->member) == sizeof(uint64_t) \
	}

static const struct number {
	const char *name;
	size_t at;
	bool wide; /* uint64_t, else uint32_t */
} numbers[] = { NUMBER(hw_rules), NUMBER(sw_rules), NUMBER(leaving), NUMBER(room),
	NUMBER(installed), NUMBER(evicted), NUMBER(lost), NUMBER(failed), NUMBER(marked),
	NUMBER(unmarked), NUMBER(stale), NUMBER(fragments), NUMBER(residue), NUMBER(sampled),
	NUMBER(mismatches), NUMBER(looked), NUMBER(missing), NUMBER(garbled), NUMBER(foreign),
	NUMBER(drop_rules), NUMBER(dropped), NUMBER(leaked) };

static uint64_t
number_of(const struct hy_offload_stats *s, const struct number *number)
{
	const char *at = (const char *)s + number->at;

	return number->wide ? *(const uint64_t *)(const void *)at
			    : *(const uint32_t *)(const void *)at;
}

static void
json(const struct hy_offload *o, FILE *out)
{
	struct report r;
	const struct hy_offload_stats *s = &r.s;
	const char *comma = "";

	report_read(o, &r);
	fprintf(out, "{\"port\": %u, \"state\": \"%s\", \"driver\": ", s->port, states[s->state]);
	hy_json_string(o->params.driver->driver, out);
	fprintf(out, ", \"provider\": ");
	hy_json_string(o->params.provider->name, out);
	fprintf(out, ", \"mark_max\": %u, \"priorities\": %u, \"full\": %s", s->limits.mark_max,
		s->limits.priorities, s->full ? "true" : "false");
	fprintf(out, ", \"kinds\": %u, \"kinds_taken\": %u, \"kinds_checked\": %u", r.kinds.kinds,
		r.kinds.taken, r.kinds.checked);
	for (size_t i = 0; i < RTE_DIM(numbers); i++)
		fprintf(out, ", \"%s\": %" PRIu64, numbers[i].name, number_of(s, &numbers[i]));
	fprintf(out, ", \"demoted\": ");
	hy_json_string(s->demoted, out);
	fprintf(out, ", \"hw_hit_rate\": %.4f, \"refused\": [", hit_rate(s) / 100);
	for (unsigned int i = 0; i < REASONS; i++) {
		if (r.count[i] == 0)
			continue;
		fprintf(out, "%s{\"reason\": ", comma);
		hy_json_string(o->reasons[i], out);
		fprintf(out, ", \"rules\": %u}", r.count[i]);
		comma = ", ";
	}
	fprintf(out, "]}");
}

static int
locked(struct hy_offload *o, void (*print_one)(const struct hy_offload *o, FILE *out), FILE *out)
{
	pthread_mutex_lock(&o->mutex);
	print_one(o, out);
	pthread_mutex_unlock(&o->mutex);
	return hy_output_flush(out);
}

int
hy_offload_print(struct hy_offload *o, FILE *out)
{
	return locked(o, print, out);
}

int
hy_offload_json(struct hy_offload *o, FILE *out)
{
	return locked(o, json, out);
}

static void
dict_fill(const struct hy_offload *o, struct rte_tel_data *d)
{
	struct report r;
	const struct hy_offload_stats *s = &r.s;
	struct rte_tel_data *refused = rte_tel_data_alloc();

	report_read(o, &r);
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_string(d, "state", states[s->state]);
	rte_tel_data_add_dict_string(d, "driver", o->params.driver->driver);
	rte_tel_data_add_dict_string(d, "provider", o->params.provider->name);
	rte_tel_data_add_dict_string(d, "limits", s->limits.reason);
	rte_tel_data_add_dict_uint(d, "full", s->full);
	rte_tel_data_add_dict_uint(d, "kinds", r.kinds.kinds);
	rte_tel_data_add_dict_uint(d, "kinds_taken", r.kinds.taken);
	rte_tel_data_add_dict_uint(d, "kinds_checked", r.kinds.checked);
	for (size_t i = 0; i < RTE_DIM(numbers); i++)
		rte_tel_data_add_dict_uint(d, numbers[i].name, number_of(s, &numbers[i]));
	rte_tel_data_add_dict_string(d, "demoted", s->demoted);
	/* Reasons are values, since DPDK restricts the characters of names. */
	if (refused == NULL || rte_tel_data_start_array(refused, RTE_TEL_STRING_VAL) != 0)
		return;
	for (unsigned int i = 0; i < REASONS; i++) {
		char text[RTE_TEL_MAX_STRING_LEN];

		if (r.count[i] == 0)
			continue;
		snprintf(text, sizeof(text), "%u: %s", r.count[i], o->reasons[i]);
		rte_tel_data_add_array_string(refused, text);
	}
	rte_tel_data_add_dict_container(d, "refused", refused, 0);
}

/* "/halyard/offload": the ports; "/halyard/offload,PORT": one of them. In telemetry's thread. */
static int
telemetry(const char *cmd __rte_unused, const char *params, struct rte_tel_data *d)
{
	struct hy_offload *o;
	char *end = NULL;
	unsigned long port = 0;
	int rc = 0;

	if (params != NULL && params[0] != '\0') {
		port = strtoul(params, &end, 10);
		if (*end != '\0')
			return -EINVAL;
	}
	pthread_mutex_lock(&hy_offload_list_mutex);
	o = hy_offload_list;
	if (end == NULL) {
		rte_tel_data_start_array(d, RTE_TEL_INT_VAL);
		for (; o != NULL; o = o->next)
			rte_tel_data_add_array_int(d, o->port);
	} else {
		while (o != NULL && o->port != port)
			o = o->next;
		if (o != NULL) {
			pthread_mutex_lock(&o->mutex);
			dict_fill(o, d);
			pthread_mutex_unlock(&o->mutex);
		}
		rc = o == NULL ? -ENOENT : 0;
	}
	pthread_mutex_unlock(&hy_offload_list_mutex);
	return rc;
}

RTE_INIT(telemetry_register)
{
	rte_telemetry_register_cmd("/halyard/offload", telemetry,
		"Ports to which a policy is offloaded; with a port, the state of its offload");
}
