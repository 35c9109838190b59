/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Hardware abstraction layer: looks at the box, and picks for every node family and every target
 * the best variant that fits, with the reason for each candidate's fate.
 *
 * A *family* fixes a contract: edges, drop reasons, lanes, and a reference variant that runs
 * anywhere. A *variant* is another implementation, which states what it needs. A *target* is what
 * a variant runs for: the process (CPU), or one port. Families and variants are declared with the
 * macros of hy_node.h.
 *
 * Use, in this order: hy_hal_create() after rte_eal_init(); hy_hal_declare() for what the program
 * is going to do; hy_hal_force() and hy_hal_deny() as the user says; hy_hal_plan() when the ports
 * exist, and hy_hal_select() when they run; hy_hal_node() or hy_hal_node_clone() for
 * each node of the graph; hy_graph_create(). What comes after, while packets flow, is in hy_hal_live.h.
 *
 * Not thread-safe: one control thread uses a struct hy_hal. Functions return 0 or a negative
 * errno. Those that take @p error write there one sentence on what was wrong and what is accepted.
 */
#ifndef HY_HAL_H
#define HY_HAL_H

#include <hy_capability.h>
#include <hy_graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The pack that a file is built into; the build sets it for each pack. */
#ifndef HY_PACK
#define HY_PACK "out-of-tree"
#endif

#pragma GCC visibility push(default)

#define HY_HAL_ERROR_SIZE 384 /**< Room that @p error arguments must have. */
#define HY_REASON_SIZE 256    /**< Room for a candidate's reason. */
#define HY_CHANGE_SIZE 512    /**< Room for what would have to change for a candidate. */
#define HY_NEEDS_MAX 16       /**< Needs that a variant can state. */
#define HY_WITH_MAX 4         /**< Constraints that a variant can state. */

struct hy_hal;
struct hy_port_plan;

/** What a variant needs of its target. */
struct hy_need {
	enum hy_cap cap; /**< A capability of the target; */
	/** or, with HY_CAP_NONE, one that a pack adds (HY_CAPABILITY), by its key; */
	const char *key;
	/** or, without both, what the program declares by this name. None ends a list. */
	const char *declared;
	uint64_t at_least; /**< Of the value. */
	/** 0: without it the variant is out. Else: what it adds to the score if met; may be less. */
	int bonus;
	const char *why; /**< Why there is a bonus, for explain; may be NULL. */
};

/**
 * What a variant asks of another family's selection for the same target. Where one of the two
 * families is selected for the process, it is asked of all targets of the other.
 */
struct hy_with {
	const char *family;  /**< Whose selection; NULL ends a list. */
	const char *variant; /**< The one that must be chosen there, */
	bool excludes;       /**< or must not be. */
	const char *why;     /**< For explain; may be NULL. */
};

/** A family of nodes. node.impl is the reference variant; node.impl.variant names it. */
struct hy_family {
	const char *text;           /**< What it does, in a sentence. */
	const char *pack;           /**< Name of the pack that its reference variant comes from. */
	enum hy_target_kind target; /**< What a variant is selected for. */
	struct hy_node_desc node;   /**< The contract, and the reference variant. */
	int score;                  /**< Of the reference variant. */
	/** As in struct hy_variant; NULL for a reference variant that needs nothing of its target. */
	int (*bind)(const struct hy_hal *hal, struct hy_target target, char *reason, size_t size);
	void (*unbind)(const struct hy_hal *hal, struct hy_target target); /**< Likewise. */
};

/** Another implementation of a family. */
struct hy_variant {
	const char *family; /**< Name of the family that it implements. */
	const char *text;   /**< What makes it different, in a sentence. */
	const char *pack;   /**< Name of the pack that it comes from. */
	/**
	 * impl.variant is its name. Without init, fini and ctx_size it has the family's. One with
	 * prepare or bind may be without process too: then the reference variant's runs.
	 */
	struct hy_node_impl impl;
	/**
	 * Kind of device that it runs on, where that is not what its family is selected for: of a family
	 * for the process, a crypto device; of one for ports, a pair with the port. It then is a
	 * candidate once for each such device that concerns the selection's target (a pair concerns the
	 * port in it, and the process all), and fits, bind and unbind are called for that device.
	 * HY_TARGET_PROCESS, which is 0: it runs on what its family is selected for.
	 */
	enum hy_target_kind on;
	struct hy_need needs[HY_NEEDS_MAX]; /**< All must be met, but those with a bonus. */
	/**
	 * The last word, after the needs; may be NULL.
	 *
	 * @param[out] reason Why it does not fit.
	 * @return Whether the variant fits @p target.
	 */
	bool (*fits)(const struct hy_hal *hal, struct hy_target target, char *reason, size_t size);
	int score; /**< Highest wins; on a draw the first name in alphabetical order. */
	/**
	 * Engine of the tables that it reads, by a name of the family's header; NULL: the one that the
	 * reference variant reads, or the family has no engines.
	 */
	const char *engine;
	/** All must hold. Who asks gives way: only if the user forced it, the others do. */
	struct hy_with with[HY_WITH_MAX];
	/**
	 * Says how a port is to be configured; may be NULL. Adds to the port's plan, and does nothing
	 * else, since it may be called several times. hy_hal_plan() calls it for every port that the
	 * variant's target concerns: of a port, or of a pair with a port, that one; of the process and
	 * of other devices, each. A variant that has it cannot be chosen if one of them failed, or
	 * was not asked for.
	 *
	 * @param target The port.
	 * @param[in,out] plan What the variants before it want of the port.
	 * @param[out] reason Why it cannot be chosen, like that of bind.
	 * @return 0, or a negative errno: the next candidate is tried.
	 */
	int (*prepare)(const struct hy_hal *hal, struct hy_target target, struct hy_port_plan *plan,
		char *reason, size_t size);
	/**
	 * Takes possession of what it needs from the target, before any graph runs it there; may be
	 * NULL. The variant that it follows may still be bound, and run. Called once for each target,
	 * however often selections choose it, until unbind. Ports run when it is called.
	 *
	 * @return 0, or a negative errno: the next candidate is tried.
	 */
	int (*bind)(const struct hy_hal *hal, struct hy_target target, char *reason, size_t size);
	/** Undoes bind, when no graph runs it there any more. The port may have stopped, or be gone:
	 * hy_hal_port_state() says so. */
	void (*unbind)(const struct hy_hal *hal, struct hy_target target);
	/**
	 * It stands in for its family while a port does not run, and never else: touches no device,
	 * and needs nothing. Other variants of a family that has such a one need not ask for
	 * HY_CAP_RUNNING, nor is it held to what the reference variant does. See hy_hal_live.h.
	 */
	bool parked;
	/**
	 * Why the family's suite (hy_conform.h) cannot try it, in words: it drives a device that no
	 * suite can stand in for, and is tried by tests of its pack. NULL for all others.
	 */
	const char *apart;
};

/**
 * Registers a family, and its reference variant as a node of the graph registry under its name,
 * so that a graph made without a HAL has it. Called by HY_NODE_FAMILY.
 *
 * @param family Must stay valid while the process lives or its plugin is loaded.
 * @return 0; -EINVAL; -EEXIST; -ENOMEM.
 */
int hy_family_register(const struct hy_family *family);

/** Registers a variant, before or after its family. Called by HY_NODE_VARIANT. As above. */
int hy_variant_register(const struct hy_variant *variant);

/**
 * Finds a variant by the names of its family and its own; the reference variant is one of them. For
 * the thread that selects, and for init() of nodes.
 *
 * @param variant May be NULL.
 * @return It, valid until its plugin is unloaded; NULL: there is none.
 */
const struct hy_variant *hy_variant_find(const char *family, const char *variant);

/**
 * Looks at the process and at the devices that exist, and raises EAL's vector width to the CPU's,
 * unless the user limited it with --force-max-simd-bitwidth. One HAL at a time. To be called after
 * rte_eal_init() and before tables (LPM, FIB, ACL) are created, since those choose their code by
 * that width.
 *
 * @param[out] hal Belongs to the caller, until hy_hal_destroy().
 * @return 0; -ENOMEM.
 */
int hy_hal_create(struct hy_hal **hal);

/**
 * Frees it, removes the nodes that it made, and gives the families' own nodes their reference
 * variants back: graphs go first. NULL is allowed.
 */
void hy_hal_destroy(struct hy_hal *hal);

/**
 * Looks at the devices again: after some were added, removed or configured otherwise. Quirks that
 * are known of their drivers are corrected, and what the user overrides stays so. A port that is
 * new is asked to hand on marks of flow rules (rte_eth_rx_metadata_negotiate()), which it may be
 * before it is configured only: create the HAL before ports are.
 *
 * @return 0; -ENOMEM: ports are up to date, other devices as before.
 */
int hy_hal_probe(struct hy_hal *hal);

/**
 * Leaves a port out: it is not looked at, nothing is selected for it. For ports that the program
 * does not use.
 *
 * @return 0; -EINVAL @p port is RTE_MAX_ETHPORTS or more; -ENOMEM as hy_hal_probe().
 */
int hy_hal_port_ignore(struct hy_hal *hal, uint16_t port);

/**
 * Says what the program is going to do, for the selections to come: variants can be better at one
 * than at another. Said again, the last word counts.
 *
 * @param name What, by a name from the header of the pack whose variants ask for it, such as
 * HY_IP4_ROUTES. Copied; one that nobody asks for does no harm.
 * @param value How much of it; 1 where there is nothing to count. 0 takes it back.
 * @param why In words, for people: where that is known from. Copied.
 * @return 0; -EINVAL malformed name; -ENOMEM.
 */
int hy_hal_declare(struct hy_hal *hal, const char *name, uint64_t value, const char *why);

/** What was declared under a name. Never NULL. Valid until the next declaration. */
const struct hy_capability *hy_hal_declared(const struct hy_hal *hal, const char *name);

/** What a target can do, as struct hy_target says. Never NULL. Valid until the next probe. */
const struct hy_capability *hy_hal_capability(const struct hy_hal *hal, struct hy_target target,
	enum hy_cap cap);

/**
 * Corrects what is known of a target, for the selections to come: for who tries what the inventory
 * does not, or sees in traffic what no probe can. Outlives hy_hal_probe(), while the target is
 * there. What the user overrides stays as the user says. If level or value is another one now,
 * the next hy_hal_poll() selects again.
 *
 * @param reason In words, for people: how that is known. Copied.
 * @return 0; -EINVAL it is no capability of such a target; -ENODEV there is no such target.
 */
int hy_hal_capability_set(struct hy_hal *hal, struct hy_target target, enum hy_cap cap,
	enum hy_level level, enum hy_origin origin, uint64_t value, const char *reason);

/**
 * Overrides what was found out about capabilities, for this HAL and all of its targets, also those
 * to come. Of overrides that concern the same capability of a target, the last one counts.
 *
 * @param spec "TARGET.CAPABILITY=LEVEL" or "TARGET.CAPABILITY=LEVEL:VALUE". TARGET is "process",
 * "port0", "event0", "crypto0", "regex0", a pair, "event0:port1" or "event0:crypto0", or the name
 * of a driver, for all its devices, as fnmatch() has it: "net_cn*"; of a pair, that is the event
 * device's. CAPABILITY is a name that the inventory prints. LEVEL is "no", "unknown" or "yes".
 * VALUE is a number; without one it stays as it was found out.
 * @return 0; -EINVAL malformed; -ENOTSUP it claims what the CPU lacks, or
 * that a port runs, which is seen and not said; -ENOMEM.
 */
int hy_hal_override(struct hy_hal *hal, const char *spec, char *error);

/**
 * Takes overrides from a file: one a line, "#" begins a comment. All of them, or on an error none.
 *
 * @return As hy_hal_override(); -EFBIG more than 65536 bytes; -EISDIR, -EINVAL no regular file; or
 * what else reading failed with. @p error names file and line.
 */
int hy_hal_override_file(struct hy_hal *hal, const char *path, char *error);

/**
 * Forces a variant, for the selections to come.
 *
 * @param spec "FAMILY=VARIANT" for all targets, or "FAMILY@PORT=VARIANT", which has precedence. Of
 * a family for devices or pairs, PORT is "event0", "crypto0", "regex0", "event0:port0" and so on.
 * @return 0; -EINVAL malformed, or no such family, variant or port; -EEXIST forced otherwise
 * already; -ENOMEM.
 */
int hy_hal_force(struct hy_hal *hal, const char *spec, char *error);

/** Denies a variant, for the selections to come. As hy_hal_force(). */
int hy_hal_deny(struct hy_hal *hal, const char *spec, char *error);

/**
 * Picks a variant for every family and target, and binds it. The order of trial: what is denied or
 * lacks something it needs is out; a forced variant wins, or the selection fails; constraints
 * across families; then score, then name. What cannot be bound falls to the next.
 *
 * A variant of a family that nobody declared is a warning in the log. While graphs run, use
 * hy_hal_reselect() (hy_hal_live.h).
 *
 * @return 0; -ENOTSUP a forced variant does not fit, or none is left; -ENOMEM. On an error the
 * selections made before stand, and what they bound.
 */
int hy_hal_select(struct hy_hal *hal, char *error);

#define HY_NO_DEVICE UINT16_MAX /**< Id of a target: there is no such device. */

/** What became of a candidate. */
enum hy_fate {
	HY_FATE_CHOSEN,
	HY_FATE_OUTSCORED,   /**< It fits; another is better, or was forced. */
	HY_FATE_DENIED,      /**< The user does not want it. */
	HY_FATE_NEEDS_UNMET, /**< The target lacks something. */
	HY_FATE_REJECTED,    /**< Its own predicate says no. */
	HY_FATE_CONSTRAINED, /**< It does not go with another family's selection. */
	HY_FATE_BIND_FAILED, /**< Its prepare or bind failed, or it was not prepared. */
};

/** A candidate in a selection. */
struct hy_candidate {
	const struct hy_variant *variant; /**< What was judged. */
	/** What it would run on; its id is HY_NO_DEVICE if there is no device of that kind. */
	struct hy_target on;
	enum hy_fate fate;           /**< The outcome. */
	int score;                   /**< Bonuses included. */
	char reason[HY_REASON_SIZE]; /**< For that fate, in words. */
	char parts[HY_REASON_SIZE];  /**< What its score is made of; "" without bonuses. */
	/** What would have to change for it to be chosen: all of these lines; "" if it is. */
	char change[HY_CHANGE_SIZE];
};

/** The outcome for one family and target. */
struct hy_selection {
	const struct hy_family *family;  /**< Whose variants were judged. */
	struct hy_target target;         /**< What they were judged for. */
	const struct hy_variant *chosen; /**< The one to run. */
	struct hy_target on;             /**< What it runs on; see struct hy_variant. */
	bool forced;                     /**< Chosen by the user. */
	unsigned int nb_candidates;      /**< Entries of candidates. */
	struct hy_candidate *candidates; /**< Best first, the chosen one before all. */
};

/**
 * Finds a selection.
 *
 * @param port Ignored when the family's target is the process.
 * @return It, valid until the next selection or hy_hal_destroy(); NULL: no such family or port,
 * or nothing was selected yet.
 */
const struct hy_selection *hy_hal_selection(const struct hy_hal *hal, const char *family,
	uint16_t port);

/** As hy_hal_selection(), for a family of any kind of target: of devices, and of pairs of them. */
const struct hy_selection *hy_hal_selection_for(const struct hy_hal *hal, const char *family,
	struct hy_target target);

/**
 * The node to use for a target: one node for all ports whose selection is the same, so that their
 * bursts do not split. It is the family's own for the first selection that is asked for, and
 * "FAMILY-VARIANT" for others.
 *
 * @return 0; -ENOENT nothing was selected for that family and port; -ENOMEM.
 */
int hy_hal_node(struct hy_hal *hal, const char *family, uint16_t port, hy_node_id *id);

/** As hy_hal_node(), for any kind of target. */
int hy_hal_node_for(struct hy_hal *hal, const char *family, struct hy_target target,
	hy_node_id *id);

/**
 * A node of its own for a target, named "FAMILY-suffix": for nodes with state of their port.
 *
 * @return As hy_hal_node(), and what hy_node_clone() returns.
 */
int hy_hal_node_clone(struct hy_hal *hal, const char *family, uint16_t port, const char *suffix,
	hy_node_id *id);

/** As hy_hal_node_clone(), for any kind of target. */
int hy_hal_node_clone_for(struct hy_hal *hal, const char *family, struct hy_target target,
	const char *suffix, hy_node_id *id);

/** Where a node that the HAL handed out belongs. */
struct hy_placement {
	char node[HY_NAME_SIZE];   /**< Its name. */
	const char *family;        /**< Its family's name. */
	const char *variant;       /**< The variant that it runs. */
	char target[HY_NAME_SIZE]; /**< "process", "port 0", "port 0,2". */
	/** What the variant runs on, if it names a kind of device (hy_variant.on); else the target of
	 * one of the selections that the node is for. For init() of nodes, and for programs. */
	struct hy_target on;
};

/** @return The placement of a node; NULL: the HAL did not place it. Valid as selections are. */
const struct hy_placement *hy_hal_placement(const struct hy_hal *hal, const char *node);

/**
 * Tells what the variant of a node runs on, for init() of variants that name a kind of device
 * (hy_variant.on): by the name that hy_graph_node_name() gives. The context is made anew when a later
 * selection moves the node to another device.
 *
 * @return 0; -ENOENT no HAL has handed the node out, as in a suite (hy_conform.h).
 */
int hy_hal_node_target(const char *node, struct hy_target *target);

/**
 * @name Output for people and for programs. Return 0, or why it could not be written.
 * @{
 */
/** All capabilities of the process and of the devices. */
int hy_hal_inventory_print(const struct hy_hal *hal, FILE *out);
/** {"inventory": {"process", "declared", "ports": […], "devices": […]}} */
int hy_hal_inventory_json(const struct hy_hal *hal, FILE *out);
/** All selections, with the fate of every candidate, and what would have to change for others. */
int hy_hal_explain(const struct hy_hal *hal, FILE *out);
/** {"inventory": …, "selections": [{"family", "target", "variant", "forced", "candidates": …}]} */
int hy_hal_explain_json(const struct hy_hal *hal, FILE *out);
/** As hy_hal_explain(), of @p families only, with NULL behind the last; NULL: of all. */
int hy_hal_explain_families(const struct hy_hal *hal, const char *const *families, FILE *out);
/** As hy_hal_explain_json(), likewise. */
int hy_hal_explain_families_json(const struct hy_hal *hal, const char *const *families, FILE *out);
/** The packs in this program, those of plugins included, and what each brought; also -ENOMEM. */
int hy_packs_print(FILE *out);
/** {"packs": [{"pack", "variants": ["FAMILY/VARIANT", …], "flow_drivers": [PATTERN, …]}, …]} */
int hy_packs_json(FILE *out);
/** @} */

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
