/* SPDX-License-Identifier: BSD-3-Clause */
/* Plugins for tests: the loader takes none from below /tmp, where the build folder may be. */
#pragma once

/*
 * Copies a file that was built beside the test program into a folder that plugins can be loaded
 * from, and goes with the program. Returns the copy's path, valid until the next call.
 */
const char *unit_plugin(const char *file, const char *as);
