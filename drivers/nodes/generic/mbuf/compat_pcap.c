/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes packets of graphs of rte_graph's API, as pcapng. */

#include <errno.h>
#include <stdlib.h>

#include <rte_common.h>
#include <rte_cycles.h>

#include <hy_mbuf.h>
#include <hy_pcapng.h>
#include "lib/rte_graph_compat/internal/compat_capture.h"

struct file {
	struct hy_pcapng *out;
	alignas(8) uint8_t room[HY_CAPTURE_RECORD_MAX]; /* for one record */
};

static int
file_open(int fd, void **opened)
{
	struct file *file = malloc(sizeof(*file));
	int rc;

	if (file == NULL)
		return -ENOMEM;
	rc = hy_pcapng_open(fd, "Halyard's rte_graph", HY_CAPTURE_SNAP_MAX, &file->out);
	if (rc < 0) {
		free(file);
		return rc;
	}
	*opened = file;
	return 0;
}

static int
file_write(void *opened, const char *comment, void *const objs[], uint16_t n)
{
	const struct hy_pcapng_point point = { .comment = comment, .port = HY_PCAPNG_OWN_PORT };
	struct file *file = opened;
	struct hy_capture_record *record = (struct hy_capture_record *)file->room;
	int rc = 0;

	*record = (struct hy_capture_record){ .tsc = rte_rdtsc() };
	for (uint16_t i = 0; i < n && rc == 0; i++) {
		record->size = (uint32_t)hy_mbuf_ops.copy(objs[i], record, HY_CAPTURE_SNAP_MAX);
		rc = hy_pcapng_write(file->out, record, &point);
	}
	return rc;
}

static int
file_close(void *opened)
{
	struct file *file = opened;
	const int rc = hy_pcapng_close(file->out);

	free(file);
	return rc;
}

static const struct hy_compat_pcap_ops ops = {
	.open = file_open,
	.write = file_write,
	.close = file_close,
};

RTE_INIT(compat_pcap_register)
{
	hy_compat_pcap_ops_set(&ops);
}
