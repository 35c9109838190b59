/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys of frames at the end of readable memory; see key_fixture.h. */

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "key_fixture.h"

static uint8_t *page; /* between two that cannot be read */
static size_t page_size;

struct hy_flow_key
key_of_piece(const uint8_t *frame, uint32_t piece, uint32_t len)
{
	struct hy_flow_key key;
	uint8_t *pages, *at;

	if (page == NULL) {
		page_size = (size_t)sysconf(_SC_PAGESIZE);
		pages = mmap(NULL, 3 * page_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		assert_ptr_not_equal(pages, MAP_FAILED);
		page = pages + page_size;
		assert_int_equal(mprotect(page, page_size, PROT_READ | PROT_WRITE), 0);
	}
	at = page + page_size - piece;
	memcpy(at, frame, piece);
	memset(&key, 0xa5, sizeof(key));
	hy_flow_key(at, len, &key);
	return key;
}

struct hy_flow_key
key_of(const uint8_t *frame, uint32_t len)
{
	return key_of_piece(frame, RTE_MIN(len, (uint32_t)HY_FLOW_HEADERS), len);
}

static void
print_key(const struct hy_flow_key *k)
{
	print_error("  has %x mac %" PRIx64 " %" PRIx64 " type %x vlan %u src %x:%x:%x:%x "
		    "dst %x:%x:%x:%x proto %u dscp %u ports %u %u tunnel %u flags %x icmp %u %u "
		    "fragment %u\n",
		k->has, k->src_mac, k->dst_mac, k->ether_type, k->vlan, k->src6[0], k->src6[1],
		k->src6[2], k->src6[3], k->dst6[0], k->dst6[1], k->dst6[2], k->dst6[3], k->proto,
		k->dscp, k->sport, k->dport, k->tunnel, k->tcp_flags, k->icmp_type, k->icmp_code,
		k->fragment);
}

void
assert_key(const struct hy_flow_key *got, const struct hy_flow_key *want, const char *what)
{
	if (memcmp(got, want, sizeof(*got)) == 0)
		return;
	print_key(got);
	print_key(want);
	fail_msg("%s: the first key is not the second", what);
}
