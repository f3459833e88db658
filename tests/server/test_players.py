"""Tokens: who somebody is."""

import stat

import pytest
from itsdangerous import TimestampSigner

from parlour.errors import Refused
from parlour.journal.base import Damaged
from parlour.server.players import Tokens, guest_name, new_player_id
from parlour.wire import clean_name


def test_a_token_says_who_its_bearer_is():
    tokens = Tokens(b"k" * 32)
    assert tokens.read(tokens.issue("ann")) == "ann"


def test_a_token_of_another_server_is_refused():
    with pytest.raises(Refused, match="bad_token"):
        Tokens(b"k" * 32).read(Tokens(b"x" * 32).issue("ann"))


@pytest.mark.parametrize("change", [lambda t: t[:-1], lambda t: "bob" + t[3:], lambda t: "", lambda t: "ann",
                                    lambda t: t + "\udcff"])  # fmt: skip
def test_a_token_that_was_changed_is_refused(change):
    tokens = Tokens(b"k" * 32)
    with pytest.raises(Refused, match="bad_token"):
        tokens.read(change(tokens.issue("ann")))


def test_a_token_lasts_400_days(monkeypatch):
    tokens = Tokens(b"k" * 32)
    token = tokens.issue("ann")
    issued = tokens._signer.get_timestamp()
    monkeypatch.setattr(TimestampSigner, "get_timestamp", lambda self: issued + 400 * 86400)
    assert tokens.read(token) == "ann"
    monkeypatch.setattr(TimestampSigner, "get_timestamp", lambda self: issued + 400 * 86400 + 2)
    with pytest.raises(Refused, match="bad_token"):
        tokens.read(token)


def test_the_key_is_made_once_and_is_for_its_owner_only(tmp_path):
    folder = tmp_path / "data"
    token = Tokens.in_folder(folder).issue("ann")
    assert Tokens.in_folder(folder).read(token) == "ann"
    key = folder / "signing.key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert len(key.read_bytes()) == 32


@pytest.mark.parametrize("key", [b"", b"short"])
def test_a_key_that_is_not_whole_signs_nothing(tmp_path, key):
    (tmp_path / "signing.key").write_bytes(key)
    with pytest.raises(Damaged, match="is not a whole key"):
        Tokens.in_folder(tmp_path)


def test_ids_are_twenty_letters_and_never_the_same():
    ids = {new_player_id() for _ in range(100)}
    assert len(ids) == 100
    assert all(len(id) == 20 and id.islower() and id.isalpha() for id in ids)


def test_a_guest_without_a_name_gets_one_that_is_allowed():
    name = guest_name("ann")
    assert clean_name(name) == name
    assert guest_name("ann") == name
