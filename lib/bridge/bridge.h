/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bridge, for the files that implement it:
 *
 * bridge_text.c       words of lines and of commands
 * bridge_file.c       the file
 * bridge_setup.c      the set-up that nodes read, out of the file; its exchange
 * bridge.c            creation, start, destruction
 * bridge_nodes.c      nodes
 * bridge_poll.c       learning, ageing, links
 * bridge_reload.c     the file read again
 * bridge_report.c     what is counted, as tables and as JSON
 * bridge_command.c    changes by command, for telemetry
 * bridge_telemetry.c  telemetry's questions, answered by the control thread
 *
 * Only the control thread changes a bridge and its table.
 */
#pragma once

#include <stdbool.h>

#include <hy_bridge.h>

#define BRIDGE_PORTS HY_L2_BRIDGE_PORTS
#define BRIDGE_VID_MAX 4094
#define BRIDGE_GROUP_MAX 63
#define BRIDGE_STORM_MAX 1000000000u /* frames a second; no link has as many */
#define BRIDGE_RING 16384u           /* sources that a worker's ring holds, and one more */

/* A port, as the file describes it. There is no padding before line, so two can be compared. */
struct bridge_port {
	bool access;   /* else a trunk */
	uint8_t group; /* 0: none */
	struct hy_l2_port rules;
	uint32_t entries;                /* most learned ones; 0: no limit */
	uint32_t storm[HY_L2_STORMS];    /* frames a second; 0: no limit */
	uint64_t vlans[HY_L2_VIDS / 64]; /* that it is a member of; untagged in rules.pvid */
	unsigned int line;               /* of the file; 0: not set up */
};

struct bridge_static {
	uint64_t key;
	uint16_t port; /* of the table */
	unsigned int line;
};

/* A file's content. */
struct bridge_file {
	uint16_t tag_type;
	uint32_t age;                                  /* seconds; 0: never */
	uint32_t entries;                              /* of the table */
	unsigned int tag_line, age_line, entries_line; /* 0: by default */
	struct bridge_port port[BRIDGE_PORTS];         /* by number */
	struct bridge_static *statics;                 /* by key */
	unsigned int nb_statics;
};

/* A set-up, with what its end needs. */
struct bridge_setup {
	struct hy_l2_setup nodes;
	struct bridge_setup *next; /* of those that wait for workers */
	uint64_t token;            /* of its grace period */
};

#define BRIDGE_OUTDATED HY_L2_OUTCOMES /* after the outcomes: the set-up has changed since */

/* What became of sources. */
struct bridge_learned {
	uint64_t n[HY_L2_OUTCOMES + 1];
};

/* A static entry that a reload changes, and what was there before. */
struct bridge_change {
	uint64_t key;
	bool had;
	struct hy_l2_entry before;
};

/* A reload. Once applied, it holds what was in force before. */
struct bridge_reload {
	struct bridge_file *file;
	struct bridge_setup *setup;
	uint8_t state[BRIDGE_PORTS];
	bool applied;
	struct bridge_change *changes;
	unsigned int nb_changes, added, deleted, ports;
};

struct hy_bridge {
	const char *path;
	uint16_t ports[BRIDGE_PORTS]; /* ethdevs, by number */
	unsigned int nb_ports;
	uint16_t shares[BRIDGE_PORTS]; /* workers that share limits */
	struct bridge_file *file;
	uint8_t state[BRIDGE_PORTS];     /* enum hy_l2_state, of the file or by command */
	uint64_t down, gone;             /* ports whose links are down; that were removed */
	const struct hy_l2_setup *setup; /* that nodes read */
	struct bridge_setup *current;    /* the same */
	struct bridge_setup *retired;    /* the latest first */
	struct hy_l2_table *table;
	const struct hy_workers *workers;
	struct hy_l2_worker *worker[RTE_MAX_LCORE];
	const struct hy_hal *hal; /* after hy_bridge_nodes() */
	hy_node_id local;         /* of hy_bridge_nodes() without a router, */
	bool has_local;           /* if so */
	bool told;                /* the table knows the time, */
	uint32_t now;             /* which is this */
	struct bridge_learned by_port[BRIDGE_PORTS];
	struct bridge_learned by_vlan[HY_L2_VIDS];
	struct bridge_reload reload;
};

/* Where text is from that is read. */
struct bridge_place {
	const char *path; /* NULL: a command */
	unsigned int line;
	char *error;
};

/* Writes what is wrong with a field. Returns -EINVAL. */
int bridge_refuse(const struct bridge_place *at, const char *field, const char *format, ...)
	__rte_format_printf(3, 4);
#define BRIDGE_QUOTED 64 /* bytes of a word that are repeated at most */
/* A word, or what stands for none, as messages show it. */
const char *bridge_shown(const char *word);
/* Cuts the next word off a text; "" at its end. */
char *bridge_word(char **text);
/* Refuses what is left of a text. */
int bridge_end(const struct bridge_place *at, char *text);
/* These read a word, and refuse it as one of a field. */
int bridge_number(const struct bridge_place *at, const char *field, const char *word,
	unsigned int min, unsigned int max, uint32_t *value);
int bridge_vid(const struct bridge_place *at, const char *field, const char *word, uint16_t *vid);
/* @param number The bridge's. */
int bridge_port(const struct bridge_place *at, const struct hy_bridge *bridge, const char *word,
	uint16_t *number);
int bridge_state(const struct bridge_place *at, const char *word, uint8_t *state);
/* Any address but those that no entry can have. */
int bridge_mac(const struct bridge_place *at, const char *word, uint8_t mac[6]);
/* Reads "MAC vlan V", all of a key. */
int bridge_key(const struct bridge_place *at, char **text, uint64_t *key);
/* Reads "MAC vlan V port P" or "MAC vlan V local", and no more. */
int bridge_static(const struct bridge_place *at, const struct hy_bridge *bridge, char *text,
	struct bridge_static *entry);
/* Refuses an entry of which frames could not leave. */
int bridge_static_check(const struct bridge_place *at, const struct hy_bridge *bridge,
	const struct bridge_file *file, const struct bridge_static *entry);
/* "blocking", ... */
extern const char *const bridge_states[HY_L2_FORWARDING + 1];
extern const char *const bridge_storms[HY_L2_STORMS];

static inline bool
bridge_is_member(const struct bridge_port *port, uint16_t vid)
{
	return (port->vlans[vid / 64] >> vid % 64 & 1) != 0;
}

static inline void
bridge_join(struct bridge_port *port, uint16_t vid)
{
	port->vlans[vid / 64] |= UINT64_C(1) << vid % 64;
}

/* Reads the bridge's file. */
int bridge_file_read(const struct hy_bridge *bridge, struct bridge_file **file, char *error);
void bridge_file_free(struct bridge_file *file);

/* The set-up of a file, with ports' states. NULL: out of memory. */
struct bridge_setup *bridge_setup_make(const struct hy_bridge *bridge,
	const struct bridge_file *file, const uint8_t state[]);
void bridge_setup_free(struct bridge_setup *setup);

/* Removes what hy_bridge_nodes() has registered itself, when no graph has it. */
void bridge_nodes_destroy(struct hy_bridge *bridge);
/* Shows a set-up to workers. Returns the one before. */
struct bridge_setup *bridge_setup_exchange(struct hy_bridge *bridge, struct bridge_setup *setup);
/* Has a set-up freed that workers see no more. NULL is allowed. */
void bridge_setup_retire(struct hy_bridge *bridge, struct bridge_setup *setup);
/* Frees those that no worker reads any more. With wait, returns whether these are all. */
bool bridge_setup_settle(struct hy_bridge *bridge, bool wait);
/* Exchanges the set-up for one of the present file, states and ports. */
int bridge_setup_renew(struct hy_bridge *bridge);
/* Whether addresses of a port are learned in a VLAN. */
bool bridge_learns(const struct hy_bridge *bridge, uint16_t port, uint16_t vid);

/* Deletes learned entries that would not be learned any more. */
void bridge_sweep(struct hy_bridge *bridge);
/* Gives the table the file's limits of ports. */
void bridge_limits(struct hy_bridge *bridge);
/* Refuses a file with more static entries than the table may have. */
int bridge_statics_fit(const struct hy_bridge *bridge, const struct bridge_file *file, char *error);
/* The number of an ethdev; negative: it is no port of the bridge. */
int bridge_number_of(const struct hy_bridge *bridge, uint16_t port);

/* What is counted of a port or a VLAN. */
struct bridge_counts {
	uint32_t entries;
	uint64_t learned, moved, refreshed, aged, refused, flooded;
};

struct bridge_counts bridge_port_counts(const struct hy_bridge *bridge, uint16_t number);
/* Returns whether anything was counted of a VLAN. */
bool bridge_vlan_counts(const struct hy_bridge *bridge, uint16_t vid, struct bridge_counts *c);
/* Of all ports. */
struct bridge_counts bridge_counts(const struct hy_bridge *bridge);
/* How many ports are members of a VLAN. */
unsigned int bridge_members(const struct hy_bridge *bridge, uint16_t vid);

/* Commands: each changes its text, and writes why it is refused. */
int bridge_command_add(struct hy_bridge *bridge, char *text, char *error);
int bridge_command_del(struct hy_bridge *bridge, char *text, char *error);
int bridge_command_flush(struct hy_bridge *bridge, char *text, uint32_t *flushed, char *error);
int bridge_command_state(struct hy_bridge *bridge, char *text, char *error);

/* Which entries a dump shows: HY_L2_ANY, or these; and where it goes on. */
struct bridge_filter {
	uint16_t port, vid;
	bool statics; /* of a flush: static ones too */
	uint32_t cursor;
};

/* Reads "[port P] [vlan V] [cursor C]" of a dump, or "[port P] [vlan V] [static]" of a flush. */
int bridge_filter(const struct bridge_place *at, const struct hy_bridge *bridge, char *text,
	bool dump, struct bridge_filter *filter);
/* Reads up to n entries that match, of the next BRIDGE_LOOKS, and moves the cursor on. */
uint32_t bridge_dump(const struct hy_bridge *bridge, struct bridge_filter *filter,
	struct hy_l2_entry entries[], uint32_t n);
#define BRIDGE_LOOKS 16384u

/* Telemetry is answered for a bridge from now on, or no more. */
void bridge_show(struct hy_bridge *bridge);
void bridge_hide(const struct hy_bridge *bridge);
/* Answers a question, if there is one. */
void bridge_answer(struct hy_bridge *bridge);
