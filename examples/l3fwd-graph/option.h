/* SPDX-License-Identifier: BSD-3-Clause */
/* What readers of single options share. All return 0, or -1 with the reason on standard error. */
#ifndef L3FWD_OPTION_H
#define L3FWD_OPTION_H

#include <stdbool.h>

#include <rte_common.h>

struct capture_options;
struct hy_ip4_filter;
struct options;

#define OPTION_ERROR_SIZE 2048 /* an option's value, and words */

/* What option_refuse() said last on this thread. */
extern _Thread_local char option_error[OPTION_ERROR_SIZE];

/* Says what is wrong with an option's value; returns -1. */
int option_refuse(const char *option, const char *format, ...) __rte_format_printf(2, 3);

/* Whether a text is a number in that range. */
bool option_parse_uint(const char *text, unsigned int min, unsigned int max, unsigned int *value);
int option_read_uint(const char *option, const char *text, unsigned int min, unsigned int max,
	unsigned int *value);
int option_read_config(const char *text, struct options *options);
int option_default_config(struct options *options);
int option_check_config(const struct options *options);
int option_read_trace(const char *text, struct options *options);
/* The value of --capture, for telemetry too. */
int option_read_capture_text(const char *text, struct capture_options *capture);
int option_read_capture(const char *text, struct options *options);
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
/* One condition of a filter; *met has a bit for each sort that came before. */
int option_read_condition(const char *option, char *word, struct hy_ip4_filter *filter,
	unsigned int *met);
/* All of a filter. Cuts the text to pieces. */
int option_read_filter(const char *option, char *text, struct hy_ip4_filter *filter);

#endif
