/* SPDX-License-Identifier: BSD-3-Clause */
/* Conformance of l2_patch: frames about as long as their header, with new addresses and with their own. */

#include <rte_random.h>

#include <hy_conform.h>
#include <hy_l2_patch.h>

/* The number of the set-up: frames keep their addresses in the first, and lose them in the second. */
static int
setup(const struct hy_suite_side *side, void **state)
{
	static bool update[] = { false, true };

	*state = &update[side->setup];
	return 0;
}

static int
configure(void *state, hy_node_id id)
{
	const struct hy_l2_patch_config config = { .update = *(const bool *)state,
		.dst = { { 0x02, 0x11, 0x22, 0x33, 0x44, 0x55 } },
		.src = { { 0x02, 0x66, 0x77, 0x88, 0x99, 0xaa } } };

	return hy_node_config(id, &config, sizeof(config));
}

static void
shape(void *state, enum hy_suite_kind kind, struct hy_suite_packet *packet)
{
	RTE_SET_USED(state);
	if (kind != HY_SUITE_TYPICAL && rte_rand_max(8) == 0)
		packet->len = (uint32_t)rte_rand_max(RTE_ETHER_HDR_LEN + 2);
}

HY_SUITE(l2_patch, .nb_setups = 2, .setup = setup, .configure = configure, .shape = shape);
