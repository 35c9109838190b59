# SPDX-License-Identifier: BSD-3-Clause
"""Route files: what is accepted, and that the first bad line is refused with its file, line and
field before anything is forwarded."""

import ipaddress
import random
import re

import pytest

import oracle
from frames import traffic
from l3fwd import SILENT, options

PORTS = 3
SEEDS = range(40)  # of files of mutated lines
GOOD = "10.0.0.0/8 port 1 mac 02:00:00:00:00:01"
MEMBER, OTHER = (f"port 1 mac 02:00:00:00:00:0{i}" for i in (1, 2))  # of groups

# A bad line, and the field that its message must name (None: any).
BAD = {
    "host bits set": ("10.0.0.1/8 port 1 mac 02:00:00:00:00:01", "prefix"),
    "depth above 32": ("10.0.0.0/33 port 1 mac 02:00:00:00:00:01", "prefix"),
    "depth negative": ("10.0.0.0/-8 port 1 mac 02:00:00:00:00:01", "prefix"),
    "depth no number": ("10.0.0.0/x port 1 mac 02:00:00:00:00:01", "prefix"),
    "depth empty": ("10.0.0.0/ port 1 mac 02:00:00:00:00:01", "prefix"),
    "depth with junk": ("10.0.0.0/8x port 1 mac 02:00:00:00:00:01", "prefix"),
    "depth far too large": ("10.0.0.0/4294967304 port 1 mac 02:00:00:00:00:01", "prefix"),
    "address of three bytes": ("10.0.0/8 port 1 mac 02:00:00:00:00:01", "prefix"),
    "address of five bytes": ("10.0.0.0.0/8 port 1 mac 02:00:00:00:00:01", "prefix"),
    "address byte above 255": ("256.0.0.0/8 port 1 mac 02:00:00:00:00:01", "prefix"),
    "address of IPv6 with one colon at its end": ("2001:db8:/32 port 1 mac 02:00:00:00:00:01", "prefix"),
    "address a name": ("localhost/8 port 1 mac 02:00:00:00:00:01", "prefix"),
    "word port missing": ("10.0.0.0/8 1 mac 02:00:00:00:00:01", "port"),
    "word port misspelt": ("10.0.0.0/8 prot 1 mac 02:00:00:00:00:01", "port"),
    "port number missing": ("10.0.0.0/8 port mac 02:00:00:00:00:01", "port"),
    "port no number": ("10.0.0.0/8 port one mac 02:00:00:00:00:01", "port"),
    "port with junk": ("10.0.0.0/8 port 1x mac 02:00:00:00:00:01", "port"),
    "port negative": ("10.0.0.0/8 port -1 mac 02:00:00:00:00:01", "port"),
    "port not there": ("10.0.0.0/8 port 31 mac 02:00:00:00:00:01", "port"),
    "port there but not enabled": ("10.0.0.0/8 port 2 mac 02:00:00:00:00:01", "port"),
    "port that is 1 in 16 bits": ("10.0.0.0/8 port 65537 mac 02:00:00:00:00:01", "port"),
    "port far too large": ("10.0.0.0/8 port 4294967297 mac 02:00:00:00:00:01", "port"),
    "word mac missing": ("10.0.0.0/8 port 1 02:00:00:00:00:01", "mac"),
    "word mac misspelt": ("10.0.0.0/8 port 1 mca 02:00:00:00:00:01", "mac"),
    "mac address missing": ("10.0.0.0/8 port 1 mac", "mac"),
    "mac of five bytes": ("10.0.0.0/8 port 1 mac 02:00:00:00:00", "mac"),
    "mac of seven bytes": ("10.0.0.0/8 port 1 mac 02:00:00:00:00:01:02", "mac"),
    "mac no hex": ("10.0.0.0/8 port 1 mac 02:00:00:00:00:0g", "mac"),
    "mac byte too large": ("10.0.0.0/8 port 1 mac 02:00:00:00:00:100", "mac"),
    "prefix alone": ("10.0.0.0/8", "port"),
    "prefix and port alone": ("10.0.0.0/8 port 1", "mac"),
    "a NUL byte": ("10.0.0.0/8 port 1 mac 02:00:00:00:00:01\0", None),
    "a word too many": ("10.0.0.0/8 port 1 mac 02:00:00:00:00:01 metric", None),
    "group without members": ("10.0.0.0/8 group", "port"),
    "group with an empty member": (f"10.0.0.0/8 group {MEMBER},, {OTHER}", "port"),
    "group that ends in a comma": (f"10.0.0.0/8 group {MEMBER},", "port"),
    "group without commas": (f"10.0.0.0/8 group {MEMBER} {OTHER}", "weight"),
    "group of ports not there": ("10.0.0.0/8 group port 31 mac 02:00:00:00:00:01", "port"),
    "member without mac": (f"10.0.0.0/8 group {MEMBER}, port 1", "mac"),
    "member of a bad mac": (f"10.0.0.0/8 group {MEMBER}, port 1 mac 02:00:00:00:00", "mac"),
    "member twice": (f"10.0.0.0/8 group {MEMBER}, {OTHER}, {MEMBER} weight 2", "group"),
    "weight zero": (f"10.0.0.0/8 group {MEMBER} weight 0", "weight"),
    "weight above 255": (f"10.0.0.0/8 group {MEMBER} weight 256", "weight"),
    "weight no number": (f"10.0.0.0/8 group {MEMBER} weight x", "weight"),
    "weight missing": (f"10.0.0.0/8 group {MEMBER} weight, {OTHER}", "weight"),
    "weight with junk": (f"10.0.0.0/8 group {MEMBER} weight 1 2", "group"),
    "weight of a route": (f"{GOOD} weight 2", "line"),
    "65 members": ("10.0.0.0/8 group " + ", ".join(
        f"port 1 mac 02:00:00:00:00:{i:02x}" for i in range(65)), "group"),
    "word group misspelt": (f"10.0.0.0/8 gruop {MEMBER}", "port"),
    "a route too many": (f"{GOOD} 11.0.0.0/8 port 1 mac 02:00:00:00:00:01", None),
}


def refusal(run, path):
    """The line number and field of a refusal: FILE:LINE: FIELD: message."""
    assert run.code > 0, f"not refused, or ended by a signal\n{run}"
    found = re.findall(rf"{re.escape(str(path))}:(\d+): ([^:\n]+): (\S.*)", run.stderr)
    assert len(found) == 1, f"{len(found)} refusals of {path}\n{run}"
    assert run.wrote_packets() == [], run
    return int(found[0][0]), found[0][1]


def run_with(rig, path, ports=PORTS, mask=None):
    """A run with a route file, and traffic for 10.0.0.1 at port 0."""
    app = options(ports, [(port, 0, 1) for port in range(ports)])
    if mask:
        app = ["-p", mask, "--config=(0,0,1),(1,0,1)"]
    vdevs = rig.vdevs([[traffic("10.0.0.1")], *[SILENT] * (ports - 1)])
    return rig.run([*app, f"--routes={path}", *rig.until_idle()], vdevs)


@pytest.mark.parametrize("case", BAD, ids=lambda name: name.replace(" ", "-"))
def test_bad_line_is_refused_by_file_line_and_field(rig, case):
    text, field = BAD[case]
    above = "# routes\n\n192.0.2.0/24 port 0 mac 02:00:00:00:00:09\n"
    below = "192.0.2.0/33 port 9 mac xx\n"  # only the first bad line counts
    path = rig.write("routes", above + text + "\n" + below)
    line, named = refusal(run_with(rig, path, mask="0x3"), path)
    assert line == above.count("\n") + 1 + text.count("\n")
    assert field is None or named == field


@pytest.mark.parametrize("between", ["", "# comment\n10.0.0.0/9 port 0 mac 02:00:00:00:00:01\n"])
@pytest.mark.parametrize("again", [GOOD, "10.0.0.0/8 port 0 mac 02:00:00:00:00:02"])
def test_duplicate_prefix_is_refused_at_its_second_line(rig, between, again):
    text = f"{GOOD}\n{between}{again}\n192.0.2.0/24 port 0 mac 02:00:00:00:00:09\n"
    path = rig.write("routes", text)
    assert refusal(run_with(rig, path), path) == (2 + between.count("\n"), "prefix")


GOOD_FILES = {
    "plain": GOOD + "\n",
    "no newline at the end": GOOD,
    "comments and empty lines": f"# one\n\n   \n  # two\n{GOOD}\n#\n",
    "a comment behind a route": f"{GOOD} # to the lab\n",
    "tabs and spaces": "\t10.0.0.0/8  port\t1   mac 02:00:00:00:00:01  \n",
    "capital hex": "10.0.0.0/8 port 1 mac 02:AB:CD:EF:00:01\n",
    "a shorter and a longer prefix": f"8.0.0.0/6 port 2 mac 02:00:00:00:00:02\n{GOOD}\n"
                                     "10.0.0.2/32 port 2 mac 02:00:00:00:00:03\n",
    "one address": "10.0.0.1/32 port 1 mac 02:00:00:00:00:01\n",
    "lines that end as on Windows": f"# one\r\n\r\n{GOOD}\r\n",
    "every address": "0.0.0.0/0 port 1 mac 02:00:00:00:00:01\n",
    "half of all addresses": "0.0.0.0/1 port 1 mac 02:00:00:00:00:01\n",
}


@pytest.mark.parametrize("case", GOOD_FILES, ids=lambda name: name.replace(" ", "-"))
def test_good_file_is_taken(rig, case):
    """And replaces the default routes."""
    run = run_with(rig, rig.write("routes", GOOD_FILES[case]))
    routes = [r for r in map(parse, GOOD_FILES[case].splitlines()) if r]
    expected = oracle.forward(traffic("10.0.0.1"), routes, run.macs)
    assert run.assert_agrees(expected) == 100
    assert len(run.sent(1)) == 100


def test_routes_replace_the_default_ones(rig):
    path = rig.write("routes", GOOD)
    run = rig.forward([[traffic("198.18.1.1", 7)], SILENT], f"--routes={path}")
    assert run.stats["drops"]["no_route"] == run.stats["totals"]["dropped"] == 7, run


class Refused(ValueError):
    """What parse() says of a bad line."""


def parse(line):
    """The route of a line, None for a line without one; Refused if it is bad. The grammar as the
    documentation has it, in Python's own parsers and regular expressions."""
    words = line.split("#")[0].split()
    if not words:
        return None
    try:
        prefix, port_word, port, mac_word, mac = words
        if (port_word, mac_word) != ("port", "mac"):
            raise ValueError("a key word is missing")
        if not re.fullmatch(r"[^/]+/\d+", prefix):
            raise ValueError("a prefix is ADDRESS/DEPTH")
        network = ipaddress.IPv4Network(prefix)
        if not re.fullmatch(r"\d+", port) or int(port) >= PORTS:
            raise ValueError("no such port")
        if not re.fullmatch(r"([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}", mac):
            raise ValueError("no MAC address")
    except ValueError as error:
        raise Refused(line) from error
    return oracle.Route(network, int(port), bytes.fromhex(mac.replace(":", "")))


def random_line(rng, number):
    """A good line; no two numbers give the same prefix."""
    length = rng.randint(16, 32)
    address = (0x0A00 + number) << 16 | rng.randrange(1 << 16) >> (32 - length) << (32 - length)
    mac = ":".join(f"{byte:02x}" for byte in rng.randbytes(6)[1:])
    return f"{ipaddress.IPv4Address(address)}/{length} port {rng.randrange(PORTS)} mac 02:{mac}"


def mutate(rng, line):
    """The line with one small change, which may or may not make it bad."""
    words = line.split(" ")
    n = rng.randrange(len(words))
    at = rng.randrange(len(line))
    return rng.choice([
        lambda: " ".join(words[:n] + words[n + 1 :]),
        lambda: " ".join(words[:n] + [words[n]] + words[n:]),
        lambda: " ".join(words[:n] + words[n : n + 2][::-1] + words[n + 2 :]),
        lambda: line[:at] + line[at + 1 :],
        lambda: line[:at] + rng.choice("0123456789afgx./:#- \t") + line[at:],
        lambda: line[:at] + rng.choice("0123456789afgx./:#- \t") + line[at + 1 :],
        lambda: line[:at] + line[at:].swapcase(),
        lambda: line.replace(" ", rng.choice(["  ", "\t", " \t "])),
        lambda: line + rng.choice(["#", " # why", " ", "\t", " 1", "x"]),
        lambda: re.sub(r"/\d+", f"/{rng.randint(0, 40)}", line),
        lambda: re.sub(r"port \d", f"port {rng.randint(0, 5)}", line),
        lambda: re.sub(r"^\d+", str(rng.randint(0, 300)), line),
    ])()


def mutated_lines(seed):
    """Lines up to and with the first one that parse() refuses, some of them mutated."""
    rng = random.Random(seed)
    lines, prefixes = [], set()
    while True:
        line = random_line(rng, len(lines))
        if rng.random() < 0.7:
            line = mutate(rng, line)
        try:
            found = parse(line)
            if found and found.prefix in prefixes:
                raise Refused(line)
        except Refused:
            if len(lines) < 8:
                continue  # some that are accepted come first
            return lines + [line]
        lines.append(line)
        if found:
            prefixes.add(found.prefix)


def test_mutated_lines_are_many_and_of_both_kinds():
    """What the test below compares."""
    files = [mutated_lines(seed) for seed in SEEDS]
    assert sum(map(len, files)) >= 400
    assert len({lines[-1] for lines in files}) == len(files), "no bad line twice"


@pytest.mark.parametrize("seed", SEEDS)
def test_mutated_lines_are_accepted_and_refused_like_the_reference(rig, seed):
    """Only the first bad line of a file matters, so that one run answers for all lines above it:
    they are accepted, and that one is refused."""
    lines = mutated_lines(seed)
    path = rig.write("routes", "\n".join(lines) + "\n")
    line, _ = refusal(run_with(rig, path), path)
    assert line == len(lines), (
        f"the program refused line {line}, the reference line {len(lines)}\n"
        f"{lines[line - 1]!r}\n{lines[-1]!r}"
    )
