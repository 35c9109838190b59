/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fixture of dlb2_event: the whole driver, on registers that are memory. It keeps account of the
 * device's queues, ports and credits itself.
 */

#include <sys/mman.h>

#include <rte_errno.h>
#include <rte_malloc.h>

#include <dlb2_main.h>
#include <dlb2_resource.h>

#include "events.h"

#define PORTS_BAR (UINT64_C(64) << 20)
#define REGISTERS_BAR (UINT64_C(4) << 30)

static void *
bar(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory != MAP_FAILED ? memory : NULL;
}

/* Replaced: it waits for the device, resets it, and measures it. */
struct dlb2_dev *
dlb2_probe(struct rte_pci_device *pci, const void *args)
{
	struct dlb2_dev *dev = rte_zmalloc(NULL, sizeof(*dev), RTE_CACHE_LINE_SIZE);

	rte_errno = ENOMEM;
	if (dev == NULL)
		return NULL;
	dev->pdev = pci;
	dev->hw.func_kva = bar(PORTS_BAR);
	dev->hw.csr_kva = bar(REGISTERS_BAR);
	rte_spinlock_init(&dev->resource_mutex);
	/* dlb2_resource_probe(): in which order ports are given out, and behind them their classes. */
	for (unsigned int i = 0; i < RTE_DIM(dev->hw.ldb_pp_allocations); i++)
		dev->hw.ldb_pp_allocations[i] = (int)(i % DLB2_MAX_NUM_LDB_PORTS);
	for (unsigned int i = 0; i < RTE_DIM(dev->hw.dir_pp_allocations); i++)
		dev->hw.dir_pp_allocations[i] = (int)i;
	if (dev->hw.func_kva == NULL || dev->hw.csr_kva == NULL ||
		dlb2_resource_init(&dev->hw, DLB2_HW_V2, args) != 0)
		return NULL;
	return dev;
}

struct event_oracle event_oracle = {
	.driver = "event_dlb2_pf",
	.simulator = "sim_event_dlb20",
	.kin = "net_ice",
	.configures = true,
	.pci = { .id = { .vendor_id = 0x8086, .device_id = 0x2710 }, .addr.bus = 2 },
};
