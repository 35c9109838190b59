/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of fields from text. */

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <rte_bitops.h>
#include <rte_common.h>
#include <rte_ether.h>

#include "vswitch_text.h"

bool
vswitch_number(const char *text, uint64_t most, uint64_t *value)
{
	const bool hex = text[0] == '0' && (text[1] | 0x20) == 'x';
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &end, hex ? 16 : 10);
	return *end == '\0' && errno == 0 && *value <= most;
}

/* Names of ports come first, so that one may be called "3". */
bool
vswitch_port(const char *text, const struct vswitch_names *names, uint16_t *port)
{
	uint64_t number;

	for (uint32_t i = 0; i < names->n; i++)
		if (strcmp(text, names->names[i].name) == 0) {
			*port = names->names[i].number;
			return true;
		}
	*port = HY_VSWITCH_LOCAL;
	if (strcasecmp(text, "local") == 0)
		return true;
	if (!vswitch_number(text, UINT16_MAX, &number) ||
		(number >= HY_VSWITCH_PORTS_END && number != HY_VSWITCH_LOCAL))
		return false;
	*port = (uint16_t)number;
	return true;
}

/* Writes a number into the last bytes of a value. */
static void
number_put(uint8_t *value, uint32_t size, uint64_t number)
{
	while (size-- > 0) {
		value[size] = (uint8_t)number;
		number >>= 8;
	}
}

static bool
read_number(const struct vswitch_field *field, const char *text, const char *mask_text,
	uint8_t *value, uint8_t *mask)
{
	uint64_t number, bits = field->bits >> field->shift;

	if (!vswitch_number(text, field->most, &number) ||
		(mask_text != NULL && !vswitch_number(mask_text, field->most, &bits)))
		return false;
	bits = (bits << field->shift | field->fixed) & field->bits;
	number = (number << field->shift | field->fixed) & bits;
	number_put(value, field->size, number);
	number_put(mask, field->size, bits);
	return true;
}

/* Six bytes of one or two hexadecimal digits. */
static bool
read_mac(const char *text, uint8_t *bytes)
{
	for (int i = 0; i < RTE_ETHER_ADDR_LEN; i++) {
		const size_t n = strspn(text, "0123456789abcdefABCDEF");

		if (n < 1 || n > 2 || text[n] != (i == RTE_ETHER_ADDR_LEN - 1 ? '\0' : ':'))
			return false;
		bytes[i] = (uint8_t)strtoul(text, NULL, 16);
		text += n + 1;
	}
	return true;
}

static bool
read_address(const struct vswitch_field *field, const char *text, uint8_t *bytes)
{
	if (field->kind == VSWITCH_MAC)
		return read_mac(text, bytes);
	return inet_pton(field->kind == VSWITCH_IP6 ? AF_INET6 : AF_INET, text, bytes) == 1;
}

/* A mask that is written like an address, or of IP, as a prefix's length. */
static bool
read_address_mask(const struct vswitch_field *field, const char *text, uint8_t *mask)
{
	uint64_t length;

	if (field->kind == VSWITCH_MAC || !vswitch_number(text, 8u * field->size, &length))
		return read_address(field, text, mask);
	memset(mask, 0, field->size);
	for (uint32_t bit = 0; bit < length; bit++)
		mask[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
	return true;
}

static bool
read_addresses(const struct vswitch_field *field, const char *text, const char *mask_text,
	uint8_t *value, uint8_t *mask)
{
	memset(mask, 0xff, field->size);
	if (!read_address(field, text, value) ||
		(mask_text != NULL && !read_address_mask(field, mask_text, mask)))
		return false;
	for (uint32_t i = 0; i < field->size; i++)
		value[i] &= mask[i];
	return true;
}

static bool
read_fragment(const char *text, uint8_t *value, uint8_t *mask)
{
	enum { ANY = HY_FLOWS_FIRST_FRAGMENT, LATER = HY_FLOWS_LATER_FRAGMENT };
	static const struct {
		const char *name;
		uint8_t value, mask;
	} words[] = { { "no", 0, ANY | LATER }, { "yes", ANY, ANY }, { "first", ANY, ANY | LATER },
		{ "later", ANY | LATER, ANY | LATER }, { "not_later", 0, LATER } };

	for (uint32_t i = 0; i < RTE_DIM(words); i++)
		if (strcmp(text, words[i].name) == 0) {
			*value = words[i].value;
			*mask = words[i].mask;
			return true;
		}
	return false;
}

/* The bit of a flag whose name is the first n characters; 0: none is. */
static uint8_t
flag_of(const char *text, size_t n)
{
	for (uint32_t bit = 0; bit < RTE_DIM(vswitch_flags); bit++)
		if (n == strlen(vswitch_flags[bit]) &&
			strncasecmp(text, vswitch_flags[bit], n) == 0)
			return (uint8_t)RTE_BIT32(bit);
	return 0;
}

/* Flags that are set and not set, as "+syn-ack"; or all that are set, as "syn|ack". */
static bool
read_flags(const char *text, uint8_t *value, uint8_t *mask)
{
	const bool each = text[0] == '+' || text[0] == '-';

	*value = 0;
	*mask = each ? 0 : UINT8_MAX;
	for (const char *at = text;;) {
		const bool set = *at != '-';
		const char *name = at + (each ? 1 : 0);
		const size_t n = strcspn(name, each ? "+-" : "|");
		const uint8_t flag = flag_of(name, n);

		if (flag == 0 || (each ? *mask & flag : *value & flag) != 0)
			return false;
		*mask |= flag;
		*value |= set ? flag : 0;
		at = name + n;
		if (*at == '\0')
			return true;
		at += each ? 0 : 1;
	}
}

bool
vswitch_value(const struct vswitch_field *field, char *text, const struct vswitch_names *names,
	uint8_t value[16], uint8_t mask[16])
{
	const bool number = text[0] >= '0' && text[0] <= '9';
	char *slash = field->masks ? strchr(text, '/') : NULL;
	const char *mask_text = slash == NULL ? NULL : slash + 1;
	bool good = false;
	uint16_t port;

	if (slash != NULL)
		*slash = '\0';
	switch (field->kind) {
	case VSWITCH_PORT:
		good = vswitch_port(text, names, &port);
		memcpy(value, &port, sizeof(port));
		memset(mask, 0xff, sizeof(port));
		break;
	case VSWITCH_MAC:
	case VSWITCH_IP4:
	case VSWITCH_IP6:
		good = read_addresses(field, text, mask_text, value, mask);
		break;
	case VSWITCH_VLAN:
		good = strcasecmp(text, "0xffff") == 0 || strcmp(text, "65535") == 0;
		memset(value, 0, field->size);
		memset(mask, 0xff, field->size);
		good = good || read_number(field, text, NULL, value, mask);
		break;
	case VSWITCH_FRAGMENT:
		good = read_fragment(text, value, mask);
		break;
	case VSWITCH_FLAGS:
		good = number ? read_number(field, text, mask_text, value, mask)
			      : mask_text == NULL && read_flags(text, value, mask);
		break;
	case VSWITCH_DECIMAL:
	case VSWITCH_HEX:
		good = read_number(field, text, mask_text, value, mask);
		break;
	}
	if (slash != NULL)
		*slash = '/';
	return good;
}
