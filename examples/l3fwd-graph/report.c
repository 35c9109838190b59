/* SPDX-License-Identifier: BSD-3-Clause */
/* Features, classes and offloads in reports. */

#include <inttypes.h>
#include <stdlib.h>

#include <hy_terminal.h>

#include "pipeline.h"
#include "report.h"

void
report_picks(const void *arg, FILE *out)
{
	const struct pipeline *pipeline = arg;

	features_print(pipeline->options, out);
}

/* Prints each class with the packets that got it, as members of an object of JSON or as a table. */
static void
classes_print(const struct classes *classes, bool json, FILE *out)
{
	struct hy_policy_class *list = NULL;
	uint32_t n = 0;

	if (classes->policy != NULL && hy_policy_classes(classes->policy, &list, &n) < 0)
		hy_terminal_error("classes: out of memory");
	if (!json && n > 0)
		fprintf(out, "\nclass                   packets\n");
	for (uint32_t i = 0; i < n; i++) {
		const struct hy_policy_class *c = &list[i];

		if (json)
			fprintf(out, "%s\"%u\": %" PRIu64, i == 0 ? "" : ", ", c->class_id,
				c->hits);
		else
			fprintf(out, "%-18u %12" PRIu64 "\n", c->class_id, c->hits);
	}
	free(list);
}

void
report_table(const void *arg, FILE *out)
{
	const struct pipeline *pipeline = arg;

	classes_print(&pipeline->classes, false, out);
	if (pipeline->lists.acl != NULL)
		lists_print(&pipeline->lists, out);
	if (pipeline->offloads != NULL)
		fprintf(out, "\n");
	hy_offloads_print(pipeline->offloads, out);
}

void
report_json(const void *arg, FILE *out)
{
	const struct pipeline *pipeline = arg;

	fprintf(out, "  \"classes\": {");
	classes_print(&pipeline->classes, true, out);
	fprintf(out, "},\n  \"acl\": {");
	if (pipeline->lists.acl != NULL) /* hardware's counters were read for the table */
		hy_acl_json(pipeline->lists.acl, out);
	fprintf(out, "},\n  \"acl_offloads\": [");
	if (pipeline->lists.acl != NULL)
		hy_acl_offload_json(pipeline->lists.acl, out);
	fprintf(out, "],\n  \"offloads\": [");
	hy_offloads_json(pipeline->offloads, out);
	fprintf(out, "],\n");
}
