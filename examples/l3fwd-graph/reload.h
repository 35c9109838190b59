/* SPDX-License-Identifier: BSD-3-Clause */
/* SIGHUP: the files of routes and rules are read again. */
#ifndef L3FWD_RELOAD_H
#define L3FWD_RELOAD_H

#include <stdio.h>

#include "pipeline.h"

/* Brings tables and policy to what the files say, or says on standard error why they stay. */
void reload(const struct options *options, const struct pipeline *pipeline, FILE *out);

#endif
