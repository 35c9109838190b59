/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Marks of megaflows: a number of the bits that rules look at. So each packet has a mark that is right, if
 * its megaflow is installed. Software compares packets to odd destinations with their megaflow, and finds
 * those that were given a wrong mark.
 */

#include <errno.h>
#include <stdlib.h>

#include <rte_malloc.h>
#include <rte_random.h>
#include <rte_ring_elem.h>

#include <hy_mark.h>
#include <hy_policy_view.h>

#include "suite_flow_named.h"

#define NUMBERS 4096u   /* of which the packets' are below; slots of a table */
#define ABOVE 0x5a0000u /* in marks */
#define SAMPLE_EVERY 16
#define FLAGS (RTE_MBUF_F_RX_FDIR | RTE_MBUF_F_RX_FDIR_ID)

struct suite_named {
	struct hy_flows *flows;
	struct hy_policy *policy;
	struct rte_ring *records;
	struct hy_mark_worker *workers;
	struct hy_mark_table *table[SUITE_FLOWS_PORTS];
	struct hy_flow_named *of_class[SUITE_FLOWS_PORTS];
	struct hy_flow_marks marks[RTE_MAX_ETHPORTS];
	struct hy_policy_rule rule; /* of all marks, in records of mismatches */
	struct hy_policy_view view;
	uint32_t first; /* the rank of that rule */
};

/* Of a key, or of a megaflow, whose key has just these bits. */
static uint32_t
number_of(const struct hy_flows_key *key)
{
	const uint32_t type = rte_be_to_cpu_16(key->type) & 3;

	if ((key->kind & HY_FLOWS_IP) == 0)
		return 1 + type;
	return 1 +
		(type | (key->proto & 0xfu) << 2 | (key->ttl & 1u) << 6 |
			(rte_be_to_cpu_32(key->dst) & 7) << 7 | 1 << 10);
}

/* Lower bits of the destination. Of odd ones, all packets are compared. */
static uint32_t
kind_of(uint32_t number)
{
	return (number - 1) >> 7 & 7;
}

void
suite_named_destroy(struct suite_named *named)
{
	if (named == NULL)
		return;
	for (uint16_t p = 0; p < SUITE_FLOWS_PORTS; p++) {
		if (named->policy != NULL)
			hy_policy_marks_set(named->policy, p, NULL);
		free(named->table[p]);
		free(named->of_class[p]);
	}
	hy_policy_destroy(named->policy);
	rte_free(named->workers);
	rte_ring_free(named->records);
	free(named);
}

static int
port_create(struct suite_named *named, uint16_t port)
{
	struct hy_mark_table *table = calloc(1, sizeof(*table) + NUMBERS * sizeof(table->slots[0]));

	named->table[port] = table;
	named->of_class[port] = calloc(NUMBERS, sizeof(*named->of_class[port]));
	if (table == NULL || named->of_class[port] == NULL)
		return -ENOMEM;
	table->view = &named->view;
	table->residues = &named->first;
	table->workers = named->workers;
	table->slot_mask = NUMBERS - 1;
	table->checked = true;
	named->marks[port] = (struct hy_flow_marks){ .policy = named->policy,
		.of_class = named->of_class[port] };
	return 0;
}

int
suite_named_create(const struct hy_suite_side *side, struct hy_flows *flows, bool sampled,
	struct suite_named **out)
{
	const struct hy_policy_params policy = { .max_rules = 1,
		.workers = HY_SUITE_WORKERS,
		.socket = SOCKET_ID_ANY,
		.qsbr = side->qsbr };
	struct suite_named *named = calloc(1, sizeof(*named));
	int rc = -ENOMEM;

	*out = named;
	if (named == NULL)
		return rc;
	named->flows = flows;
	named->view = (struct hy_policy_view){ .nb_rules = 1, .rules = &named->rule };
	named->records = rte_ring_create_elem("suite_named", sizeof(struct hy_mark_mismatch), 64,
		SOCKET_ID_ANY, 0);
	named->workers = rte_zmalloc(NULL, HY_SUITE_WORKERS * sizeof(*named->workers),
		RTE_CACHE_LINE_SIZE);
	if (named->records != NULL && named->workers != NULL)
		rc = hy_policy_create("suite_named", &policy, &named->policy);
	for (unsigned int w = 0; w < HY_SUITE_WORKERS && rc == 0; w++)
		named->workers[w] = (struct hy_mark_worker){ .random = w + 1,
			.gap = 1,
			.every = sampled ? 1 : SAMPLE_EVERY,
			.periodic = sampled,
			.records = named->records };
	for (uint16_t p = 0; p < SUITE_FLOWS_PORTS && rc == 0; p++)
		rc = port_create(named, p);
	if (rc < 0) {
		suite_named_destroy(named);
		*out = NULL;
		return rc;
	}
	suite_named_publish(named);
	return 0;
}

/* No worker walks. Marks whose megaflow is gone stay, as they do in hardware for a while. */
void
suite_named_publish(struct suite_named *named)
{
	struct hy_flows_entry entry;
	uint32_t cursor = 0;

	while (hy_flows_dump(named->flows, &cursor, &entry, 1) == 1) {
		const uint16_t port = entry.flow.key.port;
		const uint32_t number = number_of(&entry.flow.key);

		named->of_class[port][number] = (struct hy_flow_named){ .ref = entry.ref,
			.wider = kind_of(number) == 7 };
		named->table[port]->slots[number] = (struct hy_mark_slot){ .mark = ABOVE | number,
			.class_id = (uint16_t)number,
			.checks = kind_of(number) == 1 ? HY_MARK_RULE
				: kind_of(number) == 3 ? HY_MARK_FRAGMENTS
				: kind_of(number) == 5 ? HY_MARK_RULE | HY_MARK_FRAGMENTS
						       : 0 };
	}
	for (uint16_t p = 0; p < SUITE_FLOWS_PORTS; p++)
		hy_policy_marks_set(named->policy, p, named->table[p]);
}

const struct hy_flow_marks *
suite_named_marks(const struct suite_named *named)
{
	return named->marks;
}

void
suite_named_shape(struct hy_suite_packet *packet, bool lies)
{
	struct hy_flows_key key;
	uint32_t number;

	hy_flows_key(packet->bytes, packet->len, packet->port, HY_FLOWS_PARSE_ALL, &key);
	number = number_of(&key);
	/* Another TTL's. Others are compared by chance, or if all are. */
	if (rte_rand_max(16) == 0 && (lies || kind_of(number) % 2 == 1))
		number = 1 + ((number - 1) ^ 1 << 6);
	packet->mark = rte_rand_max(16) == 0 ? (uint32_t)rte_rand_max(NUMBERS) : ABOVE | number;
	packet->mark_flags = rte_rand_max(8) == 0 ? RTE_MBUF_F_RX_FDIR : FLAGS;
}

const char *
suite_named_unreached(const struct suite_named *named, bool sampled)
{
	struct hy_mark_worker sum = { 0 };

	for (unsigned int w = 0; w < HY_SUITE_WORKERS; w++) {
		const struct hy_mark_worker *worker = &named->workers[w];

		sum.marked += worker->marked;
		sum.unmarked += worker->unmarked;
		sum.stale += worker->stale;
		sum.fragments += worker->fragments;
		sum.sampled += worker->sampled;
		sum.mismatches += worker->mismatches;
	}
	if (sum.marked == 0)
		return "a packet found by its mark";
	if (sum.unmarked == 0)
		return "a packet without a mark";
	if (sum.stale == 0)
		return "a mark of no megaflow";
	if (sum.fragments == 0)
		return "a packet that does not match the megaflow of its mark";
	if (sum.sampled == 0)
		return "a sampled packet";
	return sampled && sum.mismatches == 0 ? "a wrong mark in a sample" : NULL;
}
