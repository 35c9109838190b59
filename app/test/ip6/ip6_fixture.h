/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of IPv6 nodes share: a table whose next hops lead to ports 0 and 1, and addresses. */
#pragma once

#include <arpa/inet.h>
#include <string.h>

#include <hy_ip4_group.h>
#include <hy_ip6_view.h>

#include "app/test/nodes/node_fixture.h"
#include "app/test/unit.h"

/* A table of next hops 0 to n - 1, by turns on ports 0 and 1, and one of routes without any. */
void ip6_tables(uint32_t n);
/* Likewise, in a table of that engine. */
void ip6_tables_in(enum hy_ip4_engine engine, uint32_t n);
extern struct hy_ip4_fib *hops6;
extern struct hy_ip6_fib *fib6;

/* Writes a frame from 2001:db8::1 to 2001:db8:1::2, and its payload. */
void ip6_frame(uint8_t *frame, uint32_t len);

/* A route of text, "2001:db8::/32". */
struct hy_ip6_route ip6_route(const char *prefix, uint32_t next_hop);

/* Whether a route covers an address: by single bits, as nothing else here does it. */
bool ip6_route_covers(const struct hy_ip6_route *route, const uint8_t *address);
/* The longest route that covers an address, found by trying all; n if none does. */
uint32_t ip6_search(const struct hy_ip6_route *routes, uint32_t n, const uint8_t *address);

int ip6_teardown(void **state);
#define IP6_TEST(f) cmocka_unit_test_setup_teardown(f, node_setup, ip6_teardown)

/* Whether the CPU has what kernels of that name need. */
bool ip6_can_run(const char *variant);
