/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses overrides: TARGET.CAPABILITY=LEVEL[:VALUE]. */

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "hal/internal/list.h"
#include "override.h"

/* Reads "NAME" followed by a device id. Returns the rest of the text; NULL: it does not match. */
static const char *
id_read(const char *text, const char *name, uint16_t *id)
{
	const size_t len = strlen(name);
	unsigned long value;
	char *end;

	if (strncmp(text, name, len) != 0 || !isdigit((unsigned char)text[len]))
		return NULL;
	value = strtoul(text + len, &end, 10);
	*id = (uint16_t)value;
	return value < UINT16_MAX ? end : NULL;
}

/* Reads the second device of "eventN:…". */
static bool
peer_read(const char *text, struct hy_target *target)
{
	const char *end = id_read(text, "port", &target->peer);

	target->kind = HY_TARGET_EVENT_PORT;
	if (end == NULL) {
		end = id_read(text, "crypto", &target->peer);
		target->kind = HY_TARGET_EVENT_CRYPTO;
	}
	return end != NULL && *end == '\0';
}

bool
hy_target_parse(const char *text, struct hy_target *target)
{
	static const struct {
		const char *name;
		enum hy_target_kind kind;
	} kinds[] = { { "port", HY_TARGET_PORT }, { "event", HY_TARGET_EVENT },
		{ "crypto", HY_TARGET_CRYPTO }, { "regex", HY_TARGET_REGEX } };

	*target = (struct hy_target){ .kind = HY_TARGET_PROCESS };
	if (strcmp(text, "process") == 0)
		return true;
	for (unsigned int i = 0; i < RTE_DIM(kinds); i++) {
		const char *end = id_read(text, kinds[i].name, &target->id);

		if (end == NULL)
			continue;
		target->kind = kinds[i].kind;
		if (*end == ':' && target->kind == HY_TARGET_EVENT)
			return peer_read(end + 1, target);
		return *end == '\0';
	}
	return false;
}

/* Names of drivers have an underscore, or are patterns; anything else is a typo. */
static bool
is_driver(const char *text)
{
	return strpbrk(text, "_*?") != NULL && strchr(text, ':') == NULL &&
		strlen(text) < HY_NAME_SIZE;
}

/* Finds a capability of a kind of target; for a driver, of any kind but the process. */
static int
cap_read(const char *spec, const char *text, struct hy_override *o, char *error)
{
	const enum hy_target_kind kind = o->target.kind;
	char names[HY_HAL_ERROR_SIZE] = "";

	for (int c = HY_CAP_NONE + 1; c < HY_CAPS_MAX; c++) {
		if (hy_cap_kind(c) == HY_TARGET_KINDS ||
			(kind == HY_TARGET_KINDS ? hy_cap_concerns(HY_TARGET_PROCESS, c)
						 : !hy_cap_concerns(kind, c)))
			continue;
		if (strcmp(hy_cap_name(c), text) == 0) {
			o->cap = c;
			return 0;
		}
		hy_names_append(names, sizeof(names), hy_cap_name(c));
	}
	if (kind == HY_TARGET_KINDS)
		return hy_spec_refuse(error, spec,
			"'%.32s' is not a capability of devices; hy-hal inventory lists them",
			text);
	return hy_spec_refuse(error, spec, "'%.32s' is not a capability of %s; accepted: %s", text,
		hy_kind_names(kind), names);
}

/* Reads LEVEL[:VALUE]. Modifies the text. */
static int
level_read(const char *spec, char *text, struct hy_override *o, char *error)
{
	char *value = strchr(text, ':'), *end;
	int level;

	if (value != NULL)
		*value++ = '\0';
	level = hy_level_find(text);
	if (level < 0)
		return hy_spec_refuse(error, spec,
			"'%.32s' is not a level; accepted: no, unknown, yes", text);
	o->level = (enum hy_level)level;
	if (value == NULL)
		return 0;
	errno = 0;
	o->value = strtoull(value, &end, 0);
	if (!isdigit((unsigned char)*value) || *end != '\0' || errno != 0)
		return hy_spec_refuse(error, spec,
			"'%.32s' is not a value; accepted: a number, such as 65535 or 0xffff",
			value);
	o->has_value = true;
	return 0;
}

int
hy_override_parse(const char *spec, struct hy_override *o, char *error)
{
	char copy[sizeof(o->text)];
	char *cap, *level;
	int rc;

	*o = (struct hy_override){ 0 };
	if (strlen(spec) >= sizeof(copy))
		return hy_spec_refuse(error, spec, "longer than %zu characters", sizeof(copy) - 1);
	strcpy(copy, spec);
	strcpy(o->text, spec);
	level = strchr(copy, '=');
	if (level != NULL)
		*level++ = '\0';
	cap = strrchr(copy, '.');
	if (level == NULL || cap == NULL)
		return hy_spec_refuse(error, spec, "not TARGET.CAPABILITY=LEVEL[:VALUE]");
	*cap++ = '\0';
	if (!hy_target_parse(copy, &o->target)) {
		if (!is_driver(copy))
			return hy_spec_refuse(error, spec,
				"'%.32s' is not a target; accepted: process, portN, eventN, cryptoN, "
				"regexN, eventN:portN, eventN:cryptoN, or a driver's name, such as "
				"net_ice or net_cn*",
				copy);
		o->target = (struct hy_target){ .kind = HY_TARGET_KINDS };
		strcpy(o->driver, copy);
	}
	rc = cap_read(spec, cap, o, error);
	return rc < 0 ? rc : level_read(spec, level, o, error);
}
