"""Tokens: who somebody is."""

import stat

import pytest
from itsdangerous import TimestampSigner

from parlour.errors import Refused
from parlour.journal.base import Damaged
from parlour.sanitize import clean_name
from parlour.server.tokens import Bearer, Tokens, guest_name, list_keys, make_key, new_player_id


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


def at(date, keys=b"k" * 32):
    """Tokens on a day that the test says."""
    return Tokens(keys, date=lambda: date)


TODAY = 1_800_000_000.5
DAY = 86400


def test_a_token_lasts_400_days():
    token = at(TODAY).issue("ann")
    assert at(TODAY + 400 * DAY).read(token) == "ann"
    with pytest.raises(Refused, match="bad_token"):
        at(TODAY + 400 * DAY + 2).read(token)


@pytest.mark.parametrize("back", [1, 2, 3600, 40 * DAY, 10_000 * DAY])
def test_a_clock_that_was_set_back_makes_nobody_a_stranger(back):
    assert at(TODAY - back).read(at(TODAY).issue("ann")) == "ann"


@pytest.mark.parametrize("days", [0, 401, 10_000])
def test_a_cookie_says_who_somebody_is_whatever_the_clock_says(days):
    assert at(TODAY + days * DAY).read(at(TODAY).issue("ann"), expires=False) == "ann"


# Keys and sessions.


def test_a_token_says_of_which_session_it_is():
    tokens = Tokens(b"k" * 32)
    assert tokens.bearer(tokens.issue("ann")) == Bearer("ann", 0)
    assert tokens.bearer(tokens.issue("ann", 7)) == Bearer("ann", 7)


def test_the_newest_key_signs_and_older_ones_still_verify():
    first, both = Tokens({1: b"k" * 32}), Tokens({1: b"k" * 32, 2: b"n" * 32})
    assert both.read(first.issue("ann")) == "ann"
    with pytest.raises(Refused, match="bad_token"):
        first.read(both.issue("ann"))


def test_a_key_that_is_gone_verifies_nothing():
    both, second = Tokens({1: b"k" * 32, 2: b"n" * 32}), Tokens({2: b"n" * 32})
    assert second.read(both.issue("ann")) == "ann"
    with pytest.raises(Refused, match="bad_token"):
        second.read(Tokens({1: b"k" * 32}).issue("ann"))


@pytest.mark.parametrize("named", ["2", "3", "", "one", "-1", "9" * 5000])
def test_a_token_is_verified_by_the_key_that_it_names_and_by_no_other(named):
    tokens = Tokens({1: b"k" * 32, 2: b"n" * 32})
    forged = Tokens({1: b"k" * 32})._signer(1).sign(f"ann~0~{named}").decode()
    with pytest.raises(Refused, match="bad_token"):
        tokens.read(forged)


def test_a_token_of_the_first_form_is_of_the_first_key_and_session():
    old = TimestampSigner(b"k" * 32, salt="parlour.player").sign("ann").decode()
    assert Tokens({1: b"k" * 32, 2: b"n" * 32}).bearer(old) == Bearer("ann", 0)
    with pytest.raises(Refused, match="bad_token"):
        Tokens({2: b"n" * 32}).bearer(old)


def test_a_folder_with_several_keys_signs_with_the_newest(tmp_path):
    before = Tokens.in_folder(tmp_path).issue("ann")
    assert make_key(tmp_path).name == "signing-2.key"
    tokens = Tokens.in_folder(tmp_path)
    assert tokens.read(before) == "ann"
    after = tokens.issue("ann")
    (tmp_path / "signing.key").unlink()
    tokens = Tokens.in_folder(tmp_path)
    assert tokens.read(after) == "ann"
    with pytest.raises(Refused, match="bad_token"):
        tokens.read(before)
    assert list(list_keys(tmp_path)) == [2]


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
