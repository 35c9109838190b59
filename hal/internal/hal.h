/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the HAL share. */
#ifndef HY_HAL_PRIVATE_H
#define HY_HAL_PRIVATE_H

#include <rte_ethdev.h>

#include <hy_hal_live.h>

/* Of the two numbers of a pair, the second is below this. */
#define HY_PEERS_MAX \
	(RTE_MAX_ETHPORTS > RTE_CRYPTO_MAX_DEVS ? RTE_MAX_ETHPORTS : RTE_CRYPTO_MAX_DEVS)
#define HY_TARGETS_MAX (RTE_EVENT_MAX_DEVS * HY_PEERS_MAX)
static_assert(HY_TARGETS_MAX > UINT8_MAX, "ids of event, crypto and regex devices are bytes");

/* A number of a target among those of its kind. */
static inline unsigned int
hy_target_index(struct hy_target target)
{
	const bool pair = target.kind == HY_TARGET_EVENT_PORT ||
		target.kind == HY_TARGET_EVENT_CRYPTO;

	return pair ? target.id * HY_PEERS_MAX + target.peer : target.id;
}

/* A target as it was last seen. */
struct hy_hal_device {
	struct hy_target target;
	char name[RTE_ETH_NAME_MAX_LEN];   /* of a pair: its event device's */
	char driver[RTE_ETH_NAME_MAX_LEN]; /* likewise */
	bool set[HY_CAPS_MAX];             /* by hy_hal_capability_set(): outlives a probe */
	struct hy_capability caps[HY_CAPS_MAX];
};

struct hy_device_list {
	struct hy_hal_device *devices;
	unsigned int n;
};

struct hy_override;

struct hy_hal_port {
	bool present;
	bool ignored; /* the program does not use it */
	struct hy_hal_device dev;
};

/* What the user said of a variant. */
struct hy_rule {
	const struct hy_variant *variant;
	int at; /* hy_target_index() of a target; -1: all */
	bool deny;
};

/* What the program said that it is going to do. */
struct hy_declaration {
	char name[HY_NAME_SIZE];
	struct hy_capability cap;
};

/* A node that was handed out. */
struct hy_hal_node {
	hy_node_id id;
	bool made; /* by the HAL: goes with it */
	bool shared;
	bool at[HY_TARGETS_MAX]; /* targets that it was handed out for */
	const struct hy_family *family;
	const struct hy_variant *variant;
	struct hy_placement placement;
};

/* What every shared node of a family is configured with. */
struct hy_hal_config {
	const struct hy_family *family;
	void *data;
	size_t size;
};

/* An edge that follows a selection. */
struct hy_lead {
	hy_node_id node;
	uint16_t edge;
	const struct hy_family *family;
	struct hy_target target;
};

/* How prepare() went for a port, when hy_hal_plan() was called last. */
struct hy_trial {
	const struct hy_variant *variant;
	uint16_t port;
	bool ok;
	char reason[HY_REASON_SIZE];
};

/* A variant that has been bound, and not been unbound. */
struct hy_binding {
	const struct hy_variant *variant;
	struct hy_target target;
	bool fresh;   /* by the selection that is under way */
	bool leaving; /* to be unbound when the graphs have taken the last selection up */
};

/* What is known of a port's life, and wanted of it. */
struct hy_port_life {
	enum hy_port_state state;
	uint32_t events; /* heard and not yet seen to, EVENT_ bits of port_events.c; atomic */
	uint32_t wish;   /* what is to be done once the workers have left the port, likewise */
	bool held;       /* down until it is started: no reset is asked of the program */
	bool fresh;      /* came up, and no selection has seen to it yet */
	bool broken;     /* down because it needs a reset, or its driver recovers it */
	char reason[HY_TEXT_SIZE]; /* why it does not run */
};

struct hy_observer {
	hy_port_observer_t *notify;
	void *arg;
};

struct hy_hal {
	struct hy_hal_device process;
	struct hy_capability cpu[HY_CAPS_MAX]; /* as it is, whatever the user says of the process */
	struct hy_hal_port ports[RTE_MAX_ETHPORTS];
	struct hy_device_list list;    /* of what is no port: by kind, then id; pairs are last */
	struct hy_override *overrides; /* as the user gave them: the last word counts */
	unsigned int nb_overrides;
	struct hy_declaration *declared;
	unsigned int nb_declared;
	struct hy_rule *rules;
	unsigned int nb_rules;
	struct hy_selection *selections; /* by family name, then target */
	unsigned int nb_selections;
	struct hy_hal_node **nodes; /* each its own block: placements stay where they are */
	unsigned int nb_nodes;
	struct hy_hal_config *configs;
	unsigned int nb_configs;
	struct hy_lead *leads;
	unsigned int nb_leads;
	struct hy_port_plan plans[RTE_MAX_ETHPORTS];
	struct hy_trial *trials;
	unsigned int nb_trials;
	bool planning; /* ports are judged as they will be, not as they are */
	struct hy_binding *bindings;
	unsigned int nb_bindings;
	struct hy_port_life life[RTE_MAX_ETHPORTS];
	struct hy_observer *observers;
	unsigned int nb_observers;
	bool watched;      /* callbacks are registered */
	bool reselect_due; /* what hy_hal_poll() has seen is not yet in the graphs */
	bool outdated;     /* a capability was set otherwise since the last selection */
};

/* Selections in the making: candidates judged and in order, with nothing of the HAL changed. */
struct hy_slate {
	struct hy_selection *selections;
	unsigned int n;
};

/* Whether it is one, and not the end of a list. */
static inline bool
hy_need_asks(const struct hy_need *need)
{
	return need->cap != HY_CAP_NONE || need->key != NULL || need->declared != NULL;
}

/* Whether a target is judged as one that runs: before ports are started, all are. */
static inline bool
hy_target_runs(const struct hy_hal *of, struct hy_target target)
{
	return (target.kind != HY_TARGET_PORT && target.kind != HY_TARGET_EVENT_PORT) ||
		of->planning ||
		hy_hal_capability(of, target, HY_CAP_RUNNING)->level >= HY_LEVEL_YES;
}

/* hal.c: whether one exists, which may point to families and variants. */
bool hy_hal_exists(void);

/* select.c. A slate is freed by whoever made it, unless the HAL took it over. */
int hy_slate_make(const struct hy_hal *hal, struct hy_slate *slate, char *error);
void hy_slate_free(struct hy_slate *slate);
/* Puts the outcome in words, and gives it to the HAL in place of the selections before. */
void hy_slate_take(struct hy_hal *hal, struct hy_slate *slate);
const struct hy_selection *hy_slate_find(const struct hy_selection *selections, unsigned int n,
	const char *family, struct hy_target target);
/* Puts a candidate that fitted out of the race; takes that back. */
void hy_candidate_strike(struct hy_candidate *c, enum hy_fate fate, const char *format, ...)
	__rte_format_printf(3, 4);
void hy_candidate_restore(struct hy_candidate *c);
/* The best one of a variant that fits, or else any; the chosen one. */
struct hy_candidate *hy_candidate_of(struct hy_selection *s, const struct hy_variant *variant);
struct hy_candidate *hy_candidate_chosen(struct hy_selection *s);
/* What a need asks for; HY_CAP_NONE: a declaration, or what no pack has registered. */
enum hy_cap hy_need_cap(const struct hy_need *need);
/* What a need asks about: of what the variant runs on, or else of what it is selected for. */
const struct hy_capability *hy_need_subject(const struct hy_hal *hal, const struct hy_selection *s,
	const struct hy_candidate *c, const struct hy_need *need);
bool hy_need_met(const struct hy_need *need, const struct hy_capability *cap);
const char *hy_need_name(const struct hy_need *need);
/* The variant that the user forces for a target, or NULL. */
const struct hy_variant *hy_rule_forced(const struct hy_hal *hal, const struct hy_family *family,
	struct hy_target target);
int hy_no_memory(char *error);

/* change.c: finds out what would have to change for a candidate to be chosen. */
void hy_candidate_change(const struct hy_hal *hal, const struct hy_selection *s,
	struct hy_candidate *c);

/* constraint.c: whether two targets concern each other: no device of the one stands where another's
 * does. The process concerns all. */
bool hy_targets_meet(struct hy_target a, struct hy_target b);
/* Chooses, out of what has not been struck. Said again, starts anew. */
int hy_slate_resolve(const struct hy_hal *hal, struct hy_slate *slate, char *error);

/* plan.c: how prepare() went for a port; NULL: it was not asked. */
const struct hy_trial *hy_trial_find(const struct hy_hal *hal, const struct hy_variant *variant,
	uint16_t port);
/* The next port that concerns a selection's target and what its variant runs on, from *at on, which
 * counts on; false: that was all. */
bool hy_port_next(const struct hy_hal *hal, struct hy_target target, struct hy_target on,
	uint16_t *at, uint16_t *port);

/* bind.c: resolves a slate, and binds what is chosen; to be committed or rolled back. */
int hy_slate_bind(struct hy_hal *hal, struct hy_slate *slate, char *error);
void hy_bindings_rollback(struct hy_hal *hal);
/* What the slate does not choose is to leave. */
void hy_bindings_commit(struct hy_hal *hal, const struct hy_slate *slate);
bool hy_is_bound(const struct hy_hal *hal, const struct hy_variant *variant,
	struct hy_target target);
/* Unbinds what is to leave; all that is bound. */
void hy_bindings_release(struct hy_hal *hal);
void hy_bindings_end(struct hy_hal *hal);

/* place.c: the node records for other selections than the HAL's. */
struct hy_hal_node *hy_place_find(const struct hy_hal *hal, const struct hy_family *family,
	struct hy_target target);
/* Whether nodes were handed out for a port or a pair with it, or run on one. */
bool hy_place_has_port(const struct hy_hal *hal, uint16_t port);
/* Gives all nodes that were handed out what a slate chooses. May stop half-way: see reselect.c. */
int hy_place_again(struct hy_hal *hal, const struct hy_slate *slate);
int hy_place_impl(const struct hy_hal_node *node);
/* Whether it runs what a selection chose, on the same device. */
bool hy_place_suits(const struct hy_hal_node *node, const struct hy_selection *s);
/* Unregisters a node that the HAL made. */
void hy_place_remove(const struct hy_hal_node *node);

/* port_events.c: a port that does not run is as it was last seen, and known as such. */
bool hy_port_frozen(struct hy_hal *hal, uint16_t port);
void hy_port_running_set(struct hy_hal *hal, uint16_t port);
void hy_hal_unwatch(struct hy_hal *hal);

/* capability.c */
/* HY_TARGET_KINDS: there is no such capability */
enum hy_target_kind hy_cap_kind(enum hy_cap cap);
/* One that a pack added, or NULL. */
const struct hy_cap_desc *hy_cap_desc(enum hy_cap cap);
const char *hy_level_name(enum hy_level level);
int hy_level_find(const char *name); /* negative: none of that name */
const char *hy_origin_name(enum hy_origin origin);
const char *hy_kind_name(enum hy_target_kind kind);
const char *hy_kind_names(enum hy_target_kind kind); /* plural */
/* "process", "port 3", "event device 0 with port 3" */
const char *hy_target_text(struct hy_target target, char *text, size_t size);
bool hy_target_same(struct hy_target a, struct hy_target b);
struct hy_target hy_target_device(struct hy_target target);
struct hy_target hy_target_peer(struct hy_target target);
/* override_parse.c: reads "process", "port3", "event0:port3". */
bool hy_target_parse(const char *text, struct hy_target *target);

/* inventory.c: what probes fill in, as declared by the driver unless they say otherwise */
void hy_cap_fill(struct hy_capability *cap, enum hy_level level, uint64_t value, const char *reason,
	...) __rte_format_printf(4, 5);
void hy_cap_limit(struct hy_capability *cap, uint64_t value);            /* 0: it has not got it */
void hy_cap_flag(struct hy_capability *cap, bool has, const char *flag); /* a flag of DPDK's */
void hy_device_blank(struct hy_hal_device *dev, struct hy_target target);
/* A blank one; it moves when the next is added. A name or driver may be NULL. NULL: no memory. */
struct hy_hal_device *hy_device_add(struct hy_device_list *list, struct hy_target target,
	const char *name, const char *driver);

/* inventory_print.c: a member of an object */
void hy_inventory_json(const struct hy_hal *hal, FILE *out);

/* inventory_process.c, inventory_port.c */
void hy_probe_process(struct hy_hal *hal);
void hy_probe_port(struct hy_hal_port *port, uint16_t id);

/* inventory_event.c, inventory_crypto.c, inventory_regex.c, inventory_pair.c: 0 or -ENOMEM */
int hy_probe_event(struct hy_device_list *list);
int hy_probe_crypto(struct hy_device_list *list);
int hy_probe_regex(struct hy_device_list *list);
int hy_probe_pairs(const struct hy_hal *hal, struct hy_device_list *list);

/*
 * family.c: both lists are sorted by name, whatever order constructors ran in. Valid until the next
 * registration: plugins are loaded by the thread that selects.
 */
unsigned int hy_families(const struct hy_family *const **families);
const struct hy_family *hy_family_find(const char *name);
/* A variant of a family that nobody declared, or NULL. */
const struct hy_variant *hy_variant_orphan(void);
/* A variant's implementation, with what it leaves to its family. */
struct hy_node_impl hy_variant_impl(const struct hy_family *family,
	const struct hy_variant *variant);
/* The variants of a family, its reference one included. */
unsigned int hy_variants(const struct hy_family *family, const struct hy_variant *const **variants);

#endif
