/* SPDX-License-Identifier: BSD-3-Clause */
/* The user's overrides of capabilities. */
#pragma once

#include "hal/internal/hal.h"

/* An override. */
struct hy_override {
	struct hy_target target;   /* of kind HY_TARGET_KINDS: see driver */
	char driver[HY_NAME_SIZE]; /* pattern for fnmatch() */
	enum hy_cap cap;
	enum hy_level level;
	bool has_value;
	uint64_t value;
	char text[HY_NAME_SIZE]; /* as the user wrote it */
};

/* override_parse.c: parses an override. 0; -EINVAL: see error. */
int hy_override_parse(const char *spec, struct hy_override *override, char *error);

/* Applies all overrides that concern a device, in order: the last one takes precedence. */
void hy_overrides_apply(const struct hy_hal *hal, struct hy_hal_device *dev);
