/* SPDX-License-Identifier: BSD-3-Clause */
/* Registering commands, and errors that no limit of DPDK's cuts. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <hy_telemetry.h>

#include "lib/graph/internal/dpdk.h"
#include "telemetry.h"

int
hy_telemetry_register(const char *prefix, const struct hy_telemetry_command *commands,
	unsigned int nb_commands)
{
	char name[56]; /* the most that DPDK takes */
	int rc = strlen(prefix) > HY_TELEMETRY_PREFIX_MAX ? -EINVAL : 0;

	for (unsigned int i = 0; i < nb_commands && rc == 0; i++) {
		if (snprintf(name, sizeof(name), "%s%s", prefix, commands[i].name) >=
			(int)sizeof(name))
			return -EINVAL;
		rc = rte_telemetry_register_cmd(name, commands[i].call, commands[i].help);
	}
	return rc;
}

int
hy_telemetry_begin(const char *prefix)
{
	int rc = hy_telemetry_register(prefix, hy_telemetry_recorder, HY_TELEMETRY_RECORDER);

	if (rc == 0)
		rc = hy_telemetry_register(prefix, hy_telemetry_tracer, HY_TELEMETRY_TRACER);
	if (rc == 0)
		rc = hy_telemetry_register("/halyard", hy_telemetry_report, HY_TELEMETRY_REPORT);
	return rc;
}

/* DPDK cuts a string in a dictionary or an array here, its NUL included. */
#define STRING_MAX 128

/* How much of a text fits, up to a blank if there is one. */
static size_t
part_length(const char *text)
{
	size_t n = strlen(text);

	if (n < STRING_MAX)
		return n;
	for (n = STRING_MAX - 1; n > 0 && text[n] != ' ';)
		n--;
	return n > 0 ? n : STRING_MAX - 1;
}

/* Takes the first part off a text, in ASCII: DPDK escapes no other byte, but writes any. */
static void
part_take(const char **text, char part[STRING_MAX])
{
	const size_t n = part_length(*text);

	for (size_t i = 0; i < n; i++)
		part[i] = (char)(((unsigned char)(*text)[i] & 0x80) == 0 ? (*text)[i] : '?');
	part[n] = '\0';
	*text += n;
	if (**text == ' ')
		++*text;
}

int
hy_telemetry_text(struct rte_tel_data *dict, const char *name, const char *text)
{
	char part[STRING_MAX];

	part_take(&text, part);
	return rte_tel_data_add_dict_string(dict, name, part);
}

int
hy_telemetry_error(const char *error, struct rte_tel_data *data)
{
	char part[STRING_MAX];
	struct rte_tel_data *more;

	part_take(&error, part);
	rte_tel_data_start_dict(data);
	rte_tel_data_add_dict_string(data, "error", part);
	more = error[0] == '\0' ? NULL : rte_tel_data_alloc();
	if (more == NULL)
		return 0;
	rte_tel_data_start_array(more, RTE_TEL_STRING_VAL);
	while (error[0] != '\0') {
		part_take(&error, part);
		rte_tel_data_add_array_string(more, part);
	}
	return rte_tel_data_add_dict_container(data, "more", more, 0);
}

int
hy_telemetry_port(const struct hy_port_status *status, struct rte_tel_data *data)
{
	rte_tel_data_add_dict_string(data, "link", hy_port_link(status));
	rte_tel_data_add_dict_uint(data, "link_mbps", status->link_mbps);
	rte_tel_data_add_dict_uint(data, "link_changes", status->link_changes);
	rte_tel_data_add_dict_uint(data, "missed", status->missed);
	rte_tel_data_add_dict_uint(data, "no_mbuf", status->no_mbuf);
	rte_tel_data_add_dict_uint(data, "rx_errors", status->rx_errors);
	return rte_tel_data_add_dict_uint(data, "tx_errors", status->tx_errors);
}

struct rte_tel_data *
hy_telemetry_entry(struct hy_telemetry_list *list)
{
	struct rte_tel_data *entry = list->n < HY_TELEMETRY_ENTRIES ? rte_tel_data_alloc() : NULL;
	char key[16];

	if (entry == NULL) {
		list->left_out++;
		return NULL;
	}
	rte_tel_data_start_dict(entry);
	snprintf(key, sizeof(key), "%u", list->n++);
	rte_tel_data_add_dict_container(list->data, key, entry, 0);
	return entry;
}
