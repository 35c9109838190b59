/* SPDX-License-Identifier: BSD-3-Clause */
/* A bridge for tests; see bridge_fixture.h. */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_memory.h>
#include <rte_ring.h>

#include "bridge_fixture.h"
#include "lib/bridge/bridge.h"

const uint16_t ports[PORTS] = { 5, 1, 2 };
struct hy_bridge *bridge;
struct hy_workers workers;
char error[HY_BRIDGE_ERROR_SIZE];

static char path[] = "/tmp/hy-test-bridge-XXXXXX";
static char *text;
static unsigned int heap_before;
static int64_t live_before;

const char *
file_write(const char *content)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(content, file);
	assert_int_equal(fclose(file), 0);
	return path;
}

int
bridge_create(const char *content)
{
	assert_null(bridge);
	error[0] = '\0';
	return hy_bridge_create(file_write(content), ports, PORTS, &bridge, error);
}

void
bridge_new(const char *content)
{
	if (bridge_create(content) < 0)
		fail_msg("%s", error);
	if (hy_bridge_start(bridge, &workers, NULL, error) < 0)
		fail_msg("%s", error);
}

const struct hy_l2_setup *
setup_now(void)
{
	return __atomic_load_n(&bridge->setup, __ATOMIC_ACQUIRE);
}

uint16_t
number_of(uint16_t port)
{
	return setup_now()->number[port];
}

uint64_t
key_of(uint32_t n, uint16_t vid)
{
	const uint8_t mac[6] = { 0x02, 0x00, (uint8_t)(n >> 24), (uint8_t)(n >> 16),
		(uint8_t)(n >> 8), (uint8_t)n };

	return hy_l2_key(mac, vid);
}

bool
find(unsigned int worker, uint64_t key, uint16_t number)
{
	struct hy_l2_source source = { .key = key, .port = number };

	return rte_ring_sp_enqueue_elem(bridge->worker[worker]->learn, &source, sizeof(source)) ==
		0;
}

uint16_t
port_of(uint64_t key)
{
	struct hy_l2_entry entry;

	return hy_l2_get(hy_bridge_table(bridge), key, &entry) == 0 ? entry.port : HY_L2_MISS;
}

uint32_t
bridge_random(uint64_t *seed)
{
	/* splitmix64 */
	uint64_t z = (*seed += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)((z ^ (z >> 31)) >> 32);
}

const char *
printed(void (*print)(struct hy_bridge *bridge, FILE *out))
{
	size_t size;
	FILE *out;

	free(text);
	text = NULL;
	out = open_memstream(&text, &size);
	assert_non_null(out);
	print(bridge, out);
	assert_int_equal(fclose(out), 0);
	return text;
}

int
bridge_setup(void **state)
{
	int fd;

	RTE_SET_USED(state);
	unit_alloc_fail(0);
	unit_log_clear();
	memset(&workers, 0, sizeof(workers));
	workers.nb = WORKERS;
	workers.qsbr = qsbr_new(WORKERS);
	for (unsigned int w = 0; w < WORKERS; w++)
		workers.worker[w].socket = SOCKET_ID_ANY;
	strcpy(path + strlen(path) - 6, "XXXXXX");
	fd = mkstemp(path);
	heap_before = unit_heap_live();
	live_before = unit_alloc_live();
	return fd < 0 ? -1 : close(fd);
}

int
bridge_done(void)
{
	unit_alloc_fail(0);
	hy_bridge_destroy(bridge);
	bridge = NULL;
	free(text);
	text = NULL;
	return unlink(path);
}

int
bridge_teardown(void **state)
{
	const int rc = bridge_done();

	RTE_SET_USED(state);
	assert_int_equal(unit_heap_live(), heap_before);
	assert_int_equal(unit_alloc_live(), live_before);
	return rc;
}
