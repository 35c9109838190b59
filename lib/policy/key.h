/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys of frames, for tests: the way that takes every frame, beside hy_flow_key()'s short one. */
#pragma once

#include <hy_policy_view.h>

/* hy_flow_key(), header by header. */
void policy_key_any(const uint8_t *frame, uint32_t len, struct hy_flow_key *key);
