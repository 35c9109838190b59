/* SPDX-License-Identifier: BSD-3-Clause */
/* What the user says of capabilities. */
#ifndef HY_OVERRIDE_H
#define HY_OVERRIDE_H

#include "hal/internal/hal.h"

/* One of what hy_hal_override() was told. */
struct hy_override {
	struct hy_target target;   /* its kind is HY_TARGET_KINDS if it goes by driver */
	char driver[HY_NAME_SIZE]; /* as fnmatch() has it */
	enum hy_cap cap;
	enum hy_level level;
	bool has_value;
	uint64_t value;
	char text[HY_NAME_SIZE]; /* as the user wrote it */
};

/* override_parse.c: reads one, or says what is wrong with it. 0, -EINVAL. */
int hy_override_parse(const char *spec, struct hy_override *override, char *error);

/* Corrects a device as the user wants it; of those that concern it, the last word counts. */
void hy_overrides_apply(const struct hy_hal *hal, struct hy_hal_device *dev);

#endif
