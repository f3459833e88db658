"""Names of accounts: one script each, and no two that look the same."""

import unicodedata

import pytest
from msgspec.structs import replace

from parlour.errors import Refused
from parlour.journal.base import Drop, NewRecord, RecordQuery
from parlour.journal.memory import MemoryJournal
from parlour.sanitize import clean_name
from parlour.server.parts.accounts.name_records import ACCOUNT_NAME, renew_keys
from parlour.server.parts.accounts.names import RULES, check_account_name, key_of_name
from parlour.server.sessions import player_record, read_player
from tests.server.test_accounts import Club, code_of
from tests.server.world import PLAYABLE, World


@pytest.fixture
async def club():
    async with World(PLAYABLE) as world:
        club = Club(world)
        yield club
        await club.http.aclose()


@pytest.mark.parametrize(
    "name",
    [
        "Ann",
        "ANN",
        "A n n",
        "Ann.",
        "\uff21\uff4e\uff4e",
        "\u0410\u043d\u043d",
        "Ann\u0338",
        "\u0251nn",
        "A\u0274\u0274",
    ],
)
async def test_no_two_accounts_have_names_that_look_the_same(club, name):
    await club.open("Ann" if "\u043d" not in name else "Ahh")
    guest = await club.guest(name=name)
    assert code_of(await club.call("POST", "/api/account", {}, guest["token"])) == (409, "name_taken")
    answer = await club.call("POST", "/api/account", {"name": "Bob"}, guest["token"])
    assert (answer.status_code, answer.json()["name"]) == (201, "Bob")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Bill", "BIII"), ("Bill", "Bi||"), ("Bill", "Bi\u01c0\u01c0"), ("Corn", "Com"), ("O0", "oo"),
        ("paula", "\u0440\u0430ul\u0430"), ("ooo", "\u0585\u0585\u0585"), ("ooo", "\u0ae6\u0ae6\u0ae6"),
        ("Hobo", "\u04bb\u043e\u044c\u043e"), ("Zoë", "Zo\u0435\u0308"), ("Zoë", "Zoe\u0308\u0308"),
        ("Niño", "Nin\u0342o"), ("Ann", "Ann\u00b4"), ("Kate", "\ua4d7\ua4ee\ua4d4\ua4f0"), ("カ", "力"),
        ("علي", "علی"), ("محمد", "محـمد"), ("กิ", "กิิ"),
    ],
)  # fmt: skip
def test_these_names_look_alike(one, other):
    assert key_of_name(one) == key_of_name(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Zoë", "Zoe"), ("Ann", "Anna"), ("!!", "??"), ("山田", "山口"), ("रीमा", "रेमा"), ("กิ", "กี"),
        ("ที", "ที่"),
        ("مُحمد", "محمد"), ("דָּן", "דן"), ("がく", "かく"), ("தமி", "தமீ"), ("🙂", "🙃"),
    ],
)  # fmt: skip
def test_these_do_not(one, other):
    assert key_of_name(one) != key_of_name(other)


INVISIBLE = ["\u034f", "\u17b4", "\u180b", "\u180f", "\ufe00", "\ufe0e", "\ufe0f", "\U000e0100", "\U000e01ef"]


@pytest.mark.parametrize("mark", INVISIBLE)
async def test_what_nobody_sees_is_in_no_name_and_in_no_key(club, mark):
    assert key_of_name(f"An{mark}n{mark}") == key_of_name("Ann")
    guest = await club.guest(name=f"Ann{mark}")
    answer = await club.call("POST", "/api/account", {}, guest["token"])
    assert (answer.json()["code"], answer.json()["path"]) == ("invalid_name", "$.name")


def test_the_marks_that_nobody_sees_are_all_that_unicode_has():
    """Of what is ignorable by default, names can only have marks: the rest is refused in all of them."""
    ignorable = [
        0x34F,
        0x17B4,
        0x17B5,
        *range(0x180B, 0x1810),
        *range(0xFE00, 0xFE10),
        *range(0xE0000, 0xE1000),
    ]
    for character in map(chr, ignorable):
        name = f"An{character}n"
        if unicodedata.category(character) == "Mn":
            with pytest.raises(Refused):
                check_account_name(name)
        else:
            with pytest.raises(Refused):
                clean_name(name)


@pytest.mark.parametrize(
    ("name", "plain"),
    [("Ann ❤\ufe0f", "Ann ❤"), ("1\ufe0f\u20e3", "1"), ("葛\U000e0100城", "葛城"), ("ᠮᠠ\u180b", "ᠮᠠ")],
)
async def test_a_mark_that_chooses_a_form_of_an_emoji_or_of_a_letter_is_welcome_there(club, name, plain):
    assert (await club.open(name))["name"] == name
    assert key_of_name(name) == key_of_name(plain)


@pytest.mark.parametrize("name", ["\u0410nn", "Ann Ω", "Guest 1234", "guest9", "Random bot", "Ann\u0e34"])
async def test_a_name_of_two_scripts_or_of_guests_or_bots_is_refused(club, name):
    guest = await club.guest(name="Ann")
    answer = await club.call("POST", "/api/account", {"name": name}, guest["token"])
    assert (answer.json()["code"], answer.json()["path"]) == ("invalid_name", "$.name")


@pytest.mark.parametrize(
    "name", ["Zoë 7", "山田たろう", "Ολγα", "Мария", "김철수", "🙂 Ann", "रीमा", "ที่", "مُحَمَّد", "ẹ́bùn"]
)
async def test_a_name_of_one_script_is_welcome(club, name):
    assert (await club.open(name))["name"] == name


async def test_an_account_changes_its_name_and_the_old_one_is_free(club):
    ann, bob = await club.open("Ann"), await club.open("Bob")
    assert (await club.guest(ann["token"], name="Anna"))["name"] == "Anna"
    assert (await club.guest(ann["token"], name="ANNA"))["name"] == "ANNA"
    taken = await club.call("POST", "/api/players", {"name": "anna"}, bob["token"])
    assert code_of(taken) == (409, "name_taken")
    assert (await club.guest(bob["token"], name="Ann"))["name"] == "Ann"


async def test_a_guest_may_have_an_accounts_name_and_is_marked_as_a_guest(club):
    await club.open("Ann")
    guest = await club.guest(name="Ann")
    assert guest["account"] is False
    assert (await club.call("GET", f"/api/players/{guest['id']}")).json()["guest"] is True


# Keys of other rules.


async def give(club, name, key):
    """An account of before, whose name has this key; its player's id and token."""
    ann = await club.open("Somebody")
    record = await club.world.journal.record("player", ann["id"])
    player = replace(read_player(record), name=name)
    await club.world.journal.keep(
        player_record(player, record.due),
        Drop(ACCOUNT_NAME, key=key_of_name("Somebody")),
        NewRecord(ACCOUNT_NAME, key, name.encode(), owner=ann["id"]),
    )
    return ann


async def keys(world):
    return {record.key: record.owner for record in await world.journal.records(RecordQuery(ACCOUNT_NAME))}


async def test_one_address_opens_so_many_accounts_in_an_hour_and_another_one_others():
    async with World(PLAYABLE, proxies=["127.0.0.1"], address_accounts=3) as world:
        club = Club(world)

        async def opens(name, address="203.0.113.9"):
            guest = await club.guest(name=name)
            here = {"X-Forwarded-For": address}
            return await club.call("POST", "/api/account", {}, guest["token"], **here)

        assert [(await opens(name)).status_code for name in ("Ann", "Bob", "Bob", "Cid")] == [
            201,
            201,
            409,
            201,
        ]
        answer = await opens("Dan")
        assert (code_of(answer), "at most 3" in answer.json()["message"]) == ((429, "too_fast"), True)
        assert (await opens("Eve", "203.0.113.10")).status_code == 201
        await world.wait(1200)
        assert [(await opens(name)).status_code for name in ("Dan", "Fay")] == [201, 429]
        await club.http.aclose()


OLD_NAMES = [
    ("\u0585\u0585\u0585", "\u0585\u0585\u0585", "ooo"),
    ("Bi||", "bl||", "Bill"),
    ("Ann\ufe0f", "ann\ufe0f", "Ann"),
]


@pytest.mark.parametrize(("name", "key", "alike"), OLD_NAMES)
async def test_a_name_of_other_rules_is_kept_and_nobody_gets_one_that_looks_like_it(club, name, key, alike):
    ann = await give(club, name, key)
    async with await club.world.restart() as world:
        again = Club(world)
        assert (await again.whoami(ann["token"]))["name"] == name
        assert await keys(world) == {key_of_name(alike): ann["id"]}
        guest = await again.guest(name=alike)
        assert code_of(await again.call("POST", "/api/account", {}, guest["token"])) == (409, "name_taken")
        assert (await again.guest(ann["token"], name=name))["name"] == name
        assert (await again.guest(ann["token"], name="Bea"))["name"] == "Bea"
        assert (await again.call("POST", "/api/account", {}, guest["token"])).status_code == 201
        await again.http.aclose()


async def test_two_accounts_whose_names_look_the_same_by_new_rules_alone_keep_them(club):
    ann = await club.open("Ann")
    other = await give(club, "Ann\ufe0f", "ann\ufe0f")
    async with await club.world.restart() as world:
        again = Club(world)
        assert await keys(world) == {"ann": ann["id"], "ann\ufe0f": other["id"]}
        assert [(await again.whoami(one["token"]))["name"] for one in (ann, other)] == ["Ann", "Ann\ufe0f"]
        assert (await again.call("DELETE", "/api/account", token=other["token"])).status_code == 200
        assert await keys(world) == {"ann": ann["id"]}
        await again.http.aclose()


class Counting(MemoryJournal):
    """Counts what is written."""

    writes = 0

    async def keep(self, *changes):
        self.writes += 1
        await super().keep(*changes)


async def test_a_key_is_made_anew_once(tmp_path):
    journal = Counting(tmp_path, "process")
    await journal.open()
    for key, name in (("bl||", b"Bi||"), ("ann", b"Ann"), ("zoe", b"\xff")):
        await journal.keep(NewRecord(ACCOUNT_NAME, key, name))
    written = journal.writes
    for _ in range(2):
        await renew_keys(journal)
        found = [record.key for record in await journal.records(RecordQuery(ACCOUNT_NAME))]
        assert (found, journal.writes - written) == (["ann", "blll", "zoe"], 3)


async def test_a_key_of_newer_rules_is_made_anew_when_an_older_server_starts_and_left_while_it_runs(tmp_path):
    journal = Counting(tmp_path, "process")
    await journal.open()
    await journal.keep(NewRecord(ACCOUNT_NAME, "tomorrow's", b"Ann", sort=-(RULES + 1)))
    await journal.keep(NewRecord(ACCOUNT_NAME, "bob", b"Bob", sort=-RULES))
    for newer, first in ((False, "tomorrow's"), (True, "ann")):
        await renew_keys(journal, newer=newer)
        found = {record.key for record in await journal.records(RecordQuery(ACCOUNT_NAME))}
        assert found == {first, "bob"}
