/* SPDX-License-Identifier: BSD-3-Clause */
/* The inventory, for people and for programs. */

#include <errno.h>
#include <inttypes.h>

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

/* Names of devices may be of the command line. */
static const char *
shown(const struct hy_hal_device *dev, char name[RTE_ETH_NAME_MAX_LEN])
{
	snprintf(name, RTE_ETH_NAME_MAX_LEN, "%s", dev->name);
	return hy_printable(name);
}

int
hy_hal_inventory_print(const struct hy_hal *hal, FILE *out)
{
	char where[HY_NAME_SIZE], name[RTE_ETH_NAME_MAX_LEN];

	fprintf(out, "process\n");
	caps_print(hal->process.caps, HY_TARGET_PROCESS, out);
	for (unsigned int i = 0; i < hal->nb_declared; i++)
		cap_print(hal->declared[i].name, &hal->declared[i].cap, out);
	for (unsigned int p = 0; p < RTE_MAX_ETHPORTS; p++) {
		const struct hy_hal_port *port = &hal->ports[p];

		if (!port->present)
			continue;
		fprintf(out, "port %u: %s, driver %s\n", p, shown(&port->dev, name),
			port->dev.driver);
		caps_print(port->dev.caps, HY_TARGET_PORT, out);
	}
	for (unsigned int i = 0; i < hal->list.n; i++) {
		const struct hy_hal_device *dev = &hal->list.devices[i];

		fprintf(out, "%s: %s%sdriver %s\n",
			hy_target_text(dev->target, where, sizeof(where)), shown(dev, name),
			dev->name[0] == '\0' ? "" : ", ", dev->driver);
		caps_print(dev->caps, dev->target.kind, out);
	}
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

static void
declared_json(const struct hy_hal *hal, FILE *out)
{
	fprintf(out, ",\n    \"declared\": {");
	for (unsigned int i = 0; i < hal->nb_declared; i++)
		cap_json(i > 0 ? "," : "", hal->declared[i].name, &hal->declared[i].cap, out);
	fprintf(out, "}");
}

/* The kind is how an override calls it; pairs have a peer. */
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

	fprintf(out, "{\"kind\": \"%s\", \"id\": %u", kinds[dev->target.kind], dev->target.id);
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

static void
devices_json(const struct hy_hal *hal, FILE *out)
{
	fprintf(out, ",\n    \"devices\": [");
	for (unsigned int i = 0; i < hal->list.n; i++) {
		fprintf(out, "%s\n     ", i > 0 ? "," : "");
		device_json(&hal->list.devices[i], out);
	}
	fprintf(out, "]");
}

void
hy_inventory_json(const struct hy_hal *hal, FILE *out)
{
	const char *comma = "";

	fprintf(out, "  \"inventory\": {\n    \"process\": ");
	caps_json(hal->process.caps, HY_TARGET_PROCESS, out);
	declared_json(hal, out);
	fprintf(out, ",\n    \"ports\": [");
	for (unsigned int p = 0; p < RTE_MAX_ETHPORTS; p++) {
		const struct hy_hal_port *port = &hal->ports[p];

		if (!port->present)
			continue;
		fprintf(out, "%s\n     {\"port\": %u, \"name\": ", comma, p);
		hy_json_string(port->dev.name, out);
		fprintf(out, ", \"driver\": ");
		hy_json_string(port->dev.driver, out);
		fprintf(out, ", \"capabilities\": ");
		caps_json(port->dev.caps, HY_TARGET_PORT, out);
		fprintf(out, "}");
		comma = ",";
	}
	fprintf(out, "]");
	devices_json(hal, out);
	fprintf(out, "}");
}

int
hy_hal_inventory_json(const struct hy_hal *hal, FILE *out)
{
	fprintf(out, "{\n");
	hy_inventory_json(hal, out);
	fprintf(out, "\n}\n");
	return hy_output_flush(out);
}
