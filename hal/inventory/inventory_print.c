/* SPDX-License-Identifier: BSD-3-Clause */
/* The inventory, as text and as JSON. */

#include <inttypes.h>
#include <string.h>

#include <hy_file.h>

#include "hal/internal/hal.h"
#include "lib/file/internal/json.h"

static void
cap_print(const char *name, const struct hy_capability *cap, FILE *out)
{
	fprintf(out, "    %-15s %-9s", name, hy_level_name(cap->level));
	if (cap->value > 0)
		fprintf(out, " %6" PRIu64, cap->value);
	else
		fprintf(out, " %6s", "");
	fprintf(out, "  %s: %s\n", hy_origin_name(cap->origin), cap->reason);
}

static void
caps_print(const struct hy_capability *caps, enum hy_target_kind kind, FILE *out)
{
	for (int c = 0; c < HY_CAPS_MAX; c++)
		if (hy_cap_concerns(kind, c))
			cap_print(hy_cap_name(c), &caps[c], out);
}

/* The name of a device may come from the command line, and so contain anything. */
static void
device_print(const struct hy_hal_device *dev, FILE *out)
{
	char where[HY_NAME_SIZE], name[RTE_ETH_NAME_MAX_LEN];

	strcpy(name, dev->name);
	fprintf(out, "%s: %s%sdriver %s\n", hy_target_text(dev->target, where, sizeof(where)),
		hy_printable(name), name[0] == '\0' ? "" : ", ", dev->driver);
	caps_print(dev->caps, dev->target.kind, out);
}

int
hy_hal_inventory_print(const struct hy_hal *hal, FILE *out)
{
	fprintf(out, "process\n");
	caps_print(hal->process.caps, HY_TARGET_PROCESS, out);
	for (unsigned int i = 0; i < hal->nb_declared; i++)
		cap_print(hal->declared[i].name, &hal->declared[i].cap, out);
	for (unsigned int p = 0; p < RTE_MAX_ETHPORTS; p++)
		if (hal->ports[p].present)
			device_print(&hal->ports[p].dev, out);
	for (unsigned int i = 0; i < hal->list.n; i++)
		device_print(&hal->list.devices[i], out);
	return hy_output_flush(out);
}

static void
cap_json(const char *comma, const char *name, const struct hy_capability *cap, FILE *out)
{
	fprintf(out,
		"%s\n      \"%s\": {\"level\": \"%s\", \"origin\": \"%s\", \"value\": %" PRIu64
		", \"reason\": ",
		comma, name, hy_level_name(cap->level), hy_origin_name(cap->origin), cap->value);
	hy_json_string(cap->reason, out);
	fprintf(out, "}");
}

static void
caps_json(const struct hy_capability *caps, enum hy_target_kind kind, FILE *out)
{
	const char *comma = "";

	fprintf(out, "{");
	for (int c = 0; c < HY_CAPS_MAX; c++) {
		if (!hy_cap_concerns(kind, c))
			continue;
		cap_json(comma, hy_cap_name(c), &caps[c], out);
		comma = ",";
	}
	fprintf(out, "}");
}

/* Kinds are named as in overrides. Pairs have a peer, too. */
static void
device_json(const struct hy_hal_device *dev, FILE *out)
{
	static const char *const kinds[HY_TARGET_KINDS] = {
		[HY_TARGET_EVENT] = "event",
		[HY_TARGET_CRYPTO] = "crypto",
		[HY_TARGET_REGEX] = "regex",
		[HY_TARGET_EVENT_PORT] = "event:port",
		[HY_TARGET_EVENT_CRYPTO] = "event:crypto",
	};

	if (dev->target.kind == HY_TARGET_PORT)
		fprintf(out, "{\"port\": %u", dev->target.id);
	else
		fprintf(out, "{\"kind\": \"%s\", \"id\": %u", kinds[dev->target.kind],
			dev->target.id);
	if (hy_target_peer(dev->target).kind != HY_TARGET_PROCESS)
		fprintf(out, ", \"peer\": %u", dev->target.peer);
	fprintf(out, ", \"name\": ");
	hy_json_string(dev->name, out);
	fprintf(out, ", \"driver\": ");
	hy_json_string(dev->driver, out);
	fprintf(out, ", \"capabilities\": ");
	caps_json(dev->caps, dev->target.kind, out);
	fprintf(out, "}");
}

void
hy_inventory_json(const struct hy_hal *hal, FILE *out)
{
	const char *comma = "";

	fprintf(out, "  \"inventory\": {\n    \"process\": ");
	caps_json(hal->process.caps, HY_TARGET_PROCESS, out);
	fprintf(out, ",\n    \"declared\": {");
	for (unsigned int i = 0; i < hal->nb_declared; i++)
		cap_json(i > 0 ? "," : "", hal->declared[i].name, &hal->declared[i].cap, out);
	fprintf(out, "},\n    \"ports\": [");
	for (unsigned int p = 0; p < RTE_MAX_ETHPORTS; p++) {
		if (!hal->ports[p].present)
			continue;
		fprintf(out, "%s\n     ", comma);
		device_json(&hal->ports[p].dev, out);
		comma = ",";
	}
	fprintf(out, "],\n    \"devices\": [");
	for (unsigned int i = 0; i < hal->list.n; i++) {
		fprintf(out, "%s\n     ", i > 0 ? "," : "");
		device_json(&hal->list.devices[i], out);
	}
	fprintf(out, "]}");
}

int
hy_hal_inventory_json(const struct hy_hal *hal, FILE *out)
{
	fprintf(out, "{\n");
	hy_inventory_json(hal, out);
	fprintf(out, "\n}\n");
	return hy_output_flush(out);
}
