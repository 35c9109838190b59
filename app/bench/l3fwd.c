/* SPDX-License-Identifier: BSD-3-Clause */
/* The works of the l3fwd benchmark, and their contenders. */

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_common.h>
#include <rte_eal.h>
#include <rte_lcore.h>

#include <hy_hal.h>

#include "fibs6.h"
#include "l3fwd.h"

#define TTL 64

enum destinations {
	EIGHT_ROUTES, /* `destinations` in all, equally many behind each route */
	HALF_ROUTED,  /* the same, half of them without a route */
	EACH_ROUTE,   /* one in every prefix of a large table */
};

struct work {
	const char *name;
	enum destinations kind;
	uint32_t destinations, packets;
	unsigned int nb_ports;
	uint16_t burst; /* limit of packets per receive call; 0: none */
	bool loop;
	/*
	 * For the contender of the user (--contender): one next hop per port, as in DPDK's l3fwd; else
	 * eight in all.
	 */
	bool hop_per_port;
	enum { IP4, IP6, MIXED } family; /* of packets; all but IP4 with routes of both */
	bool grouped;                    /* only of Halyard: one next hop, and a group of eight */
	bool studied;                    /* further, by itself */
	bool two_lcores;                 /* also on two at once */
};

static const struct work works[] = {
	{ "one_flow", EIGHT_ROUTES, 1, 4096, 2 },
	{ "dst256_8", EIGHT_ROUTES, 256, 4096, 2, .studied = true, .two_lcores = true },
	{ "dst64k_8", EIGHT_ROUTES, 65536, 65536, 2, .studied = true },
	{ "dst64k_miss", HALF_ROUTED, 65536, 65536, 2 },
	{ "table172k", EACH_ROUTE, 0, 0, 2, .studied = true },
	{ "burst8", EIGHT_ROUTES, 256, 4096, 2, .burst = 8 },
	{ "burst1", EIGHT_ROUTES, 256, 4096, 2, .burst = 1 },
	{ "dst256_8_p1", EIGHT_ROUTES, 256, 4096, 1 },
	{ "dst256_8_p8", EIGHT_ROUTES, 256, 4096, 8 },
	{ "closed_loop", EIGHT_ROUTES, 256, 4096, 1, .loop = true },
	{ "ip6_one_flow", EIGHT_ROUTES, 1, 4096, 2, .family = IP6 },
	{ "ip6_dst256_8", EIGHT_ROUTES, 256, 4096, 2, .family = IP6 },
	{ "ip6_dst64k_8", EIGHT_ROUTES, 65536, 65536, 2, .family = IP6 },
	{ "ip6_table73k", EACH_ROUTE, 0, 0, 2, .family = IP6 },
	{ "mix46", EIGHT_ROUTES, 512, 4096, 2, .family = MIXED },
	{ "ecmp8", EIGHT_ROUTES, 4096, 4096, 1, .grouped = true },
	{ "ecmp8_p2", EIGHT_ROUTES, 4096, 4096, 2, .grouped = true },
	{ "hop_per_port_p1", EIGHT_ROUTES, 256, 4096, 1, .hop_per_port = true },
	{ "hop_per_port_p2", EIGHT_ROUTES, 256, 4096, 2, .hop_per_port = true },
	{ "hop_per_port_p8", EIGHT_ROUTES, 256, 4096, 8, .hop_per_port = true },
};

/* What all contenders for a work share. */
struct stage {
	struct l3fwd_table *table;
	struct l3fwd_rig rig[L3FWD_LANES];
	unsigned int lanes;
};

static uint32_t
destination(const struct work *w, const struct l3fwd_table *table, uint32_t i)
{
	const struct bench_route *route = &table->routes[i % table->n];
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

static void
destination6(const struct work *w, const struct l3fwd_table *table, uint32_t i,
	uint8_t address[HY_IP6_BYTES])
{
	const uint32_t d = i % RTE_MAX(w->destinations, 1u);

	if (w->kind == EACH_ROUTE)
		fib6_address(&table->routes6[i % table->n6], address);
	else
		table_address6(&table->routes6[d % table->n6], d / table->n6, address);
}

static struct l3fwd_traffic *
traffic_for(const struct work *w, const struct l3fwd_table *table)
{
	const uint32_t each = w->family == IP4 ? table->n : table->n6;
	const uint32_t n = w->kind == EACH_ROUTE ? each : w->packets;
	uint32_t *order = bench_alloc(n, sizeof(*order));
	struct l3fwd_address *dst = bench_alloc(n, sizeof(*dst));
	struct l3fwd_traffic *traffic;

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	bench_shuffle(order, n);
	for (uint32_t i = 0; i < n; i++) {
		/* Of both families, every second one in the order before. */
		const uint32_t of = w->family == MIXED ? order[i] / 2 : order[i];

		dst[i].is_ip6 = w->family == IP6 || (w->family == MIXED && order[i] % 2 == 1);
		if (dst[i].is_ip6)
			destination6(w, table, of, dst[i].ip6);
		else
			dst[i].ip4 = destination(w, table, of);
	}
	traffic = traffic_create(dst, n, w->loop ? UINT8_MAX : TTL, table);
	traffic->any_hop = w->grouped;
	free(order);
	free(dst);
	return traffic;
}

/* The routes of a work; NULL on failure. */
static struct l3fwd_table *
table_for(const struct work *w)
{
	const char *path = bench_settings()->prefixes;
	const unsigned int hops = w->grouped ? 1 : w->hop_per_port ? w->nb_ports : TABLE_EIGHT;
	struct l3fwd_table *table;
	int rc = 0;

	if (w->family == IP4 && w->kind == EACH_ROUTE)
		return table_full(path, w->nb_ports);
	table = table_eight(hops, w->nb_ports);
	if (w->family != IP4 && w->kind == EACH_ROUTE)
		rc = table_full6(table, path);
	else if (w->family != IP4)
		table_eight6(table);
	if (rc == 0)
		return table;
	table_free(table);
	return NULL;
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

/* Prepares a work. On failure, skips it under that name. */
static bool
stage_set(struct stage *s, const struct work *w, unsigned int lanes, const char *name)
{
	bool made;

	*s = (struct stage){ .lanes = lanes };
	s->table = table_for(w);
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

/* The contenders of every work, but those of one family's. */
static const struct {
	l3fwd_contender_t *create;
	enum role_in_ratios role;
	const char *two_lcores; /* its work on two lcores; NULL: none */
	bool only_ip4, only_ip6;
} contenders[] = {
	{ rxtx_create, ROLE_SHOWN, NULL },
	{ static_create, ROLE_PEER, "two_lcores_static" },
	{ static_checked_create, ROLE_PEER, NULL },
	{ pipeline_create, ROLE_PEER, NULL, .only_ip4 = true },
	{ librte_create, ROLE_PEER, "two_lcores_librte_node" },
	{ librte_typed_create, ROLE_PEER, NULL },
	{ halyard_create, ROLE_SUBJECT, "two_lcores_halyard" },
	{ halyard_apart_create, ROLE_SHOWN, NULL, .only_ip6 = true },
};

static void
compare(struct field *f, struct stage *s)
{
	for (unsigned int i = 0; i < RTE_DIM(contenders); i++)
		if (s->table->n6 == 0 ? !contenders[i].only_ip6 : !contenders[i].only_ip4)
			l3fwd_enter(f, s->rig, contenders[i].create(s->rig, s->table), NULL,
				contenders[i].role);
}

/* Cycles by node; librte_node always counts them. */
static void
librte_nodes(struct field *f, struct stage *s)
{
	l3fwd_nodes(f->work, s->rig, librte_create(s->rig, s->table));
}

/* Cycles by node of Halyard, with every walk timed. Those of fused nodes would all be the first's. */
static void
our_nodes(struct field *f, struct stage *s)
{
	static const struct ours_params timed = { .sample_every = 1, .apart = true };

	l3fwd_nodes(f->work, s->rig, ours_create(s->rig, &timed));
}

/* Halyard with the selected variants, then with one of them replaced; none fused, as most cannot be. */
static void
variants(struct field *f, struct stage *s)
{
	const struct hy_variant *others[CONTENDERS_MAX - 1];
	const unsigned int n = ours_variants(others, RTE_DIM(others));

	l3fwd_enter(f, s->rig, ours_create(s->rig, &(const struct ours_params){ .apart = true }),
		"selected", ROLE_SHOWN);
	for (unsigned int i = 0; i < n; i++) {
		const struct ours_params params = { .variant = others[i], .apart = true };
		char name[32];

		snprintf(name, sizeof(name), "%.11s=%.16s", others[i]->family,
			others[i]->impl.variant);
		l3fwd_enter(f, s->rig, ours_create(s->rig, &params), name, ROLE_SHOWN);
	}
}

/* Halyard and the static loop with several burst sizes. */
static void
bursts(struct field *f, struct stage *s)
{
	static const uint16_t sizes[] = { 1, 8, 16, 32, 64, 128, 256 };
	char name[16];

	for (unsigned int i = 0; i < RTE_DIM(sizes); i++) {
		const struct ours_params params = { .burst = sizes[i] };

		snprintf(name, sizeof(name), "burst_%u", sizes[i]);
		l3fwd_enter(f, s->rig, ours_create(s->rig, &params), name, ROLE_SHOWN);
	}
	for (unsigned int i = 0; i < RTE_DIM(sizes); i++) {
		snprintf(name, sizeof(name), "static_%u", sizes[i]);
		l3fwd_enter(f, s->rig, static_burst_create(s->rig, s->table, sizes[i]), name,
			ROLE_SHOWN);
	}
}

/* Halyard, and the same graph created without the HAL. */
static void
by_hand(struct field *f, struct stage *s)
{
	l3fwd_enter(f, s->rig, by_hand_create(s->rig), "by_hand", ROLE_PEER);
	l3fwd_enter(f, s->rig, halyard_create(s->rig, s->table), NULL, ROLE_SUBJECT);
}

/* Routes to a group of eight next hops beside routes to one of these, fused and not. */
static void
groups(struct field *f, struct stage *s)
{
	static const struct ours_params ways[] = { { .group = false }, { .group = true },
		{ .apart = true }, { .apart = true, .group = true } };
	static const char *const names[] = { "single", "group", "single_apart", "group_apart" };

	for (unsigned int i = 0; i < RTE_DIM(ways); i++)
		l3fwd_enter(f, s->rig, ours_create(s->rig, &ways[i]), names[i],
			i == 0           ? ROLE_PEER
				: i == 1 ? ROLE_SUBJECT
					 : ROLE_SHOWN);
}

static l3fwd_contender_t *foreign_create;

/* The static loop against a contender from a shared object, such as DPDK's own l3fwd. */
static void
foreign(struct field *f, struct stage *s)
{
	const struct l3fwd_way way = foreign_create(s->rig, s->table);

	if (way.arg == NULL)
		bench_fail("l3fwd: --contender %s: it could not be created",
			bench_settings()->contender);
	l3fwd_enter(f, s->rig, way, NULL, ROLE_PEER);
	l3fwd_enter(f, s->rig, static_create(s->rig, s->table), NULL, ROLE_SUBJECT);
}

/* A study of a work: its contenders, and the suffix of its name. */
struct study {
	const char *suffix;
	void (*enter)(struct field *f, struct stage *s);
};

static const struct study main_study = { "", compare }, foreign_study = { "", foreign },
			  group_study = { "", groups };
static const struct study further_studies[] = { { "_librte_node", librte_nodes },
	{ "_halyard", our_nodes }, { "_variants", variants }, { "_by_hand", by_hand },
	{ "_bursts", bursts } };

/*
 * Measures the wanted studies of a work on one stage. If that cannot be set, skips them under one
 * name.
 */
static void
ask(const struct work *w, const struct study *studies, unsigned int n)
{
	bool set = false;
	struct stage s;

	for (unsigned int i = 0; i < n; i++) {
		char name[40], all[40];
		struct field f = { .work = name };

		snprintf(name, sizeof(name), "%s%s", w->name, studies[i].suffix);
		snprintf(all, sizeof(all), "%s%s", w->name, n > 1 ? "_*" : "");
		if (!bench_wanted(name))
			continue;
		if (!set && !stage_set(&s, w, 1, all))
			return;
		set = true;
		studies[i].enter(&f, &s);
		field_measure(&f, CYCLES_PACKET);
	}
	if (set)
		stage_strike(&s);
}

static l3fwd_contender_t *
foreign_load(const char *path)
{
	void *object = dlopen(path, RTLD_LAZY);
	l3fwd_contender_t *create;

	if (object == NULL)
		bench_fail("l3fwd: --contender %s: %s", path, dlerror());
	*(void **)&create = dlsym(object, "l3fwd_contender");
	if (create == NULL)
		bench_fail("l3fwd: --contender %s: it has no l3fwd_contender()", path);
	return create;
}

/* A contender on one lcore, and on two. */
static void
lcores(const struct work *w, const char *name, l3fwd_contender_t *create)
{
	struct l3fwd_way ways[L3FWD_LANES];
	struct stage s;

	if (name == NULL || !bench_wanted(name))
		return;
	if (rig_lanes() < L3FWD_LANES) {
		bench_cannot("it takes two lcores, and there is one");
		bench_skip(name, NULL);
		return;
	}
	if (!stage_set(&s, w, L3FWD_LANES, name))
		return;
	for (unsigned int l = 0; l < L3FWD_LANES; l++)
		ways[l] = create(&s.rig[l], s.table);
	lcores_work(name, s.rig, ways);
	stage_strike(&s);
}

static void
prefixes_try(const char *path)
{
	struct l3fwd_table *table = table_full(path, 1);

	if (table == NULL || table_full6(table, path) < 0)
		bench_fail("l3fwd: --prefixes %s: packets to none of them are forwarded "
			   "(RFC 1812 5.3.7, RFC 4291 2.5)",
			path);
	table_free(table);
}

void
bench_l3fwd(void)
{
	/* Errors in the user's files are reported before any work is measured. */
	if (bench_settings()->contender != NULL)
		foreign_create = foreign_load(bench_settings()->contender);
	if (bench_settings()->prefixes != NULL)
		prefixes_try(bench_settings()->prefixes);
	printf("librte_node, librte_pipeline and the driver net_ring are the system's, as their packager "
	       "compiled them; mbufs have little room\n");
	if (!rte_eal_has_hugepages())
		printf("THERE ARE NO HUGEPAGES: misses of the TLB are in all figures, which are worth "
		       "little\n");
	if (rig_ports(RTE_MIN(rte_lcore_count(), (unsigned int)L3FWD_LANES)) < 0) {
		bench_skip("*", NULL);
		return;
	}
	for (unsigned int i = 0; i < RTE_DIM(works); i++)
		if (!works[i].hop_per_port)
			ask(&works[i], works[i].grouped ? &group_study : &main_study, 1);
	for (unsigned int i = 0; i < RTE_DIM(works); i++)
		if (works[i].studied)
			ask(&works[i], further_studies, RTE_DIM(further_studies));
	for (unsigned int i = 0; i < RTE_DIM(works); i++)
		for (unsigned int c = 0; c < RTE_DIM(contenders) && works[i].two_lcores; c++)
			lcores(&works[i], contenders[c].two_lcores, contenders[c].create);
	for (unsigned int i = 0; i < RTE_DIM(works) && foreign_create != NULL; i++)
		if (works[i].hop_per_port)
			ask(&works[i], &foreign_study, 1);
}
