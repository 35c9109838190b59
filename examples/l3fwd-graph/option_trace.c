/* SPDX-License-Identifier: BSD-3-Clause */
/* The value of --trace: N[:FILTER]. */

#include <arpa/inet.h>
#include <string.h>

#include "option.h"
#include "options.h"

static int
read_trace_prefix(char *text, struct hy_ip4_prefix *prefix)
{
	char *slash = strchr(text, '/');
	unsigned int depth = 32;
	struct in_addr address;

	if (slash != NULL) {
		*slash = '\0';
		if (option_read_uint("--trace", slash + 1, 0, 32, &depth) < 0)
			return -1;
	}
	if (inet_pton(AF_INET, text, &address) != 1)
		return option_refuse("--trace", "'%s' is not an IPv4 address, A.B.C.D", text);
	prefix->address = ntohl(address.s_addr);
	prefix->depth = (uint8_t)depth;
	if (depth < 32 && prefix->address << depth != 0)
		return option_refuse("--trace", "%s/%u has bits set beyond its length", text,
			depth);
	return 0;
}

static int
read_trace_filter(char *text, struct hy_ip4_filter *filter)
{
	char *save, *word = strtok_r(text, ",", &save);

	if (word == NULL)
		return option_refuse("--trace",
			"a filter is src=PREFIX, dst=PREFIX or proto=NUMBER");
	for (; word != NULL; word = strtok_r(NULL, ",", &save)) {
		unsigned int proto = 0;
		int rc;

		if (strncmp(word, "src=", 4) == 0) {
			rc = read_trace_prefix(word + 4, &filter->src);
		} else if (strncmp(word, "dst=", 4) == 0) {
			rc = read_trace_prefix(word + 4, &filter->dst);
		} else if (strncmp(word, "proto=", 6) == 0) {
			rc = option_read_uint("--trace", word + 6, 0, UINT8_MAX, &proto);
			filter->has_proto = true;
			filter->proto = (uint8_t)proto;
		} else {
			rc = option_refuse("--trace",
				"'%s' is not src=PREFIX, dst=PREFIX or proto=NUMBER", word);
		}
		if (rc < 0)
			return rc;
	}
	return 0;
}

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
	return colon == NULL ? 0 : read_trace_filter(colon + 1, &options->trace_filter);
}
