/* SPDX-License-Identifier: BSD-3-Clause */
/* What the variants of ethdev_tx share: the reasons for which they drop. */
#ifndef ETHDEV_TX_H
#define ETHDEV_TX_H

enum { ETHDEV_TX_DROP_FULL, ETHDEV_TX_DROP_PORT_DOWN };

#endif
