/* SPDX-License-Identifier: BSD-3-Clause */
/* What the user says of variants: "FAMILY[@PORT]=VARIANT", forced or denied. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hal/internal/hal.h"

/* Room for a list of names in a message. */
#define NAMES_SIZE 192

static void
name_append(char *names, const char *name)
{
	const size_t used = strlen(names);

	snprintf(names + used, NAMES_SIZE - used, "%s%s", used > 0 ? ", " : "", name);
}

static void
family_unknown(const char *spec, const char *name, char *error)
{
	const struct hy_family *const *families;
	const unsigned int n = hy_families(&families);
	char names[NAMES_SIZE] = "";

	for (unsigned int i = 0; i < n; i++)
		name_append(names, families[i]->node.name);
	snprintf(error, HY_HAL_ERROR_SIZE, "'%.64s': no family '%.64s'; there are: %s", spec, name,
		names);
}

static void
variant_unknown(const char *spec, const struct hy_family *family, const char *name, char *error)
{
	const struct hy_variant *const *variants;
	const unsigned int n = hy_variants(family, &variants);
	char names[NAMES_SIZE] = "";

	for (unsigned int i = 0; i < n; i++)
		name_append(names, variants[i]->impl.variant);
	snprintf(error, HY_HAL_ERROR_SIZE, "'%.64s': %s has no variant '%.64s'; it has: %s", spec,
		family->node.name, name, names);
}

static void
port_unknown(const struct hy_hal *hal, const char *spec, const char *text, char *error)
{
	char names[NAMES_SIZE] = "", name[8];

	for (unsigned int p = 0; p < RTE_MAX_ETHPORTS; p++) {
		if (!hal->ports[p].present)
			continue;
		snprintf(name, sizeof(name), "%u", p);
		name_append(names, name);
	}
	snprintf(error, HY_HAL_ERROR_SIZE, "'%.64s': there is no port '%.16s'; there are: %s", spec,
		text, names[0] == '\0' ? "none" : names);
}

/* Reads the device or pair of "FAMILY@TARGET". */
static int
device_parse(const struct hy_hal *hal, const char *spec, const struct hy_family *family,
	const char *text, int *at, char *error)
{
	struct hy_target target;
	bool found = false;

	if (hy_target_parse(text, &target) && target.kind == family->target)
		for (unsigned int i = 0; i < hal->list.n; i++)
			found |= hal->list.devices[i].target.kind == target.kind &&
				hy_target_index(hal->list.devices[i].target) ==
					hy_target_index(target);
	if (!found) {
		snprintf(error, HY_HAL_ERROR_SIZE,
			"'%.64s': '%.32s' is not one of the %s; accepted: event0, "
			"crypto0, regex0, event0:port0, event0:crypto0 and the like",
			spec, text, hy_kind_names(family->target));
		return -EINVAL;
	}
	*at = (int)hy_target_index(target);
	return 0;
}

/* Reads the port of "FAMILY@PORT", which must exist and concern the family. */
static int
port_parse(const struct hy_hal *hal, const char *spec, const struct hy_family *family,
	const char *text, int *port, char *error)
{
	char *end;
	const unsigned long value = strtoul(text, &end, 10);

	if (family->target != HY_TARGET_PORT && family->target != HY_TARGET_PROCESS)
		return device_parse(hal, spec, family, text, port, error);
	if (family->target != HY_TARGET_PORT) {
		snprintf(error, HY_HAL_ERROR_SIZE,
			"'%.64s': %s is chosen for the process, not a port; say %s=VARIANT", spec,
			family->node.name, family->node.name);
		return -EINVAL;
	}
	if (*text < '0' || *text > '9' || *end != '\0' || value >= RTE_MAX_ETHPORTS ||
		!hal->ports[value].present) {
		port_unknown(hal, spec, text, error);
		return -EINVAL;
	}
	*port = (int)value;
	return 0;
}

/* Takes a specification apart; on success the rule is complete but for deny. */
static int
spec_parse(const struct hy_hal *hal, const char *spec, struct hy_rule *rule, char *error)
{
	char copy[3 * HY_NAME_SIZE];
	const struct hy_family *family;
	char *name, *at;
	int rc;

	if (strlen(spec) >= sizeof(copy) || strchr(spec, '=') == NULL) {
		snprintf(error, HY_HAL_ERROR_SIZE, "'%.64s' is not FAMILY[@PORT]=VARIANT", spec);
		return -EINVAL;
	}
	strcpy(copy, spec);
	name = strchr(copy, '=');
	*name++ = '\0';
	at = strchr(copy, '@');
	if (at != NULL)
		*at++ = '\0';
	family = hy_family_find(copy);
	if (family == NULL) {
		family_unknown(spec, copy, error);
		return -EINVAL;
	}
	rule->at = -1;
	if (at != NULL) {
		rc = port_parse(hal, spec, family, at, &rule->at, error);
		if (rc < 0)
			return rc;
	}
	rule->variant = hy_variant_find(family->node.name, name);
	if (rule->variant == NULL) {
		variant_unknown(spec, family, name, error);
		return -EINVAL;
	}
	return 0;
}

static int
rule_add(struct hy_hal *hal, const char *spec, const struct hy_rule *rule, char *error)
{
	struct hy_rule *rules = realloc(hal->rules, (hal->nb_rules + 1) * sizeof(*rules));

	if (rules == NULL) {
		snprintf(error, HY_HAL_ERROR_SIZE, "'%.64s': out of memory", spec);
		return -ENOMEM;
	}
	hal->rules = rules;
	rules[hal->nb_rules++] = *rule;
	return 0;
}

int
hy_hal_force(struct hy_hal *hal, const char *spec, char *error)
{
	struct hy_rule rule = { .deny = false };
	const int rc = spec_parse(hal, spec, &rule, error);

	if (rc < 0)
		return rc;
	for (unsigned int i = 0; i < hal->nb_rules; i++) {
		const struct hy_rule *other = &hal->rules[i];

		if (other->deny || other->at != rule.at ||
			strcmp(other->variant->family, rule.variant->family) != 0)
			continue;
		if (other->variant == rule.variant)
			return 0;
		snprintf(error, HY_HAL_ERROR_SIZE, "'%.64s': %s is forced to '%s' already", spec,
			rule.variant->family, other->variant->impl.variant);
		return -EEXIST;
	}
	return rule_add(hal, spec, &rule, error);
}

int
hy_hal_deny(struct hy_hal *hal, const char *spec, char *error)
{
	struct hy_rule rule;
	const int rc = spec_parse(hal, spec, &rule, error);

	rule.deny = true;
	return rc < 0 ? rc : rule_add(hal, spec, &rule, error);
}
