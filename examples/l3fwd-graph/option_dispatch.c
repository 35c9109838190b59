/* SPDX-License-Identifier: BSD-3-Clause */
/* --pin PATTERN=LCORE[+LCORE...], which nodes run where with --mode=dispatch. */

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_lcore.h>

#include "option.h"
#include "options.h"

/* The lcores behind the '=', each once. */
static int
read_lcores(const char *text, const char *at, struct pin *pin)
{
	do {
		unsigned long lcore;
		char *end;

		errno = 0;
		lcore = strtoul(++at, &end, 10);
		if (!isdigit((unsigned char)*at) || errno != 0 || lcore >= RTE_MAX_LCORE ||
			(*end != '+' && *end != '\0'))
			return hy_option_refuse("--pin",
				"'%s' is not PATTERN=LCORE[+LCORE...], as in ip4_*=2", text);
		if (pin_has(pin, (unsigned int)lcore))
			return hy_option_refuse("--pin", "'%s' names lcore %lu twice", text, lcore);
		if (pin->nb_lcores == PIN_LCORES_MAX)
			return hy_option_refuse("--pin", "'%s' names more than %d lcores", text,
				PIN_LCORES_MAX);
		pin->lcores[pin->nb_lcores++] = (unsigned int)lcore;
		at = end;
	} while (*at == '+');
	return 0;
}

int
option_read_pin(const char *text, struct options *options)
{
	const char *equals = strchr(text, '=');
	struct pin *pin = &options->dispatch.pins[options->dispatch.nb_pins];

	if (options->dispatch.nb_pins == REPEATS_MAX)
		return hy_option_refuse("--pin", "more than %d times", REPEATS_MAX);
	if (equals == NULL || equals == text || equals - text >= (int)sizeof(pin->pattern))
		return hy_option_refuse("--pin",
			"'%s' is not PATTERN=LCORE[+LCORE...], as in ip4_*=2", text);
	snprintf(pin->pattern, sizeof(pin->pattern), "%.*s", (int)(equals - text), text);
	for (const struct pin *other = options->dispatch.pins; other < pin; other++)
		if (strcmp(other->pattern, pin->pattern) == 0)
			return hy_option_refuse("--pin",
				"'%s' is pinned twice; its lcores are accepted together, as in "
				"%s=1+2",
				pin->pattern, pin->pattern);
	if (read_lcores(text, equals, pin) < 0)
		return -1;
	options->dispatch.nb_pins++;
	return 0;
}

/* Which worker polls a queue is for --config to say. */
static int
check_pattern(const struct options *options, const struct pin *pin)
{
	for (unsigned int i = 0; i < options->nb_queues; i++) {
		char name[HY_NAME_SIZE];

		hy_rx_node_name(&options->queues[i], name);
		if (fnmatch(pin->pattern, name, 0) == 0)
			return hy_option_refuse("--pin",
				"'%s' matches %s, which runs where --config says", pin->pattern,
				name);
	}
	return 0;
}

static int
check_lcores(const struct pin *pin)
{
	for (unsigned int i = 0; i < pin->nb_lcores; i++) {
		const unsigned int lcore = pin->lcores[i];

		if (!rte_lcore_is_enabled(lcore))
			return hy_option_refuse("--pin",
				"lcore %u is not enabled; see EAL's --lcores", lcore);
		if (lcore == rte_get_main_lcore())
			return hy_option_refuse("--pin",
				"lcore %u is the main lcore, which controls and prints; "
				"pin nodes to workers",
				lcore);
	}
	return 0;
}

int
option_check_dispatch(const struct options *options)
{
	const struct dispatch_options *d = &options->dispatch;

	if (!d->on && d->nb_pins > 0)
		return hy_option_refuse("--pin", "is for --mode=dispatch");
	if (d->on && d->nb_pins == 0)
		return hy_option_refuse("--mode",
			"dispatch requires --pin: without one, all nodes run where packets come in, "
			"as with poll");
	for (unsigned int i = 0; i < d->nb_pins; i++)
		if (check_pattern(options, &d->pins[i]) < 0 || check_lcores(&d->pins[i]) < 0)
			return -1;
	return 0;
}
