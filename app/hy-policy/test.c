/* SPDX-License-Identifier: BSD-3-Clause */
/* hy-policy test: which rules decide some packets. */

#include <errno.h>
#include <stdlib.h>

#include <rte_common.h>

#include "command.h"
#include "list.h"
#include "packet.h"
#include "text.h"

/* A rule that decides some of the packets; behind the last rule: the default. */
struct decider {
	struct box packet; /* one of them */
	bool found;
};

struct testing {
	struct list *list;
	struct decider *deciders; /* by rank */
	uint32_t nb_found;
	uint32_t next; /* of one packet: the rank behind the decider's that matches too */
};

static bool
visit_first(void *arg, uint32_t rank, const struct box *part)
{
	struct testing *testing = arg;
	struct decider *decider = &testing->deciders[RTE_MIN(rank, testing->list->n)];

	if (!decider->found) {
		packet_pick(part, &decider->packet);
		decider->found = true;
		testing->nb_found++;
	}
	return true;
}

static bool
visit_next(void *arg, uint32_t rank, const struct box *part __rte_unused)
{
	((struct testing *)arg)->next = rank;
	return false;
}

static int
print_decider(struct testing *testing, uint32_t rank)
{
	struct list *list = testing->list;
	const struct decider *decider = &testing->deciders[rank];
	const struct ranks later = { rank + 1, list->n, HY_POLICY_NONE };
	int rc;

	text_place(list, rank == list->n ? HY_POLICY_NONE : rank);
	printf(" decides%s", testing->nb_found > 1 ? " some, such as" : "");
	if (testing->nb_found > 1)
		packet_print(&decider->packet);
	if (rank < list->n) {
		rc = list_walk(list, &later, &decider->packet, visit_next, testing);
		if (rc < 0)
			return rc;
		printf("; next is ");
		text_rule(list, testing->next);
	}
	putchar('\n');
	return 0;
}

static int
test_packets(struct testing *testing, const struct packets *packets)
{
	struct list *list = testing->list;
	const struct ranks all = { 0, list->n, HY_POLICY_NONE };
	int rc = 0;

	if (packets->truncated && list->file.truncated.action == HY_RULE_DENY) {
		printf("%s:%u: truncated packets are denied\n", list->path,
			list->file.truncated.line);
		return SAME;
	}
	for (unsigned int i = 0; i < packets->n && rc == 0; i++)
		rc = list_walk(list, &all, &packets->parts[i], visit_first, testing);
	for (uint32_t rank = 0; rank <= list->n && rc == 0; rank++)
		if (testing->deciders[rank].found)
			rc = print_decider(testing, rank);
	if (rc == -E2BIG)
		return refuse("too many rules decide such packets; more fields make them fewer");
	return rc < 0 ? out_of_memory() : SAME;
}

int
test(const struct settings *settings)
{
	struct testing testing = { 0 };
	struct packets packets;
	struct list list;
	int status = TROUBLE;

	if (packet_read(settings->other, &packets) != 0)
		return TROUBLE;
	if (list_read(settings->file, settings->format, &list) == 0) {
		testing.list = &list;
		testing.deciders = calloc(list.n + 1, sizeof(*testing.deciders));
		status = testing.deciders == NULL ? out_of_memory()
						  : test_packets(&testing, &packets);
	}
	free(testing.deciders);
	list_free(&list);
	return status;
}
