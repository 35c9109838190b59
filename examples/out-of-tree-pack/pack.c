/* SPDX-License-Identifier: BSD-3-Clause */
/* What makes the shared object a plugin. */

#include <hy_plugin.h>

HY_PLUGIN("example", "1.0", "Variants of ethdev_tx and pkt_drop from outside Halyard's tree");
