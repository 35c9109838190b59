/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two ends of hy_share.h as programs, for tests that kill them.
 *
 * "hy-test-share primary FOLDER [EAL options]": a worker walks a graph while it is changed all the
 * time, until SIGTERM. "hy-test-share reader FOLDER READS": reads that graph so many times.
 * "hy-test-share secondary [EAL options]": what a secondary process of EAL is refused, then as JSON
 * all that its primary shares. Each checks what it sees.
 */

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>

#include <hy_graph_worker.h>
#include <hy_share.h>

#define UPDATE_US 200

static bool stop;                      /* set by a signal */
static uint64_t made, released, finis; /* the worker's; the main thread's when that has ended */

static bool
goes_on(void)
{
	return !__atomic_load_n(&stop, __ATOMIC_RELAXED);
}

static void
on_term(int sig __rte_unused)
{
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
}

static void
release(void **objs __rte_unused, unsigned int n)
{
	released += n;
}

static const struct hy_object_ops ops = { .release = release };

static uint16_t
source(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	static int object;

	for (uint16_t i = 0; i < n; i++)
		objs[i] = &object;
	made += n;
	hy_stream_move(graph, node, 0, n);
	return n;
}

static uint16_t
pass(struct hy_graph *graph, struct hy_node *node, void **objs __rte_unused, uint16_t n)
{
	hy_counter_add(node, 0, n);
	hy_stream_move(graph, node, 0, n);
	return n;
}

static uint16_t
sink(struct hy_graph *graph, struct hy_node *node __rte_unused, void **objs, uint16_t n)
{
	hy_release(graph, objs, n);
	return n;
}

static void
fini(const struct hy_graph *graph __rte_unused, struct hy_node *node __rte_unused)
{
	finis++;
}

static const struct hy_node_desc nodes[] = {
	{ .name = "src", .impl.process = source, .flags = HY_NODE_SOURCE, .edges = { "a" } },
	{ .name = "a",
		.impl = { .process = pass, .fini = fini },
		.edges = { "end" },
		.counters = { { "objs", NULL, HY_SEV_INFO, "That \033[2J passed" } } },
	{ .name = "b",
		.impl = { .process = pass, .fini = fini },
		.edges = { "end" },
		.counters = { { "objs" } } },
	{ .name = "end", .impl.process = sink },
};

static void *
walk(void *graph)
{
	while (goes_on())
		hy_graph_walk(graph);
	return NULL;
}

static int
check(bool right, const char *what)
{
	if (!right)
		fprintf(stderr, "hy-test-share: %s\n", what);
	return right ? 0 : -1;
}

/* Leads the source to a and to b by turns. */
static int
change(struct hy_graph *graph)
{
	unsigned int updates = 0;
	hy_node_id src;

	if (check(hy_node_lookup("src", &src) == 0, "no source") < 0)
		return -1;
	for (; goes_on(); usleep(UPDATE_US)) {
		if (hy_graph_updating(graph))
			continue;
		updates++;
		if (hy_node_edge_set(src, 0, updates % 2 == 0 ? "a" : "b") < 0 ||
			hy_graph_update(graph, NULL) < 0)
			return check(false, "an update is refused");
		printf("%u\n", updates);
		fflush(stdout);
	}
	return 0;
}

static int
primary(const char *folder)
{
	const char *const patterns[] = { "src" };
	const struct hy_graph_params params = {
		.patterns = patterns, .nb_patterns = 1, .ops = &ops, .socket = SOCKET_ID_ANY
	};
	struct hy_graph *graph;
	pthread_t worker;
	int rc = 0;

	for (size_t i = 0; i < RTE_DIM(nodes) && rc == 0; i++)
		rc = hy_node_register(&nodes[i], NULL);
	if (rc < 0 || hy_share_start(folder) < 0 || hy_graph_create("g", &params, &graph) < 0 ||
		pthread_create(&worker, NULL, walk, graph) != 0)
		return -1;
	rc = change(graph);
	pthread_join(worker, NULL);
	hy_graph_destroy(graph);
	hy_share_stop();
	return rc < 0 ? rc : check(made == released && made > 0 && finis > 0, "objects are lost");
}

/*
 * Objects by which counters of one copy may disagree: a copy takes a while, in which the worker goes
 * on, and the CPU copies later nodes a little earlier than others if it likes. An image has more.
 */
#define APART (64 * HY_BURST_DEFAULT)

/* Whether both ways together had what the source made. */
static int
stats_check(const struct hy_stats *stats, uint64_t *before)
{
	const uint64_t made_now = stats->nodes[0].objs;
	uint64_t passed = 0, counted = 0, ended = 0;

	for (unsigned int i = 1; i < stats->nb_nodes; i++) {
		const struct hy_node_stats *node = &stats->nodes[i];

		if (node->nb_counters == 1) {
			passed += node->objs;
			counted += node->counters[0].value;
		} else {
			ended += node->objs;
		}
	}
	if (check(made_now >= *before, "objects are fewer than they were") < 0)
		return -1;
	*before = made_now;
	if (counted + APART >= passed && passed + APART >= made_now && ended + APART >= made_now)
		return 0;
	fprintf(stderr,
		"hy-test-share: nodes do not agree: %ju made, %ju passed, %ju counted, %ju ended\n",
		(uintmax_t)made_now, (uintmax_t)passed, (uintmax_t)counted, (uintmax_t)ended);
	return -1;
}

static int
reader(const char *folder, unsigned long nb_reads)
{
	struct hy_share *share = NULL;
	unsigned long reads = 0;
	uint64_t before = 0;
	int rc = hy_share_attach(folder, NULL, &share);

	while (rc == 0 && reads < nb_reads) {
		struct hy_stats *stats;

		rc = hy_share_stats(share, "g", &stats);
		if (rc < 0)
			break;
		rc = stats_check(stats, &before);
		hy_stats_free(stats);
		reads++;
	}
	hy_share_detach(share);
	printf("%lu reads, %ju objects\n", reads, (uintmax_t)before);
	return rc;
}

static int
secondary(void)
{
	const char *const patterns[] = { "*" };
	const struct hy_graph_params params = {
		.patterns = patterns, .nb_patterns = 1, .ops = &ops, .socket = SOCKET_ID_ANY
	};
	char name[HY_NAME_SIZE] = "";
	struct hy_graph *graph;
	struct hy_share *share;
	int rc = check(rte_eal_process_type() == RTE_PROC_SECONDARY, "no secondary process");

	if (rc == 0)
		rc = check(hy_graph_create("own", &params, &graph) == -EPERM &&
				hy_share_start(NULL) == -EPERM,
			"a secondary is refused nothing");
	if (rc == 0)
		rc = hy_share_attach(NULL, NULL, &share);
	if (rc < 0)
		return rc;
	while (rc == 0 && (rc = hy_share_next(share, name, name)) == 0) {
		rc = hy_share_graph(share, name, &graph);
		if (rc < 0)
			break;
		rc = hy_graph_export_json(graph, stdout);
		hy_share_free(graph);
	}
	hy_share_detach(share);
	return rc == -ENOENT ? 0 : rc;
}

int
main(int argc, char **argv)
{
	const char *role = argc > 1 ? argv[1] : "";
	const char *folder = argc > 2 ? argv[2] : "";
	const bool is_secondary = strcmp(role, "secondary") == 0;
	const int skip = is_secondary ? 1 : 2;
	int rc;

	signal(SIGTERM, on_term);
	if (strcmp(role, "reader") == 0 && argc == 4)
		return reader(folder, strtoul(argv[3], NULL, 10)) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
	if (argc <= skip || rte_eal_init(argc - skip, argv + skip) < 0)
		return EXIT_FAILURE;
	rc = is_secondary ? secondary() : primary(folder);
	rte_eal_cleanup();
	return rc < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
