/* SPDX-License-Identifier: BSD-3-Clause */
/* A packet from its text: where it comes from, and what a key has besides. */

#include <errno.h>
#include <string.h>

#include <rte_common.h>
#include <rte_ether.h>

#include <hy_vswitch_trace.h>

#include "lib/vswitch/text/vswitch_text.h"
#include "lib/vswitch/vswitch.h"

/* The first field of a tunnel in which the key has bits, or NULL. */
static const char *
tunnel_field(const struct hy_flows_key *key)
{
	static const uint8_t zero[16];

	for (uint32_t f = HY_VSWITCH_TUN_ID; f <= HY_VSWITCH_TUN_IPV6_DST; f++)
		if (memcmp((const uint8_t *)key + vswitch_fields[f].at, zero,
			    vswitch_fields[f].size) != 0)
			return vswitch_fields[f].name;
	return NULL;
}

/* Addresses that the text does not give are those of the tunnel. */
static void
fill_tunnel(const struct hy_vswitch_tunnel *tunnel, struct hy_flows_key *key,
	const struct hy_flows_key *given)
{
	if (tunnel->is_ip6 && given->tunnel_src6[0] == 0)
		memcpy(key->tunnel_src6, tunnel->remote, 16);
	if (tunnel->is_ip6 && given->tunnel_dst6[0] == 0)
		memcpy(key->tunnel_dst6, tunnel->local, 16);
	if (!tunnel->is_ip6 && given->tunnel_src == 0)
		memcpy(&key->tunnel_src, tunnel->remote, 4);
	if (!tunnel->is_ip6 && given->tunnel_dst == 0)
		memcpy(&key->tunnel_dst, tunnel->local, 4);
}

static int
find_tunnel(const struct hy_vswitch *vswitch, const struct hy_vswitch_port *port,
	struct hy_flows_key *key, const struct hy_flows_key *given, char *error)
{
	const struct hy_vswitch_port *input;

	key->kind |= HY_FLOWS_TUNNELLED;
	if (port != NULL)
		fill_tunnel(&port->tunnel, key, given);
	input = vswitch_input(vswitch, key);
	if (input == NULL)
		return vswitch_refuse(error, port == NULL ? tunnel_field(key) : "in_port",
			"no tunnel of the switch has the addresses that the packet has outside");
	if (port != NULL && port != input)
		return vswitch_refuse(error, "in_port",
			"a packet with these addresses outside comes from port %u (%s)",
			input->number, input->name);
	port = vswitch_port_of(vswitch, input->tunnel.uplink);
	key->port = port->port;
	return 0;
}

static int
find_input(const struct hy_vswitch *vswitch, struct hy_flows_key *key,
	const struct hy_flows_key *given, char *error)
{
	const struct hy_vswitch_port *port = vswitch_port_of(vswitch, key->port);
	const char *field = tunnel_field(key);

	if (given->port == 0 && field == NULL)
		return vswitch_refuse(error, "in_port",
			"missing; a packet comes from a port of the switch");
	if (given->port != 0 && port == NULL)
		return vswitch_refuse(error, "in_port", "the switch has no port %u", key->port);
	if (given->port == 0)
		return find_tunnel(vswitch, NULL, key, given, error);
	if (port->is_tunnel)
		return find_tunnel(vswitch, port, key, given, error);
	if (field != NULL)
		return vswitch_refuse(error, field, "in_port is port %u (%s), which is no tunnel",
			port->number, port->name);
	key->port = port->port;
	return 0;
}

/* Rules see a fragment with an offset by two bits, packets have one. */
static int
set_kind(struct hy_flows_key *key, const struct hy_flows_key *given, char *error)
{
	const bool is_ip = key->type == RTE_BE16(RTE_ETHER_TYPE_IPV4) ||
		key->type == RTE_BE16(RTE_ETHER_TYPE_IPV6);

	if (key->kind != 0 && (given->sport | given->dport | given->tcp_flags) != 0)
		return vswitch_refuse(error, "nw_frag",
			"a fragment has no ports, no type and code of ICMP, and no flags of TCP");
	if ((key->kind & HY_FLOWS_LATER_FRAGMENT) != 0)
		key->kind = HY_FLOWS_LATER_FRAGMENT;
	if (is_ip)
		key->kind |= HY_FLOWS_IP;
	return 0;
}

int
hy_vswitch_packet(struct hy_vswitch *vswitch, const char *text, struct hy_flows_key *key,
	char *error)
{
	struct vswitch_names names;
	struct hy_flows_key made, given;
	int rc;

	pthread_mutex_lock(&vswitch->lock);
	names = (struct vswitch_names){ vswitch->name, vswitch->nb_ports };
	rc = vswitch_packet_read(text, &names, &made, &given, error);
	if (rc == 0)
		rc = set_kind(&made, &given, error);
	if (rc == 0)
		rc = find_input(vswitch, &made, &given, error);
	pthread_mutex_unlock(&vswitch->lock);
	if (rc == 0)
		*key = made;
	return rc;
}
