/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the HAL share. */
#ifndef HY_HAL_PRIVATE_H
#define HY_HAL_PRIVATE_H

#include <rte_ethdev.h>

#include <hy_hal.h>

/* A port as it was last seen. */
struct hy_hal_port {
	bool present;
	bool ignored; /* the program does not use it */
	char name[RTE_ETH_NAME_MAX_LEN];
	char driver[RTE_ETH_NAME_MAX_LEN];
	struct hy_capability caps[HY_CAPS];
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
	struct hy_capability process[HY_CAPS];
	struct hy_hal_port ports[RTE_MAX_ETHPORTS];
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

/* inventory.c */
void hy_hal_probe_process(struct hy_hal *hal);
const char *hy_cap_name(enum hy_cap cap);
const char *hy_level_name(enum hy_level level);
const char *hy_origin_name(enum hy_origin origin);

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

/* "process" or "port 3" */
const char *hy_target_text(struct hy_target target, char *text, size_t size);

#endif
