/* SPDX-License-Identifier: BSD-3-Clause */
/* hy-policy: looks at files of rules, and makes them, without a data plane. */

#include <stdlib.h>

#include <hy_file.h>

#include "command.h"

const struct command commands[] = {
	{ "check", "FILE", "find rules that never apply", "fu", 1, false, check },
	{ "test", "FILE PACKET", "tell which rules decide a packet", "f", 1, true, test },
	{ "diff", "FILE FILE", "tell which rules differ, and for which packets", "f", 2, false,
		diff },
	{ "convert", "FILE", "write the rules in another format", "ftanp", 1, false, convert },
	{ "generate", "", "write a set of rules like those in use", "krs6", 0, false, generate },
	{ NULL },
};

int
main(int argc, char **argv)
{
	struct settings settings;
	int status;

	if (hy_file_prepare() < 0 || settings_read(argc, argv, &settings) != 0)
		return TROUBLE;
	status = settings.command->run(&settings);
	return hy_output_end("hy-policy") == EXIT_SUCCESS ? status : TROUBLE;
}
