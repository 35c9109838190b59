# SPDX-License-Identifier: BSD-3-Clause
"""Sphinx's configuration. The version and the paths to Doxygen's XML and dot come from build.py."""

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

breathe_projects = {}
breathe_default_project = "halyard"
breathe_domain_by_extension = {"h": "c"}
breathe_show_include = False
breathe_show_define_initializer = True
breathe_show_enumvalue_initializer = False

# Names that other projects document.
nitpick_ignore = [
    ("c:identifier", name)
    for name in ("FILE", "RTE_MAX_ETHPORTS", "RTE_MAX_NUMA_NODES", "bool", "int16_t", "int32_t",
                 "int64_t", "int8_t", "rte_ether_addr", "rte_mbuf", "rte_rcu_qsbr", "size_t",
                 "uint16_t", "uint32_t", "uint64_t", "uint8_t",
                 "rte_graph_cluster_stats_param.@0")  # a union without a name
]
