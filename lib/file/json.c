/* SPDX-License-Identifier: BSD-3-Clause */
/* Text as JSON strings, which must be UTF-8 (RFC 8259, 8.1) whatever a node's author wrote. */

#include <stdint.h>

#include "lib/file/internal/json.h"

/* Bytes of the UTF-8 sequence at s (RFC 3629, 4); 0 if there is none. Stops at a NUL. */
static unsigned int
utf8_length(const unsigned char *s)
{
	const unsigned int n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	/* Overlong forms, surrogates, and what is beyond U+10FFFF. */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
		(s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	for (unsigned int i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

void
hy_json_string(const char *text, FILE *out)
{
	const unsigned char *s = (const unsigned char *)text;

	fputc('"', out);
	while (*s != '\0') {
		const unsigned int n = utf8_length(s);

		if (n == 0)
			fputs("\\ufffd", out);
		else if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else if (*s < 0x20)
			fprintf(out, "\\u%04x", *s);
		else
			fwrite(s, 1, n, out);
		s += n == 0 ? 1 : n;
	}
	fputc('"', out);
}
