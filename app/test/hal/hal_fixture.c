/* SPDX-License-Identifier: BSD-3-Clause */
/* Families, ports and selections for the tests of the HAL; see hal_fixture.h. */

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_dev.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_ring.h>

#include <hy_graph_worker.h>

#include "hal_fixture.h"

#define PORTS_MAX RTE_MAX_ETHPORTS
#define RINGS_MAX 16
#define KEPT_MAX 1024

struct hy_hal *hal;
char error[HY_HAL_ERROR_SIZE];

static char vdevs[PORTS_MAX][RTE_ETH_NAME_MAX_LEN];
static unsigned int nb_vdevs;
static struct rte_ring *rings[RINGS_MAX];
static unsigned int nb_rings;
static char text[1 << 17];   /* of printed() */
static void *kept[KEPT_MAX]; /* declarations */
static unsigned int nb_kept;
static int64_t live_before;

/* Marks: two functions that the linker must not make one of. */
static uint64_t calls_a, calls_b;

uint16_t
hal_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(node);
	calls_a++;
	hy_release(graph, objs, n);
	return n;
}

uint16_t
hal_process_b(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(node);
	calls_b++;
	hy_release(graph, objs, n);
	return n;
}

/* A copy that stays, as declarations do. */
static void *
keep(const void *from, size_t size)
{
	void *copy = malloc(size);

	assert_non_null(copy);
	assert_true(nb_kept < KEPT_MAX);
	memcpy(copy, from, size);
	kept[nb_kept++] = copy;
	return copy;
}

/* Accounts for a registration: what is refused goes, what is declared stays and is no leak. */
static int
kept_settle(int rc, int64_t live)
{
	if (rc < 0)
		free(kept[--nb_kept]);
	else
		live_before += unit_alloc_live() - live;
	return rc;
}

int
family_try(const struct hy_family *family)
{
	const int64_t before = unit_alloc_live();
	struct hy_family *copy = keep(family, sizeof(*family));

	if (copy->text == NULL)
		copy->text = "A family of the tests";
	if (copy->pack == NULL)
		copy->pack = "test";
	return kept_settle(hy_family_register(copy), before);
}

int
variant_try(const struct hy_variant *variant)
{
	const int64_t before = unit_alloc_live();
	struct hy_variant *copy = keep(variant, sizeof(*variant));

	if (copy->text == NULL)
		copy->text = "A variant of the tests";
	if (copy->pack == NULL)
		copy->pack = "test";
	return kept_settle(hy_variant_register(copy), before);
}

void
family_add(const char *name, enum hy_target_kind target, int score)
{
	assert_int_equal(family_try(&(const struct hy_family){
				 .target = target,
				 .score = score,
				 .node = { .name = name,
					 .impl = { .variant = "plain", .process = hal_process } },
			 }),
		0);
}

void
variant_add(const struct hy_variant *variant)
{
	struct hy_variant full = *variant;

	if (full.impl.process == NULL)
		full.impl.process = hal_process_b;
	assert_int_equal(variant_try(&full), 0);
}

int
device_try(const char *name, const char *args)
{
	const int rc = rte_eal_hotplug_add("vdev", name, args);

	if (rc == 0)
		snprintf(vdevs[nb_vdevs++], sizeof(vdevs[0]), "%s", name);
	return rc;
}

void
device_add(const char *name)
{
	const int rc = device_try(name, "");

	if (rc < 0)
		fail_msg("%s: %s; %s", name, strerror(-rc), unit_log());
}

int
port_try(const char *name, const char *args)
{
	uint16_t port;
	int rc = device_try(name, args);

	if (rc < 0)
		return rc;
	rc = rte_eth_dev_get_port_by_name(name, &port);
	return rc < 0 ? rc : port;
}

uint16_t
port_add(const char *name)
{
	const int port = port_try(name, "");

	if (port < 0)
		fail_msg("%s: %s; %s", name, strerror(-port), unit_log());
	return (uint16_t)port;
}

uint16_t
port_add_rings(const char *name, unsigned int nb_rx, unsigned int nb_tx)
{
	struct rte_ring **mine = &rings[nb_rings];
	char ring[RTE_RING_NAMESIZE];
	int port;

	for (unsigned int i = 0; i < RTE_MAX(nb_rx, nb_tx); i++) {
		snprintf(ring, sizeof(ring), "%s_%u", name, i);
		rings[nb_rings] = rte_ring_create(ring, 64, 0, RING_F_SP_ENQ | RING_F_SC_DEQ);
		assert_non_null(rings[nb_rings++]);
	}
	port = rte_eth_from_rings(name, mine, nb_rx, mine, nb_tx, 0);
	assert_true(port >= 0);
	snprintf(vdevs[nb_vdevs++], sizeof(vdevs[0]), "net_ring_%s", name);
	return (uint16_t)port;
}

void
port_remove(const char *name)
{
	unsigned int i = 0;

	while (strcmp(vdevs[i], name) != 0)
		assert_true(++i < nb_vdevs);
	assert_int_equal(rte_vdev_uninit(name), 0);
	memcpy(vdevs[i], vdevs[--nb_vdevs], sizeof(vdevs[i]));
}

void
ports_remove(void)
{
	while (nb_vdevs > 0)
		assert_int_equal(rte_vdev_uninit(vdevs[--nb_vdevs]), 0);
	while (nb_rings > 0)
		rte_ring_free(rings[--nb_rings]);
}

const struct hy_selection *
selected(const char *family, uint16_t port)
{
	const struct hy_selection *s = hy_hal_selection(hal, family, port);

	if (s == NULL)
		fail_msg("nothing is selected for %s and port %u", family, port);
	return s;
}

const char *
chosen(const char *family, uint16_t port)
{
	return selected(family, port)->chosen->impl.variant;
}

const struct hy_candidate *
candidate(const char *family, uint16_t port, const char *variant)
{
	const struct hy_selection *s = selected(family, port);

	for (unsigned int i = 0; i < s->nb_candidates; i++)
		if (strcmp(s->candidates[i].variant->impl.variant, variant) == 0)
			return &s->candidates[i];
	fail_msg("%s has no candidate %s", family, variant);
	return NULL;
}

void
select_all(void)
{
	const int rc = hy_hal_select(hal, error);

	if (rc < 0)
		fail_msg("selection: %s: %s", strerror(-rc), error);
}

void
assert_fate(const char *family, uint16_t port, const char *variant, enum hy_fate fate, int score,
	const char *reason)
{
	const struct hy_candidate *c = candidate(family, port, variant);

	assert_int_equal(c->fate, fate);
	assert_int_equal(c->score, score);
	assert_string_equal(c->reason, reason);
}

const char *
printed(int (*print)(const struct hy_hal *hal, FILE *out))
{
	FILE *out = fmemopen(text, sizeof(text), "w");

	assert_non_null(out);
	text[0] = '\0';
	assert_int_equal(print(hal, out), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static const char *
space_skip(const char *at)
{
	while (*at != '\0' && strchr(" \t\r\n", *at) != NULL)
		at++;
	return at;
}

static const char *
string_skip(const char *at)
{
	for (at++; *at != '"'; at++) {
		if ((unsigned char)*at < 0x20)
			return NULL;
		if (*at == '\\' && strchr("\"\\/bfnrtu", *++at) == NULL)
			return NULL;
	}
	return at + 1;
}

/* The end of the value at a place; NULL: there is none. */
static const char *
value_skip(const char *at)
{
	static const char *const words[] = { "true", "false", "null" };
	const char open = *at, close = open == '{' ? '}' : ']';

	if (open == '"')
		return string_skip(at);
	for (size_t i = 0; i < RTE_DIM(words); i++)
		if (strncmp(at, words[i], strlen(words[i])) == 0)
			return at + strlen(words[i]);
	if (open == '-' || isdigit(open))
		return at + 1 + strspn(at + 1, "0123456789");
	if (open != '{' && open != '[')
		return NULL;
	at = space_skip(at + 1);
	if (*at == close)
		return at + 1;
	for (;; at++) {
		if (open == '{') {
			at = space_skip(at);
			at = *at == '"' ? string_skip(at) : NULL;
			if (at == NULL || *(at = space_skip(at)) != ':')
				return NULL;
			at++;
		}
		at = value_skip(space_skip(at));
		if (at == NULL)
			return NULL;
		at = space_skip(at);
		if (*at == close)
			return at + 1;
		if (*at != ',')
			return NULL;
	}
}

bool
json_valid(const char *json)
{
	const char *end = value_skip(space_skip(json));

	return end != NULL && *space_skip(end) == '\0';
}

int
hal_setup(void **state)
{
	RTE_SET_USED(state);
	unit_alloc_fail(0);
	live_before = unit_alloc_live();
	strcpy(error, "untouched");
	unit_log_clear();
	return hy_hal_create(&hal);
}

int
hal_teardown(void **state)
{
	int64_t live;

	RTE_SET_USED(state);
	unit_alloc_fail(0);
	hy_hal_destroy(hal);
	hal = NULL;
	ports_remove();
	live = unit_alloc_live();
	if (live != live_before)
		print_error("blocks of malloc: %jd before, %jd after\n", (intmax_t)live_before,
			(intmax_t)live);
	return live == live_before ? 0 : -1;
}
