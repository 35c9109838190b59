/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels that check IPv6 headers against the scalar one, on frames that end where a page ends,
 * behind which nothing can be read: bursts of each length, with one frame unlike the others at each
 * place.
 */

#include <sys/mman.h>
#include <unistd.h>

#include "drivers/nodes/generic/classify/pkt_cls_ip6.h"
#include "ip6_fixture.h"

#define MOST 49 /* three vectors of 16, and one more */

enum odd { NONE, TOO_SHORT, VERSION, LONG_PAYLOAD, JUMBOGRAM, TO_ALL, FROM_NOWHERE, OPTIONS, ODDS };

static const struct {
	const char *name;
	pkt_cls_ip6_pass_t *pass;
} kernels[] = {
#ifdef RTE_ARCH_X86_64
	{ "avx2", pkt_cls_ip6_pass_avx2 },
	{ "avx512", pkt_cls_ip6_pass_avx512 },
#elif defined(RTE_ARCH_ARM64)
	{ "neon", pkt_cls_ip6_pass_neon },
#endif
};

static uint8_t *ends[MOST]; /* of pages */

static void
pages_make(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (unsigned int i = 0; i < MOST; i++) {
		uint8_t *at = mmap(NULL, 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		assert_true(at != MAP_FAILED);
		assert_int_equal(mprotect(at, page, PROT_READ | PROT_WRITE), 0);
		ends[i] = at + page;
	}
}

static void
pages_unmake(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (unsigned int i = 0; i < MOST; i++)
		assert_int_equal(munmap(ends[i] - page, 2 * page), 0);
}

/* Writes a frame to the end of a page. Returns its length. */
static uint32_t
frame_put(unsigned int i, enum odd odd, const uint8_t **frame)
{
	uint8_t bytes[HY_PKT_CLS_IP6_LEAST + 7];
	const uint32_t len = HY_PKT_CLS_IP6_LEAST + i % 8,
		       put = len - (odd == TOO_SHORT) * (i % 8 + 1);

	ip6_frame(bytes, len);
	bytes[14] ^= odd == VERSION ? 0x20 : 0;
	bytes[19] = (uint8_t)(bytes[19] + (odd == LONG_PAYLOAD));
	if (odd == JUMBOGRAM)
		bytes[18] = bytes[19] = bytes[IP6_PROTO] = 0;
	bytes[IP6_DST] = odd == TO_ALL ? 0xff : bytes[IP6_DST];
	if (odd == FROM_NOWHERE)
		memset(bytes + 22, 0, HY_IP6_BYTES);
	if (odd == OPTIONS && i % 8 > 0)
		bytes[IP6_PROTO] = IPPROTO_HOPOPTS;
	*frame = memcpy(ends[i] - put, bytes, put);
	return put;
}

/* Returns how many frames pass. */
static uint32_t
burst_compare(unsigned int k, uint32_t n, uint32_t at, enum odd odd)
{
	const uint8_t *frame[MOST];
	uint32_t len[MOST], options[2] = { 0 }, passed[2];

	for (unsigned int i = 0; i < n; i++)
		len[i] = frame_put(i, i == at ? odd : NONE, &frame[i]);
	passed[0] = pkt_cls_ip6_pass(frame, len, &options[0], n);
	passed[1] = kernels[k].pass(frame, len, &options[1], n);
	if (passed[0] != passed[1] || options[0] != options[1])
		fail_msg("%s, %u frames, %u unlike by %d: %u pass with %u options, and %u with %u",
			kernels[k].name, n, at, (int)odd, passed[1], options[1], passed[0],
			options[0]);
	return passed[0];
}

static void
checks_agree_on_frames_at_the_end_of_memory(void **state)
{
	unsigned int compared = 0, stopped[ODDS] = { 0 };

	RTE_SET_USED(state);
	pages_make();
	for (unsigned int k = 0; k < RTE_DIM(kernels); k++) {
		if (!ip6_can_run(kernels[k].name))
			continue;
		for (uint32_t n = 1; n <= MOST; n++)
			for (uint32_t at = 0; at < n; at++)
				for (enum odd odd = NONE; odd < ODDS; odd++, compared++)
					stopped[odd] += burst_compare(k, n, at, odd) == at;
	}
	assert_int_equal(compared % (MOST * (MOST + 1) / 2 * ODDS), 0);
	for (enum odd odd = NONE; odd < ODDS && compared > 0; odd++)
		assert_int_equal(stopped[odd] > 0, odd != NONE && odd != OPTIONS);
	pages_unmake();
}

static const struct CMUnitTest ip6_tight_tests[] = {
	IP6_TEST(checks_agree_on_frames_at_the_end_of_memory),
};

UNIT_SUITE(ip6_tight_tests)
