/* SPDX-License-Identifier: BSD-3-Clause */
/* One log line: what was wrong, and what is accepted. */
#ifndef HY_GRAPH_LOG_H
#define HY_GRAPH_LOG_H

#include <rte_log.h>

extern int hy_graph_logtype;

#define HY_LOG(level, ...) \
	rte_log(RTE_LOG_##level, hy_graph_logtype, \
		RTE_FMT("halyard: " RTE_FMT_HEAD(__VA_ARGS__, ) "\n", \
			RTE_FMT_TAIL(__VA_ARGS__, )))

#endif
