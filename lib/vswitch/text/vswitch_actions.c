/* SPDX-License-Identifier: BSD-3-Clause */
/* Actions from text. */

#include <errno.h>
#include <string.h>
#include <strings.h>

#include <rte_common.h>

#include "vswitch_text.h"

#define SPACE " \t\r\n"

/* Where the actions of a rule are read. */
struct reader {
	struct hy_vswitch_rule *rule;
	const struct vswitch_names *names;
	bool tagged; /* a packet has a tag here */
	bool drops;  /* "drop" was read */
	char *error;
};

/* An action whose argument is `text`: after ":", "=", or in parentheses; NULL: there was none. */
typedef int read_t(struct reader *reader, const char *name, char *text);

static int
add(struct reader *reader, const char *name, const struct hy_vswitch_action *action)
{
	struct hy_vswitch_rule *rule = reader->rule;

	if (rule->nb_actions == HY_VSWITCH_ACTIONS)
		return vswitch_refuse(reader->error, name, "the rule has more than %u actions",
			HY_VSWITCH_ACTIONS);
	if (rule->nb_actions > 0 && rule->actions[rule->nb_actions - 1].type == HY_VSWITCH_GOTO)
		return vswitch_refuse(reader->error, name,
			"stands behind goto_table, which is last");
	rule->actions[rule->nb_actions++] = *action;
	return 0;
}

static int
refuse_value(const struct reader *reader, const char *name, const char *text, const char *accepted)
{
	if (text == NULL)
		return vswitch_refuse(reader->error, name, "its value is missing; accepted is %s",
			accepted);
	return vswitch_refuse(reader->error, name, "'%.80s' is not %s", text, accepted);
}

static int
no_value(const struct reader *reader, const char *name, const char *text)
{
	return text == NULL ? 0 : vswitch_refuse(reader->error, name, "has no value");
}

static int
read_number(const struct reader *reader, const char *name, const char *text, uint64_t most,
	const char *accepted, uint64_t *number)
{
	return text != NULL && vswitch_number(text, most, number)
		? 0
		: refuse_value(reader, name, text, accepted);
}

static const struct {
	const char *name;
	uint16_t port;
} ways[] = { { "in_port", HY_VSWITCH_IN_PORT }, { "normal", HY_VSWITCH_NORMAL },
	{ "flood", HY_VSWITCH_FLOOD }, { "all", HY_VSWITCH_ALL }, { "local", HY_VSWITCH_LOCAL } };

static bool
output_port(const struct reader *reader, const char *text, uint16_t *port)
{
	for (uint32_t i = 0; i < RTE_DIM(ways); i++)
		if (strcasecmp(text, ways[i].name) == 0) {
			*port = ways[i].port;
			return true;
		}
	return vswitch_port(text, reader->names, port);
}

static int
read_output(struct reader *reader, const char *name, char *text)
{
	struct hy_vswitch_action action = { .type = HY_VSWITCH_OUTPUT };

	if (text == NULL || !output_port(reader, text, &action.port))
		return refuse_value(reader, name, text,
			"a port: a number from 0 to 65279, the name of a port, in_port, normal, flood, all "
			"or local");
	return add(reader, name, &action);
}

/* in_port and the like alone. */
static int
read_way(struct reader *reader, const char *name, char *text)
{
	struct hy_vswitch_action action = { .type = HY_VSWITCH_OUTPUT };
	int rc = no_value(reader, name, text);

	output_port(reader, name, &action.port);
	return rc < 0 ? rc : add(reader, name, &action);
}

static int
read_drop(struct reader *reader, const char *name, char *text)
{
	reader->drops = true;
	return no_value(reader, name, text);
}

/* Writes a field: of one that has no place in packets but the key's, only the key's. */
static int
read_set(struct reader *reader, const char *name, char *text, enum hy_vswitch_field f)
{
	const struct vswitch_field *field = &vswitch_fields[f];
	struct hy_vswitch_action action = { .type = HY_VSWITCH_SET, .field = (uint8_t)f };

	if (text == NULL || !vswitch_value(field, text, reader->names, action.value, action.mask))
		return refuse_value(reader, name, text, field->accepted);
	if (f == HY_VSWITCH_VLAN_VID && (action.mask[0] & 0x10) != 0 &&
		(action.value[0] & 0x10) == 0)
		return vswitch_refuse(reader->error, name,
			"a VLAN id to write is 0x1000 plus the id; pop_vlan removes a tag");
	return add(reader, name, &action);
}

static int
read_mod(struct reader *reader, const char *name, char *text)
{
	uint32_t f = 0;

	while (f < HY_VSWITCH_FIELDS &&
		(vswitch_fields[f].mod == NULL || strcmp(vswitch_fields[f].mod, name) != 0))
		f++;
	if (text != NULL && strchr(text, '/') != NULL)
		return refuse_value(reader, name, text,
			"a value without a mask; set_field has masks");
	return read_set(reader, name, text, (enum hy_vswitch_field)f);
}

/* mod_vlan_vid and mod_vlan_pcp push a tag if there is none, set_vlan_vid and set_vlan_pcp do not. */
static int
read_vlan(struct reader *reader, const char *name, char *text)
{
	const bool vid = strstr(name, "vid") != NULL;
	const struct vswitch_field *field =
		&vswitch_fields[vid ? HY_VSWITCH_DL_VLAN : HY_VSWITCH_VLAN_PCP];
	struct hy_vswitch_action action = {
		.type = name[0] == 'm' ? HY_VSWITCH_SET_VLAN : HY_VSWITCH_SET,
		.field = vid ? HY_VSWITCH_VLAN_VID : HY_VSWITCH_VLAN_PCP,
	};
	uint64_t number;

	if (text == NULL || !vswitch_number(text, field->most, &number) ||
		!vswitch_value(field, text, reader->names, action.value, action.mask))
		return refuse_value(reader, name, text,
			vid ? "a VLAN id from 0 to 4095" : field->accepted);
	reader->tagged = reader->tagged || action.type == HY_VSWITCH_SET_VLAN;
	return add(reader, name, &action);
}

static int
read_push(struct reader *reader, const char *name, char *text)
{
	struct hy_vswitch_action action = { .type = HY_VSWITCH_PUSH_VLAN };
	uint64_t type;

	if (text == NULL || !vswitch_number(text, UINT16_MAX, &type) ||
		(type != 0x8100 && type != 0x88a8))
		return refuse_value(reader, name, text, "0x8100 or 0x88a8");
	action.ether_type = rte_cpu_to_be_16((uint16_t)type);
	reader->tagged = true;
	return add(reader, name, &action);
}

static int
read_pop(struct reader *reader, const char *name, char *text)
{
	const struct hy_vswitch_action action = { .type = HY_VSWITCH_POP_VLAN };

	reader->tagged = false;
	return no_value(reader, name, text) < 0 ? -EINVAL : add(reader, name, &action);
}

static int
read_dec_ttl(struct reader *reader, const char *name, char *text)
{
	const struct hy_vswitch_action action = { .type = HY_VSWITCH_DEC_TTL };

	return no_value(reader, name, text) < 0 ? -EINVAL : add(reader, name, &action);
}

/* VALUE[/MASK]->FIELD, of a field that the packets of the rule have. */
static int
read_set_field(struct reader *reader, const char *name, char *text)
{
	const struct hy_vswitch_rule *rule = reader->rule;
	char *arrow = text == NULL ? NULL : strstr(text, "->");
	enum hy_vswitch_field f;
	enum vswitch_needs needs;

	if (arrow == NULL)
		return refuse_value(reader, name, text, "VALUE->FIELD or VALUE/MASK->FIELD");
	*arrow = '\0';
	f = vswitch_field_named(arrow + 2);
	if (f == HY_VSWITCH_FIELDS || !vswitch_fields[f].sets) {
		char list[HY_VSWITCH_ERROR_SIZE - 256];
		size_t at = 0;

		for (uint32_t i = 0; i < HY_VSWITCH_FIELDS; i++)
			if (vswitch_fields[i].sets)
				at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%s",
					at == 0 ? "" : ", ", vswitch_fields[i].name);
		return vswitch_refuse(reader->error, name,
			"'%.40s' is not a field that can be written; accepted are %s", arrow + 2,
			list);
	}
	needs = vswitch_fields[f].needs;
	if (needs == VSWITCH_NEEDS_IP4_OR_ARP)
		needs = VSWITCH_NEEDS_IP4;
	if (f == HY_VSWITCH_VLAN_VID || f == HY_VSWITCH_VLAN_PCP) {
		if (!reader->tagged)
			return vswitch_refuse(reader->error, name,
				"%s is of packets with a tag; the rule must match one, or push one first",
				arrow + 2);
	} else if (!vswitch_has(needs, &rule->key, &rule->mask)) {
		return vswitch_refuse(reader->error, name, "%s is only of packets that match %s",
			arrow + 2, vswitch_needs_words[needs]);
	}
	return read_set(reader, name, text, f);
}

#define TABLE "the number of a table from 0 to 254"

/* PORT, or in parentheses [PORT],[TABLE]. */
static int
read_resubmit(struct reader *reader, const char *name, char *text)
{
	struct hy_vswitch_action action = { .type = HY_VSWITCH_RESUBMIT,
		.table = reader->rule->table,
		.port = HY_VSWITCH_IN_PORT };
	char *comma = text == NULL ? NULL : strchr(text, ',');
	uint64_t table = 0;

	if (text == NULL || text[0] == '\0' || strcmp(text, ",") == 0)
		return refuse_value(reader, name, text, "PORT, (PORT), (PORT,TABLE) or (,TABLE)");
	if (comma != NULL) {
		*comma++ = '\0';
		comma += strspn(comma, SPACE);
		if (comma[0] != '\0' && !vswitch_number(comma, HY_VSWITCH_TABLES - 1, &table))
			return refuse_value(reader, name, comma, TABLE);
		if (comma[0] != '\0')
			action.table = (uint8_t)table;
	}
	text[strcspn(text, SPACE)] = '\0';
	if (text[0] != '\0' && strcasecmp(text, "in_port") != 0 &&
		!vswitch_port(text, reader->names, &action.port))
		return refuse_value(reader, name, text,
			"a port: a number from 0 to 65279, the name of a port, in_port or local");
	return add(reader, name, &action);
}

static int
read_goto(struct reader *reader, const char *name, char *text)
{
	struct hy_vswitch_action action = { .type = HY_VSWITCH_GOTO };
	uint64_t table = 0;
	int rc = read_number(reader, name, text, HY_VSWITCH_TABLES - 1, TABLE, &table);

	if (rc < 0)
		return rc;
	action.table = (uint8_t)table;
	if (action.table <= reader->rule->table)
		return vswitch_refuse(reader->error, name,
			"table %u is not behind the rule's own, %u; resubmit goes anywhere",
			action.table, reader->rule->table);
	return add(reader, name, &action);
}

static const struct {
	const char *name;
	read_t *read;
} actions[] = {
	{ "output", read_output },
	{ "normal", read_way },
	{ "flood", read_way },
	{ "all", read_way },
	{ "in_port", read_way },
	{ "local", read_way },
	{ "drop", read_drop },
	{ "mod_dl_src", read_mod },
	{ "mod_dl_dst", read_mod },
	{ "mod_nw_src", read_mod },
	{ "mod_nw_dst", read_mod },
	{ "mod_nw_tos", read_mod },
	{ "mod_nw_ecn", read_mod },
	{ "mod_nw_ttl", read_mod },
	{ "mod_tp_src", read_mod },
	{ "mod_tp_dst", read_mod },
	{ "mod_vlan_vid", read_vlan },
	{ "mod_vlan_pcp", read_vlan },
	{ "set_vlan_vid", read_vlan },
	{ "set_vlan_pcp", read_vlan },
	{ "push_vlan", read_push },
	{ "pop_vlan", read_pop },
	{ "strip_vlan", read_pop },
	{ "dec_ttl", read_dec_ttl },
	{ "set_field", read_set_field },
	{ "set_tunnel", read_mod },
	{ "resubmit", read_resubmit },
	{ "goto_table", read_goto },
};

/* What ovs-ofctl knows besides, with what it is. */
static const struct {
	const char *name, *what;
} unsupported[] = {
	{ "ct", "conntrack " },
	{ "ct_clear", "conntrack " },
	{ "nat", "conntrack " },
	{ "controller", "controller " },
	{ "table", "controller " },
	{ "group", "group " },
	{ "bundle", "link aggregation " },
	{ "bundle_load", "link aggregation " },
	{ "multipath", "link aggregation " },
	{ "enqueue", "queue " },
	{ "set_queue", "queue " },
	{ "pop_queue", "queue " },
	{ "meter", "meter " },
	{ "learn", "learning " },
	{ "conjunction", "conjunctive match " },
	{ "move", "register " },
	{ "load", "register " },
	{ "push", "register " },
	{ "pop", "register " },
	{ "output_reg", "register " },
	{ "push_mpls", "MPLS " },
	{ "pop_mpls", "MPLS " },
	{ "set_mpls_label", "MPLS " },
	{ "set_mpls_tc", "MPLS " },
	{ "set_mpls_ttl", "MPLS " },
	{ "dec_mpls_ttl", "MPLS " },
	{ "encap", "NSH " },
	{ "decap", "NSH " },
	{ "dec_nsh_ttl", "NSH " },
	{ "write_actions", "action set " },
	{ "clear_actions", "action set " },
	{ "write_metadata", "metadata " },
	{ "sample", "sampling " },
};

bool
vswitch_is_action(const char *name)
{
	for (uint32_t i = 0; i < RTE_DIM(actions); i++)
		if (strcasecmp(name, actions[i].name) == 0)
			return true;
	for (uint32_t i = 0; i < RTE_DIM(unsupported); i++)
		if (strcasecmp(name, unsupported[i].name) == 0)
			return true;
	return false;
}

/* The names of all actions, with commas. */
static void
list_actions(char *text, size_t size)
{
	size_t at = 0;

	for (uint32_t i = 0; i < RTE_DIM(actions); i++)
		at += (size_t)snprintf(text + at, size - at, "%s, ", actions[i].name);
	snprintf(text + at, size - at, "and the number or the name of a port");
}

static int
refuse_unknown(const struct reader *reader, const char *name)
{
	char list[HY_VSWITCH_ERROR_SIZE - 256];
	const char *what = "";

	for (uint32_t i = 0; i < RTE_DIM(unsupported); i++)
		if (strcasecmp(name, unsupported[i].name) == 0)
			what = unsupported[i].what;
	list_actions(list, sizeof(list));
	return vswitch_refuse(reader->error, "actions",
		"%saction %.64s is not supported; accepted are %s", what, name, list);
}

/* Cuts the next action off *rest, which is at its name, and its argument off that. */
static int
cut(const struct reader *reader, char **rest, char **argument)
{
	char *name = *rest, *end = name + strcspn(name, ":=(," SPACE), *close;
	const char mark = *end;

	*argument = NULL;
	*rest = end + (mark != '\0');
	*end = '\0';
	if (mark == '(') {
		close = strchr(end + 1, ')');
		if (close == NULL)
			return vswitch_refuse(reader->error, name, "its ')' is missing");
		*argument = end + 1;
		*close = '\0';
		*rest = close + 1;
	} else if (mark == ':' || mark == '=') {
		*argument = end + 1;
		end += 1 + strcspn(end + 1, "," SPACE);
		*rest = end + (*end != '\0');
		*end = '\0';
	}
	return 0;
}

/* A name in capitals, as dumps have some, is the same. */
static int
read_action(struct reader *reader, char *name, char *argument)
{
	struct hy_vswitch_action action = { .type = HY_VSWITCH_OUTPUT };

	if (argument == NULL && vswitch_port(name, reader->names, &action.port))
		return add(reader, name, &action);
	for (uint32_t i = 0; i < RTE_DIM(actions); i++)
		if (strcasecmp(name, actions[i].name) == 0)
			return actions[i].read(reader, actions[i].name, argument);
	return refuse_unknown(reader, name);
}

int
vswitch_actions_read(char *text, const struct vswitch_names *names, struct hy_vswitch_rule *rule,
	char *error)
{
	struct reader reader = { .rule = rule,
		.names = names,
		.tagged = vswitch_has(VSWITCH_NEEDS_TAG, &rule->key, &rule->mask),
		.error = error };
	int rc = 0;

	for (text += strspn(text, "," SPACE); *text != '\0' && rc == 0;
		text += strspn(text, "," SPACE)) {
		char *name = text, *argument;

		rc = cut(&reader, &text, &argument);
		if (rc == 0)
			rc = read_action(&reader, name, argument);
	}
	if (rc == 0 && reader.drops && rule->nb_actions > 0)
		return vswitch_refuse(error, "drop", "must be the only action");
	return rc;
}
