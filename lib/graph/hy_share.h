/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Graph core, across processes: reads the structure and the counters of another program's graphs.
 *
 * The program that has the graphs *shares* them. It writes a description of each to a folder, with
 * all names and the places of the counters in its memory. A reader *attaches* to the folder. It
 * compiles each graph again from its description, in its own memory, and copies the counters with
 * pread(2). So it follows no pointer of the program, calls none of its functions, and may be mapped
 * at other addresses.
 *
 * Neither waits for the other: they share no lock, and a reader writes nothing. Either may be
 * killed at any time. Workers are not involved.
 *
 * Neither trusts another user. The folder and its files belong to the user who shares, and nobody
 * else may write there. No link is followed in it, nor another user's link on the way to it.
 * Whatever a malicious program writes there, a reader returns an error.
 *
 * A reader need not call rte_eal_init(). It may be an EAL secondary process, which cannot create
 * graphs itself (hy_graph_create()). A program can read itself. Both must be built from the same
 * version of the library.
 *
 * As in hy_graph.h, errors are logged unless a function says otherwise.
 */
#pragma once

#include <hy_stats.h>
#include <hy_trace.h>

HY_API_BEGIN

/**
 * Names the folder in which a program shares its graphs by default: "halyard" in BASE/dpdk/PREFIX,
 * where EAL keeps the program's files. BASE is the environment variable RUNTIME_DIRECTORY. Without
 * it, BASE is /var/run for root; for other users it is XDG_RUNTIME_DIR, or else /run/user/UID if
 * the user owns that folder. EAL's own last resort, /tmp, is not used, since any user can create a
 * folder there first.
 *
 * @param prefix The program's --file-prefix; NULL: this process's, after rte_eal_init().
 * @param[out] path
 * @param size Bytes in @p path; PATH_MAX is enough.
 * @return 0; -ENOENT no such BASE; -EINVAL the path is too long, or the prefix is empty or
 * has a slash.
 */
int hy_share_folder(const char *prefix, char *path, size_t size);

/**
 * Shares all graphs of the process, including future ones, until hy_share_stop(). From then on,
 * freed memory that readers may copy is kept for the next graph or trace of that size. EAL does not
 * get it back before the process ends, since a reader may still copy it when sharing stops. If
 * memory or room in the folder is too short to describe a graph, this is logged, and the graph is
 * not shared until its next change; it works nevertheless.
 *
 * Any thread may call this and hy_share_stop(), after rte_eal_init().
 *
 * @param folder Created for the user alone if missing; its parent must exist. NULL: that of
 * hy_share_folder(), created with its parents.
 * @return 0; -EALREADY the process shares them already; -EBUSY another program shares its graphs in
 * the folder; -EPERM an EAL secondary process, or another user owns the folder or one above it, can
 * write there, or made a link on the way; -EEXIST a file there has a description's name but is
 * none; -ENOENT, -EINVAL as hy_share_folder(); or what mkdir(2), open(2) or readdir(3) report.
 */
int hy_share_start(const char *folder);

/**
 * Stops sharing, if it was started. Readers find no more graphs. A reader that is copying a graph
 * completes its copy, or finds that the graph is gone.
 */
void hy_share_stop(void);

/** A reader's handle. Used by one thread at a time. */
struct hy_share;

/**
 * Attaches to the program that shares its graphs in a folder, or, when it ends, to the next one.
 *
 * @param folder As given to hy_share_start(). NULL as there, in an EAL secondary process. Only root
 * may name another user's.
 * @param ops Operations of the objects in those graphs, or NULL. Only format is used, for trace
 * records. Must outlive the copies of graphs.
 * @param[out] share Belongs to the caller, until hy_share_detach().
 * @return 0; -ESRCH no program shares its graphs there; -EPERM another user owns the folder, can
 * write there, or owns a file in it; -ENOENT, -EINVAL as hy_share_folder(); -ENOMEM; or what
 * open(2) reports.
 */
int hy_share_attach(const char *folder, const struct hy_object_ops *ops, struct hy_share **share);

/** Detaches a reader. Its copies stay valid. NULL is allowed. */
void hy_share_detach(struct hy_share *share);

/**
 * Finds the next graph, in order of names.
 *
 * @param after The previous one; NULL or "" for the first.
 * @param[out] name Its name; may be @p after.
 * @return 0; -ENOENT no more graphs (not logged); -ESRCH the program has ended; or what open(2)
 * or readdir(3) report.
 */
int hy_share_next(const struct hy_share *share, const char *after, char name[HY_NAME_SIZE]);

/**
 * Copies a graph with its current counters. The copy is for hy_graph_export_dot(),
 * hy_graph_export_json(), hy_trace_format() and the functions that read properties. It has no
 * objects, is in no list, and no thread may walk it.
 *
 * @param[out] graph Belongs to the caller, until hy_share_free().
 * @return 0; -ENOENT no such graph (not logged); -ESRCH the program has ended; -EAGAIN it changed
 * the graph during each attempt to read it; -EPROTO it has another version of the library; -EACCES
 * the user may not read its memory; -ENOMEM.
 */
int hy_share_graph(const struct hy_share *share, const char *name, struct hy_graph **graph);

/** Frees a copy. NULL is allowed. */
void hy_share_free(struct hy_graph *graph);

/**
 * Reads the statistics of all graphs whose names match an fnmatch(3) pattern, as hy_stats_read()
 * does in the program itself. Those of each graph are one copy, during which its worker goes on: one
 * node's may be some bursts ahead of another's. Those of several graphs are read one after another.
 *
 * @param[out] stats Belongs to the caller, until hy_stats_free().
 * @return 0; -ENOENT no graph matches (not logged); or what hy_share_graph() returns.
 */
int hy_share_stats(const struct hy_share *share, const char *pattern, struct hy_stats **stats);

/**
 * Copies the records of a graph's trace that the program itself has not read yet, oldest first. It
 * does not remove them.
 *
 * @param[out] state Progress of the trace. May be NULL.
 * @param[out] records Room for @p n; may be NULL if @p n is 0.
 * @return Records copied; -ENOENT no such graph, or it was never traced (not logged); -EPROTO also
 * if something there cannot be a record; or as hy_share_graph().
 */
int hy_share_trace(const struct hy_share *share, const char *name, struct hy_trace_state *state,
	struct hy_trace_record *records, unsigned int n);

HY_API_END
