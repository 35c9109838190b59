/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets from text; see packet.h. Most of it is the match of a rule. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include <hy_file.h>

#include "command.h"
#include "packet.h"

#define ALL_FLAGS "FSRPAUEC"
#define TYPE_MIN 0x600 /* of rules; smaller ones are lengths (IEEE 802.3) */

/* What is said of a packet. */
struct words {
	char match[1024]; /* the words that rules have too */
	long vlan, type;  /* -1: not given, or rules have it too */
	bool truncated;
};

static int
add(struct words *words, const char *word, const char *value)
{
	const size_t used = strlen(words->match), size = sizeof(words->match) - used;

	if ((size_t)snprintf(words->match + used, size, " %s%s%s", word,
		    value[0] == '\0' ? "" : " ", value) >= size)
		return refuse("the packet is too long");
	return 0;
}

/* A number for a word whose values rules do not all have. */
static int
read_own(const char *word, const char *value, long max, long *number)
{
	char *end;
	long n;

	errno = 0;
	n = value[0] >= '0' && value[0] <= '9' ? strtol(value, &end, 0) : -1;
	if (n < 0 || n > max || *end != '\0' || errno != 0)
		return refuse("packet: %s: '%.64s' is not a number from 0 to %ld", word, value,
			max);
	*number = n;
	return 0;
}

static int
read_flags(struct words *words, const char *value)
{
	char text[64];

	if (strchr(value, '/') != NULL)
		return add(words, "flags", value);
	snprintf(text, sizeof(text), "%.32s/" ALL_FLAGS, strcmp(value, "none") == 0 ? "" : value);
	return add(words, "flags", text);
}

static int
read_word(struct words *words, const char *word, char **rest)
{
	static const char *const own[] = { "in", "vlan", "type", "flags" };
	const char *value = "";
	long port;
	int rc;

	if (strcmp(word, "truncated") == 0) {
		words->truncated = true;
		return 0;
	}
	for (size_t i = 0; i < RTE_DIM(own); i++) {
		if (strcmp(word, own[i]) != 0)
			continue;
		value = strtok_r(NULL, " \t", rest);
		if (value == NULL)
			return refuse("packet: %s: the value is missing", word);
	}
	if (strcmp(word, "in") == 0) /* no rule asks for the port */
		return read_own(word, value, UINT16_MAX, &port);
	if (strcmp(word, "vlan") == 0)
		return read_own(word, value, NO_VLAN - 1, &words->vlan);
	if (strcmp(word, "flags") == 0)
		return read_flags(words, value);
	if (strcmp(word, "type") == 0) {
		rc = read_own(word, value, UINT16_MAX, &words->type);
		if (rc != 0 || words->type < TYPE_MIN)
			return rc;
	}
	return add(words, word, value);
}

/* The packets as far as the words go. */
static int
read_box(const struct words *words, struct box *box, uint32_t *fields)
{
	char error[HY_POLICY_ERROR_SIZE] = "", text[sizeof(words->match) + 32];
	struct hy_flow_rule rule;

	snprintf(text, sizeof(text), "rule 0 permit%s", words->match);
	if (hy_flow_rule_parse(text, &rule, error) < 0)
		return refuse("packet: %s", hy_printable(error));
	if (rule.action != HY_RULE_PERMIT || rule.log || rule.id != 0 || rule.precedence != 0)
		return refuse("packet: rule, precedence, log and actions are of rules");
	box_of(&rule.match, box);
	*fields = rule.match.fields;
	box->range[RANGE_VLAN][0] = words->vlan < 0 ? NO_VLAN : (uint32_t)words->vlan;
	box->range[RANGE_VLAN][1] = box->range[RANGE_VLAN][0];
	if (words->type >= 0) {
		box->shapes &= (uint16_t) ~(1u << SHAPE_CUT | 1u << SHAPE_TAG);
		box->range[RANGE_TYPE][0] = box->range[RANGE_TYPE][1] = (uint32_t)words->type;
	}
	if ((*fields & HY_FLOW_DSCP) == 0)
		box->range[RANGE_DSCP][1] = 0;
	return 0;
}

/* The shape that has what was said, and least more. */
static void
truncated_part(const struct box *box, bool fragment, struct packets *packets)
{
	for (enum shape shape = SHAPE_CUT; shape < SHAPES && packets->n == 0; shape++) {
		struct box *part = &packets->parts[0];

		if (!box_part(box, shape, part))
			continue;
		if (!fragment && shape >= SHAPE_IP4)
			part->fragments &= shape == SHAPE_UNKNOWN6 ? HY_FLOW_UNKNOWN_FRAGMENT
								   : HY_FLOW_NO_FRAGMENT;
		packets->n = part->fragments != 0;
	}
}

/* The whole packets of a part: types around those of IP, and kinds of fragments, one by one. */
static void
whole_parts(struct box *part, struct packets *packets)
{
	struct box whole, left[BOX_RESTS];
	unsigned int n = 1;

	left[0] = *part;
	while (n > 0) {
		*part = left[--n];
		if (!packet_whole(part, &whole))
			continue;
		packets->parts[packets->n++] = whole;
		n += box_without(part, &whole, &left[n]);
	}
}

static void
parts_of(const struct box *box, bool fragment, struct packets *packets)
{
	struct box part;

	for (enum shape shape = SHAPE_L2; shape < SHAPES; shape++) {
		if (!box_part(box, shape, &part))
			continue;
		if (!fragment && shape >= SHAPE_IP4)
			part.fragments &= HY_FLOW_NO_FRAGMENT;
		if (part.fragments != 0)
			whole_parts(&part, packets);
	}
}

int
packet_read(const char *text, struct packets *packets)
{
	struct words words = { .vlan = -1, .type = -1 };
	char line[1024], *rest;
	struct box box;
	uint32_t fields;
	int rc = 0;

	memset(packets, 0, sizeof(*packets));
	snprintf(line, sizeof(line), "%s", text);
	for (const char *word = strtok_r(line, " \t", &rest); word != NULL && rc == 0;
		word = strtok_r(NULL, " \t", &rest))
		rc = read_word(&words, word, &rest);
	if (rc == 0)
		rc = read_box(&words, &box, &fields);
	if (rc != 0)
		return rc;
	packets->truncated = words.truncated;
	if (words.truncated)
		truncated_part(&box, fields & HY_FLOW_FRAGMENT, packets);
	else
		parts_of(&box, fields & HY_FLOW_FRAGMENT, packets);
	return packets->n == 0 ? refuse("packet: there is no such packet") : 0;
}
