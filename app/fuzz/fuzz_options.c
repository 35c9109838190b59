/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes the command line of l3fwd-graph: each line of the input is an argument. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eventdev.h>
#include <rte_lcore.h>

#include "examples/l3fwd-graph/options.h"
#include "fuzz.h"
#include "lib/runtime/observe/recorder.h"

#define WORDS_MAX 64

static void
check_pins(const struct hy_mode_options *m)
{
	FUZZ_CHECK(m->nb_pins <= HY_OPTION_REPEATS &&
		(m->nb_pins > 0) == (m->mode == HY_MODE_DISPATCH));
	for (unsigned int p = 0; p < m->nb_pins; p++) {
		FUZZ_CHECK(m->pins[p].pattern[0] != '\0' && m->pins[p].nb_lcores > 0 &&
			m->pins[p].nb_lcores <= HY_PIN_LCORES_MAX);
		for (unsigned int l = 0; l < m->pins[p].nb_lcores; l++)
			FUZZ_CHECK(rte_lcore_is_enabled(m->pins[p].lcores[l]));
	}
}

static void
check_lists(const struct options *o)
{
	const struct hy_option_list *const lists[] = { &o->hal.force, &o->hal.deny, &o->hal.caps,
		&o->hal.cap_files, &o->hal.packs };

	FUZZ_CHECK(o->nb_drop_class <= REPEATS_MAX && o->nb_steers <= REPEATS_MAX &&
		o->nb_features <= REPEATS_MAX);
	for (unsigned int s = 0; s < o->nb_steers; s++)
		FUZZ_CHECK(port_enabled(o, o->steer[s].next_hop.port));
	for (unsigned int f = 0; f < o->nb_features; f++)
		FUZZ_CHECK(port_enabled(o, o->feature[f].port));
	for (unsigned int l = 0; l < RTE_DIM(lists); l++) {
		FUZZ_CHECK(lists[l]->n <= HY_OPTION_REPEATS);
		for (unsigned int i = 0; i < lists[l]->n; i++)
			FUZZ_CHECK(lists[l]->texts[i] != NULL);
	}
}

static void
check_ports(const struct hy_port_options *o)
{
	FUZZ_CHECK(o->mask != 0 && (o->mask & ~UINT64_C(0x3)) == 0);
	FUZZ_CHECK(o->nb_ports == (unsigned int)__builtin_popcountll(o->mask));
	FUZZ_CHECK(o->nb_queues > 0 && o->nb_queues <= HY_QUEUES_MAX);
	for (unsigned int q = 0; q < o->nb_queues; q++) {
		FUZZ_CHECK(hy_port_chosen(o, o->queues[q].port));
		FUZZ_CHECK(rte_lcore_is_enabled(o->queues[q].lcore) &&
			o->queues[q].lcore != rte_get_main_lcore());
		FUZZ_CHECK(o->queues[q].budget <= o->burst);
	}
	FUZZ_CHECK(o->burst >= 1 && o->burst <= HY_BURST_MAX);
	FUZZ_CHECK(o->max_len >= 64 && o->max_len <= 9600);
	FUZZ_CHECK(o->wait_us >= 1 && o->idle <= HY_IDLE_SLEEP);
}

/* What the program relies on after options were accepted. */
static void
check_options(const struct options *o)
{
	check_ports(&o->ports);
	FUZZ_CHECK(o->max_rules >= 1 && o->max_rules <= 1 << 20 && o->max_routes <= 1 << 28);
	FUZZ_CHECK(o->policy != NULL || (o->nb_steers == 0 && o->nb_drop_class == 0));
	FUZZ_CHECK(o->routes == NULL || o->eth_dest_set == 0);
	FUZZ_CHECK(o->mode.mode != HY_MODE_EVENTDEV || o->mode.device < rte_event_dev_count());
	FUZZ_CHECK(hy_mode_sched_name(&o->mode) != NULL);
	check_lists(o);
	check_pins(&o->mode);
}

/* Telemetry requests captures with the same text. */
static void
check_capture(const char *text)
{
	struct hy_recording capture;

	FUZZ_CHECK(hy_recording_read(text, &capture) == 0);
	FUZZ_CHECK(capture.file[0] != '\0' && capture.nb_points > 0 &&
		capture.nb_points <= HY_CAPTURE_POINTS);
	for (unsigned int p = 0; p < capture.nb_points; p++)
		FUZZ_CHECK(hy_name_valid(capture.points[p].node));
}

static bool
options_one(const uint8_t *bytes, size_t size)
{
	char *text = strndup((const char *)bytes, size), *rest = text, *argv[WORDS_MAX + 2];
	static char program[] = "l3fwd-graph";
	struct hy_option_group groups[OPTION_GROUPS];
	static struct options options;
	int argc = 0, rc;

	FUZZ_CHECK(text != NULL);
	argv[argc++] = program;
	while (argc <= WORDS_MAX && (argv[argc] = strsep(&rest, "\n")) != NULL)
		argc++;
	argv[argc] = NULL;
	options_groups(&options, groups);
	rc = hy_command_line_read(argc, argv, groups, OPTION_GROUPS);
	FUZZ_CHECK(rc == 0 || rc == -EINVAL);
	if (rc == 0)
		check_options(&options);
	if (rc == 0 && options.run.capture != NULL)
		check_capture(options.run.capture);
	free(text);
	return rc == 0;
}

static const char *const texts[] = {
	"-p\n0x3",
	"-P\n-p\n1\n--config=(0,0,1),(0,1,2)\n--eth-dest=0,02:00:00:00:00:01\n"
	"--max-pkt-len\n9600\n--no-numa\n--per-port-pool\n--idle=interrupt:50",
	"-p3\n--routes=/r\n--max-routes=5\n--max-tbl8s=9\n--max-next-hops=7\n--burst=8\n"
	"--rx-budget=1=4\n--node=a=b\n--deny=a@1=b\n--cap=port0.rx_mark=no\n--dry-run",
	"-p3\n--policy\nf\n--drop-class=0\n--steer=7=1,02:00:00:00:00:01\n--max-rules=12\n"
	"--offload=sim:ice,table_size=64,max_rules=9,settle_us=1",
	"-p3\n--mode=dispatch\n--pin=ip4_*=1+2\n--feature\n"
	"ip4_filter@0:dst=192.0.2.0/24,src=10.0.0.1,proto=17",
	"-p3\n--mode=eventdev\n--eventq-sched=ordered\n--event-device=0\n--event-vector\n"
	"--event-vector-size=7\n--event-vector-tmo=100",
	"-p3\n--trace\n5:src=10.0.0.0/8,proto=6\n--stats=1\n--duration=1\n--until-idle=50",
	"-p3\n--capture\n/f,at=a,at=b/c,at=d!e,max=3,snaplen=64,ring=65536,dst=10.0.0.1\n"
	"--json=-\n--dump-routes=d\n--export-dot=x\n--export-json=y",
	"-p3\n--explain=json\n--cap-file=x\n--pack=y.so\n--user=7:9",
	"--help",
	NULL,
};

const struct fuzz_target fuzz_options = { .name = "options", .one = options_one, .texts = texts };
