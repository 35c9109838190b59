/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pcap_enable: the first packets that the nodes of a graph are called with go to a file. As with
 * librte_graph it is the walk that writes them, and waits for the file; hy_capture.h never does.
 */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compat.h"
#include "lib/graph/internal/log.h"
#include "lib/rte_graph_compat/internal/compat_capture.h"

#define PACKETS_DEFAULT 1024
#define SUFFIX ".pcapng"

struct pcap {
	void *file;
	uint64_t left; /* packets to write */
	char path[PATH_MAX];
};

static const struct hy_compat_pcap_ops *ops;

void
hy_compat_pcap_ops_set(const struct hy_compat_pcap_ops *set)
{
	ops = set;
}

/* Opens a new file of a name that no other has. Returns it or a negative errno (logged). */
static int
file_make(const char *graph, const char *name, char path[PATH_MAX])
{
	const char *home = getenv("HOME");
	int n, fd;

	if (name[0] != '\0') {
		n = snprintf(path, PATH_MAX, "%s_XXXXXX" SUFFIX, name);
	} else if (home != NULL) {
		n = snprintf(path, PATH_MAX, "%s/dpdk_graph_pcap_capture_XXXXXX" SUFFIX, home);
	} else {
		HY_LOG(ERR, "rte_graph: graph '%s': no pcap_filename, and no home folder by $HOME",
			graph);
		return -EINVAL;
	}
	if (n >= PATH_MAX) {
		HY_LOG(ERR, "rte_graph: graph '%s': its pcap_filename is longer than %d", graph,
			PATH_MAX - 1);
		return -E2BIG;
	}
	fd = mkostemps(path, (int)strlen(SUFFIX), O_CLOEXEC);
	if (fd < 0) {
		const int rc = -errno;

		HY_LOG(ERR, "rte_graph: graph '%s': cannot make '%s': %s", graph, path,
			strerror(-rc));
		return rc;
	}
	return fd;
}

/* Begins the file of a graph whose pcap_filename is set. Returns 0 or a negative errno (logged). */
static int
file_begin(const struct compat_graph *graph, struct pcap *pcap)
{
	const int fd = file_make(graph->pub.name, graph->pcap_filename, pcap->path);
	int rc;

	if (fd < 0)
		return fd;
	rc = ops->open(fd, &pcap->file);
	if (rc < 0) {
		close(fd);
		HY_LOG(ERR, "rte_graph: graph '%s': '%s': %s", graph->pub.name, pcap->path,
			strerror(-rc));
		unlink(pcap->path);
	}
	return rc;
}

int
hy_compat_pcap_open(struct compat_graph *graph, const char *name, uint64_t packets)
{
	const char *of = graph->pub.name;
	struct pcap *pcap;
	int rc;

	if (ops == NULL) {
		HY_LOG(ERR, "rte_graph: graph '%s': this library cannot write packets", of);
		return -ENOTSUP;
	}
	pcap = calloc(1, sizeof(*pcap));
	graph->pcap_filename = strdup(name == NULL ? "" : name);
	if (pcap == NULL || graph->pcap_filename == NULL) {
		HY_LOG(ERR, "rte_graph: graph '%s': not enough memory", of);
		free(pcap);
		return -ENOMEM;
	}
	rc = file_begin(graph, pcap);
	if (rc < 0) {
		free(pcap);
		return rc;
	}
	graph->pcap = pcap;
	graph->pcap_packets = packets;
	pcap->left = packets == 0 ? PACKETS_DEFAULT : packets;
	HY_LOG(NOTICE, "rte_graph: graph '%s': packets are written to '%s'", of, pcap->path);
	return 0;
}

void
hy_compat_pcap_close(struct compat_graph *graph)
{
	struct pcap *pcap = graph->pcap;
	int rc;

	if (pcap == NULL)
		return;
	rc = ops->close(pcap->file);
	if (rc < 0)
		HY_LOG(ERR, "rte_graph: graph '%s': '%s' is not whole: %s", graph->pub.name,
			pcap->path, strerror(-rc));
	free(pcap);
	graph->pcap = NULL;
}

void
hy_compat_pcap_undo(struct compat_graph *graph)
{
	if (graph->pcap != NULL)
		unlink(graph->pcap->path);
	hy_compat_pcap_close(graph);
}

void
hy_compat_pcap_write(struct compat_graph *graph, const struct rte_node *node, uint16_t n)
{
	struct pcap *pcap = graph->pcap;
	const uint16_t taken = (uint16_t)RTE_MIN(pcap->left, (uint64_t)n);
	char comment[RTE_GRAPH_NAMESIZE + RTE_NODE_NAMESIZE + 2];

	snprintf(comment, sizeof(comment), "%s: %s", graph->pub.name, node->name);
	pcap->left -= taken;
	if (ops->write(pcap->file, comment, node->objs, taken) < 0 || pcap->left == 0)
		hy_compat_pcap_close(graph);
}
