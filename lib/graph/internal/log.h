/* SPDX-License-Identifier: BSD-3-Clause */
/* Log lines of the core: each says what was wrong, and what is accepted. */
#pragma once

#include <rte_log.h>

extern int hy_graph_logtype;

#define HY_LOG(level, ...) \
	rte_log(RTE_LOG_##level, hy_graph_logtype, \
		RTE_FMT("halyard: " RTE_FMT_HEAD(__VA_ARGS__, ) "\n", \
			RTE_FMT_TAIL(__VA_ARGS__, )))

/* Logs an error. Its value is rc, to be returned. */
#define HY_REFUSE(rc, ...) (HY_LOG(ERR, __VA_ARGS__), (rc))

/* Writes the reason of an error into a buffer instead, cut to its size. */
#define HY_REASON(rc, reason, size, ...) (snprintf(reason, size, __VA_ARGS__), (rc))
