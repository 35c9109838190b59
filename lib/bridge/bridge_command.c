/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of a bridge by command, and what commands show of its table. */

#include <errno.h>
#include <string.h>

#include "bridge.h"
#include "lib/graph/internal/log.h"

#define BATCH 256

int
bridge_command_add(struct hy_bridge *bridge, char *text, char *error)
{
	const struct bridge_place at = { .error = error };
	struct bridge_static entry;
	int rc = bridge_static(&at, bridge, text, &entry);

	if (rc == 0)
		rc = bridge_static_check(&at, bridge, bridge->file, &entry);
	if (rc < 0)
		return rc;
	rc = hy_l2_add(bridge->table, entry.key, entry.port);
	return rc < 0 ? HY_REASON(rc, error, HY_BRIDGE_ERROR_SIZE, "%s",
				rc == -ENOSPC ? "the table is full"
					      : "the table has no free slot, since a worker hangs")
		      : 0;
}

int
bridge_command_del(struct hy_bridge *bridge, char *text, char *error)
{
	const struct bridge_place at = { .error = error };
	uint64_t key;
	int rc = bridge_key(&at, &text, &key);

	if (rc == 0)
		rc = bridge_end(&at, text);
	if (rc < 0)
		return rc;
	rc = hy_l2_delete(bridge->table, key);
	return rc < 0 ? HY_REASON(rc, error, HY_BRIDGE_ERROR_SIZE, "there is no such entry") : 0;
}

int
bridge_command_flush(struct hy_bridge *bridge, char *text, uint32_t *flushed, char *error)
{
	const struct bridge_place at = { .error = error };
	struct bridge_filter filter;
	const int rc = bridge_filter(&at, bridge, text, false, &filter);

	if (rc == 0)
		*flushed = hy_l2_flush(bridge->table, filter.port, filter.vid, filter.statics);
	return rc;
}

int
bridge_command_state(struct hy_bridge *bridge, char *text, char *error)
{
	const struct bridge_place at = { .error = error };
	uint16_t number;
	uint8_t state;
	int rc = bridge_port(&at, bridge, bridge_word(&text), &number);

	if (rc == 0)
		rc = bridge_state(&at, bridge_word(&text), &state);
	if (rc == 0)
		rc = bridge_end(&at, text);
	if (rc < 0)
		return rc;
	rc = hy_bridge_state(bridge, bridge->ports[number], (enum hy_l2_state)state);
	return rc < 0 ? HY_REASON(rc, error, HY_BRIDGE_ERROR_SIZE, "%s",
				rc == -ENOMEM ? "out of memory"
					      : "a worker hangs, and may use the state before")
		      : 0;
}

uint32_t
bridge_dump(const struct hy_bridge *bridge, struct bridge_filter *filter,
	struct hy_l2_entry entries[], uint32_t n)
{
	struct hy_l2_entry read[BATCH];
	uint32_t found = 0, looks = 0;

	while (found < n && looks < BRIDGE_LOOKS && filter->cursor != HY_L2_END) {
		const uint32_t got = hy_l2_dump(bridge->table, &filter->cursor, read,
			RTE_MIN(n - found, (uint32_t)BATCH));

		for (uint32_t i = 0; i < got; i++) {
			const uint16_t vid = read[i].key >> HY_L2_KEY_VID & (HY_L2_VIDS - 1);

			if ((filter->port == HY_L2_ANY || filter->port == read[i].port) &&
				(filter->vid == HY_L2_ANY || filter->vid == vid))
				entries[found++] = read[i];
		}
		looks += got;
	}
	return found;
}
