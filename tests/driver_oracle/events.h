/* SPDX-License-Identifier: BSD-3-Clause */
/* What the fixture of an event device gives to events.c. */
#pragma once

#include <stdbool.h>

#include <bus_pci_driver.h>

struct event_oracle {
	const char *driver;    /* as it registers with the bus */
	const char *simulator; /* device of app/sim that stands for it */
	const char *kin;       /* driver of ports on the same chip */
	bool configures;       /* what configuring asks of hardware is answered, too */
	struct rte_pci_device pci;
};

/* Each fixture defines it. */
extern struct event_oracle event_oracle;
