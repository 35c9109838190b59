/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes the user's overrides of the HAL: --cap-file, and, line by line, --cap, --node and --deny.
 * A refused line must leave the HAL unchanged.
 */

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "hal/internal/hal.h"
#include "hal/inventory/override.h"

static struct hy_hal *hal;

static void
overrides_init(void)
{
	FUZZ_CHECK(hy_hal_create(&hal) == 0);
	FUZZ_CHECK(hy_hal_probe(hal) == 0);
}

static void
forget(void)
{
	free(hal->overrides);
	free(hal->rules);
	hal->overrides = NULL;
	hal->rules = NULL;
	hal->nb_overrides = hal->nb_rules = 0;
	FUZZ_CHECK(hy_hal_probe(hal) == 0);
}

static char *
inventory(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	FUZZ_CHECK(out != NULL && hy_hal_inventory_json(hal, out) == 0);
	fclose(out);
	return text;
}

static bool
read_file(const uint8_t *bytes, size_t size)
{
	char *before = inventory(), *after, error[HY_HAL_ERROR_SIZE] = "";
	const char *path = fuzz_file(bytes, size);
	const bool good = hy_hal_override_file(hal, path, error) == 0;

	if (!good) {
		FUZZ_CHECK(hal->nb_overrides == 0);
		FUZZ_CHECK(strstr(error, path) != NULL);
		fuzz_check_message(error);
		after = inventory();
		FUZZ_CHECK(strcmp(before, after) == 0);
		free(after);
	}
	for (unsigned int i = 0; i < hal->nb_overrides; i++) {
		struct hy_override again;

		FUZZ_CHECK(hy_override_parse(hal->overrides[i].text, &again, error) == 0);
		FUZZ_CHECK(again.cap == hal->overrides[i].cap &&
			again.level == hal->overrides[i].level &&
			again.value == hal->overrides[i].value);
	}
	free(before);
	return good && hal->nb_overrides > 0;
}

static bool
read_line(const char *line)
{
	static int (*const reads[])(struct hy_hal *, const char *, char *) = { hy_hal_override,
		hy_hal_force, hy_hal_deny };
	bool good = false;

	for (size_t r = 0; r < RTE_DIM(reads); r++) {
		const unsigned int n = hal->nb_overrides + hal->nb_rules;
		char error[HY_HAL_ERROR_SIZE] = "";
		const int rc = reads[r](hal, line, error);

		if (rc < 0) {
			FUZZ_CHECK(error[0] != '\0' && hal->nb_overrides + hal->nb_rules == n);
			continue;
		}
		good = true;
	}
	return good;
}

static bool
overrides_one(const uint8_t *bytes, size_t size)
{
	bool good = read_file(bytes, size);
	char *text = strndup((const char *)bytes, size), *rest = text, *line;

	FUZZ_CHECK(text != NULL);
	forget();
	while ((line = strsep(&rest, "\n")) != NULL)
		good |= read_line(line);
	free(text);
	forget();
	return good;
}

static const char *const texts[] = {
	"port0.rx_mark=no\n",
	"# a NIC\nnet_null.rx_ptype_ip4=unknown\nnet_*.rx_mark=yes:0xffff # all\r\n",
	"process.simd_bits=yes:128\nprocess.avx512=no\nevent0.running=no",
	"ip4_lookup=scalar\nethdev_rx@0=plain\nevent0:port1.running=yes:1\n",
	"ip4_rewrite=avx2\npkt_cls@1=scalar\n",
	NULL,
};

const struct fuzz_target fuzz_overrides = {
	.name = "overrides", .init = overrides_init, .one = overrides_one, .texts = texts
};
