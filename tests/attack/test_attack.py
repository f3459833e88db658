"""Whoever attacks is refused or cut, and those who play beside them are answered and keep what they have."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.attack.arena import attack, new_server
from tests.attack.bystanders import limited_server
from tests.attack.faults import FAULTS
from tests.attack.hostile import ATTACKS, DOORS, KINDS, REQUESTS
from tests.e2e.clients import Raw
from tests.e2e.conftest import end

pytestmark = pytest.mark.e2e

SMALL = 1_000_000
"""Bytes of a flood; whoever is cut sends less."""
FEW = 20
"""Questions that nobody is cut for."""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server with the limits that it has by default."""
    shared = limited_server(tmp_path_factory.mktemp("attacked")).start()
    yield shared
    end(shared)


@pytest.fixture(scope="module")
def beside(server):
    """Somebody in a room, who is answered as long as all is well."""
    room = server.open_room()["id"]
    line = Raw(server, server.guest("Ann").token)
    line.join(room)
    yield lambda: line.ask(f"game:{room}", "game_event", {"event": {"type": "mark", "cell": 0}}).code
    line.close()


def during(attack_name, server, amount, beside):
    """What came of an attack, and what somebody else was answered meanwhile, in order."""
    answers: list[Any] = []
    with ThreadPoolExecutor(1) as pool:
        attacking = pool.submit(ATTACKS[attack_name], server.port, amount)
        while len(answers) < FEW and not (answers and attacking.done()):
            answers.append(beside())
    return attacking.result(), answers


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("door", DOORS)
def test_whoever_floods_a_door_is_cut_and_others_are_answered_meanwhile(door, kind, server, beside):
    tally, answers = during(f"{kind} at {door}", server, 20 * SMALL if kind == "large" else SMALL, beside)
    assert tally["cut"] + tally["refused"] > 0
    assert answers
    assert set(answers) <= {"not_your_turn", "too_fast"}


@pytest.mark.parametrize("kind", REQUESTS)
def test_whoever_sends_requests_without_end_is_cut_and_others_are_answered_meanwhile(kind, server, beside):
    tally, answers = during(f"{kind} at http", server, SMALL, beside)
    assert tally["cut"] > 0
    assert answers
    assert set(answers) <= {"not_your_turn", "too_fast"}


def test_every_record_of_a_hub_is_paid_for(server, beside):
    tally, _ = during("records at gammonx", server, SMALL, beside)
    assert tally["cut"] > 0


@pytest.mark.parametrize("name", ["rooms", "rooms by forged addresses"])
def test_one_address_opens_no_more_rooms_than_its_quota_whatever_it_says_of_itself(name, tmp_path):
    own = limited_server(tmp_path, "--address-rooms", "20").start()
    try:
        assert ATTACKS[name](own.port, 100)["done"] == 20
    finally:
        end(own)


def test_one_address_opens_no_more_accounts_than_its_quota(tmp_path):
    own = limited_server(tmp_path, "--address-accounts", "20").start()
    try:
        tally = ATTACKS["accounts"](own.port, 40)
        assert (tally["done"], tally["refused"], tally["server_errors"]) == (20, 20, 0)
    finally:
        end(own)


def test_one_address_has_no_more_tickets_than_its_quota(tmp_path):
    own = limited_server(tmp_path, "--address-tickets", "20").start()
    try:
        assert ATTACKS["tickets"](own.port, 60)["done"] == 20
    finally:
        end(own)


def test_one_address_has_no_more_relays_than_its_quota(tmp_path):
    own = limited_server(tmp_path, "--address-relays", "20").start()
    try:
        assert ATTACKS["relays"](own.port, 60)["done"] == 20
    finally:
        end(own)


def test_one_address_has_no_more_silent_connections_than_sockets(tmp_path):
    own = limited_server(tmp_path, "--address-connections", "20").start()
    try:
        tally = ATTACKS["silent connections"](own.port, 60)
        assert tally["cut"] + tally["refused"] == 40
    finally:
        end(own)


def test_ids_can_be_guessed_only_so_often(server):
    assert ATTACKS["guessed ids"](server.port, 100)["refused"] == 100
    assert server.call("GET", "/health").status_code == 200


def test_recovery_codes_can_be_guessed_only_so_often_while_others_sign_in(tmp_path):
    own = limited_server(tmp_path).start()
    try:
        bearer = {"Authorization": f"Bearer {own.guest('Ann').token}"}
        code = own.call("POST", "/api/account", {}, headers=bearer).json()["code"]
        tally, answers = during(
            "guessed recovery codes",
            own,
            200,
            lambda: own.call("POST", "/api/sign-in", {"code": code}).status_code,
        )
        assert (tally["refused"], tally["done"]) == (200, 0)
        assert set(answers) == {201}
        assert own.log.count(code) == 0
    finally:
        end(own)


@pytest.mark.parametrize("name", ["guessed links", "challenges", "accounts and webhooks"])
def test_accounts_that_are_asked_for_without_end_hold_up_nobody(name, server, beside):
    tally, answers = during(name, server, 400, beside)
    assert tally["server_errors"] == tally["reached"] == 0
    assert tally["refused"] + tally["done"] > 100
    assert answers
    assert set(answers) <= {"not_your_turn", "too_fast"}


def test_garbage_as_passkeys_signs_nobody_in_and_holds_up_nobody(server, beside):
    tally, answers = during("garbage as passkeys", server, 120, beside)
    assert tally["reached"] == tally["server_errors"] == 0
    assert tally["refused"] > 20
    assert answers
    assert set(answers) <= {"not_your_turn", "too_fast"}


def test_a_proxys_user_header_from_anywhere_else_makes_nobody_that_user(tmp_path):
    own = new_server("users by forged headers", tmp_path)
    own.start()
    try:
        tally = ATTACKS["users by forged headers"](own.port, 120)
        assert tally["reached"] == tally["server_errors"] == 0
        assert tally["done"] > 20
    finally:
        end(own)


def test_webhooks_that_never_let_go_keep_nobody_from_playing_or_being_told(tmp_path):
    own = new_server("webhooks without end", tmp_path)
    own.start()
    try:
        tally = ATTACKS["webhooks without end"](own.port, 30)
        assert tally["untold"] == tally["server_errors"] == 0
        assert tally["done"] > 100
    finally:
        end(own)


@pytest.mark.parametrize("name", FAULTS)
def test_what_happens_to_the_server_itself_costs_nobody_what_they_have(name, tmp_path):
    row = asyncio.run(attack(name, tmp_path, SMALL, quiet=0.5))
    assert [fault for fault in row.faults if fault != "bystanders waited"] == []
