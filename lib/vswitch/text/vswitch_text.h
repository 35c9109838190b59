/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of fields, by which rules are read, checked, written and carried out. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include <hy_vswitch_rule.h>

/* How a value is written. */
enum vswitch_kind {
	VSWITCH_DECIMAL,
	VSWITCH_HEX,
	VSWITCH_PORT,
	VSWITCH_MAC,
	VSWITCH_IP4,
	VSWITCH_IP6,
	VSWITCH_VLAN, /* dl_vlan: an id, or 0xffff */
	VSWITCH_FRAGMENT,
	VSWITCH_FLAGS, /* TCP's */
};

/* What a rule must match for a field to mean something. */
enum vswitch_needs {
	VSWITCH_ANYTHING,
	VSWITCH_NEEDS_TAG,
	VSWITCH_NEEDS_IP4,
	VSWITCH_NEEDS_IP6,
	VSWITCH_NEEDS_IP,
	VSWITCH_NEEDS_IP_OR_ARP,
	VSWITCH_NEEDS_IP4_OR_ARP,
	VSWITCH_NEEDS_ARP,
	VSWITCH_NEEDS_TCP,
	VSWITCH_NEEDS_UDP,
	VSWITCH_NEEDS_SCTP,
	VSWITCH_NEEDS_PORTS,
	VSWITCH_NEEDS_ICMP,
	VSWITCH_NEEDS_ICMP6,
	VSWITCH_NEEDS, /* not one */
};

#define VSWITCH_NOWHERE UINT8_MAX /* place of a field that keys do not have */

struct vswitch_field {
	const char *name, *alias; /* no alias: NULL */
	enum vswitch_kind kind;
	enum vswitch_needs needs;
	uint8_t at, size; /* bytes of the key */
	uint8_t shift;    /* a number's, within them */
	uint32_t bits;    /* of a number, those that it can have, shifted; 0: all bytes */
	uint32_t fixed;   /* bits that come with any value */
	uint32_t most;    /* of numbers that are read */
	bool masks;       /* a value can have a mask */
	bool sets;        /* an action can write it */
	bool unmatched;   /* a rule cannot match it */
	const char *mod;  /* action that writes it whole, or NULL */
	const char *accepted;
};

/* vswitch_fields.c: by enum hy_vswitch_field, which is the order in which they are written. */
extern const struct vswitch_field vswitch_fields[HY_VSWITCH_FIELDS];
extern const char *const vswitch_flags[8]; /* TCP's, the lowest bit first */
/* The field of a name, or HY_VSWITCH_FIELDS. */
enum hy_vswitch_field vswitch_field_named(const char *name);
/* Whether a match has what a field needs. */
bool vswitch_has(enum vswitch_needs needs, const struct hy_flows_key *key,
	const struct hy_flows_key *mask);
extern const char *const vswitch_needs_words[VSWITCH_NEEDS];

/* A word for a kind of packets, as a match. */
struct vswitch_shorthand {
	const char *name;
	uint16_t type;
	uint8_t proto; /* 0: any */
};

#define VSWITCH_SHORTHANDS 11
extern const struct vswitch_shorthand vswitch_shorthands[VSWITCH_SHORTHANDS];

/* Port names of whoever calls. */
struct vswitch_names {
	const struct hy_vswitch_name *names;
	uint32_t n;
};

/* vswitch_value.c: each returns whether the text is what is accepted. Values have only bits of the mask. */
bool vswitch_number(const char *text, uint64_t most, uint64_t *value);
bool vswitch_port(const char *text, const struct vswitch_names *names, uint16_t *port);
bool vswitch_value(const struct vswitch_field *field, char *text, const struct vswitch_names *names,
	uint8_t value[16], uint8_t mask[16]);

/* vswitch_write.c: text that grows, cut at HY_VSWITCH_TEXT_SIZE, which no rule reaches. */
struct vswitch_out {
	char *text;
	size_t at;
};

void vswitch_put(struct vswitch_out *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void vswitch_put_port(struct vswitch_out *out, uint16_t port);
void vswitch_put_value(struct vswitch_out *out, const struct vswitch_field *field,
	const uint8_t *value, const uint8_t *mask);
/* vswitch_format.c */
void vswitch_put_action(struct vswitch_out *out, const struct hy_vswitch_action *action);
/* The bits of a field in a container of its size. */
void vswitch_field_bits(const struct vswitch_field *field, uint8_t bits[16]);

/* vswitch_actions.c: reads the actions of a rule whose match was read. */
int vswitch_actions_read(char *text, const struct vswitch_names *names,
	struct hy_vswitch_rule *rule, char *error);
/*
 * vswitch_line.c: reads a packet, as a match of exact values. The key is as rules have it; the mask has what
 * the text gave.
 */
int vswitch_packet_read(const char *text, const struct vswitch_names *names,
	struct hy_flows_key *key, struct hy_flows_key *mask, char *error);
/* Whether a word is an action's name, known or not. */
bool vswitch_is_action(const char *name);

/* Writes "WHERE: REASON" in characters that a terminal shows. Returns -EINVAL. */
int vswitch_refuse(char *error, const char *where, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
