/* SPDX-License-Identifier: BSD-3-Clause */
/* The model of l2_model.h. */

#include <string.h>

#include "l2_model.h"
#include "node_fixture.h"

const uint16_t model_vids[MODEL_VLANS] = { 1, 2, 10, 100, 2000, 4093, 4094, 3 };

void
model_address(unsigned int station, uint8_t mac[6])
{
	const uint8_t bytes[] = { station == MODEL_GROUP ? 3 : 2, 0x4d, 0, 0, 0, (uint8_t)station };

	memcpy(mac, bytes, sizeof(bytes));
}

static uint16_t
word(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static struct model_outcome
drop(enum model_end end, unsigned int reason)
{
	return (struct model_outcome){ .end = end, .reason = reason };
}

unsigned int
model_station(const uint8_t mac[6])
{
	const unsigned int station = mac[5];
	uint8_t right[6];

	model_address(station, right);
	return station < MODEL_STATIONS && memcmp(mac, right, 6) == 0 ? station : MODEL_STATIONS;
}

/* Drops that need no more than the addresses. */
static int
refused_by_header(const struct model *model, const struct model_frame *frame)
{
	static const uint8_t reserved[] = { 0x01, 0x80, 0xc2, 0, 0 }, zero[6];
	const uint8_t *bytes = frame->bytes;

	if (frame->in == MODEL_PORTS)
		return HY_L2_INPUT_NOT_A_PORT;
	if (frame->len < 14 || (word(bytes + 12) == model->tag_type && frame->len < 18))
		return HY_L2_INPUT_TRUNCATED;
	if (memcmp(bytes, reserved, sizeof(reserved)) == 0 && bytes[5] < 16)
		return HY_L2_INPUT_RESERVED;
	if (model->port[frame->in].state == HY_L2_BLOCKING)
		return HY_L2_INPUT_BLOCKED;
	if (bytes[6] % 2 == 1 || memcmp(bytes + 6, zero, sizeof(zero)) == 0)
		return HY_L2_INPUT_BAD_SRC;
	return -1;
}

/* The port of a frame's destination, or HY_L2_MISS. */
static uint16_t
destination(const struct model *model, const struct model_frame *frame, uint16_t vlan)
{
	const unsigned int station = model_station(frame->bytes);

	return station < MODEL_STATIONS && model->entry[station][vlan].there
		? model->entry[station][vlan].port
		: HY_L2_MISS;
}

/* Why a port does not send what another one has received, or -1. */
static int
refused_by_port(const struct model *model, unsigned int in, unsigned int to, uint16_t vlan)
{
	const struct model_port *came = &model->port[in], *port = &model->port[to];

	if (in == to)
		return HY_L2_OUTPUT_SAME_PORT;
	if (port->state != HY_L2_FORWARDING)
		return HY_L2_OUTPUT_BLOCKED;
	if (came->group != 0 && came->group == port->group)
		return HY_L2_OUTPUT_SPLIT;
	return port->member[vlan] == MODEL_NO ? HY_L2_OUTPUT_NO_MEMBER : -1;
}

static void
leave(const struct model *model, const struct model_frame *frame, struct model_outcome *o)
{
	const uint16_t port = destination(model, frame, o->vlan);
	unsigned int n = 0;

	if (model->port[frame->in].state == HY_L2_LEARNING) {
		o->end = MODEL_DROP_LEARN;
		o->reason = HY_L2_LEARN_ONLY;
		return;
	}
	if (port != HY_L2_MISS) {
		const int why = port == HY_L2_LOCAL
			? -1
			: refused_by_port(model, frame->in, port, o->vlan);

		o->end = why >= 0             ? MODEL_DROP_OUTPUT
			: port == HY_L2_LOCAL ? MODEL_LOCAL
					      : MODEL_FORWARDED;
		o->reason = why >= 0 ? (unsigned int)why : 0;
		if (o->end == MODEL_FORWARDED)
			o->to[port] = true;
		return;
	}
	for (unsigned int p = 0; p < MODEL_PORTS; p++) {
		o->to[p] = refused_by_port(model, frame->in, p, o->vlan) < 0;
		n += o->to[p];
	}
	o->end = n > 0 ? MODEL_FLOODED : MODEL_DROP_FLOOD;
	o->reason = HY_L2_FLOOD_NOWHERE;
}

struct model_outcome
model_judge(const struct model *model, const struct model_frame *frame)
{
	const int why = refused_by_header(model, frame);
	const struct model_port *port = &model->port[frame->in];
	struct model_outcome o = { .tag = HY_L2_TAG_NONE };
	uint16_t vid;

	if (why >= 0)
		return drop(MODEL_DROP_INPUT, (unsigned int)why);
	vid = port->pvid;
	if (word(frame->bytes + 12) == model->tag_type) {
		const uint16_t named = word(frame->bytes + 14) % 4096;

		if (named == 4095)
			return drop(MODEL_DROP_INPUT, HY_L2_INPUT_VLAN_INVALID);
		o.tag = named != 0 ? HY_L2_TAG_VID : HY_L2_TAG_ZERO;
		vid = named != 0 ? named : vid;
	}
	if (vid == 0 || (port->admit == HY_L2_ADMIT_TAGGED && o.tag != HY_L2_TAG_VID) ||
		(port->admit == HY_L2_ADMIT_UNTAGGED && o.tag == HY_L2_TAG_VID))
		return drop(MODEL_DROP_INPUT, HY_L2_INPUT_NOT_ADMITTED);
	while (o.vlan < MODEL_VLANS && model_vids[o.vlan] != vid)
		o.vlan++;
	assert_true(o.vlan < MODEL_VLANS);
	if (port->filter && port->member[o.vlan] == MODEL_NO)
		return drop(MODEL_DROP_INPUT, HY_L2_INPUT_VLAN_FILTERED);
	o.source = port->learn;
	leave(model, frame, &o);
	return o;
}

uint32_t
model_bytes(const struct model *model, const struct model_frame *frame,
	const struct model_outcome *o, unsigned int port, uint8_t *bytes)
{
	const uint32_t skip = o->tag == HY_L2_TAG_NONE ? 12 : 16;
	const uint16_t vid = model_vids[o->vlan];
	uint32_t n = 12;

	memcpy(bytes, frame->bytes, n);
	if (model->port[port].member[o->vlan] == MODEL_TAGGED) {
		const uint8_t priority = o->tag == HY_L2_TAG_NONE ? 0 : frame->bytes[14] & 0xf0;
		const uint8_t tag[] = { model->tag_type >> 8, model->tag_type & 0xff,
			(uint8_t)(priority | vid >> 8), (uint8_t)vid };

		memcpy(bytes + n, tag, sizeof(tag));
		n += sizeof(tag);
	}
	memcpy(bytes + n, frame->bytes + skip, frame->len - skip);
	return n + frame->len - skip;
}

enum hy_l2_verdict
model_source(struct model *model, struct model_entry *e, uint16_t port)
{
	if (!e->there)
		return HY_L2_SOURCE_NEW;
	if (e->port != port)
		return e->fixed ? HY_L2_SOURCE_FIXED : HY_L2_SOURCE_MOVED;
	e->stamp = model->clock;
	return HY_L2_SOURCE_KNOWN;
}

enum hy_l2_outcome
model_learn(struct model *model, struct model_entry *e, uint16_t port)
{
	const uint32_t limit = model->port[port].limit;
	const bool full = limit != 0 && model->learned[port] >= limit, was = e->there;

	if (!was && model->entries == MODEL_ENTRIES)
		return HY_L2_REFUSED_LIMIT;
	if (was && e->port != port && e->fixed)
		return HY_L2_REFUSED_STATIC;
	if (full && (!was || e->port != port))
		return HY_L2_REFUSED_PORT;
	if (was && e->port == port) {
		e->stamp = model->clock;
		return HY_L2_REFRESHED;
	}
	if (was)
		model->learned[e->port]--;
	model->entries += !was;
	model->learned[port]++;
	*e = (struct model_entry){ .there = true, .port = port, .stamp = model->clock };
	return was ? HY_L2_MOVED : HY_L2_LEARNED;
}

void
model_add(struct model *model, struct model_entry *e, uint16_t port)
{
	if (e->there)
		model_remove(model, e);
	model->entries++;
	*e = (struct model_entry){ .there = true, .fixed = true, .port = port };
}

void
model_remove(struct model *model, struct model_entry *e)
{
	if (!e->fixed)
		model->learned[e->port]--;
	model->entries--;
	e->there = false;
	e->fixed = false;
}

static uint32_t
any(uint64_t *seed, uint32_t n)
{
	return rnd(seed) % n;
}

void
model_port_random(struct model_port *port, uint64_t *seed)
{
	const bool access = any(seed, 3) == 0;
	const uint16_t native = any(seed, 3) == 0 ? MODEL_VLANS
						  : (uint16_t)any(seed, MODEL_VLANS - 1);

	memset(port->member, 0, sizeof(port->member));
	for (unsigned int v = 0; v < MODEL_VLANS - 1; v++)
		if (!access && any(seed, 3) > 0)
			port->member[v] = MODEL_TAGGED;
	port->pvid = 0;
	if (native < MODEL_VLANS) {
		port->pvid = model_vids[native];
		port->member[native] = MODEL_UNTAGGED;
	}
	port->admit = any(seed, 3) > 0 ? HY_L2_ADMIT_ALL : (enum hy_l2_admit)any(seed, 3);
	port->state = any(seed, 3) > 0 ? HY_L2_FORWARDING : (enum hy_l2_state)any(seed, 3);
	port->learn = any(seed, 5) > 0;
	port->filter = any(seed, 5) > 0;
	port->group = any(seed, 3) > 0 ? 0 : 1 + any(seed, 2);
}

static void
address_any(uint8_t mac[6], bool source, uint64_t *seed)
{
	const uint32_t kind = any(seed, 100);

	model_address(any(seed, source ? MODEL_GROUP : MODEL_STATIONS), mac);
	if (source && kind < 2)
		mac[0] |= 1;
	else if (source && kind == 2)
		memset(mac, 0, 6);
	else if (!source && kind < 8)
		memset(mac, 0xff, 6);
	else if (!source && kind < 12)
		memcpy(mac, (const uint8_t[]){ 1, 0x80, 0xc2, 0, 0, (uint8_t)(8 + any(seed, 12)) },
			6);
	else if (!source && kind < 16)
		model_address(200, mac); /* of no station */
}

void
model_frame_random(const struct model *model, struct model_frame *frame, uint64_t *seed)
{
	static const uint16_t types[] = { 0x8100, 0x88a8, 0x9100 };
	uint8_t *at = frame->bytes + 12;

	address_any(frame->bytes, false, seed);
	address_any(frame->bytes + 6, true, seed);
	for (uint32_t tags = any(seed, 4); tags > 1; tags--) {
		const uint16_t type = any(seed, 4) > 0 ? model->tag_type
						       : types[any(seed, RTE_DIM(types))];
		const uint32_t kind = any(seed, 20);
		const uint16_t tci = (uint16_t)(any(seed, 16) << 12 |
			(kind == 0                 ? 4095
					: kind < 3 ? 0
						   : model_vids[any(seed, MODEL_VLANS)]));

		at[0] = (uint8_t)(type >> 8);
		at[1] = (uint8_t)type;
		at[2] = (uint8_t)(tci >> 8);
		at[3] = (uint8_t)tci;
		at += 4;
	}
	at[0] = 0x88;
	at[1] = 0xb5;
	frame->len = (uint32_t)(at + 2 - frame->bytes);
	frame->len = any(seed, 50) == 0 ? 1 + any(seed, frame->len) : frame->len + any(seed, 100);
	for (at += 2; at < frame->bytes + sizeof(frame->bytes); at++)
		*at = (uint8_t)any(seed, 256);
	frame->in = (uint16_t)(any(seed, 300) == 0 ? MODEL_PORTS : any(seed, MODEL_PORTS));
}

void
model_setup(const struct model *model, struct hy_l2_setup *setup)
{
	memset(setup, 0, sizeof(*setup));
	memset(setup->number, HY_L2_NO_PORT, sizeof(setup->number));
	setup->tag_type = model->tag_type;
	for (unsigned int p = 0; p < MODEL_PORTS; p++) {
		const struct model_port *port = &model->port[p];

		setup->number[MODEL_ETHDEV(p)] = (uint8_t)p;
		setup->port[p] = (struct hy_l2_port){ .pvid = port->pvid,
			.state = (uint8_t)port->state,
			.admit = (uint8_t)port->admit,
			.learn = port->learn,
			.filter = port->filter };
		if (port->state == HY_L2_FORWARDING)
			setup->forwarding |= UINT64_C(1) << p;
		for (unsigned int v = 0; v < MODEL_VLANS; v++) {
			struct hy_l2_vlan *vlan = &setup->vlan[model_vids[v]];

			vlan->members |= (uint64_t)(port->member[v] != MODEL_NO) << p;
			vlan->untagged |= (uint64_t)(port->member[v] == MODEL_UNTAGGED) << p;
		}
	}
	for (unsigned int p = 0; p < MODEL_PORTS; p++) {
		setup->reach[p] = setup->forwarding & ~(UINT64_C(1) << p);
		for (unsigned int q = 0; q < MODEL_PORTS; q++)
			if (model->port[p].group != 0 &&
				model->port[p].group == model->port[q].group)
				setup->reach[p] &= ~(UINT64_C(1) << q);
	}
}
