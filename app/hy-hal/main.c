/* SPDX-License-Identifier: BSD-3-Clause */
/* hy-hal: shows what the HAL finds in this machine, what it selects, and why. */

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
packs_load(const struct values *packs)
{
	char error[HY_PLUGIN_ERROR_SIZE];

	if (hy_plugin_load_list(secure_getenv(HY_PLUGIN_ENV), error) < 0)
		return refuse(HY_PLUGIN_ENV ": %s", hy_printable(error));
	for (unsigned int i = 0; i < packs->n; i++) {
		if (hy_plugin_load(packs->text[i], NULL, error) < 0)
			return refuse("--pack: %s", hy_printable(error));
	}
	return 0;
}

/* In this order: --cap takes precedence over --cap-file. */
static int
settings_apply(const struct settings *settings, struct hy_hal *hal)
{
	static const struct {
		enum list list;
		const char *option;
		int (*apply)(struct hy_hal *hal, const char *value, char *error);
	} steps[] = {
		{ CAP_FILES, "cap-file", hy_hal_override_file },
		{ CAPS, "cap", hy_hal_override },
		{ FORCE, "node", hy_hal_force },
		{ DENY, "deny", hy_hal_deny },
	};
	char error[HY_HAL_ERROR_SIZE];

	for (size_t s = 0; s < RTE_DIM(steps); s++) {
		const struct values *values = &settings->lists[steps[s].list];

		for (unsigned int i = 0; i < values->n; i++) {
			if (steps[s].apply(hal, values->text[i], error) == 0)
				continue;
			return refuse("--%s: %s", steps[s].option, hy_printable(error));
		}
	}
	return 0;
}

static int
run(const struct settings *settings)
{
	struct hy_hal *hal;
	int rc;

	if (packs_load(&settings->lists[PACKS]) < 0)
		return -1;
	if (hy_hal_create(&hal) < 0)
		return refuse("out of memory");
	rc = settings_apply(settings, hal);
	if (rc == 0 && settings->try_flows)
		rc = flows_try(hal);
	if (rc == 0)
		rc = settings->command->run(settings, hal);
	hy_hal_destroy(hal);
	return rc;
}

/*
 * Scans the PCI bus: an inventory shows devices that are bound to a DPDK driver. Log messages about
 * devices that are not bound are suppressed.
 */
static int
eal_start(void)
{
	char options[64];
	int rc;

	snprintf(options, sizeof(options), "--log-level=critical --lcores=0@%u", eal_first_cpu());
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
	split %= argc; /* 0: there are no options of EAL */
	if (settings_read(argc - split, argv + split, &settings) < 0)
		return EXIT_FAILURE;
	if ((split > 0 ? rte_eal_init(split, argv) : eal_start()) < 0) {
		fprintf(stderr, "hy-hal: EAL could not be initialised: %s\n",
			rte_errno == 0 ? "its log says why" : rte_strerror(rte_errno));
		return EXIT_FAILURE;
	}
	rc = run(&settings);
	rte_eal_cleanup();
	ended = hy_output_end("hy-hal");
	return rc < 0 ? EXIT_FAILURE : ended;
}
