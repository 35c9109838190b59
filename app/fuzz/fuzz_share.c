/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes the reader of descriptions of other processes' graphs. The input follows the layout
 * numbers, which are fixed, since any other value is refused. The graph's name is the one at the
 * start of the input.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hy_graph_worker.h>

#include "fuzz.h"
#include "lib/graph/share/share_layout.h"
#include "lib/graph/stats/stats.h"

#define MEMORY_MAX (1u << 20) /* bytes */

static void
check_text(const struct hy_graph *graph, int (*write)(const struct hy_graph *graph, FILE *out))
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	FUZZ_CHECK(out != NULL && write(graph, out) == 0);
	fclose(out);
	FUZZ_CHECK(size > 0 && strlen(text) == size);
	free(text);
}

/* Copies must support all that hy_share_graph() promises, whichever image is walked. */
static void
check_copy(struct hy_share_description *d, unsigned int walked)
{
	struct hy_control *control = d->copy->control;
	struct hy_stats *stats;

	d->copy->image = control->current = d->images[walked].image;
	d->copy->plan = d->copy->image->plan;
	control->burst = d->copy->plan.burst;
	control->stream_cap = d->copy->plan.stream_cap;
	FUZZ_CHECK(hy_stats_of(d->copy, &stats) == 0);
	FUZZ_CHECK(stats->nb_nodes >= d->copy->plan.nb_nodes);
	hy_stats_free(stats);
	check_text(d->copy, hy_graph_export_dot);
	check_text(d->copy, hy_graph_export_json);
}

/* Checks that a described block can be read as a whole, if the files have the described length. */
static void
check_place(const struct hy_share_place *place)
{
	const int fd = memfd_create("fuzz-place", MFD_CLOEXEC);
	uint64_t end = 0;
	struct stat st;
	char *block;

	for (unsigned int i = 0; i < place->nb_extents && end <= MEMORY_MAX; i++)
		end = RTE_MAX(end, place->extents[i].offset + place->extents[i].length);
	FUZZ_CHECK(fd >= 0 && fstat(fd, &st) == 0);
	block = malloc(RTE_MIN(place->size, (uint64_t)MEMORY_MAX));
	if (end > MEMORY_MAX || place->size > MEMORY_MAX || ftruncate(fd, (off_t)end) < 0)
		goto out;
	for (unsigned int i = 0; i < place->nb_extents; i++) {
		place->extents[i].fd = (uint64_t)fd;
		place->extents[i].device = st.st_dev;
		place->extents[i].inode = st.st_ino;
	}
	FUZZ_CHECK(block != NULL);
	FUZZ_CHECK(hy_share_read(getpid(), st.st_uid, place, 0, block, place->size) == 0);
	FUZZ_CHECK(hy_share_read(getpid(), st.st_uid, place, place->size / 2, block,
			   place->size - place->size / 2) == 0);
out:
	free(block);
	close(fd);
}

static void
check_description(struct hy_share_description *d)
{
	FUZZ_CHECK(d->nb_images >= 1 && d->nb_images <= HY_SHARE_IMAGES);
	for (unsigned int i = 0; i < d->nb_images; i++) {
		check_place(&d->images[i].place);
		check_copy(d, i);
	}
	check_place(&d->graph);
	if (d->trace_serial != 0)
		check_place(&d->trace);
	/* As the reader does while the second image is walked. */
	FUZZ_CHECK(hy_stats_add(d->copy->control->history, d->images[0].image, HY_STATS_COUNTERS) ==
		0);
	check_copy(d, d->nb_images - 1);
}

static bool
share_one(const uint8_t *bytes, size_t size)
{
	const size_t length = strnlen((const char *)bytes, RTE_MIN(size, HY_NAME_SIZE - 1u));
	struct hy_share_description d;
	char name[HY_NAME_SIZE] = "", *all = malloc(sizeof(hy_share_layout) + size);
	int rc;

	FUZZ_CHECK(all != NULL);
	memcpy(all, hy_share_layout, sizeof(hy_share_layout));
	if (size > 0) {
		memcpy(all + sizeof(hy_share_layout), bytes, size);
		memcpy(name, bytes, length);
	}
	rc = hy_share_parse(name, all, sizeof(hy_share_layout) + size, NULL, &d);
	free(all);
	if (rc < 0) {
		FUZZ_CHECK(rc == -EPROTO || rc == -ENOMEM);
		FUZZ_CHECK(d.copy == NULL && d.memory == NULL && d.regs == NULL &&
			d.nb_images == 0);
		return false;
	}
	check_description(&d);
	hy_share_description_free(&d);
	return true;
}

/* The graphs have no objects; they are only described. */
static uint16_t
process(struct hy_graph *graph __rte_unused, struct hy_node *node __rte_unused,
	void **objs __rte_unused, uint16_t n __rte_unused)
{
	return 0;
}

static void
release(void **objs __rte_unused, unsigned int n __rte_unused)
{
}

static void
graphs_register(void)
{
	const struct hy_node_desc nodes[] = {
		{ .name = "src",
			.flags = HY_NODE_SOURCE,
			.impl = { "plain", process },
			.edges = { "split" } },
		{ .name = "split",
			.impl = { "plain", process },
			.edges = { "a", "b" },
			.lanes = { "side" },
			.drops = { { "first", HY_SEV_INFO, "A reason." },
				{ "second", HY_SEV_ERROR } },
			.counters = { { "hits", NULL, HY_SEV_INFO, "All." },
				{ "bytes", "bytes" } } },
		{ .name = "a", .impl = { NULL, process }, .edges = { "b", "split" } },
		{ .name = "b", .impl = { NULL, process } },
	};
	hy_node_id id;

	for (size_t i = 0; i < RTE_DIM(nodes); i++)
		FUZZ_CHECK(hy_node_register(&nodes[i], &id) == 0);
}

static void
describe(struct hy_graph *graph, FILE *out)
{
	char *text = NULL;
	size_t size = 0;
	FILE *whole = open_memstream(&text, &size);

	FUZZ_CHECK(whole != NULL && hy_share_describe(graph, whole) == 0);
	fclose(whole);
	fwrite(text + sizeof(hy_share_layout), 1, size - sizeof(hy_share_layout), out);
	free(text);
}

/* A graph; one with a trace; one during an update; one after it. */
static bool
share_seed(unsigned int i, FILE *out)
{
	static const char *const patterns[] = { "src" };
	static const struct hy_object_ops ops = { .release = release };
	struct hy_graph_params params = { .patterns = patterns,
		.nb_patterns = 1,
		.ops = &ops,
		.drop_node = "b",
		.burst = 70,
		.source_budget = 30,
		.lanes = { "other", "side" },
		.sample_every = 1 };
	const struct hy_trace_params trace = { .nb_objs = 4, .nb_records = 16 };
	struct hy_graph *graph;

	if (i == 0)
		graphs_register();
	if (i > 3)
		return false;
	FUZZ_CHECK(hy_graph_create("fuzz", &params, &graph) == 0);
	if (i == 1)
		FUZZ_CHECK(hy_trace_start(graph, &trace) == 0);
	params.burst = 32;
	if (i > 1) {
		hy_graph_walk(graph);
		FUZZ_CHECK(hy_graph_update(graph, &params) == 0);
	}
	if (i == 3)
		hy_graph_walk(graph);
	describe(graph, out);
	hy_graph_destroy(graph);
	return true;
}

const struct fuzz_target fuzz_share = { "share", NULL, share_one, share_seed };
