/* SPDX-License-Identifier: BSD-3-Clause */
/* The bridge of l2_rig.h. */

#include <string.h>

#include <rte_byteorder.h>
#include <rte_ring_elem.h>

#include "l2_rig.h"

#define PORTS 4

struct hy_l2_setup l2_setup;
struct hy_l2_worker l2_worker;
struct hy_l2_table *l2_table;

static const struct hy_l2_setup *published = &l2_setup;
static struct hy_l2_worker *workers[] = { &l2_worker };

struct hy_l2_config
l2_rig_defaults(void)
{
	struct hy_l2_config config = { .table = hy_l2_table_view(l2_table),
		.setup = &published,
		.workers = workers,
		.nb_workers = RTE_DIM(workers) };

	memset(config.edge, 0xff, sizeof(config.edge));
	config.edge[0] = 0;
	config.edge[1] = 1;
	return config;
}

void
l2_rig_config(hy_node_id id, const struct hy_l2_config *config)
{
	assert_int_equal(hy_node_config(id, config, sizeof(*config)), 0);
}

static void
setup_make(void)
{
	memset(&l2_setup, 0, sizeof(l2_setup));
	memset(l2_setup.number, HY_L2_NO_PORT, sizeof(l2_setup.number));
	l2_setup.tag_type = 0x8100;
	l2_setup.forwarding = (1u << PORTS) - 1;
	for (unsigned int p = 0; p < PORTS; p++) {
		l2_setup.number[p] = (uint8_t)p;
		l2_setup.port[p] = (struct hy_l2_port){
			.pvid = 1, .state = HY_L2_FORWARDING, .learn = true, .filter = true
		};
		l2_setup.reach[p] = l2_setup.forwarding & ~(UINT64_C(1) << p);
	}
}

hy_node_id
l2_rig(const char *node, const char *variant)
{
	static const struct hy_l2_table_params params = {
		.max_entries = 1024, .nb_ports = HY_L2_TABLE_PORTS, .socket = SOCKET_ID_ANY
	};
	const bool output = strcmp(node, "l2_output") == 0;
	struct hy_l2_config config;
	char name[HY_NAME_SIZE];
	hy_node_id id;

	setup_make();
	assert_int_equal(hy_l2_table_create(&params, &l2_table), 0);
	memset(&l2_worker, 0, sizeof(l2_worker));
	l2_worker.learn = rte_ring_create_elem("l2_rig", sizeof(struct hy_l2_source), L2_RING,
		SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	assert_non_null(l2_worker.learn);
	rig_lane = HY_L2_LANE;
	snprintf(name, sizeof(name), "%s-rig", node);
	rig_nodes(name);
	id = rig_clone(node, variant, output ? NULL : "rig_out-0");
	for (unsigned int port = 0; port < 2 && output; port++) {
		snprintf(name, sizeof(name), "rig_out-%u", port);
		assert_int_equal(hy_node_edge_add(id, name, NULL), 0);
	}
	config = l2_rig_defaults();
	l2_rig_config(id, &config);
	return id;
}

void
l2_rig_end(void)
{
	rig_free();
	rig_clear();
	rte_ring_free(l2_worker.learn);
	hy_l2_table_destroy(l2_table);
}

uint32_t
l2_frame(uint8_t *frame, const uint8_t dst[6], const uint8_t src[6], uint32_t tag, uint32_t len)
{
	const rte_be32_t word = rte_cpu_to_be_32(tag);
	uint32_t at = 12;

	memcpy(frame, dst, 6);
	memcpy(frame + 6, src, 6);
	if (tag != 0) {
		memcpy(frame + at, &word, sizeof(word));
		at += sizeof(word);
	}
	for (uint32_t i = at; i < len; i++)
		frame[i] = (uint8_t)(0x40 + i);
	return len;
}

uint64_t
l2_counter(const char *node, const char *name)
{
	uint64_t value = UINT64_MAX;
	struct hy_stats *stats;

	assert_int_equal(hy_stats_read("rig", &stats), 0);
	for (unsigned int i = 0; i < stats->nb_nodes; i++) {
		const struct hy_node_stats *s = &stats->nodes[i];

		for (unsigned int c = 0; c < s->nb_counters && strcmp(s->name, node) == 0; c++)
			if (strcmp(s->counters[c].name, name) == 0)
				value = s->counters[c].value;
	}
	hy_stats_free(stats);
	return value;
}
