/* SPDX-License-Identifier: BSD-3-Clause */
/* The form of flow rules for Acme's NICs, and the limits of these NICs. */

#include <netinet/in.h>

#include <hy_flow.h>

HY_FLOW_DRIVER(acme,
	.driver = "net_pcap*",
	.source = "the manual of Acme's NICs, chapter 7",
	.fields = HY_FLOW_5_TUPLE,                  /* addresses, protocol, ports only */
	.protocols = { IPPROTO_TCP, IPPROTO_UDP },  /* one table each */
	.mark_max = 0xffff,
	.priorities = 1,                            /* rules must not overlap */
	.fate = HY_FLOW_FATE_RSS); /* MARK alone sends all packets to queue 0 */
