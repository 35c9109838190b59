/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of keys share: keys of frames that end where readable memory does. */
#pragma once

#include "policy_fixture.h"

/* Makes a key of the first bytes of a frame; fails the test if others are read. */
struct hy_flow_key key_of(const uint8_t *frame, uint32_t len);

/* Makes one with so many bytes in one piece, of a longer frame. */
struct hy_flow_key key_of_piece(const uint8_t *frame, uint32_t piece, uint32_t len);

/* Compares all of a key. */
void assert_key(const struct hy_flow_key *got, const struct hy_flow_key *want, const char *what);
