/* SPDX-License-Identifier: BSD-3-Clause */
/* Fusions of the rig's chains, without a HAL. */

#include <string.h>

#include <hy_hal.h>

#include "node_fixture.h"

uint64_t rig_fused_objs, rig_fused_objs6;

static hy_fused_t *fused_run, *fused_run6; /* of the chains */

static uint16_t
counted_run(struct hy_graph *graph, struct hy_node *const chain[], void **objs, uint16_t n,
	uint16_t next[])
{
	const uint16_t done = fused_run(graph, chain, objs, n, next);

	rig_fused_objs += done;
	return done;
}

static uint16_t
counted_run6(struct hy_graph *graph, struct hy_node *const chain[], void **objs, uint16_t n,
	uint16_t next[])
{
	const uint16_t done = fused_run6(graph, chain, objs, n, next);

	rig_fused_objs6 += done;
	return done;
}

static struct hy_fuse fuse = { .run = counted_run }, fuse6 = { .run = counted_run6 };

static const struct hy_fusion *
fusion_of(const char *what, const char *variant)
{
	char name[HY_NAME_SIZE];

	snprintf(name, sizeof(name), "%s-%s", what, variant);
	return hy_fusion_find(name);
}

bool
rig_can_fuse(const char *variant)
{
	return fusion_of("ip4_forward", variant) != NULL;
}

/* Offers a fusion. Returns what it runs, in place of which the fuse counts. */
static hy_fused_t *
offer(struct hy_fuse *as, const struct hy_fusion *fusion)
{
	assert_non_null(fusion);
	as->name = fusion->fuse;
	as->pick = fusion->pick;
	as->nb_nodes = 3;
	memcpy(as->edge, fusion->edge, sizeof(as->edge));
	for (unsigned int i = 0; i < as->nb_nodes; i++)
		as->process[i] = hy_variant_find(fusion->chain[i].family, fusion->chain[i].variant)
					 ->impl.process;
	assert_int_equal(hy_fuse_offer(as), 0);
	return fusion->run;
}

void
rig_fuse(const char *variant)
{
	fused_run = offer(&fuse, fusion_of("ip4_forward", variant));
}

void
rig_fuse6(const char *variant)
{
	fused_run6 = offer(&fuse6, fusion_of("ip6_forward", variant));
}

void
rig_part(void)
{
	hy_fuse_withdraw(&fuse);
	hy_fuse_withdraw(&fuse6);
}
