/* SPDX-License-Identifier: BSD-3-Clause */
/* See bench_l3fwd_fixture.h. */

#include "bench_l3fwd_fixture.h"

struct l3fwd_table *table;
struct l3fwd_traffic *traffic;
struct l3fwd_rig rig;

static uint32_t
route6(struct rte_mbuf *m)
{
	uint8_t dst[HY_IP6_BYTES];
	uint32_t hop;

	memcpy(dst, &ip6_of(m)->dst_addr, sizeof(dst));
	hop = table_hop6(table, dst);
	if (hop == HOP_NONE)
		return hop;
	l2_of(m)->dst_addr = l3fwd_hop_mac(hop);
	l2_of(m)->src_addr = l3fwd_port_mac(hop_port(hop));
	ip6_of(m)->hop_limits--;
	return hop;
}

uint32_t
route(struct rte_mbuf *m)
{
	uint32_t hop;

	if (l2_of(m)->ether_type == RTE_BE16(RTE_ETHER_TYPE_IPV6))
		return route6(m);
	hop = table_hop(table, rte_be_to_cpu_32(ip_of(m)->dst_addr));
	if (hop == HOP_NONE)
		return hop;
	*l2_of(m) = l3fwd_hop_header(hop);
	ip_of(m)->time_to_live--;
	sum_write(m);
	return hop;
}

uint64_t
forward(fault_t *fault, unsigned int odd)
{
	struct rte_mbuf *m;
	unsigned int number = 0;
	uint64_t drops = 0;

	for (unsigned int p = 0; p < rig.nb_ports; p++) {
		while (rte_eth_rx_burst(rig.port[USERS_ALL][p], 0, &m, 1) == 1) {
			const uint32_t hop = route(m);
			unsigned int port = hop_port(hop);

			if (fault != NULL && number++ == odd)
				fault(m, &port);
			if (port < rig.nb_ports) {
				assert_int_equal(rte_eth_tx_burst(rig.port[USERS_ALL][port], 0, &m,
							 1),
					1);
			} else {
				drops++;
				rte_pktmbuf_free(m);
			}
		}
	}
	return drops;
}

/* The destination of packet i, with a route or without. */
static struct l3fwd_address
destination(unsigned int i, bool lost, bool is_ip6)
{
	struct l3fwd_address dst = { .is_ip6 = is_ip6 };

	dst.ip4 = lost ? IP4(203, 0, 113, 1) : table->routes[i % 8].prefix + i;
	if (is_ip6)
		table_address6(&table->routes6[i % 8], i, dst.ip6);
	if (is_ip6 && lost)
		dst.ip6[5] = 1;
	return dst;
}

int
setup_with(unsigned int lost, bool ip6, unsigned int ip4_every)
{
	static bool ports;
	struct l3fwd_address dst[PACKETS];

	stand_in_noted[0] = stand_in_wrong[0] = '\0';
	memset(&stand_in_skipped, 0, sizeof(stand_in_skipped));
	if (!ports)
		assert_int_equal(rig_ports(1), 0);
	ports = true;
	table = table_eight(TABLE_EIGHT, PORTS);
	table_eight6(table);
	for (unsigned int i = 0; i < PACKETS; i++)
		dst[i] = destination(i, i % 100 < lost,
			ip6 && (ip4_every == 0 || i % ip4_every > 0));
	traffic = traffic_create(dst, PACKETS, TTL, table);
	assert_int_equal(rig_open(&rig, 0, PORTS, false, traffic), 0);
	return 0;
}

int
setup(void **state)
{
	RTE_SET_USED(state);
	return setup_with(0, false, 0);
}

int
teardown(void **state)
{
	RTE_SET_USED(state);
	rig_close(&rig);
	table_free(table);
	return 0;
}
