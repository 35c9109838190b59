/* SPDX-License-Identifier: BSD-3-Clause */
/* The value of an option: rte_flow or sim:PROFILE, and SETTING=N behind commas. */

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include <hy_option.h>

#include "hy_flow_engines.h"

#define SETTLE_US 100000

/* Profiles of the simulator, each with a driver that rules are made for. */
static const struct {
	const char *name, *driver;
} profiles[] = {
	{ "sim:generic", "generic" },
	{ "sim:cnxk", "net_cn10k" },
	{ "sim:mlx5", "mlx5_pci" },
	{ "sim:ice", "net_ice" },
	{ "sim:i40e", "net_i40e" },
	{ "sim:iavf", "net_iavf" },
};

static const struct setting {
	const char *name;
	bool simulator; /* its own */
	unsigned int most;
	size_t offset;
} settings[] = {
	{ "table_size", true, 1 << 20, offsetof(struct hy_flow_engines, sim.table_size) },
	{ "mark_max", true, UINT32_MAX, offsetof(struct hy_flow_engines, sim.mark_max) },
	{ "counters", true, 1 << 20, offsetof(struct hy_flow_engines, sim.counters) },
	{ "no_marks", true, 1, offsetof(struct hy_flow_engines, sim.faults.no_marks) },
	{ "mark_every", true, 1000000, offsetof(struct hy_flow_engines, sim.faults.mark_every) },
	{ "mark_until", true, UINT32_MAX, offsetof(struct hy_flow_engines, sim.faults.mark_until) },
	{ "lie_every", true, 1000000, offsetof(struct hy_flow_engines, sim.faults.lie_every) },
	{ "port_add", true, UINT16_MAX, offsetof(struct hy_flow_engines, sim.faults.port_add) },
	{ "leak_every", true, 1000000, offsetof(struct hy_flow_engines, sim.faults.leak_every) },
	{ "slow_us", true, 1000000, offsetof(struct hy_flow_engines, sim.faults.slow_us) },
	{ "max_rules", false, 1 << 20, offsetof(struct hy_flow_engines, params.max_rules) },
	{ "sample_every", false, 1 << 30, offsetof(struct hy_flow_engines, params.sample_every) },
	{ "demote_after", false, 1 << 30, offsetof(struct hy_flow_engines, params.demote_after) },
	{ "settle_us", false, 10000000, offsetof(struct hy_flow_engines, params.settle_us) },
	{ "age_us", false, 3600000000, offsetof(struct hy_flow_engines, params.age_us) },
};

static int
read_provider(const char *name, const char *text, struct hy_flow_engines *o)
{
	if (strcmp(text, "rte_flow") == 0) {
		o->params.provider = &hy_flow_rte;
		return 0;
	}
	for (unsigned int p = 0; p < RTE_DIM(profiles); p++) {
		if (strcmp(text, profiles[p].name) != 0)
			continue;
		o->sim.profile = profiles[p].name + strlen("sim:");
		o->params.driver = hy_flow_driver_of(profiles[p].driver);
		o->params.provider = &hy_flow_simulator;
		return 0;
	}
	return hy_option_refuse(name,
		"'%s' is not rte_flow, sim:generic, sim:cnxk, sim:mlx5, sim:ice, sim:i40e or "
		"sim:iavf",
		text);
}

static int
read_setting(const char *name, char *text, struct hy_flow_engines *o)
{
	const struct setting *s = settings;
	char *value = strchr(text, '='), option[32];
	uint32_t *to;

	if (value != NULL)
		*value++ = '\0';
	while (s < settings + RTE_DIM(settings) && strcmp(s->name, text) != 0)
		s++;
	if (s == settings + RTE_DIM(settings) || value == NULL)
		return hy_option_refuse(name,
			"'%s' is not a setting with its value: table_size, mark_max, counters, no_marks, "
			"mark_every, mark_until, lie_every, port_add, leak_every and slow_us (of sim:), "
			"max_rules, "
			"sample_every, demote_after, settle_us or age_us, each as NAME=N",
			text);
	if (s->simulator && o->sim.profile == NULL)
		return hy_option_refuse(name,
			"%s is of simulators; max_rules, sample_every, demote_after, settle_us "
			"and age_us are accepted with rte_flow",
			s->name);
	to = (uint32_t *)((char *)o + s->offset);
	if (*to != 0)
		return hy_option_refuse(name, "%s is given twice", s->name);
	snprintf(option, sizeof(option), "%s: %s", name, s->name);
	return hy_option_number(option, value, 1, s->most, to);
}

int
hy_flow_engines_read(const char *name, const char *text, struct hy_flow_engines *o)
{
	char copy[256], *rest = copy, *word;

	*o = (struct hy_flow_engines){ 0 };
	if (strlen(text) >= sizeof(copy))
		return hy_option_refuse(name, "'%s' is too long; up to %zu bytes are accepted",
			text, sizeof(copy) - 1);
	strcpy(copy, text);
	if (read_provider(name, strsep(&rest, ","), o) < 0)
		return -EINVAL;
	while ((word = strsep(&rest, ",")) != NULL)
		if (read_setting(name, word, o) < 0)
			return -EINVAL;
	if (o->params.settle_us == 0)
		o->params.settle_us = SETTLE_US;
	return 0;
}
