/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Workers: lcores that walk graphs. Either each worker has a graph of its own with the queues that
 * it polls (run to completion), or one graph is spread over all of them (hy_dispatch.h), or all
 * take from an event device (hy_event.h).
 *
 * @code
 * hy_workers_init(&workers, NULL, RTE_MAX_LCORE, true);
 * // ports, selection, nodes
 * hy_workers_graphs(&workers, &graphs);
 * hy_workers_run(&workers, &loop);
 * hy_workers_destroy(&workers);
 * @endcode
 *
 * For one control thread, but for what workers do themselves. Functions return 0 or a negative
 * errno.
 */
#pragma once

#include <rte_config.h>

#include <hy_assembly.h>
#include <hy_dispatch.h>
#include <hy_idle.h>
#include <hy_stats.h>

HY_API_BEGIN

struct rte_rcu_qsbr;

/** A pattern of the names of all workers' graphs, as hy_stats_read() takes it. */
#define HY_WORKERS_GRAPHS "worker-*"
/** Bursts that a ring between two workers holds, when a graph is spread over them. */
#define HY_WORKERS_RING_BURSTS 16

struct hy_workers;

/** A worker. Read-only for the program, idle by hy_idle_read(). */
struct hy_worker {
	unsigned int lcore;     /**< Where it runs. */
	int socket;             /**< NUMA node of its graph, or SOCKET_ID_ANY. */
	struct hy_graph *graph; /**< What it walks. */
	const char *awake;      /**< Why it cannot sleep, though it should; else NULL. */
	struct hy_workers *all; /**< Those that it is one of. */
	struct hy_idle idle;    /**< Its rest. */
	bool ended;             /**< It has left its loop; of the implementation. */
};

/** The workers of a program. Read-only; made by hy_workers_init(), and not to be moved or copied. */
struct hy_workers {
	struct hy_worker worker[RTE_MAX_LCORE]; /**< By number: that of their transmit queues. */
	struct hy_graph *graphs[RTE_MAX_LCORE]; /**< Theirs, as hy_hal_poll() takes them. */
	unsigned int nb;                        /**< Entries of both. */
	struct rte_rcu_qsbr *qsbr;    /**< To which they report; a thread each, by number. */
	struct hy_dispatch *dispatch; /**< That the graphs belong to; or NULL. */
	bool stop;                    /**< They are to end; of the implementation. */
};

/**
 * Lists the workers, and makes what they report to.
 *
 * @param lcores EAL's lcores, each once, but for the main one; NULL: the first @p n of those.
 * @param n Entries of lcores.
 * @param numa Graphs are to lie on their worker's NUMA node.
 * @return 0; -EINVAL an lcore is not EAL's, or the main one, or there is none; -ENOMEM.
 */
int hy_workers_init(struct hy_workers *workers, const unsigned int *lcores, unsigned int n,
	bool numa);

/**
 * Deals queue 0 of each port of the ends to the workers in turn: fills in queues, nb_queues and
 * nb_workers.
 *
 * @param[out] queues Room for as many queues as the ends have ports; must outlive @p ends.
 */
void hy_workers_deal(const struct hy_workers *workers, struct hy_ends *ends,
	struct hy_rx_queue *queues);

/** What a worker does that finds no packets. */
enum hy_idle_mode {
	HY_IDLE_POLL,  /**< Polls on. */
	HY_IDLE_PAUSE, /**< Pauses between walks. */
	HY_IDLE_SLEEP, /**< Pauses, then sleeps until a device wakes it, where one can. */
};

/** Nodes whose names match run on these lcores. */
struct hy_lcore_pin {
	const char *pattern;        /**< As in struct hy_dispatch_pin. */
	const unsigned int *lcores; /**< Workers' lcores. */
	unsigned int nb_lcores;     /**< Entries of lcores. */
};

/** What workers walk. Read during the call only, but for what struct hy_graph_params says. */
struct hy_graphs {
	/**
	 * The graph of each worker. Patterns name sources beside those of queues. Its worker, socket
	 * and qsbr are filled in.
	 */
	const struct hy_graph_params *graph;
	const struct hy_rx_queue *queues; /**< Whose nodes hy_rx_nodes() has made. */
	unsigned int nb_queues;           /**< Entries of queues. */
	/** One graph is spread over all workers: queues run where they say, other nodes by pins. */
	bool spread;
	const struct hy_lcore_pin *pins; /**< With spread. */
	unsigned int nb_pins;            /**< Entries of pins. */
	enum hy_idle_mode idle;          /**< What all workers do. */
	uint32_t wait_us; /**< Longest sleep, in microseconds; 0: as hy_idle_defaults says. */
};

/**
 * Makes the workers' graphs: "worker-LCORE", or with spread "worker-NUMBER".
 *
 * @return 0; -EINVAL a queue or a pin is of an lcore that is no worker; -ENOMEM; what
 * hy_graph_create(), hy_graph_source_budget() and hy_dispatch_create() return. On an error,
 * hy_workers_destroy() frees what was made.
 */
int hy_workers_graphs(struct hy_workers *workers, const struct hy_graphs *graphs);

/** Most packets that lie between workers when a graph of such bursts is spread over them. */
uint32_t hy_workers_held(unsigned int nb_workers, uint32_t burst);

/** What the control thread does while workers walk. Zeros: nothing of it. */
struct hy_loop {
	/** What the program does in each round, about every millisecond: looks at files, reports. */
	void (*tick)(void *arg);
	void *arg; /**< For tick. */
	/** For hy_ports_poll(), in each round; its errors are reported. NULL: tick does that. */
	FILE *out;
	uint32_t
		quiet_ms; /**< Calls hy_stop() when no packet has come for so long: hy_workers_quiet(). */
	uint32_t seconds; /**< Calls hy_stop() after so long. */
};

/**
 * Has all workers walk until hy_stopping() (hy_signals.h): hy_workers_launch(), rounds of the loop,
 * hy_workers_join().
 *
 * @return As hy_workers_launch().
 */
int hy_workers_run(struct hy_workers *workers, const struct hy_loop *loop);

/**
 * Has all workers walk.
 *
 * @return 0; -EBUSY an lcore already runs a function; -EPIPE EAL cannot reach it. On an error no
 * worker walks.
 */
int hy_workers_launch(struct hy_workers *workers);

/** Has all workers end after the walk that they are in, and waits for them, if they walk. */
void hy_workers_join(struct hy_workers *workers);

/**
 * Destroys the graphs, if there are any, which no worker walks any more. Tables that they read, and
 * that refer to the QSBR variable, may go after this.
 *
 * @return Packets that were on their way from worker to worker, and are freed.
 */
uint64_t hy_workers_graphs_destroy(struct hy_workers *workers);

/**
 * Destroys the graphs that are left, as above, and the QSBR variable. Allowed for zeroed workers, and
 * leaves them so.
 */
uint64_t hy_workers_destroy(struct hy_workers *workers);

/** Whether packets have stopped coming. Zeroed but for ms, before the first call. */
struct hy_quiet {
	uint32_t ms;                          /**< For how long. */
	unsigned int rounds;                  /**< Of the implementation, as all that follow. */
	uint64_t since;                       /**< TSC. */
	struct hy_stats *from[RTE_MAX_LCORE]; /**< By worker. */
};

/**
 * Looks at what the workers have done; to be called now and then. Time alone says little on a busy
 * machine, so that every source must have returned nothing since the last packet.
 *
 * @return Whether no packet has come for quiet->ms, and every source was asked for some in that time.
 * False also if memory runs out.
 */
bool hy_workers_quiet(const struct hy_workers *workers, struct hy_quiet *quiet);

/** Frees what it holds. */
void hy_quiet_free(struct hy_quiet *quiet);

/** Packets of all workers; rx + copied = tx + dropped once they have ended. */
struct hy_totals {
	/** Made by sources, but for those that take from another worker, and flow_reinject. */
	uint64_t rx;
	uint64_t copied;  /**< Made by nodes that replicate, beyond those that they received. */
	uint64_t tx;      /**< Sent by nodes of ethdev_tx. */
	uint64_t dropped; /**< By any node, for any reason. */
};

/**
 * Sums up packets.
 *
 * @param stats Of HY_WORKERS_GRAPHS.
 * @param under_way What hy_workers_graphs_destroy() returned: counts as dropped. 0 before.
 */
void hy_totals_read(const struct hy_stats *stats, uint64_t under_way, struct hy_totals *totals);

/** What workers handed over to a node that others run, when a graph is spread over them. */
struct hy_handover {
	const char *node; /**< Its name; valid as the statistics are. */
	uint64_t packets; /**< That went from worker to worker. */
	uint64_t
		held_back; /**< Walks in which a source was not called, as a ring to it was full. */
};

/**
 * Sums up what was handed over to a node, over all workers.
 *
 * @param stats Of HY_WORKERS_GRAPHS.
 * @param i Entry of stats.
 * @return Whether entry @p i is the first that tells of a node which others run.
 */
bool hy_handover_read(const struct hy_stats *stats, unsigned int i, struct hy_handover *handover);

HY_API_END
