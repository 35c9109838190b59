/* SPDX-License-Identifier: BSD-3-Clause */
/* The frames of all captures in a folder. */

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <pcap/pcap.h>

#include <rte_common.h>

#include <hy_file.h>

#include "command.h"

#define BYTES_MAX (256ul << 20) /* of all captures */
#define FRAME_BYTES 64          /* that a frame takes beside its data */

/* A struct hy_frames that can grow. */
struct gathered {
	size_t bytes_left;
	uint8_t **bytes;
	uint32_t *len;
	uint32_t n, room;
};

static bool
grow(struct gathered *all)
{
	const uint32_t room = RTE_MAX(2 * all->room, 1024u);
	uint8_t **bytes = realloc(all->bytes, room * sizeof(*bytes));
	uint32_t *len = bytes != NULL ? realloc(all->len, room * sizeof(*len)) : NULL;

	if (bytes != NULL)
		all->bytes = bytes;
	if (len == NULL)
		return false;
	all->len = len;
	all->room = room;
	return true;
}

/* Returns NULL, or why the frame cannot be added. */
static const char *
frame_add(struct gathered *all, const u_char *bytes, uint32_t len)
{
	uint8_t *copy;

	if (all->bytes_left < len + FRAME_BYTES)
		return "with this file, the captures take more than 256 MiB";
	if (all->n == all->room && !grow(all))
		return "out of memory";
	copy = malloc(RTE_MAX(len, 1u));
	if (copy == NULL)
		return "out of memory";
	memcpy(copy, bytes, len);
	all->bytes_left -= len + FRAME_BYTES;
	all->bytes[all->n] = copy;
	all->len[all->n++] = len;
	return NULL;
}

/* File names may contain anything, even terminal control sequences. */
static int
complain(const char *path, const char *what)
{
	char text[4096 + PCAP_ERRBUF_SIZE];

	snprintf(text, sizeof(text), "%s: %s", path, what);
	return refuse("--pcap: %s", hy_printable(text));
}

static int
file_read(const char *path, struct gathered *all)
{
	char error[PCAP_ERRBUF_SIZE] = "is not a regular file"; /* opening it might block */
	struct stat st;
	pcap_t *pcap = stat(path, &st) == 0 && !S_ISREG(st.st_mode)
		? NULL
		: pcap_open_offline(path, error);
	struct pcap_pkthdr *header;
	const char *why = NULL;
	const u_char *bytes;
	int rc = PCAP_ERROR;

	if (pcap == NULL)
		return complain(path, error);
	if (pcap_datalink(pcap) != DLT_EN10MB) { /* not what a port receives */
		pcap_close(pcap);
		return 0;
	}
	while ((rc = pcap_next_ex(pcap, &header, &bytes)) == 1)
		if ((why = frame_add(all, bytes, header->caplen)) != NULL)
			break;
	if (rc != PCAP_ERROR_BREAK)
		complain(path, why != NULL ? why : pcap_geterr(pcap));
	pcap_close(pcap);
	return rc == PCAP_ERROR_BREAK ? 0 : -1;
}

int
captures_read(const char *folder, struct hy_frames *frames)
{
	struct gathered all = { .bytes_left = BYTES_MAX };
	char pattern[2 * PATH_MAX], *to = pattern;
	glob_t files;
	int rc = 0;

	if (strlen(folder) > PATH_MAX - sizeof("/*.pcap"))
		return refuse("--pcap: %s: %s", folder, strerror(ENAMETOOLONG));
	for (const char *from = folder; *from != '\0'; from++) /* its name is no pattern */
		to += sprintf(to, strchr("*?[\\", *from) == NULL ? "%c" : "\\%c", *from);
	strcpy(to, "/*.pcap");
	if (glob(pattern, 0, NULL, &files) != 0)
		return refuse("--pcap: there is no %s/*.pcap", folder);
	for (size_t i = 0; i < files.gl_pathc && rc == 0; i++)
		rc = file_read(files.gl_pathv[i], &all);
	globfree(&files);
	*frames = (struct hy_frames){ (const uint8_t *const *)all.bytes, all.len, all.n };
	if (rc == 0 && all.n == 0)
		rc = refuse("--pcap: no file of %s/*.pcap has an Ethernet frame", folder);
	if (rc < 0)
		captures_free(frames);
	return rc;
}

void
captures_free(struct hy_frames *frames)
{
	for (uint32_t i = 0; i < frames->n; i++)
		free((void *)(uintptr_t)frames->bytes[i]);
	free((void *)(uintptr_t)frames->bytes);
	free((void *)(uintptr_t)frames->len);
	*frames = (struct hy_frames){ 0 };
}
