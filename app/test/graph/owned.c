/* SPDX-License-Identifier: BSD-3-Clause */
/* See owned.h. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <hy_graph_worker.h>

#include "app/test/unit.h"
#include "owned.h"

static uint16_t
take(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(node);
	hy_release(graph, objs, n);
	return n;
}

/* The calls of hy_graph.h that change a node; true as long as there are more. */
static bool
change(unsigned int call, hy_node_id id, int *rc)
{
	const struct hy_node_impl impl = { .process = take };

	switch (call) {
	case 0:
		*rc = hy_node_unregister(id);
		return true;
	case 1:
		*rc = hy_node_clone(id, "1", NULL);
		return true;
	case 2:
		*rc = hy_node_config(id, &impl, sizeof(impl));
		return true;
	case 3:
		*rc = hy_node_config(id, NULL, 0);
		return true;
	case 4:
		*rc = hy_node_impl_set(id, &impl);
		return true;
	case 5:
		*rc = hy_node_edge_add(id, "owned_other", NULL);
		return true;
	case 6:
		*rc = hy_node_edge_set(id, 0, "owned_other");
		return true;
	case 7:
		*rc = hy_node_edge_shrink(id, 0);
		return true;
	default:
		return false;
	}
}

/* The targets of a node's edges, one behind the other. */
static void
targets_of(hy_node_id id, char *text, size_t size)
{
	char target[HY_NAME_SIZE];
	size_t used = 0;
	uint16_t n;

	assert_int_equal(hy_node_edge_count(id, &n), 0);
	text[0] = '\0';
	for (uint16_t e = 0; e < n; e++) {
		assert_int_equal(hy_node_edge_target(id, e, target, sizeof(target)), 0);
		used += (size_t)snprintf(text + used, size - used, " %s", target);
		assert_true(used < size);
	}
}

void
assert_owned(hy_node_id id, const char *owner)
{
	char why[HY_TEXT_SIZE], before[1024], after[1024];
	unsigned int refused = 0;
	int rc;

	snprintf(why, sizeof(why), "belongs to %s, which alone may ", owner);
	targets_of(id, before, sizeof(before));
	for (unit_log_clear(); change(refused, id, &rc); refused++, unit_log_clear())
		if (rc != -EPERM || unit_log_lines() != 1 || strstr(unit_log(), why) == NULL)
			fail_msg("call %u returns %d, and says \"%s\"", refused, rc, unit_log());
	assert_int_equal(refused, 8);
	targets_of(id, after, sizeof(after));
	assert_string_equal(after, before);
}
