/* SPDX-License-Identifier: BSD-3-Clause */
/* What a capture takes of packets, in any segmentation, and files that cannot be written. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
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
	const int full = open("/dev/full", O_WRONLY);
	struct hy_pcapng *file = NULL;

	RTE_SET_USED(state);
	assert_int_equal(hy_pcapng_open(-1, "test", 64, &file), -EBADF);
	assert_return_code(full, errno);
	assert_int_equal(hy_pcapng_open(full, "test", 64, &file), -ENOSPC);
	unit_alloc_fail(1);
	assert_int_equal(hy_pcapng_open(full, "test", 64, &file), -ENOMEM);
	unit_alloc_fail(0);
	assert_null(file);
	close(full);
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
	struct stat whole, cut;

	RTE_SET_USED(state);
	assert_return_code(fd, errno);
	signal(SIGXFSZ, SIG_IGN);
	before = limit_files(2000);
	assert_int_equal(hy_pcapng_open(fd, "test", 64, &file), 0);
	assert_int_equal(hy_pcapng_write(file, &one.record, &point), 0);
	assert_int_equal(hy_pcapng_flush(file), 0);
	assert_int_equal(hy_pcapng_packets(file), 1);
	assert_return_code(stat(path, &whole), errno);
	hy_pcapng_write(file, &one.record, &point); /* may wait in a buffer */
	assert_int_equal(hy_pcapng_flush(file), -EFBIG);
	assert_int_equal(hy_pcapng_packets(file), 1);
	assert_return_code(stat(path, &cut), errno);
	assert_int_equal(cut.st_size, whole.st_size);
	limit_files(before.rlim_cur);
	signal(SIGXFSZ, SIG_DFL);
	assert_int_equal(hy_pcapng_write(file, &one.record, &point), -EFBIG);
	assert_int_equal(hy_pcapng_flush(file), -EFBIG);
	assert_int_equal(hy_pcapng_close(file), -EFBIG);
	unlink(path);
}

/* A pipe that is full takes a packet in parts, and no more until it is read. */
static void
a_pipe_that_is_full_is_waited_for_by_nobody(void **state)
{
	static union {
		struct hy_capture_record record;
		uint8_t bytes[sizeof(struct hy_capture_record) + 1000];
	} one = { .record = { .length = 1000, .size = 1000 } };
	const struct hy_pcapng_point point = { .comment = "here", .port = HY_PCAPNG_OWN_PORT };
	static uint8_t read_from[1 << 20];
	unsigned int taken = 0;
	struct hy_pcapng *file;
	uint64_t whole;
	int fds[2];

	RTE_SET_USED(state);
	assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
	assert_int_equal(hy_pcapng_open(fds[1], "test", 0, &file), 0);
	while (hy_pcapng_write(file, &one.record, &point) == 0)
		assert_in_range(++taken, 1, 1000);
	assert_int_equal(hy_pcapng_write(file, &one.record, &point), -EAGAIN);
	assert_int_equal(hy_pcapng_flush(file), -EAGAIN);
	whole = hy_pcapng_packets(file);
	assert_in_range(whole, 1, taken - 1);
	assert_in_range(read(fds[0], read_from, sizeof(read_from)), whole * 1000,
		sizeof(read_from));
	assert_int_equal(hy_pcapng_write(file, &one.record, &point), -EAGAIN);
	assert_in_range(hy_pcapng_packets(file), whole + 1, taken - 1);
	while (hy_pcapng_flush(file) == -EAGAIN)
		assert_in_range(read(fds[0], read_from, sizeof(read_from)), 1, sizeof(read_from));
	assert_int_equal(hy_pcapng_packets(file), taken);
	assert_int_equal(hy_pcapng_close(file), 0);
	close(fds[0]);
}

static const struct CMUnitTest node_capture_tests[] = {
	NODE_TEST(a_frame_is_copied_whatever_its_segments),
	NODE_TEST(a_file_that_cannot_be_begun_is_no_file),
	NODE_TEST(a_write_that_fails_is_told_from_then_on),
	NODE_TEST(a_pipe_that_is_full_is_waited_for_by_nobody),
};

UNIT_SUITE(node_capture_tests)
