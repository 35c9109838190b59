/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An outline: names with values, nested, written as text for people or as JSON for programs. One
 * sequence of calls makes either. All text is cleaned on its way in: see clean.h.
 */
#ifndef HY_HAL_OUTLINE_H
#define HY_HAL_OUTLINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "clean.h"

/* Zeroed but for the first three, it is at the beginning. */
struct outline {
	FILE *out;
	const struct cleaner *cleaner;
	bool json;
	unsigned int depth;
	bool filled; /* the object or list that is open has something in it */
	bool dash;   /* the next line of text begins an item of a list */
	bool row;    /* a row is open */
	int rc;      /* -ENOMEM: something is missing */
};

/* An object with a name, or one that is an item of a list. */
void outline_open(struct outline *o, const char *name);
void outline_item(struct outline *o);
void outline_close(struct outline *o);
/* An item without objects or lists of objects in it, on one line of text. */
void outline_row(struct outline *o);
void outline_row_close(struct outline *o);

/* A list of objects. */
void outline_list(struct outline *o, const char *name);
void outline_list_close(struct outline *o);

/* A list of words, on one line of text. */
void outline_words(struct outline *o, const char *name);
void outline_word(struct outline *o, const char *word);
void outline_words_close(struct outline *o);

void outline_text(struct outline *o, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* A version: four numbers with points between are no address. */
void outline_version(struct outline *o, const char *name, const char *text);
void outline_number(struct outline *o, const char *name, uint64_t number);
void outline_flag(struct outline *o, const char *name, bool flag);

/*
 * What another writer has made. Text becomes an indented block below the name. JSON is an object: it
 * becomes the value of the name or, without one, its members become members here.
 */
void outline_embed(struct outline *o, const char *name, const char *written);

/* Writes text as a string of JSON. Control characters become '?'. */
void json_text(const char *text, FILE *out);

#endif
