/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Access lists: named policies (hy_policy.h) that permit, drop or redirect the frames of a port, on
 * their way in or out.
 *
 * A *place* is a port and a direction. "in" stands between the nodes that receive frames of a port and
 * the first node that they lead to: it sees every frame, of any protocol, before anything else does.
 * "out" stands before the port's ethdev_tx: it sees every frame that leaves, as it leaves. Each place is
 * a feature arc (hy_arc.h) with a node of hy_acl_node.h. A list is *bound* to places while frames flow; a
 * place where none is bound costs nothing. A list may be bound to several places.
 *
 * Use, in this order: hy_acl_create(), when workers are known; hy_acl_list_create() and the lists' rules;
 * hy_acl_place(), when the nodes of ports exist; hy_acl_bind(), before or after graphs are created, whose
 * lanes include HY_ARC_LANE and HY_FLOW_CLASS_LANE. While frames flow, hy_acl_poll() about every
 * millisecond. When graphs are destroyed, and before the QSBR variable is, hy_acl_destroy().
 *
 * A list's rules change by hy_policy_commit(); workers see them from their next burst. Several lists
 * change together by hy_policy_commit_together().
 *
 * One control thread calls these functions. It must not walk a graph, and must not be called by code of
 * a graph. They return 0 or a negative errno. Those that take @p error write one sentence there on what
 * was wrong and what is accepted, in HY_ACL_ERROR_SIZE bytes.
 */
#pragma once

#include <hy_acl_node.h>
#include <hy_hal_live.h>
#include <hy_offload.h>
#include <hy_reload.h>

HY_API_BEGIN

#define HY_ACL_ERROR_SIZE 512     /**< Room that @p error arguments must have. */
#define HY_ACL_NAME_MAX 16        /**< Most bytes of a list's name. */
#define HY_ACL_IN_ARC "port_in"   /**< "port_in-PORT" is the arc's node before the nodes of "in". */
#define HY_ACL_OUT_ARC "port_out" /**< Likewise "port_out-PORT". */

struct hy_acl;

/** Directions. */
enum hy_acl_way {
	HY_ACL_IN,  /**< Frames that a port received. */
	HY_ACL_OUT, /**< Frames that a port is to send. */
	HY_ACL_WAYS /**< How many there are. */
};

/** Parameters of all lists. */
struct hy_acl_params {
	struct rte_rcu_qsbr *qsbr; /**< To which all graphs report. Required; outlives the lists. */
	unsigned int workers;      /**< Graphs have lower worker numbers; at least 1. */
	int socket;                /**< NUMA node, or SOCKET_ID_ANY. */
	/** Of each list, as in struct hy_policy_params; qsbr, workers, socket and access are set. */
	struct hy_policy_params policy;
	/**
	 * Records that a worker's log holds, a power of 2 less 1; 0: 1023. What a worker logs beyond
	 * is counted as lost until hy_acl_log_drain() has made room.
	 */
	unsigned int log_records;
	/**
	 * Each worker logs one packet of a rule in so many milliseconds; in the same time,
	 * hy_acl_log_drain() sums the others up once. 0: 1000.
	 */
	unsigned int log_ms;
};

/**
 * Creates an empty set of lists.
 *
 * @return 0; -EINVAL no QSBR variable, no workers, or log_records is refused; -ENOMEM.
 */
int hy_acl_create(const struct hy_acl_params *params, struct hy_acl **acl);

/** Removes all places, and frees all lists. No graph may have their nodes. NULL is allowed. */
void hy_acl_destroy(struct hy_acl *acl);

/**
 * Creates a list without rules, which permits everything.
 *
 * @param name 1 to HY_ACL_NAME_MAX letters, digits, '_', '.' or '-'.
 * @param path The file that hy_acl_reload() and the reload read; NULL: none. Outlives the list.
 * @param[out] policy Its rules, valid until the list is destroyed.
 * @return 0; -EINVAL the name is malformed; -EEXIST it is taken; -ENOSPC there are HY_ACL_LISTS;
 * -ENOMEM.
 */
int hy_acl_list_create(struct hy_acl *acl, const char *name, const char *path,
	struct hy_policy **policy);

/**
 * Destroys a list. Waits until no worker uses it, up to two seconds.
 *
 * @return 0; -ENOENT; -EBUSY it is bound; -ETIMEDOUT a worker did not report: the list stays.
 */
int hy_acl_list_destroy(struct hy_acl *acl, const char *name);

/** @return A list's rules; NULL: there is no such list. */
struct hy_policy *hy_acl_list(const struct hy_acl *acl, const char *name);

/** @return The name of the list number @p i, from 0 in order of creation; NULL: no more lists. */
const char *hy_acl_list_at(const struct hy_acl *acl, unsigned int i);

/** A place. Strings are read during the call only. */
struct hy_acl_place {
	uint16_t port;       /**< ethdev port id. */
	enum hy_acl_way way; /**< Direction. */
	/**
	 * The node that frames go to next: of "in", the one that all nodes that receive frames of the
	 * port lead to, and no other node does; of "out", the port's ethdev_tx. It keeps its name.
	 */
	const char *end;
	/** Nodes by port that redirected frames go to; NULL: the place does not have the port. */
	const char *const *to_port;
	/** Nodes of classes that do not go on along the place; NULL: they are denied. */
	const char *const *to_class;
	/** The classes of to_class; edge is filled in. Must outlive the graphs. */
	struct hy_flow_way *ways;
	unsigned int nb_ways; /**< Entries of both. */
};

/**
 * Makes a place. Before graphs are created that a dispatch (hy_dispatch.h) walks.
 *
 * @return 0; -EEXIST the port has the place; -EINVAL there is no such port number; what
 * hy_node_clone(), hy_node_edge_add() and hy_arc_create() return.
 */
int hy_acl_place(struct hy_acl *acl, const struct hy_acl_place *place);

/**
 * Binds a list to a place, instead of one that was bound there. Frames that are taken from a port after
 * the call are treated by it. None is lost or overtaken by a later one of its port.
 *
 * @return 0; -ENOENT no such list; -ENODEV no such place; what hy_arc_set() returns, after which it is
 * as before.
 */
int hy_acl_bind(struct hy_acl *acl, uint16_t port, enum hy_acl_way way, const char *name);

/** Unbinds what is bound to a place. @return 0; -ENODEV no such place; what hy_arc_set() returns. */
int hy_acl_unbind(struct hy_acl *acl, uint16_t port, enum hy_acl_way way);

/**
 * Reads a place in words: "in:PORT" or "out:PORT".
 *
 * @return 0; -EINVAL.
 */
int hy_acl_place_read(const char *text, uint16_t *port, enum hy_acl_way *way, char *error);

/**
 * Has ports drop in hardware what lists deny that are bound to their "in", from now on: hy_acl_bind()
 * and hy_acl_unbind() begin and end it, and hy_acl_poll() serves it. What a port does not take stays in
 * software, which decides about each packet that arrives.
 *
 * @param hal The offloads follow it; outlives the lists.
 * @param params For each port, as for hy_offload_create().
 * @return 0; -EEXIST it was called before.
 */
int hy_acl_offload(struct hy_acl *acl, struct hy_hal *hal, const struct hy_offload_params *params);

/**
 * Begins to offload a list to a port before it is bound there, so that no packet may be received until
 * it is; or ends what is offloaded there. A port that takes no rules is reported. For a port that is not
 * HY_PORT_UP, its driver is not called: it gets rules when it is up and the lists are polled.
 *
 * @param name NULL: end.
 * @return 0, also if the port takes no rules; -ENOENT no such list; -EINVAL hy_acl_offload() was not
 * called, or there is no such port number; what hy_offload_create() and hy_offload_follow() return.
 */
int hy_acl_offload_port(struct hy_acl *acl, uint16_t port, const char *name);

/** Installs rules for up to a second, so that the first packets find them. */
void hy_acl_offload_install(struct hy_acl *acl);

/** Reads what hardware has dropped, so that counts are up to date. hy_acl_poll() reads parts of it. */
void hy_acl_offload_read(struct hy_acl *acl);

/** Prints for each offloaded port its state, and each rule: in hardware, or why not. */
void hy_acl_offload_print(const struct hy_acl *acl, FILE *out);
/** Prints the same as elements of a JSON array. */
void hy_acl_offload_json(const struct hy_acl *acl, FILE *out);

/** @return The name of the list that is bound to a place; NULL: none, or there is no such place. */
const char *hy_acl_bound(const struct hy_acl *acl, uint16_t port, enum hy_acl_way way);

/**
 * Reads what a list did to packets, over all workers, since it was cleared last.
 *
 * @return 0; -ENOENT.
 */
int hy_acl_counts(const struct hy_acl *acl, const char *name, struct hy_acl_counts *counts);

/** Has a list's counts, and those of its rules, start at 0 again. @return 0; -ENOENT. */
int hy_acl_clear(struct hy_acl *acl, const char *name);

/**
 * Reads a list's file again, or another file of the same form.
 *
 * @param path NULL: the list's own.
 * @return 0; -ENOENT no such list; -EINVAL it has no file; what hy_policy_load() and
 * hy_policy_commit() return.
 */
int hy_acl_reload(struct hy_acl *acl, const char *name, const char *path, char *error);

/**
 * Writes the lists that have files, for hy_reload_together().
 *
 * @param rules Room for HY_ACL_LISTS of them.
 * @return How many.
 */
unsigned int hy_acl_rules(const struct hy_acl *acl, struct hy_reload_rules rules[]);

/** What a log tells. */
struct hy_acl_event {
	const char *list; /**< Name of the list. Valid during the call. */
	uint32_t rule;    /**< Id of the rule. */
	uint64_t more;    /**< Packets that were not told; 0: @ref record tells of one. */
	struct hy_acl_record record; /**< The packet. */
};

/** A listener: is called with each event. */
typedef void(hy_acl_tell_t)(const struct hy_acl_event *event, void *arg);

/** What was logged. */
struct hy_acl_log_counts {
	uint64_t logged; /**< Packets told. */
	uint64_t more;   /**< Packets told in sums. */
	uint64_t lost; /**< Records for which a worker's log had no room: their packets are in sums.
			 And those of lists that were destroyed, whose packets are in none. */
};

/**
 * Tells of the packets that rules with "log" matched: of each that workers recorded; and, when log_ms
 * have passed, of how many others each rule had since the last sum.
 *
 * A sum is exact, whatever was cleared or lost, if this is called between any two commits of a list; a
 * rule that was removed has its last sum then. Those of a list that was destroyed are not told.
 *
 * @param all Sums up at once, and includes what is not due yet: at the end.
 */
void hy_acl_log_drain(struct hy_acl *acl, bool all, hy_acl_tell_t *tell, void *arg);

/** Reads what was logged. */
void hy_acl_log_counts(const struct hy_acl *acl, struct hy_acl_log_counts *counts);

#define HY_ACL_EVENT_SIZE 256 /**< Room for an event as text. */

/**
 * Formats an event as one line without its end, as snprintf(3) does: "acl edge rule 7 deny: port 0 tcp
 * 10.0.0.1:1234 > 192.0.2.1:22 flags S, 153 bytes", or "acl edge rule 7: 1204 more packets".
 */
int hy_acl_event_format(const struct hy_acl_event *event, char *text, size_t size);

/**
 * Prints lists, their bindings and rules: as text, or as members of a JSON object, "LIST": { ... }, with
 * commas between.
 */
void hy_acl_print(const struct hy_acl *acl, FILE *out);
/** Prints what lists did to packets, a line a list. Prints nothing without lists. */
void hy_acl_table_print(const struct hy_acl *acl, FILE *out);
/** Prints all of it as members of a JSON object, one a list. */
void hy_acl_json(const struct hy_acl *acl, FILE *out);

/** Answers telemetry's questions, and serves offloads. To be called every few milliseconds. */
void hy_acl_poll(struct hy_acl *acl);

/**
 * Registers the commands /halyard/acl/lists, rules, stats, bind, unbind, add, del, replace, clear and
 * log, which hy_acl_poll() answers. Main thread, before rte_eal_init().
 *
 * @param prefix Not used; so that it can stand in struct hy_program.
 * @return As hy_telemetry_register().
 */
int hy_acl_telemetry(const char *prefix);

HY_API_END
