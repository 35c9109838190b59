/* SPDX-License-Identifier: BSD-3-Clause */
/* Marks in the suite of flow_cls: a table of them, and the marks of packets as a NIC would set them. */
#pragma once

#include <hy_conform.h>
#include <hy_policy.h>

/* Rules have ids from this number on. */
#define SUITE_MARKS_ID 1000
#define SUITE_MARKS_RULES 300 /* at most */
#define SUITE_MARKS_PORT 0    /* of most packets; the others' has no table */

#define SUITE_MARKS_SLOT_BITS 9 /* slot 0 is of no rule, so that mark 0 does not occur */

struct suite_marks {
	struct hy_policy *policy;
	bool wider;
	struct hy_mark_table *table; /* NULL: withdrawn */
	uint32_t *residues;
	uint8_t *due;
	struct hy_mark_worker *workers;
	struct rte_ring *records;
	uint32_t generation[SUITE_MARKS_RULES];
	bool lies;        /* marks may be wrong: software samples all */
	uint64_t noticed; /* wrong marks, when they were last right or wrong */
	uint64_t unjust;  /* right marks that were called wrong */
};

/* The mark of a rule; with generation 0, that of before its last change. */
static inline uint32_t
suite_mark_of(const struct suite_marks *m, uint32_t number, uint32_t generation)
{
	RTE_BUILD_BUG_ON(SUITE_MARKS_RULES >= 1 << SUITE_MARKS_SLOT_BITS);
	return (m->generation[number] + generation) << SUITE_MARKS_SLOT_BITS | (number + 1);
}

/* wider: the NIC may mark any packet for some rules; else fragments. 0 or -ENOMEM. */
int suite_marks_create(const char *name, struct hy_policy *policy, bool wider,
	struct suite_marks **marks);
void suite_marks_destroy(struct suite_marks *marks);
/* Makes and publishes the table for the current rules; before they change, withdraw it. */
int suite_marks_publish(struct suite_marks *marks);
void suite_marks_withdraw(struct suite_marks *marks);
/* From now on, a rule has another mark. */
void suite_marks_renew(struct suite_marks *marks, uint32_t rule_id);
/* From now on marks may be wrong, and software samples all; or neither any more. */
void suite_marks_turn(struct suite_marks *marks);
/* How many right marks the variant has called wrong so far. */
uint64_t suite_marks_unjust(struct suite_marks *marks);
/* Sets the port, the mark and its flags. */
void suite_marks_draw(const struct suite_marks *marks, struct hy_suite_packet *packet);
/* What did not occur though the variant looked at marks often enough; NULL: all did. */
const char *suite_marks_unreached(const struct suite_marks *marks);
