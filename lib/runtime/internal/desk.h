/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A desk: where telemetry's threads ask about what belongs to the control thread. They leave questions
 * and wait; the control thread takes one at a time, first come first served, and answers it.
 *
 * A question is its asker's until it is taken, then the control thread's until it is answered, then
 * the asker's again. So an asker gives up only while its question is untaken, and an answer is never
 * written to memory that an asker has left.
 *
 * Desks are static: they outlive the threads that ask, at the program's end too.
 */
#pragma once

#include <pthread.h>
#include <sys/queue.h>

#include <hy_telemetry.h>

#define HY_QUESTION_SIZE 1024 /* bytes of a parameter, with its NUL; DPDK reads no longer ones */

enum hy_question_state { HY_QUESTION_WAITS, HY_QUESTION_TAKEN, HY_QUESTION_ANSWERED };

/* The first member of what a user's questions hold. */
struct hy_question {
	char text[HY_QUESTION_SIZE]; /* the parameter, for the answer to cut up; "": none */
	struct rte_tel_data *data;   /* the answer */
	/* The desk's, under its lock. */
	STAILQ_ENTRY(hy_question) next;
	enum hy_question_state state;
	int rc;
};

struct hy_desk {
	const char *nobody;       /* what a question is answered with while the desk is closed */
	unsigned int patience_ms; /* so long a question waits, from when it is asked, to be taken */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Under the lock: */
	const void *owner;                              /* who answers; NULL: the desk is closed */
	STAILQ_HEAD(hy_questions, hy_question) untaken; /* the longest first */
};

/* A closed desk. Five seconds: the control thread may do something else, such as a reload. */
#define HY_DESK(name, text) \
	static struct hy_desk name = { \
		.nobody = (text), \
		.patience_ms = 5000, \
		.lock = PTHREAD_MUTEX_INITIALIZER, \
		.changed = PTHREAD_COND_INITIALIZER, \
		.untaken = STAILQ_HEAD_INITIALIZER((name).untaken), \
	}

/* Questions go to this owner from now on, whoever had the desk. Control thread. */
void hy_desk_open(struct hy_desk *desk, const void *owner);

/* Untaken questions, and later ones, are answered with "nobody", unless another owner has opened the
 * desk since. Control thread. */
void hy_desk_close(struct hy_desk *desk, const void *owner);

/* Takes the question that waited longest, which hy_desk_answer() has to follow. Returns NULL if there
 * is none, or if the desk is not that owner's. Control thread. */
struct hy_question *hy_desk_take(struct hy_desk *desk, const void *owner);

/* Gives a question back: its data hold the answer, or, if rc is negative, are to hold the error. */
void hy_desk_answer(struct hy_desk *desk, struct hy_question *question, int rc, const char *error);

/*
 * Asks, and waits for the answer. Any thread but the control thread.
 *
 * @param question Its other members are the user's, and are filled in.
 * @param parameter NULL: none.
 * @return For the command to return: 0, with an answer or an error in data; what adding to it failed
 *   with.
 */
int hy_desk_ask(struct hy_desk *desk, struct hy_question *question, const char *parameter,
	struct rte_tel_data *data);
