/* SPDX-License-Identifier: BSD-3-Clause */
/* The value of --steer: CLASS=PORT,MAC. */

#include <string.h>

#include "option.h"
#include "options.h"

/* Cuts a copy of the value at '=' and ','. */
static bool
split(const char *text, char copy[64], char *field[3])
{
	if (strlen(text) >= 64)
		return false;
	strcpy(copy, text);
	field[0] = copy;
	field[1] = strchr(copy, '=');
	if (field[1] == NULL)
		return false;
	*field[1]++ = '\0';
	field[2] = strchr(field[1], ',');
	if (field[2] == NULL)
		return false;
	*field[2]++ = '\0';
	return true;
}

int
option_read_steer(const char *text, struct options *options)
{
	struct hy_ip4_steer *steer = &options->steer[options->nb_steers];
	unsigned int class_id = 0, port = 0;
	char copy[64], *field[3];

	if (options->nb_steers == REPEATS_MAX)
		return hy_option_refuse("--steer", "more than %d times", REPEATS_MAX);
	if (!split(text, copy, field) ||
		rte_ether_unformat_addr(field[2], &steer->next_hop.mac) < 0)
		return hy_option_refuse("--steer",
			"'%s' is not CLASS=PORT,MAC, as in 7=1,02:00:00:00:00:01", text);
	if (hy_option_number("--steer: class", field[0], 0, UINT16_MAX, &class_id) < 0 ||
		hy_option_number("--steer: port", field[1], 0, RTE_MAX_ETHPORTS - 1, &port) < 0)
		return -1;
	for (unsigned int i = 0; i < options->nb_steers; i++)
		if (options->steer[i].class_id == class_id)
			return hy_option_refuse("--steer", "class %u is given twice", class_id);
	steer->class_id = (uint16_t)class_id;
	steer->next_hop.port = (uint16_t)port;
	options->nb_steers++;
	return 0;
}

int
option_check_steer(const struct options *options)
{
	for (unsigned int i = 0; i < options->nb_steers; i++) {
		const struct hy_ip4_steer *steer = &options->steer[i];

		if (!port_enabled(options, steer->next_hop.port))
			return hy_option_refuse("--steer", "port %u is not one of -p",
				steer->next_hop.port);
		for (unsigned int d = 0; d < options->nb_drop_class; d++)
			if (options->drop_class[d] == steer->class_id)
				return hy_option_refuse("--steer",
					"class %u is one of --drop-class", steer->class_id);
	}
	return 0;
}
