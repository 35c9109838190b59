/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers and filters in values of options, and the form of their refusal. */

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hy_file.h>
#include <hy_option.h>

static _Thread_local char reason[HY_OPTION_ERROR_SIZE];

int
hy_option_refuse(const char *option, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(reason, sizeof(reason), format, ap);
	va_end(ap);
	return hy_terminal_refuse(-EINVAL, "%s: %s", option, hy_printable(reason));
}

const char *
hy_option_reason(void)
{
	return reason;
}

bool
hy_option_is_number(const char *text, unsigned int min, unsigned int max, unsigned int *value)
{
	unsigned long wide;
	char *end;

	errno = 0;
	wide = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || wide < min || wide > max)
		return false;
	*value = (unsigned int)wide;
	return true;
}

int
hy_option_number(const char *option, const char *text, unsigned int min, unsigned int max,
	unsigned int *value)
{
	if (hy_option_is_number(text, min, max, value))
		return 0;
	return hy_option_refuse(option, "'%s' is not a number from %u to %u", text, min, max);
}

int
hy_option_number_before(const char *option, const char **text, char separator, const char *form,
	unsigned int max, unsigned int *value)
{
	const char *end = strchr(*text, separator);
	char number[16];

	if (end == NULL || end - *text >= (int)sizeof(number))
		return hy_option_refuse(option, "'%s' is not %s", *text, form);
	snprintf(number, sizeof(number), "%.*s", (int)(end - *text), *text);
	*text = end + 1;
	return hy_option_number(option, number, 0, max, value);
}

static const char *
skip_space(const char **text)
{
	*text += strspn(*text, " \t");
	return *text;
}

int
hy_option_tuple(const char **text, uint16_t field[], unsigned int n)
{
	const char *at = *text;

	for (unsigned int i = 0; i < n; i++) {
		unsigned long number;
		char *end;

		if (*skip_space(&at) != (i == 0 ? '(' : ','))
			return -EINVAL;
		at++;
		if (!isdigit((unsigned char)*skip_space(&at)))
			return -EINVAL;
		errno = 0;
		number = strtoul(at, &end, 0);
		if (errno != 0 || number > UINT16_MAX)
			return -EINVAL;
		field[i] = (uint16_t)number;
		at = end;
	}
	if (*skip_space(&at) != ')')
		return -EINVAL;
	*text = at + 1;
	skip_space(text);
	return 0;
}

int
hy_option_mac(const char *option, const char *text, struct rte_ether_addr *mac)
{
	if (strlen(text) == strlen("MM:MM:MM:MM:MM:MM") && rte_ether_unformat_addr(text, mac) == 0)
		return 0;
	return hy_option_refuse(option, "'%s' is not a MAC address, MM:MM:MM:MM:MM:MM", text);
}

int
hy_option_word(const char *option, const char *text, const char *const *words,
	unsigned int nb_words, const char *form, unsigned int *value)
{
	for (unsigned int i = 0; i < nb_words; i++) {
		if (words[i] == NULL || strcmp(text, words[i]) != 0)
			continue;
		*value = i;
		return 0;
	}
	return hy_option_refuse(option, "'%s' is not %s", text, form);
}

static bool
bits_beyond(const struct hy_ip_prefix *prefix, unsigned int bits)
{
	for (unsigned int bit = prefix->depth; bit < bits; bit++)
		if ((prefix->address[bit / 8] & 0x80 >> bit % 8) != 0)
			return true;
	return false;
}

static int
read_prefix(const char *option, char *text, struct hy_ip_prefix *prefix)
{
	char *slash = strchr(text, '/');
	unsigned int bits, depth;
	bool v6;

	if (slash != NULL)
		*slash = '\0';
	v6 = strchr(text, ':') != NULL;
	bits = depth = v6 ? 128 : 32;
	if (slash != NULL && hy_option_number(option, slash + 1, 0, bits, &depth) < 0)
		return -EINVAL;
	if (inet_pton(v6 ? AF_INET6 : AF_INET, text, prefix->address) != 1)
		return hy_option_refuse(option,
			"'%s' is not an IPv4 address, A.B.C.D, or an IPv6 address, X:X::X", text);
	prefix->family = v6 ? HY_IP_V6 : HY_IP_V4;
	prefix->depth = (uint8_t)depth;
	if (bits_beyond(prefix, bits))
		return hy_option_refuse(option, "%s/%u has bits set beyond its length", text,
			depth);
	return 0;
}

int
hy_option_condition(const char *option, char *word, struct hy_ip_filter *filter, unsigned int *met)
{
	static const char *const keys[] = { "src=", "dst=", "proto=" };
	unsigned int key = 0, proto = 0;
	char *value;

	while (key < RTE_DIM(keys) && strncmp(word, keys[key], strlen(keys[key])) != 0)
		key++;
	if (key == RTE_DIM(keys))
		return hy_option_refuse(option,
			"'%s' is not src=PREFIX, dst=PREFIX or proto=NUMBER", word);
	if ((*met & 1u << key) != 0)
		return hy_option_refuse(option, "'%s' is a second %s; each is accepted once", word,
			keys[key]);
	*met |= 1u << key;
	value = word + strlen(keys[key]);
	if (key < 2)
		return read_prefix(option, value, key == 0 ? &filter->src : &filter->dst);
	if (hy_option_number(option, value, 0, UINT8_MAX, &proto) < 0)
		return -EINVAL;
	filter->has_proto = true;
	filter->proto = (uint8_t)proto;
	return 0;
}

int
hy_option_filter(const char *option, char *text, struct hy_ip_filter *filter)
{
	unsigned int met = 0;
	char *word;

	*filter = (struct hy_ip_filter){ 0 };
	while ((word = strsep(&text, ",")) != NULL)
		if (hy_option_condition(option, word, filter, &met) < 0)
			return -EINVAL;
	return 0;
}
