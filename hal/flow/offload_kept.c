/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules that a port refused to remove: they keep marking packets, even after their offload was
 * destroyed. The next offload of the port does not use their slots.
 */

#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>

#include "lib/graph/internal/log.h"
#include "offload.h"

struct kept {
	struct kept *next;
	uint16_t port;
	char name[RTE_ETH_NAME_MAX_LEN]; /* of the device: another may get the port's id */
	uint32_t mark;
	bool drop; /* it drops packets instead */
	struct hy_flow_match match;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct kept *all;

static bool
is_of(const struct kept *kept, uint16_t port, const char *name)
{
	return kept->port == port && strcmp(kept->name, name) == 0;
}

static bool
is_noted(uint16_t port, const char *name, uint32_t mark)
{
	for (const struct kept *kept = all; kept != NULL; kept = kept->next)
		if (kept->mark == mark && is_of(kept, port, name))
			return true;
	return false;
}

void
hy_offload_kept_note(const struct hy_offload *o, uint32_t slot)
{
	const uint32_t mark = flow_mark(o, slot);
	char name[RTE_ETH_NAME_MAX_LEN] = "";
	struct kept *kept;

	rte_eth_dev_get_name_by_port(o->port, name);
	pthread_mutex_lock(&mutex);
	kept = is_noted(o->port, name, mark) ? NULL : malloc(sizeof(*kept));
	if (kept != NULL) {
		*kept = (struct kept){ .next = all,
			.port = o->port,
			.mark = mark,
			.drop = o->flows[slot].drop,
			.match = o->flows[slot].match };
		all = kept;
		strcpy(kept->name, name);
		if (!o->closing) /* else one line tells of all */
			HY_LOG(WARNING, "port %u keeps a flow rule", o->port);
	}
	pthread_mutex_unlock(&mutex);
}

void
hy_offload_kept_avoid(struct hy_offload *o)
{
	char name[RTE_ETH_NAME_MAX_LEN] = "";

	rte_eth_dev_get_name_by_port(o->port, name);
	pthread_mutex_lock(&mutex);
	for (const struct kept *kept = all; kept != NULL; kept = kept->next) {
		struct flow *flow = &o->flows[kept->mark & (o->nb_slots - 1)];

		if (!is_of(kept, o->port, name))
			continue;
		o->stuck += flow->state != FLOW_STUCK;
		flow->several = flow->state == FLOW_STUCK; /* two may share a slot */
		flow->state = FLOW_STUCK;
		flow->generation = kept->mark >> o->slot_bits;
		flow->match = kept->match;
		flow->drop |= kept->drop;
	}
	pthread_mutex_unlock(&mutex);
}

void
hy_offload_kept_forget(uint16_t port)
{
	pthread_mutex_lock(&mutex);
	for (struct kept **at = &all; *at != NULL;) {
		struct kept *kept = *at;

		if (kept->port != port) {
			at = &kept->next;
			continue;
		}
		*at = kept->next;
		free(kept);
	}
	pthread_mutex_unlock(&mutex);
}
