/* SPDX-License-Identifier: BSD-3-Clause */
/* What readers of single options share. All return 0, or a negative errno with the reason on standard error. */
#ifndef L3FWD_OPTION_H
#define L3FWD_OPTION_H

#include <hy_option.h>

struct options;

int option_read_config(const char *text, struct options *options);
int option_default_config(struct options *options);
int option_check_config(const struct options *options);
int option_read_offload(const char *text, struct options *options);
int option_read_mode(const char *text, struct options *options);
int option_read_sched(const char *text, struct options *options);
int option_read_event_device(const char *text, struct options *options);
/* What must hold of these together; fills in what was not given. */
int option_check_event(struct options *options);
int option_read_pin(const char *text, struct options *options);
int option_check_dispatch(const struct options *options);
int option_read_steer(const char *text, struct options *options);
int option_check_steer(const struct options *options);
int option_read_feature(const char *text, struct options *options);
int option_check_feature(const struct options *options);

#endif
