/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules and frames; see datapath_traffic.h. */

#include <stdio.h>
#include <string.h>

#include "app/test/nodes/node_fixture.h"

#include "datapath_traffic.h"

#define COOKIES 64

void
datapath_rule(char *text, size_t size, bool selects, uint64_t *seed)
{
	static const char *const protocols[] = { "udp", "tcp", "ip" };
	const uint32_t cookie = 1 + rnd(seed) % (COOKIES - 1), which = rnd(seed) % 3;
	char match[128] = "", actions[64] = "";
	size_t n = 0;

	n += (size_t)snprintf(match + n, sizeof(match) - n, "%s", protocols[which]);
	if (rnd(seed) % 4 != 0)
		n += (size_t)snprintf(match + n, sizeof(match) - n, ",nw_dst=10.0.0.%u/%u",
			rnd(seed) % 8, (unsigned int)(rnd(seed) % 2 == 0 ? 32 : 30));
	if (rnd(seed) % 4 == 0)
		n += (size_t)snprintf(match + n, sizeof(match) - n, ",nw_src=10.1.0.%u",
			rnd(seed) % 2);
	if (which < 2 && rnd(seed) % 2 == 0)
		n += (size_t)snprintf(match + n, sizeof(match) - n, ",tp_dst=%u", rnd(seed) % 4);
	if (rnd(seed) % 8 == 0)
		snprintf(match + n, sizeof(match) - n, ",dl_vlan=5");
	if (!selects)
		snprintf(actions, sizeof(actions),
			rnd(seed) % 3 == 0 ? " actions=drop"
				: rnd(seed) % 4 == 0
				? " actions=dec_ttl,set_field:%u->pkt_mark,output:2"
				: " actions=set_field:%u->pkt_mark,output:2",
			cookie);
	snprintf(text, size, "%s%u,%s%s",
		selects ? "table=0,priority=" : "priority=", rnd(seed) % 4, match, actions);
	if (!selects)
		snprintf(text, size, "cookie=%u,priority=%u,%s%s", cookie, rnd(seed) % 4, match,
			actions);
}

uint32_t
datapath_frame(uint8_t *frame, uint64_t *seed)
{
	struct frame_spec spec = { .dst = IP4(10, 0, 0, rnd(seed) % 8),
		.ttl = (uint8_t[]){ 1, 64, 63, 128 }[rnd(seed) % 4],
		.payload = FRAME_LEN - 34 };
	const bool tagged = rnd(seed) % 4 == 0;
	uint8_t *ip = frame + 14;

	frame_write(frame, &spec);
	ip[9] = rnd(seed) % 8 == 0 ? 1 : rnd(seed) % 2 == 0 ? 17 : 6;
	ip[12] = 10;
	ip[13] = 1;
	ip[14] = 0;
	ip[15] = (uint8_t)(rnd(seed) % 2);
	if (rnd(seed) % 8 == 0) { /* a fragment */
		ip[6] = rnd(seed) % 2 == 0 ? 0x20 : 0;
		ip[7] = ip[6] == 0;
	}
	memset(ip + 20, 0, 20);
	ip[21] = 9;
	ip[23] = (uint8_t)(rnd(seed) % 4);
	ip[32] = 0x50; /* TCP's offset */
	frame_sum(frame);
	if (!tagged)
		return FRAME_LEN;
	memmove(frame + 16, frame + 12, FRAME_LEN - 12);
	memcpy(frame + 12, (const uint8_t[]){ 0x81, 0, 0, (uint8_t)(4 + rnd(seed) % 2) }, 4);
	return FRAME_LEN + 4;
}
