/* SPDX-License-Identifier: BSD-3-Clause */
/* Providers that fail: the simulator's rules, by one that fails on call; and what removes no rule. */
#pragma once

#include <hy_flow.h>

extern const struct hy_flow_provider failing_provider;

/* What failing_provider was called for so far, and is told to do. */
struct failing {
	unsigned int calls;    /* To validate, to create, to destroy. */
	unsigned int fail_at;  /* From this call on each fails; 0: none does. */
	unsigned int fail_for; /* Only so many do; 0: all. */
	int fail_with;         /* A negative errno. */
	unsigned int rules;    /* Created, and not destroyed. */
	/* Called while a rule that is to be refused is there. NULL: it is refused at once. */
	void (*late)(void);
};
extern struct failing failing;

/* A destroy() by which every rule stays, with -EIO. */
int refuse_destroy(uint16_t port, void *flow, struct rte_flow_error *error);
