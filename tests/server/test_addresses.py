"""Where people reach the server: one address for every link, QR code and greeting."""

import re

import pytest
import zxingcpp

from parlour.journal.base import Trouble
from parlour.server.addresses import Network, Reach, checked_url, find_reach, listening_host, rank
from parlour.server.settings import Settings
from parlour.server.startup_message import greeting, qr_code

HOME = Network("wlan0", "192.168.1.7")
CABLE = Network("eth0", "10.0.0.5")
VPN = Network("tun0", "10.8.0.2")
CONTAINERS = Network("docker0", "172.17.0.1")
LOOP = Network("lo", "127.0.0.1")
LAN = Settings(lan=True)


def read_qr(printed: str) -> str:
    """As a camera does it: from the two halves of each character, dark on light."""
    lines = [re.sub(r"\x1b\[[\d;]*m", "", line) for line in printed.splitlines()]
    rows = [[c in halves for c in line] for line in lines for halves in ("▀█", "▄█")]
    size = 4
    pixels = bytes(
        0 if dark else 255 for row in rows for _ in range(size) for dark in row for _ in range(size)
    )
    picture = memoryview(pixels).cast("B", shape=(len(rows) * size, len(rows[0]) * size))
    [code] = zxingcpp.read_barcodes(picture)
    return str(code.text)


def test_without_a_word_only_this_machine_is_meant():
    reach = find_reach(Settings(), 8000, [HOME])
    assert (listening_host(Settings()), reach.url, reach.is_known) == (
        "127.0.0.1",
        "http://127.0.0.1:8000",
        False,
    )


def test_on_the_network_links_begin_with_the_address_that_others_can_reach():
    assert listening_host(LAN) == "0.0.0.0"
    reach = find_reach(LAN, 8000, [HOME, CABLE])
    assert reach == Reach("http://192.168.1.7:8000", "http://127.0.0.1:8000", ("http://10.0.0.5:8000",))


def test_with_several_networks_the_greeting_names_the_likeliest_first_and_then_the_others():
    said = greeting(find_reach(LAN, 8000, [HOME, CABLE, VPN]), LAN, ["Nim"])
    assert "Parlour is open at http://192.168.1.7:8000 with Nim." in said[0]
    assert said[2] == "On other networks of this computer: http://10.0.0.5:8000, http://10.8.0.2:8000."


def test_without_a_network_one_plays_on_this_machine_and_is_told_so():
    reach = find_reach(LAN, 8000, [])
    assert (reach.url, reach.is_known) == ("http://127.0.0.1:8000", False)
    assert "No network was found" in greeting(reach, LAN, ["Nim"])[-1]


def test_the_network_of_the_room_comes_before_those_of_containers_and_vpns():
    assert rank([LOOP, CONTAINERS, VPN, HOME], route=VPN.address) == [HOME, VPN, CONTAINERS]


def test_of_two_that_look_alike_the_one_that_leads_to_the_internet_comes_first():
    assert rank([HOME, CABLE], route=CABLE.address) == [CABLE, HOME]


@pytest.mark.parametrize("address", ["127.0.0.2", "169.254.7.7", "0.0.0.0"])
def test_an_address_that_leads_nowhere_is_none(address):
    assert rank([Network("eth0", address)], route=None) == []


def test_what_the_host_says_is_the_address_whatever_networks_there_are():
    settings = Settings(lan=True, public_url="https://games.example/")
    assert find_reach(settings, 8000, [HOME]).url == "https://games.example"


@pytest.mark.parametrize(
    "url",
    ["games.example", "ftp://games.example", "https://", "https://games.example/play", "https://a b",
     "https://games.example:port", "https://games.example:99999", "https://games.example?x=1",
     "https://me@games.example", "http://[::1"],
)  # fmt: skip
def test_what_is_no_address_is_refused_with_a_sentence(url):
    with pytest.raises(
        Trouble, match=r"^--public-url: expected an address like https://games\.example, got "
    ):
        checked_url(url)


def test_a_phone_reads_the_address_from_the_qr_code_in_the_terminal():
    for url in ("http://192.168.1.7:8000", "https://a-rather-long-name.games.example:8443"):
        assert read_qr(qr_code(url)) == url


def test_the_qr_code_brings_its_own_colours_so_that_it_is_dark_on_light_in_every_terminal():
    for line in qr_code("http://192.168.1.7:8000").splitlines():
        assert line.startswith("\x1b[38;5;16;48;5;231m")
        assert line.endswith("\x1b[0m")
