/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An outline: nested names and values, written as text for people or as JSON for programs by the
 * same sequence of calls. All text is cleaned first: see clean.h.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "clean.h"

/* To begin, set the first three members and zero the others. */
struct outline {
	FILE *out;
	const struct cleaner *cleaner;
	bool json;
	unsigned int depth;
	bool filled; /* the open object or list is not empty */
	bool dash;   /* the next line of text begins an item of a list */
	bool row;    /* a row is open */
	int rc;      /* -ENOMEM: something is missing */
};

/* An object with a name, and an object in a list. */
void outline_open(struct outline *o, const char *name);
void outline_item(struct outline *o);
void outline_close(struct outline *o);
/* An object in a list, without objects or lists of objects in it: one line of text. */
void outline_row(struct outline *o);
void outline_row_close(struct outline *o);

/* A list of objects. */
void outline_list(struct outline *o, const char *name);
void outline_list_close(struct outline *o);

/* A list of words: one line of text. */
void outline_words(struct outline *o, const char *name);
void outline_word(struct outline *o, const char *word);
void outline_words_close(struct outline *o);

void outline_text(struct outline *o, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* A version, in which four numbers with dots are not an IP address. */
void outline_version(struct outline *o, const char *name, const char *text);
void outline_number(struct outline *o, const char *name, uint64_t number);
void outline_flag(struct outline *o, const char *name, bool flag);

/*
 * Embeds the output of another writer. Text becomes an indented block below the name. JSON must be
 * an object; it becomes the value of the name or, without a name, its members are added here.
 */
void outline_embed(struct outline *o, const char *name, const char *written);
