/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of ports, raised as drivers raise them: through ethdev's own list of callbacks. */
#pragma once

#include <rte_ethdev.h>

/* Returns 0, or -ENOSYS: this DPDK does not let anybody. */
int port_event_raise(uint16_t port, enum rte_eth_event_type event);
