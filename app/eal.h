/* SPDX-License-Identifier: BSD-3-Clause */
/* EAL as a tool starts it by itself, without a word from the user. */
#pragma once

/*
 * Shares nothing with other DPDK programs, and has huge_mb MB of hugepages to begin with; or, if they
 * are not free, plain_mb MB of other memory, which takes none of the machine's until it is used. Of
 * such programs that start at once, one after another looks for free hugepages and takes them.
 * options: more of EAL's, a blank between one and the next. Returns as rte_eal_init().
 */
int eal_init(const char *program, unsigned int huge_mb, unsigned int plain_mb, const char *options);

/* The first CPU that the process may run on. */
unsigned int eal_first_cpu(void);
