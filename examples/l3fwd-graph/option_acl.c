/* SPDX-License-Identifier: BSD-3-Clause */
/* The values of --acl-list, --acl and --acl-no-match. */

#include <errno.h>
#include <string.h>

#include "options.h"

static bool
has_list(const struct options *o, const char *name)
{
	for (unsigned int i = 0; i < o->nb_lists; i++)
		if (strcmp(o->list[i].name, name) == 0)
			return true;
	return false;
}

int
option_read_list(const char *text, void *to)
{
	struct options *o = to;
	struct list_option *list = &o->list[o->nb_lists];
	const size_t len = strcspn(text, "=");

	if (text[len] != '=' || text[len + 1] == '\0' || len == 0 || len > HY_ACL_NAME_MAX ||
		strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-") !=
			len)
		return hy_option_refuse("--acl-list",
			"'%s' is not NAME=FILE, as in edge=/etc/edge.acl, NAME of up to %u letters, "
			"digits, '_', '.' or '-'",
			text, HY_ACL_NAME_MAX);
	memcpy(list->name, text, len);
	list->name[len] = '\0';
	list->path = text + len + 1;
	if (has_list(o, list->name))
		return hy_option_refuse("--acl-list", "%s is given twice", list->name);
	o->nb_lists++;
	return 0;
}

int
option_read_bind(const char *text, void *to)
{
	struct options *o = to;
	struct bind_option *bind = &o->bind[o->nb_binds];
	char place[64], error[HY_ACL_ERROR_SIZE];
	const char *equals = strchr(text, '=');

	if (equals == NULL || equals[1] == '\0' || (size_t)(equals - text) >= sizeof(place))
		return hy_option_refuse("--acl",
			"'%s' is not in:PORT=NAME or out:PORT=NAME, as in in:0=edge", text);
	memcpy(place, text, (size_t)(equals - text));
	place[equals - text] = '\0';
	if (hy_acl_place_read(place, &bind->port, &bind->way, error) < 0)
		return hy_option_refuse("--acl", "%s", error);
	bind->list = equals + 1;
	for (unsigned int i = 0; i < o->nb_binds; i++)
		if (o->bind[i].port == bind->port && o->bind[i].way == bind->way)
			return hy_option_refuse("--acl", "%s is given twice", place);
	o->nb_binds++;
	return 0;
}

int
option_read_no_match(const char *text, void *to)
{
	static const char *const words[] = { [HY_RULE_PERMIT] = "permit", [HY_RULE_DENY] = "deny" };
	struct options *o = to;

	return hy_option_word("--acl-no-match", text, words, RTE_DIM(words), "permit or deny",
		&o->no_match);
}

int
option_check_lists(const struct options *o)
{
	for (unsigned int i = 0; i < o->nb_binds; i++) {
		if (!port_enabled(o, o->bind[i].port))
			return hy_option_refuse("--acl", "port %u is not one of -p",
				o->bind[i].port);
		if (!has_list(o, o->bind[i].list))
			return hy_option_refuse("--acl", "%s is not the name of an --acl-list",
				o->bind[i].list);
	}
	for (unsigned int i = 0; o->policy == NULL && i < o->nb_drop_class; i++)
		if (o->drop_class[i] == 0)
			return hy_option_refuse("--drop-class",
				"0 requires --policy: access lists classify only some packets");
	for (unsigned int i = 0; o->policy == NULL && i < o->nb_steers; i++)
		if (o->steer[i].class_id == 0)
			return hy_option_refuse("--steer",
				"class 0 requires --policy: access lists classify only some packets");
	return 0;
}
