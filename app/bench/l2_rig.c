/* SPDX-License-Identifier: BSD-3-Clause */
/* See l2_rig.h. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>

#include "l2_kernel_port.h"
#include "l2_rig.h"

#define RING_SIZE (2 * L2_FRAMES) /* all frames may be of one port */
#define DATA_ROOM (RTE_PKTMBUF_HEADROOM + 128)
#define PRIVATE_SIZE 64
#define TAG_LEN 4
#define INDEX_AT 14  /* of an untagged frame: its number, behind the header */
#define SCATTER 7919 /* sources do not repeat in the order of the table */

static struct {
	struct rte_ring *rx[L2_PORTS], *tx[L2_PORTS];
	struct rte_mempool *pool; /* that ethdev requires; then that of frames */
	uint16_t port[L2_PORTS];
	bool created;
} ports;

static struct rte_ring *
ring_create(const char *what, unsigned int port)
{
	char name[RTE_RING_NAMESIZE];
	struct rte_ring *ring;

	snprintf(name, sizeof(name), "l2_%s_%u", what, port);
	ring = rte_ring_create(name, RING_SIZE, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	if (ring == NULL)
		bench_cannot("no memory for a ring of %u packets", RING_SIZE);
	return ring;
}

static int
port_create(unsigned int p)
{
	const struct rte_eth_conf conf = { 0 };
	char name[16];
	int id, rc;

	ports.rx[p] = ring_create("rx", p);
	ports.tx[p] = ring_create("tx", p);
	if (ports.rx[p] == NULL || ports.tx[p] == NULL)
		return -1;
	snprintf(name, sizeof(name), "l2_%u", p);
	id = rte_eth_from_rings(name, &ports.rx[p], 1, &ports.tx[p], 1, SOCKET_ID_ANY);
	if (id < 0)
		return bench_cannot("net_ring: %s", rte_strerror(rte_errno));
	ports.port[p] = (uint16_t)id;
	rc = rte_eth_dev_configure(ports.port[p], 1, 1, &conf);
	if (rc == 0)
		rc = rte_eth_rx_queue_setup(ports.port[p], 0, 0, SOCKET_ID_ANY, NULL, ports.pool);
	if (rc == 0)
		rc = rte_eth_tx_queue_setup(ports.port[p], 0, 0, SOCKET_ID_ANY, NULL);
	if (rc == 0)
		rc = rte_eth_dev_start(ports.port[p]);
	return rc < 0 ? bench_cannot("net_ring: %s", strerror(-rc)) : 0;
}

/* The pool has no caches, so that frames keep their order in memory, for all contenders alike. */
static int
ports_create(void)
{
	if (ports.created)
		return 0;
	if (ports.pool == NULL)
		ports.pool = rte_pktmbuf_pool_create("l2_frames", L2_FRAMES, 0, PRIVATE_SIZE,
			DATA_ROOM, SOCKET_ID_ANY);
	if (ports.pool == NULL)
		return bench_cannot("no memory for %u packets", L2_FRAMES);
	for (unsigned int p = 0; p < L2_PORTS; p++)
		if (port_create(p) < 0)
			return -1;
	ports.created = true;
	return 0;
}

void
l2_port_mac(unsigned int port, uint8_t mac[6])
{
	memcpy(mac, (const uint8_t[6]){ 2, 0, 0, 1, 0, (uint8_t)port }, 6);
}

void
l2_next_mac(unsigned int port, uint8_t mac[6])
{
	memcpy(mac, (const uint8_t[6]){ 2, 0, 0, 0, 0, (uint8_t)port }, 6);
}

void
l2_header(const struct hy_l2_source *entry, uint8_t header[L2_LONG_KEY])
{
	hy_l2_key_split(entry->key, header);
	l2_next_mac(1 - l2_port_out(entry), header + 6); /* whoever is behind that port */
	header[12] = 0x08;
	header[13] = 0x00;
}

static void
sources_list(struct l2_rig *rig)
{
	for (unsigned int p = 0; p < L2_PORTS; p++)
		rig->by_port[p] = bench_alloc(rig->macs->n, sizeof(*rig->by_port[p]));
	for (uint32_t i = 0; i < rig->macs->n; i++) {
		const unsigned int p = l2_port_out(&rig->macs->entries[i]);

		rig->by_port[p][rig->nb_by_port[p]++] = i;
	}
}

struct l2_rig *
l2_rig_open(const struct l2_macs *macs)
{
	struct l2_rig *rig;

	if (ports_create() < 0)
		return NULL;
	rig = bench_alloc(1, sizeof(*rig));
	rig->macs = macs;
	rig->pool = ports.pool;
	for (unsigned int p = 0; p < L2_PORTS; p++) {
		rig->port[p] = ports.port[p];
		rig->rx[p] = ports.rx[p];
		rig->tx[p] = ports.tx[p];
	}
	sources_list(rig);
	return rig;
}

void
l2_rig_close(struct l2_rig *rig)
{
	if (rig == NULL)
		return;
	for (unsigned int p = 0; p < L2_PORTS; p++)
		free(rig->by_port[p]);
	free(rig);
}

/* Writes frame i as received, with or without a tag. Returns its length. */
static uint16_t
frame_write(struct l2_rig *rig, uint32_t i, const struct l2_form *form)
{
	struct l2_frame *frame = &rig->frames[i];
	const struct hy_l2_source *entry = &rig->macs->entries[frame->entry];
	const unsigned int in = 1 - l2_port_out(entry);
	const uint16_t tag = form->tagged_in ? TAG_LEN : 0;

	l2_header(entry, frame->bytes);
	if (form->sources && rig->nb_by_port[in] > 0)
		hy_l2_key_split(rig->macs
					->entries[rig->by_port[in][(rig->next + i * SCATTER) %
						rig->nb_by_port[in]]]
					.key,
			frame->bytes + 6);
	if (tag > 0) {
		memmove(frame->bytes + 12 + tag, frame->bytes + 12, 2);
		memcpy(frame->bytes + 12, (const uint8_t[]){ 0x81, 0, 0, L2_VID }, TAG_LEN);
	}
	memcpy(frame->bytes + INDEX_AT + tag, &i, sizeof(i));
	for (unsigned int b = INDEX_AT + sizeof(i); b < L2_FRAME_LEN; b++)
		frame->bytes[b + tag] = (uint8_t)(i + 31 * b);
	return (uint16_t)(L2_FRAME_LEN + tag);
}

/* Fills the receive rings with frames to the next entries. */
static void
fill(struct l2_rig *rig, const struct l2_form *form)
{
	const struct l2_macs *macs = rig->macs;

	rig->lap++;
	if (rte_pktmbuf_alloc_bulk(rig->pool, rig->mbufs, L2_FRAMES) < 0)
		bench_fail("l2: frames of an earlier lap are missing");
	for (uint32_t i = 0; i < L2_FRAMES; i++) {
		struct rte_mbuf *m = rig->mbufs[i];
		unsigned int in;

		rig->frames[i].entry = macs->turn[rig->next + i];
		rig->frames[i].seen = (uint16_t)(rig->lap - 1);
		in = 1 - l2_port_out(&macs->entries[rig->frames[i].entry]);
		m->data_len = frame_write(rig, i, form);
		m->pkt_len = m->data_len;
		m->port = rig->port[in];
		memcpy(rte_pktmbuf_mtod(m, void *), rig->frames[i].bytes, m->data_len);
		rte_ring_enqueue(rig->rx[in], m);
	}
	rig->next = (rig->next + L2_FRAMES) % (macs->parts * macs->part);
}

/* What a contender makes of a frame. Returns its length. */
static uint16_t
expected(const struct l2_rig *rig, const struct l2_frame *frame, const struct l2_form *form,
	uint8_t want[64])
{
	const unsigned int out = l2_port_out(&rig->macs->entries[frame->entry]);
	const unsigned int from = form->tagged_in ? 12 + TAG_LEN : 12;
	const unsigned int to = form->tagged_out ? 12 + TAG_LEN : 12;

	memcpy(want, frame->bytes, 12);
	if (form->macs_updated) {
		l2_next_mac(out, want);
		l2_port_mac(out, want + 6);
	}
	if (form->tagged_out)
		memcpy(want + 12, (const uint8_t[]){ 0x81, 0, 0, L2_VID }, TAG_LEN);
	memcpy(want + to, frame->bytes + from, L2_FRAME_LEN - 12);
	return (uint16_t)(to + L2_FRAME_LEN - 12);
}

const char *
l2_frame_check(struct l2_rig *rig, const struct l2_form *form, const uint8_t *got, uint32_t len,
	int port)
{
	struct l2_frame *frame;
	uint8_t want[64];
	uint32_t index;

	if (len != L2_FRAME_LEN + (form->tagged_out ? TAG_LEN : 0u))
		return "its length is wrong";
	memcpy(&index, got + INDEX_AT + (form->tagged_out ? TAG_LEN : 0), sizeof(index));
	if (index >= L2_FRAMES)
		return "it is none of the frames received";
	frame = &rig->frames[index];
	if (frame->seen == rig->lap)
		return "it was sent twice";
	frame->seen = rig->lap;
	if (port >= 0 && port != (int)l2_port_out(&rig->macs->entries[frame->entry]))
		return "it left by the wrong port";
	expected(rig, frame, form, want);
	return memcmp(got, want, len) == 0 ? NULL : "its content is wrong";
}

/* Takes all frames sent and checks them. */
static uint32_t
drain(struct l2_rig *rig, const struct l2_form *form, const char **wrong)
{
	struct rte_mbuf *m;
	uint32_t n = 0;

	for (int p = 0; p < L2_PORTS; p++) {
		while (rte_ring_dequeue(rig->tx[p], (void **)&m) == 0) {
			const char *what = m->nb_segs != 1
				? "it has segments"
				: l2_frame_check(rig, form, rte_pktmbuf_mtod(m, uint8_t *),
					  m->data_len, p);

			*wrong = what != NULL ? what : *wrong;
			rte_pktmbuf_free(m);
			n++;
		}
	}
	return n;
}

static bool
check(struct l2_rig *rig, const struct l2_way *way)
{
	const char *wrong = NULL;
	const uint32_t n = rig->kernel != NULL
		? l2_kernel_port_drain(rig->kernel, rig, &way->form, &wrong)
		: drain(rig, &way->form, &wrong);

	if (wrong != NULL)
		fprintf(stderr, "hy-bench: l2: %s: a frame is wrong: %s\n", way->name, wrong);
	else if (n != L2_FRAMES)
		fprintf(stderr, "hy-bench: l2: %s: of %u frames %u were sent\n", way->name,
			L2_FRAMES, n);
	else if (rte_mempool_avail_count(rig->pool) != L2_FRAMES)
		fprintf(stderr, "hy-bench: l2: %s: it keeps %u buffers\n", way->name,
			L2_FRAMES - rte_mempool_avail_count(rig->pool));
	else
		return true;
	return false;
}

/* After a wrong lap the work has no figures. */
double
l2_laps(struct l2_entrant *e)
{
	const uint64_t enough = rte_get_tsc_hz() / 1000000 * bench_settings()->round_us;
	const uint64_t start = rte_rdtsc();
	uint64_t cycles = 0, frames = 0;

	do {
		uint64_t before;

		if (e->wrong)
			return 1;
		fill(e->rig, &e->way.form);
		before = rte_rdtsc_precise();
		e->way.run(e->way.arg);
		cycles += rte_rdtsc_precise() - before;
		frames += L2_FRAMES;
		e->wrong = !check(e->rig, &e->way);
		e->laps++;
	} while (rte_rdtsc() - start < enough);
	return (double)cycles / (double)frames;
}

static double
figure(void *arg)
{
	return l2_laps(arg);
}

static bool
right(void *arg)
{
	const struct l2_entrant *e = arg;

	return e->laps > 0 && !e->wrong;
}

static void
leave(void *arg)
{
	struct l2_entrant *e = arg;

	e->way.free(e->way.arg);
	free(e);
}

void
l2_enter(struct field *f, struct l2_rig *rig, const struct l2_way *way, enum l2_role role)
{
	struct l2_entrant *e = way->arg == NULL ? NULL : bench_alloc(1, sizeof(*e));
	const struct contender c = { .name = way->name,
		.arg = e,
		.figure = figure,
		.check = right,
		.against = role == L2_PEER ? way->name : NULL,
		.subject = role == L2_SUBJECT };

	if (e != NULL)
		*e = (struct l2_entrant){ .rig = rig, .way = *way };
	field_enter(f, &c, leave);
}
