/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The provider that uses rte_flow's templates: a rule is a request on a queue. Many requests are in
 * progress at once, and their answers are awaited together.
 */

#include <errno.h>
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_ethdev.h>

#include "async.h"
#include "lib/graph/internal/log.h"
#include "many.h"

#define QUEUE 0      /* the only one, since one thread controls a port */
#define ROOM 1024    /* requests in the queue */
#define PULL 64      /* answers pulled at once */
#define WAIT_MS 1000 /* for the next answer */

static const struct rte_flow_op_attr later = { .postpone = 1 };

/* Only the thread that changes a port's rules uses its entry. */
static struct async_port ports[RTE_MAX_ETHPORTS];

/* Whether a port accepts requests: 0 or a negative errno. */
static int
port_check(uint16_t port, struct rte_flow_error *error)
{
	if (port >= RTE_MAX_ETHPORTS || !ports[port].ready)
		return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			"the port was not prepared for templates");
	if (ports[port].stuck)
		return rte_flow_error_set(error, EIO, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			"the port's flow queue does not answer");
	return 0;
}

static void
flow_free(struct async_flow *flow, uint16_t port)
{
	LIST_REMOVE(flow, next);
	flow->table->used--;
	hy_async_table_put(flow->table, port);
	free(flow);
}

static void
rule_free(struct async_rule *rule)
{
	LIST_REMOVE(rule, next);
	free(rule);
}

/* Handles the answer to a creation or a destruction. */
static void
answer(struct async_port *a, const struct rte_flow_op_result *result)
{
	struct async_flow *flow = result->user_data;
	struct hy_flow_request *r = flow->request;

	a->under_way--;
	flow->request = NULL;
	if (r == NULL) /* see creation_end() */
		return;
	r->rc = result->status == RTE_FLOW_OP_SUCCESS ? 0 : -EIO;
	if (r->rc != 0)
		r->error.message = "the flow queue reports a failure without a reason";
}

/* Pushes the requests, and waits for all answers. */
static void
drain(struct async_port *a, uint16_t port)
{
	struct rte_flow_op_result results[PULL];
	struct rte_flow_error error;
	uint64_t since = rte_rdtsc();
	int n = rte_flow_push(port, QUEUE, &error);

	while (n >= 0 && a->under_way > 0) {
		n = rte_flow_pull(port, QUEUE, results, PULL, &error);
		for (int i = 0; i < n; i++)
			answer(a, &results[i]);
		if (n > 0)
			since = rte_rdtsc();
		else if (rte_rdtsc() - since > rte_get_tsc_hz() / 1000 * WAIT_MS)
			n = -1;
	}
	if (a->under_way > 0) {
		HY_LOG(ERR, "port %u: %u requests for flow rules are not answered", port,
			a->under_way);
		a->stuck = true;
	}
}

static void
creation_begin(struct async_port *a, uint16_t port, struct hy_flow_request *r)
{
	struct async_table *table;
	struct async_flow *flow;

	if (r->attr == NULL)
		return;
	r->rc = port_check(port, &r->error);
	if (r->rc != 0)
		return;
	rte_errno = 0;
	table = hy_async_table_get(a, port, r, &r->error);
	r->rc = table != NULL ? -ETIMEDOUT : hy_flow_errno();
	if (table == NULL)
		return;
	flow = calloc(1, sizeof(*flow));
	if (flow != NULL)
		flow->handle = rte_flow_async_create(port, QUEUE, &later, table->table, r->items, 0,
			r->actions, 0, flow, &r->error);
	if (flow == NULL || flow->handle == NULL) {
		r->rc = flow == NULL ? -ENOMEM : hy_flow_errno();
		free(flow);
		hy_async_table_put(table, port);
		return;
	}
	flow->table = table;
	flow->request = r;
	LIST_INSERT_HEAD(&table->flows, flow, next);
	table->used++;
	a->under_way++;
	r->flow = flow;
}

/*
 * The handle of a failed rule is valid, and only its destruction frees its place in the table:
 * net/mlx5/hws/mlx5dr_rule.c, mlx5dr_rule_destroy_failed_hws().
 */
static void
creation_end(struct async_port *a, uint16_t port, struct hy_flow_request *r)
{
	struct async_flow *flow = r->flow;

	if (flow == NULL || r->rc == 0 || r->rc == -ETIMEDOUT)
		return;
	r->flow = NULL;
	if (!a->stuck &&
		rte_flow_async_destroy(port, QUEUE, &later, flow->handle, flow, NULL) == 0) {
		a->under_way++;
		drain(a, port);
	}
	if (!a->stuck)
		flow_free(flow, port);
}

static void
destruction_begin(struct async_port *a, uint16_t port, struct hy_flow_request *r)
{
	struct async_flow *flow = r->flow;

	if (flow == NULL)
		return;
	r->rc = port_check(port, &r->error);
	if (r->rc != 0)
		return;
	flow->request = r;
	r->rc = rte_flow_async_destroy(port, QUEUE, &later, flow->handle, flow, &r->error);
	if (r->rc == 0) {
		a->under_way++;
		r->rc = -ETIMEDOUT;
	} else {
		flow->request = NULL;
	}
}

static void
destruction_end(struct async_port *a __rte_unused, uint16_t port, struct hy_flow_request *r)
{
	if (r->rc == 0 && r->flow != NULL)
		flow_free(r->flow, port);
}

typedef void(step)(struct async_port *a, uint16_t port, struct hy_flow_request *r);

/*
 * Begins as many requests as the queue holds, waits for their answers, and ends them; then the next
 * ones. A request without a rule to create or to destroy is skipped.
 */
static void
in_turns(uint16_t port, struct hy_flow_request *requests, unsigned int n, step *begin, step *end)
{
	struct async_port *a = &ports[RTE_MIN(port, RTE_MAX_ETHPORTS - 1)];

	for (unsigned int i = 0, ended = 0; i < n; i++) {
		begin(a, port, &requests[i]);
		if (i + 1 < n && a->under_way < a->room)
			continue;
		if (a->under_way > 0 && !a->stuck)
			drain(a, port);
		while (ended <= i)
			end(a, port, &requests[ended++]);
	}
}

/* Destroys rules with requests for their parts, which are zeroed. */
static void
destroy_by(uint16_t port, struct hy_flow_request *requests, unsigned int n,
	struct hy_flow_request *parts)
{
	for (unsigned int i = 0; i < n; i++)
		requests[i].rc = port_check(port, &requests[i].error);
	if (n == 0 || requests[0].rc != 0)
		return;
	for (unsigned int i = 0; i < n; i++) {
		const struct async_rule *rule = requests[i].flow;

		for (unsigned int p = 0; p < rule->n; p++)
			parts[i * ASYNC_PARTS + p].flow = rule->parts[p];
	}
	in_turns(port, parts, n * ASYNC_PARTS, destruction_begin, destruction_end);
	for (unsigned int i = 0; i < n; i++) {
		struct async_rule *rule = requests[i].flow;

		for (unsigned int p = 0; p < rule->n; p++) {
			const struct hy_flow_request *part = &parts[i * ASYNC_PARTS + p];

			if (part->rc == 0) {
				rule->parts[p] = NULL;
			} else if (requests[i].rc == 0) {
				requests[i].rc = part->rc;
				requests[i].error = part->error;
			}
		}
		if (requests[i].rc == 0)
			rule_free(rule);
	}
}

/*
 * Destroys the rules that exist and reports the result of each request. A failure is for good, so
 * that rules go one by one if there is no memory for all.
 */
static void
destroy_many(uint16_t port, struct hy_flow_request *requests, unsigned int n)
{
	struct hy_flow_request *parts = calloc((size_t)n * ASYNC_PARTS, sizeof(*parts));

	if (parts != NULL)
		destroy_by(port, requests, n, parts);
	for (unsigned int i = 0; parts == NULL && i < n; i++) {
		struct hy_flow_request one[ASYNC_PARTS] = { 0 };

		destroy_by(port, &requests[i], 1, one);
	}
	free(parts);
}

/* Collects the results of a rule's parts. If one failed, the others are destroyed. */
static void
rule_end(uint16_t port, struct hy_flow_request *r, struct async_rule *rule,
	const struct hy_flow_request *parts)
{
	struct hy_flow_request rest = { .flow = rule };
	unsigned int left = 0;

	r->rc = 0;
	for (unsigned int p = 0; p < rule->n; p++) {
		const struct hy_flow_request *part = &parts[p];

		rule->parts[p] = part->flow;
		left += part->flow != NULL;
		if (part->rc == 0 || r->rc == -ETIMEDOUT)
			continue;
		r->rc = part->rc;
		r->error = part->error;
	}
	r->flow = r->rc == 0 || r->rc == -ETIMEDOUT ? rule : NULL;
	if (r->flow != NULL)
		return;
	if (left == 0) {
		rule_free(rule);
		return;
	}
	destroy_many(port, &rest, 1);
	if (rest.rc != 0) /* parts may remain in hardware; port_forget() frees their memory */
		r->rc = -ETIMEDOUT;
}

static void
create_many(uint16_t port, struct hy_flow_request *requests, unsigned int n)
{
	struct async_part *parts = calloc((size_t)n * ASYNC_PARTS, sizeof(*parts));
	struct hy_flow_request *all = calloc((size_t)n * ASYNC_PARTS, sizeof(*all));
	struct async_rule **rules = calloc(n, sizeof(struct async_rule *));

	for (unsigned int i = 0; i < n; i++) {
		requests[i].flow = NULL;
		requests[i].rc = port_check(port, &requests[i].error);
		if (requests[i].rc != 0)
			continue;
		if (parts != NULL && all != NULL && rules != NULL)
			rules[i] = calloc(1, sizeof(*rules[i]));
		if (rules == NULL || rules[i] == NULL) {
			requests[i].rc = -ENOMEM;
			continue;
		}
		LIST_INSERT_HEAD(&ports[port].rules, rules[i], next);
		rules[i]->n = hy_async_expand(&requests[i], &parts[i * ASYNC_PARTS]);
		for (unsigned int p = 0; p < rules[i]->n; p++)
			all[i * ASYNC_PARTS + p] = parts[i * ASYNC_PARTS + p].request;
	}
	if (all != NULL)
		in_turns(port, all, n * ASYNC_PARTS, creation_begin, creation_end);
	for (unsigned int i = 0; i < n; i++)
		if (rules != NULL && rules[i] != NULL)
			rule_end(port, &requests[i], rules[i], &all[i * ASYNC_PARTS]);
	free(parts);
	free(all);
	free(rules);
}

/* Creates the templates: ports with templates may lack rte_flow_validate(). */
static int
validate(uint16_t port, const struct rte_flow_attr *attr, const struct rte_flow_item *items,
	const struct rte_flow_action *actions, struct rte_flow_error *error)
{
	const struct hy_flow_request r = { .attr = attr, .items = items, .actions = actions };
	struct async_part parts[ASYNC_PARTS];
	const int rc = port_check(port, error);
	const unsigned int n = rc == 0 ? hy_async_expand(&r, parts) : 0;

	for (unsigned int p = 0; p < n; p++) {
		struct async_table *table;

		rte_errno = 0;
		table = hy_async_table_get(&ports[port], port, &parts[p].request, error);
		if (table == NULL)
			return hy_flow_errno();
		hy_async_table_put(table, port);
	}
	return rc;
}

static int
create(uint16_t port, const struct rte_flow_attr *attr, const struct rte_flow_item *items,
	const struct rte_flow_action *actions, void **flow, struct rte_flow_error *error)
{
	struct hy_flow_request r = { .attr = attr, .items = items, .actions = actions };

	create_many(port, &r, 1);
	*flow = r.flow;
	*error = r.error;
	return r.rc;
}

static int
destroy(uint16_t port, void *flow, struct rte_flow_error *error)
{
	struct hy_flow_request r = { .flow = flow };

	destroy_many(port, &r, 1);
	*error = r.error;
	return r.rc;
}

const struct hy_flow_provider hy_flow_rte_async = {
	.name = "rte_flow templates",
	.validate = validate,
	.create = create,
	.destroy = destroy,
	.create_many = create_many,
	.destroy_many = destroy_many,
};

/* The driver frees its tables itself when the port is reset or configured for flows. */
static void
port_forget(struct async_port *a)
{
	while (!LIST_EMPTY(&a->tables))
		hy_async_table_forget(LIST_FIRST(&a->tables));
	while (!LIST_EMPTY(&a->rules))
		rule_free(LIST_FIRST(&a->rules));
	*a = (struct async_port){ .ready = false };
}

void
hy_flow_rte_forget(uint16_t port)
{
	if (port < RTE_MAX_ETHPORTS)
		port_forget(&ports[port]);
}

int
hy_flow_rte_prepare(uint16_t port, uint32_t max_rules)
{
	static const struct rte_flow_port_attr nothing_else;
	struct rte_flow_queue_attr queue = { .size = ROOM };
	const struct rte_flow_queue_attr *queues[] = { &queue };
	struct rte_flow_port_info port_info = { 0 };
	struct rte_flow_queue_info queue_info = { 0 };
	struct rte_eth_dev_info info;
	struct rte_flow_error error;
	int rc;

	if (rte_eth_dev_info_get(port, &info) != 0)
		return -ENODEV;
	port_forget(&ports[port]);
	if (info.driver_name == NULL || !hy_flow_driver_of(info.driver_name)->templates)
		return -ENOTSUP;
	rc = rte_flow_info_get(port, &port_info, &queue_info, &error);
	if (rc == 0 && queue_info.max_size > 0)
		queue.size = RTE_MIN(queue.size, queue_info.max_size);
	if (rc == 0)
		rc = rte_flow_configure(port, &nothing_else, RTE_DIM(queues), queues, &error);
	if (rc != 0)
		return rc;
	ports[port].ready = true;
	ports[port].max_rules = RTE_MAX(max_rules, 1u);
	ports[port].room = queue.size;
	return 0;
}

const struct hy_flow_provider *
hy_flow_rte_of(uint16_t port)
{
	return port < RTE_MAX_ETHPORTS && ports[port].ready ? &hy_flow_rte_async : &hy_flow_rte;
}
