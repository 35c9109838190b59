/* SPDX-License-Identifier: BSD-3-Clause */
/* The value of --feature: ip4_filter@PORT:FILTER. */

#include <string.h>

#include "option.h"
#include "options.h"

#define PREFIX HY_IP4_FILTER_NODE "@"

int
option_read_feature(const char *text, struct options *options)
{
	struct feature *feature = &options->feature[options->nb_features];
	unsigned int port = 0;
	char copy[128], *colon;

	if (options->nb_features == REPEATS_MAX)
		return hy_option_refuse("--feature", "more than %d times", REPEATS_MAX);
	colon = strchr(text, ':');
	if (strlen(text) >= sizeof(copy) || strncmp(text, PREFIX, strlen(PREFIX)) != 0 ||
		colon == NULL)
		return hy_option_refuse("--feature",
			"'%s' is not " PREFIX "PORT:FILTER, as in " PREFIX "0:dst=192.0.2.0/24",
			text);
	strcpy(copy, text);
	colon = copy + (colon - text);
	*colon = '\0';
	if (hy_option_number("--feature: port", copy + strlen(PREFIX), 0, RTE_MAX_ETHPORTS - 1,
		    &port) < 0 ||
		hy_option_filter("--feature", colon + 1, &feature->filter) < 0)
		return -1;
	feature->port = (uint16_t)port;
	options->nb_features++;
	return 0;
}

int
option_check_feature(const struct options *options)
{
	for (unsigned int i = 0; i < options->nb_features; i++)
		if (!port_enabled(options, options->feature[i].port))
			return hy_option_refuse("--feature", "port %u is not one of -p",
				options->feature[i].port);
	if (options->nb_features > 0 && options->nb_steers > 0)
		return hy_option_refuse("--feature",
			"is for packets that are routed, and those of --steer go past that");
	return 0;
}
