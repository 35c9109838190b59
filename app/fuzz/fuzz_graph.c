/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes the graph core: the input's bytes are the choices of app/test's machine, which changes the
 * registry and graphs, and checks the outcome.
 */

#include "app/test/graph/graph_machine.h"
#include "fuzz.h"

#define STEPS_MAX 300
#define OBJS_MAX 3000
#define SEEDS 48

static void
graph_init(void)
{
	hy_node_id id = 0;

	while (hy_node_next(id, &id) == 0) /* the library's nodes */
		hy_node_unregister(id);
}

/* The first bytes choose the number of nodes and sources, and whether to start with some. */
static bool
graph_one(const uint8_t *bytes, size_t size)
{
	static const uint8_t none[3];
	static const unsigned int sizes[] = { 6, 8, 12, 24 };
	const uint8_t *head = size < sizeof(none) ? none : bytes;
	const struct machine_setup setup = { .nb_nodes = sizes[head[0] % RTE_DIM(sizes)],
		.nb_sources = 1 + head[1] % (sizes[head[0] % RTE_DIM(sizes)] / 4),
		.nb_objs = OBJS_MAX,
		.bytes = size < sizeof(none) ? none : bytes + sizeof(none),
		.nb_bytes = size < sizeof(none) ? 0 : size - sizeof(none) };
	const uint64_t creates = machine_counts.creates;

	machine_start(&setup);
	if (head[2] % 4 != 0 || size == 0)
		machine_register_all(head[2] % 4 == 1);
	if (head[2] % 4 > 1)
		machine_create_some(0);
	for (unsigned int i = 0; i < STEPS_MAX && machine_has_more() && machine_fault() == NULL;
		i++)
		machine_step();
	if (machine_fault() == NULL)
		machine_stop();
	if (machine_fault() != NULL && size > 0)
		fuzz_fault("", machine_fault());
	return machine_counts.creates > creates;
}

/* Random choices: from an empty corpus, a fuzzer would need minutes to find as many. */
static bool
graph_seed(unsigned int i, FILE *out)
{
	uint64_t draw = i + 1;
	unsigned int n = 30 + i * 1170 / SEEDS;

	for (; i < SEEDS && n > 0; n--) {
		/* xorshift64 */
		draw ^= draw << 13;
		draw ^= draw >> 7;
		draw ^= draw << 17;
		putc((int)(draw >> 32 & 0xff), out);
	}
	return i < SEEDS;
}

const struct fuzz_target fuzz_graph = { "graph", graph_init, graph_one, graph_seed };
