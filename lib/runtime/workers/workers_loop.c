/* SPDX-License-Identifier: BSD-3-Clause */
/* The control thread, while workers walk. */

#include <errno.h>

#include <rte_cycles.h>

#include <hy_ports.h>
#include <hy_privileges.h>
#include <hy_signals.h>
#include <hy_terminal.h>

#include "workers.h"

#define TICK_US 1000

static void
ports_poll(const struct hy_workers *workers, FILE *out)
{
	char error[HY_HAL_ERROR_SIZE];

	const int rc = hy_ports_poll(workers->graphs, workers->nb, out, error);

	if (rc < 0)
		hy_terminal_error("%s%s", error,
			rc == -EIO && hy_privileges_dropped()
				? "; it was set up without the rights that --user gave up"
				: "");
}

int
hy_workers_run(struct hy_workers *workers, const struct hy_loop *loop)
{
	const uint64_t start = rte_rdtsc(), length = loop->seconds * rte_get_tsc_hz();
	struct hy_quiet quiet = { .ms = loop->quiet_ms };
	const int rc = hy_workers_launch(workers);

	if (rc < 0)
		return rc;
	while (!hy_stopping()) {
		const uint64_t now = rte_rdtsc();

		rte_delay_us_sleep(TICK_US);
		if (loop->out != NULL)
			ports_poll(workers, loop->out);
		if (loop->tick != NULL)
			loop->tick(loop->arg);
		if (length > 0 && now - start >= length)
			hy_stop();
		if (quiet.ms > 0 && hy_workers_quiet(workers, &quiet))
			hy_stop();
	}
	hy_workers_join(workers);
	hy_quiet_free(&quiet);
	return 0;
}
