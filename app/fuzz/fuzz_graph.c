/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes the graph core: the input's bytes are the choices of the machine of app/test, which does
 * things to the registry and to graphs, and knows what must come of them. A fault aborts.
 */

#include <stdio.h>
#include <stdlib.h>

#include <rte_eal.h>
#include <rte_log.h>

#include "fuzz.h"
#include "graph_machine.h"

#define STEPS_MAX 300
#define OBJS_MAX 3000

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static char args[][24] = { "--no-huge", "-m", "256", "--no-pci", "--no-shconf",
		"--no-telemetry" };
	hy_node_id id = 0;
	char *eal[RTE_DIM(args) + 2] = { (*argv)[0] };

	RTE_SET_USED(argc);
	for (size_t i = 0; i < RTE_DIM(args); i++)
		eal[i + 1] = args[i];
	if (rte_eal_init(RTE_DIM(args) + 1, eal) < 0) {
		fprintf(stderr, "rte_eal_init() failed\n");
		return EXIT_FAILURE;
	}
	if (getenv("FUZZ_LOG") == NULL) /* what is refused, as the library says it */
		rte_log_set_global_level(RTE_LOG_EMERG);
	while (hy_node_next(id, &id) == 0) /* the library's nodes */
		hy_node_unregister(id);
	/* What the registry keeps for ever is there before the first run counts blocks. */
	LLVMFuzzerTestOneInput(NULL, 0);
	return 0;
}

/* The first bytes tell how many nodes and sources there are, and whether to start with some. */
int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const uint8_t none[3];
	static const unsigned int sizes[] = { 6, 8, 12, 24 };
	const uint8_t *head = size < sizeof(none) ? none : bytes;
	const struct machine_setup setup = { .nb_nodes = sizes[head[0] % RTE_DIM(sizes)],
		.nb_sources = 1 + head[1] % (sizes[head[0] % RTE_DIM(sizes)] / 4),
		.nb_objs = OBJS_MAX,
		.bytes = size < sizeof(none) ? none : bytes + sizeof(none),
		.nb_bytes = size < sizeof(none) ? 0 : size - sizeof(none) };

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
	if (machine_fault() != NULL && size > 0) {
		fprintf(stderr, "fault: %s\n", machine_fault());
		abort();
	}
	return 0;
}
