# SPDX-License-Identifier: BSD-3-Clause
"""Routes that change while packets flow: SIGHUP has the route file read again, and every packet goes
where the file before says or where the file after says. Dumps, and what telemetry tells of routes."""

import ipaddress
import os
import random
import signal
import subprocess
import threading
import time

import pytest

import frames
import l3fwd
import oracle
import test_forward
import test_idle
import test_tap
from l3fwd import SILENT
from live import Live, Sink, await_handlers, status

RELOADS = 100
ASTRAY = 0  # the port that nothing may leave through
# Destinations, and the ports that some version of the file leads them to.
AIMS = {"10.1.2.3": (1, 2), "10.2.3.4": (2, 3), "172.16.5.6": (3, 1), "192.0.2.77": (1, 3)}


def mac(n):
    """A MAC address for a next hop."""
    return bytes([2, 0, 0, n >> 16, n >> 8 & 255, n & 255])


def route(prefix, port, n):
    """A route to next hop number n."""
    return oracle.Route(ipaddress.IPv4Network(prefix, strict=False), port, mac(n))


def packets(addresses, each=16):
    """Good packets to some addresses, in turn."""
    streams = [frames.traffic(address, each) for address in addresses]
    return [frame for group in zip(*streams, strict=True) for frame in group]


def replay(rig, count, records, port_outputs, inputs=(0,)):
    """EAL's options for ports of which some bring the same records over and over. What port P sends
    goes where port_outputs(P) says, a path for each transmit queue."""
    eal = []
    for p in range(count):
        source = records[p] if p in inputs else []
        path = l3fwd.pcapfile.write(rig.folder / f"in{p}.pcap", source)
        outs = ",".join(f"tx_pcap={out}" for out in port_outputs(p))
        endless = ",infinite_rx=1" if source else ""
        eal += ["--vdev", f"net_pcap{p},rx_pcap={path},{outs}{endless}"]
    return eal


def to_nowhere(_port):
    """Frames are counted and forgotten."""
    return ["/dev/null"]


def version(rng, noise=30):
    """A file. The longest prefix that covers a destination leads to one of its ports; shorter ones
    lead astray. Others come and go around them: the more, the longer a change takes."""
    found = {}
    for address, ports in AIMS.items():
        lengths = sorted(rng.sample((4, 8, 16, 20, 24, 25, 28, 32), rng.randint(1, 5)))
        lengths[-1] = max(lengths[-1], 16)  # no other destination below it
        for length in set(lengths):
            r = route(f"{address}/{length}", ASTRAY, rng.randrange(8))
            if length == lengths[-1]:
                r = r._replace(port=rng.choice(ports))
            if r.prefix not in found or length == lengths[-1]:
                found[r.prefix] = r
    for _ in range(noise):
        length = rng.randint(17, 32)
        address = 203 << 24 | rng.randrange(1 << 13) >> (32 - length) << (32 - length)
        r = oracle.Route(ipaddress.IPv4Network((address, length)), ASTRAY, mac(rng.randrange(1000)))
        found[r.prefix] = r
    made = list(found.values())
    rng.shuffle(made)
    return made


def difference(old, new):
    """Routes added, replaced, deleted and unchanged, as a reload counts them."""
    old, new = ({r.prefix: r for r in routes} for routes in (old, new))
    both = old.keys() & new.keys()
    same = sum(old[p] == new[p] for p in both)
    return len(new) - len(both), len(both) - same, len(old) - len(both), same


def test_versions_are_what_they_are_said_to_be():
    rng = random.Random(1)
    for _ in range(500):
        table = oracle.Table(version(rng))
        for address, ports in AIMS.items():
            assert table.lookup(int(ipaddress.IPv4Address(address))).port in ports


def test_packets_follow_every_reload_and_none_goes_astray(rig, variant):
    """At full speed, by the counters: a state between two files would drop some, or let some out
    through the port that no file has them leave through."""
    rng = random.Random(7)
    old = version(rng, 400)
    live = Live(rig, old, [*l3fwd.options(4, [(0, 0, 1)]), f"--node=ip4_lookup={variant}"],
                replay(rig, 4, {0: packets(AIMS)}, to_nowhere))
    for _ in range(RELOADS):
        new = version(rng, 400)
        assert live.reload(new) == difference(old, new)
        old = new
    run = live.stop()
    sent = {port["port"]: port["tx"] for port in run.stats["ports"]}
    assert sent.pop(ASTRAY) == 0 and min(sent.values()) > 0, run
    assert run.stats["totals"]["dropped"] == 0, run
    assert len(live.changes()) == RELOADS


def test_packets_follow_every_reload_with_the_address_of_their_port(rig):
    """By the frames: destination, port and MAC address are those of one route of one file."""
    rng = random.Random(8)
    sink = Sink(rig.folder, 4)
    old = version(rng)
    allowed = set()
    live = Live(rig, old, l3fwd.options(4, [(0, 0, 1)]),
                replay(rig, 4, {0: packets(AIMS)}, lambda p: [rig.folder / f"out{p}.0.pcap"]))
    for turn in range(RELOADS):
        new = version(rng) if turn else old
        live.reload(new)
        table = oracle.Table(new)
        for address in AIMS:
            number = int(ipaddress.IPv4Address(address))
            found = table.lookup(number)
            allowed.add((number, found.port, found.mac))
            if turn % 10 == 9:
                sink.more((number, found.port, found.mac), live, 50)
    run = live.stop()
    seen = sink.end()
    assert set(seen) <= allowed, set(seen) - allowed
    assert len(seen) > 20 and seen.total() == run.stats["totals"]["tx"], run
    assert run.stats["totals"]["dropped"] == 0, run


HOME = [route("10.1.2.0/24", 1, 1), route("10.1.2.128/25", 2, 2), route("0.0.0.0/0", 2, 3)]
GOOD = "".join(r.line() + "\n" for r in HOME)
MOVED = GOOD.replace("port 1", "port 2")  # all bad files have good lines that move the packets
# Files that are refused, and what the refusal says of them.
BAD = {
    "bad line at the end": (MOVED + "10.9.0.0/8 port 1 mac 02:00:00:00:00:01\n",
                            "{path}:4: prefix: 10.9.0.0/8 has bits set beyond its length"),
    "half a line at the end": (MOVED + "10.9.0.0/16 port 1 m",
                               "{path}:4: mac: expected 'mac', found 'm'; a line is PREFIX port N "
                               "mac MM:MM:MM:MM:MM:MM, or PREFIX group and members"),
    "duplicate": (MOVED + MOVED.splitlines()[0], "{path}:4: prefix: is a duplicate of line 1"),
    "port that is not in use": (MOVED + "10.9.0.0/16 port 3 mac 02:00:00:00:00:01\n",
                                "{path}:4: port: 3 is not in use; in use are 0, 1, 2"),
    "NUL byte": (MOVED.encode() + b"\0\n", "{path}:4: line: has a NUL byte"),
    "too many routes": (MOVED + "".join(route(f"10.8.{i}.0/24", 1, 1).line() + "\n"
                                        for i in range(99)),
                        "--max-routes 100 is too few for 101 routes, old and new ones together"),
    "too many long prefixes": (MOVED + "".join(route(f"10.8.{i}.0/25", 1, 1).line() + "\n"
                                               for i in range(4)),
                               "--max-tbl8s 4 is too few for 5 networks /24 with longer prefixes, "
                               "in old and new routes together"),
    "too many next hops": (MOVED + "".join(route(f"10.8.{i}.0/24", 1, 7 + i).line() + "\n"
                                           for i in range(5)),
                           "--max-next-hops 8 is too few for those of old and new routes together"),
}


def test_bad_file_at_a_reload_changes_nothing(rig):
    """Neither the dump nor where packets go, which have all gone elsewhere if a file was taken."""
    sink = Sink(rig.folder, 3)
    live = Live(rig, HOME, [*l3fwd.options(3, [(0, 0, 1)]), "--max-routes=100", "--max-tbl8s=4",
                            "--max-next-hops=8", f"--dump-routes={rig.folder}/dump"],
                replay(rig, 3, {0: packets(["10.1.2.3"])},
                       lambda p: [rig.folder / f"out{p}.0.pcap"]))
    way = (int(ipaddress.IPv4Address("10.1.2.3")), 1, mac(1))
    for name, (content, reason) in BAD.items():
        assert live.reload_bad(content) == reason.format(path=live.path), name
        sink.more(way, live)
        assert dump(live) == listed(HOME), name
    live.path.unlink()
    assert live.reload_bad() == f"{live.path}: No such file or directory"
    live.path.mkdir()
    assert live.reload_bad() == f"{live.path}: Is a directory"
    live.path.rmdir()
    sink.more(way, live)
    assert live.reload(HOME) == (0, 0, 0, 3)
    live.stop()
    assert set(sink.end()) == {way}
    assert len(live.refusals()) == len(BAD) + 2


def listed(routes):
    """A dump of routes."""
    order = sorted(routes, key=lambda r: (int(r.prefix.network_address), r.prefix.prefixlen))
    return f"# {len(order)} routes\n" + "".join(r.line() + "\n" for r in order)


def dump(live):
    """What SIGUSR1 has written."""
    told = live.stdout().count("routes: written to")
    live.process.send_signal(signal.SIGUSR1)
    live.wait(lambda: live.stdout().count("routes: written to") > told, "a dump")
    return (live.rig.folder / "dump").read_text()


def test_next_hops_that_lost_their_routes_make_room(rig):
    """Four at a time, old and new together: two that stay forgotten would be one too many. Tables
    for long prefixes likewise."""
    def pair(n):
        return [route(f"10.{n}.0.0/25", 1, 2 * n), route("10.0.0.0/8", 1, 2 * n + 1)]

    live = Live(rig, pair(0), [*l3fwd.options(2, [(0, 0, 1)]), "--max-next-hops=4",
                               "--max-tbl8s=2", "--max-routes=3"],
                replay(rig, 2, {0: packets(["10.0.0.3"])}, to_nowhere), telemetry=True)
    for n in range(1, RELOADS):
        assert live.reload(pair(n)) == (1, 1, 1, 0)
    assert live.ask("/l3fwd/routes") == {"tables": 1, "routes": 2, "max_routes": 3, "max_tbl8s": 2,
                                         "next_hops": 2, "groups": 0, "ip6_routes": 0,
                                         "max_next_hops": 4}
    live.stop()
    assert len(live.changes()) == RELOADS - 1


def test_storm_of_reloads_ends_with_the_last_file(rig):
    """Signals that come while a file is read are one more reload, after it."""
    rng = random.Random(9)
    live = Live(rig, version(rng), [*l3fwd.options(4, [(0, 0, 1)]),
                                    f"--dump-routes={rig.folder}/dump"],
                replay(rig, 4, {0: packets(AIMS)}, to_nowhere))
    for _ in range(500):
        last = version(rng)
        live.write(last)
        for _ in range(10):
            live.hup()
    live.wait(lambda: dump(live) == listed(last), "the last file")
    live.stop()
    assert 1 <= len(live.changes()) <= 5000 and not live.refusals()


def test_signals_during_the_start_are_answered_after_it(rig):
    process = rig.start([*l3fwd.options(3, [(0, 0, 1)]), rig.routes(HOME), "--duration=1",
                         f"--dump-routes={rig.folder}/dump", f"--json={rig.folder}/stats.json"],
                        replay(rig, 3, {0: packets(["10.1.2.3"])}, to_nowhere))
    while process.poll() is None and not (rig.folder / "dump").exists():  # opened last of all
        if int(status(process, "SigCgt"), 16) >> (signal.SIGHUP - 1) & 1:
            process.send_signal(signal.SIGHUP)
            process.send_signal(signal.SIGUSR1)
        time.sleep(0.001)
    run = rig.finish(process)
    assert run.stats["totals"]["tx"] > 0 and run.stats["totals"]["dropped"] == 0, run
    assert 1 <= run.stdout.count("routes: 0 added, 0 replaced, 0 deleted, 3 unchanged") <= 3, run
    assert 1 <= run.stdout.count("routes: written to") <= 3, run
    assert (rig.folder / "dump").read_text() == listed(HOME)


def test_signals_without_their_options_are_answered_and_ignored(rig):
    process = rig.start([*l3fwd.options(1, [(0, 0, 1)]), "--duration=2",
                         f"--json={rig.folder}/stats.json"],
                        replay(rig, 1, {0: packets(["198.18.0.1"])}, to_nowhere))
    await_handlers(process, signal.SIGHUP, signal.SIGUSR1)
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGUSR1)
    run = rig.finish(process)
    assert run.stats["totals"]["tx"] > 0 and run.stats["totals"]["dropped"] == 0, run
    assert "routes unchanged: SIGHUP reads files again, which requires --routes" in run.stderr
    assert "SIGUSR1 writes routes, which requires --dump-routes" in run.stderr


@test_idle.needs_tap
def test_sleeping_worker_holds_no_reload_up(rig):
    """Its sleep is longer than a table waits for a worker, and each reload needs the tbl8 that the
    one before freed."""
    names = [f"hyl{os.getpid()}-{n}" for n in (0, 1)]
    taps = [word for n in (0, 1) for word in ("--vdev", f"net_tap{n},iface={names[n]}")]
    live = Live(rig, [route("10.0.0.0/25", 1, 0)],
                ["-p", "0x3", "-P", "--config=(0,0,1)", "--idle=interrupt:1000000",
                 "--max-tbl8s=2"], taps)
    time.sleep(1.5)  # until the kernel has said what it says of new interfaces
    for n in range(1, 30):
        live.reload([route(f"10.{n}.0.0/25", 1, n)])
        time.sleep(0.02)
    with test_tap.listen(names[0]) as into, test_tap.listen(names[1]) as out:
        (frame,) = frames.traffic("10.29.0.1", 1)
        into.send(frame)
        got = [data for data in test_tap.received(out, 1) if data[:6] == mac(29)]
    run = live.stop()
    took = sorted(change[4] for change in live.changes())
    assert len(took) == 29 and took[20] < 500, f"{took} ms for reloads of a route"
    assert [data[30:34] for data in got] == [bytes([10, 29, 0, 1])], run
    (worker,) = run.stats["workers"]
    assert worker["waits"] > 0 and worker["waited_us"] > 500_000, worker


def generated(count):
    """Routes of all lengths, and some next hops."""
    rng = random.Random(10)
    found = {}
    while len(found) < count:
        r = route(f"{ipaddress.IPv4Address(rng.randrange(1 << 32))}/{rng.randint(8, 32)}",
                  rng.randrange(3), rng.randrange(300))
        found[r.prefix] = r
    return [route("0.0.0.0/0", 2, 1), route("255.255.255.255/32", 1, 2), *found.values()]


def read_and_dump(rig, path, *app):
    """What a file is when it comes out again."""
    run = rig.run([*l3fwd.options(3, [(0, 0, 1)]), "--dry-run", f"--routes={path}",
                   "--dump-routes=-", *app], rig.vdevs([SILENT] * 3))
    assert run.code == 0, run
    return run.stdout


def test_dump_is_a_file_that_gives_the_same_table(rig, variant):
    routes = generated(3000)
    path = rig.routes(routes).removeprefix("--routes=")
    first = read_and_dump(rig, path, f"--node=ip4_lookup={variant}", "--max-tbl8s=4000")
    assert first == listed(routes) and first.count("\n") == 3003
    assert read_and_dump(rig, rig.write("again", first), "--max-tbl8s=4000") == first


def real_routes():
    """The prefixes of HALYARD_DATA."""
    if not os.environ.get("HALYARD_DATA"):
        pytest.skip("HALYARD_DATA is not set: no real prefixes")
    routes = {r.prefix: r for r in test_forward.real_routes()}
    assert len(routes) >= 172_620
    return list(routes.values())


def test_dump_of_real_prefixes_gives_the_same_table(rig):
    routes = real_routes()
    first = read_and_dump(rig, rig.routes(routes).removeprefix("--routes="))
    assert first == listed(routes)
    assert read_and_dump(rig, rig.write("again", first)) == first


def test_few_changes_of_real_prefixes_leave_the_others_alone(rig):
    routes = real_routes()
    live = Live(rig, routes, l3fwd.options(3, [(0, 0, 1)]),
                [*replay(rig, 3, {0: packets(["10.1.2.3"])}, to_nowhere), "-m", "512"])
    new = [*routes[2:], *(route(f"10.{n}.0.0/16", 1, 1) for n in range(3))]
    new[7] = new[7]._replace(mac=mac(4711))
    assert live.reload(new) == (3, 1, 2, len(routes) - 3)
    assert live.reload(routes) == (2, 1, 3, len(routes) - 3)
    run = live.stop()
    assert run.stats["totals"]["tx"] > 0 and run.stats["drops"]["no_route"] > 0, run


@pytest.mark.parametrize("other", ["same name", "link", "json"])
def test_dump_is_not_written_over_a_file_that_matters(rig, other):
    path = rig.write("routes", GOOD)
    name = path
    if other == "link":
        name = rig.folder / "link"
        name.symlink_to(path)
    elif other == "json":
        name = rig.folder / "stats.json"
    run = rig.run([*l3fwd.options(3, [(0, 0, 1)]), f"--routes={path}", f"--dump-routes={name}",
                   f"--json={rig.folder}/stats.json", "--duration=1"], rig.vdevs([SILENT] * 3))
    said = (f"{name}: this program has it open already" if other == "json"
            else f"{name}: is the file of --routes")
    assert run.code != 0 and f"--dump-routes: {said}" in run.stderr, run
    assert path.read_text() == GOOD


def test_telemetry(rig):
    """What it tells of routes; also while they change, and while the program ends."""
    live = Live(rig, HOME, l3fwd.options(3, [(0, 0, 1)]),
                replay(rig, 3, {0: packets(["10.1.2.3"])}, to_nowhere), telemetry=True)
    text = mac(2).hex(":").upper()
    assert live.ask("/l3fwd/routes") == {
        "tables": 1, "routes": 3, "max_routes": 1024, "max_tbl8s": 256, "next_hops": 3,
        "groups": 0, "ip6_routes": 0, "max_next_hops": 32767}
    found = live.ask("/l3fwd/route,10.1.2.200")
    assert found.pop("next_hop") < 3
    assert found == {"address": "10.1.2.200", "prefix": "10.1.2.128/25", "port": 2, "mac": text}
    assert live.ask("/l3fwd/route,9.9.9.9")["prefix"] == "0.0.0.0/0"
    assert live.reload(HOME[:2]) == (0, 0, 1, 2)
    assert live.ask("/l3fwd/route,9.9.9.9") == {"address": "9.9.9.9", "prefix": "none"}
    assert live.ask("/l3fwd/route,9.9.9") is None and live.ask("/l3fwd/route") is None

    answers = []
    asker = threading.Thread(target=ask_on, args=(live, answers), daemon=True)
    asker.start()
    for n in range(RELOADS):
        live.reload([HOME[0]._replace(mac=mac(1000 + n), port=n % 3), HOME[1]])
    live.stop()
    asker.join(60)
    assert not asker.is_alive()
    good = {(n % 3, mac(1000 + n).hex(":").upper()) for n in range(RELOADS)}
    good.add((1, mac(1).hex(":").upper()))
    told = [(a["port"], a["mac"]) for a in answers if a]
    assert len(set(told)) > 3 and set(told) <= good, set(told) - good


def ask_on(live, answers):
    """Asks for a route until nobody answers."""
    try:
        while live.process.poll() is None:
            answers.append(live.ask("/l3fwd/route,10.1.2.3"))
    except (OSError, ValueError, StopIteration):
        pass


def two_nodes(folder):
    """A command under which the machine looks as if CPU 1 had a NUMA node of its own."""
    there = "/sys/devices/system/node"
    if os.geteuid() != 0 or not os.path.isdir(there) or len(os.sched_getaffinity(0)) < 2:
        pytest.skip(f"needs root, {there} and two CPUs")
    fake = folder / "node"
    for cpu in range(os.cpu_count()):
        (fake / f"node{int(cpu == 1)}" / f"cpu{cpu}").mkdir(parents=True)
    under = ["unshare", "-m", "sh", "-c", f'mount --bind "{fake}" {there} && exec "$@"', "sh"]
    if subprocess.run([*under, "true"], check=False).returncode != 0:
        pytest.skip("there is no right to mount in a namespace")
    return under


# Each worker has a destination of its own, and a table of its own.
ONE, OTHER = "10.1.2.3", "10.2.3.4"


def halves(port, other, n=0):
    """Routes for the two workers' packets, and the ways that these take then."""
    routes = [route(f"{ONE}/24", port, n), route(f"{OTHER}/24", other, n + 1)]
    ways = [(int(ipaddress.IPv4Address(a)), r.port, r.mac)
            for a, r in zip((ONE, OTHER), routes, strict=True)]
    return routes, ways


def start_halves(rig, routes, *app, eal=()):
    """A run with two workers on two NUMA nodes, and the sink of its frames."""
    sink = Sink(rig.folder, 2, queues=2)
    records = {0: packets([ONE]), 1: packets([OTHER])}
    ports = replay(rig, 2, records, lambda p: [rig.folder / f"out{p}.{q}.pcap" for q in (0, 1)],
                   inputs=(0, 1))
    live = Live(rig, routes, [*l3fwd.options(2, [(0, 0, 1), (1, 0, 2)]), *app], [*ports, *eal],
                workers=2, telemetry=True, under=two_nodes(rig.folder))
    assert live.ask("/l3fwd/routes")["tables"] == 2
    return live, sink


@pytest.mark.parametrize("engine", ["scalar", "fib"])
def test_two_tables(rig, engine):
    """Both change at every reload."""
    routes, ways = halves(0, 1)
    live, sink = start_halves(rig, routes, f"--node=ip4_lookup={engine}")
    allowed = set(ways)
    for n in range(1, 20):
        routes, ways = halves(n % 2, n // 2 % 2, n * 2)
        live.reload(routes)
        allowed.update(ways)
        for way in ways:
            sink.more(way, live, 50)
    run = live.stop()
    assert set(sink.end()) == allowed and len(allowed) == 40
    assert run.stats["totals"]["dropped"] == 0, run


def settle(sink, ways, others, live):
    """Waits until frames go some ways and no others: those that were in a pipe come late."""
    for _ in range(20):
        before = [sink.seen[way] for way in others]
        for way in ways:
            sink.more(way, live)
        if [sink.seen[way] for way in others] == before:
            return
    pytest.fail(f"frames still go the ways {others}")


def test_none(rig):
    """When the second of two tables has no memory for a change, the first one takes it back: three
    tables of rte_fib have room, and each is kept twice once it changes."""
    routes, ways = halves(0, 1)
    moved, others = halves(1, 0, 10)
    live, sink = start_halves(rig, routes, "--node=ip4_lookup=fib",
                              f"--dump-routes={rig.folder}/dump", eal=["-m", "140"])
    for _ in range(3):
        assert live.reload_bad(moved).startswith("out of memory; see EAL's -m")
        settle(sink, ways, others, live)
        assert dump(live) == listed(routes)
        assert live.ask("/l3fwd/routes")["next_hops"] == 2
    live.stop()
    seen = sink.end()
    assert set(seen) <= {*ways, *others} and min(seen[way] for way in ways) > 3000, seen
