/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of drivers that neither they nor a probe tell. */
#ifndef HY_QUIRK_H
#define HY_QUIRK_H

#include "hal/internal/hal.h"

/*
 * A correction. It concerns drivers of any of these names, as fnmatch() has them, in DPDK from one
 * release on and before another, as RTE_VERSION_NUM() has them; 0: whatever the release.
 */
struct hy_quirk {
	const char *drivers[4]; /* of a pair: its event device's; unused ones are NULL */
	uint32_t from;
	uint32_t before;
	enum hy_cap cap;
	enum hy_cap unless; /* has it, it is as it says; HY_CAP_NONE: whatever it has */
	enum hy_level level;
	uint64_t most;      /* limits the value; 0: the value stays as found */
	const char *reason; /* with its source, in the DPDK release named */
};

/* All of them. */
const struct hy_quirk *hy_quirks(unsigned int *n);

/* Whether a quirk concerns a driver in a release. */
bool hy_quirk_matches(const struct hy_quirk *quirk, const char *driver, uint32_t version);

/* Corrects what was found out about a device, as its driver in that release deserves. */
void hy_quirks_apply(struct hy_hal_device *dev, uint32_t version);

#endif
