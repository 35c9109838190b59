/* SPDX-License-Identifier: BSD-3-Clause */
/* Words of a bridge's file and commands, and what is wrong with them. */

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include <rte_ether.h>

#include <hy_file.h>
#include <hy_option.h>

#include "bridge.h"

#define BLANKS " \t\r\n"
#define STATIC_FORM "an entry is MM:MM:MM:MM:MM:MM vlan V port N, or MM:MM:MM:MM:MM:MM vlan V local"

const char *const bridge_states[] = { [HY_L2_BLOCKING] = "blocking",
	[HY_L2_LEARNING] = "learning",
	[HY_L2_FORWARDING] = "forwarding" };
const char *const bridge_storms[] = { [HY_L2_STORM_BROADCAST] = "broadcast",
	[HY_L2_STORM_MULTICAST] = "multicast",
	[HY_L2_STORM_UNKNOWN] = "unknown" };

const char *
bridge_shown(const char *word)
{
	return word[0] == '\0' ? "the end of the line" : word;
}

int
bridge_refuse(const struct bridge_place *at, const char *field, const char *format, ...)
{
	const size_t size = HY_BRIDGE_ERROR_SIZE;
	size_t n = 0;
	va_list args;

	if (at->path != NULL && at->line == 0)
		n = (size_t)snprintf(at->error, size, "%s: ", at->path);
	else if (at->path != NULL)
		n = (size_t)snprintf(at->error, size, "%s:%u: ", at->path, at->line);
	n = RTE_MIN(n, size - 1);
	n += (size_t)snprintf(at->error + n, size - n, "%s: ", field);
	n = RTE_MIN(n, size - 1);
	va_start(args, format);
	vsnprintf(at->error + n, size - n, format, args);
	va_end(args);
	hy_printable(at->error);
	return -EINVAL;
}

char *
bridge_word(char **text)
{
	char *start = *text + strspn(*text, BLANKS);
	char *end = start + strcspn(start, BLANKS);

	*text = end;
	if (*end != '\0')
		*(*text)++ = '\0';
	return start;
}

int
bridge_end(const struct bridge_place *at, char *text)
{
	const char *word = bridge_word(&text);

	if (word[0] == '\0')
		return 0;
	return bridge_refuse(at, "line", "'%.*s' is behind its end", BRIDGE_QUOTED, word);
}

int
bridge_number(const struct bridge_place *at, const char *field, const char *word, unsigned int min,
	unsigned int max, uint32_t *value)
{
	unsigned int number;

	if (!hy_option_is_number(word, min, max, &number))
		return bridge_refuse(at, field, "'%.*s' is not a number from %u to %u",
			BRIDGE_QUOTED, bridge_shown(word), min, max);
	*value = number;
	return 0;
}

int
bridge_vid(const struct bridge_place *at, const char *field, const char *word, uint16_t *vid)
{
	uint32_t number = 0;

	if (bridge_number(at, field, word, 1, BRIDGE_VID_MAX, &number) < 0)
		return -EINVAL;
	*vid = (uint16_t)number;
	return 0;
}

int
bridge_number_of(const struct hy_bridge *bridge, uint16_t port)
{
	for (unsigned int i = 0; i < bridge->nb_ports; i++)
		if (bridge->ports[i] == port)
			return (int)i;
	return -ENODEV;
}

/* Writes the bridge's ports, "0, 1". */
static const char *
ports_text(const struct hy_bridge *bridge, char text[8 * BRIDGE_PORTS])
{
	int n = 0;

	strcpy(text, "none");
	for (unsigned int i = 0; i < bridge->nb_ports; i++)
		n += sprintf(text + n, "%s%u", i == 0 ? "" : ", ", bridge->ports[i]);
	return text;
}

int
bridge_port(const struct bridge_place *at, const struct hy_bridge *bridge, const char *word,
	uint16_t *number)
{
	char accepted[8 * BRIDGE_PORTS];
	unsigned int port = 0;
	int found = -1;

	if (hy_option_is_number(word, 0, RTE_MAX_ETHPORTS - 1, &port))
		found = bridge_number_of(bridge, (uint16_t)port);
	if (found < 0)
		return bridge_refuse(at, "port", "'%.*s' is no port of the bridge; these are %s",
			BRIDGE_QUOTED, bridge_shown(word), ports_text(bridge, accepted));
	*number = (uint16_t)found;
	return 0;
}

int
bridge_state(const struct bridge_place *at, const char *word, uint8_t *state)
{
	for (unsigned int i = 0; i < RTE_DIM(bridge_states); i++) {
		if (strcmp(word, bridge_states[i]) == 0) {
			*state = (uint8_t)i;
			return 0;
		}
	}
	return bridge_refuse(at, "state", "'%.*s' is not blocking, learning or forwarding",
		BRIDGE_QUOTED, bridge_shown(word));
}

/* Why no entry can have an address, or NULL. */
static const char *
unfit(const struct rte_ether_addr *mac)
{
	static const uint8_t reserved[5] = { 0x01, 0x80, 0xc2, 0x00, 0x00 };

	if (rte_is_zero_ether_addr(mac))
		return "no station has this address";
	if (rte_is_broadcast_ether_addr(mac))
		return "broadcast goes to all ports";
	if (memcmp(mac->addr_bytes, reserved, sizeof(reserved)) == 0 && mac->addr_bytes[5] < 16)
		return "frames to 01:80:c2:00:00:00 to 0f are never forwarded";
	return NULL;
}

int
bridge_mac(const struct bridge_place *at, const char *word, uint8_t mac[6])
{
	struct rte_ether_addr addr;
	const char *why;

	/* rte_ether_unformat_addr() also takes other forms; one is enough. */
	if (strlen(word) != 17 || rte_ether_unformat_addr(word, &addr) != 0)
		return bridge_refuse(at, "mac", "'%.*s' is not a MAC address, MM:MM:MM:MM:MM:MM",
			BRIDGE_QUOTED, bridge_shown(word));
	why = unfit(&addr);
	if (why != NULL)
		return bridge_refuse(at, "mac", "%s cannot have an entry: %s", word, why);
	memcpy(mac, addr.addr_bytes, 6);
	return 0;
}

int
bridge_key(const struct bridge_place *at, char **text, uint64_t *key)
{
	uint8_t mac[6];
	uint16_t vid;
	const char *word;

	if (bridge_mac(at, bridge_word(text), mac) < 0)
		return -EINVAL;
	word = bridge_word(text);
	if (strcmp(word, "vlan") != 0)
		return bridge_refuse(at, "vlan", "expected 'vlan', found '%.*s'; " STATIC_FORM,
			BRIDGE_QUOTED, bridge_shown(word));
	if (bridge_vid(at, "vlan", bridge_word(text), &vid) < 0)
		return -EINVAL;
	*key = hy_l2_key(mac, vid);
	return 0;
}

int
bridge_static(const struct bridge_place *at, const struct hy_bridge *bridge, char *text,
	struct bridge_static *entry)
{
	const char *word;

	if (bridge_key(at, &text, &entry->key) < 0)
		return -EINVAL;
	entry->line = at->line;
	word = bridge_word(&text);
	if (strcmp(word, "local") == 0)
		entry->port = HY_L2_LOCAL;
	else if (strcmp(word, "port") != 0)
		return bridge_refuse(at, "port",
			"expected 'port' or 'local', found '%.*s'; " STATIC_FORM, BRIDGE_QUOTED,
			bridge_shown(word));
	else if (bridge_port(at, bridge, bridge_word(&text), &entry->port) < 0)
		return -EINVAL;
	return bridge_end(at, text);
}

int
bridge_static_check(const struct bridge_place *at, const struct hy_bridge *bridge,
	const struct bridge_file *file, const struct bridge_static *entry)
{
	uint8_t mac[6];
	const uint16_t vid = hy_l2_key_split(entry->key, mac);
	bool known = false;

	for (unsigned int i = 0; i < bridge->nb_ports; i++)
		known |= bridge_is_member(&file->port[i], vid);
	if (!known)
		return bridge_refuse(at, "vlan", "no port is a member of VLAN %u", vid);
	if (entry->port != HY_L2_LOCAL && !bridge_is_member(&file->port[entry->port], vid))
		return bridge_refuse(at, "port", "%u is no member of VLAN %u",
			bridge->ports[entry->port], vid);
	return 0;
}

int
bridge_filter(const struct bridge_place *at, const struct hy_bridge *bridge, char *text, bool dump,
	struct bridge_filter *filter)
{
	int rc = 0;

	*filter = (struct bridge_filter){ .port = HY_L2_ANY, .vid = HY_L2_ANY };
	while (rc == 0) {
		const char *word = bridge_word(&text);

		if (word[0] == '\0')
			return 0;
		if (strcmp(word, "port") == 0)
			rc = bridge_port(at, bridge, bridge_word(&text), &filter->port);
		else if (strcmp(word, "vlan") == 0)
			rc = bridge_vid(at, "vlan", bridge_word(&text), &filter->vid);
		else if (dump && strcmp(word, "cursor") == 0)
			rc = bridge_number(at, "cursor", bridge_word(&text), 0, HY_L2_END - 1,
				&filter->cursor);
		else if (!dump && strcmp(word, "static") == 0)
			filter->statics = true;
		else
			rc = bridge_refuse(at, "entries",
				"'%.*s' selects none; accepted are port P, vlan V and %s",
				BRIDGE_QUOTED, word, dump ? "cursor C" : "static");
	}
	return rc;
}
