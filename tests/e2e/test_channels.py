"""Channels as the phoenix client knows them: presence, heartbeats, joins and leaves."""

import pytest

pytestmark = pytest.mark.e2e


# Presence, through the client's own Presence class.


def test_two_tabs_of_one_player_are_one_key_with_two_metas(server, seat, enter):
    room = server.open_room()["id"]
    ann, bob = seat(server, room, "Ann", "Bob")
    bob.wait_for_presence({ann.id: 1, bob.id: 1})
    tab = enter(server, ann.guest)
    assert tab.join(room).response["seat"] == 0
    for player in (ann, bob, tab):
        metas = player.wait_for_presence({ann.id: 2, bob.id: 1})[ann.id]
        assert [(meta["name"], meta["seat"]) for meta in metas] == [("Ann", 0), ("Ann", 0)]
        assert len({meta["phx_ref"] for meta in metas}) == 2


def test_a_player_is_connected_until_the_last_tab_is_closed(server, seat, enter):
    room = server.open_room()["id"]
    ann, bob = seat(server, room, "Ann", "Bob")
    tab = enter(server, ann.guest)
    tab.join(room)
    bob.wait_for_presence({ann.id: 2, bob.id: 1})
    ann.cut(back=False)
    bob.wait_for_presence({ann.id: 1, bob.id: 1})
    assert tab.mark(4) == 5
    tab.cut(back=False)
    bob.wait_for_presence({bob.id: 1})
    bob.see(6)
    assert bob.seqs == [5, 6]


def test_spectators_are_one_key_with_a_count(server, seat, enter):
    room = server.open_room()["id"]
    (ann,) = seat(server, room, "Ann")
    eve, zoe = enter(server, "Eve"), enter(server, "Zoe")
    for count, watcher in enumerate((eve, zoe), 1):
        watcher.join(room, spectate=True)
        (meta,) = ann.wait_for_presence({ann.id: 1}, spectators=count)["spectators"]
        assert set(meta) == {"phx_ref", "phx_ref_prev", "count"}
    assert server.room(room)["spectators"] == 2
    zoe.leave()
    for player in (ann, eve):
        player.wait_for_presence({ann.id: 1}, spectators=1)


def test_who_returns_after_a_restart_sees_who_is_here_now(serve, seat):
    server = serve()
    ann, bob = seat(server, server.open_room()["id"], "Ann", "Bob")
    server.kill()
    bob.cut(back=False)
    server.start()
    ann.wait_for("joined", count=2)
    ann.wait_for_presence({ann.id: 1})
    bob.come_back()
    ann.wait_for_presence({ann.id: 1, bob.id: 1})


# Heartbeats.


def test_heartbeats_are_answered_before_and_after_a_join(server, enter):
    ann = enter(server, "Ann", heartbeatIntervalMs=400)
    ann.wait_for("heartbeat", status="ok", response={})
    ann.join(server.open_room()["id"])
    ann.wait_for("heartbeat", count=3, status="ok", response={})
    assert ann.ask("ping").status == "ok"
    assert ann.heard("close") == []


# Joins and leaves.


def test_who_left_a_channel_hears_nothing_and_can_join_again(server, seat):
    room = server.open_room()["id"]
    ann, bob = seat(server, room, "Ann", "Bob")
    assert bob.leave() == ("ok", {})
    ann.see(5)
    ann.chat("he cannot hear me")
    answer = bob.join(room, resume=False)
    assert (answer.response["seat"], answer.response["seq"]) == (1, 7)
    ann.chat("now he can")
    bob.see(8)
    assert [load["text"] for _, load in bob.heard("chat")] == ["now he can"]


def test_leaving_a_channel_keeps_the_seat_and_giving_it_up_does_not(server, seat, enter):
    room = server.open_room()["id"]
    ann, bob = seat(server, room, "Ann", "Bob")
    bob.leave()
    zoe = enter(server, "Zoe")
    assert zoe.join(room, spectate=True).response["seat"] is None
    assert ann.push("leave", {}).status == "ok"
    assert [place and place["name"] for place in server.room(room)["seats"]] == [None, "Bob"]
    assert bob.join(room).response["seat"] == 1


def test_a_second_channel_of_one_topic_replaces_the_first(server, seat):
    room = server.open_room()["id"]
    ann, bob = seat(server, room, "Ann", "Bob")
    assert ann.join(room).response["seat"] == 0
    ann.wait_for("phx_close")
    bob.chat("once")
    ann.wait_for("chat", text="once")
    assert ann.ask("ping").status == "ok"
    assert [load["text"] for _, load in ann.heard("chat")] == ["once"]


def test_the_first_of_two_joins_is_closed_with_its_own_join_ref(server, knock):
    room = server.open_room()["id"]
    raw = knock(server, server.guest("Ann").token)
    raw.send(["1", "1", f"game:{room}", "phx_join", {}])
    assert raw.hear("phx_reply")[:2] == ["1", "1"]
    raw.send(["2", "2", f"game:{room}", "phx_join", {}])
    raw.send(["1", "3", f"game:{room}", "chat", {"text": "from an old join"}])
    assert raw.hear("phx_close") == ["1", "1", f"game:{room}", "phx_close", {}]
    assert raw.hear("phx_reply")[:2] == ["2", "2"]
    assert raw.ask(f"game:{room}", "chat", {"text": "from the new join"}, "2").response == {"seq": 3}


@pytest.mark.parametrize("room", ["NONE", "no such room", "ü"])
def test_an_unknown_room_is_refused_with_a_code_and_a_reason(server, enter, room):
    refused = enter(server, "Ann").join(room)
    assert refused.status == "error"
    assert refused.response["code"] == refused.response["reason"] == "unknown_room"
    assert refused.response["message"].startswith("there is no room")


def test_a_full_game_is_refused_with_a_code_and_a_reason_and_can_be_watched(server, seat, enter):
    room = server.open_room()["id"]
    ann, bob = seat(server, room, "Ann", "Bob")
    zoe = enter(server, "Zoe")
    refused = zoe.join(room)
    assert refused.status == "error"
    assert refused.response["code"] == refused.response["reason"] == "game_full"
    assert "taken" in refused.response["message"]
    assert zoe.join(room, spectate=True).status == "ok"


def test_a_join_with_a_field_nobody_knows_is_refused_with_its_path(server, enter):
    refused = enter(server, "Ann").join(server.open_room()["id"], sins=3)
    assert refused.code == "malformed"
    assert "sins" in refused.response["message"]


def test_one_socket_sits_in_many_rooms_at_once(server, enter):
    ann = enter(server, "Ann")
    rooms = [server.open_room("minesweeper")["id"] for _ in range(5)]
    for room in rooms:
        assert ann.join(room).response["seat"] == 0
    for room in rooms:
        ann.topic = f"game:{room}"
        assert ann.play("flag", x=1, y=1).response == {"seq": 3}
    assert len(ann.heard("game_event")) == 5


def test_the_lobby_tells_which_rooms_are_open(server, knock):
    raw = knock(server)
    joined = raw.ask("lobby", "phx_join", {})
    assert joined.status == "ok", joined
    raw.hear("rooms")
    room = server.open_room()["id"]
    while room not in [listed["id"] for listed in raw.hear("rooms_changed")[4]["rooms"]]:
        pass
