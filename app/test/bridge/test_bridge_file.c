/* SPDX-License-Identifier: BSD-3-Clause */
/* The bridge's file: what is accepted, what is refused and how. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bridge_fixture.h"
#include "lib/bridge/bridge.h"

#define GOOD "port 5 access 10\nport 1 trunk 10,20-30\nport 2 trunk all\n"
#define MAC "02:00:00:00:00:01"
#define OPTIONS "these are native, state, learn, filter, admit, group, entries and storm"
#define FORM "an entry is MM:MM:MM:MM:MM:MM vlan V port N, or MM:MM:MM:MM:MM:MM vlan V local"
#define LONG "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" /* 64 bytes */

/* A file, and what its error says behind its path. */
static const struct {
	const char *text, *error;
} wrong[] = {
	{ "", ":0: port: the file has no line of port 5, which the program uses" },
	{ GOOD "ports 1\n",
		":4: line: 'ports' is no statement; these are tag, age, entries, port and static" },
	{ GOOD "\n# x\n" LONG "b 1\n",
		":6: line: '" LONG
		"' is no statement; these are tag, age, entries, port and static" },
	{ "tag 0x9100\n" GOOD, ":1: tag: '0x9100' is not 0x8100 or 0x88a8" },
	{ "tag\n" GOOD, ":1: tag: 'the end of the line' is not 0x8100 or 0x88a8" },
	{ "tag 0x8100\ntag 0x88a8\n" GOOD, ":2: tag: is a duplicate of line 1" },
	{ "tag 0x8100 0x88a8\n" GOOD, ":1: line: '0x88a8' is behind its end" },
	{ "age -1\n" GOOD, ":1: age: '-1' is not a number from 0 to 2147483647" },
	{ "age 2147483648\n" GOOD, ":1: age: '2147483648' is not a number from 0 to 2147483647" },
	{ "age\n" GOOD, ":1: age: 'the end of the line' is not a number from 0 to 2147483647" },
	{ "age 1\n\nage 1\n" GOOD, ":3: age: is a duplicate of line 1" },
	{ "age 1 2\n" GOOD, ":1: line: '2' is behind its end" },
	{ "entries 0\n" GOOD, ":1: entries: '0' is not a number from 1 to 16777216" },
	{ "entries 16777217\n" GOOD, ":1: entries: '16777217' is not a number from 1 to 16777216" },
	{ "entries 1\nentries 2\n" GOOD, ":2: entries: is a duplicate of line 1" },
	{ "port 0 access 10\n" GOOD, ":1: port: '0' is no port of the bridge; these are 5, 1, 2" },
	{ "port\n" GOOD,
		":1: port: 'the end of the line' is no port of the bridge; these are 5, 1, 2" },
	{ "port 1 trunk 5\n" GOOD, ":3: port: is a duplicate of line 1" },
	{ "port 5 access 10\nport 2 trunk all\n",
		":2: port: the file has no line of port 1, which the program uses" },
	{ "port 5 tagged 10\n" GOOD, ":1: port: 'tagged' is not access V or trunk LIST" },
	{ "port 5\n" GOOD, ":1: port: 'the end of the line' is not access V or trunk LIST" },
	{ "port 5 access 0\n", ":1: access: '0' is not a number from 1 to 4094" },
	{ "port 5 access 4095\n", ":1: access: '4095' is not a number from 1 to 4094" },
	{ "port 5 access\n", ":1: access: 'the end of the line' is not a number from 1 to 4094" },
	{ "port 5 access 1,2\n", ":1: access: '1,2' is not a number from 1 to 4094" },
	{ "port 5 trunk\n", ":1: trunk: 'the end of the line' is not a number from 1 to 4094" },
	{ "port 5 trunk 0\n", ":1: trunk: '0' is not a number from 1 to 4094" },
	{ "port 5 trunk 1-4095\n", ":1: trunk: '4095' is not a number from 1 to 4094" },
	{ "port 5 trunk 1,\n", ":1: trunk: 'the end of the line' is not a number from 1 to 4094" },
	{ "port 5 trunk 1,,2\n",
		":1: trunk: 'the end of the line' is not a number from 1 to 4094" },
	{ "port 5 trunk 3-2\n", ":1: trunk: 3-2 ends before it begins" },
	{ "port 5 trunk 1-2-3\n", ":1: trunk: '2-3' is not a number from 1 to 4094" },
	{ "port 5 trunk 1, 2\n",
		":1: trunk: 'the end of the line' is not a number from 1 to 4094" },
	{ "port 5 trunk 1 2\n", ":1: line: '2' is no option of a port; " OPTIONS },
	{ "port 5 access 1 native 2\n", ":1: native: is for trunks; an access port has one VLAN" },
	{ "port 5 trunk 1 native 0\n", ":1: native: '0' is not a number from 1 to 4094" },
	{ "port 5 trunk 1 native 4095\n", ":1: native: '4095' is not a number from 1 to 4094" },
	{ "port 5 trunk 1 native 2 native 3\n", ":1: native: is there twice" },
	{ "port 5 access 1 state up\n", ":1: state: 'up' is not blocking, learning or forwarding" },
	{ "port 5 access 1 state learning state blocking\n", ":1: state: is there twice" },
	{ "port 5 access 1 learn yes\n", ":1: learn: 'yes' is not on or off" },
	{ "port 5 access 1 filter\n", ":1: filter: 'the end of the line' is not on or off" },
	{ "port 5 access 1 admit none\n", ":1: admit: 'none' is not untagged, tagged or all" },
	{ "port 5 trunk 1 admit untagged\n",
		":1: admit: a trunk without a native VLAN has none for untagged frames" },
	{ "port 5 access 1 group 0\n", ":1: group: '0' is not a number from 1 to 63" },
	{ "port 5 access 1 group 64\n", ":1: group: '64' is not a number from 1 to 63" },
	{ "port 5 access 1 entries 0\n", ":1: entries: '0' is not a number from 1 to 16777216" },
	{ "port 5 access 1 storm broadcast 0\n",
		":1: storm: '0' is not a number from 1 to 1000000000" },
	{ "port 5 access 1 storm broadcast 1000000001\n",
		":1: storm: '1000000001' is not a number from 1 to 1000000000" },
	{ "port 5 access 1 storm all 5\n",
		":1: storm: 'all' is not broadcast, multicast or unknown" },
	{ "port 5 access 1 storm unknown 5 storm broadcast 1 storm unknown 5\n",
		":1: storm: 'unknown' is there twice" },
	{ "port 5 access 1 speed 10\n", ":1: line: 'speed' is no option of a port; " OPTIONS },
	{ GOOD "static " MAC " vlan 10 port 0\n",
		":4: port: '0' is no port of the bridge; these are 5, 1, 2" },
	{ "static " MAC " vlan 40 port 1\n" GOOD, ":1: port: 1 is no member of VLAN 40" },
	{ "port 5 access 10\nport 1 access 11\nport 2 access 12\nstatic " MAC " vlan 13 local\n",
		":4: vlan: no port is a member of VLAN 13" },
	{ GOOD "static " MAC " vlan 0 port 1\n", ":4: vlan: '0' is not a number from 1 to 4094" },
	{ GOOD "static " MAC " vlan 4095 port 1\n",
		":4: vlan: '4095' is not a number from 1 to 4094" },
	{ GOOD "static " MAC " 10 port 1\n", ":4: vlan: expected 'vlan', found '10'; " FORM },
	{ GOOD "static " MAC " vlan 10\n",
		":4: port: expected 'port' or 'local', found 'the end of the line'; " FORM },
	{ GOOD "static " MAC " vlan 10 local 1\n", ":4: line: '1' is behind its end" },
	{ GOOD "static 2:0:0:0:0:1 vlan 10 local\n",
		":4: mac: '2:0:0:0:0:1' is not a MAC address, MM:MM:MM:MM:MM:MM" },
	{ GOOD "static 00:00:00:00:00:00 vlan 10 local\n",
		":4: mac: 00:00:00:00:00:00 cannot have an entry: no station has this address" },
	{ GOOD "static ff:ff:ff:ff:ff:ff vlan 10 local\n",
		":4: mac: ff:ff:ff:ff:ff:ff cannot have an entry: broadcast goes to all ports" },
	{ GOOD "static 01:80:c2:00:00:0f vlan 10 local\n",
		":4: mac: 01:80:c2:00:00:0f cannot have an entry: frames to 01:80:c2:00:00:00 to "
		"0f are never forwarded" },
	{ GOOD "static " MAC " vlan 10 port 1\nstatic " MAC " vlan 20 port 1\n\n"
	       "static " MAC " vlan 10 local\n",
		":7: static: is a duplicate of line 4" },
	{ GOOD "static a\033b vlan 10 local\n",
		":4: mac: 'a?b' is not a MAC address, MM:MM:MM:MM:MM:MM" },
};

static void
each_fault_is_named_with_its_line_and_what_is_accepted(void **state)
{
	unsigned int compared = 0;

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < RTE_DIM(wrong); i++) {
		const char *path = file_write(wrong[i].text);
		char expected[HY_BRIDGE_ERROR_SIZE];

		/* Without a line, there is no number. */
		snprintf(expected, sizeof(expected), "%s%s", path,
			strncmp(wrong[i].error, ":0", 2) == 0 ? wrong[i].error + 2
							      : wrong[i].error);
		assert_int_equal(bridge_create(wrong[i].text), -EINVAL);
		assert_null(bridge);
		assert_string_equal(error, expected);
		compared++;
	}
	assert_int_equal(compared, RTE_DIM(wrong));
}

static void
file_that_is_not_there_is_named(void **state)
{
	RTE_SET_USED(state);
	assert_int_equal(hy_bridge_create("/nonexistent/bridge", ports, PORTS, &bridge, error),
		-ENOENT);
	assert_string_equal(error, "/nonexistent/bridge: No such file or directory");
	assert_null(bridge);
}

static void
number_of_ports_is_limited(void **state)
{
	uint16_t many[HY_L2_BRIDGE_PORTS + 1] = { 0 };

	RTE_SET_USED(state);
	assert_int_equal(hy_bridge_create("x", many, RTE_DIM(many), &bridge, error), -EINVAL);
	assert_string_equal(error, "a bridge of 65 ports: 1 to 64 are possible");
	assert_int_equal(hy_bridge_create("x", many, 0, &bridge, error), -EINVAL);
}

static void
defaults_are_those_of_the_documentation(void **state)
{
	RTE_SET_USED(state);
	assert_int_equal(bridge_create(GOOD), 0);
	assert_int_equal(bridge->file->tag_type, 0x8100);
	assert_int_equal(bridge->file->age, 300);
	assert_int_equal(bridge->file->entries, 65536);
	assert_int_equal(bridge->file->nb_statics, 0);
}

static void
words_may_be_apart_as_one_likes(void **state)
{
	RTE_SET_USED(state);
	assert_int_equal(bridge_create("\t tag  0x88A8 # service\r\n#\n\n port\t5 access 10\r\n"
				       "port 1 trunk 1-4094 # all\nport 2 access 4094#last\nage 0"),
		0);
	assert_int_equal(bridge->file->tag_type, 0x88a8);
	assert_int_equal(bridge->file->age, 0);
	assert_int_equal(bridge->file->port[2].rules.pvid, 4094);
	for (uint16_t vid = 0; vid < HY_L2_VIDS; vid++)
		assert_int_equal(bridge_is_member(&bridge->file->port[1], vid),
			vid >= 1 && vid <= 4094);
}

static void
memory_that_runs_out_leaves_nothing_behind(void **state)
{
	static const char text[] = GOOD "static " MAC " vlan 10 local\n"
					"static 02:00:00:00:00:02 vlan 10 local\n";
	const int64_t live = unit_alloc_live();
	unsigned int failed = 0;
	int rc;

	RTE_SET_USED(state);
	do {
		unit_alloc_fail(failed + 1);
		rc = bridge_create(text);
		unit_alloc_fail(0);
		if (rc < 0) {
			assert_int_equal(rc, -ENOMEM);
			assert_null(bridge);
			assert_non_null(strstr(error, "emory"));
			assert_int_equal(unit_alloc_live(), live);
			failed++;
		}
	} while (rc < 0 && failed < 100);
	assert_int_equal(rc, 0);
	assert_true(failed >= 4); /* the bridge, its file, the text, static entries */
}

static const struct CMUnitTest tests[] = {
	BRIDGE_TEST(each_fault_is_named_with_its_line_and_what_is_accepted),
	BRIDGE_TEST(file_that_is_not_there_is_named),
	BRIDGE_TEST(number_of_ports_is_limited),
	BRIDGE_TEST(defaults_are_those_of_the_documentation),
	BRIDGE_TEST(words_may_be_apart_as_one_likes),
	BRIDGE_TEST(memory_that_runs_out_leaves_nothing_behind),
};
UNIT_SUITE(tests)
