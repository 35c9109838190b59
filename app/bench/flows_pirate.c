/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread on another core that reads memory all the time, and so takes room in caches that are shared. */

#include <stdlib.h>

#include <rte_common.h>
#include <rte_pause.h>

#include "flows.h"

#define TURN (1u << 20) /* bytes that are read in a turn */

static struct {
	uint8_t *memory;
	size_t size, at;
	uint64_t sum;
} pirate;

static void
pirate_turn(void *arg)
{
	RTE_SET_USED(arg);
	if (pirate.size == 0) {
		rte_pause();
		return;
	}
	for (uint32_t i = 0; i < TURN; i += RTE_CACHE_LINE_SIZE)
		pirate.sum += pirate.memory[pirate.at + i];
	__asm__ volatile("" : : "r"(pirate.sum));
	pirate.at = (pirate.at + TURN) % pirate.size;
}

int
flows_pirate_start(uint32_t mib)
{
	pirate.size = (size_t)mib << 20;
	pirate.at = 0;
	pirate.memory = pirate.size == 0 ? NULL : bench_alloc(pirate.size, 1);
	for (size_t i = 0; i < pirate.size; i += 4096)
		pirate.memory[i] = 1; /* or all pages are one of zeros */
	if (flows_other_start(pirate_turn, NULL) == 0)
		return 0;
	free(pirate.memory);
	return -1;
}

void
flows_pirate_stop(void)
{
	flows_other_stop();
	free(pirate.memory);
}
