/* SPDX-License-Identifier: BSD-3-Clause */
/* Captures of a simulated NIC's queues: read completely at probe, written as packets are sent. */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <pcap/pcap.h>
#include <rte_mbuf.h>

#include "hal/internal/list.h"
#include "nic.h"

#define RX_KEY "rx_pcap"
#define TX_KEY "tx_pcap"
#define FRAME_MOST UINT16_MAX

/* All frames of a file, in order. */
struct capture {
	struct simnic_frame *frames;
	uint32_t n;
};

/* Locked: several workers may send on one queue through an event device's internal port. */
struct dump {
	pthread_mutex_t lock; /* zeroed: not locked */
	pcap_t *dead;
	pcap_dumper_t *file;
	uint8_t room[FRAME_MOST]; /* to linearize frames of several segments */
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
frame_add(struct capture *capture, const uint8_t *data, uint32_t len)
{
	struct simnic_frame *frame = hy_list_room(&capture->frames, capture->n, sizeof(*frame));
	uint8_t *copy = malloc(RTE_MAX(len, 1u));

	if (frame == NULL || copy == NULL) {
		free(copy);
		return -ENOMEM;
	}
	memcpy(copy, data, len);
	*frame = (struct simnic_frame){ .data = copy, .len = (uint16_t)len };
	capture->n++;
	return 0;
}

/* Reads to the end, or to the first truncated record: an interrupted capture is valid. */
static int
capture_read(pcap_t *file, const char *path, struct capture *capture)
{
	struct pcap_pkthdr *header;
	const uint8_t *data;
	int rc = 0;

	if (pcap_datalink(file) != DLT_EN10MB)
		return NIC_REFUSE(-EINVAL, RX_KEY "=%s: link type %d is not Ethernet\n", path,
			pcap_datalink(file));
	while (rc == 0 && pcap_next_ex(file, &header, &data) == 1) {
		if (header->caplen > FRAME_MOST)
			return NIC_REFUSE(-EFBIG, RX_KEY "=%s: a frame of %u bytes, at most %u\n",
				path, header->caplen, FRAME_MOST);
		rc = frame_add(capture, data, header->caplen);
	}
	return rc;
}

static struct queue *
queue_for(struct queue queues[], uint16_t *n, const char *key)
{
	if (*n < SIMNIC_QUEUES)
		return &queues[(*n)++];
	return NIC_REFUSE(NULL, "%s is given more often than the %u queues of a port\n", key,
		SIMNIC_QUEUES);
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
	if (file == NULL)
		return NIC_REFUSE(-EINVAL, RX_KEY "=%s: %s\n", path, why);
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
	return NIC_REFUSE(-EINVAL, TX_KEY "=%s: %s\n", path, pcap_geterr(dump->dead));
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

	pthread_mutex_lock(&dump->lock);
	clock_gettime(CLOCK_REALTIME, &now);
	for (uint16_t i = 0; i < n; i++) {
		const uint32_t len = RTE_MIN(rte_pktmbuf_pkt_len(pkts[i]), (uint32_t)FRAME_MOST);
		/* In a nanosecond capture, tv_usec holds nanoseconds. */
		const struct pcap_pkthdr header = { .ts = { now.tv_sec, now.tv_nsec },
			.caplen = len,
			.len = rte_pktmbuf_pkt_len(pkts[i]) };

		pcap_dump((u_char *)dump->file, &header,
			rte_pktmbuf_read(pkts[i], 0, len, dump->room));
	}
	pthread_mutex_unlock(&dump->lock);
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
