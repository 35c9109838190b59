# SPDX-License-Identifier: BSD-3-Clause
"""tools/includes.py finds each way in which a file can leave its room."""

import subprocess

import pytest

import l3fwd

TREE = {
    "lib/file/hy_file.h": "",
    "lib/file/file.c": '#include <hy_file.h>\n',
    "lib/graph/hy_graph.h": "",
    "lib/graph/internal/log.h": "",
    "lib/graph/walk/walk.h": "",
    "lib/graph/walk/walk.c": '#include <hy_graph.h>\n\n#include "walk.h"\n',
    "lib/dispatch/hy_dispatch.h": "",
    "lib/dispatch/dispatch.c": '#include "lib/graph/internal/log.h"\n',
    "lib/policy/hy_policy.h": "",
    "lib/flows/hy_flows.h": "",
    "lib/vswitch/hy_vswitch.h": "",
    "lib/rte_graph_compat/rte_graph.h": "",
    "hal/hy_hal.h": "#include <hy_graph.h>\n",
    "hal/select/select.h": "",
    "drivers/nodes/generic/node.c": '#include <rte_mbuf.h>\n\n#include "lib/graph/internal/log.h"\n',
    "lib/runtime/hy_ports.h": "",
    "lib/routes/routes.c": "#include <hy_ports.h>\n",
    "lib/bridge/bridge.c": "#include <hy_ports.h>\n",
    "lib/datapath/hy_datapath.h": "#include <hy_vswitch.h>\n",
    "lib/datapath/datapath.c": '#include <hy_ports.h>\n\n#include "lib/graph/internal/log.h"\n',
    "lib/acl/acl_list.c": "#include <hy_ports.h>\n",
    "app/main.c": '#include "hal/select/select.h"\n',
}
LINE = "int x;\n"
WRONG = {
    "a private header": ("lib/dispatch/a.c", '#include "lib/graph/walk/walk.h"\n',
                         "lib/dispatch/a.c:1: lib/graph/walk/walk.h belongs to lib/graph"),
    "a public header above": ("lib/graph/walk/a.c", "#include <hy_hal.h>\n",
                              "lib/graph/walk/a.c:1: lib/graph lies below hal"),
    "a header above": ("lib/graph/walk/a.c", '#include "hal/select/select.h"\n',
                       "lib/graph/walk/a.c:1: lib/graph lies below hal"),
    "packets": ("lib/graph/walk/a.c", "#include <rte_mbuf.h>\n",
                "lib/graph/walk/a.c:1: lib/graph does not use rte_mbuf.h"),
    "DPDK": ("lib/file/a.c", "#include <rte_eal.h>\n", "lib/file/a.c:1: lib/file does not use rte_eal.h"),
    "rules of a switch in the runtime": ("lib/runtime/a.c", "#include <hy_vswitch.h>\n",
                                         "lib/runtime/a.c:1: lib/runtime lies below lib/vswitch"),
    "a switch beside a bridge": ("lib/bridge/a.c", "#include <hy_datapath.h>\n",
                                 "lib/bridge/a.c:1: lib/bridge lies below lib/datapath"),
    "a way up": ("hal/select/a.c", '\n#include "../hy_hal.h"\n',
                 "hal/select/a.c:2: a header of another folder is named from the root"),
    "one name twice": ("hal/select/walk.c", "",
                       "hal/select/walk.c, lib/graph/walk/walk.c: one name in one library"),
    "a long file": ("hal/select/a.c", 601 * LINE, "hal/select/a.c: 601 lines; at most 600"),
    "a long node": ("drivers/nodes/generic/a.c", "HY_NODE_REGISTER(a)\n" + 250 * LINE,
                    "drivers/nodes/generic/a.c: 251 lines; at most 250"),
}


def check(folder, files):
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    done = subprocess.run([l3fwd.ROOT / "tools/includes.py", *sorted(files)], cwd=folder,
                          capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout.strip(), done.stderr


def test_files_that_keep_to_their_rooms_are_taken(tmp_path):
    assert check(tmp_path, TREE) == (0, "", "")


@pytest.mark.parametrize("kind", WRONG, ids=lambda kind: kind.replace(" ", "_"))
def test_file_that_leaves_its_room_is_named(tmp_path, kind):
    path, text, said = WRONG[kind]
    assert check(tmp_path, {**TREE, path: text}) == (1, said, "")


def test_folder_of_too_many_files_is_named(tmp_path):
    many = {f"hal/flow/f{n}.c": "" for n in range(31)}
    assert check(tmp_path, {**TREE, **many}) == (1, "hal/flow: 31 files; at most 30", "")


def test_tree_without_its_rooms_is_no_success(tmp_path):
    code, _, said = check(tmp_path, {"app/main.c": ""})
    assert code != 0 and "not all rooms are there" in said
