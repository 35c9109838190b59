/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists packs by what they registered: there is no list of packs. */

#include <string.h>

#include <hy_file.h>
#include <hy_flow.h>

#include "hal/internal/hal.h"
#include "lib/file/internal/json.h"

/* The first of two names that comes after `last`; a declaration without a macro has no pack. */
static const char *
first_after(const char *last, const char *a, const char *b)
{
	const bool b_counts = b != NULL && strcmp(b, last) > 0;

	return b_counts && (a == NULL || strcmp(b, a) < 0) ? b : a;
}

/* The next pack by name; NULL: there is none. */
static const char *
pack_next(const char *last)
{
	const struct hy_family *const *families;
	const struct hy_variant *const *variants;
	const struct hy_flow_driver *const *drivers;
	const unsigned int nb_families = hy_families(&families);
	const unsigned int nb_drivers = hy_flow_drivers(&drivers);
	const char *next = NULL;

	for (unsigned int f = 0; f < nb_families; f++) {
		const unsigned int n = hy_variants(families[f], &variants);

		for (unsigned int v = 0; v < n; v++)
			next = first_after(last, next, variants[v]->pack);
	}
	for (unsigned int d = 0; d < nb_drivers; d++)
		next = first_after(last, next, drivers[d]->pack);
	return next;
}

/* The next pattern by name of a pack's flow drivers; NULL: there is none. */
static const char *
driver_next(const char *pack, const char *last)
{
	const struct hy_flow_driver *const *drivers;
	const unsigned int n = hy_flow_drivers(&drivers);
	const char *next = NULL;

	for (unsigned int d = 0; d < n; d++)
		if (drivers[d]->pack != NULL && strcmp(drivers[d]->pack, pack) == 0)
			next = first_after(last, next, drivers[d]->driver);
	return next;
}

/* Families and variants are sorted by name. */
static void
variants_write(const char *pack, const char *format, const char *between, FILE *out)
{
	const struct hy_family *const *families;
	const struct hy_variant *const *variants;
	const unsigned int nb_families = hy_families(&families);
	const char *comma = "";

	for (unsigned int f = 0; f < nb_families; f++) {
		const unsigned int n = hy_variants(families[f], &variants);

		for (unsigned int v = 0; v < n; v++) {
			if (variants[v]->pack == NULL || strcmp(variants[v]->pack, pack) != 0)
				continue;
			fprintf(out, format, comma, variants[v]->family, variants[v]->impl.variant);
			comma = between;
		}
	}
}

int
hy_packs_print(FILE *out)
{
	for (const char *pack = ""; (pack = pack_next(pack)) != NULL;) {
		fprintf(out, "%s\n", pack);
		variants_write(pack, "%s    %s/%s\n", "", out);
		for (const char *driver = ""; (driver = driver_next(pack, driver)) != NULL;)
			fprintf(out, "    flow rules of %s\n", driver);
	}
	return hy_output_flush(out);
}

int
hy_packs_json(FILE *out)
{
	const char *comma = "";

	fprintf(out, "{\"packs\": [");
	for (const char *pack = ""; (pack = pack_next(pack)) != NULL; comma = ",") {
		const char *between = "";

		fprintf(out, "%s\n  {\"pack\": ", comma);
		hy_json_string(pack, out);
		fprintf(out, ", \"variants\": [");
		variants_write(pack, "%s\"%s/%s\"", ", ", out);
		fprintf(out, "], \"flow_drivers\": [");
		for (const char *driver = ""; (driver = driver_next(pack, driver)) != NULL;) {
			fputs(between, out);
			hy_json_string(driver, out);
			between = ", ";
		}
		fprintf(out, "]}");
	}
	fprintf(out, "\n]}\n");
	return hy_output_flush(out);
}
