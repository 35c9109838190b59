/* SPDX-License-Identifier: BSD-3-Clause */
/* Creation and destruction of a HAL. */

#include <errno.h>
#include <stdlib.h>

#include "hal/internal/hal.h"

static struct hy_hal *the_hal;

bool
hy_hal_exists(void)
{
	return the_hal != NULL;
}

int
hy_hal_node_target(const char *node, struct hy_target *target)
{
	const struct hy_placement *placement = the_hal == NULL ? NULL
							       : hy_hal_placement(the_hal, node);

	if (placement == NULL)
		return -ENOENT;
	*target = placement->on;
	return 0;
}

int
hy_hal_create(struct hy_hal **out)
{
	struct hy_hal *hal = calloc(1, sizeof(*hal));

	if (hal == NULL)
		return -ENOMEM;
	hy_probe_process(hal);
	if (hy_hal_probe(hal) < 0) {
		free(hal);
		return -ENOMEM;
	}
	the_hal = hal;
	*out = hal;
	return 0;
}

void
hy_hal_destroy(struct hy_hal *hal)
{
	hy_node_id base;

	if (hal == NULL)
		return;
	hy_hal_unwatch(hal);
	hy_bindings_end(hal);
	for (unsigned int i = 0; i < hal->nb_nodes; i++) {
		const struct hy_hal_node *node = hal->nodes[i];

		if (node->made)
			hy_place_remove(hal->nodes[i]);
		else /* as registered, for graphs without a HAL */
			hy_node_impl_set(node->id, &node->family->node.impl);
		free(hal->nodes[i]);
	}
	hy_slate_free(&hal->selected);
	for (unsigned int i = 0; i < hal->nb_configs; i++) {
		/* Other configured nodes were removed above. */
		if (hy_node_lookup(hal->configs[i].family->node.name, &base) == 0)
			hy_node_config(base, NULL, 0);
		free(hal->configs[i].data);
	}
	hy_fusions_end(hal);
	free(hal->configs);
	free(hal->leads);
	free(hal->trials);
	free(hal->observers);
	free(hal->nodes);
	free(hal->declared);
	free(hal->rules);
	free(hal->overrides);
	free(hal->list.devices);
	if (the_hal == hal)
		the_hal = NULL;
	free(hal);
}
