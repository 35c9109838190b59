# SPDX-License-Identifier: BSD-3-Clause
"""--stats: when a table was printed, rates since the one before and since the start, and rows that
agree with each other while packets flow."""

import re

import pytest

import frames
import l3fwd
import live
import pcapfile

ROUTES = "0.0.0.0/0 port 0 mac 02:00:00:00:00:01\n"
TABLES = 4
AFTER = re.compile(r"after ([\d.]+) s, ([\d.]+) s since the last table$")


def tables(text):
    """What each table holds: its times, the nodes and the ports, by the names of the columns."""
    found = []
    for part in re.split(r"(?m)^(?=after )", text)[1:]:
        lines = part.partition("\n\nport 0  ")[0].splitlines()
        total, interval = map(float, AFTER.match(lines[0]).groups())
        rows, at = {}, 1
        for kind in ("node", "port"):
            names = re.split(r" {2,}|(?<=\w) (?=calls|packets|pkts/call|cycles)", lines[at].strip())
            assert names[0] == kind, lines[at]
            rows[kind] = {}
            at += 1
            while at < len(lines) and lines[at]:
                words = lines[at].split()
                rows[kind][words[0]] = dict(zip(names[1:], words[1:]))
                at += 1
            at += 1
            while kind == "node" and not lines[at].startswith("port"):
                at += 1
        found.append((total, interval, rows["node"], rows["port"]))
    return found


@pytest.mark.parametrize("workers", [1, 2])
def test_rows_of_a_table_agree_and_rates_are_those_of_its_packets(rig, workers):
    config = [(0, queue, queue + 1) for queue in range(workers)]
    path = pcapfile.write(rig.folder / "in.pcap", frames.traffic("198.18.0.1", 64))
    vdevs = rig.vdevs([[path] * workers], tx_queues=0, more=",infinite_rx=1")
    running = live.Live(rig, ROUTES, [*l3fwd.options(1, config), "--stats=1"], vdevs,
                        workers=workers)
    running.wait(lambda: running.stdout().count("\nafter ") >= TABLES, "tables")
    running.process.terminate()
    rig.finish(running.process)
    shown = tables(running.stdout())[:TABLES]
    before, seconds = {}, 0.0
    for total, interval, nodes, ports in shown:
        # A second apart, but for the 0.2 s that a table waits for walks at most.
        assert total == pytest.approx(seconds + interval, abs=0.002) and interval > 0.75
        chain = [nodes[name] for name in ("pkt_cls", "ip4_lookup", "ip4_rewrite", "ethdev_tx-0")]
        received = sum(int(row["packets"]) for name, row in nodes.items()
                       if name.startswith("ethdev_rx"))
        assert [int(row["packets"]) for row in chain] == [received] * 4, nodes
        assert int(ports["0"]["rx"]) == received > 1000
        for name, row in nodes.items():
            packets = int(row["packets"])
            assert float(row["pkts/s mean"]) == pytest.approx(packets / total, rel=0.01, abs=1)
            assert float(row["pkts/s now"]) == pytest.approx(
                (packets - before.get(name, 0)) / interval, rel=0.01, abs=1)
            before[name] = packets
        assert ports["0"]["link"] == "up"
        assert ports["0"]["rx/s now"] != "0" != ports["0"]["tx/s mean"]
        seconds = total
    assert len(shown) == TABLES
