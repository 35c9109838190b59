/* SPDX-License-Identifier: BSD-3-Clause */
/* The values of --pin, which nodes run where with --mode=dispatch. */

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "readers.h"

static int
refuse(const char *text)
{
	return hy_option_refuse("--pin", "'%s' is not PATTERN=LCORE[+LCORE...], as in ip4_*=2",
		text);
}

/* The lcores behind the '=', each once. */
static int
read_lcores(const char *text, const char *at, unsigned int *lcores, unsigned int *n)
{
	do {
		unsigned long lcore;
		char *end;

		errno = 0;
		lcore = strtoul(++at, &end, 10);
		if (!isdigit((unsigned char)*at) || errno != 0 || lcore >= RTE_MAX_LCORE ||
			(*end != '+' && *end != '\0'))
			return refuse(text);
		for (unsigned int i = 0; i < *n; i++)
			if (lcores[i] == lcore)
				return hy_option_refuse("--pin", "'%s' names lcore %lu twice", text,
					lcore);
		if (*n == HY_PIN_LCORES_MAX)
			return hy_option_refuse("--pin", "'%s' names more than %d lcores", text,
				HY_PIN_LCORES_MAX);
		lcores[(*n)++] = (unsigned int)lcore;
		at = end;
	} while (*at == '+');
	return 0;
}

int
hy_pin_read(const char *text, void *to)
{
	struct hy_mode_options *o = to;
	const char *equals = strchr(text, '=');
	char *pattern = o->patterns[o->nb_pins];
	struct hy_lcore_pin *pin = &o->pins[o->nb_pins];

	if (equals == NULL || equals == text || equals - text >= HY_NAME_SIZE)
		return refuse(text);
	snprintf(pattern, HY_NAME_SIZE, "%.*s", (int)(equals - text), text);
	for (const struct hy_lcore_pin *other = o->pins; other < pin; other++)
		if (strcmp(other->pattern, pattern) == 0)
			return hy_option_refuse("--pin",
				"'%s' is pinned twice; its lcores are accepted together, as in "
				"%s=1+2",
				pattern, pattern);
	*pin = (struct hy_lcore_pin){ .pattern = pattern, .lcores = o->lcores[o->nb_pins] };
	if (read_lcores(text, equals, o->lcores[o->nb_pins], &pin->nb_lcores) < 0)
		return -EINVAL;
	o->nb_pins++;
	return 0;
}

/* --config says which worker polls a queue. */
static int
check_pattern(const struct hy_port_options *ports, const char *pattern)
{
	for (unsigned int i = 0; i < ports->nb_queues; i++) {
		char name[HY_NAME_SIZE];

		hy_rx_node_name(&ports->queues[i], name);
		if (fnmatch(pattern, name, 0) == 0)
			return hy_option_refuse("--pin",
				"'%s' matches %s, which runs where --config says", pattern, name);
	}
	return 0;
}

int
hy_pins_check(const struct hy_mode_options *o)
{
	int rc = 0;

	for (const struct hy_lcore_pin *pin = o->pins; pin < o->pins + o->nb_pins && rc == 0;
		pin++) {
		rc = check_pattern(o->ports, pin->pattern);
		for (unsigned int i = 0; i < pin->nb_lcores && rc == 0; i++)
			rc = hy_option_check_lcore("--pin", pin->lcores[i], "pin nodes to workers");
	}
	return rc;
}
