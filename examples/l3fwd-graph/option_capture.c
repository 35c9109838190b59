/* SPDX-License-Identifier: BSD-3-Clause */
/* The value of --capture: FILE and words with commas between. */

#include <string.h>

#include "option.h"
#include "options.h"

#define OPTION "--capture"
#define ACCEPTED \
	"at=NODE, at=NODE/TARGET, at=NODE:REASON, src=PREFIX, dst=PREFIX, proto=NUMBER, max=N, " \
	"snaplen=N, ring=BYTES and fifo"

/* What is behind "key=" in a word; NULL if it is another key. */
static char *
value_of(char *word, const char *key)
{
	const size_t len = strlen(key);

	return strncmp(word, key, len) == 0 && word[len] == '=' ? word + len + 1 : NULL;
}

static int
read_point(char *text, struct capture_options *capture)
{
	struct hy_capture_point *point = &capture->points[capture->nb_points];
	char *out = text + strcspn(text, "/:!"); /* ! as before, which shells expand */
	const char way = *out;

	if (capture->nb_points == HY_CAPTURE_POINTS)
		return option_refuse(OPTION, "more than %d points", HY_CAPTURE_POINTS);
	if (way != '\0')
		*out++ = '\0';
	if (!hy_name_valid(text) || (way != '\0' && !hy_name_valid(out)))
		return option_refuse(OPTION,
			"'at=%s%.1s%s' is not at=NODE, at=NODE/TARGET or "
			"at=NODE:REASON",
			text, &way, way == '\0' ? "" : out);
	*point = (struct hy_capture_point){ .node = text,
		.edge = way == '/' ? out : NULL,
		.drop = way == ':' || way == '!' ? out : NULL };
	capture->nb_points++;
	return 0;
}

/* Telemetry answers with the words alone, so that they name the key, too. */
static int
read_number(const char *key, const char *text, unsigned int min, unsigned int max,
	unsigned int *value)
{
	if (option_parse_uint(text, min, max, value))
		return 0;
	return option_refuse(OPTION, "%s: '%s' is not a number from %u to %u", key, text, min, max);
}

static int
read_word(char *word, struct capture_options *capture, unsigned int *met)
{
	char *value;

	if ((value = value_of(word, "at")) != NULL)
		return read_point(value, capture);
	if ((value = value_of(word, "max")) != NULL)
		return read_number("max", value, 1, UINT32_MAX, &capture->max);
	if ((value = value_of(word, "snaplen")) != NULL)
		return read_number("snaplen", value, 1, HY_CAPTURE_SNAP_MAX, &capture->snap);
	if ((value = value_of(word, "ring")) != NULL)
		return read_number("ring", value, HY_CAPTURE_BYTES_MIN, HY_CAPTURE_BYTES_MAX,
			&capture->ring);
	if (strcmp(word, "fifo") == 0) {
		capture->fifo = true;
		return 0;
	}
	if (value_of(word, "src") == NULL && value_of(word, "dst") == NULL &&
		value_of(word, "proto") == NULL)
		return option_refuse(OPTION, "'%s' is not accepted; " ACCEPTED " are", word);
	capture->filtered = true;
	return option_read_condition(OPTION, word, &capture->filter, met);
}

int
option_read_capture_text(const char *text, struct capture_options *capture)
{
	unsigned int met = 0;
	char *rest, *word;

	*capture = (struct capture_options){ .snap = HY_CAPTURE_SNAP_MAX };
	if (strlen(text) >= sizeof(capture->text))
		return option_refuse(OPTION, "is longer than %zu characters",
			sizeof(capture->text) - 1);
	strcpy(capture->text, text);
	rest = capture->text;
	capture->file = strsep(&rest, ",");
	if (capture->file[0] == '\0' || strcmp(capture->file, "-") == 0)
		return option_refuse(OPTION, "'%s' does not begin with the name of a file", text);
	while ((word = strsep(&rest, ",")) != NULL)
		if (read_word(word, capture, &met) < 0)
			return -1;
	if (capture->nb_points == 0)
		return option_refuse(OPTION, "'%s' does not say where; " ACCEPTED " are accepted",
			text);
	return 0;
}

int
option_read_capture(const char *text, struct options *options)
{
	struct capture_options checked;

	if (options->capture != NULL)
		return option_refuse(OPTION, "is accepted once; at=POINT can be repeated in it");
	options->capture = text;
	return option_read_capture_text(text, &checked);
}
