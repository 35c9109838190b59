# SPDX-License-Identifier: BSD-3-Clause
"""hy-hal report: every part is there and says what the other commands say; what is simulated is
called so; nothing in the file tells whose machine it is; and a file that cannot be written is one
error, with nothing left behind."""

import json
import os
import re
import signal
import stat
import subprocess

import pytest

import l3fwd
import pcapfile
import test_files_written
import test_hy_hal
import test_install
import test_plugin
import test_selftest
from frames import traffic

EAL = [*test_hy_hal.EAL, "--log-level=critical"]
VDEVS = ["net_null0", "net_ring0"]
RECEIVED = 10
SECTIONS = ["report", "machine", "software", "pci", "inventory", "selections", "fusions",
            "packs", "ports"]
SHORT = ["--quick", "--family=null"]
KINDS = 41  # of flow rules

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("report")]
installed = test_plugin.installed
folder = test_plugin.folder
mutants = test_selftest.mutants


def report(path, *words, vdevs=(), eal=(), under=(), **options):
    """Runs a report to its end."""
    eal = [*EAL, *eal, *(f"--vdev={name}" for name in vdevs), "--"]
    return subprocess.run([*under, *l3fwd.UNDER, test_hy_hal.HY_HAL, *eal, "report", path,
                           *map(str, words)], capture_output=True, text=True, check=False,
                          timeout=test_selftest.TIMEOUT, stdin=subprocess.DEVNULL, **options)


def written(path, *words, **options):
    """What a report wrote. It must succeed, without a word on standard error."""
    done = report(path, *words, **options)
    assert done.returncode == 0 and "hy-hal: " not in done.stderr, f"{done.stdout}\n{done.stderr}"
    text = path.read_text()
    assert done.stdout.endswith(f"report: {path}: {len(text)} bytes\n"), done.stdout
    return text


@pytest.fixture(scope="module")
def vdevs(tmp_path_factory):
    """Devices: the last one receives some packets, once."""
    path = pcapfile.write(tmp_path_factory.mktemp("report") / "in.pcap",
                          traffic("198.18.1.1", RECEIVED))
    return [*VDEVS, f"net_pcap0,rx_pcap={path}"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory, vdevs):
    """A report as JSON."""
    path = tmp_path_factory.mktemp("report") / "whole.json"
    return json.loads(written(path, "--json", "--quick", "--load=1", vdevs=vdevs))


@pytest.fixture(scope="module")
def text(tmp_path_factory, vdevs):
    """The same as text, but for most of the selftest."""
    return written(tmp_path_factory.mktemp("report") / "whole", *SHORT, "--load=1", vdevs=vdevs)


@pytest.fixture(scope="module")
def simulated(folder):
    """A report of simulated devices of all vendors."""
    names = ["sim_cn10k0", "sim_mlx5_0", "sim_ice0", "sim_i40e0", "sim_iavf0", "sim_event_dlb20",
             "net_null0"]
    return json.loads(written(folder / "simulated.json", "--json", *SHORT, vdevs=names,
                              eal=test_hy_hal.simulated_driver(folder)))


def test_every_part_is_there_in_both_formats(whole, text):
    assert list(whole) == [*SECTIONS, "load", "selftest"]
    headings = re.findall(r"(?m)^(\w+):$", text)
    assert headings == [part for part in whole if part != "fusions"]
    below = text[text.index("\nselections:\n"):text.index("\npacks:\n")]
    assert "ip4_forward fuses pkt_cls, ip4_lookup, ip4_rewrite\n" in below
    assert "ip6_forward fuses pkt_cls, ip6_lookup, ip6_rewrite\n" in below
    assert text.startswith("Halyard bring-up report\n")


def flat(value, path=()):
    """All names and values of an outline, in order."""
    for name, inner in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(inner, (dict, list)):
            yield from flat(inner, (*path, name))
        else:
            yield (*path, name), inner


def test_text_says_what_json_says_and_in_its_order(whole, text):
    """But for figures that change from one moment to the next."""
    told, at, compared = text[text.index("machine:"):], 0, 0
    for part in ("machine", "software", "ports"):
        for path, value in flat(whole[part]):
            word = "yes" if value is True else "no" if value is False else str(value)
            if isinstance(path[-1], str):
                word = f"{path[-1]}: {word}" if path[-1] not in ("free", "tsc_hz") else path[-1]
            assert word in told[at:], (path, value)
            at = told.index(word, at)
            compared += 1
    assert compared > 300


def test_machine_is_what_the_system_says(whole):
    machine, software = whole["machine"], whole["software"]
    assert machine["kernel"] == os.uname().release
    assert machine["cpu"]["architecture"] == os.uname().machine
    assert machine["memory_mb"] == int(re.search(
        r"MemTotal: +(\d+)", open("/proc/meminfo", encoding="ascii").read())[1]) // 1024
    assert machine["numa_nodes"][0]["node"] == 0 and len(machine["hugepages"]) > 0
    assert machine["cpu"]["isa"] and machine["cpu"]["tsc_hz"] > 10**8
    version = test_hy_hal.passes("--version")
    assert version == f"hy-hal: Halyard {software['halyard']}, {software['dpdk']}\n"
    assert software["on_hugepages"] is False and software["as_root"] == (os.geteuid() == 0)


def test_pci_devices_are_those_of_the_system(whole):
    """Network and accelerators."""
    devices = "/sys/bus/pci/devices"
    here = sorted(os.listdir(devices)) if os.path.isdir(devices) else []
    classes = {a: open(f"{devices}/{a}/class", encoding="ascii").read().strip() for a in here}
    network = [a for a in here if classes[a].startswith("0x02")]
    assert [d["address"] for d in whole["pci"] if d["class"].startswith("0x02")] == network
    for device in whole["pci"]:
        assert device["class"] == classes[device["address"]]
        assert device["kernel_driver"]


def test_capabilities_and_picks_are_those_of_explain(whole, vdevs):
    explained = json.loads(test_hy_hal.passes("explain", "--json", "--try-flows", vdevs=vdevs))
    assert whole["selections"] == explained["selections"]
    assert whole["inventory"] == explained["inventory"]
    assert len(whole["selections"]) > 10 and len(whole["inventory"]["ports"]) == len(vdevs)


def test_text_has_what_the_other_commands_print(text, vdevs):
    compared = 0
    for words in (["inventory", "--try-flows"], ["explain", "--try-flows"], ["packs"]):
        printed = test_hy_hal.passes(*words, vdevs=vdevs)
        assert "".join(f"    {line}\n" for line in printed.splitlines()) in text, printed
        compared += len(printed.splitlines())
    assert compared > 100


def test_force_and_overrides_are_reported(tmp_path):
    said = json.loads(written(tmp_path / "r", "--json", *SHORT, "--node=ip4_lookup=scalar",
                              "--node=pkt_cls=ptype", "--cap=port0.rx_ptype_ip4=yes",
                              vdevs=["net_null0"]))
    picked = {s["family"]: s["variant"] for s in said["selections"]}
    assert (picked["ip4_lookup"], picked["pkt_cls"]) == ("scalar", "ptype")


def test_packs_are_those_of_packs(whole):
    assert whole["packs"] == json.loads(test_hy_hal.passes("packs", "--json", vdevs=[]))["packs"]


def test_every_variant_is_tried(whole):
    tried = {f"{v['family']}/{v['variant']}": v for v in whole["selftest"]["variants"]}
    fused = {name for name, v in tried.items() if v["fusion"]}
    assert len(fused) >= 2
    assert set(tried) - fused == {name for pack in whole["packs"] for name in pack["variants"]}
    assert whole["selftest"]["passed"] is True
    ran = [v for v in tried.values() if v["outcome"] == "passed"]
    assert len(ran) > 9 and {v["cases"] // 10 for v in ran} == {100}
    assert all("clocks" not in v for v in ran)


def test_without_quick_the_selftest_is_that_of_selftest(tmp_path):
    words = ["--variant=null/scalar", "--variant=pkt_drop/scalar", "--json"]
    said = json.loads(written(tmp_path / "r", *words))["selftest"]
    alone = json.loads(test_selftest.selftest(*words).stdout)
    for run in (said, alone):
        for variant in run["variants"]:
            assert variant.pop("clocks") > 0
            for measured in ("reference_clocks", "ratio", "rounds", "packets"):
                del variant[measured]
    assert said == alone and {v["cases"] for v in said["variants"]} == {test_selftest.CASES}


def test_variant_that_fails_is_in_the_report_without_the_packet(tmp_path, mutants):
    done = report(tmp_path / "r", "--json", "--quick", "--variant=pkt_cls/frees",
                  f"--pack={mutants}")
    assert done.returncode == 0, done
    said = json.loads((tmp_path / "r").read_text())["selftest"]
    (failed,) = said["variants"]
    assert (said["passed"], failed["outcome"]) == (False, "failed")
    assert "was freed" in failed["text"] and failed["frame"] == "<hex>", failed


def test_ports_say_what_the_driver_says(whole):
    ports = whole["ports"]
    assert [(p["port"], p["name"], p["driver"], p["bus"]) for p in ports] == [
        (0, "net_null0", "net_null", "vdev"), (1, "net_ring0", "net_ring", "vdev"),
        (2, "net_pcap0", "net_pcap", "vdev")]
    for port, found in zip(ports, whole["inventory"]["ports"], strict=True):
        capabilities = found["capabilities"]
        assert port["max_rx_queues"] == capabilities["rx_queues"]["value"]
        assert port["max_tx_queues"] == capabilities["tx_queues"]["value"]
        assert port["firmware"] == "unknown: Operation not supported (-95)"
        assert port["simulated"] is False
    assert whole["report"]["simulated"] == []
    assert ports[1]["rx_offloads"] == ["SCATTER"] and ports[1]["tx_offloads"] == ["MULTI_SEGS"]
    assert {"ipv4", "ipv6-udp", "vxlan"} <= set(ports[0]["rss_types"])


def test_what_ports_take_and_refuse_is_tried(whole):
    null, ring, pcap = whole["ports"]
    assert [(p["queues"]["rx_taken"], p["queues"]["tx_taken"]) for p in whole["ports"]] == [
        (1024, 1024), (16, 16), (1, 1)]
    assert null["rss_types_refused"] == null["running"]["rss_changes_refused"] == []
    assert "rss_changes" not in null["running"]
    assert ring["running"]["rss_changes"] == "cannot be tried: Operation not supported (-95)"
    assert [p["running"]["queues"] for p in (null, ring, pcap)] == [4, 4, 1]
    assert [p["running"]["link"] for p in (null, ring, pcap)] == ["up, 10 Gbps"] * 3


@pytest.mark.skipif(bool(test_install.sanitizer()), reason="net_bonding leaks its arguments")
def test_port_that_cannot_be_started_says_so(tmp_path):
    """A bonding device without members, between two others."""
    vdevs = ["net_null0", "net_bonding0,mode=0", "net_ring0"]
    if "initialised: No such device" in report(tmp_path / "none", "--json", *SHORT, vdevs=vdevs[1:2]).stderr:
        pytest.skip("this DPDK has no net_bonding")
    said = json.loads(written(tmp_path / "r", "--json", *SHORT, "--load=1", vdevs=vdevs))
    first, bonding, last = said["ports"]
    error = "cannot be started: Operation not permitted (-1)"
    assert bonding["running"] == {"queues": 4, "error": error}
    assert "link" in first["running"] and "link" in last["running"]
    assert said["load"]["counted"][1] == {"port": 1, "error": error}


def test_port_without_a_flow_engine_refuses_each_kind_in_the_words_of_dpdk(whole):
    flow = whole["ports"][0]["running"]["flow_rules"]
    assert (flow["provider"], flow["pack"], flow["kinds_taken"]) == ("rte_flow", "generic", 0)
    assert len({k["rule"] for k in flow["kinds"]}) == len(flow["kinds"]) == KINDS
    by_driver = [k for k in flow["kinds"] if k["refused_by"] == "validate"]
    assert len(by_driver) > 30
    for kind in by_driver:
        assert kind == {"rule": kind["rule"], "offloaded": False, "taken": False, "refused_by": "validate",
                        "errno": "Function not implemented (-38)", "type": 1,
                        "message": "Function not implemented"}


def test_simulated_devices_are_called_so(simulated):
    assert simulated["report"]["simulated"] == [
        "sim_cn10k0", "sim_mlx5_0", "sim_ice0", "sim_i40e0", "sim_iavf0", "sim_event_dlb20"]
    assert [(p["driver"], p["simulated"]) for p in simulated["ports"]] == [
        ("net_cn10k", True), ("mlx5_pci", True), ("net_ice", True), ("net_i40e", True),
        ("net_iavf", True), ("net_null", False)]


def test_simulated_devices_refuse_kinds_of_rules_as_their_vendors_do(simulated):
    kinds = [{k["rule"]: k for k in p["running"]["flow_rules"]["kinds"]}
             for p in simulated["ports"]]
    assert {len(k) for k in kinds} == {KINDS}
    taken = [sum(k["taken"] for k in port.values()) for port in kinds]
    assert taken == [p["running"]["flow_rules"]["kinds_taken"] for p in simulated["ports"]]
    assert [n > 0 for n in taken] == [True] * 5 + [False]
    assert [p["running"]["flow_rules"]["pack"] for p in simulated["ports"]] == [
        "octeontx2", "mlx5", "intel", "intel", "intel", "generic"]
    stages = set()
    for port in kinds:
        for kind in port.values():
            if not kind["taken"]:
                stages.add(kind["refused_by"])
                assert kind["reason" if kind["refused_by"] == "lowering" else "message"], kind
    assert stages == {"lowering", "validate", "create"}
    for port in kinds[:5]:
        assert port["UDP, 5-tuple"]["offloaded"], port["UDP, 5-tuple"]
        assert port["UDP, range of ports"]["refused_by"] == "lowering"
    for port, found in zip(simulated["ports"], simulated["inventory"]["ports"], strict=True):
        flow, capabilities = port["running"]["flow_rules"], found["capabilities"]
        assert flow["mark_max"] == capabilities["flow_mark"]["value"]
        assert flow["priorities"] == capabilities["flow_priority"]["value"]
        assert flow["probed"].split(" took ")[0] == \
            capabilities["flow_mark"]["reason"].split(" took ")[0]
        assert 0 <= flow["kinds_checked_for_fragments"] <= flow["kinds_offloaded"] <= KINDS
        assert flow["kinds_offloaded"] == sum(k["offloaded"] for k in flow["kinds"])
        assert (flow["kinds_offloaded"] > 0) == (port["driver"] != "net_null")


def test_load_counts_what_arrives(whole):
    load = whole["load"]
    assert (load["seconds"], load["traffic"], len(load["counted"])) == (1, True, 3)
    null, ring, pcap = load["counted"]
    assert (pcap["received"], pcap["basic"]["ipackets"]) == (RECEIVED, RECEIVED)
    assert pcap["extended"]["rx_good_packets"] == RECEIVED
    assert null["received"] == null["basic"]["ipackets"] > 1000
    assert (ring["received"], ring["extended"]) == (0, {})


def test_no_load_is_measured_unasked(simulated):
    assert list(simulated) == [*SECTIONS, "selftest"]


# What a driver may put into a text, and what becomes of it. Names of devices are such texts.
PRIVATE = {
    "02:00:5e:10:20:30": "<mac>",
    "02-00-5E-10-20-30": "<mac>",
    "0200.5e10.2030": "<mac>",
    "02005e102030": "<hex>",
    "0x02005e102030": "<hex>",
    "192.0.2.17": "<ip>",
    "fe80::200:5eff:fe10:2030": "<ip>",
    "2001:db8:0:1:2:3:4:5": "<ip>",
    "::ffff:192.0.2.77": "<ip>",
    "0002:c903:00ab:1234": "<ip>",  # half of an InfiniBand GUID
    "000d3a6f-02ab-000d-3a6f-02ab000d3a6f": "<uuid>",  # of Hyper-V: holds the MAC address
    "/srv/private/x.bin": "<path>",
    "buildhost7": "<name>",
    "BuildHost7.lab.example": "<name>",
    "alicew": "<name>",
}
PUBLIC = ["0000:01:00.0", "10000:e1:00.1", "22.31.1014", "1.2.3.4.5", "300.1.1.1", "12:34:56",
          "0x8000d95e", "buildhost77", "123456789012345"]


def as_host(host):
    """The beginning of a command that runs the rest on a host of another name."""
    if subprocess.run(["unshare", "-u", "true"], check=False, capture_output=True).returncode:
        pytest.skip("no right to make UTS namespaces")
    return ["unshare", "-u", "sh", "-c",
            f'echo {host} >/proc/sys/kernel/hostname && exec "$@"', "sh"]


@pytest.mark.parametrize("form", [[], ["--json"]], ids=["text", "json"])
def test_nothing_tells_whose_machine_it_is(tmp_path, form):
    """Names of host and user, addresses and paths, as parts of the names of devices: these stand in
    the inventory, in reasons, and in the parts of the report's own."""
    names = [f"net_null-{word}" for word in [*PRIVATE, *PUBLIC]]
    env = {**os.environ, "USER": "alicew", "SUDO_USER": "alicew",
           "HOME": f"/{'home'}/alicew"}
    said = written(tmp_path / "private-name", *form, *SHORT, vdevs=names, env=env,
                   under=as_host("buildhost7.lab.example"))
    for word in PRIVATE:
        assert word.lower() not in said.lower().replace("buildhost77", ""), word
    for path in (tmp_path, "private", "alicew", "example", "0.2.77"):
        assert str(path) not in said, path
    for instead in PRIVATE.values():
        assert said.count(f"net_null-{instead}") >= 2, instead
    for word in PUBLIC:
        assert said.count(f"net_null-{word}") >= 2, word
    if form:
        assert len(json.loads(said)["ports"]) == len(names)


def test_name_of_digits_leaves_numbers_alone(tmp_path):
    """A host may be called as a number that the report counts something by."""
    said = written(tmp_path / "r", "--json", *SHORT, vdevs=["net_null0", "net_null-4094"],
                   env={**os.environ, "HOSTNAME": "4094", "USER": "1024"})
    ports = json.loads(said)["ports"]
    assert [port["name"] for port in ports] == ["net_null0", "net_null-<name>"]
    assert ports[0]["max_rx_queues"] == 1024
    assert "4094" not in said


@pytest.mark.parametrize("name", ["true", "false"])
def test_name_that_is_a_word_of_json_leaves_json_alone(tmp_path, name):
    said = written(tmp_path / "r", "--json", *SHORT, vdevs=["net_null0", f"net_null-{name}"],
                   env={**os.environ, "USER": name})
    ports = json.loads(said)["ports"]
    assert [port["name"] for port in ports] == ["net_null0", "net_null-<name>"]


def test_device_arguments_are_not_in_it(tmp_path):
    arguments = (f"net_memif0,role=server,mac=02:00:5e:10:20:30,socket={tmp_path}/memif.sock,"
                 "secret=mellonmellon")
    said = written(tmp_path / "r", *SHORT, vdevs=[arguments])
    assert "name: net_memif0\n" in said
    for word in ("02:00:5e", "02005e", "memif.sock", "mellon", str(tmp_path)):
        assert word not in said, word


def test_own_host_and_addresses_are_not_in_it(text, whole):
    """Those of this machine, whatever they are; but for addresses of interfaces without one."""
    interfaces = subprocess.run(["ip", "-o", "addr"], capture_output=True, text=True, check=False)
    own = set(re.findall(r"inet6? ([0-9a-f.:]+)", interfaces.stdout)) - {"::1"}
    links = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=False)
    own |= set(re.findall(r"link/ether ([0-9a-f:]+)", links.stdout))
    for said in (text, json.dumps(whole)):
        for address in own:
            assert address not in said, address
        assert not re.search(r"(?i)([0-9a-f]{2}[:-]){5}[0-9a-f]{2}", said)


WRONG = {
    "no file": ([], "takes one FILE besides options; it was given none"),
    "two files": (["one", "two"], "takes one FILE besides options; it was given 'two' too"),
    "no number": (["one", "--load=soon"], "--load: 'soon' is not a number from 0 to 86400"),
    "too long": (["one", "--load=86401"], "--load: '86401' is not a number from 0 to 86400"),
    "another's option": (["one", "--graph=l3fwd"], "--graph: not an option of report"),
    "no such family": (["one", "--family=nosuch"], "--family: no family 'nosuch'; there are: "),
    "no such variant": (["one", "--node=pkt_cls=nosuch"], "--node: "),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_named_and_nothing_written(tmp_path, case):
    words, named = WRONG[case]
    done = test_hy_hal.hal("report", *words, cwd=tmp_path)
    assert done.returncode == 1 and named in done.stderr, done
    assert len([line for line in done.stderr.splitlines() if line.startswith("hy-hal: ")]) == 1
    assert os.listdir(tmp_path) == []


def test_its_options_are_not_those_of_other_commands():
    for word in ("--load=1", "--quick"):
        done = test_hy_hal.hal("selftest", word)
        assert done.returncode == 1, done
        assert f"hy-hal: {word.partition('=')[0]}: not an option of selftest\n" in done.stderr


@pytest.mark.parametrize("kind", test_files_written.KINDS, ids=lambda kind: kind.replace(" ", "_"))
def test_file_that_is_no_regular_file_of_ours_is_refused_at_once(tmp_path, kind):
    path = test_files_written.place(tmp_path / "output", kind)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK) if kind == "FIFO that is read" else None
    done = report(path, *SHORT)
    assert done.returncode == 1 and done.stdout == "", done
    assert done.stderr == f"hy-hal: report: {path}: {test_files_written.KINDS[kind]}\n"
    assert (tmp_path / "precious").read_text() == "precious"
    assert not (tmp_path / "absent").exists()
    if kind == "foreign":
        assert (tmp_path / "output").read_text() == "precious"
    if reader is not None:
        os.close(reader)


def test_folder_that_is_not_there_is_refused_at_once(tmp_path):
    done = report(tmp_path / "none" / "r", *SHORT)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"hy-hal: report: {tmp_path}/none/r: No such file or directory\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become somebody else")
def test_folder_that_cannot_be_written_is_refused_at_once():
    done = report("/nobodys-report", *SHORT, user=65534, group=65534, extra_groups=[],
                  env={"PATH": os.environ["PATH"]})
    assert done.returncode == 1 and "report: /nobodys-report: Permission denied\n" in done.stderr
    assert not os.path.exists("/nobodys-report")


def test_new_file_is_for_its_owner_and_an_old_one_keeps_its_mode(tmp_path):
    path = tmp_path / "r"
    first = written(path, *SHORT, under=["sh", "-c", 'umask 0; exec "$@"', "sh"])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)
    path.write_text("x" * 100000)
    assert len(written(path, *SHORT)) == len(first)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_file_may_be_dev_null():
    assert report("/dev/null", *SHORT).returncode == 0


def test_file_that_is_read_is_spared(tmp_path):
    caps = tmp_path / "caps"
    caps.write_text("port0.rx_mark=no\n")
    done = report(caps, *SHORT, f"--cap-file={caps}")
    assert done.returncode == 1, done
    assert done.stderr == f"hy-hal: report: {caps}: is the file of --cap-file, which is read\n"
    assert caps.read_text() == "port0.rx_mark=no\n"


@pytest.mark.parametrize("how", test_files_written.SHORT)
def test_without_room_nothing_is_left_behind(tmp_path, how):
    limit, said = test_files_written.SHORT[how]
    under = limit(tmp_path / "disk", 0 if how == "full" else 300, tmp_path / "kept")
    done = report(tmp_path / "disk" / "r", *SHORT, under=under)
    assert done.returncode == 1, done
    assert f"hy-hal: report: {tmp_path}/disk/r: {said}\n" in done.stderr
    assert not (tmp_path / "kept" / "r").exists()


@pytest.mark.parametrize("how", test_files_written.SHORT)
def test_old_file_without_room_stays_as_it_was(tmp_path, how):
    """It was emptied first."""
    limit, said = test_files_written.SHORT[how]
    disk, kept = tmp_path / "disk", tmp_path / "kept"
    under = limit(disk, 300, kept)
    old = ["sh", "-c", 'echo old >"$0/r" && exec "$@"', disk]
    done = report(disk / "r", *SHORT, under=[*under, *old])
    assert done.returncode == 1, done
    assert f"hy-hal: report: {disk}/r: {said}\n" in done.stderr
    left = kept if kept.exists() else disk
    assert (left / "r").read_text() == "old\n"
    assert set(os.listdir(left)) <= {"r", "filler"}


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become somebody else")
def test_old_file_that_cannot_be_replaced_is_refused_at_once(tmp_path):
    path = tmp_path / "folder" / "r"
    path.parent.mkdir()
    path.write_text("old")
    os.chown(path, 65534, 65534)
    for folder in path.parents:
        if not folder.stat().st_mode & 1:
            folder.chmod(folder.stat().st_mode | 0o11)
    done = report(path, *SHORT, user=65534, group=65534, extra_groups=[],
                  env={"PATH": os.environ["PATH"]})
    assert (done.returncode, done.stdout) == (1, ""), done
    assert done.stderr == (f"hy-hal: report: {path}: its folder, in which it is replaced: "
                           "Permission denied\n"), done
    assert path.read_text() == "old"


@pytest.mark.parametrize("old", [None, "old"], ids=["new", "old"])
def test_program_that_is_stopped_leaves_the_file_as_it_was(tmp_path, old):
    path = tmp_path / "r"
    if old is not None:
        path.write_text(old)
    process = subprocess.Popen([*l3fwd.UNDER, test_hy_hal.HY_HAL, *EAL, "--vdev=net_null0", "--",
                                "report", path, *SHORT, "--load=600"], stdout=subprocess.PIPE,
                               text=True)
    for line in process.stdout:
        if line.startswith("report: load: "):
            break
    process.send_signal(signal.SIGTERM)
    assert process.wait(l3fwd.TIMEOUT) != 0
    assert path.exists() == (old is not None) and (old is None or path.read_text() == old)


def test_it_says_what_it_does_so_that_a_crash_of_a_driver_has_a_place(tmp_path):
    done = report(tmp_path / "r", *SHORT, "--load=1", vdevs=["net_null0"])
    assert done.stdout.splitlines()[:-1] == [
        "report: machine, devices and variants",
        "report: port 0: firmware and limits",
        "report: port 0: queues, offloads and RSS types that it refuses",
        "report: port 0: start, RSS types, flow rules",
        "report: load: all ports receive, for 1 s",
        "report: selftest of every variant"]
