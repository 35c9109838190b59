/* SPDX-License-Identifier: BSD-3-Clause */
/* Access lists: see lists.h. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <hy_ethdev.h>
#include <hy_terminal.h>

#include "files.h"
#include "lists.h"

/* Creates a list, and reads its file. */
static int
list_create(const struct list_option *option, struct hy_acl *acl)
{
	char error[HY_RELOAD_ERROR_SIZE] = "";
	struct hy_reload_part part;
	struct hy_policy *policy;
	int rc = hy_acl_list_create(acl, option->name, option->path, &policy);

	if (rc < 0)
		return hy_terminal_refuse(rc, "--acl-list: %s: %s", option->name, strerror(-rc));
	part = hy_reload_policy(policy, option->path);
	rc = hy_reload_start(&part, error);
	return rc < 0 ? hy_terminal_refuse(rc, "--acl-list: %s: %s", option->name, error) : 0;
}

int
lists_create(const struct options *options, const struct hy_workers *workers, struct lists *lists)
{
	const struct hy_acl_params params = {
		.qsbr = workers->qsbr,
		.workers = workers->nb,
		.socket = SOCKET_ID_ANY,
		.policy = { .max_rules = options->max_rules,
			.nodes = nodes_of(workers),
			.max_memory = (uint64_t)options->max_rules_mib << 20,
			.max_build_ms = options->build_ms,
			.deny_unmatched = options->no_match == HY_RULE_DENY },
	};
	int rc;

	if (options->nb_lists == 0)
		return 0;
	rc = hy_acl_create(&params, &lists->acl);
	if (rc < 0)
		return hy_terminal_report("--acl-list", rc);
	for (unsigned int i = 0; i < options->nb_lists && rc == 0; i++)
		rc = list_create(&options->list[i], lists->acl);
	return rc;
}

int
lists_lead(struct hy_ends *ends)
{
	int rc = 0;

	for (unsigned int i = 0; i < ends->nb_ports && !ends->next_by_port && rc == 0; i++) {
		hy_node_id cls;

		rc = hy_port_node(ends, ends->next, ends->ports[i], &cls);
	}
	ends->next_by_port = true;
	ends->arc = HY_ACL_IN_ARC;
	return rc;
}

/*
 * A transmitting node "ethdev_tx-acl-PORT" for each port, where frames go that a list of "out" redirects:
 * past the lists of that port, or two lists could send a frame to and fro.
 */
static int
tx_nodes(const struct hy_ends *ends, char names[RTE_MAX_ETHPORTS][HY_NAME_SIZE])
{
	int rc = 0;

	for (unsigned int i = 0; i < ends->nb_ports && rc == 0; i++) {
		const uint16_t port = ends->ports[i];
		const struct hy_ethdev_tx_config config = { .port = port,
			.nb_queues = (uint16_t)ends->nb_workers };
		char suffix[16];
		hy_node_id tx;

		snprintf(suffix, sizeof(suffix), "acl-%u", port);
		rc = hy_hal_node_clone(ends->hal, "ethdev_tx", port, suffix, &tx);
		if (rc == 0)
			rc = hy_node_config(tx, &config, sizeof(config));
		if (rc == 0)
			rc = hy_node_name(tx, names[port], HY_NAME_SIZE);
	}
	return rc;
}

/* The ways of classes: of --drop-class, then of --steer. Returns how many. */
static unsigned int
ways_fill(const struct options *options, struct hy_flow_way ways[], const char *to[],
	const char *steer)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < options->nb_drop_class; i++)
		if (options->drop_class[i] != HY_FLOW_NO_CLASS)
			ways[n++] = (struct hy_flow_way){ .class_id = options->drop_class[i] };
	for (unsigned int i = 0; steer != NULL && i < options->nb_steers; i++) {
		to[n] = steer;
		ways[n++] = (struct hy_flow_way){ .class_id = options->steer[i].class_id };
	}
	return n;
}

static int
place_in(const struct options *options, const struct hy_ends *ends, uint16_t port,
	struct lists *lists)
{
	const char *to_port[RTE_MAX_ETHPORTS] = { NULL }, *to_class[2 * REPEATS_MAX] = { NULL };
	char tx[RTE_MAX_ETHPORTS][HY_NAME_SIZE], end[HY_NAME_SIZE], steer[HY_NAME_SIZE];
	struct hy_acl_place place = { .port = port,
		.way = HY_ACL_IN,
		.end = end,
		.to_port = to_port,
		.to_class = to_class,
		.ways = lists->ways[HY_ACL_IN][port] };

	snprintf(end, sizeof(end), "%s-%u", ends->next, port);
	snprintf(steer, sizeof(steer), "pkt_cls-steer-%u", port);
	for (unsigned int i = 0; i < ends->nb_ports; i++) {
		const uint16_t p = ends->ports[i];

		snprintf(tx[p], HY_NAME_SIZE, "ethdev_tx-%u", p);
		to_port[p] = tx[p];
	}
	place.nb_ways = ways_fill(options, place.ways, to_class, steer);
	return hy_acl_place(lists->acl, &place);
}

/* Frames that leave have their next hop: --steer cannot change it. */
static int
place_out(const struct options *options, uint16_t port, const char *const to_port[],
	struct lists *lists)
{
	const char *to_class[2 * REPEATS_MAX] = { NULL };
	char end[HY_NAME_SIZE];
	struct hy_acl_place place = { .port = port,
		.way = HY_ACL_OUT,
		.end = end,
		.to_port = to_port,
		.to_class = to_class,
		.ways = lists->ways[HY_ACL_OUT][port] };

	snprintf(end, sizeof(end), "ethdev_tx-%u", port);
	place.nb_ways = ways_fill(options, place.ways, to_class, NULL);
	return hy_acl_place(lists->acl, &place);
}

int
lists_place(const struct options *options, const struct hy_ends *ends, struct lists *lists)
{
	char names[RTE_MAX_ETHPORTS][HY_NAME_SIZE];
	const char *past[RTE_MAX_ETHPORTS] = { NULL };
	int rc = tx_nodes(ends, names);

	for (unsigned int i = 0; i < ends->nb_ports; i++)
		past[ends->ports[i]] = names[ends->ports[i]];
	for (unsigned int i = 0; i < ends->nb_ports && rc == 0; i++) {
		rc = place_in(options, ends, ends->ports[i], lists);
		if (rc == 0)
			rc = place_out(options, ends->ports[i], past, lists);
	}
	for (unsigned int i = 0; i < options->nb_binds && rc == 0; i++) {
		const struct bind_option *bind = &options->bind[i];

		rc = hy_acl_bind(lists->acl, bind->port, bind->way, bind->list);
	}
	return rc;
}

void
lists_explain(const struct options *options, const struct lists *lists, FILE *out)
{
	if (lists->acl == NULL)
		return;
	hy_acl_print(lists->acl, out);
	hy_acl_offload_print(lists->acl, out);
	for (unsigned int i = 0; i < options->nb_binds; i++)
		fprintf(out, "Frames that port %u %s pass access list %s.\n", options->bind[i].port,
			options->bind[i].way == HY_ACL_IN ? "receives" : "sends",
			options->bind[i].list);
}

void
lists_print(const struct lists *lists, FILE *out)
{
	hy_acl_offload_read(lists->acl);
	hy_acl_table_print(lists->acl, out);
	hy_acl_offload_print(lists->acl, out);
}

static void
tell(const struct hy_acl_event *event, void *arg)
{
	char text[HY_ACL_EVENT_SIZE];

	RTE_SET_USED(arg);
	hy_acl_event_format(event, text, sizeof(text));
	hy_terminal_error("%s", text);
}

void
lists_poll(const struct lists *lists, bool end)
{
	if (lists->acl == NULL)
		return;
	hy_acl_poll(lists->acl);
	hy_acl_log_drain(lists->acl, end, tell, NULL);
}

void
lists_destroy(struct lists *lists)
{
	hy_acl_destroy(lists->acl);
	lists->acl = NULL;
}
