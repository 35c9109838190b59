/* SPDX-License-Identifier: BSD-3-Clause */
/* hy-policy convert: rules in another format, if it can express them. */

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_ether.h>

#include "command.h"
#include "list.h"

/* Fields that rules in columns can have, and those that go without saying. */
#define COLUMNS (HY_FLOW_5_TUPLE | HY_FLOW_IPV6)

static const struct {
	uint32_t bit;
	const char *name;
} field_names[] = {
	{ HY_FLOW_ETHER_TYPE, "type" },
	{ HY_FLOW_VLAN, "vlan" },
	{ HY_FLOW_DSCP, "dscp" },
	{ HY_FLOW_TUNNEL, "tunnel" },
	{ HY_FLOW_SRC_MAC, "smac" },
	{ HY_FLOW_DST_MAC, "dmac" },
	{ HY_FLOW_TCP_FLAGS, "flags" },
	{ HY_FLOW_ESTABLISHED, "established" },
	{ HY_FLOW_ICMP_TYPE, "icmp" },
	{ HY_FLOW_ICMP_CODE, "code" },
	{ HY_FLOW_FRAGMENT, "fragment" },
};

/* A rule that is written in columns. */
struct row {
	const struct settings *settings;
	const struct list *list;
	uint32_t rank;
	const struct hy_flow_rule *rule;
};

/* Refuses a rule. Its value is TROUBLE, to be returned. */
#define refuse_row(row, ...) \
	(fprintf(stderr, "%s:%u: ", (row)->list->path, list_line((row)->list, (row)->rank)), \
		fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), TROUBLE)

/* Whether a rule has only the ether type of IP that its columns have anyway. */
static bool
is_any_ip(const struct hy_flow_match *m)
{
	return (m->fields & ~(uint32_t)HY_FLOW_IPV6) == HY_FLOW_ETHER_TYPE &&
		m->ether_type ==
		((m->fields & HY_FLOW_IPV6) != 0 ? RTE_ETHER_TYPE_IPV6 : RTE_ETHER_TYPE_IPV4);
}

static int
check_fields(const struct row *row)
{
	const char *to = hy_policy_format_name(row->settings->to);
	const struct hy_flow_match *m = &row->rule->match;
	uint32_t can = COLUMNS;

	if (row->settings->to == HY_POLICY_CLASSBENCH)
		can |= HY_FLOW_TCP_FLAGS;
	/* IP's type goes without saying if there is another field of IP. */
	if (is_any_ip(m) || (m->fields & (HY_FLOW_5_TUPLE | HY_FLOW_TCP_FLAGS)) != 0)
		can |= HY_FLOW_ETHER_TYPE;
	for (size_t i = 0; i < RTE_DIM(field_names); i++)
		if ((m->fields & ~can & field_names[i].bit) != 0)
			return refuse_row(row, "%s: %s has no such field", field_names[i].name, to);
	if (m->fields == 0)
		return refuse_row(row,
			"type: %s has rules for IP only; this one is for all packets", to);
	if ((m->fields & (HY_FLOW_PORTS | HY_FLOW_TCP_FLAGS)) != 0 &&
		(m->fields & HY_FLOW_PROTO) == 0)
		return refuse_row(row,
			"proto: %s has ports and flags of one protocol only; "
			"this rule has no protocol",
			to);
	return 0;
}

static int
check_action(const struct row *row)
{
	const struct hy_flow_rule *rule = row->rule;

	if (row->settings->to == HY_POLICY_CLASSBENCH) {
		if (!row->settings->no_actions && (rule->action != HY_RULE_PERMIT || rule->log))
			return refuse_row(row,
				"action: classbench has none, and is read as "
				"permit; --no-actions leaves it out");
		return 0;
	}
	if (rule->log)
		return refuse_row(row, "log: l3fwd-acl has no such word");
	if (rule->action == HY_RULE_CLASSIFY || rule->action == HY_RULE_COUNT)
		return refuse_row(row, "%s: l3fwd-acl denies, or routes to a port",
			rule->action == HY_RULE_COUNT ? "count" : "class");
	if (rule->action == HY_RULE_PERMIT && row->settings->port < 0)
		return refuse_row(row, "permit: l3fwd-acl's routes name a port; --port gives one");
	if (rule->action == HY_RULE_TO_PORT)
		return refuse_row(row, "port: l3fwd-acl routes to a port, which changes the frame");
	return 0;
}

static void
print_prefix(const uint32_t address[4], uint8_t len, bool ip6)
{
	char text[INET6_ADDRSTRLEN];
	uint32_t word[4];

	for (int w = 0; w < 4; w++)
		word[w] = htonl(address[w]);
	printf("%s/%u", inet_ntop(ip6 ? AF_INET6 : AF_INET, word, text, sizeof(text)), len);
}

static void
print_row(const struct row *row)
{
	const bool bench = row->settings->to == HY_POLICY_CLASSBENCH;
	const struct hy_flow_match *m = &row->rule->match;
	const char gap = bench ? '\t' : ' ';
	const bool ip6 = (m->fields & HY_FLOW_IPV6) != 0;
	const bool sport = (m->fields & HY_FLOW_SPORT) != 0;
	const bool dport = (m->fields & HY_FLOW_DPORT) != 0;
	const bool permits = row->rule->action == HY_RULE_PERMIT;

	putchar(!bench && permits ? 'R' : '@');
	print_prefix(m->src6, m->src_len, ip6);
	putchar(gap);
	print_prefix(m->dst6, m->dst_len, ip6);
	printf("%c%u : %u%c%u : %u%c0x%02X/0x%02X", gap, m->sport[0],
		sport ? m->sport[1] : UINT16_MAX, gap, m->dport[0],
		dport ? m->dport[1] : UINT16_MAX, gap, m->proto,
		(m->fields & HY_FLOW_PROTO) != 0 ? UINT8_MAX : 0);
	if (bench)
		printf("\t0x%04X/0x%04X", m->tcp_flags, m->tcp_mask);
	else if (permits)
		printf(" %ld", row->settings->port);
	putchar('\n');
}

/* What a whole file can and cannot have in columns. */
static int
check_file(const struct settings *settings, const struct list *list)
{
	const char *to = hy_policy_format_name(settings->to);
	const struct hy_policy_setting *truncated = &list->file.truncated;
	const struct hy_policy_setting *by_default = &list->file.default_action;
	const uint32_t first = list->n == 0 ? 0 : list_rule(list, 0)->match.fields & HY_FLOW_IPV6;

	if (by_default->line > 0 && by_default->action != HY_RULE_PERMIT)
		return refuse("%s:%u: default: %s has no such line", list->path, by_default->line,
			to);
	if (truncated->line > 0 && truncated->action != HY_RULE_PERMIT)
		return refuse("%s:%u: truncated: %s has no such line", list->path, truncated->line,
			to);
	for (uint32_t rank = 1; rank < list->n && settings->to == HY_POLICY_L3FWD_ACL; rank++)
		if ((list_rule(list, rank)->match.fields & HY_FLOW_IPV6) != first)
			return refuse("%s:%u: l3fwd-acl has IPv4 and IPv6 in files of their own",
				list->path, list_line(list, rank));
	return 0;
}

static int
write_rows(const struct settings *settings, const struct list *list)
{
	int rc = check_file(settings, list);

	/* All rules are looked at before the first one is written. */
	for (uint32_t i = 0; i < 2 * list->n && rc == 0; i++) {
		const struct row row = { settings, list, i % list->n,
			list_rule(list, i % list->n) };

		if (i < list->n) {
			rc = check_fields(&row);
			rc = rc == 0 ? check_action(&row) : rc;
		} else {
			print_row(&row);
		}
	}
	return rc;
}

static int
write_halyard(const struct list *list)
{
	const struct hy_policy_setting *settings[] = { &list->file.default_action,
		&list->file.truncated };
	static const char *const names[] = { "default", "truncated" };
	char text[HY_FLOW_TEXT_SIZE];

	for (size_t i = 0; i < RTE_DIM(settings); i++)
		if (settings[i]->line > 0)
			printf("%s %s\n", names[i],
				settings[i]->action == HY_RULE_DENY ? "deny" : "permit");
	for (uint32_t rank = 0; rank < list->n; rank++) {
		if (hy_flow_rule_format(list_rule(list, rank), text, sizeof(text)) < 0)
			return out_of_memory();
		printf("%s\n", text);
	}
	return SAME;
}

/* Gives an action to rules that have none. */
static int
set_action(const struct settings *settings, struct list *list)
{
	char text[128], error[HY_POLICY_ERROR_SIZE];
	struct hy_flow_rule rule;

	if (settings->action == NULL)
		return 0;
	if (list->file.format != HY_POLICY_CLASSBENCH)
		return refuse("--action: the rules of %s have actions; classbench's have none",
			list->path);
	if ((size_t)snprintf(text, sizeof(text), "rule 0 %s", settings->action) >= sizeof(text) ||
		hy_flow_rule_parse(text, &rule, error) < 0 || rule.match.fields != 0 ||
		rule.precedence != 0)
		return refuse("--action '%s' is not permit, deny, count, 'class N' or 'port N'",
			settings->action);
	for (uint32_t i = 0; i < list->n; i++) {
		list->file.rules[i].action = rule.action;
		list->file.rules[i].class_id = rule.class_id;
		list->file.rules[i].port = rule.port;
		list->file.rules[i].log = rule.log;
	}
	return 0;
}

int
convert(const struct settings *settings)
{
	struct list list;
	int status = TROUBLE;

	if (list_read(settings->file, settings->format, &list) == 0) {
		status = set_action(settings, &list);
		if (status == 0)
			status = settings->to == HY_POLICY_HALYARD ? write_halyard(&list)
								   : write_rows(settings, &list);
	}
	list_free(&list);
	return status;
}
