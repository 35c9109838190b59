/* SPDX-License-Identifier: BSD-3-Clause */
/* Fusion of the rig's chain, without a HAL. */

#include <string.h>

#include <hy_hal.h>

#include "node_fixture.h"

uint64_t rig_fused_objs;

static hy_fused_t *fused_run; /* of the chain */

static uint16_t
counted_run(struct hy_graph *graph, struct hy_node *const chain[], void **objs, uint16_t n,
	uint16_t next[])
{
	const uint16_t done = fused_run(graph, chain, objs, n, next);

	rig_fused_objs += done;
	return done;
}

static struct hy_fuse fuse = { .run = counted_run };

static const struct hy_fusion *
fusion_of(const char *variant)
{
	char name[HY_NAME_SIZE];

	snprintf(name, sizeof(name), "ip4_forward-%s", variant);
	return hy_fusion_find(name);
}

bool
rig_can_fuse(const char *variant)
{
	return fusion_of(variant) != NULL;
}

void
rig_fuse(const char *variant)
{
	const struct hy_fusion *fusion = fusion_of(variant);

	assert_non_null(fusion);
	fuse.name = fusion->fuse;
	memcpy(fuse.edge, fusion->edge, sizeof(fuse.edge));
	fused_run = fusion->run;
	for (fuse.nb_nodes = 0; fuse.nb_nodes < 3; fuse.nb_nodes++)
		fuse.process[fuse.nb_nodes] =
			hy_variant_find(fusion->chain[fuse.nb_nodes].family, variant)->impl.process;
	assert_int_equal(hy_fuse_offer(&fuse), 0);
}

void
rig_part(void)
{
	hy_fuse_withdraw(&fuse);
}
