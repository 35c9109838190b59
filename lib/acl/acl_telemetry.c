/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Telemetry's commands for access lists. They belong to the control thread, so that thread answers, in
 * hy_acl_poll(): telemetry's thread leaves its question and waits.
 */

#include "acl.h"
#include "lib/graph/internal/dpdk.h"
#include "lib/runtime/internal/desk.h"

struct question {
	struct hy_question common;
	acl_tell_t *tell;
};

HY_DESK(desk, "there are no access lists");

void
acl_show(struct hy_acl *acl)
{
	hy_desk_open(&desk, acl);
}

void
acl_hide(const struct hy_acl *acl)
{
	hy_desk_close(&desk, acl);
}

void
hy_acl_poll(struct hy_acl *acl)
{
	struct hy_question *asked;
	char error[HY_ACL_ERROR_SIZE] = "";
	const struct question *question;

	acl_offload_poll(acl);
	asked = hy_desk_take(&desk, acl);
	if (asked == NULL)
		return;
	for (unsigned int i = 0; i < acl->nb_lists; i++)
		acl_log_follow(acl->lists[i]); /* before rules change again */
	question = container_of(asked, struct question, common);
	hy_desk_answer(&desk, asked, question->tell(acl, asked->text, asked->data, error), error);
}

static int
ask(acl_tell_t *tell, const char *parameter, struct rte_tel_data *data)
{
	struct question question = { .tell = tell };

	return hy_desk_ask(&desk, &question.common, parameter, data);
}

/* What each command asks. */
#define COMMAND(name) \
	static int on_##name(const char *command __rte_unused, const char *parameter, \
		struct rte_tel_data *data) \
	{ \
		return ask(acl_tell_##name, parameter, data); \
	}

COMMAND(lists)
COMMAND(rules)
COMMAND(stats)
COMMAND(bind)
COMMAND(unbind)
COMMAND(add)
COMMAND(del)
COMMAND(replace)
COMMAND(clear)
COMMAND(log)

int
hy_acl_telemetry(const char *prefix __rte_unused)
{
	static const struct hy_telemetry_command commands[] = {
		{ "/acl/lists", on_lists, "Access lists, and where they are bound. No parameter" },
		{ "/acl/rules", on_rules,
			"What rules of a list matched. Parameter: LIST[,PLACE]; where 'next' is "
			"there, it is the place to go on with" },
		{ "/acl/stats", on_stats, "What a list did to packets. Parameter: LIST" },
		{ "/acl/bind", on_bind, "Binds a list. Parameter: in:PORT=LIST or out:PORT=LIST" },
		{ "/acl/unbind", on_unbind,
			"Unbinds what is bound. Parameter: in:PORT or out:PORT" },
		{ "/acl/add", on_add, "Adds a rule. Parameter: LIST,RULE, as a line of a file" },
		{ "/acl/del", on_del, "Removes a rule. Parameter: LIST,ID" },
		{ "/acl/replace", on_replace,
			"Reads a list's file again, or another one. Parameter: LIST[,FILE]" },
		{ "/acl/clear", on_clear, "Starts the counts of a list at 0. Parameter: LIST" },
		{ "/acl/log", on_log, "What was logged, and what was lost of it. No parameter" },
	};

	return hy_telemetry_register("/halyard", commands, RTE_DIM(commands));
}
