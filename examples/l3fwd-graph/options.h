/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line behind EAL's "--". */
#ifndef L3FWD_OPTIONS_H
#define L3FWD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>

#include <hy_flow_sim.h>
#include <hy_graph.h>
#include <hy_ip4_filter.h>
#include <hy_ip4_steer.h>
#include <hy_offload.h>
#include <hy_privileges.h>
#include <hy_workers.h>

#define QUEUES_MAX 256
#define REPEATS_MAX 64 /* of an option */
#define PIN_LCORES_MAX 64

enum explain { EXPLAIN_NO, EXPLAIN_TEXT, EXPLAIN_JSON };

struct offload_options {
	struct hy_flow_sim_params sim;   /* without a profile: the ports' own engines */
	struct hy_offload_params params; /* without a provider: no --offload */
};

struct event_options {
	bool on;       /* --mode=eventdev */
	uint8_t sched; /* RTE_SCHED_TYPE_ */
	bool sched_set;
	unsigned int device;
	bool device_set;
	bool vector;
	unsigned int vector_size, vector_tmo_ns;
};

/* Packets of a port that ip4_filter drops. */
struct feature {
	uint16_t port;
	struct hy_ip4_filter filter;
};

/* Nodes whose names match run on these lcores. */
struct pin {
	char pattern[HY_NAME_SIZE];
	unsigned int lcores[PIN_LCORES_MAX];
	unsigned int nb_lcores;
};

struct dispatch_options {
	bool on; /* --mode=dispatch */
	struct pin pins[REPEATS_MAX];
	unsigned int nb_pins;
};

struct options {
	uint32_t ports; /* mask */
	bool promiscuous;
	bool numa;
	bool per_port_pool;
	struct hy_rx_queue queues[QUEUES_MAX];
	unsigned int nb_queues;
	struct rte_ether_addr eth_dest[RTE_MAX_ETHPORTS];
	uint64_t eth_dest_set; /* mask of ports */
	uint32_t max_pkt_len;  /* with CRC */
	const char *routes;
	uint32_t max_routes, max_tbl8s, max_next_hops; /* 0: as many as suit the file */
	const char *policy;
	uint32_t max_rules;
	uint16_t drop_class[REPEATS_MAX];
	unsigned int nb_drop_class;
	struct hy_ip4_steer steer[REPEATS_MAX];
	unsigned int nb_steers;
	struct feature feature[REPEATS_MAX];
	unsigned int nb_features;
	struct offload_options offload;
	uint16_t burst;
	struct event_options event;
	struct dispatch_options dispatch;
	enum hy_idle_mode idle;
	unsigned int wait_us;                 /* at most, with HY_IDLE_SLEEP */
	uint16_t rx_budget[RTE_MAX_ETHPORTS]; /* packets a walk; 0: a burst */
	unsigned int stats_s;
	unsigned int duration_s;
	unsigned int until_idle_ms;
	const char *force[REPEATS_MAX];
	const char *deny[REPEATS_MAX];
	const char *caps[REPEATS_MAX];
	const char *cap_files[REPEATS_MAX];
	const char *packs[REPEATS_MAX];
	unsigned int nb_force;
	unsigned int nb_deny;
	unsigned int nb_caps;
	unsigned int nb_cap_files;
	unsigned int nb_packs;
	enum explain explain;
	bool dry_run;
	struct hy_user user;         /* of --user */
	const char *trace, *capture; /* as hy_tracer.h and hy_recorder.h read them */
	const char *dot;
	const char *graph_json;
	const char *json;
	const char *dump; /* of the routes */
};

/* What --help prints. */
extern const char options_usage[];

/* Reads the command line. Returns 0, or -1 or -EINVAL after saying what is wrong. */
int options_read(int argc, char **argv, struct options *options);

/* "atomic" and the like. */
const char *option_sched_name(const struct options *options);

/* Packets that a node takes at once: two queues' go through one in one call. */
static inline uint16_t
graph_burst(const struct options *options)
{
	return (uint16_t)RTE_MIN(2 * options->burst, HY_BURST_MAX);
}

static inline bool
pin_has(const struct pin *pin, unsigned int lcore)
{
	for (unsigned int i = 0; i < pin->nb_lcores; i++)
		if (pin->lcores[i] == lcore)
			return true;
	return false;
}

static inline bool
port_enabled(const struct options *options, uint16_t port)
{
	return port < 32 && (options->ports >> port & 1) != 0;
}

#endif
