/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of the HAL share: families and variants declared in a line, virtual ports, a
 * fresh HAL around every test. Families cannot be taken back: each test's have names of their own.
 */
#pragma once

#include <hy_hal.h>
#include <hy_stats.h>

#include "app/test/unit.h"

extern struct hy_hal *hal;            /* of the test */
extern char error[HY_HAL_ERROR_SIZE]; /* "untouched" when a test begins */

/* Registers a copy of a declaration. What is missing of text, pack and process is filled in. */
int family_try(const struct hy_family *family);
int variant_try(const struct hy_variant *variant);
/* The same, of what must succeed. */
void family_add(const char *name, enum hy_target_kind target, int score);
void variant_add(const struct hy_variant *variant);
#define VARIANT(family_, name_, ...) \
	variant_add(&(const struct hy_variant){ \
		.family = (family_), .impl.variant = (name_), __VA_ARGS__ })

/* Process functions that do the same and are not the same. */
hy_node_process_t hal_process;
hy_node_process_t hal_process_b;

/* Adds a device: "event_sw0", "crypto_null0"; or tries to, 0 or a negative errno. */
void device_add(const char *name);
int device_try(const char *name, const char *args);
/* Adds a port: "net_null_x", "net_tap_x". Its id, or a negative errno. Tests tell the HAL. */
int port_try(const char *name, const char *args);
uint16_t port_add(const char *name);
/* A port made of rings, with so many queues. */
uint16_t port_add_rings(const char *name, unsigned int nb_rx, unsigned int nb_tx);
/* Removes a port by its full name; all. */
void port_remove(const char *name);
void ports_remove(void);

/* The selection made for a family and port, which must be there. */
const struct hy_selection *selected(const char *family, uint16_t port);
/* Name of the chosen variant. */
const char *chosen(const char *family, uint16_t port);
/* What became of a variant in a selection. */
const struct hy_candidate *candidate(const char *family, uint16_t port, const char *variant);
/* Selects, and fails the test with the HAL's words if that fails. */
void select_all(void);
void assert_fate(const char *family, uint16_t port, const char *variant, enum hy_fate fate,
	int score, const char *reason);

/* What a function prints. Valid until the next call. */
const char *printed(int (*print)(const struct hy_hal *hal, FILE *out));
/* Whether a text is one JSON value. */
bool json_valid(const char *text);

int hal_setup(void **state);
int hal_teardown(void **state);
#define HAL_TEST(f) cmocka_unit_test_setup_teardown(f, hal_setup, hal_teardown)
