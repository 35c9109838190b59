/* SPDX-License-Identifier: BSD-3-Clause */
/* --tunnel: words "FIELD=VALUE" behind a name. */

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

#define OPTION "--tunnel"
#define FORM "NAME,port=N,uplink=N,local=IP,remote=IP,dst-mac=MAC"

enum { PORT, UPLINK, LOCAL, REMOTE, DST_MAC, SRC_MAC, FIELDS };

static const char *const fields[FIELDS] = { "port", "uplink", "local", "remote", "dst-mac",
	"src-mac" };

/* Reads an address into 16 bytes. It must be of the same version of IP as the other one, and not 0, which means none. */
static int
read_address(const char *field, const char *text, struct hy_vswitch_tunnel *tunnel,
	uint8_t address[16], const uint8_t other[16])
{
	static const uint8_t none[16];
	const bool ip6 = strchr(text, ':') != NULL;

	if (inet_pton(ip6 ? AF_INET6 : AF_INET, text, address) != 1)
		return hy_option_refuse(OPTION, "%s: '%s' is no address of IPv4 or IPv6", field,
			text);
	if (memcmp(address, none, sizeof(none)) == 0)
		return hy_option_refuse(OPTION, "%s: '%s' is not the address of a host", field,
			text);
	if (memcmp(other, none, sizeof(none)) != 0 && ip6 != tunnel->is_ip6)
		return hy_option_refuse(OPTION,
			"%s: '%s' is of another version of IP than the other address", field, text);
	tunnel->is_ip6 = ip6;
	return 0;
}

static int
read_field(unsigned int field, const char *value, struct hy_vswitch_port *port)
{
	struct hy_vswitch_tunnel *tunnel = &port->tunnel;
	struct rte_ether_addr mac;
	unsigned int number;
	int rc = 0;

	switch (field) {
	case PORT:
	case UPLINK:
		rc = hy_option_number(OPTION, value, 1, HY_VSWITCH_PORTS_END - 1, &number);
		if (rc == 0)
			*(field == PORT ? &port->number : &tunnel->uplink) = (uint16_t)number;
		return rc;
	case LOCAL:
		return read_address(fields[field], value, tunnel, tunnel->local, tunnel->remote);
	case REMOTE:
		return strcmp(value, "flow") == 0
			? 0
			: read_address(fields[field], value, tunnel, tunnel->remote, tunnel->local);
	default:
		rc = hy_option_mac(OPTION, value, &mac);
		if (rc == 0)
			memcpy(field == DST_MAC ? tunnel->dst_mac : tunnel->src_mac, mac.addr_bytes,
				sizeof(mac));
		return rc;
	}
}

/* Reads "FIELD=VALUE". */
static int
read_word(char *word, struct hy_vswitch_port *port, unsigned int *met)
{
	char *value = strchr(word, '=');

	if (value == NULL)
		return hy_option_refuse(OPTION, "'%s' is not FIELD=VALUE; the form is " FORM, word);
	*value++ = '\0';
	for (unsigned int f = 0; f < FIELDS; f++) {
		if (strcmp(word, fields[f]) != 0)
			continue;
		if ((*met & 1u << f) != 0)
			return hy_option_refuse(OPTION, "%s is given twice", word);
		*met |= 1u << f;
		return read_field(f, value, port);
	}
	return hy_option_refuse(OPTION,
		"'%s' is no field; there are port, uplink, local, remote, dst-mac and src-mac",
		word);
}

static int
read_words(char *text, struct hy_vswitch_port *port, unsigned int *met)
{
	char *rest = text, *word = strsep(&rest, ",");
	int rc = 0;

	if (!hy_vswitch_name_valid(word))
		return hy_option_refuse(OPTION, "name: '%s' is not " HY_VSWITCH_NAMES, word);
	snprintf(port->name, sizeof(port->name), "%s", word);
	while (rc == 0 && (word = strsep(&rest, ",")) != NULL)
		rc = read_word(word, port, met);
	for (unsigned int f = 0; f < SRC_MAC && rc == 0; f++)
		if ((*met & 1u << f) == 0)
			rc = hy_option_refuse(OPTION, "%s is missing; the form is " FORM,
				fields[f]);
	return rc;
}

int
read_tunnel(const char *text, void *to)
{
	struct options *o = to;
	struct hy_vswitch_port *port = &o->tunnels[o->nb_tunnels];
	unsigned int met = 0;
	char *own;
	int rc;

	if (o->nb_tunnels == RTE_DIM(o->tunnels))
		return hy_option_refuse(OPTION, "more than %zu tunnels", RTE_DIM(o->tunnels));
	own = strdup(text);
	if (own == NULL)
		return hy_option_refuse(OPTION, "out of memory");
	*port = (struct hy_vswitch_port){ .is_tunnel = true };
	rc = read_words(own, port, &met);
	free(own);
	o->has_src_mac[o->nb_tunnels] = (met & 1u << SRC_MAC) != 0;
	o->nb_tunnels += rc == 0;
	return rc;
}
