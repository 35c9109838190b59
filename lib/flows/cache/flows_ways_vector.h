/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The body that the vector kernels share. A file defines these before it includes this one:
 * WAYS: the name of its flows_ways_t;
 * VECTOR: the attribute of its functions;
 * lanes_of(line, mask, expected, signature): which lanes of the first half of a line are as they should
 * be, as bits.
 */

VECTOR void
WAYS(const struct flows_lines *lines, const uint32_t hash[], uint16_t way[], uint32_t n)
{
	const uint32_t mask = lines->mask, ways = lines->ways;

	for (uint32_t i = 0; i < n; i++)
		way[i] = lines_ways(ways,
			lanes_of(lines->line[hash[i] & mask], lines->signature, lines->expected,
				lines_signature(hash[i])));
}
