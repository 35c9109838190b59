/* SPDX-License-Identifier: BSD-3-Clause */
/* Text that may be anything, for a terminal. */

#include <string.h>

#include <hy_file.h>

#include "lib/file/internal/json.h"

unsigned int
hy_utf8(const unsigned char *s, size_t size, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned int n = s[0] < 0x80 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;

	*code = n == 1 ? s[0] : s[0] & (0xffu >> (n + 1));
	if ((n > 1 && s[0] < 0xc0) || s[0] >= 0xf8 || n > size)
		return 0;
	for (unsigned int i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (s[i] & 0x3fu);
	}
	return *code < least[n] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000) ? 0 : n;
}

void
hy_printable_lines(char *bytes, size_t size)
{
	for (size_t at = 0; at < size;) {
		uint32_t code;
		const unsigned int n = hy_utf8((unsigned char *)bytes + at, size - at, &code);
		const bool good = n > 0 && !hy_is_control(code);

		if (!good && bytes[at] != '\n' && bytes[at] != '\t')
			bytes[at] = '?';
		at += good ? n : 1;
	}
}

static bool
continues(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

size_t
hy_printable_copy(char *to, size_t most, const char *bytes, size_t size)
{
	size_t n = size < most ? size : most, back = 0;

	/* A character has three bytes after its first, at most. */
	while (n < size && back < 3 && continues(bytes[n - back]))
		back++;
	if (n < size && !continues(bytes[n - back]))
		n -= back;
	memcpy(to, bytes, n);
	hy_printable_lines(to, n);
	return n;
}

char *
hy_printable(char *text)
{
	hy_printable_lines(text, strlen(text));
	for (char *s = text; *s != '\0'; s++)
		if (*s == '\n' || *s == '\t')
			*s = '?';
	return text;
}
