/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of rules, in a fixed order. */

#include <inttypes.h>
#include <string.h>

#include <rte_common.h>

#include "vswitch_text.h"

/* The shorthand of a match, or NULL. */
static const struct vswitch_shorthand *
shorthand_of(const struct hy_flows_key *key, const struct hy_flows_key *mask)
{
	const struct vswitch_shorthand *found = NULL;

	if (mask->type != UINT16_MAX)
		return NULL;
	for (uint32_t s = 0; s < VSWITCH_SHORTHANDS; s++) {
		const struct vswitch_shorthand *word = &vswitch_shorthands[s];

		if (rte_cpu_to_be_16(word->type) == key->type &&
			(word->proto == 0 ||
				(mask->proto == UINT8_MAX && word->proto == key->proto)))
			found = word->proto != 0 || found == NULL ? word : found;
	}
	return found;
}

/* Whether a field can say what the mask has of it. */
static bool
says(const struct vswitch_field *field, const struct hy_flows_key *key,
	const struct hy_flows_key *mask)
{
	const bool parts = field->masks || field->kind == VSWITCH_FRAGMENT;
	const uint8_t *has = (const uint8_t *)mask + field->at;
	uint8_t bits[16], some = 0, lacks = 0;

	if (field->unmatched || !vswitch_has(field->needs, key, mask))
		return false;
	vswitch_field_bits(field, bits);
	for (uint32_t i = 0; i < field->size; i++) {
		some |= bits[i] & has[i];
		lacks |= bits[i] & ~has[i];
	}
	return some != 0 && (parts || lacks == 0);
}

/* Takes what a field says out of what is left of a mask. */
static void
take(const struct vswitch_field *field, struct hy_flows_key *left)
{
	uint8_t bits[16], *at = (uint8_t *)left + field->at;

	vswitch_field_bits(field, bits);
	for (uint32_t i = 0; i < field->size; i++)
		at[i] &= (uint8_t)~bits[i];
}

static bool
has_left(const struct vswitch_field *field, const struct hy_flows_key *left)
{
	uint8_t bits[16], some = 0;

	vswitch_field_bits(field, bits);
	for (uint32_t i = 0; i < field->size; i++)
		some |= bits[i] & ((const uint8_t *)left)[field->at + i];
	return some != 0;
}

static void
put_field(struct vswitch_out *out, const struct vswitch_field *field,
	const struct hy_flows_key *key, const struct hy_flows_key *mask)
{
	vswitch_put(out, ",%s=", field->name);
	vswitch_put_value(out, field, (const uint8_t *)key + field->at,
		(const uint8_t *)mask + field->at);
}

/* Whether dl_vlan and dl_vlan_pcp say what a mask has of a tag; otherwise vlan_tci does. */
static bool
is_plain_tag(const struct hy_flows_key *key, const struct hy_flows_key *mask)
{
	const rte_be16_t vid = mask->vlan & RTE_BE16(0xfff), pcp = mask->vlan & RTE_BE16(0xe000);

	return (key->vlan & mask->vlan & HY_FLOWS_TAGGED) != 0 && (vid | pcp) != 0 &&
		(vid == 0 || vid == RTE_BE16(0xfff)) && (pcp == 0 || pcp == RTE_BE16(0xe000));
}

static void
put_match(struct vswitch_out *out, const struct hy_flows_key *key, const struct hy_flows_key *mask)
{
	const struct vswitch_shorthand *shorthand = shorthand_of(key, mask);
	const bool plain = is_plain_tag(key, mask);
	struct hy_flows_key left = *mask;

	if (shorthand != NULL) {
		vswitch_put(out, ",%s", shorthand->name);
		left.type = 0;
		left.proto = shorthand->proto != 0 ? 0 : left.proto;
	}
	for (uint32_t f = 0; f < HY_VSWITCH_FIELDS; f++) {
		const struct vswitch_field *field = &vswitch_fields[f];
		const bool tag = field->at == offsetof(struct hy_flows_key, vlan);
		const bool of_tag = plain ? f == HY_VSWITCH_DL_VLAN || f == HY_VSWITCH_DL_VLAN_PCP
					  : f == HY_VSWITCH_VLAN_TCI;

		if (!says(field, key, mask) || !has_left(field, &left) || (tag && !of_tag))
			continue;
		put_field(out, field, key, mask);
		take(field, &left);
	}
}

static void
put_set(struct vswitch_out *out, const struct hy_vswitch_action *action)
{
	const struct vswitch_field *field = &vswitch_fields[action->field];
	uint8_t bits[16];

	vswitch_field_bits(field, bits);
	if (field->mod != NULL && memcmp(bits, action->mask, field->size) == 0)
		vswitch_put(out, "%s:", field->mod);
	else
		vswitch_put(out, "set_field:");
	vswitch_put_value(out, field, action->value, action->mask);
	if (field->mod == NULL || memcmp(bits, action->mask, field->size) != 0)
		vswitch_put(out, "->%s", field->name);
}

static void
put_vlan(struct vswitch_out *out, const struct hy_vswitch_action *action)
{
	const bool vid = action->field == HY_VSWITCH_VLAN_VID;
	const struct vswitch_field *field =
		&vswitch_fields[vid ? HY_VSWITCH_DL_VLAN : HY_VSWITCH_VLAN_PCP];

	vswitch_put(out, "%s_vlan_%s:", action->type == HY_VSWITCH_SET ? "set" : "mod",
		vid ? "vid" : "pcp");
	vswitch_put_value(out, field, action->value, action->mask);
}

static bool
is_whole_vlan(const struct hy_vswitch_action *action)
{
	return (action->field == HY_VSWITCH_VLAN_VID && action->mask[0] == 0x1f &&
		       action->mask[1] == 0xff) ||
		action->field == HY_VSWITCH_VLAN_PCP;
}

void
vswitch_put_action(struct vswitch_out *out, const struct hy_vswitch_action *action)
{
	switch (action->type) {
	case HY_VSWITCH_OUTPUT:
		if (action->port < HY_VSWITCH_PORTS_END)
			vswitch_put(out, "output:");
		vswitch_put_port(out, action->port);
		break;
	case HY_VSWITCH_SET:
	case HY_VSWITCH_SET_VLAN:
		if (is_whole_vlan(action))
			put_vlan(out, action);
		else
			put_set(out, action);
		break;
	case HY_VSWITCH_PUSH_VLAN:
		vswitch_put(out, "push_vlan:0x%04x", rte_be_to_cpu_16(action->ether_type));
		break;
	case HY_VSWITCH_POP_VLAN:
		vswitch_put(out, "pop_vlan");
		break;
	case HY_VSWITCH_DEC_TTL:
		vswitch_put(out, "dec_ttl");
		break;
	case HY_VSWITCH_RESUBMIT:
		vswitch_put(out, "resubmit(");
		if (action->port != HY_VSWITCH_IN_PORT)
			vswitch_put_port(out, action->port);
		vswitch_put(out, ",%u)", action->table);
		break;
	case HY_VSWITCH_GOTO:
		vswitch_put(out, "goto_table:%u", action->table);
		break;
	}
}

size_t
hy_vswitch_match_format(const struct hy_flows_key *key, const struct hy_flows_key *mask, char *text)
{
	struct vswitch_out out = { .text = text };

	text[0] = '\0';
	put_match(&out, key, mask);
	if (out.at > 0) /* without the first comma */
		memmove(text, text + 1, out.at--);
	return out.at;
}

size_t
hy_vswitch_rule_format(const struct hy_vswitch_rule *rule, char *text)
{
	struct vswitch_out out = { .text = text };

	text[0] = '\0';
	vswitch_put(&out, "table=%u", rule->table);
	if (rule->priority != HY_VSWITCH_PRIORITY)
		vswitch_put(&out, ",priority=%u", rule->priority);
	if (rule->cookie != 0)
		vswitch_put(&out, ",cookie=0x%" PRIx64, rule->cookie);
	if (rule->idle_timeout != 0)
		vswitch_put(&out, ",idle_timeout=%u", rule->idle_timeout);
	if (rule->hard_timeout != 0)
		vswitch_put(&out, ",hard_timeout=%u", rule->hard_timeout);
	put_match(&out, &rule->key, &rule->mask);
	vswitch_put(&out, " actions=%s", rule->nb_actions == 0 ? "drop" : "");
	for (uint32_t i = 0; i < rule->nb_actions; i++) {
		if (i > 0)
			vswitch_put(&out, ",");
		vswitch_put_action(&out, &rule->actions[i]);
	}
	return out.at;
}
