/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of fields as text. */

#include <arpa/inet.h>
#include <stdarg.h>
#include <string.h>

#include <rte_common.h>
#include <rte_ether.h>

#include "vswitch_text.h"

void
vswitch_put(struct vswitch_out *out, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(out->text + out->at, HY_VSWITCH_TEXT_SIZE - out->at, format, args);
	va_end(args);
	out->at = RTE_MIN(out->at + (size_t)RTE_MAX(n, 0), (size_t)HY_VSWITCH_TEXT_SIZE - 1);
}

void
vswitch_put_port(struct vswitch_out *out, uint16_t port)
{
	static const struct {
		uint16_t number;
		const char *name;
	} reserved[] = { { HY_VSWITCH_IN_PORT, "IN_PORT" }, { HY_VSWITCH_NORMAL, "NORMAL" },
		{ HY_VSWITCH_FLOOD, "FLOOD" }, { HY_VSWITCH_ALL, "ALL" },
		{ HY_VSWITCH_LOCAL, "LOCAL" } };

	for (uint32_t i = 0; i < RTE_DIM(reserved); i++)
		if (reserved[i].number == port) {
			vswitch_put(out, "%s", reserved[i].name);
			return;
		}
	vswitch_put(out, "%u", port);
}

static uint32_t
number_of(const uint8_t *value, uint32_t size)
{
	uint32_t number = 0;

	while (size-- > 0)
		number = number << 8 | *value++;
	return number;
}

static void
number_bytes(uint8_t *value, uint32_t size, uint32_t number)
{
	while (size-- > 0) {
		value[size] = (uint8_t)number;
		number >>= 8;
	}
}

void
vswitch_field_bits(const struct vswitch_field *field, uint8_t bits[16])
{
	if (field->bits == 0)
		memset(bits, 0xff, field->size);
	else
		number_bytes(bits, field->size, field->bits);
}

static void
put_number(struct vswitch_out *out, const struct vswitch_field *field, const uint8_t *value,
	const uint8_t *mask)
{
	const uint32_t number = (number_of(value, field->size) & field->bits & ~field->fixed) >>
		field->shift;
	const uint32_t bits = number_of(mask, field->size) & field->bits;

	const int digits = field->kind == VSWITCH_HEX && field->size == 2 ? 4 : 1;

	if (bits != field->bits)
		vswitch_put(out, "0x%0*x/0x%0*x", digits, number, digits, bits >> field->shift);
	else if (field->kind == VSWITCH_HEX)
		vswitch_put(out, "0x%0*x", digits, number);
	else
		vswitch_put(out, "%u", number);
}

static void
put_mac(struct vswitch_out *out, const uint8_t *bytes)
{
	vswitch_put(out, "%02x:%02x:%02x:%02x:%02x:%02x", bytes[0], bytes[1], bytes[2], bytes[3],
		bytes[4], bytes[5]);
}

/* Leading ones of a mask; -1: ones come after zeros. */
static int
prefix_length(const uint8_t *mask, uint32_t size)
{
	uint32_t length = 0;

	while (length < 8 * size && (mask[length / 8] & 0x80 >> length % 8) != 0)
		length++;
	for (uint32_t bit = length; bit < 8 * size; bit++)
		if ((mask[bit / 8] & 0x80 >> bit % 8) != 0)
			return -1;
	return (int)length;
}

static void
put_ip(struct vswitch_out *out, const struct vswitch_field *field, const uint8_t *value,
	const uint8_t *mask)
{
	const int family = field->kind == VSWITCH_IP6 ? AF_INET6 : AF_INET;
	const int length = prefix_length(mask, field->size);
	char text[INET6_ADDRSTRLEN];

	vswitch_put(out, "%s", inet_ntop(family, value, text, sizeof(text)));
	if (length < 0)
		vswitch_put(out, "/%s", inet_ntop(family, mask, text, sizeof(text)));
	else if (length < 8 * field->size)
		vswitch_put(out, "/%d", length);
}

static void
put_fragment(struct vswitch_out *out, uint8_t value, uint8_t mask)
{
	const bool any = (value & HY_FLOWS_FIRST_FRAGMENT) != 0;
	const bool later = (value & HY_FLOWS_LATER_FRAGMENT) != 0;

	mask &= HY_FLOWS_FIRST_FRAGMENT | HY_FLOWS_LATER_FRAGMENT;
	if (mask == HY_FLOWS_FIRST_FRAGMENT)
		vswitch_put(out, "%s", any ? "yes" : "no");
	else if (mask == HY_FLOWS_LATER_FRAGMENT)
		vswitch_put(out, "%s", later ? "later" : "not_later");
	else
		vswitch_put(out, "%s", later ? "later" : any ? "first" : "no");
}

static void
put_flags(struct vswitch_out *out, uint8_t value, uint8_t mask)
{
	const char *bar = "";

	if (mask == UINT8_MAX && value == 0)
		vswitch_put(out, "0");
	for (uint32_t bit = 0; bit < RTE_DIM(vswitch_flags); bit++) {
		const bool set = (value >> bit & 1) != 0;

		if (mask != UINT8_MAX && (mask >> bit & 1) != 0) {
			vswitch_put(out, "%c%s", set ? '+' : '-', vswitch_flags[bit]);
		} else if (set) {
			vswitch_put(out, "%s%s", bar, vswitch_flags[bit]);
			bar = "|";
		}
	}
}

void
vswitch_put_value(struct vswitch_out *out, const struct vswitch_field *field, const uint8_t *value,
	const uint8_t *mask)
{
	uint16_t port;

	switch (field->kind) {
	case VSWITCH_PORT:
		memcpy(&port, value, sizeof(port));
		vswitch_put_port(out, port);
		break;
	case VSWITCH_MAC:
		put_mac(out, value);
		if (prefix_length(mask, field->size) < 8 * field->size) {
			vswitch_put(out, "/");
			put_mac(out, mask);
		}
		break;
	case VSWITCH_IP4:
	case VSWITCH_IP6:
		put_ip(out, field, value, mask);
		break;
	case VSWITCH_FRAGMENT:
		put_fragment(out, *value, *mask);
		break;
	case VSWITCH_FLAGS:
		put_flags(out, *value, *mask);
		break;
	case VSWITCH_VLAN:
	case VSWITCH_DECIMAL:
	case VSWITCH_HEX:
		put_number(out, field, value, mask);
		break;
	}
}
