/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the HAL share. */
#ifndef HY_HAL_PRIVATE_H
#define HY_HAL_PRIVATE_H

#include <rte_ethdev.h>

#include <hy_hal.h>

/* A target as it was last seen. */
struct hy_hal_device {
	struct hy_target target;
	char name[RTE_ETH_NAME_MAX_LEN];   /* of a pair: its event device's */
	char driver[RTE_ETH_NAME_MAX_LEN]; /* likewise */
	bool set[HY_CAPS];                 /* by hy_hal_capability_set(): outlives a probe */
	struct hy_capability caps[HY_CAPS];
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
	int port; /* -1: all targets */
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
	bool ports[RTE_MAX_ETHPORTS]; /* that it was handed out for */
	const struct hy_family *family;
	const struct hy_variant *variant;
	struct hy_placement placement;
};

struct hy_hal {
	struct hy_hal_device process;
	struct hy_capability cpu[HY_CAPS]; /* as it is, whatever the user says of the process */
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
};

/* Whether it is one, and not the end of a list. */
static inline bool
hy_need_asks(const struct hy_need *need)
{
	return need->cap != HY_CAP_NONE || need->declared != NULL;
}

/* hal.c: whether one exists, which may point to families and variants. */
bool hy_hal_exists(void);

/* capability.c */
enum hy_target_kind hy_cap_kind(enum hy_cap cap);
const char *hy_level_name(enum hy_level level);
int hy_level_find(const char *name); /* negative: none of that name */
const char *hy_origin_name(enum hy_origin origin);
const char *hy_kind_name(enum hy_target_kind kind);
const char *hy_kind_names(enum hy_target_kind kind); /* plural */
/* "process", "port 3", "event device 0 with port 3" */
const char *hy_target_text(struct hy_target target, char *text, size_t size);
struct hy_target hy_target_peer(struct hy_target target);

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
/* The variants of a family, its reference one included. */
unsigned int hy_variants(const struct hy_family *family, const struct hy_variant *const **variants);

#endif
