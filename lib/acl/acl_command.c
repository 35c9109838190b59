/* SPDX-License-Identifier: BSD-3-Clause */
/* What telemetry's commands ask of lists, and have changed. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "acl.h"
#include "lib/graph/internal/dpdk.h"
#include "lib/graph/internal/log.h"

#define RULES 40u /* of an answer, of at most 350 bytes each: DPDK sends 16 KB */

/* Cuts the next word off a text, up to a blank or a comma; "" at its end. */
static char *
word(char **text)
{
	char *begin = *text + strspn(*text, " ,");

	*text = begin + strcspn(begin, " ,");
	if (**text != '\0')
		*(*text)++ = '\0';
	return begin;
}

/* What is left of a text. */
static char *
rest(char *text)
{
	return text + strspn(text, " ,");
}

static int
end(char *text, char *error)
{
	text = rest(text);
	return text[0] == '\0'
		? 0
		: HY_REASON(-EINVAL, error, HY_ACL_ERROR_SIZE, "'%.64s' is not accepted", text);
}

static struct acl_list *
list_read(const struct hy_acl *acl, char **text, char *error)
{
	const char *name = word(text);
	struct acl_list *list = acl_find(acl, name);

	if (list == NULL)
		snprintf(error, HY_ACL_ERROR_SIZE, "there is no list '%.64s'", name);
	return list;
}

static bool
number_read(const char *text, uint64_t max, uint64_t *number)
{
	char *last;

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	*number = strtoull(text, &last, 10);
	return errno == 0 && *last == '\0' && *number <= max;
}

int
hy_acl_place_read(const char *text, uint16_t *port, enum hy_acl_way *way, char *error)
{
	const char *colon = strchr(text, ':');
	uint64_t number = 0;

	for (unsigned int w = 0; w < HY_ACL_WAYS && colon != NULL; w++) {
		const size_t len = strlen(acl_ways[w]);

		if ((size_t)(colon - text) != len || strncmp(text, acl_ways[w], len) != 0 ||
			!number_read(colon + 1, RTE_MAX_ETHPORTS - 1, &number))
			continue;
		*way = (enum hy_acl_way)w;
		*port = (uint16_t)number;
		return 0;
	}
	return HY_REASON(-EINVAL, error, HY_ACL_ERROR_SIZE,
		"'%.64s' is not in:PORT or out:PORT, with a port from 0 to %u", text,
		RTE_MAX_ETHPORTS - 1);
}

/* Adds a dictionary. NULL: out of memory. */
static struct rte_tel_data *
entry_add(struct rte_tel_data *data, const char *key)
{
	struct rte_tel_data *entry = rte_tel_data_alloc();

	if (entry == NULL)
		return NULL;
	rte_tel_data_start_dict(entry);
	rte_tel_data_add_dict_container(data, key, entry, 0);
	return entry;
}

/* Adds "bound", the places of a list. */
static void
bound_add(const struct hy_acl *acl, const struct acl_list *list, struct rte_tel_data *data)
{
	struct rte_tel_data *bound = rte_tel_data_alloc();
	char place[16];

	if (bound == NULL)
		return;
	rte_tel_data_start_array(bound, RTE_TEL_STRING_VAL);
	for (unsigned int way = 0; way < HY_ACL_WAYS; way++) {
		for (unsigned int p = 0; p < RTE_MAX_ETHPORTS; p++) {
			if (acl->places[way][p].arc == NULL ||
				acl->places[way][p].bound != list->number)
				continue;
			snprintf(place, sizeof(place), "%s:%u", acl_ways[way], p);
			rte_tel_data_add_array_string(bound, place);
		}
	}
	rte_tel_data_add_dict_container(data, "bound", bound, 0);
}

static void
list_tell(const struct hy_acl *acl, const struct acl_list *list, struct rte_tel_data *data)
{
	const struct hy_policy_view *view = hy_policy_view_hold(list->shown.policy);

	rte_tel_data_add_dict_uint(data, "rules", view->nb_rules);
	rte_tel_data_add_dict_string(data, "default", acl_actions[view->default_action]);
	hy_policy_view_release(list->shown.policy, view);
	if (list->path != NULL)
		hy_telemetry_text(data, "file", list->path);
	bound_add(acl, list, data);
}

/* By number, in order of creation: names may have a '-' or a '.', and telemetry's keys may not. */
int
acl_tell_lists(struct hy_acl *acl, char *text, struct rte_tel_data *data, char *error)
{
	const int rc = end(text, error);

	if (rc < 0)
		return rc;
	rte_tel_data_start_dict(data);
	for (unsigned int i = 0; i < acl->nb_lists; i++) {
		struct rte_tel_data *entry;
		char key[16];

		snprintf(key, sizeof(key), "%u", i);
		entry = entry_add(data, key);
		if (entry == NULL)
			continue;
		rte_tel_data_add_dict_string(entry, "list", acl->lists[i]->name);
		list_tell(acl, acl->lists[i], entry);
	}
	return 0;
}

static void
rule_tell(const struct acl_list *list, const struct hy_flow_rule *rule, struct rte_tel_data *entry)
{
	struct hy_policy_counts c = { 0 };
	char text[HY_FLOW_TEXT_SIZE];

	hy_policy_counts(list->shown.policy, rule->id, &c);
	hy_flow_rule_format(rule, text, sizeof(text));
	hy_telemetry_text(entry, "text", text);
	rte_tel_data_add_dict_uint(entry, "packets", c.packets);
	rte_tel_data_add_dict_uint(entry, "bytes", c.bytes);
	if (c.last != 0)
		rte_tel_data_add_dict_uint(entry, "last_seconds",
			acl_since(c.last) / rte_get_tsc_hz());
}

int
acl_tell_rules(struct hy_acl *acl, char *text, struct rte_tel_data *data, char *error)
{
	const struct acl_list *list = list_read(acl, &text, error);
	const struct hy_policy_view *view;
	const char *first = word(&text);
	uint64_t rank = 0;
	char key[16];

	if (list == NULL)
		return -ENOENT;
	if (first[0] != '\0' && !number_read(first, UINT32_MAX, &rank))
		return HY_REASON(-EINVAL, error, HY_ACL_ERROR_SIZE,
			"'%.64s' is not a place in the list, from 0", first);
	if (end(text, error) < 0)
		return -EINVAL;
	rte_tel_data_start_dict(data);
	view = hy_policy_view_hold(list->shown.policy);
	for (uint64_t stop = rank + RULES; rank < view->nb_rules && rank < stop; rank++) {
		const struct hy_flow_rule *rule = &view->rules[rank].rule;
		struct rte_tel_data *entry;

		snprintf(key, sizeof(key), "%u", rule->id);
		entry = entry_add(data, key);
		if (entry != NULL)
			rule_tell(list, rule, entry);
	}
	if (rank < view->nb_rules)
		rte_tel_data_add_dict_uint(data, "next", rank);
	hy_policy_view_release(list->shown.policy, view);
	return 0;
}

static int
stats_tell(const struct hy_acl *acl, const struct acl_list *list, struct rte_tel_data *data)
{
	struct hy_acl_counts c;

	hy_acl_counts(acl, list->name, &c);
	rte_tel_data_start_dict(data);
	list_tell(acl, list, data);
	rte_tel_data_add_dict_uint(data, "permitted", c.permitted);
	rte_tel_data_add_dict_uint(data, "denied", c.denied);
	rte_tel_data_add_dict_uint(data, "redirected", c.redirected);
	rte_tel_data_add_dict_uint(data, "unmatched", c.unmatched);
	rte_tel_data_add_dict_uint(data, "truncated", c.truncated);
	rte_tel_data_add_dict_uint(data, "hardware", c.hardware);
	return rte_tel_data_add_dict_uint(data, "unknown", c.unknown);
}

int
acl_tell_stats(struct hy_acl *acl, char *text, struct rte_tel_data *data, char *error)
{
	const struct acl_list *list = list_read(acl, &text, error);

	if (list == NULL)
		return -ENOENT;
	return end(text, error) < 0 ? -EINVAL : stats_tell(acl, list, data);
}

static int
bound_tell(const struct hy_acl *acl, uint16_t port, enum hy_acl_way way, int rc,
	struct rte_tel_data *data, char *error)
{
	const char *name = hy_acl_bound(acl, port, way);

	if (rc == -ENODEV)
		return HY_REASON(rc, error, HY_ACL_ERROR_SIZE, "port %u has no access lists", port);
	if (rc < 0)
		return HY_REASON(rc, error, HY_ACL_ERROR_SIZE, "%s",
			rc == -ETIMEDOUT ? "a worker has not finished its walk within a second"
					 : strerror(-rc));
	rte_tel_data_start_dict(data);
	rte_tel_data_add_dict_string(data, "way", acl_ways[way]);
	rte_tel_data_add_dict_int(data, "port", port);
	return rte_tel_data_add_dict_string(data, "list", name == NULL ? "" : name);
}

int
acl_tell_bind(struct hy_acl *acl, char *text, struct rte_tel_data *data, char *error)
{
	char *place = word(&text), *name = strchr(place, '=');
	enum hy_acl_way way;
	uint16_t port;

	if (name != NULL)
		*name++ = '\0';
	if (hy_acl_place_read(place, &port, &way, error) < 0 || end(text, error) < 0)
		return -EINVAL;
	if (name == NULL || acl_find(acl, name) == NULL)
		return HY_REASON(-ENOENT, error, HY_ACL_ERROR_SIZE, "there is no list '%.64s'",
			name == NULL ? "" : name);
	return bound_tell(acl, port, way, hy_acl_bind(acl, port, way, name), data, error);
}

int
acl_tell_unbind(struct hy_acl *acl, char *text, struct rte_tel_data *data, char *error)
{
	const char *place = word(&text);
	enum hy_acl_way way;
	uint16_t port;

	if (hy_acl_place_read(place, &port, &way, error) < 0 || end(text, error) < 0)
		return -EINVAL;
	return bound_tell(acl, port, way, hy_acl_unbind(acl, port, way), data, error);
}

/* Publishes what was staged, or discards it. */
static int
commit(const struct hy_acl *acl, const struct acl_list *list, struct rte_tel_data *data,
	char *error)
{
	const int rc = hy_policy_commit(list->shown.policy);

	hy_policy_abort(list->shown.policy);
	if (rc < 0)
		return HY_REASON(rc, error, HY_ACL_ERROR_SIZE, "%s", hy_reload_commit_error(rc));
	return stats_tell(acl, list, data);
}

int
acl_tell_add(struct hy_acl *acl, char *text, struct rte_tel_data *data, char *error)
{
	const struct acl_list *list = list_read(acl, &text, error);
	struct hy_flow_rule rule;
	int rc;

	if (list == NULL)
		return -ENOENT;
	rc = hy_flow_rule_parse(rest(text), &rule, error);
	if (rc == 0) {
		rc = hy_policy_add(list->shown.policy, &rule);
		if (rc < 0)
			snprintf(error, HY_ACL_ERROR_SIZE, "%s",
				rc == -EEXIST           ? "the list has a rule of that id"
					: rc == -ENOSPC ? "the list is full; see --max-rules"
							: strerror(-rc));
	}
	return rc < 0 ? rc : commit(acl, list, data, error);
}

int
acl_tell_del(struct hy_acl *acl, char *text, struct rte_tel_data *data, char *error)
{
	const struct acl_list *list = list_read(acl, &text, error);
	const char *id = word(&text);
	uint64_t rule = 0;

	if (list == NULL)
		return -ENOENT;
	if (!number_read(id, UINT32_MAX, &rule) || end(text, error) < 0)
		return HY_REASON(-EINVAL, error, HY_ACL_ERROR_SIZE,
			"'%.64s' is not the id of a rule, from 0 to %u", id, UINT32_MAX);
	if (hy_policy_remove(list->shown.policy, (uint32_t)rule) < 0)
		return HY_REASON(-ENOENT, error, HY_ACL_ERROR_SIZE, "list '%s' has no rule %s",
			list->name, id);
	return commit(acl, list, data, error);
}

int
acl_tell_replace(struct hy_acl *acl, char *text, struct rte_tel_data *data, char *error)
{
	const struct acl_list *list = list_read(acl, &text, error);
	const char *path = rest(text);
	int rc;

	if (list == NULL)
		return -ENOENT;
	rc = hy_acl_reload(acl, list->name, path[0] == '\0' ? NULL : path, error);
	return rc < 0 ? rc : stats_tell(acl, list, data);
}

int
acl_tell_clear(struct hy_acl *acl, char *text, struct rte_tel_data *data, char *error)
{
	const struct acl_list *list = list_read(acl, &text, error);

	if (list == NULL)
		return -ENOENT;
	if (end(text, error) < 0)
		return -EINVAL;
	hy_acl_clear(acl, list->name);
	return stats_tell(acl, list, data);
}

int
acl_tell_log(struct hy_acl *acl, char *text, struct rte_tel_data *data, char *error)
{
	struct hy_acl_log_counts counts;
	const int rc = end(text, error);

	if (rc < 0)
		return rc;
	hy_acl_log_counts(acl, &counts);
	rte_tel_data_start_dict(data);
	rte_tel_data_add_dict_uint(data, "logged", counts.logged);
	rte_tel_data_add_dict_uint(data, "more", counts.more);
	return rte_tel_data_add_dict_uint(data, "lost", counts.lost);
}
