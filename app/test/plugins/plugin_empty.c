/* SPDX-License-Identifier: BSD-3-Clause */
/* A plugin with nothing in it. */

#include <hy_plugin.h>

HY_PLUGIN("empty", "0", "Registers nothing");
