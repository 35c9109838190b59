/* SPDX-License-Identifier: BSD-3-Clause */
/* What a capture takes of packets, in any segmentation, and files that cannot be written. */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <hy_mbuf.h>
#include <hy_pcapng.h>

#include "node_fixture.h"

static void
expect_copy(struct rte_mbuf *m, const uint8_t *frame, uint32_t len, uint32_t size)
{
	static union {
		struct hy_capture_record record;
		uint8_t bytes[sizeof(struct hy_capture_record) + FRAME_MAX + 1];
	} to;
	const uint32_t n = RTE_MIN(len, size);

	memset(to.bytes, 0xa5, sizeof(to.bytes));
	m->port = 7;
	assert_int_equal(hy_mbuf_ops.copy(m, &to.record, size), n);
	assert_int_equal(to.record.length, len);
	assert_int_equal(to.record.origin, 7);
	assert_memory_equal(to.record.data, frame, n);
	assert_int_equal(to.record.data[n], 0xa5);
	rte_pktmbuf_free(m);
}

static void
a_frame_is_copied_whatever_its_segments(void **state)
{
	uint8_t frame[FRAME_MAX];
	const uint32_t len = FRAME(frame, .payload = 200);

	RTE_SET_USED(state);
	for (uint32_t size = 1; size <= len + 1; size += 13) {
		expect_copy(packet(frame, len), frame, len, size);
		expect_copy(packet_cut(frame, len, 20), frame, len, size);
		expect_copy(packet_pieces(frame, len, 1), frame, len, size);
	}
}

static void
a_file_that_cannot_be_begun_is_no_file(void **state)
{
	struct hy_pcapng *file = NULL;

	RTE_SET_USED(state);
	assert_int_equal(hy_pcapng_open("/nowhere/file", "test", 64, &file), -ENOENT);
	assert_int_equal(hy_pcapng_open("/dev/full", "test", 64, &file), -ENOSPC);
	unit_alloc_fail(1);
	assert_int_equal(hy_pcapng_open("/dev/null", "test", 64, &file), -ENOMEM);
	unit_alloc_fail(0);
	assert_null(file);
	assert_int_equal(hy_pcapng_close(NULL), 0);
}

/* Limits how long a file may become; returns the limit before. */
static struct rlimit
limit_files(rlim_t size)
{
	struct rlimit before, now;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	now = before;
	now.rlim_cur = size;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &now), 0);
	return before;
}

static void
a_write_that_fails_is_told_from_then_on(void **state)
{
	static union {
		struct hy_capture_record record;
		uint8_t bytes[sizeof(struct hy_capture_record) + 1000];
	} one = { .record = { .length = 1000, .size = 1000 } };
	const struct hy_pcapng_point point = { .comment = "here", .port = HY_PCAPNG_OWN_PORT };
	char path[] = "/tmp/hy-test-pcapng-XXXXXX";
	const int fd = mkstemp(path);
	struct hy_pcapng *file;
	struct rlimit before;

	RTE_SET_USED(state);
	assert_return_code(fd, errno);
	signal(SIGXFSZ, SIG_IGN);
	before = limit_files(2000);
	assert_int_equal(hy_pcapng_open(path, "test", 64, &file), 0);
	assert_int_equal(hy_pcapng_write(file, &one.record, &point), 0);
	assert_int_equal(hy_pcapng_flush(file), 0);
	hy_pcapng_write(file, &one.record, &point); /* may wait in a buffer */
	assert_int_equal(hy_pcapng_flush(file), -EFBIG);
	limit_files(before.rlim_cur);
	signal(SIGXFSZ, SIG_DFL);
	assert_int_equal(hy_pcapng_write(file, &one.record, &point), -EFBIG);
	assert_int_equal(hy_pcapng_flush(file), -EFBIG);
	assert_int_equal(hy_pcapng_close(file), -EFBIG);
	close(fd);
	unlink(path);
}

static const struct CMUnitTest node_capture_tests[] = {
	NODE_TEST(a_frame_is_copied_whatever_its_segments),
	NODE_TEST(a_file_that_cannot_be_begun_is_no_file),
	NODE_TEST(a_write_that_fails_is_told_from_then_on),
};

UNIT_SUITE(node_capture_tests)
