/* SPDX-License-Identifier: BSD-3-Clause */
/* The works of the l3fwd benchmark, and who contends for them. */

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_common.h>
#include <rte_eal.h>
#include <rte_lcore.h>

#include <hy_hal.h>

#include "l3fwd.h"

#define TTL 64

enum destinations {
	EIGHT_ROUTES, /* so many, as many behind each route */
	HALF_ROUTED,  /* the same, and as many that no route leads to */
	EACH_ROUTE,   /* one behind every prefix of a large table */
};

struct work {
	const char *name;
	enum destinations kind;
	uint32_t destinations, packets;
	unsigned int nb_ports;
	uint16_t burst; /* packets that a receive call brings at most; 0: as many as asked */
	bool loop;
	bool hop_per_port; /* as DPDK's l3fwd knows next hops; else eight in all */
};

static const struct work main_works[] = {
	{ "one_flow", EIGHT_ROUTES, 1, 4096, 2, 0, false, false },
	{ "dst256_8", EIGHT_ROUTES, 256, 4096, 2, 0, false, false },
	{ "dst64k_8", EIGHT_ROUTES, 65536, 65536, 2, 0, false, false },
	{ "dst64k_miss", HALF_ROUTED, 65536, 65536, 2, 0, false, false },
	{ "table172k", EACH_ROUTE, 0, 0, 2, 0, false, false },
	{ "burst8", EIGHT_ROUTES, 256, 4096, 2, 8, false, false },
	{ "burst1", EIGHT_ROUTES, 256, 4096, 2, 1, false, false },
	{ "dst256_8_p1", EIGHT_ROUTES, 256, 4096, 1, 0, false, false },
	{ "dst256_8_p8", EIGHT_ROUTES, 256, 4096, 8, 0, false, false },
	{ "closed_loop", EIGHT_ROUTES, 256, 4096, 1, 0, true, false },
};

/* With a contender of the user's. */
static const struct work foreign_works[] = {
	{ "hop_per_port_p1", EIGHT_ROUTES, 256, 4096, 1, 0, false, true },
	{ "hop_per_port_p2", EIGHT_ROUTES, 256, 4096, 2, 0, false, true },
	{ "hop_per_port_p8", EIGHT_ROUTES, 256, 4096, 8, 0, false, true },
};

/* Works of which other questions are asked too. */
static const char *const studied[] = { "dst256_8", "dst64k_8", "table172k" };

/* What all contenders for a work have in common. */
struct stage {
	struct l3fwd_table *table;
	struct l3fwd_rig rig[L3FWD_LANES];
	unsigned int lanes;
};

static uint32_t
destination(const struct work *w, const struct l3fwd_table *table, uint32_t i)
{
	const struct l3fwd_route *route = &table->routes[i % table->n];
	const uint32_t d = i % RTE_MAX(w->destinations, 1u);

	switch (w->kind) {
	case EACH_ROUTE:
		return route->prefix | (bench_random() & ~(UINT32_MAX << (32 - route->depth)));
	case HALF_ROUTED: /* the second half of RFC 2544's block has no routes */
		return IP4(198, 18, 0, 0) + 2 * d;
	default:
		return table->routes[d % table->n].prefix + d / table->n;
	}
}

static struct l3fwd_traffic *
traffic_for(const struct work *w, const struct l3fwd_table *table)
{
	const uint32_t n = w->kind == EACH_ROUTE ? table->n : w->packets;
	uint32_t *dst = calloc(n, sizeof(*dst));
	struct l3fwd_traffic *traffic;

	if (dst == NULL) {
		bench_cannot("no memory for %u destinations", n);
		return NULL;
	}
	for (uint32_t i = 0; i < n; i++)
		dst[i] = destination(w, table, i);
	bench_shuffle(dst, n);
	traffic = traffic_create(dst, n, w->loop ? UINT8_MAX : TTL, table);
	free(dst);
	return traffic;
}

static void
stage_strike(struct stage *s)
{
	rig_burst(0);
	ours_table_destroy();
	for (unsigned int l = 0; l < s->lanes; l++)
		rig_close(&s->rig[l]);
	table_free(s->table);
}

/* Prepares what a work needs. If it cannot, the work is skipped under that name. */
static bool
stage_set(struct stage *s, const struct work *w, unsigned int lanes, const char *name)
{
	bool made;

	*s = (struct stage){ .lanes = lanes };
	if (w->kind != EACH_ROUTE)
		s->table = table_eight(w->hop_per_port ? w->nb_ports : TABLE_EIGHT, w->nb_ports);
	else
		s->table = table_full(bench_settings()->prefixes, w->nb_ports);
	made = s->table != NULL;
	for (unsigned int l = 0; l < lanes && made; l++)
		made = rig_open(&s->rig[l], l, w->nb_ports, w->loop, traffic_for(w, s->table)) == 0;
	if (made && ours_table_create(s->table, w->loop) == 0) {
		rig_burst(w->burst);
		return true;
	}
	stage_strike(s);
	bench_skip(name, NULL);
	return false;
}

static void
compare(const struct work *w)
{
	static const struct ours_params defaults;
	struct field f = { .work = w->name };
	struct l3fwd_way librte;
	struct stage s;

	if (!bench_wanted(w->name) || !stage_set(&s, w, 1, w->name))
		return;
	l3fwd_enter(&f, s.rig, rxtx_create(s.rig), NULL, ROLE_SHOWN);
	l3fwd_enter(&f, s.rig, static_create(s.rig, s.table, false), NULL, ROLE_PEER);
	l3fwd_enter(&f, s.rig, static_create(s.rig, s.table, true), NULL, ROLE_PEER);
	librte = librte_create(s.rig, s.table);
	l3fwd_enter(&f, s.rig, librte, NULL, ROLE_PEER);
	l3fwd_enter(&f, s.rig, librte_typed(&librte), NULL, ROLE_SHOWN);
	l3fwd_enter(&f, s.rig, ours_create(s.rig, &defaults), NULL, ROLE_SUBJECT);
	field_measure(&f, CYCLES_PACKET);
	stage_strike(&s);
}

#define STUDY_NAME 40

/* Whether a study of a work is wanted; and its name. */
static bool
study_wanted(const struct work *w, const char *study, char name[STUDY_NAME])
{
	snprintf(name, STUDY_NAME, "%s_%s", w->name, study);
	return bench_wanted(name);
}

/* Cycles by node: of ours in a run in which every walk is timed, of librte_node always. */
static void
nodes(const struct work *w, struct stage *s)
{
	static const struct ours_params timed = { .sample_every = 1 };
	char name[STUDY_NAME];

	if (study_wanted(w, "librte_node", name))
		l3fwd_nodes(name, s->rig, librte_create(s->rig, s->table));
	if (study_wanted(w, "halyard", name))
		l3fwd_nodes(name, s->rig, ours_create(s->rig, &timed));
}

/* Ours as selected, then with one variant exchanged. */
static void
variants(const struct work *w, struct stage *s)
{
	static const struct ours_params defaults;
	struct ours_params params[CONTENDERS_MAX - 1];
	char name[STUDY_NAME];
	struct field f = { .work = name };
	unsigned int n;

	if (!study_wanted(w, "variants", name))
		return;
	l3fwd_enter(&f, s->rig, ours_create(s->rig, &defaults), "selected", ROLE_SHOWN);
	n = ours_variants(params, RTE_DIM(params));
	for (unsigned int i = 0; i < n; i++) {
		char variant[32];

		snprintf(variant, sizeof(variant), "%.11s=%.16s", params[i].family->node.name,
			params[i].variant->impl.variant);
		l3fwd_enter(&f, s->rig, ours_create(s->rig, &params[i]), variant, ROLE_SHOWN);
	}
	field_measure(&f, CYCLES_PACKET);
}

/* Ours with other bursts. */
static void
bursts(const struct work *w, struct stage *s)
{
	static const uint16_t sizes[] = { 8, 16, 32, 64, 128, 256 };
	char name[STUDY_NAME];
	struct field f = { .work = name };

	if (!study_wanted(w, "bursts", name))
		return;
	for (unsigned int i = 0; i < RTE_DIM(sizes); i++) {
		const struct ours_params params = { .burst = sizes[i] };
		char burst[16];

		snprintf(burst, sizeof(burst), "burst_%u", sizes[i]);
		l3fwd_enter(&f, s->rig, ours_create(s->rig, &params), burst, ROLE_SHOWN);
	}
	field_measure(&f, CYCLES_PACKET);
}

/* Ours, and the same graph made without a HAL. */
static void
by_hand(const struct work *w, struct stage *s)
{
	static const struct ours_params defaults;
	char name[STUDY_NAME];
	struct field f = { .work = name };

	if (!study_wanted(w, "by_hand", name))
		return;
	l3fwd_enter(&f, s->rig, by_hand_create(s->rig), "by_hand", ROLE_PEER);
	l3fwd_enter(&f, s->rig, ours_create(s->rig, &defaults), NULL, ROLE_SUBJECT);
	field_measure(&f, CYCLES_PACKET);
}

static void
study(const struct work *w)
{
	static const char *const studies[] = { "librte_node", "halyard", "variants", "by_hand",
		"bursts" };
	char name[STUDY_NAME], stage[STUDY_NAME];
	bool any = false;
	struct stage s;

	for (unsigned int i = 0; i < RTE_DIM(studies); i++)
		any |= study_wanted(w, studies[i], name);
	snprintf(stage, sizeof(stage), "%s_*", w->name);
	if (!any || !stage_set(&s, w, 1, stage))
		return;
	nodes(w, &s);
	variants(w, &s);
	by_hand(w, &s);
	bursts(w, &s);
	stage_strike(&s);
}

/* The static loop against a contender from a shared object: DPDK's own l3fwd, to which it is like. */
static void
foreign(const struct work *w, l3fwd_contender_t *create)
{
	struct field f = { .work = w->name };
	struct l3fwd_way way;
	struct stage s;

	if (!bench_wanted(w->name) || !stage_set(&s, w, 1, w->name))
		return;
	way = create(s.rig, s.table);
	if (way.arg == NULL)
		l3fwd_fail("--contender %s: it could not be created", bench_settings()->contender);
	l3fwd_enter(&f, s.rig, way, NULL, ROLE_PEER);
	l3fwd_enter(&f, s.rig, static_create(s.rig, s.table, false), NULL, ROLE_SUBJECT);
	field_measure(&f, CYCLES_PACKET);
	stage_strike(&s);
}

static l3fwd_contender_t *
foreign_load(const char *path)
{
	void *object = dlopen(path, RTLD_LAZY);
	l3fwd_contender_t *create;

	if (object == NULL)
		l3fwd_fail("--contender %s: %s", path, dlerror());
	*(void **)&create = dlsym(object, "l3fwd_contender");
	if (create == NULL)
		l3fwd_fail("--contender %s: it has no l3fwd_contender()", path);
	return create;
}

/* Every contender on one lcore, and on two. */
static void
lcores(const struct work *w)
{
	static const char *const names[] = { "static", "librte_node", "halyard" };
	static const struct ours_params defaults;

	for (unsigned int n = 0; n < RTE_DIM(names); n++) {
		struct l3fwd_way ways[L3FWD_LANES];
		struct stage s;
		char name[48];

		snprintf(name, sizeof(name), "two_lcores_%s", names[n]);
		if (!bench_wanted(name))
			continue;
		if (rig_lanes() < L3FWD_LANES) {
			bench_cannot("it takes two lcores, and there is one");
			bench_skip(name, NULL);
			continue;
		}
		if (!stage_set(&s, w, L3FWD_LANES, name))
			continue;
		for (unsigned int l = 0; l < L3FWD_LANES; l++) {
			const struct l3fwd_rig *rig = &s.rig[l];

			ways[l] = n == 0 ? static_create(rig, s.table, false)
				: n == 1 ? librte_create(rig, s.table)
					 : ours_create(rig, &defaults);
		}
		lcores_work(name, s.rig, ways);
		stage_strike(&s);
	}
}

static const struct work *
work_find(const char *name)
{
	const struct work *w = main_works;

	while (strcmp(w->name, name) != 0)
		w++;
	return w;
}

static void
prefixes_try(const char *path)
{
	struct l3fwd_table *table = table_full(path, 1);

	if (table == NULL)
		l3fwd_fail("--prefixes %s: packets to none of them are forwarded (RFC 1812 5.3.7)",
			path);
	table_free(table);
}

void
bench_l3fwd(void)
{
	l3fwd_contender_t *create = NULL;

	/* What is wrong with the user's files is said before any work is done. */
	if (bench_settings()->contender != NULL)
		create = foreign_load(bench_settings()->contender);
	if (bench_settings()->prefixes != NULL)
		prefixes_try(bench_settings()->prefixes);
	printf("librte_node and the driver net_ring are the system's, as their packager compiled them; "
	       "mbufs have little room\n");
	if (!rte_eal_has_hugepages())
		printf("THERE ARE NO HUGEPAGES: misses of the TLB are in all figures, which are worth "
		       "little\n");
	if (rig_ports(RTE_MIN(rte_lcore_count(), (unsigned int)L3FWD_LANES)) < 0) {
		bench_skip("*", NULL);
		return;
	}
	for (unsigned int i = 0; i < RTE_DIM(main_works); i++)
		compare(&main_works[i]);
	for (unsigned int i = 0; i < RTE_DIM(studied); i++)
		study(work_find(studied[i]));
	lcores(work_find("dst256_8"));
	for (unsigned int i = 0; create != NULL && i < RTE_DIM(foreign_works); i++)
		foreign(&foreign_works[i], create);
}
