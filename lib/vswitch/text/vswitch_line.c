/* SPDX-License-Identifier: BSD-3-Clause */
/* A line of text as a rule: words of a match, with values, and then actions. */

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include <rte_bitops.h>
#include <rte_common.h>

#include <hy_file.h>

#include "vswitch_text.h"

#define SPACE " \t\r\n"

/* Words of a line that are no fields. */
enum word {
	WORD_TABLE,
	WORD_PRIORITY,
	WORD_COOKIE,
	WORD_IDLE,
	WORD_HARD,
	WORDS,
};

static const struct {
	const char *name;
	uint64_t most;
	bool selects; /* a text that selects rules may have it */
	const char *accepted;
} words[WORDS] = {
	[WORD_TABLE] = { "table", HY_VSWITCH_TABLES - 1, true, "a number from 0 to 254" },
	[WORD_PRIORITY] = { "priority", UINT16_MAX, true, "a number from 0 to 65535" },
	[WORD_COOKIE] = { "cookie", UINT64_MAX, false, "a number from 0 to 0xffffffffffffffff" },
	[WORD_IDLE] = { "idle_timeout", UINT16_MAX, false, "a number of seconds from 0 to 65535" },
	[WORD_HARD] = { "hard_timeout", UINT16_MAX, false, "a number of seconds from 0 to 65535" },
};

/* What a dump has besides, and means nothing to a rule. */
static const char *const ignored[] = { "duration", "n_packets", "n_bytes", "idle_age", "hard_age" };

struct line {
	struct hy_vswitch_rule *rule;
	enum hy_vswitch_text what;
	struct vswitch_names names;
	bool is_packet; /* it describes one: all values are exact */
	uint32_t seen;  /* bits of enum word */
	char *error;
};

int
vswitch_refuse(char *error, const char *where, const char *format, ...)
{
	const int n = snprintf(error, HY_VSWITCH_ERROR_SIZE, "%.64s: ", where);
	va_list args;

	va_start(args, format);
	vsnprintf(error + n, (size_t)(HY_VSWITCH_ERROR_SIZE - n), format, args);
	va_end(args);
	hy_printable(error);
	return -EINVAL;
}

static int
refuse_unknown(const char *name, char *error)
{
	char list[HY_VSWITCH_ERROR_SIZE - 256];
	size_t at = 0;

	for (uint32_t w = 0; w < WORDS; w++)
		at += (size_t)snprintf(list + at, sizeof(list) - at, "%s, ", words[w].name);
	for (uint32_t s = 0; s < VSWITCH_SHORTHANDS; s++)
		at += (size_t)snprintf(list + at, sizeof(list) - at, "%s, ",
			vswitch_shorthands[s].name);
	for (uint32_t f = 0; f < HY_VSWITCH_FIELDS; f++)
		if (!vswitch_fields[f].unmatched)
			at += (size_t)snprintf(list + at, sizeof(list) - at, "%s, ",
				vswitch_fields[f].name);
	return vswitch_refuse(error, name, "not supported in a match; accepted are %sand actions",
		list);
}

/*
 * Adds a value to the match. The line may have said the same bits before, as "tcp" and nw_proto=6 do, but
 * not others.
 */
static int
match_add(struct line *line, const char *name, uint32_t at, uint32_t size, const uint8_t *value,
	const uint8_t *mask)
{
	uint8_t *key = (uint8_t *)&line->rule->key + at, *seen = (uint8_t *)&line->rule->mask + at;

	for (uint32_t i = 0; i < size; i++)
		if (((key[i] ^ value[i]) & seen[i] & mask[i]) != 0)
			return vswitch_refuse(line->error, name,
				"contradicts what the line said before");
	for (uint32_t i = 0; i < size; i++) {
		key[i] |= value[i];
		seen[i] |= mask[i];
	}
	return 0;
}

static bool
is_exact(const struct vswitch_field *field, const uint8_t *mask)
{
	uint8_t bits[16], lacks = 0;

	vswitch_field_bits(field, bits);
	for (uint32_t i = 0; i < field->size; i++)
		lacks |= bits[i] & ~mask[i];
	return lacks == 0;
}

static int
read_field(struct line *line, const char *name, enum hy_vswitch_field f, char *text)
{
	const struct vswitch_field *field = &vswitch_fields[f];
	uint8_t value[16] = { 0 }, mask[16] = { 0 };

	if (field->unmatched)
		return refuse_unknown(name, line->error);
	if (!vswitch_value(field, text, &line->names, value, mask))
		return vswitch_refuse(line->error, name, "'%.80s' is not %s", text,
			field->accepted);
	if (line->is_packet && !is_exact(field, mask))
		return vswitch_refuse(line->error, name,
			"'%.80s' is not one value, as a packet has", text);
	return match_add(line, name, field->at, field->size, value, mask);
}

static int
read_shorthand(struct line *line, const struct vswitch_shorthand *word)
{
	const rte_be16_t type = rte_cpu_to_be_16(word->type);
	uint8_t mask[2] = { 0xff, 0xff };
	int rc = match_add(line, word->name, offsetof(struct hy_flows_key, type), 2,
		(const uint8_t *)&type, mask);

	if (rc == 0 && word->proto != 0)
		rc = match_add(line, word->name, offsetof(struct hy_flows_key, proto), 1,
			&word->proto, mask);
	return rc;
}

static int
read_word(struct line *line, enum word word, const char *text)
{
	struct hy_vswitch_rule *rule = line->rule;
	uint64_t n;

	if (line->is_packet)
		return vswitch_refuse(line->error, words[word].name, "a packet has none");
	if (line->what == HY_VSWITCH_SELECT && !words[word].selects)
		return vswitch_refuse(line->error, words[word].name,
			"only a rule that is added has it");
	if ((line->seen & RTE_BIT32(word)) != 0)
		return vswitch_refuse(line->error, words[word].name, "given twice");
	line->seen |= RTE_BIT32(word);
	if (!vswitch_number(text, words[word].most, &n))
		return vswitch_refuse(line->error, words[word].name, "'%.80s' is not %s", text,
			words[word].accepted);
	switch (word) {
	case WORD_TABLE:
		rule->table = (uint8_t)n;
		break;
	case WORD_PRIORITY:
		rule->priority = (uint16_t)n;
		break;
	case WORD_COOKIE:
		rule->cookie = n;
		break;
	case WORD_IDLE:
		rule->idle_timeout = (uint16_t)n;
		break;
	case WORD_HARD:
		rule->hard_timeout = (uint16_t)n;
		break;
	case WORDS:
		break;
	}
	return 0;
}

static int
read_pair(struct line *line, const char *name, char *value)
{
	const enum hy_vswitch_field field = vswitch_field_named(name);

	for (uint32_t i = 0; i < RTE_DIM(ignored); i++)
		if (strcmp(name, ignored[i]) == 0)
			return line->is_packet
				? vswitch_refuse(line->error, name, "a packet has none")
				: 0;
	for (uint32_t s = 0; s < VSWITCH_SHORTHANDS; s++)
		if (strcmp(name, vswitch_shorthands[s].name) == 0)
			return value == NULL ? read_shorthand(line, &vswitch_shorthands[s])
					     : vswitch_refuse(line->error, name, "has no value");
	if (field != HY_VSWITCH_FIELDS || strcmp(name, "table") == 0)
		if (value == NULL)
			return vswitch_refuse(line->error, name, "its value is missing");
	if (field != HY_VSWITCH_FIELDS)
		return read_field(line, name, field, value);
	for (uint32_t w = 0; w < WORDS; w++)
		if (strcmp(name, words[w].name) == 0)
			return value != NULL
				? read_word(line, (enum word)w, value)
				: vswitch_refuse(line->error, name, "its value is missing");
	return refuse_unknown(name, line->error);
}

/* Packets without a tag have no VLAN id. */
static int
check_tag(const struct line *line)
{
	const rte_be16_t vlan = line->rule->key.vlan;

	if ((line->rule->mask.vlan & HY_FLOWS_TAGGED) == 0 || (vlan & HY_FLOWS_TAGGED) != 0 ||
		vlan == 0)
		return 0;
	return vswitch_refuse(line->error, "vlan_tci",
		"0x%x matches no packet: without 0x1000, the bit of a tag, it must be 0",
		rte_be_to_cpu_16(vlan));
}

static int
check_needs(const struct line *line, enum hy_vswitch_field f, const char *name)
{
	const enum vswitch_needs needs = vswitch_fields[f].needs;

	if (vswitch_has(needs, &line->rule->key, &line->rule->mask))
		return 0;
	return vswitch_refuse(line->error, name, "the line must say %s, too",
		vswitch_needs_words[needs]);
}

/* Cuts the text before its actions, which it returns; NULL: there are none. */
static char *
cut_actions(char *text)
{
	for (char *at = text; (at = strstr(at, "action")) != NULL; at += 6) {
		char *end = at + 6;

		if (at != text && strchr("," SPACE, at[-1]) == NULL)
			continue;
		end += *end == 's';
		end += strspn(end, SPACE);
		if (*end != '=')
			continue;
		*at = '\0';
		return end + 1;
	}
	return NULL;
}

/* Reads the words of a match. The second turn, when all is known, checks what they need. */
static int
read_match(struct line *line, char *text, bool check)
{
	char *rest;
	int rc = 0;

	for (char *word = strtok_r(text, "," SPACE, &rest); word != NULL && rc == 0;
		word = strtok_r(NULL, "," SPACE, &rest)) {
		char *value = strchr(word, '=');
		enum hy_vswitch_field field;

		if (value != NULL)
			*value++ = '\0';
		field = vswitch_field_named(word);
		if (!check)
			rc = read_pair(line, word, value);
		else if (field != HY_VSWITCH_FIELDS)
			rc = check_needs(line, field, word);
	}
	return rc;
}

static int
read_line(struct line *line, char *text, char *copy)
{
	char *actions = cut_actions(text);
	int rc;

	strcpy(copy, text);
	rc = read_match(line, text, false);
	if (rc == 0)
		rc = read_match(line, copy, true);
	if (rc == 0)
		rc = check_tag(line);
	if (rc < 0)
		return rc;
	if (line->what == HY_VSWITCH_SELECT)
		return actions == NULL
			? 0
			: vswitch_refuse(line->error, "actions",
				  line->is_packet ? "a packet has none"
						  : "only a rule that is added has them");
	if (actions == NULL)
		return vswitch_refuse(line->error, "actions",
			"missing; a rule is MATCH,... actions=ACTION,...");
	return vswitch_actions_read(actions, &line->names, line->rule, line->error);
}

int
vswitch_packet_read(const char *text, const struct vswitch_names *names, struct hy_flows_key *key,
	struct hy_flows_key *mask, char *error)
{
	struct hy_vswitch_rule made = { 0 };
	struct line line = { .rule = &made,
		.what = HY_VSWITCH_SELECT,
		.names = *names,
		.is_packet = true,
		.error = error };
	char bytes[HY_VSWITCH_TEXT_SIZE], copy[HY_VSWITCH_TEXT_SIZE];
	int rc;

	if (strlen(text) >= sizeof(bytes))
		return vswitch_refuse(error, "line", "longer than %zu bytes", sizeof(bytes) - 1);
	strcpy(bytes, text);
	rc = read_line(&line, bytes, copy);
	*key = made.key;
	*mask = made.mask;
	return rc;
}

int
hy_vswitch_rule_parse(const char *text, enum hy_vswitch_text what,
	const struct hy_vswitch_name names[], uint32_t nb_names, struct hy_vswitch_rule *rule,
	char *error)
{
	struct hy_vswitch_rule made = { .priority = HY_VSWITCH_PRIORITY };
	struct line line = {
		.rule = &made, .what = what, .names = { names, nb_names }, .error = error
	};
	char bytes[HY_VSWITCH_TEXT_SIZE], copy[HY_VSWITCH_TEXT_SIZE];
	int rc;

	if (strlen(text) >= sizeof(bytes))
		return vswitch_refuse(error, "line", "longer than %zu bytes", sizeof(bytes) - 1);
	strcpy(bytes, text);
	if (what == HY_VSWITCH_SELECT)
		made.table = HY_VSWITCH_TABLES;
	rc = read_line(&line, bytes, copy);
	if (rc == 0)
		*rule = made;
	return rc;
}
