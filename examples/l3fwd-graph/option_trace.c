/* SPDX-License-Identifier: BSD-3-Clause */
/* The value of --trace: N[:FILTER]. */

#include <arpa/inet.h>
#include <string.h>

#include <hy_ip4_filter.h>

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

/* One condition; *met has a bit for each sort that came before. */
static int
read_trace_word(char *word, struct hy_ip4_filter *filter, unsigned int *met)
{
	static const char *const keys[] = { "src=", "dst=", "proto=" };
	unsigned int key = 0, proto = 0;
	char *value;

	while (key < RTE_DIM(keys) && strncmp(word, keys[key], strlen(keys[key])) != 0)
		key++;
	if (key == RTE_DIM(keys))
		return option_refuse("--trace",
			"'%s' is not src=PREFIX, dst=PREFIX or proto=NUMBER", word);
	if ((*met & 1u << key) != 0)
		return option_refuse("--trace", "'%s' is a second %s; each is accepted once", word,
			keys[key]);
	*met |= 1u << key;
	value = word + strlen(keys[key]);
	if (key < 2)
		return read_trace_prefix(value, key == 0 ? &filter->src : &filter->dst);
	if (option_read_uint("--trace", value, 0, UINT8_MAX, &proto) < 0)
		return -1;
	filter->has_proto = true;
	filter->proto = (uint8_t)proto;
	return 0;
}

static int
read_trace_filter(char *text, struct hy_ip4_filter *filter)
{
	unsigned int met = 0;
	char *word;

	while ((word = strsep(&text, ",")) != NULL)
		if (read_trace_word(word, filter, &met) < 0)
			return -1;
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
