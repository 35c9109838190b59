/* SPDX-License-Identifier: BSD-3-Clause */
/* hy-hal: what the HAL finds in this machine, what it selects, and why. */

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>

#include <hy_file.h>
#include <hy_plugin.h>

#include "app/eal.h"
#include "command.h"

const struct command commands[] = {
	{ "inventory", "capabilities of the process and of devices, and their origin", "jpcfth",
		show_inventory },
	{ "explain", "the selected variants, and the fate of every other one", "jgpndcfth",
		show_explain },
	{ "packs", "packs, with their variants and flow drivers", "jph", show_packs },
	{ "selftest", "compare each variant with its family's reference, and measure it",
		"jpndcfFVNlPsh", selftest },
	{ "report", "all of the above, and what each port accepts, in one file", "jpndcfFVsLqh",
		report, "FILE" },
	{ NULL },
};

static int
packs_load(const struct settings *settings)
{
	char error[HY_PLUGIN_ERROR_SIZE];

	if (hy_plugin_load_list(secure_getenv(HY_PLUGIN_ENV), error) < 0) {
		fprintf(stderr, "hy-hal: " HY_PLUGIN_ENV ": %s\n", hy_printable(error));
		return -1;
	}
	for (unsigned int i = 0; i < settings->nb_packs; i++) {
		if (hy_plugin_load(settings->packs[i], NULL, error) < 0) {
			fprintf(stderr, "hy-hal: --pack: %s\n", hy_printable(error));
			return -1;
		}
	}
	return 0;
}

/* Applies one option's values; names the option that is refused. */
static int
apply(struct hy_hal *hal, const char *option, const char *const *values, unsigned int n,
	int (*one)(struct hy_hal *hal, const char *value, char *error))
{
	char error[HY_HAL_ERROR_SIZE];

	for (unsigned int i = 0; i < n; i++) {
		if (one(hal, values[i], error) < 0) {
			fprintf(stderr, "hy-hal: --%s: %s\n", option, hy_printable(error));
			return -1;
		}
	}
	return 0;
}

static int
settings_apply(const struct settings *s, struct hy_hal *hal)
{
	int rc = apply(hal, "cap-file", s->cap_files, s->nb_cap_files, hy_hal_override_file);

	if (rc == 0)
		rc = apply(hal, "cap", s->caps, s->nb_caps, hy_hal_override);
	if (rc == 0)
		rc = apply(hal, "node", s->force, s->nb_force, hy_hal_force);
	if (rc == 0)
		rc = apply(hal, "deny", s->deny, s->nb_deny, hy_hal_deny);
	return rc;
}

static int
run(const struct settings *settings)
{
	struct hy_hal *hal;
	int rc;

	if (packs_load(settings) < 0)
		return -1;
	if (hy_hal_create(&hal) < 0) {
		fprintf(stderr, "hy-hal: out of memory\n");
		return -1;
	}
	rc = settings_apply(settings, hal);
	if (rc == 0 && settings->try_flows)
		rc = flows_try(hal);
	if (rc == 0)
		rc = settings->command->run(settings, hal);
	hy_hal_destroy(hal);
	return rc;
}

/* The first CPU that the process may run on. */
static unsigned int
first_cpu(void)
{
	unsigned int cpu = 0;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &set))
			cpu++;
	return cpu;
}

/*
 * The PCI bus is looked at: devices that are bound to a driver of DPDK are what an inventory is for.
 * Those that are not are passed by in silence.
 */
static int
eal_start(void)
{
	char options[64];
	int rc;

	snprintf(options, sizeof(options), "--log-level=critical --lcores=0@%u", first_cpu());
	rc = eal_init("hy-hal", 512, 512, options);
	if (rc >= 0)
		rte_log_set_global_level(RTE_LOG_WARNING);
	return rc;
}

int
main(int argc, char **argv)
{
	struct settings settings;
	int split = 1, rc, ended;

	if (hy_file_prepare() < 0)
		return EXIT_FAILURE;
	while (split < argc && strcmp(argv[split], "--") != 0)
		split++;
	if (split < argc)
		rc = settings_read(argc - split, argv + split, &settings);
	else
		rc = settings_read(argc, argv, &settings);
	if (rc < 0)
		return EXIT_FAILURE;
	if ((split < argc ? rte_eal_init(split, argv) : eal_start()) < 0) {
		fprintf(stderr, "hy-hal: EAL could not be initialised: %s\n",
			rte_strerror(rte_errno));
		return EXIT_FAILURE;
	}
	rc = run(&settings);
	rte_eal_cleanup();
	ended = hy_output_end("hy-hal");
	return rc < 0 ? EXIT_FAILURE : ended;
}
