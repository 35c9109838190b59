/* SPDX-License-Identifier: BSD-3-Clause */
/* A translation under way. */
#pragma once

#include <rte_branch_prediction.h>

#include "lib/vswitch/vswitch.h"

/* Where a tag of the key came from. */
enum vswitch_origin {
	VSWITCH_OUTER, /* the packet's outer tag */
	VSWITCH_INNER,
	VSWITCH_OWN, /* a rule's, or none */
};

/* What a trace writes while a translation is under way. */
struct vswitch_trace {
	FILE *out;
	struct hy_flows_key before; /* the packet, as rules match it */
	uint32_t level;             /* rules that are under way */
	uint32_t lines;
	char text[HY_VSWITCH_TEXT_SIZE];
};

struct vswitch_tag {
	rte_be16_t tci, fresh;
	enum vswitch_origin origin;
};

struct vswitch_flow {
	struct hy_vswitch *vswitch;
	struct hy_vswitch_answer *answer;
	struct vswitch_trace *trace; /* NULL: none */
	const struct hy_vswitch_port *input;
	struct hy_flows_key key;   /* the packet as it is now, as rules match it */
	struct hy_flows_key fresh; /* bits of it that are still the packet's own */
	struct hy_flows_key mask;  /* bits of the packet that were looked at, in the same form */
	enum vswitch_origin outer, inner;              /* of the tags */
	struct vswitch_tag more[HY_FLOW_OPS_LIST + 1]; /* behind these: the last is the next */
	uint32_t nb_more;
	uint32_t mark;
	bool ttl_counted; /* the key's TTL is the packet's, less some */
	bool wrapped;     /* the packet is inside a tunnel that it was sent into */
	bool sent;        /* it left by an output, which may share it */
	bool lent;        /* it left for the bridge, which writes to it */
	uint32_t resubmits;
	uint32_t depth; /* frames that went back to an earlier table */
};

/* vswitch_translate.c: looks at bits of the packet as it is now. */
void vswitch_look(struct vswitch_flow *flow, const struct hy_flows_key *bits);
/* Takes a packet through the tables. Locks the switch meanwhile. */
void vswitch_translate(struct hy_vswitch *vswitch, const struct hy_flows_key *key,
	struct hy_vswitch_answer *answer, struct vswitch_trace *trace, struct vswitch_flow *flow);

/* vswitch_do.c: does an action that goes to no table. Returns whether the rule's actions go on. */
bool vswitch_do(struct vswitch_flow *flow, const struct hy_vswitch_action *action);
/* vswitch_output.c */
void vswitch_output(struct vswitch_flow *flow, uint16_t port);
/* Adds an operation. */
void vswitch_op(struct vswitch_flow *flow, const struct hy_flow_op *op);

/* vswitch_trace.c: for translations that have a trace. */
void vswitch_trace_begin(struct vswitch_flow *flow);
void vswitch_trace_rule(struct vswitch_flow *flow, uint8_t table,
	const struct vswitch_entry *entry);
void vswitch_trace_action(struct vswitch_flow *flow, const struct hy_vswitch_action *action);
void vswitch_trace_end(struct vswitch_flow *flow);
void vswitch_trace_say(struct vswitch_flow *flow, const char *format, ...)
	__attribute__((format(printf, 2, 3), cold));

/* Says how an action ended, if there is a trace. Arguments are evaluated only then. */
#define VSWITCH_SAY(flow_, ...) \
	do { \
		if (unlikely((flow_)->trace != NULL)) \
			vswitch_trace_say((flow_), __VA_ARGS__); \
	} while (0)
