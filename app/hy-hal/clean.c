/* SPDX-License-Identifier: BSD-3-Clause */
/* See clean.h. */

#include <ctype.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_ethdev.h>

#include "clean.h"

#define NAME_MIN 3 /* a shorter name is part of too many words */

/* Whether the match of a pattern is to be replaced. */
typedef bool(is_private_t)(const char *match, size_t n, bool version);

/* PCI addresses and times of day have two colons, which are not adjacent. */
static bool
is_ip6(const char *match, size_t n, bool version __rte_unused)
{
	unsigned int colons = 0;

	for (size_t i = 0; i < n; i++) {
		if (match[i] == ':' && i + 1 < n && match[i + 1] == ':')
			return true;
		colons += match[i] == ':';
	}
	return colons > 2;
}

/* More than four numbers are a version, not an address. */
static bool
is_ip4(const char *match, size_t n, bool version)
{
	unsigned int numbers = 0;

	for (const char *c = match; c < match + n; c++, numbers++) {
		char *end;

		if (strtoul(c, &end, 10) > UINT8_MAX)
			return false;
		c = end;
	}
	return !version && numbers == 4;
}

/* Decimal numbers may be counters. */
static bool
has_letter(const char *match, size_t n, bool version __rte_unused)
{
	for (size_t i = 0; i < n; i++)
		if (isalpha((unsigned char)match[i]))
			return true;
	return false;
}

/* A prefix length, as in "/24", is not a path. */
static bool
is_path(const char *match, size_t n, bool version)
{
	return memchr(match + 1, '/', n - 1) != NULL || has_letter(match, n, version);
}

/* Replaced in this order. A match counts only without a letter or digit on either side. */
static const struct pattern {
	const char *regex, *instead;
	is_private_t *is_private; /* NULL: every match is */
} patterns[CLEAN_PATTERNS] = {
	{ "/[[:alnum:]_.~-][^] \t\n\"'\\<>,;:()]*", "<path>", is_path },
	{ "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "<uuid>", NULL },
	{ "([0-9a-f]{2}[:-]){5}[0-9a-f]{2}", "<mac>", NULL },
	{ "[0-9a-f]{4}[.][0-9a-f]{4}[.][0-9a-f]{4}", "<mac>", has_letter },
	{ "[0-9a-f]{0,4}(:[0-9a-f]{0,4}){2,19}(([.][0-9]{1,3}){3})?", "<ip>", is_ip6 },
	{ "[0-9]{1,3}([.][0-9]{1,3}){3,}", "<ip>", is_ip4 },
	{ "(0x)?[0-9a-f]{12,}", "<hex>", has_letter },
};

/* Names that identify nobody. */
static bool
is_common(const char *name)
{
	static const char *const common[] = { "root", "localhost", "debian", "ubuntu", "fedora" };

	for (size_t i = 0; i < RTE_DIM(common); i++)
		if (strcasecmp(name, common[i]) == 0)
			return true;
	return strlen(name) < NAME_MIN;
}

static int
name_add(struct cleaner *cleaner, const char *name)
{
	if (name == NULL || is_common(name) || cleaner->nb_names == CLEAN_NAMES)
		return 0;
	cleaner->names[cleaner->nb_names] = strdup(name);
	return cleaner->names[cleaner->nb_names++] == NULL ? -ENOMEM : 0;
}

/* With and without its domain. */
static int
host_add(struct cleaner *cleaner)
{
	char host[256] = "";
	int rc;

	if (gethostname(host, sizeof(host) - 1) < 0)
		return 0;
	rc = name_add(cleaner, host);
	host[strcspn(host, ".")] = '\0';
	return rc == 0 ? name_add(cleaner, host) : rc;
}

static int
users_add(struct cleaner *cleaner)
{
	static const char *const variables[] = { "USER", "LOGNAME", "SUDO_USER", "HOSTNAME" };
	const struct passwd *user = getpwuid(getuid());
	const char *home = getenv("HOME");
	int rc = name_add(cleaner, user == NULL ? NULL : user->pw_name);

	for (size_t i = 0; i < RTE_DIM(variables) && rc == 0; i++)
		rc = name_add(cleaner, getenv(variables[i]));
	if (rc == 0 && home != NULL && strrchr(home, '/') != NULL)
		rc = name_add(cleaner, strrchr(home, '/') + 1);
	return rc;
}

static int
macs_add(struct cleaner *cleaner)
{
	struct rte_ether_addr mac;
	uint16_t port;
	int rc = 0;

	RTE_ETH_FOREACH_DEV(port) {
		char text[2 * RTE_ETHER_ADDR_LEN + 1];

		if (rte_eth_macaddr_get(port, &mac) != 0 || rte_is_zero_ether_addr(&mac))
			continue;
		for (unsigned int i = 0; i < RTE_ETHER_ADDR_LEN; i++)
			snprintf(text + 2 * i, 3, "%02x", mac.addr_bytes[i]);
		rc = rc == 0 ? name_add(cleaner, text) : rc;
	}
	return rc;
}

int
clean_init(struct cleaner *cleaner)
{
	int rc = 0;

	*cleaner = (struct cleaner){ 0 };
	for (unsigned int i = 0; i < CLEAN_PATTERNS; i++)
		if (regcomp(&cleaner->patterns[i], patterns[i].regex, REG_EXTENDED | REG_ICASE) !=
			0)
			rc = -ENOMEM;
	if (rc == 0)
		rc = host_add(cleaner);
	if (rc == 0)
		rc = users_add(cleaner);
	return rc == 0 ? macs_add(cleaner) : rc;
}

void
clean_free(struct cleaner *cleaner)
{
	for (unsigned int i = 0; i < CLEAN_PATTERNS; i++)
		regfree(&cleaner->patterns[i]);
	for (unsigned int i = 0; i < cleaner->nb_names; i++)
		free(cleaner->names[i]);
	*cleaner = (struct cleaner){ 0 };
}

static bool
stands_alone(const char *text, const char *from, const char *to)
{
	return (from == text || !isalnum((unsigned char)from[-1])) && !isalnum((unsigned char)*to);
}

/* Finds the next match from *from on. False: there is none. */
static bool
pattern_find(const regex_t *regex, const struct pattern *pattern, const char *text, bool version,
	const char **from, const char **to)
{
	regmatch_t match;

	while (regexec(regex, *from, 1, &match, *from > text ? REG_NOTBOL : 0) == 0) {
		const char *const at = *from + match.rm_so;
		const bool alone = stands_alone(text, at, *from + match.rm_eo);

		*to = *from + match.rm_eo;
		*from = at;
		if (*to > at && alone &&
			(pattern->is_private == NULL ||
				pattern->is_private(at, (size_t)(*to - at), version)))
			return true;
		if (*at == '\0')
			return false;
		*from = *to > at && alone ? *to : at + 1;
	}
	return false;
}

/* Whether a name may be a number in this place. A MAC address is longer than most numbers. */
static bool
is_number(const char *name, const char *text, const char *from, const char *to)
{
	const size_t n = strlen(name);

	return n < (size_t)2 * RTE_ETHER_ADDR_LEN && strspn(name, "0123456789") == n &&
		(from == text || strchr(" [", from[-1]) != NULL) && strchr(" ,;\n]}", *to) != NULL;
}

static bool
name_find(const char *name, const char *text, const char **from, const char **to)
{
	while ((*from = strcasestr(*from, name)) != NULL) {
		*to = *from + strlen(name);
		if (stands_alone(text, *from, *to) && !is_number(name, text, *from, *to))
			return true;
		++*from;
	}
	return false;
}

/* Replaces all matches of a pattern or a name in a copy of the text, and frees the text. */
static char *
replace(const struct cleaner *cleaner, unsigned int which, char *text, bool version)
{
	const bool is_name = which >= CLEAN_PATTERNS;
	const char *done = text, *from = text, *to;
	char *made = NULL;
	size_t size;
	FILE *out = text == NULL ? NULL : open_memstream(&made, &size);

	while (out != NULL &&
		(is_name ? name_find(cleaner->names[which - CLEAN_PATTERNS], text, &from, &to)
			 : pattern_find(&cleaner->patterns[which], &patterns[which], text, version,
				   &from, &to))) {
		fprintf(out, "%.*s%s", (int)(from - done), done,
			is_name ? "<name>" : patterns[which].instead);
		done = from = to;
	}
	if (out != NULL) {
		fputs(done, out);
		if (fclose(out) != 0) {
			free(made);
			made = NULL;
		}
	}
	free(text);
	return made;
}

/* Frees the text. */
static char *
cleaned(const struct cleaner *cleaner, char *text, bool version)
{
	for (unsigned int i = 0; i < CLEAN_PATTERNS + cleaner->nb_names; i++)
		text = replace(cleaner, i, text, version);
	return text;
}

char *
clean_text(const struct cleaner *cleaner, const char *text, bool version)
{
	return cleaned(cleaner, strdup(text), version);
}

/* The end of a JSON string, at its second quote. */
static const char *
string_end(const char *c)
{
	while (*c != '"' && *c != '\0')
		c += *c == '\\' && c[1] != '\0' ? 2 : 1;
	return c;
}

char *
clean_json(const struct cleaner *cleaner, const char *json)
{
	char *made = NULL;
	size_t size;
	FILE *out = open_memstream(&made, &size);
	bool good = out != NULL;

	while (good && *json != '\0') {
		const size_t before = strcspn(json, "\"");
		const char *const from = json + before + (json[before] == '"');
		const char *const to = string_end(from);
		char *text = strndup(from, (size_t)(to - from));

		if (text != NULL && strncmp(to, "\":", 2) != 0) /* names are the program's own */
			text = cleaned(cleaner, text, false);
		good = text != NULL;
		fprintf(out, "%.*s%s%s", (int)(from - json), json, good ? text : "",
			*to == '"' ? "\"" : "");
		free(text);
		json = *to == '"' ? to + 1 : to;
	}
	if (out != NULL && fclose(out) == 0 && good)
		return made;
	free(made);
	return NULL;
}
