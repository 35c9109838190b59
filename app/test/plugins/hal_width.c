/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints the inventory under EAL options of its own, and then what forcing a variant of ip4_lookup
 * comes to: the vector width that the user forced holds for the life of a process.
 * Usage: PROGRAM BITS VARIANT
 */

#include <stdio.h>

#include <rte_eal.h>

#include <hy_hal.h>

int
main(int argc, char **argv)
{
	char width[64], spec[64];
	char args[][32] = { "--no-huge", "-m", "32", "--no-pci", "--no-shconf", "--no-telemetry",
		"--log-level=lib.eal:error" };
	char *eal[RTE_DIM(args) + 2] = { argv[0] };
	char error[HY_HAL_ERROR_SIZE] = "none";
	struct hy_hal *hal;
	int rc;

	if (argc != 3)
		return 2;
	for (size_t i = 0; i < RTE_DIM(args); i++)
		eal[i + 1] = args[i];
	snprintf(width, sizeof(width), "--force-max-simd-bitwidth=%s", argv[1]);
	eal[RTE_DIM(args) + 1] = width;
	if (rte_eal_init(RTE_DIM(eal), eal) < 0 || hy_hal_create(&hal) < 0)
		return 2;
	hy_hal_inventory_print(hal, stdout);
	rc = hy_hal_select(hal, error);
	printf("select: %d %s\n", rc, error);
	hy_hal_explain(hal, stdout);
	snprintf(spec, sizeof(spec), "ip4_lookup=%s", argv[2]);
	rc = hy_hal_force(hal, spec, error);
	if (rc == 0)
		rc = hy_hal_select(hal, error);
	printf("forced: %d %s\n", rc, error);
	hy_hal_destroy(hal);
	return 0;
}
