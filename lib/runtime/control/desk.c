/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions to the control thread: see desk.h. */

#include <stdio.h>
#include <time.h>

#include "lib/graph/internal/dpdk.h"
#include "lib/runtime/internal/desk.h"

void
hy_desk_open(struct hy_desk *desk, const void *owner)
{
	pthread_mutex_lock(&desk->lock);
	desk->owner = owner;
	pthread_mutex_unlock(&desk->lock);
}

void
hy_desk_close(struct hy_desk *desk, const void *owner)
{
	pthread_mutex_lock(&desk->lock);
	if (desk->owner == owner)
		desk->owner = NULL;
	pthread_cond_broadcast(&desk->changed);
	pthread_mutex_unlock(&desk->lock);
}

struct hy_question *
hy_desk_take(struct hy_desk *desk, const void *owner)
{
	struct hy_question *question = NULL;

	pthread_mutex_lock(&desk->lock);
	if (desk->owner == owner)
		question = STAILQ_FIRST(&desk->untaken);
	if (question != NULL) {
		STAILQ_REMOVE_HEAD(&desk->untaken, next);
		question->state = HY_QUESTION_TAKEN;
	}
	pthread_mutex_unlock(&desk->lock);
	return question;
}

void
hy_desk_answer(struct hy_desk *desk, struct hy_question *question, int rc, const char *error)
{
	if (rc < 0)
		rc = hy_telemetry_error(error, question->data);
	pthread_mutex_lock(&desk->lock);
	question->rc = rc;
	question->state = HY_QUESTION_ANSWERED;
	pthread_cond_broadcast(&desk->changed);
	pthread_mutex_unlock(&desk->lock); /* the asker may leave: the question is gone */
}

static struct timespec
from_now(unsigned int ms)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += ms % 1000 * 1000000L;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	return until;
}

/* Waits under the lock. Returns NULL, or why there is no answer. */
static const char *
wait_for_answer(struct hy_desk *desk, struct hy_question *question)
{
	const struct timespec until = from_now(desk->patience_ms);
	int rc = 0;

	while (question->state == HY_QUESTION_WAITS && desk->owner != NULL && rc == 0)
		rc = pthread_cond_clockwait(&desk->changed, &desk->lock, CLOCK_MONOTONIC, &until);
	if (question->state == HY_QUESTION_WAITS) {
		STAILQ_REMOVE(&desk->untaken, question, hy_question, next);
		return desk->owner == NULL ? desk->nobody : "the control thread is busy";
	}
	while (question->state == HY_QUESTION_TAKEN) /* however long it takes: it writes there */
		pthread_cond_wait(&desk->changed, &desk->lock);
	return NULL;
}

int
hy_desk_ask(struct hy_desk *desk, struct hy_question *question, const char *parameter,
	struct rte_tel_data *data)
{
	const char *wrong;

	if (snprintf(question->text, HY_QUESTION_SIZE, "%s", parameter == NULL ? "" : parameter) >=
		HY_QUESTION_SIZE)
		return hy_telemetry_error("the parameter is too long", data);
	question->data = data;
	question->state = HY_QUESTION_WAITS;
	pthread_mutex_lock(&desk->lock);
	STAILQ_INSERT_TAIL(&desk->untaken, question, next);
	wrong = wait_for_answer(desk, question);
	pthread_mutex_unlock(&desk->lock);
	return wrong == NULL ? question->rc : hy_telemetry_error(wrong, data);
}
