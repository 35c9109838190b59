/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Telemetry's commands for access lists. They belong to the control thread, so that thread answers, in
 * hy_acl_poll(): telemetry's thread leaves its question and waits.
 */

#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "acl.h"
#include "hal/internal/dpdk.h"

#define PATIENCE_S 5        /* with a control thread that does something else, such as a reload */
#define PARAMETER_SIZE 1024 /* bytes of a parameter, with its NUL; a rule may be long */

struct question {
	acl_tell_t *tell;
	char text[PARAMETER_SIZE];
	struct rte_tel_data *data;
	int rc;
	bool answered;
};

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER; /* one question at a time */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct question *asked;     /* under the lock, as shown is */
static const struct hy_acl *shown; /* NULL: none */

void
acl_show(struct hy_acl *acl)
{
	pthread_mutex_lock(&lock);
	shown = acl;
	pthread_mutex_unlock(&lock);
}

void
acl_hide(const struct hy_acl *acl)
{
	pthread_mutex_lock(&lock);
	if (shown == acl)
		shown = NULL;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

void
hy_acl_poll(struct hy_acl *acl)
{
	char error[HY_ACL_ERROR_SIZE] = "";

	pthread_mutex_lock(&lock);
	if (asked != NULL && !asked->answered && shown == acl) {
		for (unsigned int i = 0; i < acl->nb_lists; i++)
			acl_log_follow(acl->lists[i]); /* before rules change again */
		asked->rc = asked->tell(acl, asked->text, asked->data, error);
		if (asked->rc < 0)
			asked->rc = hy_telemetry_error(error, asked->data);
		asked->answered = true;
		pthread_cond_broadcast(&changed);
	}
	pthread_mutex_unlock(&lock);
}

static int
ask(acl_tell_t *tell, const char *parameter, struct rte_tel_data *data)
{
	struct question question = { .tell = tell, .data = data };
	struct timespec until;
	int rc = 0;

	if (snprintf(question.text, PARAMETER_SIZE, "%s", parameter == NULL ? "" : parameter) >=
		PARAMETER_SIZE)
		return hy_telemetry_error("the parameter is too long", data);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += PATIENCE_S;
	pthread_mutex_lock(&turn);
	pthread_mutex_lock(&lock);
	asked = &question;
	while (!question.answered && shown != NULL && rc == 0)
		rc = pthread_cond_clockwait(&changed, &lock, CLOCK_MONOTONIC, &until);
	asked = NULL;
	rc = question.rc;
	if (!question.answered)
		rc = hy_telemetry_error(shown != NULL ? "the control thread is busy"
						      : "there are no access lists",
			data);
	pthread_mutex_unlock(&lock);
	pthread_mutex_unlock(&turn);
	return rc;
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
