/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A second way to classify, for hy-test-brute: rules of 5-tuples are read from their text, packets
 * are known from the fields they are made of, and the first match is found by trying all rules. No
 * code of lib/policy is used.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define BRUTE_NONE UINT32_MAX
#define BRUTE_FRAME 256 /* most bytes of a frame */

/* What a packet has. */
enum {
	BRUTE_TYPE = 1,
	BRUTE_IP4 = 2,
	BRUTE_IP6 = 4,
	BRUTE_PROTO = 8,
	BRUTE_PORTS = 16,
	BRUTE_ALL = 31,
};

/* Kinds of packets. */
enum brute_kind {
	BRUTE_PLAIN,
	BRUTE_TAG,     /* one tag or two */
	BRUTE_OPTIONS, /* options of IPv4, extension headers of IPv6 */
	BRUTE_FIRST,   /* fragments */
	BRUTE_LATER,
	BRUTE_ATOMIC,   /* IPv6: a fragment that is all of its packet */
	BRUTE_NO_PORTS, /* cut before the ports */
	BRUTE_CUT,      /* within the header of IP, or an extension header */
	BRUTE_KINDS
};

struct brute_rule {
	uint32_t id, precedence;
	bool deny;
	uint32_t needs;              /* of a packet */
	uint32_t address[2][4];      /* source and destination, the highest bits first */
	uint32_t address_mask[2][4]; /* IPv4's are the first word */
	uint32_t proto, proto_mask;
	uint32_t port[2][2]; /* first and last */
	uint32_t type, type_mask;
};

struct brute {
	struct brute_rule *rules; /* in the order in which they are tried */
	uint32_t n;
	uint32_t *columns; /* the same by field, so that they are tried in vectors */
};

struct brute_packet {
	uint8_t frame[BRUTE_FRAME];
	uint32_t len;
	uint32_t has;
	uint32_t address[2][4];
	uint32_t proto, port[2], type;
	unsigned int kinds; /* a bit for each */
};

/*
 * Reads a file of lines "rule ID permit|deny" with any of precedence, type, ip6, src, dst, proto,
 * sport and dport. Returns 0, or -1 (reported).
 */
int brute_read(const char *path, struct brute *brute);
void brute_free(struct brute *brute);
/* The place of the first rule that matches, or BRUTE_NONE. */
uint32_t brute_first(const struct brute *brute, const struct brute_packet *packet);

/* A random number, the same sequence for the same seed, which is not 0. */
uint32_t brute_random(uint64_t *seed);
/* Makes a packet: of random fields, or of a rule's or values beside them. */
void brute_packet(const struct brute *brute, uint64_t *seed, struct brute_packet *packet);
