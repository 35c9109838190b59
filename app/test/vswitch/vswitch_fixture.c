/* SPDX-License-Identifier: BSD-3-Clause */
/* A switch for tests; see vswitch_fixture.h. */

#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include <rte_ether.h>

#include "vswitch_fixture.h"
#include "vswitch_ports.h"

struct hy_vswitch *vswitch;
struct hy_vswitch_rule rule;
struct hy_vswitch_answer answer;
char error[HY_VSWITCH_ERROR_SIZE];

static int64_t live;

int
vswitch_setup(void **state)
{
	RTE_SET_USED(state);
	live = unit_alloc_live();
	if (hy_vswitch_create(9, &vswitch) < 0)
		return -1;
	return vswitch_ports_add(vswitch, 3);
}

int
vswitch_teardown(void **state)
{
	RTE_SET_USED(state);
	hy_vswitch_destroy(vswitch);
	if (unit_alloc_live() == live)
		return 0;
	print_error("%jd blocks are left\n", (intmax_t)(unit_alloc_live() - live));
	return -1;
}

void
read_rule(const char *text)
{
	if (hy_vswitch_read(vswitch, text, HY_VSWITCH_ADD, &rule, error) < 0)
		fail_msg("%s: %s", text, error);
}

void
add_rule(const char *text)
{
	read_rule(text);
	assert_int_equal(hy_vswitch_add(vswitch, &rule, 0), 0);
}

void
add_rules(const char *lines)
{
	char text[4096], *rest;

	snprintf(text, sizeof(text), "%s", lines);
	for (char *line = strtok_r(text, "\n", &rest); line != NULL;
		line = strtok_r(NULL, "\n", &rest))
		add_rule(line);
}

void
assert_edges(const struct hy_flows_key *key, int first, int second)
{
	int got[2] = { -1, -1 };
	uint32_t n = 0;

	hy_vswitch_translate(vswitch, key, &answer);
	for (uint32_t i = 0; i < answer.nb_ops; i++)
		if (answer.ops[i].type == HY_FLOW_OP_OUTPUT) {
			assert_true(n < RTE_DIM(got));
			got[n++] = answer.ops[i].edge;
		}
	assert_int_equal(got[0], first);
	assert_int_equal(got[1], second);
}

struct hy_flows_key
tcp_key(void)
{
	return (struct hy_flows_key){ .port = 11,
		.type = RTE_BE16(RTE_ETHER_TYPE_IPV4),
		.proto = IPPROTO_TCP,
		.kind = HY_FLOWS_IP,
		.ttl = 64,
		.sport = RTE_BE16(1000),
		.dport = RTE_BE16(80),
		.src = RTE_BE32(0x0a000001),
		.dst = RTE_BE32(0x0a000002) };
}

const char *
rules_file(const char *text)
{
	static char path[64];
	FILE *out;

	snprintf(path, sizeof(path), "/tmp/hy-test-vswitch-%d", (int)getpid());
	out = fopen(path, "w");
	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
	return path;
}
