/* SPDX-License-Identifier: BSD-3-Clause */
/* Captures behind the queues of a simulated NIC: read whole when it is probed, written as it sends. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <pcap/pcap.h>
#include <rte_log.h>
#include <rte_mbuf.h>

#include "lock.h"
#include "nic.h"

#define RX_KEY "rx_pcap"
#define TX_KEY "tx_pcap"
#define FRAME_MOST UINT16_MAX

/* All frames of a file, in the order of the file. */
struct capture {
	struct simnic_frame *frames;
	uint32_t n;
};

/* Several workers may send by one queue of an event device's internal port. */
struct dump {
	struct lock lock;
	pcap_t *dead;
	pcap_dumper_t *file;
	uint8_t room[FRAME_MOST]; /* where a frame of several segments is put together */
};

void
nic_capture_free(struct capture *capture)
{
	if (capture == NULL)
		return;
	for (uint32_t i = 0; i < capture->n; i++)
		free((void *)(uintptr_t)capture->frames[i].data);
	free(capture->frames);
	free(capture);
}

static int
frame_add(struct capture *capture, uint32_t *room, const uint8_t *data, uint32_t len)
{
	struct simnic_frame *frame;
	uint8_t *copy;

	if (capture->n == *room) {
		const uint32_t more = RTE_MAX(2 * *room, 64u);
		void *frames = reallocarray(capture->frames, more, sizeof(capture->frames[0]));

		if (frames == NULL)
			return -ENOMEM;
		capture->frames = frames;
		*room = more;
	}
	copy = malloc(RTE_MAX(len, 1u));
	if (copy == NULL)
		return -ENOMEM;
	memcpy(copy, data, len);
	frame = &capture->frames[capture->n++];
	frame->data = copy;
	frame->len = (uint16_t)len;
	return 0;
}

/* Reads to the end, or to the first record that is cut off: captures that were broken off count. */
static int
capture_read(pcap_t *file, const char *path, struct capture *capture)
{
	struct pcap_pkthdr *header;
	const uint8_t *data;
	uint32_t room = 0;
	int rc = 0;

	if (pcap_datalink(file) != DLT_EN10MB) {
		RTE_LOG(ERR, USER1, "simnic: " RX_KEY "=%s: link type %d is not Ethernet\n", path,
			pcap_datalink(file));
		return -EINVAL;
	}
	while (rc == 0 && pcap_next_ex(file, &header, &data) == 1) {
		if (header->caplen <= FRAME_MOST) {
			rc = frame_add(capture, &room, data, header->caplen);
			continue;
		}
		RTE_LOG(ERR, USER1, "simnic: " RX_KEY "=%s: a frame of %u bytes, at most %u\n",
			path, header->caplen, FRAME_MOST);
		rc = -EFBIG;
	}
	return rc;
}

static struct queue *
queue_for(struct queue queues[], uint16_t *n, const char *key)
{
	if (*n < SIMNIC_QUEUES)
		return &queues[(*n)++];
	RTE_LOG(ERR, USER1, "simnic: %s is given more often than the %u queues that there are\n",
		key, SIMNIC_QUEUES);
	return NULL;
}

static int
rx_open(const char *key, const char *path, void *to)
{
	struct nic *nic = to;
	struct queue *queue = queue_for(nic->rx, &nic->nb_rx_captures, key);
	char why[PCAP_ERRBUF_SIZE];
	pcap_t *file;
	int rc;

	if (queue == NULL)
		return -ENOSPC;
	file = pcap_open_offline(path, why);
	if (file == NULL) {
		RTE_LOG(ERR, USER1, "simnic: " RX_KEY "=%s: %s\n", path, why);
		return -EINVAL;
	}
	queue->capture = calloc(1, sizeof(*queue->capture));
	rc = queue->capture != NULL ? capture_read(file, path, queue->capture) : -ENOMEM;
	pcap_close(file);
	if (rc == 0)
		queue->feed = (struct feed){ .frames = queue->capture->frames,
			.n = queue->capture->n,
			.left = queue->capture->n };
	return rc;
}

static int
tx_open(const char *key, const char *path, void *to)
{
	struct nic *nic = to;
	struct queue *queue = queue_for(nic->tx, &nic->nb_tx_captures, key);
	struct dump *dump;

	if (queue == NULL)
		return -ENOSPC;
	dump = queue->dump = calloc(1, sizeof(*dump));
	if (dump == NULL)
		return -ENOMEM;
	dump->dead = pcap_open_dead_with_tstamp_precision(DLT_EN10MB, FRAME_MOST,
		PCAP_TSTAMP_PRECISION_NANO);
	if (dump->dead == NULL)
		return -ENOMEM;
	dump->file = pcap_dump_open(dump->dead, path);
	if (dump->file != NULL)
		return 0;
	RTE_LOG(ERR, USER1, "simnic: " TX_KEY "=%s: %s\n", path, pcap_geterr(dump->dead));
	return -EINVAL;
}

int
nic_captures_open(struct rte_kvargs *args, struct nic *nic)
{
	int rc = rte_kvargs_process(args, RX_KEY, rx_open, nic);

	return rc == 0 ? rte_kvargs_process(args, TX_KEY, tx_open, nic) : rc;
}

void
nic_dump_write(struct dump *dump, struct rte_mbuf *const pkts[], uint16_t n)
{
	struct timespec now;

	lock_take(&dump->lock);
	clock_gettime(CLOCK_REALTIME, &now);
	for (uint16_t i = 0; i < n; i++) {
		const uint32_t len = RTE_MIN(rte_pktmbuf_pkt_len(pkts[i]), (uint32_t)FRAME_MOST);
		/* Of a file with nanoseconds, tv_usec is those. */
		const struct pcap_pkthdr header = { .ts = { now.tv_sec, now.tv_nsec },
			.caplen = len,
			.len = rte_pktmbuf_pkt_len(pkts[i]) };

		pcap_dump((u_char *)dump->file, &header,
			rte_pktmbuf_read(pkts[i], 0, len, dump->room));
	}
	lock_give(&dump->lock);
}

void
nic_dump_close(struct dump *dump)
{
	if (dump == NULL)
		return;
	if (dump->file != NULL) {
		if (pcap_dump_flush(dump->file) != 0 || ferror(pcap_dump_file(dump->file)) != 0)
			RTE_LOG(ERR, USER1, "simnic: " TX_KEY ": a capture is incomplete\n");
		pcap_dump_close(dump->file);
	}
	if (dump->dead != NULL)
		pcap_close(dump->dead);
	free(dump);
}
