# SPDX-License-Identifier: BSD-3-Clause
"""Sphinx's configuration. The version and the paths to Doxygen's XML and dot come from build.py."""

import logging
import re

project = "Halyard"
author = "The Halyard authors"
copyright = author  # pylint: disable=redefined-builtin

extensions = ["breathe", "sphinx.ext.graphviz"]
html_theme = "furo"
html_title = "Halyard"
html_show_sourcelink = False
html_copy_source = False

primary_domain = "c"
highlight_language = "none"
graphviz_output_format = "svg"

# Manual pages: the page of the book, name, description, authors, section.
man_pages = [
    ("l2fwd-graph", "l2fwd-graph", "forward Ethernet frames through a packet graph", [author], 1),
    ("l3fwd-graph", "l3fwd-graph", "forward IP packets through a packet graph", [author], 1),
    ("vswitch-graph", "vswitch-graph", "switch packets by rules, through a packet graph", [author], 1),
    ("hy-hal", "hy-hal", "inspect a machine and explain which node variants fit it", [author], 1),
    ("hy-policy", "hy-policy", "check, try, compare, convert and generate rules", [author], 1),
]

breathe_projects = {}
breathe_default_project = "halyard"
breathe_domain_by_extension = {"h": "c"}
breathe_show_include = False
breathe_show_define_initializer = True
breathe_show_enumvalue_initializer = False

# Names that other projects document.
nitpick_ignore = [
    ("c:identifier", name)
    for name in ("FILE", "RTE_ETH_NAME_MAX_LEN", "RTE_MAX_ETHPORTS", "RTE_MAX_LCORE",
                 "RTE_MAX_NUMA_NODES", "bool", "int16_t", "int32_t", "int64_t", "int8_t",
                 "rte_acl_ctx", "rte_be16_t", "rte_be32_t", "rte_eth_conf", "rte_eth_rss_conf",
                 "rte_ether_addr", "rte_ether_hdr", "rte_event", "rte_flow_action",
                 "rte_flow_attr", "rte_flow_error", "rte_flow_item", "rte_flow_query_count",
                 "rte_hash", "rte_lpm", "rte_mbuf", "rte_mempool", "rte_meter_srtcm",
                 "rte_meter_srtcm_profile", "rte_rcu_qsbr", "rte_ring",
                 "rte_tel_data", "size_t", "telemetry_cb", "uint16_t",
                 "uint32_t", "uint64_t", "uint8_t")
]
nitpick_ignore_regex = [("c:identifier", r"\w+(\.@\d+)+")]  # structs and unions without a name

# A function may have the name of a struct in C, but not in Sphinx, which shows it all the same.
HOMONYMS = ("hy_acl_counts", "hy_acl_log_counts", "hy_acl_place", "hy_datapath_change",
            "hy_dispatch_pin",
            "hy_flow_cls_answer", "hy_flow_key", "hy_flow_sim_stats", "hy_flows_key",
            "hy_flows_levels", "hy_flows_lookups", "hy_flows_stats", "hy_flows_upcall_stats",
            "hy_hal_options",
            "hy_ip6_node", "hy_ip6_trie", "hy_l2_stats", "hy_mode_options", "hy_offload_stats",
            "hy_policy_counts", "hy_policy_view", "hy_port_options",
            "hy_port_status", "hy_run", "hy_run_options", "hy_vswitch_changes", "hy_vswitch_touch")


def is_wrong(record):
    """Whether a warning is one."""
    message = record.getMessage()
    return not message.startswith("Duplicate C declaration") or \
        not re.search(rf" ({'|'.join(HOMONYMS)})( \(.*\))?'\.$", message)


logging.getLogger("sphinx.sphinx.domains.c").addFilter(is_wrong)
