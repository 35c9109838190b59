/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bridge that knows VLANs, as IEEE 802.1Q has it: no bursts, no slots, no sets of ports in words. It says
 * what becomes of a frame, and what its table has.
 */
#pragma once

#include <hy_l2.h>
#include <hy_l2_lane.h>
#include <hy_l2_table.h>

#define MODEL_PORTS 6
#define MODEL_ETHDEV(port) ((uint16_t)(3 + 2 * (port)))
#define MODEL_VLANS 8 /* that frames name */
#define MODEL_STATIONS 150
#define MODEL_GROUP (MODEL_STATIONS - 1) /* the last one is the address of a group */
#define MODEL_FRAME 256                  /* bytes of a frame at most */
#define MODEL_ENTRIES 1024               /* of the table */

extern const uint16_t model_vids[MODEL_VLANS]; /* the last one has no members */

enum model_member { MODEL_NO, MODEL_TAGGED, MODEL_UNTAGGED };

struct model_port {
	uint16_t pvid;
	enum hy_l2_admit admit;
	enum hy_l2_state state;
	bool learn, filter;
	unsigned int group; /* 0: none */
	enum model_member member[MODEL_VLANS];
	uint32_t limit; /* of learned entries; 0: none */
};

struct model_entry {
	bool there, fixed;
	uint16_t port; /* HY_L2_LOCAL: the router */
	uint32_t stamp;
};

struct model {
	uint16_t tag_type;
	struct model_port port[MODEL_PORTS];
	struct model_entry entry[MODEL_STATIONS][MODEL_VLANS];
	uint32_t entries, clock;
	uint32_t learned[MODEL_PORTS];
};

struct model_frame {
	uint8_t bytes[MODEL_FRAME];
	uint32_t len;
	uint16_t in; /* the port; MODEL_PORTS: none of the bridge's */
};

/* Where frames end, and whether they were flooded. */
enum model_end {
	MODEL_DROP_INPUT, /* and enum hy_l2_input_drop, and so on */
	MODEL_DROP_LEARN,
	MODEL_DROP_FLOOD,
	MODEL_DROP_OUTPUT,
	MODEL_LOCAL,
	MODEL_FORWARDED,
	MODEL_FLOODED,
};

struct model_outcome {
	enum model_end end;
	unsigned int reason;
	bool to[MODEL_PORTS];
	/* What enters: */
	uint16_t vlan; /* index */
	enum hy_l2_tag tag;
	bool source; /* it is to be learned, or to be stamped */
};

/* The address of a station. */
void model_address(unsigned int station, uint8_t mac[6]);
/* What becomes of a frame with the table as it is. */
struct model_outcome model_judge(const struct model *model, const struct model_frame *frame);
/* The bytes that a port sends of a frame with that outcome. Returns their number. */
uint32_t model_bytes(const struct model *model, const struct model_frame *frame,
	const struct model_outcome *outcome, unsigned int port, uint8_t *bytes);
/* Whether a source is news to the table: HY_L2_SOURCE_NEW and so on; a known one is stamped. */
enum hy_l2_verdict model_source(struct model *model, struct model_entry *entry, uint16_t port);
/* Whose address that is; MODEL_STATIONS: no station's. */
unsigned int model_station(const uint8_t mac[6]);
/* What learning makes of a source. */
enum hy_l2_outcome model_learn(struct model *model, struct model_entry *entry, uint16_t port);
void model_add(struct model *model, struct model_entry *entry, uint16_t port);
void model_remove(struct model *model, struct model_entry *entry);
/* Gives a port other VLANs and rules; makes a frame of the set-up's stations and VLANs, and of faults. */
void model_port_random(struct model_port *port, uint64_t *seed);
void model_frame_random(const struct model *model, struct model_frame *frame, uint64_t *seed);
/* The set-up as nodes read it. */
void model_setup(const struct model *model, struct hy_l2_setup *setup);
