/* SPDX-License-Identifier: BSD-3-Clause */
/* Readers of --config and --pin. Functions return 0 or a negative errno (reported). */
#pragma once

#include <hy_mode_options.h>

int hy_config_read(const char *text, void *port_options);
/* Fills in the default if the option was not given; then checks queues, ports and lcores. */
int hy_config_check(struct hy_port_options *options);

int hy_pin_read(const char *text, void *mode_options);
/* Pins name workers, and match no receive queue. */
int hy_pins_check(const struct hy_mode_options *options);
