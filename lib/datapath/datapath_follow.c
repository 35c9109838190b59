/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Megaflows follow the rules. Rules are asked only about those that the changes since the last time can have
 * touched, which is told by their lists: of each, it is found out once which of the changes concern it.
 * Lists do not change meanwhile but for those that new answers make, which are of the new rules.
 */

#include <hy_flow_lookup.h>

#include "datapath.h"

/* The list of an action; NULL: packets are dropped for lack of one. */
static struct datapath_list *
list_of(const struct hy_datapath *datapath, uint32_t action)
{
	return (uint16_t)action == HY_FLOW_ACTION_DENY ? NULL
						       : datapath->lists.by_number[action >> 16];
}

/* While the rules are not being asked, which is when others write to lists. */
static enum hy_flows_touch
by_action(void *arg, uint32_t action)
{
	static const enum hy_flows_touch touches[] = {
		[HY_VSWITCH_UNTOUCHED] = HY_FLOWS_KEEP,
		[HY_VSWITCH_TOUCHED] = HY_FLOWS_ASK,
		[HY_VSWITCH_MAYBE] = HY_FLOWS_LOOK,
	};
	struct hy_datapath *datapath = arg;
	struct datapath_list *list = list_of(datapath, action);

	if (list == NULL || list->partial)
		return HY_FLOWS_ASK; /* by which rules is not known */
	if (list->turn != datapath->revalidations) {
		list->turn = datapath->revalidations;
		list->touch = hy_vswitch_touch(&datapath->changes, list->rules, list->nb_rules,
			&list->trail);
	}
	return touches[list->touch];
}

static bool
by_key(void *arg, const struct hy_flows_flow *flow)
{
	struct hy_datapath *datapath = arg;

	return hy_vswitch_touches(datapath->rules, &datapath->changes,
		&list_of(datapath, flow->action)->trail, &flow->key, &flow->mask);
}

static void
revalidate(struct hy_datapath *datapath, const struct hy_flows_touched *touched)
{
	struct hy_flows_revalidated done = { 0 };

	datapath->behind = false;
	datapath->revalidations++;
	if (datapath->table == NULL) /* before the start there are no megaflows */
		return;
	hy_flows_revalidate_some(hy_flow_table_upcalls(datapath->table), touched, &done);
	datapath->kept += done.kept;
	datapath->asked += done.asked;
	datapath_offload_follow(datapath);
}

void
datapath_revalidate(struct hy_datapath *datapath)
{
	hy_vswitch_changes(datapath->rules, &datapath->changes);
	revalidate(datapath, NULL);
}

void
datapath_follow(struct hy_datapath *datapath)
{
	const struct hy_flows_touched touched = {
		.by_action = by_action, .by_key = by_key, .arg = datapath
	};

	hy_vswitch_changes(datapath->rules, &datapath->changes);
	revalidate(datapath, &touched);
}
