/* SPDX-License-Identifier: BSD-3-Clause */
/* A switch and its ports. */

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <rte_common.h>

#include "lib/graph/internal/log.h"
#include "lib/vswitch/text/vswitch_text.h"
#include "lib/vswitch/vswitch.h"

int
hy_vswitch_create(uint16_t normal_edge, struct hy_vswitch **vswitch)
{
	struct hy_vswitch *made = calloc(1, sizeof(*made));

	if (made == NULL)
		return -ENOMEM;
	made->set = vswitch_set_create();
	if (made->set == NULL) {
		free(made);
		return -ENOMEM;
	}
	pthread_mutex_init(&made->lock, NULL);
	made->normal_edge = normal_edge;
	*vswitch = made;
	return 0;
}

void
hy_vswitch_destroy(struct hy_vswitch *vswitch)
{
	if (vswitch == NULL)
		return;
	vswitch_set_destroy(vswitch->set);
	pthread_mutex_destroy(&vswitch->lock);
	free(vswitch);
}

const struct hy_vswitch_port *
vswitch_port_of(const struct hy_vswitch *vswitch, uint16_t number)
{
	for (uint32_t i = 0; i < vswitch->nb_ports; i++)
		if (vswitch->port[i].number == number)
			return &vswitch->port[i];
	return NULL;
}

static bool
is_zero(const uint8_t address[16])
{
	static const uint8_t zero[16];

	return memcmp(address, zero, sizeof(zero)) == 0;
}

/* Whether an address of a tunnel is that of a packet. */
static bool
is_address(const struct hy_vswitch_tunnel *tunnel, const uint8_t *address, const void *ip4,
	const uint8_t *ip6)
{
	return tunnel->is_ip6 ? memcmp(address, ip6, 16) == 0 : memcmp(address, ip4, 4) == 0;
}

/* Which tunnel a frame came through: one to its sender comes before one to any. */
static const struct hy_vswitch_port *
tunnel_of(const struct hy_vswitch *vswitch, const struct hy_flows_key *key)
{
	const struct hy_vswitch_port *any = NULL;

	for (uint32_t i = 0; i < vswitch->nb_ports; i++) {
		const struct hy_vswitch_port *port = &vswitch->port[i];
		const struct hy_vswitch_tunnel *tunnel = &port->tunnel;

		if (!port->is_tunnel ||
			!is_address(tunnel, tunnel->local, &key->tunnel_dst, key->tunnel_dst6))
			continue;
		if (is_address(tunnel, tunnel->remote, &key->tunnel_src, key->tunnel_src6))
			return port;
		if (is_zero(tunnel->remote))
			any = port;
	}
	return any;
}

const struct hy_vswitch_port *
vswitch_input(const struct hy_vswitch *vswitch, const struct hy_flows_key *key)
{
	if ((key->kind & HY_FLOWS_TUNNELLED) != 0)
		return tunnel_of(vswitch, key);
	for (uint32_t i = 0; i < vswitch->nb_ports; i++)
		if (!vswitch->port[i].is_tunnel && vswitch->port[i].port == key->port)
			return &vswitch->port[i];
	return NULL;
}

bool
hy_vswitch_name_valid(const char *name)
{
	const size_t n = strnlen(name, HY_VSWITCH_NAME_SIZE);

	static_assert(HY_VSWITCH_NAME_SIZE == 16, "HY_VSWITCH_NAMES says 15");
	if (n == 0 || n == HY_VSWITCH_NAME_SIZE || isalpha((unsigned char)name[0]) == 0)
		return false;
	for (size_t i = 0; i < n; i++)
		if (isalnum((unsigned char)name[i]) == 0 && strchr("._-", name[i]) == NULL)
			return false;
	return !vswitch_is_action(name);
}

static int
check_tunnel(const struct hy_vswitch *vswitch, const struct hy_vswitch_port *port)
{
	const struct hy_vswitch_tunnel *tunnel = &port->tunnel;
	const struct hy_vswitch_port *uplink = vswitch_port_of(vswitch, tunnel->uplink);

	if (uplink == NULL || uplink->is_tunnel)
		return HY_REFUSE(-EINVAL,
			"vswitch: tunnel %s: its uplink %u is not a port of the switch that is no tunnel",
			port->name, tunnel->uplink);
	if (is_zero(tunnel->local))
		return HY_REFUSE(-EINVAL, "vswitch: tunnel %s: its local address is missing",
			port->name);
	for (uint32_t i = 4; i < sizeof(tunnel->local) && !tunnel->is_ip6; i++)
		if (tunnel->local[i] != 0 || tunnel->remote[i] != 0)
			return HY_REFUSE(-EINVAL,
				"vswitch: tunnel %s: behind the 4 bytes of an address are others than 0",
				port->name);
	return 0;
}

static bool
is_same_tunnel(const struct hy_vswitch_tunnel *a, const struct hy_vswitch_tunnel *b)
{
	return a->is_ip6 == b->is_ip6 && memcmp(a->local, b->local, 16) == 0 &&
		memcmp(a->remote, b->remote, 16) == 0;
}

static int
check_unique(const struct hy_vswitch_port *a, const struct hy_vswitch_port *b)
{
	if (a->number == b->number)
		return HY_REFUSE(-EEXIST, "vswitch: port %s has the number %u, too", b->name,
			a->number);
	if (strcmp(a->name, b->name) == 0)
		return HY_REFUSE(-EEXIST, "vswitch: port %u is called %s, too", b->number, a->name);
	if (!a->is_tunnel && !b->is_tunnel && a->port == b->port)
		return HY_REFUSE(-EEXIST, "vswitch: port %s is DPDK's port %u, too", b->name,
			a->port);
	if (a->is_tunnel && b->is_tunnel && is_same_tunnel(&a->tunnel, &b->tunnel))
		return HY_REFUSE(-EEXIST, "vswitch: tunnel %s has the same addresses", b->name);
	return 0;
}

static int
check_port(const struct hy_vswitch *vswitch, const struct hy_vswitch_port *port)
{
	int rc = 0;

	if (!hy_vswitch_name_valid(port->name))
		return HY_REFUSE(-EINVAL, "vswitch: port %u: its name is not " HY_VSWITCH_NAMES,
			port->number);
	if ((port->number == 0 || port->number >= HY_VSWITCH_PORTS_END) &&
		port->number != HY_VSWITCH_LOCAL)
		return HY_REFUSE(-EINVAL,
			"vswitch: port %s: %u is not a number from 1 to %u, or %u", port->name,
			port->number, HY_VSWITCH_PORTS_END - 1, HY_VSWITCH_LOCAL);
	if (port->is_tunnel)
		rc = check_tunnel(vswitch, port);
	for (uint32_t i = 0; i < vswitch->nb_ports && rc == 0; i++)
		rc = check_unique(port, &vswitch->port[i]);
	if (rc == 0 && vswitch->nb_ports == HY_VSWITCH_PORTS)
		return -ENOSPC;
	return rc;
}

/* Writes the names as rules are read with them. */
static void
name_ports(struct hy_vswitch *vswitch)
{
	for (uint32_t i = 0; i < vswitch->nb_ports; i++) {
		memcpy(vswitch->name[i].name, vswitch->port[i].name, HY_VSWITCH_NAME_SIZE);
		vswitch->name[i].number = vswitch->port[i].number;
	}
}

int
hy_vswitch_port_add(struct hy_vswitch *vswitch, const struct hy_vswitch_port *port)
{
	uint32_t at;
	int rc;

	pthread_mutex_lock(&vswitch->lock);
	rc = check_port(vswitch, port);
	if (rc == 0) {
		for (at = vswitch->nb_ports++;
			at > 0 && vswitch->port[at - 1].number > port->number; at--)
			vswitch->port[at] = vswitch->port[at - 1];
		vswitch->port[at] = *port;
		name_ports(vswitch);
		vswitch_log_all(vswitch);
	}
	pthread_mutex_unlock(&vswitch->lock);
	return rc;
}

int
hy_vswitch_port_delete(struct hy_vswitch *vswitch, uint16_t number)
{
	uint32_t at = 0;
	int rc = 0;

	pthread_mutex_lock(&vswitch->lock);
	while (at < vswitch->nb_ports && vswitch->port[at].number != number)
		at++;
	if (at == vswitch->nb_ports)
		rc = -ENOENT;
	for (uint32_t i = 0; i < vswitch->nb_ports && rc == 0; i++)
		if (vswitch->port[i].is_tunnel && vswitch->port[i].tunnel.uplink == number &&
			i != at)
			rc = -EBUSY;
	if (rc == 0) {
		vswitch->nb_ports--;
		memmove(&vswitch->port[at], &vswitch->port[at + 1],
			(vswitch->nb_ports - at) * sizeof(vswitch->port[0]));
		name_ports(vswitch);
		vswitch_log_all(vswitch);
	}
	pthread_mutex_unlock(&vswitch->lock);
	return rc;
}

uint32_t
hy_vswitch_parse(struct hy_vswitch *vswitch)
{
	uint32_t parse = HY_FLOWS_PARSE_ALL;

	pthread_mutex_lock(&vswitch->lock);
	for (uint32_t i = 0; i < vswitch->nb_ports; i++)
		if (vswitch->port[i].is_tunnel)
			parse |= HY_FLOWS_PARSE_TUNNEL;
	pthread_mutex_unlock(&vswitch->lock);
	return parse;
}

int
hy_vswitch_read(struct hy_vswitch *vswitch, const char *text, enum hy_vswitch_text what,
	struct hy_vswitch_rule *rule, char *error)
{
	int rc;

	pthread_mutex_lock(&vswitch->lock);
	rc = hy_vswitch_rule_parse(text, what, vswitch->name, vswitch->nb_ports, rule, error);
	pthread_mutex_unlock(&vswitch->lock);
	return rc;
}
