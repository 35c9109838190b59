/* SPDX-License-Identifier: BSD-3-Clause */
/* What tests of ports' events share: what observers and the program's functions were told, in order. */
#pragma once

#include "hal_live_fixture.h"
#include "port_event.h"

extern char events_story[256];  /* "down0 reset0 up0 " */
extern int events_reset_result; /* what a reset returns */

/* An observer, whose argument is the story. */
void events_observe(struct hy_hal *of, uint16_t port, enum hy_port_state state, void *arg);
/* Makes the graphs of two ports, which the HAL watches. */
void events_begin(void);
int events_poll(void);
/* Polls and walks until there is nothing left to do; returns the first error, after clearing it. */
int events_poll_out(void);
const struct hy_capability *events_running(uint16_t port);
