/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of a switch share. */
#pragma once

#include <pthread.h>

#include <hy_vswitch.h>

/* Actions of rules, which share them. */
struct vswitch_actions {
	uint32_t refs, n;
	struct hy_vswitch_action action[];
};

struct vswitch_subtable;

struct vswitch_entry {
	struct hy_flows_key key; /* masked */
	struct vswitch_subtable *subtable;
	struct vswitch_entry *next; /* same key, and lower in rank */
	struct vswitch_actions *actions;
	uint64_t id;    /* its order in the upper bits, its slot in the others */
	uint64_t order; /* in which rules of one priority count */
	uint64_t cookie;
	struct hy_vswitch_stats stats;
	uint16_t priority, idle_timeout, hard_timeout;
	uint8_t table;
};

/*
 * A node of a crit-bit tree: the keys below it are the same in the bits before `bit`, and differ in this
 * one. A leaf is the first entry of a key. Bits count in memory order, the highest of a byte first.
 */
struct vswitch_node {
	uint32_t bit;
	struct vswitch_node *child[2]; /* or leaves: bit 0 of the pointer is set */
};

/* Rules of one mask. */
struct vswitch_subtable {
	struct hy_flows_key mask;
	struct vswitch_node *root; /* or a leaf; NULL: none */
	uint32_t n, at_top;        /* rules; of these, of the highest priority */
	uint16_t priority;         /* that one */
	bool stale;                /* it is to be found anew */
};

struct vswitch_table {
	struct vswitch_subtable **subtable; /* by priority, from the highest */
	uint32_t n, room;
	bool stale; /* a subtable is empty, or its priority too high */
};

/* All rules of a switch. */
struct vswitch_set {
	struct vswitch_table table[HY_VSWITCH_TABLES];
	struct vswitch_entry **slot; /* by the lower bits of their id; NULL: none */
	uint32_t *spare;             /* slots below `slots` that have none */
	uint32_t slots, spares, room;
	uint32_t n;
	bool stale; /* a table is */
};

/* vswitch_tree.c: the keys of a subtable. */
static inline bool
vswitch_is_leaf(const struct vswitch_node *node)
{
	return ((uintptr_t)node & 1) != 0;
}

static inline struct vswitch_entry *
vswitch_leaf(const struct vswitch_node *node)
{
	return (struct vswitch_entry *)((uintptr_t)node - 1);
}

static inline struct vswitch_node *
vswitch_of_leaf(const struct vswitch_entry *entry)
{
	return (struct vswitch_node *)((uintptr_t)entry + 1);
}

/* The entries of a key, or NULL. Adds the bits of the key that say so to `looked`. */
struct vswitch_entry *vswitch_tree_find(const struct vswitch_subtable *sub,
	const struct hy_flows_key *key, struct hy_flows_key *looked);
/* Where the leaf of a key is, or NULL. */
struct vswitch_node **vswitch_tree_place(struct vswitch_subtable *sub,
	const struct hy_flows_key *key);
/* Adds a leaf of a key that has none. `node` is for use unless it is the first leaf. */
void vswitch_tree_add(struct vswitch_subtable *sub, struct vswitch_entry *leaf,
	struct vswitch_node *node);
/* Removes the leaf of a key, which there must be. */
void vswitch_tree_remove(struct vswitch_subtable *sub, const struct hy_flows_key *key);

/* vswitch_set.c */
struct vswitch_set *vswitch_set_create(void);
void vswitch_set_destroy(struct vswitch_set *set);
/* The entry of a table with the priority and match of a rule, or NULL. */
struct vswitch_entry *vswitch_set_same(struct vswitch_set *set, uint32_t table,
	const struct hy_vswitch_rule *rule);
/*
 * Adds a rule, and deletes the one that is the same. The order is that of its adding, in the upper bits of
 * its id.
 */
int vswitch_set_add(struct vswitch_set *set, const struct hy_vswitch_rule *rule, uint64_t order,
	uint64_t now, struct vswitch_entry **added);
/* Deletes an entry. Subtables are in order again after vswitch_set_settle(). */
void vswitch_set_remove(struct vswitch_set *set, struct vswitch_entry *entry);
void vswitch_set_settle(struct vswitch_set *set);
/*
 * Gives each rule of a set, from which none was removed, a slot: one whose id is older than `first`, the
 * order of the set's first rule, that of its id, which it had in the set before; the others, free ones.
 */
int vswitch_set_renumber(struct vswitch_set *set, const struct vswitch_set *before, uint64_t first);
struct vswitch_entry *vswitch_set_get(const struct vswitch_set *set, uint64_t id);
/* Whether a rule selects an entry: as hy_vswitch_modify() says. */
bool vswitch_selects(const struct hy_vswitch_rule *rule, bool strict,
	const struct vswitch_entry *entry);
/* The rule of a table that counts for a key, or NULL, and the bits by which that is known. */
struct vswitch_entry *vswitch_find(const struct vswitch_table *table,
	const struct hy_flows_key *key, struct hy_flows_key *looked);
struct vswitch_actions *vswitch_actions_make(const struct hy_vswitch_rule *rule);
void vswitch_actions_drop(struct vswitch_actions *actions);
void vswitch_entry_rule(const struct vswitch_entry *entry, struct hy_vswitch_rule *rule);

/* Where a translation stands: the actions of a rule, from the next one on. */
struct vswitch_frame {
	const struct vswitch_entry *entry;
	uint16_t next;
	bool deeper; /* it went back to an earlier table */
};

struct hy_vswitch {
	pthread_mutex_t lock;
	struct hy_vswitch_port port[HY_VSWITCH_PORTS]; /* by number */
	struct hy_vswitch_name name[HY_VSWITCH_PORTS];
	uint32_t nb_ports;
	uint16_t normal_edge;
	struct vswitch_set *set;
	uint64_t order;                                       /* of the rule that is added next */
	struct hy_vswitch_changes changes;                    /* since they were read last */
	struct vswitch_frame stack[HY_VSWITCH_RESUBMITS + 1]; /* of the translation under way */
};

/* vswitch.c: the port of a number, or NULL; that from which a packet came. */
const struct hy_vswitch_port *vswitch_port_of(const struct hy_vswitch *vswitch, uint16_t number);
const struct hy_vswitch_port *vswitch_input(const struct hy_vswitch *vswitch,
	const struct hy_flows_key *key);

/* vswitch_changes.c: remembers what changes, with the lock. A rule that goes, or gets other actions; */
void vswitch_log_gone(struct hy_vswitch *vswitch, uint64_t id);
/* a rule that was added, and has replaced none; */
void vswitch_log_new(struct hy_vswitch *vswitch, const struct vswitch_entry *entry);
/* anything. */
void vswitch_log_all(struct hy_vswitch *vswitch);
/* vswitch_translate.c: a packet's kind as rules see it. */
uint8_t vswitch_kind_of(uint8_t kind);
