/* SPDX-License-Identifier: BSD-3-Clause */
/* See outline.h. */

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <hy_file.h>

#include "lib/file/internal/json.h"
#include "outline.h"

#define INDENT 4

/* Begins a line of text or a JSON member. */
static void
begin(struct outline *o, const char *name)
{
	if (o->json) {
		fprintf(o->out, "%s\n%*s", o->filled ? "," : "", 2 * (int)o->depth, "");
		if (name != NULL)
			fprintf(o->out, "\"%s\": ", name);
	} else if (name != NULL && o->row && o->filled) {
		fprintf(o->out, "; %s:", name);
	} else if (name != NULL) {
		if (o->depth == 0)
			fputc('\n', o->out);
		fprintf(o->out, "%*s%s%s:", INDENT * (int)o->depth - (o->dash ? 2 : 0), "",
			o->dash ? "- " : "", name);
		o->dash = false;
	}
	o->filled = true;
}

static void
end(struct outline *o)
{
	if (!o->json && !o->row)
		fputc('\n', o->out);
}

static void
open_with(struct outline *o, const char *name, char bracket)
{
	begin(o, name);
	if (o->json)
		fputc(bracket, o->out);
	else if (name != NULL)
		fputc('\n', o->out);
	o->filled = false;
	o->depth++;
}

static void
close_with(struct outline *o, char bracket)
{
	o->depth--;
	if (o->json && o->filled)
		fprintf(o->out, "\n%*s", 2 * (int)o->depth, "");
	if (o->json)
		fputc(bracket, o->out);
	o->filled = true;
}

void
outline_open(struct outline *o, const char *name)
{
	open_with(o, name, '{');
}

void
outline_close(struct outline *o)
{
	close_with(o, '}');
}

void
outline_item(struct outline *o)
{
	open_with(o, NULL, '{');
	o->dash = true;
}

void
outline_row(struct outline *o)
{
	outline_item(o);
	o->row = true;
}

void
outline_row_close(struct outline *o)
{
	o->row = false;
	end(o);
	outline_close(o);
}

/* In text, a list is not indented, but its items are. */
void
outline_list(struct outline *o, const char *name)
{
	open_with(o, name, '[');
	o->depth -= !o->json;
}

void
outline_list_close(struct outline *o)
{
	o->depth += !o->json;
	if (!o->json && !o->filled)
		fprintf(o->out, "%*snone\n", INDENT * (int)o->depth, "");
	close_with(o, ']');
}

static void
string(struct outline *o, const char *text, bool version)
{
	char *const clean = clean_text(o->cleaner, text, version);

	if (clean == NULL) {
		o->rc = -ENOMEM;
		return;
	}
	hy_printable(clean);
	if (o->json)
		hy_json_string(clean, o->out);
	else
		fputs(clean, o->out);
	free(clean);
}

void
outline_words(struct outline *o, const char *name)
{
	begin(o, name);
	if (o->json)
		fputc('[', o->out);
	o->filled = false;
}

void
outline_word(struct outline *o, const char *word)
{
	fputs(!o->json ? " " : o->filled ? ", " : "", o->out);
	string(o, word, false);
	o->filled = true;
}

void
outline_words_close(struct outline *o)
{
	if (o->json)
		fputc(']', o->out);
	else if (!o->filled)
		fputs(" none", o->out);
	end(o);
	o->filled = true;
}

static void
value(struct outline *o, const char *name, const char *text, bool version)
{
	begin(o, name);
	if (!o->json)
		fputc(' ', o->out);
	string(o, text, version);
	end(o);
}

void
outline_text(struct outline *o, const char *name, const char *format, ...)
{
	char *text;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vasprintf(&text, format, ap);
	va_end(ap);
	if (n < 0) {
		o->rc = -ENOMEM;
		return;
	}
	value(o, name, text, false);
	free(text);
}

void
outline_version(struct outline *o, const char *name, const char *text)
{
	value(o, name, text, true);
}

void
outline_number(struct outline *o, const char *name, uint64_t number)
{
	begin(o, name);
	fprintf(o->out, "%s%" PRIu64, o->json ? "" : " ", number);
	end(o);
}

void
outline_flag(struct outline *o, const char *name, bool flag)
{
	begin(o, name);
	if (o->json)
		fputs(flag ? "true" : "false", o->out);
	else
		fputs(flag ? " yes" : " no", o->out);
	end(o);
}

static void
lines_indented(struct outline *o, char *text)
{
	for (char *line; (line = strsep(&text, "\n")) != NULL;)
		if (*line != '\0')
			fprintf(o->out, "%*s%s\n", INDENT * (int)(o->depth + 1), "",
				hy_printable(line));
		else if (text != NULL && *text != '\0')
			fputc('\n', o->out);
}

void
outline_embed(struct outline *o, const char *name, const char *written)
{
	char *const clean = o->json ? clean_json(o->cleaner, written)
				    : clean_text(o->cleaner, written, false);
	char *from = clean, *to;

	if (clean == NULL) {
		o->rc = -ENOMEM;
		return;
	}
	if (!o->json) {
		begin(o, name);
		fputc('\n', o->out);
		lines_indented(o, clean);
		free(clean);
		return;
	}
	to = strrchr(clean, '}');
	if (to != NULL && name == NULL) {
		from = strchr(clean, '{') + 1;
		while (to > from && strchr(" \n", to[-1]) != NULL)
			to--;
		while (from < to && strchr(" \n", *from) != NULL)
			from++;
	} else if (to != NULL) {
		to++;
	}
	begin(o, name);
	fprintf(o->out, "%.*s", to == NULL ? 0 : (int)(to - from), from);
	free(clean);
}
