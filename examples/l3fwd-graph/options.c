/* SPDX-License-Identifier: BSD-3-Clause */
/* The program's own options. Every refusal names the option and what is accepted. */

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "options.h"

static int
read_eth_dest(const char *text, void *to)
{
	struct options *o = to;
	unsigned int port = 0;

	if (hy_option_number_before("--eth-dest", &text, ',', "PORT,MM:MM:MM:MM:MM:MM",
		    RTE_MAX_ETHPORTS - 1, &port) < 0)
		return -EINVAL;
	o->eth_dest_set |= UINT64_C(1) << port;
	return hy_option_mac("--eth-dest", text, &o->eth_dest[port]);
}

static int
read_vlan(const char *text, void *to)
{
	struct options *o = to;
	struct hy_vlan *vlan = &o->vlan[o->nb_vlans];
	unsigned int port = 0, vid = 0;

	if (hy_option_number_before("--vlan: port", &text, ':', "PORT:VID, as in 0:100",
		    RTE_MAX_ETHPORTS - 1, &port) < 0 ||
		hy_option_number("--vlan: VID", text, 1, HY_VLAN_VID_MAX, &vid) < 0)
		return -EINVAL;
	*vlan = (struct hy_vlan){ .port = (uint16_t)port, .vid = (uint16_t)vid };
	for (unsigned int i = 0; i < o->nb_vlans; i++)
		if (o->vlan[i].port == port && o->vlan[i].vid == vid)
			return hy_option_refuse("--vlan", "%u:%u is given twice", port, vid);
	o->nb_vlans++;
	return 0;
}

static int
read_drop_class(const char *text, void *to)
{
	struct options *o = to;
	unsigned int class_id = 0;
	const int rc = hy_option_number("--drop-class", text, 0, UINT16_MAX, &class_id);

	o->drop_class[o->nb_drop_class++] = (uint16_t)class_id;
	return rc;
}

static int
read_steer(const char *text, void *to)
{
	static const char form[] = "CLASS=PORT,MAC, as in 7=1,02:00:00:00:00:01";
	struct options *o = to;
	struct hy_ip4_steer *steer = &o->steer[o->nb_steers];
	unsigned int class_id = 0, port = 0;

	if (strchr(text, ',') == NULL)
		return hy_option_refuse("--steer", "'%s' is not %s", text, form);
	if (hy_option_number_before("--steer: class", &text, '=', form, UINT16_MAX, &class_id) <
			0 ||
		hy_option_number_before("--steer: port", &text, ',', form, RTE_MAX_ETHPORTS - 1,
			&port) < 0 ||
		hy_option_mac("--steer", text, &steer->next_hop.mac) < 0)
		return -EINVAL;
	for (unsigned int i = 0; i < o->nb_steers; i++)
		if (o->steer[i].class_id == class_id)
			return hy_option_refuse("--steer", "class %u is given twice", class_id);
	steer->class_id = (uint16_t)class_id;
	steer->next_hop.port = (uint16_t)port;
	o->nb_steers++;
	return 0;
}

const char *const feature_nodes[FAMILIES] = {
	[HY_IP_V4] = HY_IP4_FILTER_NODE,
	[HY_IP_V6] = HY_IP6_FILTER_NODE,
};

/* Reads NODE, up to the '@'. */
static int
read_feature_node(const char *text, enum hy_ip_family *family)
{
	for (*family = HY_IP_V4; *family <= HY_IP_V6; ++*family) {
		const size_t len = strlen(feature_nodes[*family]);

		if (strncmp(text, feature_nodes[*family], len) == 0 && text[len] == '@')
			return 0;
	}
	return -EINVAL;
}

static int
read_feature(const char *text, void *to)
{
	static const char form[] = "NODE@PORT:FILTER, as in " HY_IP4_FILTER_NODE
				   "@0:dst=192.0.2.0/24 or " HY_IP6_FILTER_NODE
				   "@0:dst=2001:db8::/32";
	struct options *o = to;
	struct feature *feature = &o->feature[o->nb_features++];
	const struct hy_ip_filter *filter = &feature->filter;
	char conditions[160];
	const char *rest;
	unsigned int port = 0;

	if (strlen(text) >= sizeof(conditions) || read_feature_node(text, &feature->family) < 0 ||
		strchr(text, ':') == NULL)
		return hy_option_refuse("--feature", "'%s' is not %s", text, form);
	rest = strchr(text, '@') + 1;
	if (hy_option_number_before("--feature: port", &rest, ':', form, RTE_MAX_ETHPORTS - 1,
		    &port) < 0)
		return -EINVAL;
	feature->port = (uint16_t)port;
	strcpy(conditions, rest);
	if (hy_option_filter("--feature", conditions, &feature->filter) < 0)
		return -EINVAL;
	if ((filter->src.family != HY_IP_ANY && filter->src.family != feature->family) ||
		(filter->dst.family != HY_IP_ANY && filter->dst.family != feature->family))
		return hy_option_refuse("--feature", "'%s': no packet of %s has such an address",
			text, feature_nodes[feature->family]);
	return 0;
}

static int
check_steer(const struct options *o, const struct hy_ip4_steer *steer)
{
	if (!port_enabled(o, steer->next_hop.port))
		return hy_option_refuse("--steer", "port %u is not one of -p",
			steer->next_hop.port);
	for (unsigned int d = 0; d < o->nb_drop_class; d++)
		if (o->drop_class[d] == steer->class_id)
			return hy_option_refuse("--steer", "class %u is one of --drop-class",
				steer->class_id);
	return 0;
}

static int
check(void *to)
{
	const struct options *o = to;
	int rc = 0;

	if ((o->eth_dest_set & ~o->ports.mask) != 0)
		return hy_option_refuse("--eth-dest", "names a port that is not in -p 0x%" PRIx64,
			o->ports.mask);
	if (o->dump != NULL && o->run.json != NULL && strcmp(o->dump, "-") == 0 &&
		strcmp(o->run.json, "-") == 0)
		return hy_option_refuse("--dump-routes", "- is where --json writes; name a file");
	for (unsigned int i = 0; i < o->nb_features; i++)
		if (!port_enabled(o, o->feature[i].port))
			return hy_option_refuse("--feature", "port %u is not one of -p",
				o->feature[i].port);
	for (unsigned int i = 0; i < o->nb_vlans; i++)
		if (!port_enabled(o, o->vlan[i].port))
			return hy_option_refuse("--vlan", "port %u is not one of -p",
				o->vlan[i].port);
	for (unsigned int i = 0; i < o->nb_steers && rc == 0; i++)
		rc = check_steer(o, &o->steer[i]);
	return rc < 0 ? rc : option_check_lists(o);
}

#define AT(field) offsetof(struct options, field)
#define ROUTES .needs = "routes", .why = "only its routes change"
#define POLICY .needs = "policy", .why = "its rules give classes"
#define RULES .needs = "policy acl-list", .why = "its rules give classes"
#define LISTS .needs = "acl-list", .why = "it names access lists"

static int
read_offload(const char *text, void *to)
{
	return hy_flow_engines_read("--offload", text, &((struct options *)to)->offload);
}

static int
read_acl_offload(const char *text, void *to)
{
	return hy_flow_engines_read("--acl-offload", text, &((struct options *)to)->acl_offload);
}

static const struct hy_option own[] = {
	{ "eth-dest", HY_OPTION_READ, .read = read_eth_dest, .value = "=P,MM:MM:MM:MM:MM:MM",
		.help = "next hop of port P's default route", .excludes = "routes",
		.why = "its routes replace the default ones" },
	{ "vlan", HY_OPTION_READ, .read = read_vlan, .value = "PORT:VID",
		.help = "an interface for the frames of PORT with the tag of VLAN VID, 1 to 4094; "
			"routes may lead to it, as in \"port 0.100\"",
		.excludes = "steer", .why = "steered packets bypass the nodes that remove tags" },
	{ "routes", HY_OPTION_TEXT, AT(routes), "FILE",
		"routes, instead of 198.18.P.0/24 to each port P; lines of \"PREFIX port N mac "
		"MM:MM:MM:MM:MM:MM\", or \"PREFIX group\" and several such next hops; read again "
		"on SIGHUP" },
	{ "max-routes", HY_OPTION_NUMBER, AT(max_routes), "N",
		"most routes (default: a quarter more than the file has, at least 1024)", 1,
		1 << 28, ROUTES },
	{ "max-tbl8s", HY_OPTION_NUMBER, AT(max_tbl8s), "N",
		"most /24 networks with longer prefixes inside (default: likewise, at least 256)",
		1, 1 << 21, ROUTES },
	{ "max-next-hops", HY_OPTION_NUMBER, AT(max_next_hops), "N",
		"most next hops and groups (default: likewise, at least 32767)", 1, 1 << 24,
		ROUTES },
	{ "group-seed", HY_OPTION_NUMBER, AT(group_seed), "N",
		"of the hash that spreads flows over the members of groups (default 0); routers in "
		"a row need different ones",
		0, UINT32_MAX, ROUTES },
	{ "policy", HY_OPTION_TEXT, AT(policy), "FILE",
		"rules that give packets a class before they are routed; lines of \"rule ID class "
		"CLASS\" and conditions; read again on SIGHUP" },
	{ "drop-class", HY_OPTION_READ, .read = read_drop_class, .value = "CLASS",
		.help = "drop the packets of a class; 0: packets without one", RULES },
	{ "steer", HY_OPTION_READ, .read = read_steer, .value = "CLASS=PORT,MAC",
		.help = "send the packets of a class there, regardless of routes", RULES },
	{ "feature", HY_OPTION_READ, .read = read_feature, .value = "NODE@PORT:FILTER",
		.help = "drop matching packets of PORT before they are routed; FILTER is as for "
			"--trace",
		.excludes = "steer", .why = "steered packets bypass the features" },
	{ "max-rules", HY_OPTION_NUMBER, AT(max_rules), "N",
		"most rules, of each access list too (1 to 1048576, default 16384)", 1, 1 << 20,
		RULES },
	{ "max-rules-mib", HY_OPTION_NUMBER, AT(max_rules_mib), "N",
		"most MiB that compiled rules take, of each access list too (default: no limit)", 1,
		1 << 20, RULES },
	{ "max-build-ms", HY_OPTION_NUMBER, AT(build_ms), "N",
		"longest that compiling rules may take, as estimated (default: no limit)", 1,
		3600000, RULES },
	{ "acl-list", HY_OPTION_READ, .read = option_read_list, .value = "NAME=FILE",
		.help = "an access list; lines of \"rule ID ACTION\" and conditions, ACTION permit, "
			"deny, count, \"class N\" or \"port N\"; read again on SIGHUP" },
	{ "acl", HY_OPTION_READ, .read = option_read_bind, .value = "WAY:PORT=NAME",
		.help = "apply a list to the frames that PORT receives, as in in:0=edge, or sends, "
			"as in out:0=edge",
		LISTS },
	{ "acl-no-match", HY_OPTION_READ, .read = option_read_no_match, .value = "=permit|deny",
		.help = "what becomes of frames that no rule matches, in lists without a line "
			"\"default\" (default permit)",
		LISTS },
	{ "offload", HY_OPTION_READ, .read = read_offload, .value = "HOW",
		.help = "install rules in hardware (rte_flow) or in a simulator (sim:PROFILE, of "
			"generic, cnxk, mlx5, ice, i40e or iavf); settings may follow, as in "
			"sim:ice,table_size=64",
		POLICY },
	{ "acl-offload", HY_OPTION_READ, .read = read_acl_offload, .value = "HOW",
		.help = "drop in hardware, or in a simulator, what lists deny that are bound to the "
			"frames that ports receive; HOW is as for --offload",
		.excludes = "offload", .needs = "acl-list",
		.why = "it is for access lists, and a port holds rules of one kind" },
	{ "dump-routes", HY_OPTION_TEXT, AT(dump), "FILE",
		"write the routes on exit and on SIGUSR1, as --routes reads them; - is standard "
		"output" },
};

void
options_groups(struct options *o, struct hy_option_group groups[OPTION_GROUPS])
{
	*o = (struct options){ .max_rules = 16384, .no_match = HY_RULE_PERMIT };
	for (unsigned int p = 0; p < RTE_MAX_ETHPORTS; p++)
		o->eth_dest[p].addr_bytes[0] = RTE_ETHER_LOCAL_ADMIN_ADDR,
		o->eth_dest[p].addr_bytes[5] = (uint8_t)p;
	groups[0] = hy_port_options(&o->ports);
	groups[1] = hy_mode_options(&o->mode, &o->ports);
	groups[2] = (struct hy_option_group){ "Routes, classes, access lists and features", own,
		RTE_DIM(own), o, check };
	groups[3] = hy_hal_options(&o->hal);
	groups[4] = hy_run_options(&o->run);
}
