/* SPDX-License-Identifier: BSD-3-Clause */
/* From selections to nodes: which are shared, which are a port's own, and who removes them. */

#include <errno.h>
#include <string.h>

#include <hy_graph_worker.h>

#include "hal/internal/hal.h"
#include "hal_fixture.h"
#include "lib/graph/registry/registry.h"

static unsigned int inits;

static int
place_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(node);
	RTE_SET_USED(config);
	inits++;
	return 0;
}

/* A family for ports, and so many ports from 0 on. */
static void
ports_and_family(unsigned int nb_ports, const char *family)
{
	const struct hy_family declared = {
		.target = HY_TARGET_PORT,
		.score = 10,
		.node = { .name = family,
			.impl = { .variant = "plain",
				.process = hal_process,
				.init = place_init,
				.ctx_size = 24 } },
	};
	char name[24];

	for (unsigned int p = 0; p < nb_ports; p++) {
		snprintf(name, sizeof(name), "net_null_%u", p);
		assert_int_equal(port_add(name), p);
	}
	assert_int_equal(family_try(&declared), 0);
	VARIANT(family, "fast", .score = 20);
	assert_int_equal(hy_hal_probe(hal), 0);
}

static hy_node_id
node_for(const char *family, uint16_t port)
{
	hy_node_id id = UINT32_MAX;

	assert_int_equal(hy_hal_node(hal, family, port, &id), 0);
	return id;
}

static void
assert_node(hy_node_id id, const char *name, const char *variant, hy_node_process_t *process)
{
	const struct hy_reg_node *node = hy_registry_get(id);

	assert_non_null(node);
	assert_string_equal(node->name, name);
	assert_string_equal(node->variant, variant);
	assert_ptr_equal(node->impl.process, process);
}

static void
assert_placement(const char *node, const char *family, const char *variant, const char *target)
{
	const struct hy_placement *p = hy_hal_placement(hal, node);

	if (p == NULL) {
		fail_msg("%s is not placed", node);
		return;
	}
	assert_string_equal(p->node, node);
	assert_string_equal(p->family, family);
	assert_string_equal(p->variant, variant);
	assert_string_equal(p->target, target);
}

static void
process_node_is_the_family_node_with_the_chosen_variant(void **state)
{
	hy_node_id id, found;

	RTE_SET_USED(state);
	family_add("place_proc", HY_TARGET_PROCESS, 10);
	VARIANT("place_proc", "fast", .score = 20);
	select_all();
	id = node_for("place_proc", 0);
	assert_int_equal(hy_node_lookup("place_proc", &found), 0);
	assert_int_equal(found, id);
	assert_int_equal(node_for("place_proc", 5), id);
	assert_node(id, "place_proc", "fast", hal_process_b);
	assert_placement("place_proc", "place_proc", "fast", "process");
}

static void
ports_with_one_selection_share_a_node(void **state)
{
	hy_node_id id;

	RTE_SET_USED(state);
	ports_and_family(3, "place_share");
	select_all();
	id = node_for("place_share", 0);
	assert_placement("place_share", "place_share", "fast", "port 0");
	assert_int_equal(node_for("place_share", 2), id);
	assert_placement("place_share", "place_share", "fast", "port 0,2");
	assert_int_equal(node_for("place_share", 0), id);
	assert_int_equal(node_for("place_share", 2), id);
	assert_placement("place_share", "place_share", "fast", "port 0,2");
	assert_int_equal(node_for("place_share", 1), id);
	assert_placement("place_share", "place_share", "fast", "port 0,1,2");
	assert_node(id, "place_share", "fast", hal_process_b);
	assert_null(hy_hal_placement(hal, "place_share-fast"));
}

static void
ports_with_different_selections_get_nodes_of_their_own(void **state)
{
	hy_node_id plain, fast;

	RTE_SET_USED(state);
	ports_and_family(4, "place_two");
	assert_int_equal(hy_hal_force(hal, "place_two@1=plain", error), 0);
	assert_int_equal(hy_hal_force(hal, "place_two@2=plain", error), 0);
	select_all();
	fast = node_for("place_two", 0);
	plain = node_for("place_two", 1);
	assert_int_not_equal(fast, plain);
	assert_int_equal(node_for("place_two", 2), plain);
	assert_int_equal(node_for("place_two", 3), fast);
	assert_node(plain, "place_two-plain", "plain", hal_process);
	assert_node(fast, "place_two", "fast", hal_process_b);
	assert_placement("place_two-plain", "place_two", "plain", "port 1,2");
	assert_placement("place_two", "place_two", "fast", "port 0,3");
}

static void
port_12_is_not_port_1_or_2(void **state)
{
	RTE_SET_USED(state);
	ports_and_family(13, "place_12");
	select_all();
	node_for("place_12", 12);
	node_for("place_12", 1);
	node_for("place_12", 2);
	node_for("place_12", 11);
	assert_placement("place_12", "place_12", "fast", "port 1,2,11,12");
}

static void
more_ports_than_fit_are_cut_between_two(void **state)
{
	RTE_SET_USED(state);
	ports_and_family(RTE_MAX_ETHPORTS, "place_many");
	select_all();
	for (uint16_t p = 0; p < RTE_MAX_ETHPORTS; p++)
		node_for("place_many", p);
	assert_placement("place_many", "place_many", "fast",
		"port 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,...");
}

static void
variant_without_a_context_of_its_own_has_that_of_its_family(void **state)
{
	static const struct hy_node_impl own = {
		.variant = "own", .process = hal_process_b, .ctx_size = 100
	};
	const struct hy_reg_node *node;
	hy_node_id id;

	RTE_SET_USED(state);
	ports_and_family(2, "place_ctx");
	assert_int_equal(variant_try(&(const struct hy_variant){
				 .family = "place_ctx", .impl = own }),
		0);
	assert_int_equal(hy_hal_force(hal, "place_ctx@1=own", error), 0);
	select_all();
	id = node_for("place_ctx", 0);
	node = hy_registry_get(id);
	assert_ptr_equal(node->impl.init, place_init);
	assert_int_equal(node->impl.ctx_size, 24);
	id = node_for("place_ctx", 1);
	node = hy_registry_get(id);
	assert_null(node->impl.init);
	assert_int_equal(node->impl.ctx_size, 100);
}

static void
clone_is_a_node_of_the_ports_own(void **state)
{
	hy_node_id a, b, id;

	RTE_SET_USED(state);
	ports_and_family(2, "place_clone");
	assert_int_equal(hy_hal_force(hal, "place_clone@1=plain", error), 0);
	select_all();
	assert_int_equal(hy_hal_node_clone(hal, "place_clone", 0, "0-7", &a), 0);
	assert_int_equal(hy_hal_node_clone(hal, "place_clone", 1, "1-7", &b), 0);
	assert_node(a, "place_clone-0-7", "fast", hal_process_b);
	assert_node(b, "place_clone-1-7", "plain", hal_process);
	assert_placement("place_clone-0-7", "place_clone", "fast", "port 0");
	assert_placement("place_clone-1-7", "place_clone", "plain", "port 1");
	/* A clone is nobody else's. */
	id = node_for("place_clone", 0);
	assert_int_not_equal(id, a);
	assert_placement("place_clone-0-7", "place_clone", "fast", "port 0");
	assert_int_equal(hy_hal_node_clone(hal, "place_clone", 0, "0-7", &id), -EEXIST);
	assert_int_equal(hy_hal_node_clone(hal, "place_clone", 0, "a b", &id), -EINVAL);
	assert_int_equal(hy_hal_node_clone(hal, "place_clone", 9, "x", &id), -ENOENT);
	assert_int_equal(hy_hal_node_clone(hal, "place_cloned", 0, "x", &id), -ENOENT);
	assert_null(hy_hal_placement(hal, "place_clone-x"));
	assert_int_equal(hy_node_lookup("place_clone-x", &id), -ENOENT);
}

/* The program configures it and leads its edges, as it does with any node. */
static void
clone_is_unregistered_by_the_hal_alone(void **state)
{
	const uint32_t config = 1;
	hy_node_id a, copy;

	RTE_SET_USED(state);
	ports_and_family(2, "place_kept");
	select_all();
	assert_int_equal(hy_hal_node_clone(hal, "place_kept", 0, "0-7", &a), 0);
	unit_log_clear();
	assert_int_equal(hy_node_unregister(a), -EPERM);
	assert_non_null(strstr(unit_log(),
		"node 'place_kept-0-7' belongs to a HAL, which alone may unregister it"));
	assert_int_equal(hy_node_config(a, &config, sizeof(config)), 0);
	assert_int_equal(hy_node_edge_add(a, "place_next", NULL), 0);
	assert_int_equal(hy_node_clone(a, "2", &copy), 0);
	assert_int_equal(hy_node_unregister(copy), 0);
}

static void
destroying_the_hal_removes_the_nodes_that_it_made(void **state)
{
	hy_node_id id, base;

	RTE_SET_USED(state);
	ports_and_family(2, "place_gone");
	for (int round = 0; round < 3; round++) {
		assert_int_equal(hy_hal_force(hal, "place_gone@1=plain", error), 0);
		select_all();
		base = node_for("place_gone", 0);
		node_for("place_gone", 1);
		assert_int_equal(hy_hal_node_clone(hal, "place_gone", 0, "x", &id), 0);
		assert_int_equal(hy_node_lookup("place_gone-plain", &id), 0);
		hy_hal_destroy(hal);
		hal = NULL;
		assert_int_equal(hy_node_lookup("place_gone-plain", &id), -ENOENT);
		assert_int_equal(hy_node_lookup("place_gone-x", &id), -ENOENT);
		assert_int_equal(hy_node_lookup("place_gone", &id), 0);
		assert_int_equal(id, base);
		assert_int_equal(hy_hal_create(&hal), 0);
	}
}

static void
destroying_nothing_is_allowed(void **state)
{
	RTE_SET_USED(state);
	hy_hal_destroy(NULL);
}

static void
next_hal_places_by_its_own_selection(void **state)
{
	hy_node_id id;

	RTE_SET_USED(state);
	family_add("place_next", HY_TARGET_PROCESS, 10);
	VARIANT("place_next", "fast", .score = 20);
	select_all();
	assert_node(node_for("place_next", 0), "place_next", "fast", hal_process_b);
	hy_hal_destroy(hal);
	assert_int_equal(hy_hal_create(&hal), 0);
	assert_null(hy_hal_placement(hal, "place_next"));
	assert_int_equal(hy_hal_force(hal, "place_next=plain", error), 0);
	select_all();
	id = node_for("place_next", 0);
	assert_node(id, "place_next", "plain", hal_process);
	assert_placement("place_next", "place_next", "plain", "process");
}

static void
selecting_again_places_the_process_again(void **state)
{
	hy_node_id id;

	RTE_SET_USED(state);
	family_add("place_again", HY_TARGET_PROCESS, 10);
	VARIANT("place_again", "fast", .score = 20);
	VARIANT("place_again", "faster", .score = 30,
		.needs = { { .cap = HY_CAP_SIMD_BITS, .at_least = 1 } });
	select_all();
	id = node_for("place_again", 0);
	assert_placement("place_again", "place_again", "faster", "process");
	assert_int_equal(hy_hal_deny(hal, "place_again=faster", error), 0);
	select_all();
	assert_int_equal(node_for("place_again", 0), id);
	assert_node(id, "place_again", "fast", hal_process_b);
	assert_placement("place_again", "place_again", "fast", "process");
	assert_int_equal(hy_hal_force(hal, "place_again=plain", error), 0);
	select_all();
	assert_int_equal(node_for("place_again", 0), id);
	assert_node(id, "place_again", "plain", hal_process);
	assert_placement("place_again", "place_again", "plain", "process");
}

static void
selecting_again_moves_a_port_to_its_new_node(void **state)
{
	hy_node_id fast;

	RTE_SET_USED(state);
	ports_and_family(3, "place_move");
	select_all();
	fast = node_for("place_move", 0);
	node_for("place_move", 1);
	node_for("place_move", 2);
	assert_placement("place_move", "place_move", "fast", "port 0,1,2");
	assert_int_equal(hy_hal_force(hal, "place_move@1=plain", error), 0);
	select_all();
	assert_int_equal(node_for("place_move", 0), fast);
	assert_int_not_equal(node_for("place_move", 1), fast);
	assert_int_equal(node_for("place_move", 2), fast);
	assert_placement("place_move-plain", "place_move", "plain", "port 1");
	assert_placement("place_move", "place_move", "fast", "port 0,2");
}

static void
family_node_that_no_port_uses_any_more_takes_the_next_selection(void **state)
{
	hy_node_id id;

	RTE_SET_USED(state);
	ports_and_family(2, "place_free");
	select_all();
	id = node_for("place_free", 0);
	assert_placement("place_free", "place_free", "fast", "port 0");
	assert_int_equal(hy_hal_force(hal, "place_free=plain", error), 0);
	select_all();
	assert_int_equal(node_for("place_free", 0), id);
	assert_int_equal(node_for("place_free", 1), id);
	assert_node(id, "place_free", "plain", hal_process);
	assert_placement("place_free", "place_free", "plain", "port 0,1");
	assert_null(hy_hal_placement(hal, "place_free-plain"));
}

static void
family_is_back_to_its_reference_when_the_hal_is_gone(void **state)
{
	hy_node_id id;

	RTE_SET_USED(state);
	family_add("place_back", HY_TARGET_PROCESS, 10);
	VARIANT("place_back", "fast", .score = 20);
	select_all();
	id = node_for("place_back", 0);
	assert_node(id, "place_back", "fast", hal_process_b);
	hy_hal_destroy(hal);
	hal = NULL;
	assert_node(id, "place_back", "plain", hal_process);
}

static const struct CMUnitTest hal_place_tests[] = {
	HAL_TEST(process_node_is_the_family_node_with_the_chosen_variant),
	HAL_TEST(ports_with_one_selection_share_a_node),
	HAL_TEST(ports_with_different_selections_get_nodes_of_their_own),
	HAL_TEST(port_12_is_not_port_1_or_2),
	HAL_TEST(more_ports_than_fit_are_cut_between_two),
	HAL_TEST(variant_without_a_context_of_its_own_has_that_of_its_family),
	HAL_TEST(clone_is_a_node_of_the_ports_own),
	HAL_TEST(clone_is_unregistered_by_the_hal_alone),
	HAL_TEST(destroying_the_hal_removes_the_nodes_that_it_made),
	HAL_TEST(destroying_nothing_is_allowed),
	HAL_TEST(next_hal_places_by_its_own_selection),
	HAL_TEST(selecting_again_places_the_process_again),
	HAL_TEST(selecting_again_moves_a_port_to_its_new_node),
	HAL_TEST(family_node_that_no_port_uses_any_more_takes_the_next_selection),
	HAL_TEST(family_is_back_to_its_reference_when_the_hal_is_gone),
};

UNIT_SUITE(hal_place_tests)
