/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What writes packets to a file for pcap_enable. The adapter knows no packets: who does says how,
 * once, when the library is loaded.
 */
#ifndef HY_COMPAT_PCAP_H
#define HY_COMPAT_PCAP_H

#include <stdint.h>

struct hy_compat_pcap_ops {
	/* Begins an empty file, which then belongs to it. Returns 0 or a negative errno. */
	int (*open)(int fd, void **file);
	/* Writes packets with a comment each. Returns 0 or a negative errno. */
	int (*write)(void *file, const char *comment, void *const objs[], uint16_t n);
	/* Ends and frees a file. Returns 0, or what writing has failed with. */
	int (*close)(void *file);
};

void hy_compat_pcap_ops_set(const struct hy_compat_pcap_ops *ops);

#endif
