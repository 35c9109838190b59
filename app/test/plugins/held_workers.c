/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded into a program: a machine so busy that workers run only while the main thread does not,
 * between a look at the statistics and what it concludes from them, and only every second time.
 */

#include <dlfcn.h>
#include <stdbool.h>
#include <unistd.h>

#include <hy_graph_worker.h>
#include <hy_stats.h>

#define WALKS 4 /* of each worker, every second time */
#define HELD_US 20000
#define FREE_US 5000

static unsigned int allowed; /* walks of each worker, so far */
static unsigned int looks;

uint32_t
hy_graph_walk(struct hy_graph *graph)
{
	static _Thread_local uint32_t (*walk)(struct hy_graph * graph);
	static _Thread_local unsigned int walks;

	if (walk == NULL)
		*(void **)&walk = dlsym(RTLD_NEXT, "hy_graph_walk");
	if (walks >= __atomic_load_n(&allowed, __ATOMIC_ACQUIRE)) {
		usleep(100);
		return 0;
	}
	walks++;
	return walk(graph);
}

int
hy_stats_read(const char *pattern, struct hy_stats **stats)
{
	static int (*read_them)(const char *pattern, struct hy_stats **stats);
	int rc;

	if (read_them == NULL)
		*(void **)&read_them = dlsym(RTLD_NEXT, "hy_stats_read");
	rc = read_them(pattern, stats);
	if (++looks % 2 == 0) {
		__atomic_fetch_add(&allowed, WALKS, __ATOMIC_RELEASE);
		usleep(FREE_US);
	} else {
		usleep(HELD_US);
	}
	return rc;
}
