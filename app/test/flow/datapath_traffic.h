/* SPDX-License-Identifier: BSD-3-Clause */
/* Random rules of a switch with one way out, port 2, and frames for it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAME_LEN 80 /* without a tag */

/*
 * A rule of few values, so that rules overlap; it leaves packets a mark of its own, its cookie, or drops them.
 * One that selects has no actions.
 */
void datapath_rule(char *text, size_t size, bool selects, uint64_t *seed);
/* A frame of the same values. Returns its length. */
uint32_t datapath_frame(uint8_t *frame, uint64_t *seed);
