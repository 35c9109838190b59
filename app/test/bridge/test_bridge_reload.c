/* SPDX-License-Identifier: BSD-3-Clause */
/* The bridge's file read again: all of it is in force, or nothing. */

#include <errno.h>
#include <string.h>

#include <hy_reload.h>

#include "bridge_fixture.h"
#include "lib/bridge/bridge.h"

#define FILE_TEXT \
	"entries 8\n" \
	"port 5 access 10\nport 1 trunk 10,20\nport 2 trunk 10,20 entries 5\n" \
	"static 02:00:00:00:00:01 vlan 10 port 2\n" \
	"static 02:00:00:00:00:02 vlan 20 port 1\n"

static struct hy_reload_part part;

/* Writes the file and reads it. */
static int
part_read(const char *text)
{
	file_write(text);
	part = hy_bridge_part(bridge);
	return part.read(part.arg, part.path, error);
}

static const char *
said(void)
{
	static char text[256];
	FILE *out = fmemopen(text, sizeof(text), "w");

	assert_non_null(out);
	part.say(part.arg, out);
	fclose(out);
	return text;
}

/* All of it, as hy_reload() does. */
static void
reload(const char *text, const char *expected)
{
	if (part_read(text) < 0 || part.apply(part.arg, error) < 0)
		fail_msg("%s", error);
	assert_string_equal(said(), expected);
	part.end(part.arg);
}

/* What workers and reports see, to be compared. */
static struct seen {
	struct hy_l2_setup setup;
	uint16_t port[10][2];
	uint32_t entries, fixed;
} seen[2];

static void
look(struct seen *s)
{
	struct hy_l2_stats stats;

	s->setup = *setup_now();
	hy_l2_stats(hy_bridge_table(bridge), &stats);
	s->entries = stats.entries;
	s->fixed = stats.static_entries;
	for (uint32_t i = 0; i < RTE_DIM(s->port); i++)
		for (uint16_t v = 0; v < 2; v++)
			s->port[i][v] = port_of(key_of(i, (uint16_t)(10 * (v + 1))));
}

static void
nothing_has_changed(void)
{
	look(&seen[1]);
	assert_memory_equal(&seen[0], &seen[1], sizeof(seen[0]));
}

static void
set_up_statics_and_limits_become_those_of_the_file(void **state)
{
	unsigned int heap;

	RTE_SET_USED(state);
	bridge_new(FILE_TEXT);
	heap = unit_heap_live();
	reload("entries 8\ntag 0x88a8\nage 7\n"
	       "port 5 access 20\nport 1 trunk 10,20 entries 1\nport 2 trunk 10,20 group 1\n"
	       "static 02:00:00:00:00:01 vlan 10 port 1\n"
	       "static 02:00:00:00:00:03 vlan 20 port 5\n",
		"bridge: 3 of 3 ports changed, 2 static entries added, 1 deleted");
	assert_int_equal(setup_now()->tag_type, 0x88a8);
	assert_int_equal(setup_now()->vlan[10].members, 6);
	assert_int_equal(setup_now()->vlan[20].members, 7);
	assert_int_equal(bridge->file->age, 7);
	assert_int_equal(port_of(key_of(1, 10)), 1);
	assert_int_equal(port_of(key_of(2, 20)), HY_L2_MISS);
	assert_int_equal(port_of(key_of(3, 20)), 0);
	for (uint32_t i = 10; i < 13; i++) {
		find(0, key_of(i, 10), 1);
		find(0, key_of(i, 20), 2);
	}
	hy_bridge_poll(bridge, 1);
	assert_int_equal(bridge_port_counts(bridge, 1).learned, 1);
	assert_int_equal(bridge_port_counts(bridge, 2).learned, 3);
	assert_int_equal(unit_heap_live(), heap); /* the set-up before was freed */
}

static void
same_file_changes_nothing(void **state)
{
	RTE_SET_USED(state);
	bridge_new(FILE_TEXT);
	find(0, key_of(5, 10), 0);
	hy_bridge_poll(bridge, 1);
	look(&seen[0]);
	reload(FILE_TEXT, "bridge: 0 of 3 ports changed, 0 static entries added, 0 deleted");
	nothing_has_changed();
}

static void
entries_of_vlans_that_a_port_left_are_deleted(void **state)
{
	RTE_SET_USED(state);
	bridge_new(FILE_TEXT);
	find(0, key_of(3, 10), 1);
	find(0, key_of(3, 20), 1);
	find(0, key_of(4, 20), 2);
	find(0, key_of(5, 10), 0);
	hy_bridge_poll(bridge, 1);
	assert_int_equal(bridge_counts(bridge).entries, 6);
	reload("entries 8\nport 5 access 10 learn off\nport 1 trunk 20\nport 2 trunk 10,20\n"
	       "static 02:00:00:00:00:01 vlan 10 port 2\nstatic 02:00:00:00:00:02 vlan 20 port 1\n",
		"bridge: 3 of 3 ports changed, 0 static entries added, 0 deleted");
	assert_int_equal(port_of(key_of(3, 10)), HY_L2_MISS);
	assert_int_equal(port_of(key_of(5, 10)), HY_L2_MISS); /* of a port that stopped learning */
	assert_int_equal(port_of(key_of(3, 20)), 1);
	assert_int_equal(port_of(key_of(4, 20)), 2);
	assert_int_equal(bridge_counts(bridge).entries, 4);
}

static void
file_that_is_refused_changes_nothing(void **state)
{
	static const struct {
		const char *text, *error;
		int rc;
	} bad[] = {
		{ "entries 8\nport 5 access 10\n",
			":2: port: the file has no line of port 1, which "
			"the program uses",
			-EINVAL },
		{ "port 5 access 10\nport 1 trunk 10\nentries 9\nport 2 trunk 10\n",
			":3: entries: the table has room for 8, which cannot change while frames flow; "
			"found 9",
			-EINVAL },
		{ "port 5 access 10\nport 1 trunk 10\nport 2 trunk 10\n",
			": entries: the table has room for 8, which cannot change while frames flow; "
			"found 65536",
			-EINVAL },
		{ "entries 8\nport 5 access 10\nport 1 trunk 1-9\nport 2 trunk 1-9\n"
		  "static 02:00:00:00:00:01 vlan 1 local\nstatic 02:00:00:00:00:01 vlan 2 local\n"
		  "static 02:00:00:00:00:01 vlan 3 local\nstatic 02:00:00:00:00:01 vlan 4 local\n"
		  "static 02:00:00:00:00:01 vlan 5 local\nstatic 02:00:00:00:00:01 vlan 6 local\n"
		  "static 02:00:00:00:00:01 vlan 7 local\nstatic 02:00:00:00:00:01 vlan 8 local\n"
		  "static 02:00:00:00:00:01 vlan 9 local\n",
			": entries: there are 9 static ones, and the table has room for 8",
			-ENOSPC },
	};
	unsigned int heap, refused = 0;

	RTE_SET_USED(state);
	bridge_new(FILE_TEXT);
	look(&seen[0]);
	heap = unit_heap_live();
	for (unsigned int i = 0; i < RTE_DIM(bad); i++) {
		assert_int_equal(part_read(bad[i].text), bad[i].rc);
		assert_string_equal(error + strlen(part.path), bad[i].error);
		part.end(part.arg);
		nothing_has_changed();
		assert_int_equal(unit_heap_live(), heap);
		refused++;
	}
	assert_int_equal(refused, RTE_DIM(bad));
}

/* Another static entry than the first one finds the table full. */
static void
static_entry_that_finds_no_room_takes_all_back(void **state)
{
	RTE_SET_USED(state);
	bridge_new(FILE_TEXT);
	for (uint32_t i = 3; i < 9; i++) /* with two static ones, all that have room */
		find(0, key_of(i, 10), 1);
	hy_bridge_poll(bridge, 1);
	assert_int_equal(bridge_counts(bridge).entries, 8);
	look(&seen[0]);
	/* One is deleted, one moved, one of a learned one, one added, and there is no room for the next. */
	assert_int_equal(part_read("entries 8\nport 5 access 20\nport 1 trunk 10,20\n"
				   "port 2 trunk 10,20\n"
				   "static 02:00:00:00:00:01 vlan 10 port 1\n"
				   "static 02:00:00:00:00:04 vlan 10 port 2\n"
				   "static 02:00:00:00:00:01 vlan 20 port 1\n"
				   "static 02:00:00:00:00:09 vlan 20 port 1\n"),
		0);
	assert_int_equal(part.apply(part.arg, error), -ENOSPC);
	assert_string_equal(error + strlen(part.path),
		": static entries: the table is full; see the command flush");
	part.end(part.arg);
	nothing_has_changed();
	assert_int_equal(seen[1].fixed, 2);
}

static void
undo_takes_all_back(void **state)
{
	unsigned int heap;

	RTE_SET_USED(state);
	bridge_new(FILE_TEXT);
	find(0, key_of(3, 10), 0);
	find(0, key_of(4, 20), 1);
	hy_bridge_poll(bridge, 1);
	heap = unit_heap_live();
	look(&seen[0]);
	assert_int_equal(part_read("entries 8\nport 5 access 20\nport 1 trunk 10\n"
				   "port 2 trunk 10,20 state blocking entries 1\n"
				   "static 02:00:00:00:00:01 vlan 10 port 1\n"
				   "static 02:00:00:00:00:04 vlan 20 port 2\n"
				   "static 02:00:00:00:00:05 vlan 20 local\n"),
		0);
	nothing_has_changed();
	assert_int_equal(part.apply(part.arg, error), 0);
	assert_int_equal(port_of(key_of(1, 10)), 1);
	assert_int_equal(port_of(key_of(4, 20)), 2);
	assert_int_equal(setup_now()->forwarding, 3);
	part.undo(part.arg);
	part.end(part.arg);
	nothing_has_changed();
	assert_int_equal(unit_heap_live(), heap);
	/* The limit of port 2 is that of the file again. */
	for (uint32_t i = 20; i < 22; i++)
		find(0, key_of(i, 10), 2);
	hy_bridge_poll(bridge, 1);
	assert_int_equal(bridge_port_counts(bridge, 2).learned, 2);
}

static void
states_by_command_stay_until_the_file_changes_them(void **state)
{
	RTE_SET_USED(state);
	bridge_new(FILE_TEXT);
	assert_int_equal(hy_bridge_state(bridge, 5, HY_L2_BLOCKING), 0);
	assert_int_equal(hy_bridge_state(bridge, 1, HY_L2_BLOCKING), 0);
	reload("entries 8\nport 5 access 10\nport 1 trunk 10,20 state learning\nport 2 trunk 10,20\n",
		"bridge: 2 of 3 ports changed, 0 static entries added, 2 deleted");
	assert_int_equal(setup_now()->port[0].state, HY_L2_BLOCKING);
	assert_int_equal(setup_now()->port[1].state, HY_L2_LEARNING);
	assert_int_equal(setup_now()->port[2].state, HY_L2_FORWARDING);
}

static void
entries_by_command_give_way_to_the_file(void **state)
{
	char text[] = "02:00:00:00:00:01 vlan 10 port 1", del[] = "02:00:00:00:00:02 vlan 20";
	char own[] = "02:00:00:00:00:07 vlan 20 local";

	RTE_SET_USED(state);
	bridge_new(FILE_TEXT);
	assert_int_equal(bridge_command_add(bridge, text, error), 0);
	assert_int_equal(bridge_command_add(bridge, own, error), 0);
	assert_int_equal(bridge_command_del(bridge, del, error), 0);
	assert_int_equal(port_of(key_of(1, 10)), 1);
	reload(FILE_TEXT, "bridge: 0 of 3 ports changed, 2 static entries added, 0 deleted");
	assert_int_equal(port_of(key_of(1, 10)), 2);
	assert_int_equal(port_of(key_of(2, 20)), 1);
	assert_int_equal(port_of(key_of(7, 20)), HY_L2_LOCAL);
}

/* The set-up that a worker may read outlives the reload. */
static void
worker_that_does_not_report_keeps_its_set_up(void **state)
{
	const struct hy_l2_setup *before;
	unsigned int heap;

	RTE_SET_USED(state);
	bridge_new(FILE_TEXT);
	heap = unit_heap_live();
	worker_begins();
	before = setup_now();
	reload("entries 8\nport 5 access 20\nport 1 trunk 10,20\nport 2 trunk 10,20\n",
		"bridge: 2 of 3 ports changed, 0 static entries added, 2 deleted");
	assert_int_equal(before->port[0].pvid, 10);
	assert_int_equal(setup_now()->port[0].pvid, 20);
	assert_int_equal(unit_heap_live(), heap + 1);
	worker_reports();
	hy_bridge_poll(bridge, 1);
	assert_int_equal(unit_heap_live(), heap);
	worker_rests();
}

static void
reload_without_memory_changes_nothing(void **state)
{
	unsigned int failed = 0, heap;
	int rc;

	RTE_SET_USED(state);
	bridge_new(FILE_TEXT);
	look(&seen[0]);
	heap = unit_heap_live();
	file_write("entries 8\nport 5 access 10\nport 1 trunk 10,20\nport 2 trunk 10,20\n"
		   "static 02:00:00:00:00:05 vlan 20 local\n");
	part = hy_bridge_part(bridge);
	do {
		unit_alloc_fail(failed + 1);
		rc = part.read(part.arg, part.path, error);
		unit_alloc_fail(0);
		failed += rc < 0;
		assert_true(rc == 0 || rc == -ENOMEM);
		part.end(part.arg);
		nothing_has_changed();
		assert_int_equal(unit_heap_live(), heap);
	} while (rc < 0 && failed < 100);
	assert_int_equal(rc, 0);
	assert_true(failed >= 5); /* the file, its text, static entries, the set-up, changes */
}

static const struct CMUnitTest tests[] = {
	BRIDGE_TEST(set_up_statics_and_limits_become_those_of_the_file),
	BRIDGE_TEST(same_file_changes_nothing),
	BRIDGE_TEST(entries_of_vlans_that_a_port_left_are_deleted),
	BRIDGE_TEST(file_that_is_refused_changes_nothing),
	BRIDGE_TEST(static_entry_that_finds_no_room_takes_all_back),
	BRIDGE_TEST(undo_takes_all_back),
	BRIDGE_TEST(states_by_command_stay_until_the_file_changes_them),
	BRIDGE_TEST(entries_by_command_give_way_to_the_file),
	BRIDGE_TEST(worker_that_does_not_report_keeps_its_set_up),
	BRIDGE_TEST(reload_without_memory_changes_nothing),
};
UNIT_SUITE(tests)
