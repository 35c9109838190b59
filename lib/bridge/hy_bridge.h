/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A bridge of a program: read from a file, made of the nodes of hy_l2.h, changed while frames flow.
 *
 * Use, in this order: hy_bridge_create(), before ports are started, so that a bad file is refused at
 * once; hy_bridge_start(), when workers are known; hy_hal_select(); hy_bridge_nodes(), before graphs are
 * created. While frames flow, hy_bridge_poll() about every millisecond, and hy_bridge_part() in a
 * hy_reload(). After all graphs are destroyed, and before the workers' QSBR variable is,
 * hy_bridge_destroy().
 *
 * The file has a statement on each line; '#' starts a comment:
 *
 * @code
 * tag 0x8100                    # ether type of tags: 0x8100 (default) or 0x88a8, of service VLANs
 * age 300                       # seconds after which an unused entry is deleted; 0: never
 * entries 65536                 # most entries of the forwarding table
 * port 0 access 10
 * port 1 trunk 10,20-30 native 10 entries 1000 storm broadcast 1000 storm unknown 500
 * port 2 trunk all state blocking learn off filter off admit all group 1
 * static 02:00:00:00:00:01 vlan 10 port 1
 * static 02:00:00:00:00:02 vlan 10 local
 * @endcode
 *
 * "access V": frames without a tag, or with VID 0, belong to V, whose frames leave without a tag; tagged
 * ones are not admitted. "trunk LIST": frames of these VLANs enter and leave with a tag; "native V": those
 * without belong to V, which need not be in LIST, and whose frames leave without a tag. "admit" is
 * "untagged", "tagged" or "all": by default "untagged" of access ports, "tagged" of trunks without a
 * native VLAN, "all" of others. "filter off": frames of VLANs that the port is no member of enter
 * (IEEE 802.1Q 8.6.2). "group N", 1 to 63: ports of one group do not send to each other (split horizon).
 * "storm KIND N", KIND "broadcast", "multicast" or "unknown": at most N frames a second are flooded
 * that the port receives. "entries N": at most N learned entries. "local": the router itself.
 *
 * One control thread calls these functions, except where they say otherwise. They return 0 or a negative
 * errno. Those that take @p error write the reason there, in HY_BRIDGE_ERROR_SIZE bytes; a fault in a
 * file is "FILE:LINE: FIELD: REASON".
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include <hy_assembly.h>
#include <hy_document.h>
#include <hy_l2.h>
#include <hy_l2_table.h>
#include <hy_reload.h>
#include <hy_workers.h>

HY_API_BEGIN

#define HY_BRIDGE_ERROR_SIZE HY_RELOAD_ERROR_SIZE /**< Bytes of a reason, with its NUL. */

struct hy_bridge;

/**
 * Reads and checks the bridge of a file.
 *
 * @param path Outlives the bridge.
 * @param ports Ports of the program, all of which the file has to set up. At most HY_L2_BRIDGE_PORTS.
 * @param[out] bridge Belongs to the caller, until hy_bridge_destroy(). NULL after an error.
 * @return 0; -EINVAL a line is no statement, or contradicts another one; -EINTR reading was stopped; what
 * else hy_file_read() returns; -ENOMEM.
 */
int hy_bridge_create(const char *path, const uint16_t ports[], unsigned int nb_ports,
	struct hy_bridge **bridge, char *error);

/** Frees a bridge. NULL is allowed. */
void hy_bridge_destroy(struct hy_bridge *bridge);

/**
 * Makes the forwarding table with its static entries, and a ring for each worker.
 *
 * @param workers Report to its QSBR variable. Outlive the bridge.
 * @param shares By port of hy_bridge_create(), among how many workers its storm limits are divided: those
 * that receive its frames; NULL: one.
 * @return 0; -ENOSPC the file has more static entries than the table may have; -ENOMEM.
 */
int hy_bridge_start(struct hy_bridge *bridge, const struct hy_workers *workers,
	const uint16_t shares[], char *error);

/**
 * Makes the bridge's nodes, and "ethdev_tx-PORT" for each port of the ends that has none yet:
 * hy_tx_nodes() of a router beside the bridge comes first. ends->next becomes "l2_input".
 * Graphs need the lane HY_L2_LANE.
 *
 * @param local The node that takes frames for the router itself: a name. NULL: they are dropped, in a
 * node "l2_local", as "no_router".
 * @return 0; what functions of hy_assembly.h and hy_graph.h return.
 */
int hy_bridge_nodes(struct hy_bridge *bridge, struct hy_ends *ends, const char *local);

/**
 * Learns what workers have found, deletes entries that were not used for long, and those of ports whose
 * link has gone down or that were removed.
 *
 * @param now Seconds since any moment, never lower than before.
 */
void hy_bridge_poll(struct hy_bridge *bridge, uint32_t now);

/** The bridge as a part of a reload. "entries" of the table cannot change: -EINVAL. */
struct hy_reload_part hy_bridge_part(struct hy_bridge *bridge);

/**
 * Sets a port's state, until the next reload that changes it in the file. Entries of a port that stops
 * learning are deleted.
 *
 * @param port ethdev port id.
 * @return 0; -ENODEV no port of the bridge; -ENOMEM; -ETIMEDOUT a worker did not report.
 */
int hy_bridge_state(struct hy_bridge *bridge, uint16_t port, enum hy_l2_state state);

/** @return The forwarding table, after hy_bridge_start(); any thread may use it. */
struct hy_l2_table *hy_bridge_table(struct hy_bridge *bridge);

/**
 * Prints the bridge's counts, and those of each port and of each VLAN of which there are any, as tables:
 * entries, what was learned, moved, aged and refused, and frames that were flooded. By the port to
 * which an entry moved; refused are also sources that came before a change of the set-up, by which they
 * would not be learned.
 */
void hy_bridge_print(struct hy_bridge *bridge, FILE *out);

/** The same for the JSON report: a member "bridge", and a comma, as hy_report_json() wants it. */
void hy_bridge_json(struct hy_bridge *bridge, FILE *out);

/**
 * Registers telemetry commands, which hy_bridge_poll() answers for the bridge that was started last.
 * Blanks of parameters may be commas:
 *
 * @code
 * /halyard/l2/stats                                      counts of the bridge and its table
 * /halyard/l2/ports                                      state and counts by port
 * /halyard/l2/vlans[,V]                                  counts of VLANs in use, from V on
 * /halyard/l2/dump[,port P][ vlan V][ cursor C]          entries
 * /halyard/l2/add,MM:MM:MM:MM:MM:MM vlan V port P        (or local) adds a static entry
 * /halyard/l2/del,MM:MM:MM:MM:MM:MM vlan V               deletes an entry of either kind
 * /halyard/l2/flush[,port P][ vlan V][ static]           deletes learned entries, static ones too
 * /halyard/l2/state,P STATE                              as hy_bridge_state()
 * @endcode
 *
 * Where an answer has "next", more follows from there: a VLAN, or a cursor. Entries by command stay until
 * a reload that finds them otherwise in the file.
 *
 * @param prefix Not used: the commands are the library's, not the program's. For struct hy_program.
 * @return As hy_telemetry_register().
 */
int hy_bridge_telemetry(const char *prefix);

HY_API_END
