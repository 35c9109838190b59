/* SPDX-License-Identifier: BSD-3-Clause */
/* Options for what the HAL selects: see hy_hal_options.h. */

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include <hy_file.h>
#include <hy_hal_live.h>
#include <hy_hal_options.h>
#include <hy_plugin.h>

static int
read_explain(const char *text, void *to)
{
	struct hy_hal_options *o = to;

	if (text != NULL && strcmp(text, "json") != 0)
		return hy_option_refuse("--explain", "'%s' is not json", text);
	o->explain = text == NULL ? HY_EXPLAIN_TEXT : HY_EXPLAIN_JSON;
	return 0;
}

#define AT(field) offsetof(struct hy_hal_options, field)

static const struct hy_option options[] = {
	{ "node", HY_OPTION_LIST, AT(force), "FAMILY[@PORT]=VARIANT", "force a variant" },
	{ "deny", HY_OPTION_LIST, AT(deny), "FAMILY[@PORT]=VARIANT", "exclude a variant" },
	{ "cap", HY_OPTION_LIST, AT(caps), "TARGET.CAPABILITY=LEVEL[:VALUE]",
		"override a capability, as in port0.rx_mark=no" },
	{ "cap-file", HY_OPTION_LIST, AT(cap_files), "FILE",
		"overrides, one per line; --cap takes precedence" },
	{ "pack", HY_OPTION_LIST, AT(packs), "FILE",
		"load nodes and variants from a shared object, after the files of HALYARD_PACKS, "
		"FILE[:FILE...]" },
	{ "explain", HY_OPTION_MAYBE, .read = read_explain, .value = "[=json]",
		.help = "print what the HAL selects and why, and exit",
		.excludes = "json export-dot export-json trace capture dump-routes",
		.why = "it forwards nothing" },
};

struct hy_option_group
hy_hal_options(struct hy_hal_options *o)
{
	*o = (struct hy_hal_options){ .explain = HY_EXPLAIN_NO };
	return (struct hy_option_group){ "Variants", options, RTE_DIM(options), o, NULL };
}

/*
 * Reads a pack before the dynamic linker does, which could not be stopped while a disk does not answer.
 * What else is wrong with the file is for hy_plugin_load() to say.
 */
static int
pack_read(const char *option, const char *path)
{
	char why[HY_FILE_ERROR_SIZE];
	struct hy_file file;
	const int rc = hy_file_read(path, HY_FILE_MAX, &file, why);

	hy_file_free(&file);
	if (rc != -EINTR && rc != -ETIMEDOUT)
		return 0;
	hy_option_refuse(option, "%s: %s", path, why);
	return rc;
}

static int
packs_load(const struct hy_option_list *packs)
{
	const char *list = secure_getenv(HY_PLUGIN_ENV);
	char error[HY_PLUGIN_ERROR_SIZE], *copy = list == NULL ? NULL : strdup(list), *rest = copy;
	int rc = 0;

	while (rest != NULL && rc == 0)
		rc = pack_read(HY_PLUGIN_ENV, strsep(&rest, ":"));
	free(copy);
	if (rc < 0)
		return rc;
	if (hy_plugin_load_list(list, error) < 0)
		return hy_option_refuse(HY_PLUGIN_ENV, "%s", error);
	for (unsigned int i = 0; i < packs->n && rc == 0; i++) {
		rc = pack_read("--pack", packs->texts[i]);
		if (rc == 0 && hy_plugin_load(packs->texts[i], NULL, error) < 0)
			rc = hy_option_refuse("--pack", "%s", error);
	}
	return rc;
}

/* Hands the values of one option to the HAL. */
static int
apply(struct hy_hal *hal, const char *option, const struct hy_option_list *list,
	int (*one)(struct hy_hal *hal, const char *value, char *error))
{
	char error[HY_HAL_ERROR_SIZE] = "out of memory";
	int rc = 0;

	for (unsigned int i = 0; i < list->n && rc == 0; i++) {
		rc = one(hal, list->texts[i], error);
		if (rc < 0)
			hy_option_refuse(option, "%s", error);
	}
	return rc; /* -EINTR: a file was not read because of a stop */
}

static int
hal_prepare(const struct hy_hal_options *o, const struct hy_port_options *ports, struct hy_hal *hal)
{
	int rc;

	for (uint16_t p = 0; ports != NULL && p < RTE_MAX_ETHPORTS; p++)
		if (!hy_port_chosen(ports, p))
			hy_hal_port_ignore(hal, p);
	/* Before ports run: one that asks for a reset asks once. */
	rc = hy_terminal_report("events of ports", hy_hal_watch(hal));
	if (rc == 0)
		rc = apply(hal, "--cap-file", &o->cap_files, hy_hal_override_file);
	if (rc == 0)
		rc = apply(hal, "--cap", &o->caps, hy_hal_override);
	if (rc == 0)
		rc = apply(hal, "--node", &o->force, hy_hal_force);
	return rc == 0 ? apply(hal, "--deny", &o->deny, hy_hal_deny) : rc;
}

int
hy_hal_begin(const struct hy_hal_options *o, const struct hy_port_options *ports,
	struct hy_hal **hal)
{
	int rc = packs_load(&o->packs);

	*hal = NULL;
	if (rc < 0)
		return rc;
	rc = hy_hal_create(hal);
	if (rc < 0)
		hy_terminal_error("out of memory");
	else
		rc = hal_prepare(o, ports, *hal);
	if (rc < 0) {
		hy_hal_destroy(*hal);
		*hal = NULL;
	}
	return rc;
}

/* Says why there is no selection, and which options restrict it. */
static int
refuse(const struct hy_hal_options *o, const char *error)
{
	return hy_option_refuse(o->force.n == 0
			? o->deny.n == 0 ? "variants" : "variants with --deny"
			: o->deny.n == 0 ? "--node"
					 : "--node with --deny",
		"%s", error);
}

int
hy_hal_options_plan(const struct hy_hal_options *o, struct hy_hal *hal)
{
	char error[HY_HAL_ERROR_SIZE] = "out of memory";

	return hy_hal_plan(hal, error) < 0 ? refuse(o, error) : 0;
}

int
hy_hal_options_select(const struct hy_hal_options *o, struct hy_hal *hal)
{
	char error[HY_HAL_ERROR_SIZE] = "out of memory";

	hy_hal_probe(hal);
	return hy_hal_select(hal, error) < 0 ? refuse(o, error) : 0;
}

static void
packs_print(void)
{
	const struct hy_plugin *plugin = NULL;

	while ((plugin = hy_plugin_next(plugin)) != NULL) {
		const struct hy_plugin_info *info = hy_plugin_describe(plugin);
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s", info->path);
		printf("pack %s %s, %s: %s\n", info->name, info->version, hy_printable(path),
			info->text);
	}
}

int
hy_hal_options_explain(const struct hy_hal_options *o, const struct hy_hal *hal)
{
	int rc;

	if (o->explain == HY_EXPLAIN_JSON) {
		rc = hy_hal_explain_json(hal, stdout);
	} else {
		packs_print();
		rc = hy_hal_inventory_print(hal, stdout);
		printf("\n");
		if (rc == 0)
			rc = hy_hal_explain(hal, stdout);
	}
	return hy_terminal_report("--explain: standard output", rc);
}
