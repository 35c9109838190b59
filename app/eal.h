/* SPDX-License-Identifier: BSD-3-Clause */
/* EAL as a tool starts it by itself, without a word from the user. */
#ifndef HY_APP_EAL_H
#define HY_APP_EAL_H

/*
 * Shares nothing with other DPDK programs, and has so many MB of hugepages; or 512 MB without, if
 * they are not free. options: more of EAL's, a blank between one and the next. Returns as
 * rte_eal_init().
 */
int eal_init(const char *program, unsigned int memory_mb, const char *options);

#endif
