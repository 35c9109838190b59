/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Graph core, across processes: what one program's graphs are and do, read by another.
 *
 * The program that has the graphs *shares* them: a description of each lies in a folder, with all
 * names in it, and tells where in the program's memory the counters are. A reader *attaches* to the
 * folder. It compiles each graph anew from its description, in memory of its own, and copies the
 * counters there with pread(2). So it follows no pointer of the program, has no use for its
 * functions, and may lie at other addresses.
 *
 * Neither waits for the other: there is no lock that both take, and a reader writes nothing at all.
 * Either may be killed at any time. Workers know nothing of it.
 *
 * Neither trusts another user. The folder and what is in it belong to the user who shares, and
 * nobody else may write there; no link is followed in it, nor one of another user's on the way to
 * it. A reader may be given anything by a program that means harm: it gets an error.
 *
 * A reader need not have called rte_eal_init(). An EAL secondary process may be one; its own graphs
 * are refused (hy_graph_create()). A program can read itself. Both must be built from the same
 * version of the library.
 *
 * As in hy_graph.h, an error is logged unless it says otherwise.
 */
#ifndef HY_SHARE_H
#define HY_SHARE_H

#include <hy_stats.h>
#include <hy_trace.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/**
 * Names the folder that a program shares its graphs in by default: "halyard" in
 * BASE/dpdk/PREFIX, where EAL keeps the program's files. BASE is the environment variable
 * RUNTIME_DIRECTORY; without it /var/run for root, and XDG_RUNTIME_DIR for other users, or else
 * /run/user/UID if that folder is the user's. EAL's own last resort, /tmp, is not used, since
 * anybody can make a folder there first.
 *
 * @param prefix The program's --file-prefix; NULL: this process's, after rte_eal_init().
 * @param[out] path
 * @param size Bytes in @p path; PATH_MAX is enough.
 * @return 0; -ENOENT there is no such BASE; -EINVAL the path is too long, or the prefix is empty or
 * has a slash.
 */
int hy_share_folder(const char *prefix, char *path, size_t size);

/**
 * Shares all graphs of the process, those to come too, until hy_share_stop(). From then on memory
 * that a reader may look at is kept for the next graph or trace that needs as much. It is not given
 * back to EAL before the process ends, since a reader may be copying it when sharing stops. A graph
 * that cannot be described, for want of memory or room in the folder, says so in the log and is not
 * shared until its next change; it works all the same.
 *
 * Any thread may call this and hy_share_stop(), after rte_eal_init().
 *
 * @param folder Made if it is not there, for the user alone; the folder above it must exist. NULL:
 * that of hy_share_folder(), with those above it.
 * @return 0; -EALREADY the process shares them already; -EBUSY another program shares its graphs in
 * the folder; -EPERM an EAL secondary process, or another user owns the folder or one above it, can
 * write there, or made a link on the way; -EEXIST a file there has a description's name and is none;
 * -ENOENT, -EINVAL as hy_share_folder(); or what mkdir(2), open(2) or readdir(3) report.
 */
int hy_share_start(const char *folder);

/**
 * Ends what hy_share_start() began, if anything. Readers find no graphs any more; one that has
 * begun to copy a graph ends its copy, or finds that the graph is gone.
 */
void hy_share_stop(void);

/** A reader's end. Used by one thread at a time. */
struct hy_share;

/**
 * Attaches to the program that shares its graphs in a folder; or, if it ends, to the next one.
 *
 * @param folder As given to hy_share_start(). NULL as there, in an EAL secondary process. Only root
 * may name another user's.
 * @param ops The operations of the objects in those graphs, of which only format is used, to put
 * trace records in words; or NULL. Must outlive the copies of graphs.
 * @param[out] share Belongs to the caller, until hy_share_detach().
 * @return 0; -ESRCH no program shares its graphs there; -EPERM another user owns the folder, can
 * write there, or owns a file in it; -ENOENT, -EINVAL as hy_share_folder(); -ENOMEM; or what open(2)
 * reports.
 */
int hy_share_attach(const char *folder, const struct hy_object_ops *ops, struct hy_share **share);

/** Frees a reader's end. Copies that it made stay. NULL is allowed. */
void hy_share_detach(struct hy_share *share);

/**
 * Finds the next graph, in order of names.
 *
 * @param after The one before it; NULL or "" for the first.
 * @param[out] name Its name; may be @p after.
 * @return 0; -ENOENT there is none (not logged); -ESRCH the program has ended; or what open(2) or
 * readdir(3) report.
 */
int hy_share_next(const struct hy_share *share, const char *after, char name[HY_NAME_SIZE]);

/**
 * Copies a graph, with its counters as they are now. The copy is for hy_graph_export_dot(),
 * hy_graph_export_json(), hy_trace_format() and those that ask for properties; it
 * has no objects, is in no list, and no thread may walk it.
 *
 * @param[out] graph Belongs to the caller, until hy_share_free().
 * @return 0; -ENOENT there is no such graph (not logged); -ESRCH the program has ended; -EAGAIN it
 * changed the graph each time that this looked; -EPROTO it has another version of the library;
 * -EACCES the user may not look into it; -ENOMEM.
 */
int hy_share_graph(const struct hy_share *share, const char *name, struct hy_graph **graph);

/** Frees a copy. NULL is allowed. */
void hy_share_free(struct hy_graph *graph);

/**
 * Reads the statistics of all graphs whose names match an fnmatch(3) pattern, as hy_stats_read()
 * does in the program itself. Each graph's are of one moment, not those of all.
 *
 * @param[out] stats Belongs to the caller, until hy_stats_free().
 * @return 0; -ENOENT no graph matches (not logged); or what hy_share_graph() returns of one.
 */
int hy_share_stats(const struct hy_share *share, const char *pattern, struct hy_stats **stats);

/**
 * Copies the records of a graph's trace that the program itself has not taken out yet, oldest
 * first, and leaves them to it.
 *
 * @param[out] state How far the trace is. May be NULL.
 * @param[out] records Room for @p n; may be NULL if @p n is 0.
 * @return Records copied; -ENOENT there is no such graph, or it was never traced (not logged);
 * -EPROTO also if something there cannot be a record; or as hy_share_graph().
 */
int hy_share_trace(const struct hy_share *share, const char *name, struct hy_trace_state *state,
	struct hy_trace_record *records, unsigned int n);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
