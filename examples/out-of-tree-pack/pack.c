/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the shared object a plugin. */

#include <hy_plugin.h>

HY_PLUGIN("example", "1.0", "A vendor's pack from outside Halyard's tree");
