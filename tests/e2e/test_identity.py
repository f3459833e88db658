"""Who somebody is: tokens, cookies and origins; and that none of it is ever printed."""

import base64
import time

import pytest
from itsdangerous import TimestampSigner

from tests.e2e.clients import refused_status

pytestmark = pytest.mark.e2e

DAY = 86400


class OldSigner(TimestampSigner):
    """Signs as it was done some days ago."""

    days = 0

    def get_timestamp(self):
        return int(time.time()) - self.days * DAY


def signed(server, player, *, days):
    """A token that the server gave out so many days ago."""
    signer = OldSigner((server.data / "signing.key").read_bytes(), salt="parlour.player")
    signer.days = days
    return signer.sign(player).decode()


def forgeries(token):
    """Tokens that are almost right."""
    id, stamp, signature = token.split(".")
    other = "B" if signature.startswith("A") else "A"
    return [
        f"someoneelse.{stamp}.{signature}",
        f"{id}.{stamp}.{other}{signature[1:]}",
        f"{id}.{stamp}.",
        id,
        "..",
        "%00",
        "x" * 5000,
    ]


# Tokens.


def test_a_token_is_who_you_are_over_every_connection(server, enter, knock):
    room = server.open_room()["id"]
    ann = enter(server, "Ann")
    assert ann.join(room).response["player"] == ann.id
    answer = knock(server, ann.guest.token).join(room)
    assert (answer.response["player"], answer.response["seat"]) == (ann.id, 0)
    assert "token" not in answer.response


def test_a_forged_token_is_turned_away_by_403_and_401(server):
    for forged in forgeries(server.guest("Ann").token):
        assert refused_status(server, token=forged) == 403
        bearer = {"Authorization": f"Bearer {forged}"}
        assert server.call("GET", "/api/players/me/rooms", headers=bearer).status_code == 401


def test_a_token_of_another_server_is_turned_away(server, serve):
    assert refused_status(server, token=serve().guest("Ann").token) == 403


def test_a_token_is_good_for_400_days_and_no_longer(server, knock):
    ann = server.guest("Ann")
    room = server.open_room()["id"]
    assert knock(server, signed(server, ann.id, days=399)).join(room).response["player"] == ann.id
    assert refused_status(server, token=signed(server, ann.id, days=401)) == 403


def test_the_auth_token_option_of_phoenix_works(server, enter):
    guest = server.guest("Ann")
    ann = enter(server, guest, params={}, authToken=guest.token)
    assert ann.join(server.open_room()["id"]).response["player"] == guest.id


def test_a_forged_auth_token_never_gets_in(server):
    packed = base64.b64encode(b"forged").decode().rstrip("=")
    offered = ["phoenix", f"base64url.bearer.phx.{packed}"]
    assert refused_status(server, subprotocols=offered) == 403


def test_who_comes_without_a_token_is_given_one_and_keeps_the_seat_with_it(server, knock):
    room = server.open_room()["id"]
    first = knock(server).join(room).response
    assert first["seat"] == 0
    again = knock(server, first["token"]).join(room).response
    assert (again["player"], again["seat"], "token" in again) == (first["player"], 0, False)
    assert knock(server).join(room).response["seat"] == 1


def test_a_token_outlives_the_server(serve, knock):
    server = serve()
    ann = server.guest("Ann")
    room = server.open_room()["id"]
    knock(server, ann.token).join(room)
    server.kill()
    server.start()
    assert knock(server, ann.token).join(room).response["player"] == ann.id
    bearer = {"Authorization": f"Bearer {ann.token}"}
    mine = server.call("GET", "/api/players/me/rooms", headers=bearer).json()
    assert [sheet["id"] for sheet in mine] == [room]


# Cookies.


def with_cookie(knock, server, guest, **more):
    cookie = {"Cookie": f"theme=dark; parlour_token={guest.token}"}
    return knock(server, additional_headers=cookie, **more)


def test_a_browser_gets_its_token_as_a_cookie_that_scripts_cannot_read(server):
    answer = server.call("POST", "/api/players", {"name": "Ann"})
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"parlour_token={answer.json()['token']};")
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie


def test_a_cookie_counts_on_our_own_pages_and_for_programs_without_an_origin(server, knock):
    ann = server.guest("Ann")
    room = server.open_room()["id"]
    for origin in (f"http://{server.address}", None):
        answer = with_cookie(knock, server, ann, origin=origin).join(room)
        assert answer.response["player"] == ann.id


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "http://127.0.0.1"])
def test_a_cookie_from_a_foreign_page_is_ignored(server, knock, origin):
    ann = server.guest("Ann")
    answer = with_cookie(knock, server, ann, origin=origin).join(server.open_room()["id"])
    assert answer.response["player"] != ann.id
    assert answer.response["token"] != ann.token


def test_a_cookie_from_a_foreign_page_is_ignored_over_http_too(server):
    ann = server.guest("Ann")
    headers = {"Cookie": f"parlour_token={ann.token}", "Origin": "http://evil.example"}
    answer = server.call("GET", "/api/players/me/rooms", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (401, "bad_token")


def test_a_listed_origin_may_use_the_cookie(serve, knock):
    server = serve("--origins", "https://games.example")
    ann = server.guest("Ann")
    answer = with_cookie(knock, server, ann, origin="https://games.example").join(server.open_room()["id"])
    assert answer.response["player"] == ann.id


def test_an_old_cookie_still_says_who_somebody_is(server, knock):
    ann = server.guest("Ann")
    old = ann._replace(token=signed(server, ann.id, days=401))
    answer = with_cookie(knock, server, old).join(server.open_room()["id"])
    assert answer.response["player"] == ann.id


# Nothing secret is printed.


BUGGY = """
from parlour import Event, Game, State, Update


class Nothing(State, frozen=True):
    pass


class Stumble(Event, frozen=True):
    pass


class Buggy(Game[Nothing]):
    name = "buggy"
    display_name = "Stumbling"
    seats = range(1, 2)
    State = Nothing
    Event = Stumble

    def init(self, config, moment):
        return Nothing()

    def handle_event(self, state, sender, event, moment):
        raise ZeroDivisionError("this game has a bug")
"""


def stumble(server, enter, knock):
    """All kinds of trouble in one room; the room, and the tokens of those who took part in it."""
    room = server.open_room("buggy")["id"]
    ann, bob = enter(server, "Ann"), server.guest("Bob")
    assert ann.join(room).status == "ok"
    assert ann.play("stumble").code == "game_error"
    fresh = knock(server).join(room, spectate=True).response["token"]
    assert refused_status(server, token=bob.token + "x") == 403
    knock(server, bob.token).send("no json")
    assert server.call("GET", f"/api/rooms?token={bob.token}").status_code == 200
    assert server.call("GET", f"/api/nothing?token={bob.token}").status_code == 404
    ann.cut(back=True)
    ann.wait_for("joined", count=2)
    return room, [ann.guest.token, bob.token, fresh]


def secrets(server, room, tokens):
    """In every shape in which a log might show them; of a token the part that signs."""
    seed = server.secret_seed(room)
    key = (server.data / "signing.key").read_bytes()
    shapes = [
        shape
        for secret in (seed, key)
        for shape in (secret.hex(), base64.b64encode(secret).decode(), repr(secret)[2:34])
    ]
    return shapes + [token.rpartition(".")[2] for token in tokens]


@pytest.mark.parametrize("terminal", [False, True], ids=["in a file", "at a terminal"])
def test_no_token_and_no_seed_is_in_the_log(serve, tmp_path, enter, knock, terminal):
    (tmp_path / "buggy.py").write_text(BUGGY)
    server = serve(tmp_path / "buggy.py", healthy=False, terminal=terminal)
    room, tokens = stumble(server, enter, knock)
    hidden = secrets(server, room, tokens)
    assert server.stop() == 0
    assert "this game has a bug" in server.log
    assert [secret for secret in hidden if secret in server.log] == []
