/* SPDX-License-Identifier: BSD-3-Clause */
/* The bridge's file. All of it is read and checked before any of it is used. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <hy_file.h>
#include <hy_option.h>

#include "bridge.h"
#include "lib/graph/internal/table.h"

#define DEFAULT_TAG 0x8100
#define SERVICE_TAG 0x88a8
#define DEFAULT_AGE 300
#define DEFAULT_ENTRIES 65536

/* The statement that is being read. */
struct reader {
	struct bridge_place at;
	const struct hy_bridge *bridge;
	struct bridge_file *file;
	struct bridge_port *port;
	unsigned int given; /* options of the port, bits */
};

/* Writes what is wrong with the whole file. */
static int
refuse_file(const struct reader *r, int rc, const char *why)
{
	snprintf(r->at.error, HY_BRIDGE_ERROR_SIZE, "%s: %s", r->at.path, why);
	hy_printable(r->at.error);
	return rc;
}

static int
once(const struct reader *r, const char *field, unsigned int *line)
{
	if (*line != 0)
		return bridge_refuse(&r->at, field, "is a duplicate of line %u", *line);
	*line = r->at.line;
	return 0;
}

static int
read_tag(struct reader *r, char *text)
{
	const char *word = bridge_word(&text);

	if (once(r, "tag", &r->file->tag_line) < 0)
		return -EINVAL;
	if (strcasecmp(word, "0x8100") == 0)
		r->file->tag_type = DEFAULT_TAG;
	else if (strcasecmp(word, "0x88a8") == 0)
		r->file->tag_type = SERVICE_TAG;
	else
		return bridge_refuse(&r->at, "tag", "'%.*s' is not 0x8100 or 0x88a8", BRIDGE_QUOTED,
			bridge_shown(word));
	return bridge_end(&r->at, text);
}

static int
read_age(struct reader *r, char *text)
{
	if (once(r, "age", &r->file->age_line) < 0 ||
		bridge_number(&r->at, "age", bridge_word(&text), 0, INT32_MAX, &r->file->age) < 0)
		return -EINVAL;
	return bridge_end(&r->at, text);
}

static int
read_entries(struct reader *r, char *text)
{
	if (once(r, "entries", &r->file->entries_line) < 0 ||
		bridge_number(&r->at, "entries", bridge_word(&text), 1, HY_L2_ENTRIES_MAX,
			&r->file->entries) < 0)
		return -EINVAL;
	return bridge_end(&r->at, text);
}

/* Reads "10,20-30" or "all". */
static int
read_list(struct reader *r, char *text)
{
	if (strcmp(text, "all") == 0) {
		for (uint16_t vid = 1; vid <= BRIDGE_VID_MAX; vid++)
			bridge_join(r->port, vid);
		return 0;
	}
	for (char *range; (range = strsep(&text, ",")) != NULL;) {
		char *last = range;
		uint16_t from, to;

		strsep(&last, "-");
		if (bridge_vid(&r->at, "trunk", range, &from) < 0 ||
			bridge_vid(&r->at, "trunk", last == NULL ? range : last, &to) < 0)
			return -EINVAL;
		if (to < from)
			return bridge_refuse(&r->at, "trunk", "%u-%u ends before it begins", from,
				to);
		for (uint16_t vid = from; vid <= to; vid++)
			bridge_join(r->port, vid);
	}
	return 0;
}

static int
read_native(struct reader *r, char **text)
{
	if (r->port->access)
		return bridge_refuse(&r->at, "native",
			"is for trunks; an access port has one VLAN");
	if (bridge_vid(&r->at, "native", bridge_word(text), &r->port->rules.pvid) < 0)
		return -EINVAL;
	bridge_join(r->port, r->port->rules.pvid);
	return 0;
}

static int
read_state(struct reader *r, char **text)
{
	return bridge_state(&r->at, bridge_word(text), &r->port->rules.state);
}

static int
read_switch(struct reader *r, const char *field, char **text, bool *on)
{
	const char *word = bridge_word(text);

	*on = strcmp(word, "on") == 0;
	if (*on || strcmp(word, "off") == 0)
		return 0;
	return bridge_refuse(&r->at, field, "'%.*s' is not on or off", BRIDGE_QUOTED,
		bridge_shown(word));
}

static int
read_learn(struct reader *r, char **text)
{
	return read_switch(r, "learn", text, &r->port->rules.learn);
}

static int
read_filter(struct reader *r, char **text)
{
	return read_switch(r, "filter", text, &r->port->rules.filter);
}

static int
read_admit(struct reader *r, char **text)
{
	static const char *const words[] = { [HY_L2_ADMIT_ALL] = "all",
		[HY_L2_ADMIT_TAGGED] = "tagged",
		[HY_L2_ADMIT_UNTAGGED] = "untagged" };
	const char *word = bridge_word(text);

	for (unsigned int i = 0; i < RTE_DIM(words); i++) {
		if (strcmp(word, words[i]) == 0) {
			r->port->rules.admit = (uint8_t)i;
			return 0;
		}
	}
	return bridge_refuse(&r->at, "admit", "'%.*s' is not untagged, tagged or all",
		BRIDGE_QUOTED, bridge_shown(word));
}

static int
read_group(struct reader *r, char **text)
{
	uint32_t group;

	if (bridge_number(&r->at, "group", bridge_word(text), 1, BRIDGE_GROUP_MAX, &group) < 0)
		return -EINVAL;
	r->port->group = (uint8_t)group;
	return 0;
}

static int
read_limit(struct reader *r, char **text)
{
	return bridge_number(&r->at, "entries", bridge_word(text), 1, HY_L2_ENTRIES_MAX,
		&r->port->entries);
}

static int
read_storm(struct reader *r, char **text)
{
	const char *word = bridge_word(text);

	for (unsigned int i = 0; i < HY_L2_STORMS; i++) {
		if (strcmp(word, bridge_storms[i]) != 0)
			continue;
		if (r->port->storm[i] != 0)
			return bridge_refuse(&r->at, "storm", "'%s' is there twice", word);
		return bridge_number(&r->at, "storm", bridge_word(text), 1, BRIDGE_STORM_MAX,
			&r->port->storm[i]);
	}
	return bridge_refuse(&r->at, "storm", "'%.*s' is not broadcast, multicast or unknown",
		BRIDGE_QUOTED, bridge_shown(word));
}

#define ADMIT 4 /* in options */
static const struct {
	const char *word;
	int (*read)(struct reader *r, char **text);
} options[] = {
	{ "native", read_native }, { "state", read_state }, { "learn", read_learn },
	{ "filter", read_filter }, [ADMIT] = { "admit", read_admit }, { "group", read_group },
	{ "entries", read_limit },
	{ "storm", read_storm }, /* the only one that may be there again */
};
#define STORM (RTE_DIM(options) - 1)

static int
read_option(struct reader *r, const char *word, char **text)
{
	for (unsigned int i = 0; i < RTE_DIM(options); i++) {
		if (strcmp(word, options[i].word) != 0)
			continue;
		if (i != STORM && (r->given & 1u << i) != 0)
			return bridge_refuse(&r->at, word, "is there twice");
		r->given |= 1u << i;
		return options[i].read(r, text);
	}
	return bridge_refuse(&r->at, "line",
		"'%.*s' is no option of a port; these are native, state, learn, filter, admit, "
		"group, entries and storm",
		BRIDGE_QUOTED, word);
}

/* Without "admit", a port admits the frames that it has a VLAN for. */
static int
settle_admit(struct reader *r)
{
	struct bridge_port *port = r->port;

	if ((r->given & 1u << ADMIT) == 0) {
		if (port->access)
			port->rules.admit = HY_L2_ADMIT_UNTAGGED;
		else
			port->rules.admit = port->rules.pvid == 0 ? HY_L2_ADMIT_TAGGED
								  : HY_L2_ADMIT_ALL;
	}
	if (port->rules.admit == HY_L2_ADMIT_UNTAGGED && port->rules.pvid == 0)
		return bridge_refuse(&r->at, "admit",
			"a trunk without a native VLAN has none for untagged frames");
	return 0;
}

static int
read_port(struct reader *r, char *text)
{
	const char *word;
	uint16_t number;
	int rc;

	if (bridge_port(&r->at, r->bridge, bridge_word(&text), &number) < 0)
		return -EINVAL;
	r->port = &r->file->port[number];
	r->given = 0;
	if (once(r, "port", &r->port->line) < 0)
		return -EINVAL;
	r->port->rules = (struct hy_l2_port){
		.state = HY_L2_FORWARDING, .learn = true, .filter = true
	};
	word = bridge_word(&text);
	r->port->access = strcmp(word, "access") == 0;
	if (!r->port->access && strcmp(word, "trunk") != 0)
		return bridge_refuse(&r->at, "port", "'%.*s' is not access V or trunk LIST",
			BRIDGE_QUOTED, bridge_shown(word));
	if (r->port->access) {
		rc = bridge_vid(&r->at, "access", bridge_word(&text), &r->port->rules.pvid);
		if (rc == 0)
			bridge_join(r->port, r->port->rules.pvid);
	} else {
		rc = read_list(r, bridge_word(&text));
	}
	while (rc == 0 && (word = bridge_word(&text))[0] != '\0')
		rc = read_option(r, word, &text);
	return rc < 0 ? rc : settle_admit(r);
}

static int
read_static(struct reader *r, char *text)
{
	struct bridge_file *file = r->file;
	struct bridge_static *grown = hy_table_room(file->statics, file->nb_statics,
		sizeof(*grown));

	if (grown == NULL)
		return refuse_file(r, -ENOMEM, "out of memory");
	file->statics = grown;
	if (bridge_static(&r->at, r->bridge, text, &grown[file->nb_statics]) < 0)
		return -EINVAL;
	file->nb_statics++;
	return 0;
}

static int
read_line(struct reader *r, char *text)
{
	static const struct {
		const char *word;
		int (*read)(struct reader *r, char *text);
	} statements[] = { { "tag", read_tag }, { "age", read_age }, { "entries", read_entries },
		{ "port", read_port }, { "static", read_static } };
	const char *word;

	text[strcspn(text, "#")] = '\0';
	word = bridge_word(&text);
	if (word[0] == '\0')
		return 0;
	for (unsigned int i = 0; i < RTE_DIM(statements); i++)
		if (strcmp(word, statements[i].word) == 0)
			return statements[i].read(r, text);
	return bridge_refuse(&r->at, "line",
		"'%.*s' is no statement; these are tag, age, entries, port and static",
		BRIDGE_QUOTED, word);
}

static int
by_key(const void *a, const void *b)
{
	const struct bridge_static *ea = a, *eb = b;

	if (ea->key != eb->key)
		return ea->key < eb->key ? -1 : 1;
	return ea->line < eb->line ? -1 : ea->line > eb->line;
}

/* Checks what lines say together. */
static int
check(struct reader *r)
{
	struct bridge_file *file = r->file;

	for (unsigned int i = 0; i < r->bridge->nb_ports; i++)
		if (file->port[i].line == 0)
			return bridge_refuse(&r->at, "port",
				"the file has no line of port %u, which the program uses",
				r->bridge->ports[i]);
	if (file->nb_statics > 0)
		qsort(file->statics, file->nb_statics, sizeof(*file->statics), by_key);
	for (unsigned int i = 0; i < file->nb_statics; i++) {
		const struct bridge_static *entry = &file->statics[i];

		r->at.line = entry->line;
		if (i > 0 && entry[-1].key == entry->key)
			return bridge_refuse(&r->at, "static", "is a duplicate of line %u",
				entry[-1].line);
		if (bridge_static_check(&r->at, r->bridge, file, entry) < 0)
			return -EINVAL;
	}
	return 0;
}

static int
read_lines(struct reader *r, struct hy_file *text)
{
	char why[HY_FILE_ERROR_SIZE];
	char *line;
	int rc;

	while ((rc = hy_file_line(text, &line, why)) > 0) {
		r->at.line = text->line;
		rc = read_line(r, line);
		if (rc < 0)
			return rc;
	}
	r->at.line = text->line;
	if (rc == -EINTR)
		return refuse_file(r, rc, why);
	return rc < 0 ? bridge_refuse(&r->at, "line", "%s", why) : check(r);
}

int
bridge_file_read(const struct hy_bridge *bridge, struct bridge_file **out, char *error)
{
	struct reader r = { .at = { .path = bridge->path, .error = error }, .bridge = bridge };
	char why[HY_FILE_ERROR_SIZE];
	struct hy_file text;
	int rc;

	*out = NULL;
	r.file = calloc(1, sizeof(*r.file));
	if (r.file == NULL)
		return refuse_file(&r, -ENOMEM, "out of memory");
	r.file->tag_type = DEFAULT_TAG;
	r.file->age = DEFAULT_AGE;
	r.file->entries = DEFAULT_ENTRIES;
	rc = hy_file_read(bridge->path, HY_FILE_MAX, &text, why);
	rc = rc < 0 ? refuse_file(&r, rc, why) : read_lines(&r, &text);
	hy_file_free(&text);
	if (rc < 0)
		bridge_file_free(r.file);
	else
		*out = r.file;
	return rc;
}

void
bridge_file_free(struct bridge_file *file)
{
	if (file == NULL)
		return;
	free(file->statics);
	free(file);
}
