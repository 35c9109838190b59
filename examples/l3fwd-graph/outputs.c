/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of the options that write reports. */

#include "outputs.h"

unsigned int
outputs_inputs(const struct options *options, struct hy_input inputs[INPUTS_MAX])
{
	unsigned int n = 0;

	if (options->routes != NULL)
		inputs[n++] = (struct hy_input){ "--routes", options->routes };
	if (options->policy != NULL)
		inputs[n++] = (struct hy_input){ "--policy", options->policy };
	for (unsigned int i = 0; i < options->nb_cap_files; i++)
		inputs[n++] = (struct hy_input){ "--cap-file", options->cap_files[i] };
	for (unsigned int i = 0; i < options->nb_packs; i++)
		inputs[n++] = (struct hy_input){ "--pack", options->packs[i] };
	return n;
}

int
outputs_open(const struct options *options, struct outputs *out)
{
	const struct {
		const char *option, *name;
		struct hy_document *document;
		bool dash;
	} all[] = {
		{ "--export-dot", options->dot, &out->dot, false },
		{ "--export-json", options->graph_json, &out->graph_json, false },
		{ "--json", options->json, &out->json, true },
		{ "--dump-routes", options->dump, &out->routes, true },
	};
	struct hy_input inputs[INPUTS_MAX];
	const unsigned int n = outputs_inputs(options, inputs);
	int rc = 0;

	*out = (struct outputs){ .people = stdout };
	for (unsigned int i = 0; i < RTE_DIM(all) && rc == 0; i++) {
		rc = hy_document_open(all[i].document, all[i].option, all[i].name, all[i].dash,
			inputs, n);
		if (all[i].document->standard)
			out->people = stderr; /* a report shares stdout with nothing */
	}
	return rc;
}

int
outputs_empty(struct outputs *out)
{
	struct hy_document *const all[] = { &out->dot, &out->graph_json, &out->json, &out->routes };
	int rc = 0;

	for (unsigned int i = 0; i < RTE_DIM(all) && rc == 0; i++)
		rc = hy_document_empty(all[i]);
	return rc;
}

void
outputs_close(struct outputs *out)
{
	hy_document_close(&out->dot);
	hy_document_close(&out->graph_json);
	hy_document_close(&out->json);
	hy_document_close(&out->routes);
}
