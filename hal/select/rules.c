/* SPDX-License-Identifier: BSD-3-Clause */
/* The user's rules: "FAMILY[@PORT]=VARIANT", forced or denied; "FUSION[=VARIANT]", denied. */

#include <errno.h>
#include <string.h>

#include "hal/internal/hal.h"
#include "hal/internal/list.h"

#define NAMES_SIZE 320 /* room for a list of names in a message */
#define SPEC_SIZE (3 * HY_NAME_SIZE)

static int
family_unknown(const char *spec, const char *name, char *error)
{
	const struct hy_family *const *families;
	const unsigned int n = hy_families(&families);
	char names[NAMES_SIZE] = "";

	for (unsigned int i = 0; i < n; i++)
		hy_names_append(names, sizeof(names), families[i]->node.name);
	return hy_spec_refuse(error, spec, "no family '%.64s'; there are: %s", name, names);
}

static int
variant_unknown(const char *spec, const struct hy_family *family, const char *name, char *error)
{
	const struct hy_variant *const *variants;
	const unsigned int n = hy_variants(family, &variants);
	char names[NAMES_SIZE] = "";

	for (unsigned int i = 0; i < n; i++)
		hy_names_append(names, sizeof(names), variants[i]->impl.variant);
	return hy_spec_refuse(error, spec, "%s has no variant '%.64s'; it has: %s",
		family->node.name, name, names);
}

static int
port_unknown(const struct hy_hal *hal, const char *spec, const char *text, char *error)
{
	char names[NAMES_SIZE] = "", name[8];

	for (unsigned int p = 0; p < RTE_MAX_ETHPORTS; p++) {
		if (!hal->ports[p].present)
			continue;
		snprintf(name, sizeof(name), "%u", p);
		hy_names_append(names, sizeof(names), name);
	}
	return hy_spec_refuse(error, spec, "there is no port '%.16s'; there are: %s", text,
		names[0] == '\0' ? "none" : names);
}

/* Reads the target of "FAMILY@PORT" or "FAMILY@TARGET", which must exist and concern the family. */
static int
target_read(const struct hy_hal *hal, const char *spec, const struct hy_family *family,
	const char *text, int *at, char *error)
{
	const bool port = family->target == HY_TARGET_PORT;
	char whole[SPEC_SIZE + sizeof("port")];
	struct hy_target target;

	if (family->target == HY_TARGET_PROCESS)
		return hy_spec_refuse(error, spec,
			"%s is chosen for the process, not a port; say %s=VARIANT",
			family->node.name, family->node.name);
	snprintf(whole, sizeof(whole), "%s%s", port ? "port" : "", text);
	if (hy_target_parse(whole, &target) && target.kind == family->target &&
		hy_device_find(hal, target) != NULL) {
		*at = (int)hy_target_index(target);
		return 0;
	}
	if (port)
		return port_unknown(hal, spec, text, error);
	return hy_spec_refuse(error, spec,
		"'%.32s' is not one of the %s; accepted: event0, crypto0, regex0, event0:port0, "
		"event0:crypto0 and the like",
		text, hy_kind_names(family->target));
}

/* Parses a specification into a rule, except deny. */
static int
spec_parse(const struct hy_hal *hal, const char *spec, struct hy_rule *rule, char *error)
{
	char copy[SPEC_SIZE];
	const struct hy_family *family;
	char *name, *at;
	int rc = 0;

	if (strlen(spec) >= sizeof(copy) || strchr(spec, '=') == NULL)
		return HY_REASON(-EINVAL, error, HY_HAL_ERROR_SIZE,
			"'%.64s' is not FAMILY[@PORT]=VARIANT", spec);
	strcpy(copy, spec);
	name = strchr(copy, '=');
	*name++ = '\0';
	at = strchr(copy, '@');
	if (at != NULL)
		*at++ = '\0';
	family = hy_family_find(copy);
	if (family == NULL)
		return family_unknown(spec, copy, error);
	rule->at = -1;
	if (at != NULL)
		rc = target_read(hal, spec, family, at, &rule->at, error);
	if (rc < 0)
		return rc;
	rule->variant = hy_variant_find(family->node.name, name);
	return rule->variant != NULL ? 0 : variant_unknown(spec, family, name, error);
}

static int
rule_add(struct hy_hal *hal, const char *spec, const struct hy_rule *rule, char *error)
{
	struct hy_rule *added = hy_list_room(&hal->rules, hal->nb_rules, sizeof(*added));

	if (added == NULL)
		return hy_spec_fail(-ENOMEM, error, spec, "out of memory");
	*added = *rule;
	hal->nb_rules++;
	return 0;
}

/* Whether a specification names a fusion: by "NAME" or "NAME=VARIANT". */
static bool
names_fusion(const char *spec, const struct hy_fusion *fusion)
{
	const size_t n = strlen(fusion->name);

	return strncmp(spec, fusion->name, n) == 0 && (spec[n] == '\0' || spec[n] == '=');
}

static bool
names_any_fusion(const char *spec)
{
	const struct hy_fusion *const *fusions;
	const unsigned int n = hy_fusions(&fusions);

	for (unsigned int i = 0; i < n; i++)
		if (names_fusion(spec, fusions[i]))
			return true;
	return false;
}

/* Denies the fusions that a specification names, of which there is at least one. */
static int
fusions_deny(struct hy_hal *hal, const char *spec, char *error)
{
	const struct hy_fusion *const *fusions;
	const unsigned int n = hy_fusions(&fusions);
	const char *variant = strchr(spec, '=');
	const unsigned int before = hal->nb_rules;
	char names[NAMES_SIZE] = "";
	int rc = 0;

	for (unsigned int i = 0; i < n && rc == 0; i++) {
		const struct hy_rule rule = { .fusion = fusions[i], .at = -1, .deny = true };

		if (!names_fusion(spec, fusions[i]))
			continue;
		hy_names_append(names, sizeof(names), fusions[i]->variant);
		if (variant != NULL && strcmp(variant + 1, fusions[i]->variant) != 0)
			continue;
		rc = rule_add(hal, spec, &rule, error);
	}
	if (rc < 0)
		hal->nb_rules = before; /* all of that name or none */
	if (rc < 0 || hal->nb_rules > before)
		return rc;
	return hy_spec_refuse(error, spec, "this fusion has no variant '%.64s'; it has: %s",
		variant + 1, names);
}

int
hy_hal_force(struct hy_hal *hal, const char *spec, char *error)
{
	struct hy_rule rule = { .deny = false };
	int rc;

	if (names_any_fusion(spec))
		return hy_spec_refuse(error, spec,
			"a fusion cannot be forced, only denied; it runs where the variants of its "
			"chain do");
	rc = spec_parse(hal, spec, &rule, error);
	if (rc < 0)
		return rc;
	for (unsigned int i = 0; i < hal->nb_rules; i++) {
		const struct hy_rule *other = &hal->rules[i];

		if (other->deny || other->at != rule.at ||
			strcmp(other->variant->family, rule.variant->family) != 0)
			continue;
		if (other->variant == rule.variant)
			return 0;
		return hy_spec_fail(-EEXIST, error, spec, "%s is forced to '%s' already",
			rule.variant->family, other->variant->impl.variant);
	}
	return rule_add(hal, spec, &rule, error);
}

/* Adds to the refusal of a denial that names no family which fusions could be meant. */
static void
fusions_suggest(const char *spec, char *error)
{
	const struct hy_fusion *const *fusions;
	const unsigned int n = hy_fusions(&fusions);
	const size_t used = strlen(error);
	char family[SPEC_SIZE], names[NAMES_SIZE] = "";

	snprintf(family, sizeof(family), "%.*s", (int)strcspn(spec, "@="), spec);
	if (n == 0 || hy_family_find(family) != NULL)
		return;
	for (unsigned int i = 0; i < n; i++) /* in order of names */
		if (i == 0 || strcmp(fusions[i]->name, fusions[i - 1]->name) != 0)
			hy_names_append(names, sizeof(names), fusions[i]->name);
	snprintf(error + used, HY_HAL_ERROR_SIZE - used, "; fusions that can be denied: %s", names);
}

int
hy_hal_deny(struct hy_hal *hal, const char *spec, char *error)
{
	struct hy_rule rule = { .deny = true };
	int rc;

	if (names_any_fusion(spec))
		return fusions_deny(hal, spec, error);
	rc = spec_parse(hal, spec, &rule, error);
	if (rc < 0)
		fusions_suggest(spec, error);
	return rc < 0 ? rc : rule_add(hal, spec, &rule, error);
}
