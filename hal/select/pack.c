/* SPDX-License-Identifier: BSD-3-Clause */
/* Packs, told by what they brought: nobody keeps a list of them. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <hy_file.h>
#include <hy_flow.h>

#include "hal/internal/hal.h"
#include "lib/file/internal/json.h"

/* A variant, or a flow driver, which has no family. */
struct item {
	const char *pack;
	const char *family;
	const char *name;
};

struct items {
	struct item *list; /* by pack; variants, then flow drivers; by name */
	unsigned int n;
};

static int
item_order(const void *a, const void *b)
{
	const struct item *ia = a, *ib = b;
	int order = strcmp(ia->pack, ib->pack);

	if (order == 0)
		order = (ia->family == NULL) - (ib->family == NULL);
	if (order == 0 && ia->family != NULL)
		order = strcmp(ia->family, ib->family);
	return order != 0 ? order : strcmp(ia->name, ib->name);
}

/* What was made by hand may name no pack. */
static int
item_add(struct items *items, const char *pack, const char *family, const char *name)
{
	struct item *list;

	if (pack == NULL)
		return 0;
	list = realloc(items->list, (items->n + 1) * sizeof(*list));
	if (list == NULL)
		return -ENOMEM;
	items->list = list;
	list[items->n++] = (struct item){ pack, family, name };
	return 0;
}

static int
items_collect(struct items *items)
{
	const struct hy_family *const *families;
	const struct hy_variant *const *variants;
	const struct hy_flow_driver *const *drivers;
	const unsigned int nb_families = hy_families(&families);
	const unsigned int nb_drivers = hy_flow_drivers(&drivers);
	int rc = 0;

	for (unsigned int f = 0; f < nb_families; f++) {
		const unsigned int n = hy_variants(families[f], &variants);

		for (unsigned int v = 0; rc == 0 && v < n; v++)
			rc = item_add(items, variants[v]->pack, variants[v]->family,
				variants[v]->impl.variant);
	}
	for (unsigned int d = 0; rc == 0 && d < nb_drivers; d++)
		rc = item_add(items, drivers[d]->pack, NULL, drivers[d]->driver);
	if (rc == 0 && items->n > 0)
		qsort(items->list, items->n, sizeof(*items->list), item_order);
	return rc;
}

static bool
starts_pack(const struct items *items, unsigned int i)
{
	return i == 0 || strcmp(items->list[i - 1].pack, items->list[i].pack) != 0;
}

static void
print(const struct items *items, FILE *out)
{
	for (unsigned int i = 0; i < items->n; i++) {
		const struct item *item = &items->list[i];

		if (starts_pack(items, i))
			fprintf(out, "%s\n", item->pack);
		if (item->family != NULL)
			fprintf(out, "    %s/%s\n", item->family, item->name);
		else
			fprintf(out, "    flow rules of %s\n", item->name);
	}
}

/* Writes a list of the items from i on that are of its pack and its kind; returns where it ends. */
static unsigned int
list_json(const struct items *items, unsigned int i, const char *pack, bool drivers, FILE *out)
{
	const char *comma = "";

	fprintf(out, "[");
	for (; i < items->n; i++) {
		const struct item *item = &items->list[i];

		if (strcmp(item->pack, pack) != 0 || (item->family == NULL) != drivers)
			break;
		if (item->family != NULL)
			fprintf(out, "%s\"%s/%s\"", comma, item->family, item->name);
		else {
			fprintf(out, "%s", comma);
			hy_json_string(item->name, out);
		}
		comma = ", ";
	}
	fprintf(out, "]");
	return i;
}

static void
print_json(const struct items *items, FILE *out)
{
	fprintf(out, "{\"packs\": [");
	for (unsigned int i = 0; i < items->n;) {
		const char *pack = items->list[i].pack;

		fprintf(out, "%s\n  {\"pack\": ", i > 0 ? "," : "");
		hy_json_string(pack, out);
		fprintf(out, ", \"variants\": ");
		i = list_json(items, i, pack, false, out);
		fprintf(out, ", \"flow_drivers\": ");
		i = list_json(items, i, pack, true, out);
		fprintf(out, "}");
	}
	fprintf(out, "\n]}\n");
}

static int
write_packs(void (*write)(const struct items *items, FILE *out), FILE *out)
{
	struct items items = { 0 };
	int rc = items_collect(&items);

	if (rc == 0) {
		write(&items, out);
		rc = hy_output_flush(out);
	}
	free(items.list);
	return rc;
}

int
hy_packs_print(FILE *out)
{
	return write_packs(print, out);
}

int
hy_packs_json(FILE *out)
{
	return write_packs(print_json, out);
}
