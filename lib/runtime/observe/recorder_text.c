/* SPDX-License-Identifier: BSD-3-Clause */
/* The text that describes a capture. */

#include <string.h>

#include "recorder.h"

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
read_point(char *text, struct hy_recording *recording)
{
	struct hy_capture_point *point = &recording->points[recording->nb_points];
	char *out = text + strcspn(text, "/:!"); /* ! as before, which shells expand */
	const char way = *out;

	if (recording->nb_points == HY_CAPTURE_POINTS)
		return hy_option_refuse(OPTION, "more than %d points", HY_CAPTURE_POINTS);
	if (way != '\0')
		*out++ = '\0';
	if (!hy_name_valid(text) || (way != '\0' && !hy_name_valid(out)))
		return hy_option_refuse(OPTION,
			"'at=%s%.1s%s' is not at=NODE, at=NODE/TARGET or "
			"at=NODE:REASON",
			text, &way, way == '\0' ? "" : out);
	*point = (struct hy_capture_point){ .node = text,
		.edge = way == '/' ? out : NULL,
		.drop = way == ':' || way == '!' ? out : NULL };
	recording->nb_points++;
	return 0;
}

/* Telemetry answers with the words alone, so that they name the key, too. */
static int
read_number(const char *key, const char *text, unsigned int min, unsigned int max,
	unsigned int *value)
{
	if (hy_option_is_number(text, min, max, value))
		return 0;
	return hy_option_refuse(OPTION, "%s: '%s' is not a number from %u to %u", key, text, min,
		max);
}

static int
read_word(char *word, struct hy_recording *recording, unsigned int *met)
{
	char *value;

	if ((value = value_of(word, "at")) != NULL)
		return read_point(value, recording);
	if ((value = value_of(word, "max")) != NULL)
		return read_number("max", value, 1, UINT32_MAX, &recording->max);
	if ((value = value_of(word, "snaplen")) != NULL)
		return read_number("snaplen", value, 1, HY_CAPTURE_SNAP_MAX, &recording->snap);
	if ((value = value_of(word, "ring")) != NULL)
		return read_number("ring", value, HY_CAPTURE_BYTES_MIN, HY_CAPTURE_BYTES_MAX,
			&recording->ring);
	if (strcmp(word, "fifo") == 0) {
		recording->fifo = true;
		return 0;
	}
	if (value_of(word, "src") == NULL && value_of(word, "dst") == NULL &&
		value_of(word, "proto") == NULL)
		return hy_option_refuse(OPTION, "'%s' is not accepted; " ACCEPTED " are", word);
	recording->filtered = true;
	return hy_option_condition(OPTION, word, &recording->filter, met);
}

int
hy_recording_read(const char *text, struct hy_recording *recording)
{
	unsigned int met = 0;
	char *rest, *word;

	*recording = (struct hy_recording){ .snap = HY_CAPTURE_SNAP_MAX };
	if (strlen(text) >= sizeof(recording->text))
		return hy_option_refuse(OPTION, "is longer than %zu characters",
			sizeof(recording->text) - 1);
	strcpy(recording->text, text);
	rest = recording->text;
	recording->file = strsep(&rest, ",");
	if (recording->file[0] == '\0' || strcmp(recording->file, "-") == 0)
		return hy_option_refuse(OPTION, "'%s' does not begin with the name of a file",
			text);
	while ((word = strsep(&rest, ",")) != NULL)
		if (read_word(word, recording, &met) < 0)
			return -EINVAL;
	if (recording->nb_points == 0)
		return hy_option_refuse(OPTION,
			"'%s' does not say where; " ACCEPTED " are accepted", text);
	return 0;
}
