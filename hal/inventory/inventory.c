/* SPDX-License-Identifier: BSD-3-Clause */
/* The inventory: what the process and each device can do, and how that is known. */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_version.h>

#include "hal/internal/hal.h"
#include "hal/internal/list.h"
#include "override.h"
#include "quirk.h"

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
hy_cap_limit(struct hy_capability *cap, uint64_t value)
{
	hy_cap_fill(cap, value > 0 ? HY_LEVEL_YES : HY_LEVEL_NO, value, "the driver's limit");
}

void
hy_cap_flags(struct hy_capability *caps, uint64_t has, const struct hy_cap_flag *flags,
	unsigned int n)
{
	for (const struct hy_cap_flag *f = flags; f < flags + n; f++)
		hy_cap_fill(&caps[f->cap], (has & f->flag) != 0 ? HY_LEVEL_YES : HY_LEVEL_NO, 0,
			(has & f->flag) != 0 ? "the driver reports %s"
					     : "the driver does not report %s",
			f->name);
}

/* Resets a capability to unknown, or to no if it is not one of this kind of target. */
static void
cap_blank(struct hy_hal_device *dev, int c)
{
	const enum hy_target_kind kind = dev->target.kind;

	if (hy_cap_concerns(kind, c))
		hy_cap_fill(&dev->caps[c], HY_LEVEL_UNKNOWN, 0, "not probed");
	else if (hy_cap_kind(c) < HY_TARGET_KINDS)
		hy_cap_fill(&dev->caps[c], HY_LEVEL_NO, 0, "a capability of %s, not of %s",
			hy_kind_names(hy_cap_kind(c)), hy_kind_names(kind));
}

void
hy_device_blank(struct hy_hal_device *dev, struct hy_target target)
{
	memset(dev, 0, sizeof(*dev));
	dev->target = target;
	for (int c = HY_CAP_NONE + 1; c < HY_CAPS_MAX; c++)
		cap_blank(dev, c);
}

/* Probes the capabilities that packs added. */
static void
device_ask(struct hy_hal_device *dev)
{
	for (int c = HY_CAPS; c < HY_CAPS_MAX; c++) {
		const struct hy_cap_desc *desc = hy_cap_desc(c);

		if (desc != NULL && desc->kind == dev->target.kind && desc->probe != NULL)
			desc->probe(dev->target, &dev->caps[c]);
	}
}

struct hy_hal_device *
hy_device_add(struct hy_device_list *list, struct hy_target target, const char *name,
	const char *driver)
{
	struct hy_hal_device *dev = hy_list_room(&list->devices, list->n, sizeof(*dev));

	if (dev == NULL)
		return NULL;
	list->n++;
	hy_device_blank(dev, target);
	snprintf(dev->name, sizeof(dev->name), "%s", name == NULL ? "" : name);
	snprintf(dev->driver, sizeof(dev->driver), "%s", driver == NULL ? "?" : driver);
	return dev;
}

struct hy_hal_device *
hy_device_find(const struct hy_hal *hal, struct hy_target target)
{
	struct hy_hal *of = (struct hy_hal *)(uintptr_t)hal;

	if (target.kind == HY_TARGET_PROCESS)
		return &of->process;
	if (target.kind == HY_TARGET_PORT)
		return target.id < RTE_MAX_ETHPORTS && of->ports[target.id].present
			? &of->ports[target.id].dev
			: NULL;
	for (unsigned int i = 0; i < of->list.n; i++)
		if (hy_target_same(of->list.devices[i].target, target))
			return &of->list.devices[i];
	return NULL;
}

/*
 * Corrects a device after it was probed: by the quirks of its driver; by hy_hal_capability_set(),
 * if it is the same device as before; and last by the user's overrides.
 */
static void
device_settle(const struct hy_hal *hal, struct hy_hal_device *dev, const struct hy_hal_device *old)
{
	const bool same = old != NULL && strcmp(old->name, dev->name) == 0 &&
		strcmp(old->driver, dev->driver) == 0;

	hy_quirks_apply(dev, RTE_VERSION);
	for (int c = 0; same && c < HY_CAPS_MAX; c++) {
		if (!old->set[c])
			continue;
		dev->set[c] = true;
		dev->caps[c] = old->caps[c];
	}
	hy_overrides_apply(hal, dev);
}

/* A port that does not run is not probed: capabilities that packs have added since are unknown. */
static void
port_keep(struct hy_hal *hal, uint16_t id)
{
	struct hy_hal_device *dev = &hal->ports[id].dev;

	hy_port_running_set(hal, id);
	for (int c = HY_CAPS; c < HY_CAPS_MAX; c++)
		if (dev->caps[c].level == HY_LEVEL_NO && dev->caps[c].reason[0] == '\0')
			cap_blank(dev, c);
}

static void
port_probe(struct hy_hal *hal, uint16_t id)
{
	struct hy_hal_port *port = &hal->ports[id];
	const struct hy_hal_port old = *port;

	if (hy_port_frozen(hal, id))
		port_keep(hal, id);
	else
		hy_probe_port(port, id);
	if (port->present && !hy_port_frozen(hal, id))
		device_ask(&port->dev);
	if (port->present)
		device_settle(hal, &port->dev, old.present ? &old.dev : NULL);
}

/* Keeps what was found of the CPU; but packs may have been loaded since. */
static void
process_probe(struct hy_hal *hal)
{
	const struct hy_hal_device old = hal->process;

	for (int c = HY_CAPS; c < HY_CAPS_MAX; c++)
		cap_blank(&hal->process, c);
	device_ask(&hal->process);
	device_settle(hal, &hal->process, &old);
}

int
hy_hal_probe(struct hy_hal *hal)
{
	struct hy_device_list list = { 0 };
	int rc;

	process_probe(hal);
	for (uint16_t id = 0; id < RTE_MAX_ETHPORTS; id++)
		port_probe(hal, id);
	rc = hy_probe_event(&list);
	if (rc == 0)
		rc = hy_probe_crypto(&list);
	if (rc == 0)
		rc = hy_probe_regex(&list);
	if (rc == 0)
		rc = hy_probe_pairs(hal, &list);
	if (rc < 0) {
		free(list.devices);
		return rc;
	}
	for (unsigned int i = 0; i < list.n; i++)
		device_ask(&list.devices[i]);
	for (unsigned int i = 0; i < list.n; i++)
		device_settle(hal, &list.devices[i], hy_device_find(hal, list.devices[i].target));
	free(hal->list.devices);
	hal->list = list;
	return 0;
}

int
hy_hal_port_ignore(struct hy_hal *hal, uint16_t port)
{
	if (port >= RTE_MAX_ETHPORTS)
		return -EINVAL;
	hal->ports[port].ignored = true;
	hy_probe_port(&hal->ports[port], port);
	return hal->list.n > 0 ? hy_hal_probe(hal) : 0; /* the pairs that it is part of */
}

const struct hy_capability *
hy_hal_capability(const struct hy_hal *hal, struct hy_target target, enum hy_cap cap)
{
	static const struct hy_capability none[HY_TARGET_KINDS] = {
		[HY_TARGET_PORT] = { .reason = "no such port" },
		[HY_TARGET_EVENT] = { .reason = "no such event device" },
		[HY_TARGET_CRYPTO] = { .reason = "no such crypto device" },
		[HY_TARGET_REGEX] = { .reason = "no such regex device" },
		[HY_TARGET_EVENT_PORT] = { .reason = "no such pair of devices" },
		[HY_TARGET_EVENT_CRYPTO] = { .reason = "no such pair of devices" },
	};
	const struct hy_target peer = hy_target_peer(target);
	struct hy_target of = target;
	const struct hy_hal_device *dev;

	if (hy_cap_concerns(HY_TARGET_PROCESS, cap))
		return &hal->process.caps[cap];
	if (peer.kind != HY_TARGET_PROCESS && hy_cap_concerns(HY_TARGET_EVENT, cap))
		of = (struct hy_target){ .kind = HY_TARGET_EVENT, .id = target.id };
	else if (hy_cap_concerns(peer.kind, cap))
		of = peer;
	dev = hy_device_find(hal, of);
	return dev == NULL ? &none[of.kind] : &dev->caps[cap];
}

int
hy_hal_capability_set(struct hy_hal *hal, struct hy_target target, enum hy_cap cap,
	enum hy_level level, enum hy_origin origin, uint64_t value, const char *reason)
{
	struct hy_hal_device *dev = hy_device_find(hal, target);
	struct hy_capability before;

	if (!hy_cap_concerns(target.kind, cap))
		return -EINVAL;
	if (dev == NULL)
		return -ENODEV;
	before = dev->caps[cap];
	hy_cap_fill(&dev->caps[cap], level, value, "%s", reason);
	dev->caps[cap].origin = origin;
	dev->set[cap] = true;
	hy_overrides_apply(hal, dev);
	/* As selections see it: an overridden capability does not change. */
	hal->outdated |= dev->caps[cap].level != before.level ||
		dev->caps[cap].value != before.value;
	return 0;
}
