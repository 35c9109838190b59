/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of captures share; see capture_fixture.h. */

#include <stdio.h>
#include <string.h>

#include "capture_fixture.h"

static size_t
obj_copy(const void *obj, struct hy_capture_record *record, size_t size)
{
	const uint32_t id = ((const struct obj *)obj)->id;

	record->length = OBJ_BYTES;
	record->origin = (uint16_t)(id + 100);
	size = RTE_MIN(size, (size_t)OBJ_BYTES);
	memset(record->data, (int)id, size);
	return size;
}

const struct hy_object_ops capture_ops = { .release = obj_release, .copy = obj_copy };

void
expect_taken(struct hy_graph *graph, const char *expected)
{
	static alignas(8) uint8_t buffer[2 * HY_CAPTURE_RECORD_MAX];
	const size_t size = hy_capture_read(graph, buffer, sizeof(buffer));
	const struct hy_capture_record *r = (const void *)buffer;
	char text[2048] = "";
	size_t at = 0;

	while ((const uint8_t *)r < buffer + size && at < sizeof(text)) {
		const uint16_t id = (uint16_t)(r->origin - 100);

		assert_int_equal(r->length, OBJ_BYTES);
		for (uint32_t i = 0; i < r->size; i++)
			assert_int_equal(r->data[i], (uint8_t)id);
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%u:%u ", r->point, id);
		r = hy_capture_next(r);
	}
	assert_ptr_equal(r, buffer + size);
	assert_string_equal(text, expected);
}

void
expect_capture(struct hy_graph *graph, struct hy_capture_state expected)
{
	struct hy_capture_state got;

	assert_int_equal(hy_capture_status(graph, &got), 0);
	assert_int_equal(got.running, expected.running);
	assert_int_equal(got.captured, expected.captured);
	assert_int_equal(got.lost, expected.lost);
	assert_int_equal(got.unsure, expected.unsure);
	assert_int_equal(got.missing, expected.missing);
}

uint16_t
spread_source(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	static const uint16_t ways[] = { 0, 1, 2, HY_DROP(0) };
	uint16_t next[HY_BURST_MAX];

	n = probe_make(probe_of(node), objs, n);
	for (uint16_t i = 0; i < n; i++)
		next[i] = ways[i % RTE_DIM(ways)];
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}
