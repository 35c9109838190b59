/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line behind EAL's "--". */
#pragma once

#include <hy_acl.h>
#include <hy_flow_engines.h>
#include <hy_hal_options.h>
#include <hy_ip4_steer.h>
#include <hy_ip_filter.h>
#include <hy_mode_options.h>
#include <hy_run.h>
#include <hy_vlan.h>

#define REPEATS_MAX HY_OPTION_REPEATS
#define OPTION_GROUPS 5

#define FAMILIES (HY_IP_V6 + 1)

/* The nodes of --feature, by the family of their packets; HY_IP_ANY has none. */
extern const char *const feature_nodes[FAMILIES];

/* Packets of a port that the node of a family drops. */
struct feature {
	enum hy_ip_family family;
	uint16_t port;
	struct hy_ip_filter filter;
};

/* A list of --acl-list; and what --acl binds. */
struct list_option {
	char name[HY_ACL_NAME_MAX + 1];
	const char *path;
};
struct bind_option {
	uint16_t port;
	enum hy_acl_way way;
	const char *list;
};

struct options {
	struct hy_port_options ports;
	struct hy_mode_options mode;
	struct hy_hal_options hal;
	struct hy_run_options run;
	struct rte_ether_addr eth_dest[RTE_MAX_ETHPORTS];
	uint64_t eth_dest_set; /* mask of ports */
	struct hy_vlan vlan[REPEATS_MAX];
	unsigned int nb_vlans;
	const char *routes, *dump;
	unsigned int max_routes, max_tbl8s, max_next_hops; /* 0: as many as suit the file */
	unsigned int group_seed;
	const char *policy;
	unsigned int max_rules;
	uint16_t drop_class[REPEATS_MAX];
	unsigned int nb_drop_class;
	struct hy_ip4_steer steer[REPEATS_MAX];
	unsigned int nb_steers;
	struct feature feature[REPEATS_MAX];
	unsigned int nb_features;
	struct hy_flow_engines offload, acl_offload;
	struct list_option list[REPEATS_MAX];
	unsigned int nb_lists;
	struct bind_option bind[REPEATS_MAX];
	unsigned int nb_binds;
	unsigned int no_match;                /* of lists that do not say: enum hy_rule_action */
	unsigned int max_rules_mib, build_ms; /* of --policy and lists; 0: no limit */
};

/* The groups of all options, which write defaults and values there. */
void options_groups(struct options *options, struct hy_option_group groups[OPTION_GROUPS]);

/* Those of --acl-list, --acl and --acl-no-match, likewise; and what they say together. */
int option_read_list(const char *text, void *options);
int option_read_bind(const char *text, void *options);
int option_read_no_match(const char *text, void *options);
int option_check_lists(const struct options *options);

static inline bool
port_enabled(const struct options *options, uint16_t port)
{
	return hy_port_chosen(&options->ports, port);
}
