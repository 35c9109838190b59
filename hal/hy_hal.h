/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Hardware abstraction layer: finds out what the machine can do, and selects for each node family
 * and target the best variant that fits, with the reason for each candidate's fate.
 *
 * A *family* defines a contract: edges, drop reasons, lanes, and a reference variant that runs
 * everywhere. A *variant* is another implementation, which states its needs. A *target* is what a
 * variant is selected for: the process (CPU), a port, another device, or a pair of devices. The
 * macros of hy_node.h declare families and variants.
 *
 * Use, in this order: hy_hal_create() after rte_eal_init(); hy_hal_declare() for what the program
 * is going to do; hy_hal_force() and hy_hal_deny() for the user's rules; hy_hal_plan() when the
 * ports exist, and hy_hal_select() when they run; hy_hal_node() or hy_hal_node_clone() for each
 * node of the graph; hy_graph_create(). hy_hal_live.h has the functions for use while packets flow.
 *
 * Not thread-safe: one control thread uses a struct hy_hal. Functions return 0 or a negative errno.
 * Those with @p error set it to one sentence that says what was wrong and what is accepted.
 */
#pragma once

#include <hy_capability.h>
#include <hy_fuse.h>

HY_API_BEGIN

/** The pack to which a file belongs; set by the build of each pack. */
#ifndef HY_PACK
#define HY_PACK "out-of-tree"
#endif

#define HY_HAL_ERROR_SIZE 512 /**< Size of @p error arguments, in bytes. */
#define HY_REASON_SIZE 256    /**< Size of a candidate's reason, in bytes. */
#define HY_CHANGE_SIZE 512    /**< Size of the changes that a candidate needs, in bytes. */
#define HY_NEEDS_MAX 16       /**< Most needs of a variant. */
#define HY_WITH_MAX 4         /**< Most constraints of a variant. */

struct hy_hal;
struct hy_port_plan;

/**
 * A need of a variant. Exactly one of cap, key and declared is set; a need with none ends a list.
 */
struct hy_need {
	enum hy_cap cap;      /**< A capability of the target. */
	const char *key;      /**< The key of a capability that a pack adds (HY_CAPABILITY). */
	const char *declared; /**< The name of a declaration by the program. */
	uint64_t at_least;    /**< Least value. */
	/**
	 * 0: the need is mandatory. Otherwise it is optional, and this is added to the score if it
	 * is met; may be negative.
	 */
	int bonus;
	const char *why; /**< The reason for the bonus, for explain; may be NULL. */
};

/**
 * A constraint of a variant on another family's selection for the same target. If one of the two
 * families is selected for the process, it applies to all targets of the other.
 */
struct hy_with {
	const char *family;  /**< The other family; NULL ends a list. */
	const char *variant; /**< The variant that must be chosen there. */
	bool excludes;       /**< The variant must not be chosen there instead. */
	const char *why;     /**< The reason, for explain; may be NULL. */
};

/** A family of nodes. node.impl is the reference variant; node.impl.variant names it. */
struct hy_family {
	const char *text;           /**< What the family does, in one sentence. */
	const char *pack;           /**< The pack of its reference variant. */
	enum hy_target_kind target; /**< The kind of target for which variants are selected. */
	struct hy_node_desc node;   /**< The contract, and the reference variant. */
	int score;                  /**< Of the reference variant. */
	/** As in struct hy_variant; NULL if the reference variant needs nothing of its target. */
	int (*bind)(const struct hy_hal *hal, struct hy_target target, char *reason, size_t size);
	void (*unbind)(const struct hy_hal *hal, struct hy_target target); /**< Likewise. */
};

/** Another implementation of a family. */
struct hy_variant {
	const char *family; /**< The family that it implements. */
	const char *text;   /**< What makes it different, in one sentence. */
	const char *pack;   /**< The pack to which it belongs. */
	/**
	 * impl.variant is its name. Without init, fini and ctx_size it uses the family's. A variant
	 * with prepare or bind may also omit process: then it runs the reference variant's.
	 */
	struct hy_node_impl impl;
	/**
	 * Kind of device on which it runs, if that differs from the kind of target of its family:
	 * for example a crypto device in a family for the process, or a pair with the port in a
	 * family for ports. The variant is then a candidate once for each such device that concerns
	 * the target (a pair concerns the port in it, and the process concerns all), and fits, bind
	 * and unbind are called for that device. HY_TARGET_PROCESS, which is 0: it runs on the
	 * family's target.
	 */
	enum hy_target_kind on;
	struct hy_need needs[HY_NEEDS_MAX]; /**< All must be met, except those with a bonus. */
	/**
	 * A final check after the needs; may be NULL.
	 *
	 * @param[out] reason Why it does not fit.
	 * @return Whether the variant fits @p target.
	 */
	bool (*fits)(const struct hy_hal *hal, struct hy_target target, char *reason, size_t size);
	int score; /**< The highest wins; of equal ones, the alphabetically first name. */
	/**
	 * The engine of the tables that it reads, by a name from the family's header; NULL: the
	 * reference variant's engine, or the family has no engines.
	 */
	const char *engine;
	/**
	 * All must hold. If one does not, this variant is not chosen; but if the user forced it,
	 * the other family's choice is excluded instead.
	 */
	struct hy_with with[HY_WITH_MAX];
	/**
	 * Asks for a port configuration; may be NULL. It only adds to the port's plan, and has no
	 * other effect, since it may be called several times. hy_hal_plan() calls it for each port
	 * that the target concerns: for a port, or a pair with a port, for that port; for the
	 * process and other devices, for all ports. A variant with prepare cannot be chosen if one
	 * of these calls failed or was not made.
	 *
	 * @param target The port.
	 * @param[in,out] plan The port's plan so far.
	 * @param[out] reason Why it cannot be chosen, as for bind.
	 * @return 0, or a negative errno: the next candidate is tried.
	 */
	int (*prepare)(const struct hy_hal *hal, struct hy_target target, struct hy_port_plan *plan,
		char *reason, size_t size);
	/**
	 * Acquires what it needs of the target, before any graph runs it there; may be NULL. The
	 * previous variant may still be bound and running. Called once for each target until
	 * unbind, however often selections choose the variant. Ports run when it is called.
	 *
	 * @return 0, or a negative errno: the next candidate is tried.
	 */
	int (*bind)(const struct hy_hal *hal, struct hy_target target, char *reason, size_t size);
	/**
	 * Undoes bind, when no graph runs the variant there any more. The port may have stopped or
	 * been removed: see hy_hal_port_state().
	 */
	void (*unbind)(const struct hy_hal *hal, struct hy_target target);
	/**
	 * The variant stands in for its family only while a port does not run: it uses no device
	 * and has no needs. It is not compared with the reference variant. The other variants of
	 * its family need not ask for HY_CAP_RUNNING. See hy_hal_live.h.
	 */
	bool parked;
	/**
	 * Why the family's suite (hy_conform.h) cannot test it, as text: it drives a device that no
	 * suite can replace, and is tested by its pack. NULL for all others.
	 */
	const char *apart;
};

/**
 * Registers a family, and its reference variant as a node of the graph registry under the family's
 * name, so that graphs without a HAL can use it. Called by HY_NODE_FAMILY.
 *
 * @param family Must stay valid while the process lives or its plugin is loaded.
 * @return 0; -EINVAL; -EEXIST it is registered, or a fusion has its name (logged); -ENOMEM.
 */
int hy_family_register(const struct hy_family *family);

/** Registers a variant, before or after its family. Called by HY_NODE_VARIANT. As above. */
int hy_variant_register(const struct hy_variant *variant);

/**
 * A fusion (hy_fuse.h) of variants of several families. A HAL offers it to graphs as long as the user
 * does not deny it. So it runs wherever the variants of its chain were chosen and nothing stands
 * between them.
 */
struct hy_fusion {
	const char *name;    /**< What it does: a name that its variants share. */
	const char *variant; /**< Which of these it is. */
	const char *fuse;    /**< "NAME-VARIANT": see hy_graph_node_fused(). */
	const char *text;    /**< What makes it different, in one sentence. */
	const char *pack;    /**< The pack to which it belongs. */
	struct {
		const char *family;     /**< A family; NULL: the chain has ended. */
		const char *variant;    /**< The variant of it. */
	} chain[HY_FUSE_MAX];           /**< At least two. */
	uint16_t edge[HY_FUSE_MAX - 1]; /**< As in struct hy_fuse. */
	hy_fused_t *run;                /**< Likewise. */
	hy_fuse_pick_t *pick;           /**< Likewise. */
	/**
	 * Where it stops though the next object passes. NULL: nowhere. For conformance (hy_conform.h),
	 * which takes it for a fault if a fusion stops earlier than this and than the chain does.
	 *
	 * @param n Objects at @p objs, as they come to the fusion: at least 1.
	 * @param[out] why If it returns less than @p n: the reason, as text.
	 * @return After how many objects at the earliest; @p n: it does not.
	 */
	uint16_t (*stops)(void *const objs[], uint16_t n, const char **why);
};

/**
 * Registers a fusion. Called by HY_NODE_FUSION. As hy_family_register(); -EEXIST also if a family has
 * its name (logged): users deny both by name.
 */
int hy_fusion_register(const struct hy_fusion *fusion);

/** @return The fusion of that hy_fusion.fuse, or NULL. As hy_variant_find(). */
const struct hy_fusion *hy_fusion_find(const char *fuse);

/**
 * Finds a variant, which may be the reference variant, by the name of its family and its own name.
 * For the thread that selects, and for init() of nodes.
 *
 * @param variant May be NULL.
 * @return The variant, valid until its plugin is unloaded; NULL: there is none.
 */
const struct hy_variant *hy_variant_find(const char *family, const char *variant);

/**
 * Creates a HAL: probes the process and the existing devices, and raises EAL's vector width to the
 * CPU's, unless the user limited it with --force-max-simd-bitwidth. Only one HAL may exist. Call it
 * after rte_eal_init() and before tables (LPM, FIB, ACL) are created, since those choose their code
 * by that width.
 *
 * @param[out] hal Belongs to the caller, until hy_hal_destroy().
 * @return 0; -ENOMEM.
 */
int hy_hal_create(struct hy_hal **hal);

/**
 * Frees a HAL, removes the nodes that it created, and restores the reference variants of the
 * families' own nodes. Destroy the graphs first. NULL is allowed.
 */
void hy_hal_destroy(struct hy_hal *hal);

/**
 * Probes the devices again, after some were added, removed or reconfigured. Corrects known quirks
 * of their drivers, and keeps the user's overrides. Asks a new port to deliver marks of flow rules
 * (rte_eth_rx_metadata_negotiate()), which is possible only before it is configured: create the HAL
 * before you configure ports.
 *
 * @return 0; -ENOMEM: ports are up to date, other devices unchanged.
 */
int hy_hal_probe(struct hy_hal *hal);

/**
 * Ignores a port, which the program does not use: it is not probed, and nothing is selected for it.
 *
 * @return 0; -EINVAL @p port is RTE_MAX_ETHPORTS or more; -ENOMEM as hy_hal_probe().
 */
int hy_hal_port_ignore(struct hy_hal *hal, uint16_t port);

/**
 * Declares what the program is going to do, for later selections: some variants are better for one
 * use than for another. A repeated declaration replaces the previous one.
 *
 * @param name A name from the header of the pack whose variants ask for it, such as HY_IP4_ROUTES.
 * Copied. Unknown names are harmless.
 * @param value The amount; 1 if there is nothing to count. 0 withdraws the declaration.
 * @param why How this is known, as text for people. Copied.
 * @return 0; -EINVAL malformed name; -ENOMEM.
 */
int hy_hal_declare(struct hy_hal *hal, const char *name, uint64_t value, const char *why);

/** @return The declaration of a name. Never NULL. Valid until the next declaration. */
const struct hy_capability *hy_hal_declared(const struct hy_hal *hal, const char *name);

/** @return A capability of a target (see enum hy_cap). Never NULL. Valid until the next probe. */
const struct hy_capability *hy_hal_capability(const struct hy_hal *hal, struct hy_target target,
	enum hy_cap cap);

/**
 * Corrects a capability of a target, for later selections: for callers that try what the inventory
 * does not try, or observe in traffic what no probe can find. Survives hy_hal_probe() as long as
 * the target exists. The user's overrides take precedence. If level or value changes, the next
 * hy_hal_poll() selects again.
 *
 * @param reason How this is known, as text for people. Copied.
 * @return 0; -EINVAL not a capability of such a target; -ENODEV no such target.
 */
int hy_hal_capability_set(struct hy_hal *hal, struct hy_target target, enum hy_cap cap,
	enum hy_level level, enum hy_origin origin, uint64_t value, const char *reason);

/**
 * Overrides capabilities, for this HAL and all its targets, including later ones. Of overrides for
 * the same capability of a target, the last one takes precedence.
 *
 * @param spec "TARGET.CAPABILITY=LEVEL" or "TARGET.CAPABILITY=LEVEL:VALUE". TARGET is "process",
 * "port0", "event0", "crypto0", "regex0", a pair such as "event0:port1" or "event0:crypto0", or,
 * for all its devices, the name of a driver as a pattern for fnmatch(), such as "net_cn*"; the
 * driver of a pair is the event device's. CAPABILITY is a name that the inventory prints. LEVEL is
 * "no", "unknown" or "yes". VALUE is a number; without it, the value does not change.
 * @return 0; -EINVAL malformed; -ENOTSUP it claims what the CPU lacks, or that a port runs, which
 * cannot be overridden; -ENOMEM.
 */
int hy_hal_override(struct hy_hal *hal, const char *spec, char *error);

/**
 * Reads overrides from a file: one per line; "#" begins a comment. Applies all of them or, on an
 * error, none.
 *
 * @return As hy_hal_override(); -EFBIG more than 65536 bytes; -EISDIR, -EINVAL not a regular file;
 * or the error of reading it. @p error names file and line.
 */
int hy_hal_override_file(struct hy_hal *hal, const char *path, char *error);

/**
 * Forces a variant in later selections.
 *
 * @param spec "FAMILY=VARIANT" for all targets, or "FAMILY@PORT=VARIANT", which takes precedence.
 * For families for devices or pairs, PORT is "event0", "crypto0", "regex0", "event0:port0" and so
 * on.
 * @return 0; -EINVAL malformed, or no such family, variant or port; -EEXIST another variant is
 * forced; -ENOMEM.
 */
int hy_hal_force(struct hy_hal *hal, const char *spec, char *error);

/**
 * Excludes a variant from later selections. Parameters and errors are those of hy_hal_force(). Also
 * excludes a fusion, by "NAME=VARIANT", or by "NAME" all of that name.
 */
int hy_hal_deny(struct hy_hal *hal, const char *spec, char *error);

/**
 * Selects a variant for each family and target, and binds it. Denied variants and variants with
 * unmet needs are excluded. A forced variant is selected, or else the selection fails. Otherwise
 * constraints across families decide, then the score, then the name. If a variant cannot be bound,
 * the next one is tried.
 *
 * Logs a warning about a variant of an unknown family. While graphs run, use hy_hal_reselect()
 * (hy_hal_live.h).
 *
 * @return 0; -ENOTSUP a forced variant does not fit, or none is left; -EEXIST the program has offered
 * a fusion of the name of one that is declared; -ENOMEM. On an error, previous selections and bindings
 * stay.
 */
int hy_hal_select(struct hy_hal *hal, char *error);

#define HY_NO_DEVICE UINT16_MAX /**< Id of a target: there is no such device. */

/** The fate of a candidate. */
enum hy_fate {
	HY_FATE_CHOSEN,
	HY_FATE_OUTSCORED,   /**< It fits, but another is better or was forced. */
	HY_FATE_DENIED,      /**< The user denied it. */
	HY_FATE_NEEDS_UNMET, /**< The target lacks something. */
	HY_FATE_REJECTED,    /**< Its own predicate refused the target. */
	HY_FATE_CONSTRAINED, /**< A constraint on another family's selection does not hold. */
	HY_FATE_BIND_FAILED, /**< Its prepare or bind failed, or prepare was not called. */
};

/** A candidate in a selection. */
struct hy_candidate {
	const struct hy_variant *variant; /**< The variant. */
	/** The target on which it would run; its id is HY_NO_DEVICE if no such device exists. */
	struct hy_target on;
	enum hy_fate fate;           /**< The outcome. */
	int score;                   /**< Including bonuses. */
	char reason[HY_REASON_SIZE]; /**< The reason for the fate, as text. */
	char parts[HY_REASON_SIZE];  /**< The parts of the score; "" without bonuses. */
	/**
	 * Lines, all of which would have to become true for it to be chosen; "" if it is chosen.
	 */
	char change[HY_CHANGE_SIZE];
};

/** The outcome for one family and target. */
struct hy_selection {
	const struct hy_family *family;  /**< The family. */
	struct hy_target target;         /**< The target. */
	const struct hy_variant *chosen; /**< The variant to run. */
	struct hy_target on;             /**< The target on which it runs; see struct hy_variant. */
	bool forced;                     /**< The user forced it. */
	unsigned int nb_candidates;      /**< Number of candidates. */
	struct hy_candidate *candidates; /**< The chosen one first, then best first. */
};

/**
 * Finds a selection.
 *
 * @param port Ignored if the family's target is the process.
 * @return The selection, valid until the next one or hy_hal_destroy(); NULL: no such family or
 * port, or nothing was selected yet.
 */
const struct hy_selection *hy_hal_selection(const struct hy_hal *hal, const char *family,
	uint16_t port);

/** As hy_hal_selection(), for any kind of target, including devices and pairs. */
const struct hy_selection *hy_hal_selection_for(const struct hy_hal *hal, const char *family,
	struct hy_target target);

/**
 * Gets the node for a target. Ports with the same selection share one node, so that bursts are not
 * split. It is the family's own node for the first selection that is requested, and
 * "FAMILY-VARIANT" for others.
 *
 * @return 0; -ENOENT nothing was selected for this family and port; -ENOMEM.
 */
int hy_hal_node(struct hy_hal *hal, const char *family, uint16_t port, hy_node_id *id);

/** As hy_hal_node(), for any kind of target. */
int hy_hal_node_for(struct hy_hal *hal, const char *family, struct hy_target target,
	hy_node_id *id);

/**
 * Creates a target's own node, named "FAMILY-suffix": for nodes with state of their port.
 *
 * @return As hy_hal_node(), and as hy_node_clone().
 */
int hy_hal_node_clone(struct hy_hal *hal, const char *family, uint16_t port, const char *suffix,
	hy_node_id *id);

/** As hy_hal_node_clone(), for any kind of target. */
int hy_hal_node_clone_for(struct hy_hal *hal, const char *family, struct hy_target target,
	const char *suffix, hy_node_id *id);

/** A node that the HAL has handed out. */
struct hy_placement {
	char node[HY_NAME_SIZE];   /**< The name of the node. */
	const char *family;        /**< The name of its family. */
	const char *variant;       /**< The variant that it runs. */
	char target[HY_NAME_SIZE]; /**< "process", "port 0", "port 0,2". */
	/**
	 * The device on which the variant runs, if it names a kind of device (hy_variant.on); otherwise
	 * the target of one of the node's selections.
	 */
	struct hy_target on;
};

/** @return The placement of a node, valid as long as selections; NULL: it is not the HAL's. */
const struct hy_placement *hy_hal_placement(const struct hy_hal *hal, const char *node);

/**
 * Gets the device on which the variant of a node runs, for init() of variants that name a kind of
 * device (hy_variant.on). When a later selection moves the node to another device, its context is
 * created again.
 *
 * @param node The node's name, as of hy_graph_node_name().
 * @return 0; -ENOENT no HAL has handed out the node, as in a suite (hy_conform.h).
 */
int hy_hal_node_target(const char *node, struct hy_target *target);

/**
 * @name Output as text and as JSON. Return 0, or a negative errno if it could not be written.
 * @{
 */
/** All capabilities of the process and of the devices. */
int hy_hal_inventory_print(const struct hy_hal *hal, FILE *out);
/** {"inventory": {"process", "declared", "ports": […], "devices": […]}} */
int hy_hal_inventory_json(const struct hy_hal *hal, FILE *out);
/**
 * All selections, with the fate of each candidate, and what would have to change for the others.
 */
int hy_hal_explain(const struct hy_hal *hal, FILE *out);
/**
 * {"inventory": …, "selections": [{"family", "target", "variant", "forced", "candidates": …}],
 * "fusions": [{"fusion", "variant", "pack", "text", "chain": […], "fate", "reason"}]}
 */
int hy_hal_explain_json(const struct hy_hal *hal, FILE *out);
/**
 * As hy_hal_explain(), but only for @p families, terminated by NULL, and fusions that begin with one of
 * them; NULL: for all.
 */
int hy_hal_explain_families(const struct hy_hal *hal, const char *const *families, FILE *out);
/** As hy_hal_explain_json(), likewise. */
int hy_hal_explain_families_json(const struct hy_hal *hal, const char *const *families, FILE *out);
/** The packs of this program and of its plugins, with their variants and flow drivers. */
int hy_packs_print(FILE *out);
/** {"packs": [{"pack", "variants": ["FAMILY/VARIANT", …], "flow_drivers": [PATTERN, …]}, …]} */
int hy_packs_json(FILE *out);
/** @} */

HY_API_END
