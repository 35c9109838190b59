# SPDX-License-Identifier: BSD-3-Clause
"""The tests' own parts: the oracle against answers worked out by hand and against scapy, the
generator against what it promises, the capture files against libpcap's rules."""

import random
import struct

import pytest
from scapy.layers.inet import IP

import frames
import oracle
import pcapfile

MACS = {port: bytes([2, 0, 0, 0, 9, port]) for port in range(frames.PORTS)}
ROUTES = [oracle.route("192.168.0.0/24", 1, "02:00:00:00:00:aa")]
SEED = 20221122

# The worked example of many a textbook: a UDP packet of 115 bytes whose checksum is 0xb861.
TEXTBOOK = bytes.fromhex("4500 0073 0000 4000 4011 b861 c0a8 0001 c0a8 00c7")
ETHERNET = bytes.fromhex("0200 0000 0001 0200 0000 0002 0800")
PACKET = ETHERNET + TEXTBOOK + bytes(95)


def patched(at, value):
    """PACKET with other bytes at an offset, given in hex."""
    new = bytes.fromhex(value)
    return PACKET[:at] + new + PACKET[at + len(new) :]


def resummed(at, value):
    """The same, with the header's checksum put right."""
    frame = patched(at, value)
    size = (frame[14] & 15) * 4
    right = oracle.checksum(frame[14 : 14 + size])
    return frame[:24] + right.to_bytes(2, "big") + frame[26:]


def verdict(frame, routes=ROUTES, max_pkt_len=1518):
    return oracle.verdict(frame, oracle.Table(routes), MACS, max_pkt_len)


def test_textbook_packet_is_forwarded_as_worked_out_by_hand():
    # TTL 0x40 becomes 0x3f, so the checksum grows by 0x0100: 0xb861 to 0xb961.
    header = bytes.fromhex("4500 0073 0000 4000 3f11 b961 c0a8 0001 c0a8 00c7")
    ethernet = bytes.fromhex("0200 0000 00aa 0200 0000 0901 0800")
    assert verdict(PACKET) == oracle.Forwarded(1, ethernet + header + bytes(95))


@pytest.mark.parametrize(
    "frame, reason",
    [
        (b"", "truncated"),
        (PACKET[:13], "truncated"),
        (PACKET[:14], "truncated"),
        (PACKET[:33], "truncated"),
        (PACKET[:34], "truncated"),
        (PACKET[:-1], "truncated"),
        (patched(0, "01"), "l2_not_unicast"),
        (patched(0, "ffffffffffff"), "l2_not_unicast"),
        (patched(12, "8100"), "vlan_unknown"),
        (patched(12, "88a8"), "vlan_unknown"),
        (patched(12, "9100"), "vlan_unknown"),
        (patched(12, "9200"), "not_ip4"),
        (patched(12, "86dd"), "not_ip4"),
        (patched(12, "0008"), "not_ip4"),
        (patched(14, "65"), "bad_header"),
        (patched(14, "44"), "bad_header"),
        (patched(14, "4f")[: 14 + 59], "truncated"),
        (resummed(16, "0074"), "truncated"),
        (resummed(16, "0013"), "bad_header"),
        (patched(24, "b862"), "bad_checksum"),
        (resummed(30, "e0000001"), "martian_dst"),
        (resummed(30, "efffffff"), "martian_dst"),
        (resummed(30, "f0000000"), "martian_dst"),
        (resummed(30, "ffffffff"), "martian_dst"),
        (resummed(30, "00000001"), "martian_dst"),
        (resummed(30, "7f000001"), "martian_dst"),
        (resummed(30, "dfffffff"), "no_route"),
        (resummed(30, "01000000"), "no_route"),
        (resummed(30, "7e000000"), "no_route"),
        (resummed(30, "80000000"), "no_route"),
        (resummed(30, "c0a80100"), "no_route"),
        (resummed(22, "01"), "ttl_expired"),
        (resummed(22, "00"), "ttl_expired"),
        (PACKET + bytes(1515 - len(PACKET)), "mtu_exceeded"),
    ],
)
def test_each_rule_drops_what_it_should(frame, reason):
    assert verdict(frame) == reason


@pytest.mark.parametrize(
    "frame",
    [
        resummed(16, "0014"),
        resummed(22, "02"),
        resummed(22, "ff"),
        resummed(14, "4f"),
        PACKET + bytes(1514 - len(PACKET)),
    ],
)
def test_the_last_frame_before_each_rule_is_forwarded(frame):
    assert isinstance(verdict(frame), oracle.Forwarded)


def test_max_pkt_len_counts_the_crc():
    assert isinstance(verdict(PACKET, max_pkt_len=len(PACKET) + 4), oracle.Forwarded)
    assert verdict(PACKET, max_pkt_len=len(PACKET) + 3) == "mtu_exceeded"


@pytest.mark.parametrize(
    "ident, before, after",
    [
        # The other words of TEXTBOOK add up to 0x479e. 0xfeff needs 0xb961 more, and becomes 0
        # and not 0xffff (RFC 1624 section 3). A zero may be written as 0xffff, and is then as
        # right as any; both become 0x0100.
        (0xB961, 0xFEFF, 0x0000),
        (0xB861, 0x0000, 0x0100),
        (0xB861, 0xFFFF, 0x0100),
        (0xB960, 0xFF00, 0x0001),
        (0xB962, 0xFEFE, 0xFFFE),
    ],
)
def test_checksum_edges(ident, before, after):
    frame = patched(18, f"{ident:04x}")[:24] + before.to_bytes(2, "big") + PACKET[26:]
    sent = verdict(frame).frame
    assert sent[24:26].hex() == f"{after:04x}"


def test_longest_prefix_wins_whatever_the_order():
    nested = [
        oracle.route("10.1.2.3/32", 2, "02:00:00:00:00:20"),
        oracle.route("10.1.2.0/24", 1, "02:00:00:00:00:18"),
        oracle.route("128.0.0.0/1", 2, "02:00:00:00:00:01"),
        oracle.route("10.0.0.0/8", 0, "02:00:00:00:00:08"),
    ]
    cases = {"10.1.2.3": 32, "10.1.2.4": 24, "10.1.3.3": 8, "128.0.0.0": 1, "255.0.0.0": 1,
             "127.255.255.255": None, "11.0.0.0": None}
    for order in (nested, nested[::-1]):
        table = oracle.Table(order)
        for address, length in cases.items():
            found = table.lookup(struct.unpack("!I", bytes(map(int, address.split("."))))[0])
            assert (found and found.prefix.prefixlen) == length, address


def test_default_routes_are_those_of_the_first_eight_ports():
    made = oracle.default_routes(range(9))
    assert [r.line() for r in made[:2]] == ["198.18.0.0/24 port 0 mac 02:00:00:00:00:00",
                                            "198.18.1.0/24 port 1 mac 02:00:00:00:00:01"]
    assert [r.port for r in made] == list(range(8))
    assert [str(r.prefix) for r in oracle.default_routes([0, 2])] == ["198.18.0.0/24",
                                                                      "198.18.2.0/24"]


@pytest.fixture(scope="module", params=[1518, 9600])
def generated(request):
    """Generated frames, the oracle's answers, and the length they are for."""
    made = frames.generate(SEED, request.param)
    result = oracle.forward([f.data for f in made], frames.ROUTES, MACS, request.param)
    return made, result, request.param


def test_checksums_agree_with_scapy(generated):
    made, result, _ = generated
    checked = 0
    for frame, what in zip(made, result.verdicts):
        if not isinstance(what, oracle.Forwarded) or checked == 4000:
            continue
        header = what.frame[14 : 14 + (what.frame[14] & 15) * 4]
        unsummed = IP(header)
        unsummed.chksum = None  # scapy fills it in
        assert bytes(unsummed)[10:12] == header[10:12], frame
        checked += 1
    assert checked == 4000


def test_forwarding_changes_nothing_but_macs_ttl_and_checksum(generated):
    made, result, _ = generated
    checked = 0
    for frame, what in zip(made, result.verdicts):
        if isinstance(what, oracle.Forwarded):
            new, old = what.frame, frame.data
            assert (new[12:22], new[23], new[26:]) == (old[12:22], old[23], old[26:])
            assert new[22] == old[22] - 1 and new[6:12] == MACS[what.port]
            checked += 1
    assert checked == sum(map(len, result.out.values())) > 10000


def test_generator_knows_what_it_makes(generated):
    made, result, _ = generated
    assert len(made) == len(result.verdicts) == 24000
    for frame, what in zip(made, result.verdicts):
        assert frame.expect == (None if isinstance(what, oracle.Forwarded) else what), frame
    assert [r for r, n in result.drops.items() if n == 0] == ["tx_full"]
    assert min(map(len, result.out.values())) > 1000


def test_generator_makes_every_group(generated):
    made, _, max_pkt_len = generated
    seen = frames.groups(made)
    for name in frames.FAULTS:
        assert seen[f"fault/{name}"] >= 80
    faults = list(frames.FAULTS)
    assert set(zip(faults, faults[1:])) <= set(frames.PAIRS), "every adjacent pair can be made"
    for first, second in frames.PAIRS:
        assert seen[f"pair/{first}+{second}"] >= 80
    sizes = [n for label, n in seen.items() if label.startswith(("fault/", "pair/"))]
    assert len(sizes) == len(frames.FAULTS) + 63 == len(set(sizes)), "no two of one size"

    wanted = [f"options/{ihl}" for ihl in range(6, 16)]
    wanted += [f"ttl/{ttl}" for ttl in range(256)]
    wanted += [f"padding/{size}" for size in range(1, 47)]
    wanted += [f"checksum/{edge}" for edge in ("feff", "ffff", "0000", "carry", "plain")]
    wanted += [f"prefix/{r.prefix}" for r in frames.ROUTES]
    wanted += [f"{g}/{d}" for g in ("header_end", "total_length") for d in range(-2, 3)]
    wanted += [f"total_header/{d}" for d in (-2, -1, 0)]
    edges = [0, 13, 14, 33, 34, 2047, 2048, 2049, max_pkt_len - 4, max_pkt_len - 3]
    wanted += [f"length/{size}" for size in edges]
    wanted += ["long/packet", "plain/packet"]
    assert [label for label in wanted if seen[label] == 0] == []


def test_generator_is_deterministic():
    assert frames.generate(7) == frames.generate(7)
    assert frames.generate(7) != frames.generate(8)


def header_size(frame):
    """Of a header whose IHL may say less than there is."""
    return max(frame[14] & 15, 5) * 4


# What each fault looks like in a frame, whatever else is wrong with it.
SIGNS = {
    "short_ethernet": lambda f, limit: len(f) < 14,
    "group_mac": lambda f, limit: f[0] & 1,
    "vlan": lambda f, limit: f[12:14] in (b"\x81\x00", b"\x88\xa8", b"\x91\x00"),
    "other_ethertype": lambda f, limit: f[12:14] != b"\x08\x00",
    "short_ip": lambda f, limit: len(f) < 34,
    "bad_version": lambda f, limit: not 0x45 <= f[14] <= 0x4F,
    "beyond_frame": lambda f, limit: max((f[14] & 15) * 4, f[16] << 8 | f[17]) > len(f) - 14,
    "total_below_header": lambda f, limit: (f[16] << 8 | f[17]) < (f[14] & 15) * 4,
    "bad_checksum": lambda f, limit: oracle.ones_complement_sum(f[14 : 14 + header_size(f)])
    != 0xFFFF,
    "martian": lambda f, limit: f[30] in (0, 127) or f[30] >= 224,
    "no_route": lambda f, limit: not oracle.Table(frames.ROUTES).lookup(
        int.from_bytes(f[30:34], "big")
    ),
    "ttl_spent": lambda f, limit: f[22] <= 1,
    "too_big": lambda f, limit: len(f) > limit,
}


def test_both_faults_of_a_pair_are_in_the_frame(generated):
    made, _, max_pkt_len = generated
    checked = 0
    for label, _, data in made:
        kind, _, names = label.partition("/")
        if kind not in ("fault", "pair"):
            continue
        # Behind a VLAN tag, what the other fault is in comes four bytes later.
        forms = [data, data[:12] + data[16:]] if "vlan" in names else [data]
        for name in names.split("+"):
            assert any(SIGNS[name](form, max_pkt_len - 4) for form in forms), (
                f"no {name} in {label}: {data[:60].hex()}"
            )
            checked += 1
    assert checked > 2 * 63 * 80


def test_checksum_groups_hold_the_checksums_they_promise(generated):
    made, result, _ = generated
    after = {"feff": "0000", "ffff": "0100", "0000": "0100"}
    checked = 0
    for frame, what in zip(made, result.verdicts):
        edge = frame.label.removeprefix("checksum/")
        if edge in after:
            assert (frame.data[24:26].hex(), what.frame[24:26].hex()) == (edge, after[edge])
            checked += 1
    assert checked >= 3 * 20


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("nanoseconds", [False, True])
def test_pcap_files_of_every_kind_are_read_back(tmp_path, order, nanoseconds):
    rng = random.Random(1)
    written = [rng.randbytes(n) for n in (0, 1, 14, 60, 1514, 9596)]
    path = pcapfile.write(tmp_path / "f.pcap", written, order, nanoseconds)
    assert pcapfile.read(path) == written


def test_pcap_reader_cuts_like_libpcap(tmp_path):
    path = pcapfile.write(tmp_path / "f.pcap", [b"abcdef", b"gh", b"ijk"], snaplen=4)
    assert pcapfile.read(path) == [b"abcd", b"gh", b"ijk"]
    path.write_bytes(path.read_bytes()[:-1])
    assert pcapfile.read(path) == [b"abcd", b"gh"]


@pytest.mark.parametrize("data", [b"", b"\xd4\xc3\xb2\xa1", bytes(24), b"\n\r\r\n" + bytes(20)])
def test_pcap_reader_refuses_other_files(tmp_path, data):
    path = tmp_path / "f.pcap"
    path.write_bytes(data)
    with pytest.raises(pcapfile.PcapError):
        pcapfile.read(path)
