/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text as JSON strings, which must be UTF-8 (RFC 8259, 8.1) whatever a node's author wrote. No control
 * character is left as it is: the document may be shown on a terminal.
 */

#include "lib/file/internal/json.h"

void
hy_json_string(const char *text, FILE *out)
{
	const unsigned char *s = (const unsigned char *)text;

	fputc('"', out);
	while (*s != '\0') {
		uint32_t code;
		const unsigned int n = hy_utf8(s, 4, &code); /* not beyond the NUL */

		if (n == 0)
			fputs("\\ufffd", out);
		else if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else if (hy_is_control(code))
			fprintf(out, "\\u%04x", code);
		else
			fwrite(s, 1, n, out);
		s += n == 0 ? 1 : n;
	}
	fputc('"', out);
}
