/* SPDX-License-Identifier: BSD-3-Clause */
/* A choice of packets in the value of an option: src=PREFIX,dst=PREFIX,proto=NUMBER. */

#include <arpa/inet.h>
#include <string.h>

#include "option.h"
#include "options.h"

static int
read_prefix(const char *option, char *text, struct hy_ip4_prefix *prefix)
{
	char *slash = strchr(text, '/');
	unsigned int depth = 32;
	struct in_addr address;

	if (slash != NULL) {
		*slash = '\0';
		if (option_read_uint(option, slash + 1, 0, 32, &depth) < 0)
			return -1;
	}
	if (inet_pton(AF_INET, text, &address) != 1)
		return option_refuse(option, "'%s' is not an IPv4 address, A.B.C.D", text);
	prefix->address = ntohl(address.s_addr);
	prefix->depth = (uint8_t)depth;
	if (depth < 32 && prefix->address << depth != 0)
		return option_refuse(option, "%s/%u has bits set beyond its length", text, depth);
	return 0;
}

int
option_read_condition(const char *option, char *word, struct hy_ip4_filter *filter,
	unsigned int *met)
{
	static const char *const keys[] = { "src=", "dst=", "proto=" };
	unsigned int key = 0, proto = 0;
	char *value;

	while (key < RTE_DIM(keys) && strncmp(word, keys[key], strlen(keys[key])) != 0)
		key++;
	if (key == RTE_DIM(keys))
		return option_refuse(option, "'%s' is not src=PREFIX, dst=PREFIX or proto=NUMBER",
			word);
	if ((*met & 1u << key) != 0)
		return option_refuse(option, "'%s' is a second %s; each is accepted once", word,
			keys[key]);
	*met |= 1u << key;
	value = word + strlen(keys[key]);
	if (key < 2)
		return read_prefix(option, value, key == 0 ? &filter->src : &filter->dst);
	if (option_read_uint(option, value, 0, UINT8_MAX, &proto) < 0)
		return -1;
	filter->has_proto = true;
	filter->proto = (uint8_t)proto;
	return 0;
}

int
option_read_filter(const char *option, char *text, struct hy_ip4_filter *filter)
{
	unsigned int met = 0;
	char *word;

	*filter = (struct hy_ip4_filter){ 0 };
	while ((word = strsep(&text, ",")) != NULL)
		if (option_read_condition(option, word, filter, &met) < 0)
			return -1;
	return 0;
}
