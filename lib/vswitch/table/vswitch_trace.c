/* SPDX-License-Identifier: BSD-3-Clause */
/* What a translation does, in words. Those of outcomes are where they come about. */

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include <hy_file.h>
#include <hy_vswitch_trace.h>

#include "lib/vswitch/text/vswitch_text.h"
#include "vswitch_translate.h"

#define LEVELS 32 /* that are indented; deeper ones are as these */
#define INDENT 4

/* Whether there is room for a line; the first that finds none says so. */
static bool
has_line(struct vswitch_trace *trace)
{
	if (trace->lines > HY_VSWITCH_TRACE_LINES)
		return false;
	if (trace->lines++ < HY_VSWITCH_TRACE_LINES)
		return true;
	fprintf(trace->out, "(more than %u lines: the others are left out)\n",
		HY_VSWITCH_TRACE_LINES);
	return false;
}

static int
indent_of(const struct vswitch_trace *trace)
{
	return INDENT * (int)RTE_MIN(trace->level, (uint32_t)LEVELS);
}

void
vswitch_trace_say(struct vswitch_flow *flow, const char *format, ...)
{
	struct vswitch_trace *trace = flow->trace;
	va_list args;

	if (!has_line(trace))
		return;
	fprintf(trace->out, "%*s >> ", indent_of(trace), "");
	va_start(args, format);
	vfprintf(trace->out, format, args);
	va_end(args);
	fputc('\n', trace->out);
}

/* A packet as a match. Bits of its key that no field has are told in words. */
static const char *
packet_text(struct vswitch_trace *trace, const struct hy_flows_key *key)
{
	struct vswitch_out out = { .text = trace->text };
	struct hy_flows_key mask;

	memset(&mask, 0xff, sizeof(mask));
	if ((key->kind & HY_FLOWS_FIRST_FRAGMENT) == 0)
		mask.kind = 0;
	for (uint32_t f = HY_VSWITCH_TUN_ID; f <= HY_VSWITCH_TUN_IPV6_DST; f++) {
		const struct vswitch_field *field = &vswitch_fields[f];
		static const uint8_t zero[16];

		if (memcmp((const uint8_t *)key + field->at, zero, field->size) == 0)
			memset((uint8_t *)&mask + field->at, 0, field->size);
	}
	out.at = hy_vswitch_match_format(key, &mask, trace->text);
	if (key->vlan2 != 0)
		vswitch_put(&out, " (inner tag 0x%04x)", rte_be_to_cpu_16(key->vlan2));
	if ((key->kind & HY_FLOWS_TRUNCATED) != 0)
		vswitch_put(&out, " (a header is cut or malformed)");
	return trace->text;
}

void
vswitch_trace_begin(struct vswitch_flow *flow)
{
	struct vswitch_trace *trace = flow->trace;

	trace->before = flow->key;
	if (flow->input == NULL)
		trace->before.port = 0;
	fprintf(trace->out, "Flow: %s\n\n", packet_text(trace, &trace->before));
	if (flow->input == NULL && (flow->key.kind & HY_FLOWS_TUNNELLED) != 0)
		vswitch_trace_say(flow, "dropped: no tunnel of the switch has these addresses");
	else if (flow->input == NULL)
		vswitch_trace_say(flow, "dropped: DPDK's port %u is no port of the switch",
			flow->key.port);
}

void
vswitch_trace_rule(struct vswitch_flow *flow, uint8_t table, const struct vswitch_entry *entry)
{
	struct vswitch_trace *trace = flow->trace;
	size_t n;

	if (!has_line(trace))
		return;
	fprintf(trace->out, "%*s%2u. ", indent_of(trace), "", table);
	if (entry == NULL) {
		fprintf(trace->out, "no match\n");
		return;
	}
	n = hy_vswitch_match_format(&entry->key, &entry->subtable->mask, trace->text);
	fprintf(trace->out, "%s%spriority %u", trace->text, n > 0 ? ", " : "", entry->priority);
	if (entry->cookie != 0)
		fprintf(trace->out, ", cookie 0x%" PRIx64, entry->cookie);
	fputc('\n', trace->out);
	if (entry->actions->n == 0 && has_line(trace))
		fprintf(trace->out, "%*sdrop\n", indent_of(trace) + INDENT, "");
}

void
vswitch_trace_action(struct vswitch_flow *flow, const struct hy_vswitch_action *action)
{
	struct vswitch_trace *trace = flow->trace;
	struct vswitch_out out = { .text = trace->text };

	if (!has_line(trace))
		return;
	trace->text[0] = '\0';
	vswitch_put_action(&out, action);
	fprintf(trace->out, "%*s%s\n", indent_of(trace), "", trace->text);
}

void
vswitch_trace_end(struct vswitch_flow *flow)
{
	static const char *const why[HY_VSWITCH_OUTCOMES] = {
		[HY_VSWITCH_TOO_DEEP] = "goes back to an earlier table too deep; the most is",
		[HY_VSWITCH_TOO_MANY] = "goes to tables too often; the most is",
		[HY_VSWITCH_TOO_LONG] = "its operations are too many; the most is",
	};
	static const uint32_t most[HY_VSWITCH_OUTCOMES] = {
		[HY_VSWITCH_TOO_DEEP] = HY_VSWITCH_DEPTH,
		[HY_VSWITCH_TOO_MANY] = HY_VSWITCH_RESUBMITS,
		[HY_VSWITCH_TOO_LONG] = HY_FLOW_OPS_LIST,
	};
	const uint8_t outcome = flow->answer->outcome;

	if (why[outcome] != NULL) /* said whether there is room or not */
		fprintf(flow->trace->out, "%*s >> dropped: %s %u\n", indent_of(flow->trace), "",
			why[outcome], most[outcome]);
}

static void
print_final(struct vswitch_flow *flow)
{
	struct vswitch_trace *trace = flow->trace;
	const struct hy_flows_key *before = &trace->before;

	fprintf(trace->out, "\nFinal flow: ");
	if (flow->mark != 0)
		fprintf(trace->out, "pkt_mark=0x%x,", flow->mark);
	if (flow->answer->outcome == HY_VSWITCH_NO_INPUT ||
		(flow->mark == 0 && memcmp(&flow->key, before, sizeof(*before)) == 0))
		fprintf(trace->out, "unchanged\n");
	else
		fprintf(trace->out, "%s\n", packet_text(trace, &flow->key));
}

static void
print_answer(struct vswitch_flow *flow)
{
	struct vswitch_trace *trace = flow->trace;
	struct hy_flows_key mask = flow->answer->mask, key;
	char ops[HY_FLOW_OPS_TEXT_SIZE];

	if (flow->answer->outcome == HY_VSWITCH_NO_INPUT)
		mask.port = 0;
	for (uint32_t w = 0; w < HY_FLOWS_WORDS; w++)
		key.words[w] = trace->before.words[w] & mask.words[w];
	hy_vswitch_match_format(&key, &mask, trace->text);
	fprintf(trace->out, "Megaflow: %s\n", trace->text);
	hy_flow_ops_format(flow->answer->ops, flow->answer->nb_ops, ops);
	fprintf(trace->out, "Operations: %s\n", ops);
}

int
hy_vswitch_trace(struct hy_vswitch *vswitch, const struct hy_flows_key *key, FILE *out)
{
	struct hy_vswitch_answer *answer = malloc(sizeof(*answer));
	struct vswitch_trace trace = { 0 };
	struct vswitch_flow flow;
	char *bytes = NULL;
	size_t size = 0;
	int rc = -ENOMEM;

	trace.out = open_memstream(&bytes, &size); /* whoever reads `out` may be slow */
	if (trace.out != NULL && answer != NULL) {
		vswitch_translate(vswitch, key, answer, &trace, &flow);
		print_final(&flow);
		print_answer(&flow);
		rc = 0;
	}
	if (trace.out != NULL && fclose(trace.out) != 0)
		rc = -ENOMEM;
	if (rc == 0) {
		fwrite(bytes, 1, size, out);
		rc = hy_output_flush(out);
	}
	free(bytes);
	free(answer);
	return rc;
}
