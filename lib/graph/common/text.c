/* SPDX-License-Identifier: BSD-3-Clause */
/* Text made under the registry's lock. */

#include <errno.h>
#include <stdlib.h>

#include <hy_file.h>

#include "lib/graph/internal/log.h"
#include "lib/graph/registry/registry.h"
#include "text.h"

static int
memory_short(const char *of)
{
	return HY_REFUSE(-ENOMEM, "'%s': not enough memory to write it out", of);
}

int
hy_text_begin(struct hy_text *text, const char *of)
{
	*text = (struct hy_text){ .of = of };
	text->stream = open_memstream(&text->bytes, &text->size);
	if (text->stream == NULL)
		return memory_short(of);
	hy_registry_lock();
	return 0;
}

int
hy_text_end(struct hy_text *text, FILE *out)
{
	int rc = 0;

	hy_registry_unlock();
	if (fclose(text->stream) != 0)
		rc = memory_short(text->of);
	else if (fwrite(text->bytes, 1, text->size, out) < text->size)
		rc = errno != 0 ? -errno : -EIO;
	else
		rc = hy_output_flush(out);
	free(text->bytes);
	return rc;
}
