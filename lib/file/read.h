/* SPDX-License-Identifier: BSD-3-Clause */
/* What the thread that reads a file does, and what it shares with the one that waits. */
#pragma once

#include <stdatomic.h>

#include <hy_file.h>

/* hy_file_read() without a limit on time; *steps grows with each answer of the file system. */
int hy_file_read_here(const char *path, size_t max, struct hy_file *file, atomic_uint *steps,
	char *error);
