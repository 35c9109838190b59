/* SPDX-License-Identifier: BSD-3-Clause */
/* The value of --trace: N[:FILTER]. */

#include <string.h>

#include "option.h"
#include "options.h"

int
option_read_trace(const char *text, struct options *options)
{
	char copy[128];
	char *colon;

	if (strlen(text) >= sizeof(copy))
		return option_refuse("--trace", "'%s' is not N[:FILTER]", text);
	strcpy(copy, text);
	colon = strchr(copy, ':');
	options->trace_filtered = colon != NULL;
	options->trace_filter = (struct hy_ip4_filter){ 0 };
	if (colon != NULL)
		*colon = '\0';
	if (option_read_uint("--trace", copy, 1, 1000, &options->trace) < 0)
		return -1;
	return colon == NULL ? 0 : option_read_filter("--trace", colon + 1, &options->trace_filter);
}
