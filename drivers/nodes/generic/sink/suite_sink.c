/* SPDX-License-Identifier: BSD-3-Clause */
/* Conformance of pkt_drop and null: any frame, no set-up. */

#include <hy_conform.h>

HY_SUITE(pkt_drop, .setup = NULL);
HY_SUITE(null, .setup = NULL);
