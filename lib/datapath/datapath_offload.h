/* SPDX-License-Identifier: BSD-3-Clause */
/* Megaflows in hardware: datapath_offload.c and datapath_offload_ports.c. */
#pragma once

#include <hy_flow_lookup.h>
#include <hy_offloads.h>

#include "datapath.h"

enum datapath_rule_state {
	DATAPATH_RULE_NONE,
	DATAPATH_RULE_COMES,  /* staged */
	DATAPATH_RULE_IN,     /* committed; in hardware if the port takes it */
	DATAPATH_RULE_LEAVES, /* its removal is staged */
	DATAPATH_RULE_LEFT,   /* workers may still know its class, until `token` */
};

/* A rule of a port's policy, by its class, which is also its id. */
struct datapath_rule {
	enum datapath_rule_state state;
	bool drop;
	uint32_t action;         /* of the megaflow, when the rule was made */
	uint32_t rate;           /* packets a second of the megaflow */
	uint32_t index;          /* of its counter, */
	uint64_t packets, bytes; /* and what of that was counted already */
	uint64_t token;
};

struct datapath_port {
	uint16_t port;
	struct rte_rcu_qsbr *qsbr;
	struct hy_policy *policy;
	struct hy_offloads *offloads;
	struct hy_flow_named *of_class;
	struct datapath_rule *rules; /* 1 to classes */
	uint32_t classes;            /* more than rules: some have to be left by workers first */
	uint32_t most, nb_in;        /* rules, with those that are staged to come */
	uint32_t next;               /* where a free class is sought */
	bool changed;                /* something is staged */
	bool stopped;                /* what is staged could not be committed */
};

/* How much a megaflow is used, and the class of its rule. */
struct datapath_use {
	uint64_t packets; /* when it was last looked at, */
	uint32_t at_ms;   /* which was then */
	uint32_t life;    /* which of the slot's megaflows that was */
	uint32_t rate;    /* packets a second */
	uint16_t class_id;
};

struct datapath_offload {
	struct hy_hal *hal;
	bool tunnels; /* keys are those of frames inside VXLAN */
	unsigned int nb_ports;
	struct datapath_port ports[HY_VSWITCH_PORTS];
	struct datapath_port *port[RTE_MAX_ETHPORTS]; /* those that take rules */
	struct hy_flow_marks marks[RTE_MAX_ETHPORTS];
	struct datapath_use *by_slot; /* of megaflows */
	uint32_t nb_slots;
	uint32_t cursor; /* of the scan */
	uint64_t scan_ms, read_ms;
	bool late;      /* A worker had not reported when rules were committed: that is not tried */
	uint64_t token; /* again until it has since then. */
};
