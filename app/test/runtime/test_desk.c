/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions to the control thread, which these tests are, and the threads that ask them. */

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rte_telemetry.h>

#include "lib/runtime/internal/desk.h"
#include "telemetry_fixture.h"
#include "unit.h"

#define NOBODY "the desk is closed"
#define BUSY "the control thread is busy"
#define ASKERS 4u

HY_DESK(desk, NOBODY);

struct question {
	struct hy_question common;
	unsigned int number; /* the asker's, */
	unsigned int reply;  /* which is to come back */
};

/* A thread that asks, and what became of that. */
static struct asker {
	pthread_t thread;
	struct rte_tel_data *data;
	const char *parameter;
	int rc;
	unsigned int number, reply;
	uint64_t waited_ms;
	char error[HY_TEXT_SIZE]; /* "": there was none */
	atomic_bool ended;
} askers[ASKERS];

static uint64_t
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void
ask(struct asker *asker)
{
	struct question question = { .number = asker->number };
	const uint64_t begun = now_ms();

	telemetry_error[0] = '\0';
	asker->rc = hy_desk_ask(&desk, &question.common, asker->parameter, asker->data);
	asker->waited_ms = now_ms() - begun;
	asker->reply = question.reply;
	memcpy(asker->error, telemetry_error, sizeof(asker->error));
}

static void *
asker_main(void *arg)
{
	struct asker *asker = arg;

	ask(asker);
	atomic_store(&asker->ended, true);
	return NULL;
}

static unsigned int
nb_untaken(void)
{
	const struct hy_question *question;
	unsigned int n = 0;

	pthread_mutex_lock(&desk.lock);
	STAILQ_FOREACH(question, &desk.untaken, next)
		n++;
	pthread_mutex_unlock(&desk.lock);
	return n;
}

/* Starts a thread that asks, and waits until its question lies on the desk, after those before. */
static void
begin(unsigned int number)
{
	const unsigned int before = nb_untaken();
	struct asker *asker = &askers[number];

	asker->number = number + 1;
	asker->reply = 0;
	atomic_store(&asker->ended, false);
	assert_int_equal(pthread_create(&asker->thread, NULL, asker_main, asker), 0);
	while (nb_untaken() == before && !atomic_load(&asker->ended))
		usleep(100);
}

static void
end(unsigned int number, unsigned int reply, const char *error)
{
	pthread_join(askers[number].thread, NULL);
	assert_int_equal(askers[number].rc, 0);
	assert_int_equal(askers[number].reply, reply);
	assert_string_equal(askers[number].error, error);
}

/* Takes the question of a thread. */
static struct question *
take(const void *owner, unsigned int number)
{
	struct hy_question *asked = hy_desk_take(&desk, owner);
	struct question *question = container_of(asked, struct question, common);

	assert_non_null(asked);
	assert_int_equal(question->number, number + 1);
	return question;
}

static void
reply(struct question *question)
{
	question->reply = 100 + question->number;
	hy_desk_answer(&desk, &question->common, 0, "");
}

static int
setup(void **state)
{
	RTE_SET_USED(state);
	desk.patience_ms = 60000; /* more than a test takes */
	hy_desk_open(&desk, &desk);
	for (unsigned int i = 0; i < ASKERS; i++) {
		askers[i].parameter = NULL;
		askers[i].data = rte_tel_data_alloc();
		if (askers[i].data == NULL)
			return -1;
	}
	return 0;
}

static int
teardown(void **state)
{
	RTE_SET_USED(state);
	hy_desk_close(&desk, &desk);
	for (unsigned int i = 0; i < ASKERS; i++)
		rte_tel_data_free(askers[i].data);
	return nb_untaken() == 0 ? 0 : -1;
}

static void
desk_answers_one_question_after_the_other_in_their_order(void **state)
{
	RTE_SET_USED(state);
	assert_null(hy_desk_take(&desk, &desk));
	for (unsigned int i = 0; i < ASKERS; i++)
		begin(i);
	assert_int_equal(nb_untaken(), ASKERS);
	for (unsigned int i = 0; i < ASKERS; i++) {
		reply(take(&desk, i));
		end(i, 101 + i, "");
		assert_int_equal(nb_untaken(), ASKERS - 1 - i);
	}
}

static void
desk_hands_over_the_parameter_and_the_data_and_takes_back_an_error(void **state)
{
	struct question *question;

	RTE_SET_USED(state);
	askers[0].parameter = "one,two";
	begin(0);
	question = take(&desk, 0);
	assert_string_equal(question->common.text, "one,two");
	assert_ptr_equal(question->common.data, askers[0].data);
	telemetry_error[0] = '\0';
	hy_desk_answer(&desk, &question->common, -EINVAL, "there is no two");
	end(0, 0, "");
	assert_string_equal(telemetry_error, "there is no two"); /* added by this thread */
	begin(1);
	question = take(&desk, 1);
	assert_string_equal(question->common.text, "");
	reply(question);
	end(1, 102, "");
}

static void
desk_refuses_a_parameter_that_is_too_long(void **state)
{
	static char parameter[HY_QUESTION_SIZE + 1];
	struct question *question;

	RTE_SET_USED(state);
	memset(parameter, 'x', HY_QUESTION_SIZE);
	askers[0].parameter = parameter;
	begin(0);
	end(0, 0, "the parameter is too long");
	parameter[HY_QUESTION_SIZE - 1] = '\0';
	begin(0);
	question = take(&desk, 0);
	assert_string_equal(question->common.text, parameter);
	reply(question);
	end(0, 101, "");
}

/* Two at once, of which none makes the other wait longer or less than its own time. */
static void
desk_askers_give_up_each_after_its_own_time(void **state)
{
	RTE_SET_USED(state);
	desk.patience_ms = 1200;
	begin(0);
	usleep(400000);
	assert_int_equal(nb_untaken(), 1);
	begin(1);
	end(0, 0, BUSY);
	end(1, 0, BUSY);
	for (unsigned int i = 0; i < 2; i++)
		assert_true(askers[i].waited_ms >= desk.patience_ms);
	assert_null(hy_desk_take(&desk, &desk)); /* they have taken their questions with them */
}

/* The asker's question and data would be gone when the answer is written. */
static void
desk_asker_does_not_give_up_while_it_is_answered(void **state)
{
	struct question *question;

	RTE_SET_USED(state);
	desk.patience_ms = 300;
	begin(0);
	question = take(&desk, 0);
	begin(1); /* is not taken in time */
	end(1, 0, BUSY);
	usleep(300000);
	assert_false(atomic_load(&askers[0].ended));
	reply(question);
	end(0, 101, "");
	assert_true(askers[0].waited_ms > desk.patience_ms);
}

static void
desk_that_closes_sends_away_those_who_wait(void **state)
{
	RTE_SET_USED(state);
	begin(0);
	begin(1);
	assert_int_equal(nb_untaken(), 2);
	hy_desk_close(&desk, &desk);
	end(0, 0, NOBODY);
	end(1, 0, NOBODY);
	begin(2); /* asks at a closed desk, as at the program's end */
	end(2, 0, NOBODY);
	assert_null(hy_desk_take(&desk, &desk));
	hy_desk_open(&desk, &desk);
	begin(3);
	reply(take(&desk, 3));
	end(3, 104, "");
}

static void
desk_that_closes_during_an_answer_lets_it_through(void **state)
{
	struct question *question;

	RTE_SET_USED(state);
	begin(0);
	question = take(&desk, 0);
	hy_desk_close(&desk, &desk);
	begin(1);
	end(1, 0, NOBODY);
	assert_false(atomic_load(&askers[0].ended));
	reply(question);
	end(0, 101, "");
}

static void
desk_is_its_last_owners(void **state)
{
	const int first = 1, second = 2;

	RTE_SET_USED(state);
	hy_desk_open(&desk, &first);
	begin(0);
	hy_desk_open(&desk, &second);
	assert_null(hy_desk_take(&desk, &first));
	hy_desk_close(&desk, &first);
	assert_int_equal(nb_untaken(), 1);
	reply(take(&second, 0));
	end(0, 101, "");
	hy_desk_close(&desk, &second);
	begin(0);
	end(0, 0, NOBODY);
}

/* A thread of the crowd, and how often which outcome came. */
static struct member {
	struct asker asker;
	unsigned int answered, busy, nobody, wrong;
} crowd[ASKERS];

static atomic_bool over;

static void *
crowd_main(void *arg)
{
	struct member *member = arg;
	struct asker *asker = &member->asker;

	while (!atomic_load(&over)) {
		asker->number++;
		ask(asker);
		if (asker->error[0] == '\0')
			member->answered++;
		else if (strcmp(asker->error, BUSY) == 0)
			member->busy++;
		else if (strcmp(asker->error, NOBODY) == 0)
			member->nobody++;
		if (asker->rc != 0 ||
			asker->reply != (asker->error[0] == '\0' ? 100 + asker->number : 0))
			member->wrong++;
	}
	return NULL;
}

/* All of it at once, for ThreadSanitizer: answers that come late, and a desk that opens and closes. */
static void
desk_answers_a_crowd(void **state)
{
	unsigned int answered = 0, told = 0, busy = 0, nobody = 0;

	RTE_SET_USED(state);
	desk.patience_ms = 1;
	atomic_store(&over, false);
	for (unsigned int i = 0; i < ASKERS; i++) {
		crowd[i] = (struct member){ .asker.data = askers[i].data };
		assert_int_equal(pthread_create(&crowd[i].asker.thread, NULL, crowd_main,
					 &crowd[i]),
			0);
	}
	for (unsigned int round = 0; round < 2000; round++) {
		struct hy_question *asked = hy_desk_take(&desk, &desk);

		if (round % 50 == 0)
			hy_desk_close(&desk, &desk);
		if (round % 10 == 0)
			usleep(2000); /* longer than anyone's patience */
		if (asked != NULL) {
			reply(container_of(asked, struct question, common));
			answered++;
		}
		hy_desk_open(&desk, &desk);
	}
	atomic_store(&over, true);
	for (unsigned int i = 0; i < ASKERS; i++) {
		pthread_join(crowd[i].asker.thread, NULL);
		assert_int_equal(crowd[i].wrong, 0);
		told += crowd[i].answered;
		busy += crowd[i].busy;
		nobody += crowd[i].nobody;
	}
	assert_int_equal(told, answered);
	assert_true(answered > 0 && busy > 0 && nobody > 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static const struct CMUnitTest desk_tests[] = {
	TEST(desk_answers_one_question_after_the_other_in_their_order),
	TEST(desk_hands_over_the_parameter_and_the_data_and_takes_back_an_error),
	TEST(desk_refuses_a_parameter_that_is_too_long),
	TEST(desk_askers_give_up_each_after_its_own_time),
	TEST(desk_asker_does_not_give_up_while_it_is_answered),
	TEST(desk_that_closes_sends_away_those_who_wait),
	TEST(desk_that_closes_during_an_answer_lets_it_through),
	TEST(desk_is_its_last_owners),
	TEST(desk_answers_a_crowd),
};

UNIT_SUITE(desk_tests)
