/* SPDX-License-Identifier: BSD-3-Clause */
/* Internals that the files of the HAL share. */
#pragma once

#include <rte_ethdev.h>

#include <hy_hal_live.h>

#include "lib/graph/internal/log.h"

/* Limit of the id of a pair's second device. */
#define HY_PEERS_MAX \
	(RTE_MAX_ETHPORTS > RTE_CRYPTO_MAX_DEVS ? RTE_MAX_ETHPORTS : RTE_CRYPTO_MAX_DEVS)
#define HY_TARGETS_MAX (RTE_EVENT_MAX_DEVS * HY_PEERS_MAX)
static_assert(HY_TARGETS_MAX > UINT8_MAX, "ids of event, crypto and regex devices are bytes");

/* The index of a target among those of its kind. */
static inline unsigned int
hy_target_index(struct hy_target target)
{
	const bool pair = target.kind == HY_TARGET_EVENT_PORT ||
		target.kind == HY_TARGET_EVENT_CRYPTO;

	return pair ? target.id * HY_PEERS_MAX + target.peer : target.id;
}

/* A target as of the last probe. */
struct hy_hal_device {
	struct hy_target target;
	char name[RTE_ETH_NAME_MAX_LEN];   /* of a pair: of its event device */
	char driver[RTE_ETH_NAME_MAX_LEN]; /* likewise */
	bool set[HY_CAPS_MAX];             /* by hy_hal_capability_set(): survives a probe */
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

/* A user's rule: forces or denies a variant, or denies a fusion. */
struct hy_rule {
	const struct hy_variant *variant; /* or NULL */
	const struct hy_fusion *fusion;   /* likewise */
	int at;                           /* hy_target_index() of a target; -1: all */
	bool deny;
};

/* A program's declaration of what it is going to do. */
struct hy_declaration {
	char name[HY_NAME_SIZE];
	struct hy_capability cap;
};

/* A node that was handed out. */
struct hy_hal_node {
	hy_node_id id;
	bool made; /* by the HAL, which removes it */
	bool shared;
	bool at[HY_TARGETS_MAX]; /* targets for which it was handed out */
	const struct hy_family *family;
	const struct hy_variant *variant;
	struct hy_placement placement;
};

/* The configuration of all shared nodes of a family. */
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

/* The result of prepare() for a port in the last hy_hal_plan(). */
struct hy_trial {
	const struct hy_variant *variant;
	uint16_t port;
	bool ok;
	char reason[HY_REASON_SIZE];
};

/* A variant that is bound to a target. */
struct hy_binding {
	const struct hy_variant *variant;
	struct hy_target target;
	bool fresh;   /* bound by the selection in progress */
	bool leaving; /* to be unbound when the graphs have taken up the last selection */
};

/* The lifecycle of a port. */
struct hy_port_life {
	enum hy_port_state state;
	uint32_t events; /* not handled yet: EVENT_ bits of port_events.c; atomic */
	uint32_t wish;   /* EVENT_ bits to serve when the workers have left the port */
	bool held;       /* down until it is started: the program is not asked to reset it */
	bool stopped;    /* by the program, which has not started it since; atomic */
	bool fresh;      /* up, but not selected for yet */
	bool broken;     /* down because it needs a reset, or its driver recovers it */
	bool recovers;   /* the latter */
	uint64_t again;  /* when its reset is tried again, in TSC cycles; 0: not */
	char reason[HY_TEXT_SIZE]; /* why it does not run */
};

/* An observer, or a guard: the other member is NULL. */
struct hy_observer {
	hy_port_observer_t *notify;
	hy_port_guard_t *guard;
	void *arg;
};

/* The selections of a HAL, or those in progress: judged and sorted, without effect on it yet. */
struct hy_slate {
	struct hy_selection *selections; /* by family name, then target */
	unsigned int n;
	bool unfit; /* a previous choice stays although it no longer fits */
};

struct hy_hal {
	struct hy_hal_device process;
	struct hy_capability cpu[HY_CAPS_MAX]; /* of the process, without overrides */
	struct hy_hal_port ports[RTE_MAX_ETHPORTS];
	struct hy_device_list list;    /* all but ports: by kind, then id; pairs are last */
	struct hy_override *overrides; /* in the order given: the last one takes precedence */
	unsigned int nb_overrides;
	struct hy_declaration *declared;
	unsigned int nb_declared;
	struct hy_rule *rules;
	unsigned int nb_rules;
	struct hy_slate selected;
	struct hy_offer **offers; /* of fusions, see fusion.c */
	unsigned int nb_offers;
	bool fusions_due;           /* offers have changed: graphs are to be updated */
	struct hy_hal_node **nodes; /* allocated one by one, so that placements do not move */
	unsigned int nb_nodes;
	struct hy_hal_config *configs;
	unsigned int nb_configs;
	struct hy_lead *leads;
	unsigned int nb_leads;
	struct hy_port_plan plans[RTE_MAX_ETHPORTS];
	struct hy_trial *trials;
	unsigned int nb_trials;
	bool planning; /* judges ports as if they ran */
	struct hy_binding *bindings;
	unsigned int nb_bindings;
	struct hy_port_life life[RTE_MAX_ETHPORTS];
	struct hy_observer *observers;
	unsigned int nb_observers;
	bool watched;      /* callbacks are registered */
	bool reselect_due; /* port events since the last selection */
	bool outdated;     /* a capability has changed since the last selection */
	bool keeps;        /* selects for ports that leave or come up: see hy_slate_resolve() */
};

/* Whether an entry is a need, and not the end of the list. */
static inline bool
hy_need_asks(const struct hy_need *need)
{
	return need->cap != HY_CAP_NONE || need->key != NULL || need->declared != NULL;
}

/* Whether a target counts as running: in a plan, all do. */
static inline bool
hy_target_runs(const struct hy_hal *of, struct hy_target target)
{
	return (target.kind != HY_TARGET_PORT && target.kind != HY_TARGET_EVENT_PORT) ||
		of->planning ||
		hy_hal_capability(of, target, HY_CAP_RUNNING)->level >= HY_LEVEL_YES;
}

/* hal.c: whether a HAL exists, which may point to families and variants. */
bool hy_hal_exists(void);

/* select.c. The caller frees a slate, unless it gives it to the HAL. */
int hy_slate_make(const struct hy_hal *hal, struct hy_slate *slate, char *error);
void hy_slate_free(struct hy_slate *slate);
/* Changes what a slate selects, before it is committed. */
typedef int(hy_slate_apply)(struct hy_hal *hal, const struct hy_slate *slate, void *arg,
	char *error);
/*
 * Replaces the HAL's selections and bindings; on an error, undoes its bindings. apply may be NULL.
 */
int hy_slate_select(struct hy_hal *hal, char *error, hy_slate_apply *apply, void *arg);
/* Sets the fate of a candidate, and its reason, followed by the parts of its score. */
void hy_candidate_decide(struct hy_candidate *c, enum hy_fate fate, const char *format, ...)
	__rte_format_printf(3, 4);
/* The best fitting candidate of a variant, or else any. */
struct hy_candidate *hy_candidate_of(struct hy_selection *s, const struct hy_variant *variant);
struct hy_candidate *hy_candidate_chosen(struct hy_selection *s);
/* The capability that a need names; HY_CAP_NONE: a declaration, or not registered. */
enum hy_cap hy_need_cap(const struct hy_need *need);
/* The capability or declaration that decides a need: of the candidate's device or of the target. */
const struct hy_capability *hy_need_subject(const struct hy_hal *hal, const struct hy_selection *s,
	const struct hy_candidate *c, const struct hy_need *need);
bool hy_need_met(const struct hy_need *need, const struct hy_capability *cap);
const char *hy_need_name(const struct hy_need *need);
/* The variant that the user forces for a target, or NULL. */
const struct hy_variant *hy_rule_forced(const struct hy_hal *hal, const struct hy_family *family,
	struct hy_target target);
int hy_no_memory(char *error);

/* fusion.c: all that are declared. */
unsigned int hy_fusions(const struct hy_fusion *const **fusions);
/* The first of those that share a name; NULL: there is none. */
const struct hy_fusion *hy_fusion_named(const char *name);
/* Whether the user has denied it, as of the last selection. */
bool hy_fusion_withheld(const struct hy_hal *hal, const struct hy_fusion *fusion);
/* Offers all that are not denied, and withdraws others. 0, -ENOMEM, or -EEXIST. */
int hy_fusions_offer(struct hy_hal *hal, char *error);
/* As before hy_fusions_offer(), after a selection that failed there or later. */
void hy_fusions_undo(struct hy_hal *hal);
/* Withdraws all. No graph may be left. */
void hy_fusions_end(struct hy_hal *hal);

/* change.c: finds out what would have to change for a candidate to be chosen. */
void hy_candidate_change(const struct hy_hal *hal, const struct hy_selection *s,
	struct hy_candidate *c);

/*
 * constraint.c: whether two targets concern each other: they do not name different devices of the same
 * kind. The process concerns all targets.
 */
bool hy_targets_meet(struct hy_target a, struct hy_target b);
/*
 * Chooses among the candidates that are not struck. May be repeated. If hal->keeps, previous choices
 * stay where none fits, except on ports that come up; slate->unfit is set then.
 */
int hy_slate_resolve(const struct hy_hal *hal, struct hy_slate *slate, char *error);

/* plan.c: the result of prepare() for a port; NULL: it was not called. */
const struct hy_trial *hy_trial_find(const struct hy_hal *hal, const struct hy_variant *variant,
	uint16_t port);
/*
 * Iterates over the ports that concern both a selection's target and its variant's device; *at starts
 * at 0. False: there are no more.
 */
bool hy_port_next(const struct hy_hal *hal, struct hy_target target, struct hy_target on,
	uint16_t *at, uint16_t *port);

/* bind.c: resolves a slate, and binds its choices; to be committed or rolled back. */
int hy_slate_bind(struct hy_hal *hal, struct hy_slate *slate, char *error);
void hy_bindings_rollback(struct hy_hal *hal);
/* Marks bindings that the slate does not choose as leaving. */
void hy_bindings_commit(struct hy_hal *hal, const struct hy_slate *slate);
bool hy_is_bound(const struct hy_hal *hal, const struct hy_variant *variant,
	struct hy_target target);
/* Unbinds the leaving bindings. */
void hy_bindings_release(struct hy_hal *hal);
/* Unbinds all. */
void hy_bindings_end(struct hy_hal *hal);

/* place.c: the shared node of a target, or NULL. */
struct hy_hal_node *hy_place_find(const struct hy_hal *hal, const struct hy_family *family,
	struct hy_target target);
/* Whether nodes were handed out for a port or a pair with it, or run on such a device. */
bool hy_place_has_port(const struct hy_hal *hal, uint16_t port);
/*
 * Gives all handed-out nodes the choices of a slate. An error leaves some changed: see reselect.c.
 */
int hy_place_again(struct hy_hal *hal, const struct hy_slate *slate);
int hy_place_impl(const struct hy_hal_node *node);
/* Whether a node runs what a selection chose, on the same device. */
bool hy_place_suits(const struct hy_hal_node *node, const struct hy_selection *s);
/* Unregisters a node that the HAL made. */
void hy_place_remove(const struct hy_hal_node *node);

/* port_events.c: whether a port is not to be probed, but kept as it was last seen. */
bool hy_port_frozen(struct hy_hal *hal, uint16_t port);
void hy_port_running_set(struct hy_hal *hal, uint16_t port);
void hy_hal_unwatch(struct hy_hal *hal);

/* capability.c */
/* HY_TARGET_KINDS: no such capability */
enum hy_target_kind hy_cap_kind(enum hy_cap cap);
/* The description of a capability, or NULL. */
const struct hy_cap_desc *hy_cap_desc(enum hy_cap cap);
const char *hy_level_name(enum hy_level level);
int hy_level_find(const char *name); /* negative: no such level */
const char *hy_origin_name(enum hy_origin origin);
const char *hy_kind_names(enum hy_target_kind kind); /* plural */
/* "process", "port 3", "event device 0 with port 3" */
const char *hy_target_text(struct hy_target target, char *text, size_t size);
bool hy_target_same(struct hy_target a, struct hy_target b);
struct hy_target hy_target_device(struct hy_target target);
struct hy_target hy_target_peer(struct hy_target target);
/* override_parse.c: parses "process", "port3", "event0:port3". */
bool hy_target_parse(const char *text, struct hy_target *target);
/* Write "'SPEC': ..." for what a user wrote. Their value is an error, to be returned. */
#define hy_spec_fail(rc, error, spec, ...) \
	(snprintf(error, HY_HAL_ERROR_SIZE, \
		 RTE_FMT("'%.64s': " RTE_FMT_HEAD(__VA_ARGS__, ), spec, \
			 RTE_FMT_TAIL(__VA_ARGS__, ))), \
		(rc))
#define hy_spec_refuse(error, spec, ...) hy_spec_fail(-EINVAL, error, spec, __VA_ARGS__)

/* inventory.c: sets a capability, with origin HY_ORIGIN_DECLARED */
void hy_cap_fill(struct hy_capability *cap, enum hy_level level, uint64_t value, const char *reason,
	...) __rte_format_printf(4, 5);
void hy_cap_limit(struct hy_capability *cap, uint64_t value); /* 0: not supported */
void hy_device_blank(struct hy_hal_device *dev, struct hy_target target);
/* NULL: there is no such target. */
struct hy_hal_device *hy_device_find(const struct hy_hal *hal, struct hy_target target);

/* A capability that a driver reports by a flag of DPDK's. */
struct hy_cap_flag {
	enum hy_cap cap;
	uint64_t flag;
	const char *name;
};

#define HY_CAP_FLAG(cap_, prefix_, flag_) \
	{ \
		cap_, prefix_##flag_, #flag_ \
	}

/* Sets capabilities from the flags that a driver reports. */
void hy_cap_flags(struct hy_capability *caps, uint64_t has, const struct hy_cap_flag *flags,
	unsigned int n);

/*
 * Adds a blank device. It moves when the next is added. Name and driver may be NULL. NULL: no
 * memory.
 */
struct hy_hal_device *hy_device_add(struct hy_device_list *list, struct hy_target target,
	const char *name, const char *driver);

/* inventory_print.c: writes a member of a JSON object */
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
 * family.c: both lists are sorted by name, and valid until the next registration: the thread that
 * selects also loads plugins.
 */
unsigned int hy_families(const struct hy_family *const **families);
const struct hy_family *hy_family_find(const char *name);
/* A variant of an unknown family, or NULL. */
const struct hy_variant *hy_variant_orphan(void);
/* A variant's implementation, completed from its family's. */
struct hy_node_impl hy_variant_impl(const struct hy_family *family,
	const struct hy_variant *variant);
/* The variants of a family, including the reference variant. */
unsigned int hy_variants(const struct hy_family *family, const struct hy_variant *const **variants);
