/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keys of one mask in a crit-bit tree. Of a key that is not among them, a few bits say so: those at which
 * the way through the tree went one way rather than the other, before the first bit in which the key
 * differs from the leaf at the end, and that bit. All keys below the node at which the way passes that
 * bit have it as the leaf does.
 */

#include <stdlib.h>

#include <rte_byteorder.h>

#include "lib/vswitch/vswitch.h"

#define BITS (64u * HY_FLOWS_WORDS)

static inline uint32_t
bit_of(const struct hy_flows_key *key, uint32_t bit)
{
	return ((const uint8_t *)key)[bit / 8] >> (7 - bit % 8) & 1;
}

static inline void
bit_set(struct hy_flows_key *key, uint32_t bit)
{
	((uint8_t *)key)[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
}

/* The first bit of a mask in which two keys differ; BITS: none. */
static uint32_t
first_difference(const struct hy_flows_key *a, const struct hy_flows_key *b,
	const struct hy_flows_key *mask)
{
	for (uint32_t w = 0; w < HY_FLOWS_WORDS; w++) {
		const uint64_t differ = (a->words[w] ^ b->words[w]) & mask->words[w];

		if (differ != 0)
			return 64 * w + (uint32_t)__builtin_clzll(rte_be_to_cpu_64(differ));
	}
	return BITS;
}

static struct vswitch_entry *
nearest(const struct vswitch_subtable *sub, const struct hy_flows_key *key)
{
	const struct vswitch_node *node = sub->root;

	while (!vswitch_is_leaf(node))
		node = node->child[bit_of(key, node->bit)];
	return vswitch_leaf(node);
}

/*
 * The bit that tells a key from a leaf; BITS: none does. One that the key has and the leaf lacks, if there is
 * one: a key of which only the bits that were looked at are known, and the others are 0, finds it, or one
 * before it that is known, too. Otherwise the first that the key lacks, and those that both have before it.
 */
static uint32_t
told_by(const struct hy_flows_key *leaf, const struct hy_flows_key *key,
	const struct hy_flows_key *mask, struct hy_flows_key *looked)
{
	const struct hy_flows_key none = { 0 };
	struct hy_flows_key only;
	uint32_t differ;

	for (uint32_t w = 0; w < HY_FLOWS_WORDS; w++)
		only.words[w] = key->words[w] & ~leaf->words[w];
	differ = first_difference(&only, &none, mask);
	if (differ != BITS)
		return differ;
	differ = first_difference(leaf, key, mask);
	for (uint32_t bit = 0; differ != BITS && bit < differ; bit++)
		if (bit_of(mask, bit) != 0 && bit_of(leaf, bit) != 0)
			bit_set(looked, bit);
	return differ;
}

struct vswitch_entry *
vswitch_tree_find(const struct vswitch_subtable *sub, const struct hy_flows_key *key,
	struct hy_flows_key *looked)
{
	struct vswitch_entry *leaf = nearest(sub, key);
	const uint32_t differ = told_by(&leaf->key, key, &sub->mask, looked);

	if (differ == BITS) {
		for (uint32_t w = 0; w < HY_FLOWS_WORDS; w++)
			looked->words[w] |= sub->mask.words[w];
		return leaf;
	}
	for (const struct vswitch_node *node = sub->root;
		!vswitch_is_leaf(node) && node->bit < differ;
		node = node->child[bit_of(key, node->bit)])
		bit_set(looked, node->bit);
	bit_set(looked, differ);
	return NULL;
}

struct vswitch_node **
vswitch_tree_place(struct vswitch_subtable *sub, const struct hy_flows_key *key)
{
	struct vswitch_node **place = &sub->root;

	if (*place == NULL)
		return NULL;
	while (!vswitch_is_leaf(*place))
		place = &(*place)->child[bit_of(key, (*place)->bit)];
	return first_difference(&vswitch_leaf(*place)->key, key, &sub->mask) == BITS ? place : NULL;
}

void
vswitch_tree_add(struct vswitch_subtable *sub, struct vswitch_entry *leaf,
	struct vswitch_node *node)
{
	struct vswitch_node **place = &sub->root;
	uint32_t side;

	if (*place == NULL) {
		*place = vswitch_of_leaf(leaf);
		return;
	}
	node->bit = first_difference(&nearest(sub, &leaf->key)->key, &leaf->key, &sub->mask);
	while (!vswitch_is_leaf(*place) && (*place)->bit < node->bit)
		place = &(*place)->child[bit_of(&leaf->key, (*place)->bit)];
	side = bit_of(&leaf->key, node->bit);
	node->child[side] = vswitch_of_leaf(leaf);
	node->child[!side] = *place;
	*place = node;
}

void
vswitch_tree_remove(struct vswitch_subtable *sub, const struct hy_flows_key *key)
{
	struct vswitch_node **place = &sub->root, **above = NULL, *node;

	while (!vswitch_is_leaf(*place)) {
		above = place;
		place = &(*place)->child[bit_of(key, (*place)->bit)];
	}
	if (above == NULL) {
		*place = NULL;
		return;
	}
	node = *above;
	*above = node->child[place == &node->child[0]];
	free(node);
}
