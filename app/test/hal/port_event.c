/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a driver calls is exported, but its header is not installed: the devices are found by the
 * size that the symbol of their array has.
 */

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>

#include "port_event.h"

struct rte_eth_dev;

int rte_eth_dev_callback_process(struct rte_eth_dev *dev, enum rte_eth_event_type event, void *ret);

int
port_event_raise(uint16_t port, enum rte_eth_event_type event)
{
	char *devices = dlsym(RTLD_DEFAULT, "rte_eth_devices");
	const ElfW(Sym) * symbol;
	void *found = NULL;
	Dl_info info;

	if (devices == NULL || dladdr1(devices, &info, &found, RTLD_DL_SYMENT) == 0 ||
		found == NULL)
		return -ENOSYS;
	symbol = found;
	devices += port * (symbol->st_size / RTE_MAX_ETHPORTS);
	return rte_eth_dev_callback_process((void *)devices, event, NULL);
}
