/* SPDX-License-Identifier: BSD-3-Clause */
/* The IPv4 forwarding table: creation and destruction, ports, users, and grace periods. */

#include <errno.h>
#include <string.h>

#include <rte_malloc.h>

#include <hy_grace.h>

#include "ip4_fib.h"

#define NEXT_HOPS_MAX (1u << 24) /* an LPM entry has 24 bits for the id */
#define TBL8S_MAX (1u << 21)  /* so that an index into their entries fits a signed 32-bit gather */
#define ROUTES_MAX (1u << 28) /* rte_rib and rte_fib count nodes, two a route, in an int */

static int
params_check(const char *name, struct hy_ip4_fib_params *params)
{
	if (params->max_routes == 0)
		params->max_routes = 1 << 18;
	if (params->max_tbl8s == 0)
		params->max_tbl8s = 4096;
	if (params->max_next_hops == 0)
		params->max_next_hops = INT16_MAX;
	if (name[0] == '\0' || strlen(name) > IP4_FIB_NAME_MAX || params->max_routes > ROUTES_MAX ||
		params->max_tbl8s > TBL8S_MAX || params->max_next_hops > NEXT_HOPS_MAX ||
		params->engine > HY_IP4_FIB_AVX512)
		return -EINVAL;
	return 0;
}

int
hy_ip4_fib_create(const char *name, const struct hy_ip4_fib_params *params, struct hy_ip4_fib **out)
{
	struct hy_ip4_fib_params checked = *params;
	struct hy_ip4_fib *fib;
	int rc = params_check(name, &checked);

	if (rc < 0)
		return rc;
	fib = rte_zmalloc_socket("hy_ip4_fib", sizeof(*fib), RTE_CACHE_LINE_SIZE, params->socket);
	if (fib == NULL)
		return -ENOMEM;
	fib->params = checked;
	strcpy(fib->name, name);
	fib->engine = checked.engine == HY_IP4_LPM ? &ip4_engine_lpm : &ip4_engine_fib;
	rc = fib->engine->create(fib);
	if (rc == 0) {
		rc = ip4_next_hops_create(fib);
		if (rc < 0)
			fib->engine->destroy(fib);
	}
	if (rc < 0) {
		rte_free(fib);
		return rc;
	}
	pthread_mutex_init(&fib->lock, NULL);
	*out = fib;
	return 0;
}

void
hy_ip4_fib_destroy(struct hy_ip4_fib *fib)
{
	if (fib == NULL)
		return;
	/* An engine destroyed before its deferred frees are due would leak them. */
	ip4_fib_wait(fib, ip4_fib_token(fib));
	fib->engine->destroy(fib);
	ip4_next_hops_destroy(fib);
	pthread_mutex_destroy(&fib->lock);
	rte_free(fib);
}

int
hy_ip4_fib_socket(const struct hy_ip4_fib *fib)
{
	return fib->params.socket;
}

int
hy_ip4_port_add(struct hy_ip4_fib *fib, const struct hy_ip4_port *port)
{
	int rc = 0;

	if (port->port >= HY_IP4_PORTS)
		return -EINVAL;
	pthread_mutex_lock(&fib->lock);
	if (fib->nb_users > 0)
		rc = -EBUSY;
	else if (fib->has_port[port->port])
		rc = -EEXIST;
	else
		fib->ports[port->port] = *port;
	fib->has_port[port->port] |= rc == 0;
	pthread_mutex_unlock(&fib->lock);
	return rc;
}

struct hy_ip4_fib *
hy_ip4_fib_for(const struct hy_graph *graph, const struct hy_ip4_lookup_config *config)
{
	struct hy_ip4_fib *fib;

	if (config == NULL || config->nb_fibs == 0)
		return NULL;
	fib = config->fibs[0];
	for (unsigned int i = 0; i < config->nb_fibs; i++)
		if (config->fibs[i]->params.socket == hy_graph_socket(graph))
			fib = config->fibs[i];
	return fib;
}

const struct hy_ip4_view *
hy_ip4_fib_view(const struct hy_ip4_fib *fib)
{
	return &fib->view;
}

int
hy_ip4_fib_use(const struct hy_graph *graph, struct hy_node *node, struct hy_ip4_fib *fib)
{
	if (fib->params.qsbr != NULL && hy_graph_qsbr(graph) != fib->params.qsbr)
		return hy_node_refuse(graph, node,
			"reads table '%s', and its graph does not report to that table's QSBR "
			"variable",
			fib->name);
	pthread_mutex_lock(&fib->lock);
	fib->nb_users++;
	pthread_mutex_unlock(&fib->lock);
	return 0;
}

void
hy_ip4_fib_unuse(struct hy_ip4_fib *fib)
{
	pthread_mutex_lock(&fib->lock);
	fib->nb_users--;
	pthread_mutex_unlock(&fib->lock);
}

uint64_t
ip4_fib_token(struct hy_ip4_fib *fib)
{
	return fib->params.qsbr == NULL ? 0 : hy_grace_start(fib->params.qsbr);
}

bool
ip4_fib_passed(struct hy_ip4_fib *fib, uint64_t token)
{
	return fib->params.qsbr == NULL || hy_grace_over(fib->params.qsbr, token);
}

int
ip4_fib_wait(struct hy_ip4_fib *fib, uint64_t token)
{
	while (fib->params.qsbr != NULL && !hy_grace_wait(fib->params.qsbr, token))
		if (!fib->undoing)
			return -ETIMEDOUT;
	return 0;
}
