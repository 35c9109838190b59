/* SPDX-License-Identifier: BSD-3-Clause */
/* Known facts about drivers that neither the drivers nor probes report. */
#pragma once

#include "hal/internal/hal.h"

/*
 * A correction for drivers whose names match one of the patterns (fnmatch()), in DPDK releases from
 * one on and before another (RTE_VERSION_NUM()); 0: no bound.
 */
struct hy_quirk {
	const char *drivers[4]; /* of a pair: of its event device; unused ones are NULL */
	uint32_t from;
	uint32_t before;
	enum hy_cap cap;
	enum hy_cap unless; /* no correction if the device has this; HY_CAP_NONE: always */
	enum hy_level level;
	uint64_t most;      /* limits the value; 0: no limit */
	const char *reason; /* with its source in the named DPDK release */
};

/* All quirks. */
const struct hy_quirk *hy_quirks(unsigned int *n);

/* Whether a quirk concerns a driver in a release. */
bool hy_quirk_matches(const struct hy_quirk *quirk, const char *driver, uint32_t version);

/* Applies all quirks of a device's driver in a release. */
void hy_quirks_apply(struct hy_hal_device *dev, uint32_t version);
