/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pkt_drop that keeps the first bytes of the last packets in memory while the graph runs. When the
 * graph is destroyed, it writes them to drops-GRAPH.pcap in the folder DROPS_DIR, or else in the
 * current folder.
 */

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include <pcap/pcap.h>
#include <rte_mbuf.h>

#include <hy_mbuf.h>
#include <hy_node.h>

#define KEPT_MAX 1024  /* packets */
#define KEPT_BYTES 128 /* of each */

struct kept {
	struct pcap_pkthdr header;
	uint8_t bytes[KEPT_BYTES];
};

struct keep_ctx {
	pcap_t *pcap;
	pcap_dumper_t *file;
	uint64_t nb_dropped;
	struct kept kept[KEPT_MAX]; /* the nth dropped packet is in slot n % KEPT_MAX */
};

static uint16_t
keep_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	struct keep_ctx *ctx = node->ctx;
	struct timeval now;

	gettimeofday(&now, NULL);
	for (uint16_t i = 0; i < n; i++) {
		struct kept *kept = &ctx->kept[ctx->nb_dropped++ % KEPT_MAX];
		const struct rte_mbuf *m = objs[i];
		const uint8_t *frame = hy_mbuf_peek(m, KEPT_BYTES, kept->bytes);

		kept->header.ts = now;
		kept->header.len = m->pkt_len;
		kept->header.caplen = RTE_MIN(m->pkt_len, (uint32_t)KEPT_BYTES);
		if (frame != kept->bytes)
			memcpy(kept->bytes, frame, kept->header.caplen);
	}
	hy_release(graph, objs, n);
	return n;
}

/* Opens the file now, so that errors are reported early. */
static int
keep_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	const char *folder = getenv("DROPS_DIR");
	struct keep_ctx *ctx = node->ctx;
	char path[PATH_MAX];

	RTE_SET_USED(config);
	snprintf(path, sizeof(path), "%s/drops-%s.pcap", folder == NULL ? "." : folder,
		hy_graph_name(graph));
	ctx->pcap = pcap_open_dead(DLT_EN10MB, KEPT_BYTES);
	if (ctx->pcap == NULL)
		return hy_node_refuse(graph, node, "has no memory for libpcap");
	ctx->file = pcap_dump_open(ctx->pcap, path);
	if (ctx->file == NULL) {
		const int rc = hy_node_refuse(graph, node, "cannot write: %s",
			pcap_geterr(ctx->pcap));

		pcap_close(ctx->pcap);
		return rc;
	}
	return 0;
}

static void
keep_fini(const struct hy_graph *graph, struct hy_node *node)
{
	struct keep_ctx *ctx = node->ctx;
	uint64_t i = ctx->nb_dropped > KEPT_MAX ? ctx->nb_dropped - KEPT_MAX : 0;

	for (; i < ctx->nb_dropped; i++) {
		const struct kept *kept = &ctx->kept[i % KEPT_MAX];

		pcap_dump((u_char *)ctx->file, &kept->header, kept->bytes);
	}
	if (pcap_dump_flush(ctx->file) != 0)
		hy_node_refuse(graph, node, "could not write all packets");
	pcap_dump_close(ctx->file);
	pcap_close(ctx->pcap);
}

/* Copying costs time. The reference variant scores 10, so this one is used only on request. */
HY_NODE_VARIANT(pkt_drop, keep,
	.text = "Writes the last dropped packets to a capture",
	.impl.process = keep_process,
	.impl.init = keep_init,
	.impl.fini = keep_fini,
	.impl.ctx_size = sizeof(struct keep_ctx),
	.score = 1);
