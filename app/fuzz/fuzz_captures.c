/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes the reader of captures (--pcap of hy-hal), which uses libpcap. */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/hy-hal/command.h"
#include "fuzz.h"

static char folder[] = "/tmp/hy-fuzz-XXXXXX";
static char link_name[sizeof(folder) + sizeof("/input.pcap")];

static void
folder_remove(void)
{
	unlink(link_name);
	rmdir(folder);
}

/* Makes a folder with the input as its only capture. */
static void
captures_init(void)
{
	FUZZ_CHECK(mkdtemp(folder) != NULL);
	snprintf(link_name, sizeof(link_name), "%s/input.pcap", folder);
	atexit(folder_remove);
	FUZZ_CHECK(symlink(fuzz_file("", 0), link_name) == 0);
}

static bool
captures_one(const uint8_t *bytes, size_t size)
{
	struct hy_frames frames;
	volatile uint8_t sum = 0;
	size_t total = 0;

	fuzz_file(bytes, size);
	if (captures_read(folder, &frames) < 0) {
		FUZZ_CHECK(frames.n == 0 && frames.bytes == NULL && frames.len == NULL);
		return false;
	}
	FUZZ_CHECK(frames.n > 0);
	for (uint32_t i = 0; i < frames.n; i++) {
		total += frames.len[i];
		for (uint32_t b = 0; b < frames.len[i]; b++)
			sum = (uint8_t)(sum + frames.bytes[i][b]);
	}
	FUZZ_CHECK(total < size);
	captures_free(&frames);
	return true;
}

static void
put(FILE *out, unsigned int width, uint32_t value)
{
	for (unsigned int i = 0; i < width; i++)
		putc(i < sizeof(value) ? (int)(value >> 8 * i & 0xff) : 0, out);
}

/* Writes a pcapng block: type, length, n words, length. */
static void
put_block(FILE *out, uint32_t type, const uint32_t *words, uint32_t n)
{
	put(out, 4, type);
	put(out, 4, 12 + 4 * n);
	for (uint32_t i = 0; i < n; i++)
		put(out, 4, words[i]);
	put(out, 4, 12 + 4 * n);
}

/* Two frames, as pcap in either precision, or as pcapng. */
static bool
captures_seed(unsigned int i, FILE *out)
{
	static const uint32_t magic[] = { 0xa1b2c3d4, 0xa1b23c4d };
	static const uint32_t section[] = { 0x1a2b3c4d, 1, UINT32_MAX, UINT32_MAX };
	static const uint32_t interface[] = { 1, 65535 };
	static const uint32_t packet[] = { 0, 0, 0, 8, 8, 0x11223344, 0x55667788 };

	if (i < RTE_DIM(magic)) {
		put(out, 4, magic[i]);
		put(out, 4, 2 | 4 << 16);
		put(out, 8, 0);
		put(out, 4, 65535);
		put(out, 4, 1);
		for (uint32_t frame = 1; frame < 3; frame++) {
			put(out, 8, frame);
			put(out, 4, 14 * frame);
			put(out, 4, 20 * frame);
			put(out, 14 * frame, frame);
		}
	} else if (i == RTE_DIM(magic)) {
		put_block(out, 0x0a0d0d0a, section, RTE_DIM(section));
		put_block(out, 1, interface, RTE_DIM(interface));
		put_block(out, 6, packet, RTE_DIM(packet));
	}
	return i <= RTE_DIM(magic);
}

const struct fuzz_target fuzz_captures = { "captures", captures_init, captures_one, captures_seed };
