/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * net_replay: a port that gives packets of generated flows as fast as they are taken, and counts and frees
 * those it sends. Loaded with -d into any DPDK program, so that two switches get the same load.
 *
 * --vdev=net_replay0,file=FILE[,flows=N][,seed=S][,size=BYTES]
 *
 * FILE is mapped by the port and by whoever measures: struct meter. No packet comes before `limit` is set.
 * Flow numbers are drawn at random; a flow's addresses and ports follow from its number and the seed.
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ethdev_driver.h>
#include <ethdev_vdev.h>
#include <rte_cycles.h>
#include <rte_ip.h>
#include <rte_kvargs.h>
#include <rte_udp.h>

#include "lib/graph/internal/dpdk.h"

#define BURST 32
#define QUEUES 8
#define SIZE_LEAST 64
#define SIZE_MOST 1518

/* In FILE; each line of the CPU's cache has one writer. 0 in a new file. */
struct meter {
	uint64_t limit; /* by whoever measures: packets to give in all */
	uint64_t spare[7];
	uint64_t given, no_buffer, given_tsc; /* tsc: of the last burst */
	uint64_t spare2[5];
	uint64_t sent, sent_bytes, sent_tsc;
	uint64_t spare3[5];
};

struct headers {
	struct rte_ether_hdr ether;
	struct rte_ipv4_hdr ip;
	struct rte_udp_hdr udp;
};

_Static_assert(sizeof(struct headers) == 42, "headers follow each other");

/* What differs between flows: the bytes from the checksum of IPv4 to the ports. */
struct flow {
	rte_be16_t checksum;
	unaligned_uint32_t src, dst;
	rte_be16_t sport, dport;
} __attribute__((packed));

#define FLOW_AT 24

_Static_assert(sizeof(struct flow) == 14, "fields follow each other");

struct replay {
	struct meter *meter;
	struct rte_mempool *pool;
	uint64_t chance, seed, flows;
	uint32_t size, sum; /* sum: of the words of the IP header that all packets share */
	struct rte_ether_addr mac;
	struct rte_eth_dev_data *data;
	uint8_t frame[SIZE_MOST] __rte_cache_aligned;
};

static const char *const arguments[] = { "file", "flows", "seed", "size", NULL };

/* splitmix64 */
static inline uint64_t
mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* The next flow's hash, of which its fields are parts. */
static inline uint64_t
draw(struct replay *r)
{
	r->chance = r->chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return mix(((r->chance >> 32) * r->flows >> 32) + r->seed * UINT64_C(0x9e3779b97f4a7c15));
}

/* 172.16.0.0/12 to 10.0-3.0-3.x, from any port to 1000 to 1007. */
static inline void
packet_write(const struct replay *r, struct rte_mbuf *m, uint64_t hash)
{
	uint8_t *frame = (uint8_t *)m->buf_addr + RTE_PKTMBUF_HEADROOM;
	const uint32_t src = 0xac100000 | (hash & 0xfffff);
	const uint32_t dst = 0x0a000000 | (hash >> 36 & 3) << 16 | (hash >> 38 & 3) << 8 |
		(hash >> 40 & 0xff);
	struct flow flow;
	uint32_t sum = r->sum + (src >> 16) + (src & 0xffff) + (dst >> 16) + (dst & 0xffff);

	rte_mov64(frame, r->frame);
	if (unlikely(r->size > SIZE_LEAST))
		memcpy(frame + SIZE_LEAST, r->frame + SIZE_LEAST, r->size - SIZE_LEAST);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	flow.checksum = rte_cpu_to_be_16((uint16_t)~sum);
	flow.src = rte_cpu_to_be_32(src);
	flow.dst = rte_cpu_to_be_32(dst);
	flow.sport = rte_cpu_to_be_16((uint16_t)(hash >> 20));
	flow.dport = rte_cpu_to_be_16((uint16_t)(1000 + (hash >> 48 & 7)));
	memcpy(frame + FLOW_AT, &flow, sizeof(flow));
	m->data_off = RTE_PKTMBUF_HEADROOM;
	m->data_len = (uint16_t)r->size;
	m->pkt_len = r->size;
	m->port = r->data->port_id;
	m->vlan_tci = 0;
	m->ol_flags = RTE_MBUF_F_RX_RSS_HASH | RTE_MBUF_F_RX_IP_CKSUM_GOOD |
		RTE_MBUF_F_RX_L4_CKSUM_GOOD;
	m->packet_type = RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4 | RTE_PTYPE_L4_UDP;
	m->hash.rss = (uint32_t)(hash >> 32) ^ (uint32_t)hash;
}

static uint16_t
rx(void *queue, struct rte_mbuf **mbufs, uint16_t n)
{
	struct replay *r = queue;
	struct meter *meter = r->meter;
	const uint64_t limit = __atomic_load_n(&meter->limit, __ATOMIC_RELAXED);

	if (r->flows == 0 || meter->given >= limit)
		return 0;
	n = (uint16_t)RTE_MIN((uint64_t)RTE_MIN(n, (uint16_t)BURST), limit - meter->given);
	/* As drivers do: a free buffer is whole, and what a packet needs is written once. */
	if (rte_mempool_get_bulk(r->pool, (void **)mbufs, n) < 0) {
		meter->no_buffer++;
		return 0;
	}
	for (uint16_t i = 0; i < n; i++)
		packet_write(r, mbufs[i], draw(r));
	meter->given_tsc = rte_rdtsc();
	__atomic_store_n(&meter->given, meter->given + n, __ATOMIC_RELAXED);
	return n;
}

/* A port has one worker that sends: programs that share a queue lock it. */
static uint16_t
tx(void *queue, struct rte_mbuf **mbufs, uint16_t n)
{
	struct meter *meter = ((struct replay *)queue)->meter;
	uint64_t bytes = 0;

	if (n == 0)
		return 0;
	for (uint16_t i = 0; i < n; i++)
		bytes += mbufs[i]->pkt_len;
	rte_pktmbuf_free_bulk(mbufs, n);
	meter->sent_tsc = rte_rdtsc();
	meter->sent_bytes += bytes;
	__atomic_store_n(&meter->sent, meter->sent + n, __ATOMIC_RELAXED);
	return n;
}

static int
nothing(struct rte_eth_dev *dev __rte_unused)
{
	return 0;
}

static int
start(struct rte_eth_dev *dev)
{
	dev->data->dev_link.link_status = RTE_ETH_LINK_UP;
	return 0;
}

static int
stop(struct rte_eth_dev *dev)
{
	dev->data->dev_link.link_status = RTE_ETH_LINK_DOWN;
	return 0;
}

static int
close_port(struct rte_eth_dev *dev)
{
	struct replay *r = dev->data->dev_private;

	if (rte_eal_process_type() == RTE_PROC_PRIMARY && r->meter != NULL)
		munmap(r->meter, sizeof(*r->meter));
	r->meter = NULL;
	dev->data->mac_addrs = NULL; /* lies in dev_private, which ethdev frees */
	return 0;
}

static int
info(struct rte_eth_dev *dev __rte_unused, struct rte_eth_dev_info *to)
{
	to->max_mac_addrs = 1;
	to->max_rx_pktlen = RTE_ETHER_MAX_JUMBO_FRAME_LEN;
	to->max_mtu = RTE_ETHER_MAX_JUMBO_FRAME_LEN;
	to->max_rx_queues = 1;
	to->max_tx_queues = QUEUES;
	to->rx_offload_capa = RTE_ETH_RX_OFFLOAD_RSS_HASH | RTE_ETH_RX_OFFLOAD_CHECKSUM;
	to->tx_offload_capa = RTE_ETH_TX_OFFLOAD_MULTI_SEGS | RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
	to->flow_type_rss_offloads = RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP;
	return 0;
}

static int
mtu_set(struct rte_eth_dev *dev __rte_unused, uint16_t mtu __rte_unused)
{
	return 0;
}

static int
link_update(struct rte_eth_dev *dev, int wait __rte_unused)
{
	dev->data->dev_link.link_speed = RTE_ETH_SPEED_NUM_100G;
	dev->data->dev_link.link_duplex = RTE_ETH_LINK_FULL_DUPLEX;
	return 0;
}

static int
rx_queue_setup(struct rte_eth_dev *dev, uint16_t queue, uint16_t nb_desc __rte_unused,
	unsigned int socket __rte_unused, const struct rte_eth_rxconf *conf __rte_unused,
	struct rte_mempool *pool)
{
	struct replay *r = dev->data->dev_private;

	if (rte_pktmbuf_data_room_size(pool) < RTE_PKTMBUF_HEADROOM + r->size) {
		RTE_LOG(ERR, USER1, "net_replay: buffers have no room for size=%u\n", r->size);
		return -EINVAL;
	}
	r->pool = pool;
	dev->data->rx_queues[queue] = r;
	return 0;
}

static int
tx_queue_setup(struct rte_eth_dev *dev, uint16_t queue, uint16_t nb_desc __rte_unused,
	unsigned int socket __rte_unused, const struct rte_eth_txconf *conf __rte_unused)
{
	dev->data->tx_queues[queue] = dev->data->dev_private;
	return 0;
}

static int
totals(struct rte_eth_dev *dev, struct rte_eth_stats *stats)
{
	const struct replay *r = dev->data->dev_private;

	stats->ipackets = __atomic_load_n(&r->meter->given, __ATOMIC_RELAXED);
	stats->ibytes = stats->ipackets * r->size;
	stats->opackets = __atomic_load_n(&r->meter->sent, __ATOMIC_RELAXED);
	stats->obytes = r->meter->sent_bytes;
	stats->rx_nombuf = r->meter->no_buffer;
	return 0;
}

#if HY_DPDK_QUEUE_STATS
static int
totals_get(struct rte_eth_dev *dev, struct rte_eth_stats *stats,
	struct eth_queue_stats *queues __rte_unused)
{
	return totals(dev, stats);
}
#else
#define totals_get totals
#endif

static const struct eth_dev_ops ops = {
	.dev_configure = nothing,
	.dev_start = start,
	.dev_stop = stop,
	.dev_close = close_port,
	.dev_infos_get = info,
	.mtu_set = mtu_set,
	.link_update = link_update,
	.promiscuous_enable = nothing,
	.promiscuous_disable = nothing,
	.allmulticast_enable = nothing,
	.allmulticast_disable = nothing,
	.rx_queue_setup = rx_queue_setup,
	.tx_queue_setup = tx_queue_setup,
	.stats_get = totals_get,
};

static void
frame_write(struct replay *r)
{
	struct headers *h = (struct headers *)r->frame;
	const uint16_t *word = (const uint16_t *)&h->ip;

	memcpy(h->ether.dst_addr.addr_bytes, "\x02\0\0\0\0\x01", RTE_ETHER_ADDR_LEN);
	memcpy(h->ether.src_addr.addr_bytes, "\x02\0\0\0\0\x02", RTE_ETHER_ADDR_LEN);
	h->ether.ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	h->ip.version_ihl = RTE_IPV4_VHL_DEF;
	h->ip.total_length = rte_cpu_to_be_16((uint16_t)(r->size - sizeof(h->ether)));
	h->ip.time_to_live = 64;
	h->ip.next_proto_id = IPPROTO_UDP;
	h->udp.dgram_len = rte_cpu_to_be_16((uint16_t)(r->size - sizeof(h->ether) - sizeof(h->ip)));
	for (size_t i = 0; i < sizeof(h->ip) / sizeof(*word); i++)
		r->sum += rte_be_to_cpu_16(word[i]);
}

static int
number(const char *key, const char *value, void *to)
{
	const bool size = strcmp(key, "size") == 0;
	const uint64_t least = size ? SIZE_LEAST : 0, most = size ? SIZE_MOST : UINT32_MAX;
	char *end;
	const unsigned long long n = strtoull(value, &end, 10);

	if (*value < '0' || *value > '9' || *end != '\0' || n < least || n > most) {
		RTE_LOG(ERR, USER1, "net_replay: %s=%s: %ju to %ju are accepted\n", key, value,
			(uintmax_t)least, (uintmax_t)most);
		return -EINVAL;
	}
	*(uint64_t *)to = n;
	return 0;
}

/* Maps the file; one that is shorter becomes longer. */
static int
meter_map(const char *key __rte_unused, const char *path, void *to)
{
	struct replay *r = to;
	const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *at = MAP_FAILED;
	struct stat is;
	int rc = 0;

	if (fd < 0 || fstat(fd, &is) < 0 ||
		(is.st_size < (off_t)sizeof(struct meter) &&
			ftruncate(fd, sizeof(struct meter)) < 0) ||
		(at = mmap(NULL, sizeof(struct meter), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			 0)) == MAP_FAILED) {
		rc = -errno;
		RTE_LOG(ERR, USER1, "net_replay: file=%s: %s\n", path, strerror(errno));
	} else {
		r->meter = at;
	}
	if (fd >= 0)
		close(fd);
	return rc;
}

static int
arguments_read(struct replay *r, const char *text)
{
	struct rte_kvargs *given = rte_kvargs_parse(text, arguments);
	uint64_t size = SIZE_LEAST;
	int rc = -EINVAL;

	if (given == NULL) {
		RTE_LOG(ERR, USER1, "net_replay: '%s': file, flows, seed and size are accepted\n",
			text);
	} else if (rte_kvargs_count(given, "file") != 1) {
		RTE_LOG(ERR, USER1, "net_replay: file=FILE is needed, once\n");
	} else if (rte_kvargs_process(given, "flows", number, &r->flows) == 0 &&
		rte_kvargs_process(given, "seed", number, &r->seed) == 0 &&
		rte_kvargs_process(given, "size", number, &size) == 0 &&
		rte_kvargs_process(given, "file", meter_map, r) == 0) {
		r->size = (uint32_t)size;
		rc = 0;
	}
	rte_kvargs_free(given);
	return rc;
}

static int
probe(struct rte_vdev_device *vdev)
{
	struct rte_eth_dev *dev = rte_eth_vdev_allocate(vdev, sizeof(struct replay));
	struct replay *r;
	int rc;

	if (dev == NULL)
		return -ENOMEM;
	r = dev->data->dev_private;
	r->data = dev->data;
	rc = arguments_read(r, rte_vdev_device_args(vdev));
	if (rc < 0) {
		rte_eth_dev_release_port(dev);
		return rc;
	}
	r->chance = r->seed;
	r->mac.addr_bytes[0] = 2;
	r->mac.addr_bytes[5] = (uint8_t)(0x10 + dev->data->port_id);
	frame_write(r);
	dev->data->mac_addrs = &r->mac;
	dev->data->dev_link.link_speed = RTE_ETH_SPEED_NUM_100G;
	dev->data->dev_link.link_duplex = RTE_ETH_LINK_FULL_DUPLEX;
	dev->dev_ops = &ops;
	dev->rx_pkt_burst = rx;
	dev->tx_pkt_burst = tx;
	rte_eth_dev_probing_finish(dev);
	return 0;
}

static int
vdev_remove(struct rte_vdev_device *vdev)
{
	struct rte_eth_dev *dev = rte_eth_dev_allocated(rte_vdev_device_name(vdev));

	if (dev == NULL)
		return 0;
	close_port(dev);
	return rte_eth_dev_release_port(dev);
}

static struct rte_vdev_driver driver = { .probe = probe, .remove = vdev_remove };

RTE_PMD_REGISTER_VDEV(net_replay, driver);
RTE_PMD_REGISTER_PARAM_STRING(net_replay, "file=<path> flows=<n> seed=<n> size=<bytes>");
