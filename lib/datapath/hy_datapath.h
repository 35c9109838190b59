/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A virtual switch of a program: the rules of hy_vswitch.h in front of a flow cache (hy_flow_table.h), whose
 * megaflows name lists of operations (hy_flow_ops.h), as nodes of a graph: flow_lookup and flow_reinject
 * lead to flow_apply, and that to the ports' ethdev_tx, and to a bridge (hy_bridge.h) for NORMAL.
 *
 * Use, in this order: hy_datapath_create() and hy_datapath_load(), before ports are started, so that a
 * bad file is refused at once; hy_datapath_start(), when workers are known; hy_hal_select();
 * hy_datapath_nodes(), before graphs are created. Graphs need the lane HY_FLOW_ACTION_LANE and the source
 * HY_FLOW_REINJECT_NODE. While packets flow, hy_datapath_poll() about every millisecond, and
 * hy_datapath_part() in a hy_reload(). After all graphs are destroyed, and before ports are stopped and
 * the workers' QSBR variable is destroyed, hy_datapath_destroy(): packets that wait for rules go back to
 * their pools.
 *
 * A rule counts each packet that met it. Megaflows that have the same operations by the same rules
 * share a list. When 65,536 are too few, packets of further ones are forwarded all the same, but their rules
 * do not count them; when there is no list at all, they are dropped as "denied".
 *
 * One control thread calls these functions, except where they say otherwise. They return 0 or a negative
 * errno. Those that take @p error write the reason there, in HY_DATAPATH_ERROR_SIZE bytes; a fault in a
 * file is "FILE:LINE: FIELD: REASON".
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include <hy_assembly.h>
#include <hy_flow_table.h>
#include <hy_offload.h>
#include <hy_reload.h>
#include <hy_vswitch.h>
#include <hy_workers.h>

HY_API_BEGIN

#define HY_DATAPATH_ERROR_SIZE HY_RELOAD_ERROR_SIZE /**< Bytes of a reason, with its NUL. */

struct hy_datapath;

/** What a switch is made of. Read by hy_datapath_create(), but for strings. */
struct hy_datapath_params {
	const char *path; /**< Of hy_datapath_load(); outlives the switch. NULL: no file. */
	/** Ports, uplinks before their tunnels; their edges are filled in. */
	const struct hy_vswitch_port *ports;
	unsigned int nb_ports;         /**< Entries of ports. */
	uint32_t max_flows;            /**< Most megaflows, 1 to HY_FLOWS_MOST. */
	struct hy_flows_caches caches; /**< In front of megaflows, of each worker. */
};

/**
 * Makes the tables of rules, without rules, and adds the ports.
 *
 * @param[out] datapath Belongs to the caller, until hy_datapath_destroy(). NULL after an error.
 * @return 0; -ENOMEM; what hy_vswitch_port_add() returns of a port, which @p error names.
 */
int hy_datapath_create(const struct hy_datapath_params *params, struct hy_datapath **datapath,
	char *error);

/**
 * Reads the file with rules; does nothing without one. After hy_datapath_start(), hy_datapath_part()
 * reads it.
 *
 * @return As hy_vswitch_load().
 */
int hy_datapath_load(struct hy_datapath *datapath, char *error);

/** Frees a switch. NULL is allowed. */
void hy_datapath_destroy(struct hy_datapath *datapath);

#define HY_DATAPATH_OFFLOAD_RULES 4096 /**< Megaflows that a port's hardware gets by default. */

/**
 * Offloads megaflows to the hardware of the switch's ports: those that packets use most, as long as it has
 * room, and that a rule of the port's driver can say. Hardware marks packets of those that forward,
 * and flow_lookup finds the megaflow by the mark; it drops and counts packets of those without an output, if its driver
 * can do both. Rules count such packets; totals of the program do not. hy_datapath_poll() keeps it going.
 *
 * To be called when ports run, before hy_hal_select(), which gives ports whose marks can be trusted the
 * variant "mark" of flow_lookup, and before hy_datapath_start().
 *
 * @param hal Outlives the switch, as do the workers.
 * @param params As for hy_offload_create(), for each port. max_rules: megaflows of a port, to
 * 65,535. [HY_DATAPATH_OFFLOAD_RULES]
 * @return 0, also if no port takes rules; -EEXIST it is called twice; what hy_policy_create() and
 * hy_offloads_create() return, which report errors.
 */
int hy_datapath_offload(struct hy_datapath *datapath, struct hy_hal *hal,
	const struct hy_workers *workers, const struct hy_offload_params *params);

/** Prints how the offloads of ports stand, for people; nothing without an offload. */
void hy_datapath_offload_print(const struct hy_datapath *datapath, FILE *out);
/** The same for the JSON report: a member "offloads", and a comma. */
void hy_datapath_offload_json(const struct hy_datapath *datapath, FILE *out);

/**
 * Makes the flow cache and the set of lists, and starts the thread that asks the rules about packets that no
 * megaflow matches.
 *
 * @param workers Report to its QSBR variable. Outlive the switch.
 * @return 0; what hy_flow_table_create(), hy_flow_ops_create() and hy_flow_table_run() return.
 */
int hy_datapath_start(struct hy_datapath *datapath, const struct hy_workers *workers, char *error);

/**
 * Makes and configures the switch's nodes, and "ethdev_tx-PORT" for each port of the ends that has none yet.
 * ends->next becomes "flow_lookup".
 *
 * @param normal The node that packets go to by NORMAL: a name, such as "l2_input", whose graph then needs
 * the bridge's lane. NULL: there is no bridge, and they are dropped as "no_edge".
 * @return 0; what functions of hy_assembly.h and hy_graph.h return.
 */
int hy_datapath_nodes(struct hy_datapath *datapath, struct hy_ends *ends, const char *normal);

/**
 * Adds up the counts of rules, deletes rules whose timeouts are over, updates megaflows accordingly, frees
 * lists that no megaflow names any more, and answers telemetry.
 *
 * @param now_ms Milliseconds since any moment, never lower than before.
 */
void hy_datapath_poll(struct hy_datapath *datapath, uint64_t now_ms);

/** @return Packets that wait for rules, once no graph has the nodes; 0 of NULL, and before the start. */
uint64_t hy_datapath_waiting(const struct hy_datapath *datapath);

/** What a change does. */
enum hy_datapath_change {
	HY_DATAPATH_ADD,           /**< hy_vswitch_add() */
	HY_DATAPATH_MODIFY,        /**< hy_vswitch_modify() */
	HY_DATAPATH_MODIFY_STRICT, /**< Likewise. */
	HY_DATAPATH_DELETE,        /**< hy_vswitch_delete() */
	HY_DATAPATH_DELETE_STRICT, /**< Likewise. */
};

/**
 * Changes rules by a text, as of hy_vswitch_read(). When it returns, a worker that reports does nothing by
 * the rules as they were before, except to packets that came before, for which no megaflow was made.
 *
 * @param[out] n Rules that were changed or deleted; 0 of HY_DATAPATH_ADD, or if modifying added one.
 * @return 0; -EINVAL the text is no rule; what the functions named above return.
 */
int hy_datapath_change(struct hy_datapath *datapath, enum hy_datapath_change what, const char *text,
	uint32_t *n, char *error);

/**
 * As hy_datapath_change(), but megaflows follow only with the next hy_datapath_commit(), which looks at them
 * once for all changes that were put before. Until then, what is done to a packet may be by the rules as
 * they were, or by the new ones.
 */
int hy_datapath_put(struct hy_datapath *datapath, enum hy_datapath_change what, const char *text,
	uint32_t *n, char *error);

/**
 * Has megaflows follow what was put: when it returns, what hy_datapath_change() says holds of all of it. Takes
 * no time if nothing was. hy_datapath_poll() and hy_datapath_change() do this, too.
 */
void hy_datapath_commit(struct hy_datapath *datapath);

/** The file of rules as the last part of a reload. Without a file, what it does fails. */
struct hy_reload_part hy_datapath_part(struct hy_datapath *datapath);

/** @return The tables of rules; any thread may read them. Changes are made by hy_datapath_change(). */
struct hy_vswitch *hy_datapath_rules(struct hy_datapath *datapath);

/** @return The flow cache, after hy_datapath_start(). */
struct hy_flows *hy_datapath_flows(struct hy_datapath *datapath);

/**
 * Prints rules with all that was counted so far, as hy_vswitch_print() does.
 *
 * @return As hy_vswitch_print().
 */
int hy_datapath_rules_print(struct hy_datapath *datapath, const struct hy_vswitch_rule *select,
	FILE *out);

/**
 * Prints what was counted of a switch: megaflows, lists, and for each worker where packets were found,
 * how many tables a search took, what became of those that were asked about, and TSC cycles a packet.
 */
void hy_datapath_print(struct hy_datapath *datapath, FILE *out);

/** The same for the JSON report: a member "flows", and a comma, as hy_report_json() wants it. */
void hy_datapath_json(struct hy_datapath *datapath, FILE *out);

/**
 * Registers telemetry commands, which hy_datapath_poll() answers for the switch that was started last:
 *
 * @code
 * /halyard/flows/stats                 counts of the switch, and of each worker
 * /halyard/flows/rules[,[SKIP] MATCH]  rules with their counts, as text
 * /halyard/flows/dump[,CURSOR]         megaflows with their counts and lists, as text
 * /halyard/flows/trace,[SKIP] PACKET   hy_vswitch_trace() of a packet, as hy_vswitch_packet() reads it
 * /halyard/flows/caches,MODE           switches caches: see hy_datapath_caches_read()
 * /halyard/flows/add,RULE              as HY_DATAPATH_ADD, and so on
 * /halyard/flows/modify,RULE
 * /halyard/flows/modify_strict,RULE
 * /halyard/flows/delete,MATCH
 * /halyard/flows/delete_strict,MATCH
 * @endcode
 *
 * A text that is longer than an answer of telemetry ends with a line "more: N": N is the SKIP or the
 * CURSOR with which to go on.
 *
 * @param prefix Not used: the commands are the library's, not the program's. For struct hy_program.
 * @return As hy_telemetry_register().
 */
int hy_datapath_telemetry(const char *prefix);

/** Names of modes of caches. "auto": "frames", each of whose levels packets skip while it does not pay. */
#define HY_DATAPATH_CACHES "none, emc, emc+smc, dfc, smc, lines, frames, auto"

/**
 * Reads the name of a mode of caches, one of HY_DATAPATH_CACHES.
 *
 * @param[out] caches What the mode stands for.
 * @return 0; -EINVAL another word.
 */
int hy_datapath_caches_read(const char *text, struct hy_flows_caches *caches);

HY_API_END
