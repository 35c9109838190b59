/* SPDX-License-Identifier: BSD-3-Clause */
/* The inventory: what the process and each device can do, how that is known, and why. */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "hal.h"

void
hy_cap_fill(struct hy_capability *cap, enum hy_level level, uint64_t value, const char *reason, ...)
{
	va_list ap;

	cap->level = level;
	cap->origin = HY_ORIGIN_DECLARED;
	cap->value = value;
	va_start(ap, reason);
	vsnprintf(cap->reason, sizeof(cap->reason), reason, ap);
	va_end(ap);
}

void
hy_device_blank(struct hy_hal_device *dev, struct hy_target target)
{
	memset(dev, 0, sizeof(*dev));
	dev->target = target;
	for (int c = HY_CAP_NONE + 1; c < HY_CAPS; c++) {
		if (hy_cap_concerns(target.kind, c))
			hy_cap_fill(&dev->caps[c], HY_LEVEL_UNKNOWN, 0, "nobody has tried it");
		else
			hy_cap_fill(&dev->caps[c], HY_LEVEL_NO, 0, "a capability of %s, not of %s",
				hy_kind_names(hy_cap_kind(c)), hy_kind_names(target.kind));
	}
}

/* What was set by hand stays, as long as it is the same device. */
static void
port_probe(struct hy_hal_port *port, uint16_t id)
{
	const struct hy_hal_device old = port->dev;
	const bool was_present = port->present;

	hy_hal_probe_port(port, id);
	if (!was_present || !port->present || strcmp(old.name, port->dev.name) != 0)
		return;
	for (int c = 0; c < HY_CAPS; c++) {
		if (!old.set[c])
			continue;
		port->dev.set[c] = true;
		port->dev.caps[c] = old.caps[c];
	}
}

int
hy_hal_probe(struct hy_hal *hal)
{
	for (uint16_t id = 0; id < RTE_MAX_ETHPORTS; id++)
		port_probe(&hal->ports[id], id);
	return 0;
}

int
hy_hal_port_ignore(struct hy_hal *hal, uint16_t port)
{
	if (port >= RTE_MAX_ETHPORTS)
		return -EINVAL;
	hal->ports[port].ignored = true;
	port_probe(&hal->ports[port], port);
	return 0;
}

/* NULL: there is no such target. */
static struct hy_hal_device *
device_find(struct hy_hal *hal, struct hy_target target)
{
	if (target.kind == HY_TARGET_PROCESS)
		return &hal->process;
	if (target.kind == HY_TARGET_PORT && target.id < RTE_MAX_ETHPORTS &&
		hal->ports[target.id].present)
		return &hal->ports[target.id].dev;
	return NULL;
}

const struct hy_capability *
hy_hal_capability(const struct hy_hal *hal, struct hy_target target, enum hy_cap cap)
{
	static const struct hy_capability beyond = { .reason = "there is no such port" };
	const struct hy_hal_device *dev;

	if (hy_cap_concerns(HY_TARGET_PROCESS, cap))
		return &hal->process.caps[cap];
	dev = device_find((struct hy_hal *)(uintptr_t)hal, target);
	return dev == NULL ? &beyond : &dev->caps[cap];
}

int
hy_hal_capability_set(struct hy_hal *hal, struct hy_target target, enum hy_cap cap,
	enum hy_level level, enum hy_origin origin, uint64_t value, const char *reason)
{
	struct hy_hal_device *dev = device_find(hal, target);

	if (!hy_cap_concerns(target.kind, cap))
		return -EINVAL;
	if (dev == NULL)
		return -ENODEV;
	hy_cap_fill(&dev->caps[cap], level, value, "%s", reason);
	dev->caps[cap].origin = origin;
	dev->set[cap] = true;
	return 0;
}
