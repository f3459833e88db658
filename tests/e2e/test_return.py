"""Coming back after a lost connection, a crash or a restart: nothing is lost and nothing comes twice."""

import signal
from contextlib import closing

import pytest

from tests.e2e.clients import Silent

pytestmark = pytest.mark.e2e


def events(player):
    """The (seq, what happened) of everything a player was told of moves and chat, in order."""
    told = player.heard("game_event", "chat")
    return [
        (load["seq"], load["payload"]["cell"] if name == "game_event" else load["text"])
        for name, load in told
    ]


# One player's connection is lost.


def test_who_was_cut_off_returns_by_itself_and_misses_nothing(server, seat):
    ann, bob = seat(server, server.open_room()["id"], "Ann", "Bob")
    ann.mark(4)
    bob.see(5)
    bob.cut(back=False)
    ann.see(6)  # the server has noticed
    ann.chat("are you there?")
    ann.chat("hello?")
    bob.come_back()
    bob.wait_for("sync", count=2)
    assert events(bob) == events(ann) == [(5, 4), (7, "are you there?"), (8, "hello?")]
    bob.mark(0)
    ann.see(10)
    assert events(ann)[-1] == events(bob)[-1] == (10, 0)
    sync = bob.wait_for("sync", count=2)
    assert (sync["seq"], sync["view"]["cells"], "reset" in sync) == (9, "....X....", False)


def test_moves_that_were_missed_are_told_once_and_in_order(server, seat):
    ann, bob = seat(server, server.open_room()["id"], "Ann", "Bob")
    ann.mark(0)
    bob.mark(3)
    bob.cut(back=False)
    ann.see(7)
    ann.mark(1)
    ann.chat("your turn")
    bob.come_back()
    bob.wait_for("sync", count=2)
    bob.mark(4)
    ann.mark(2)
    bob.see(12)
    assert events(bob) == events(ann) == [(5, 0), (6, 3), (8, 1), (9, "your turn"), (11, 4), (12, 2)]
    assert bob.result == ann.result
    assert bob.result["outcome"]["won"] == [ann.id]


def test_a_connection_lost_again_and_again_costs_nothing(server, seat):
    ann, bob = seat(server, server.open_room()["id"], "Ann", "Bob")
    for round in range(5):
        bob.cut(back=True)
        ann.chat(f"round {round}")
        bob.wait_for("joined", count=round + 2)
        bob.chat(f"back in round {round}")
    ann.wait_for("chat", text="back in round 4")
    assert events(bob) == events(ann)
    assert len(events(ann)) == 10
    assert ann.seqs == list(range(3, ann.seqs[-1] + 1))


def test_a_spectator_who_was_cut_off_is_told_what_was_played_meanwhile(server, seat, enter):
    room = server.open_room()["id"]
    ann, bob = seat(server, room, "Ann", "Bob")
    eve = enter(server, "Eve")
    eve.join(room, spectate=True)
    eve.cut(back=False)
    eve.wait_for("close")
    ann.mark(0)
    bob.mark(1)
    eve.come_back()
    eve.wait_for("sync", count=2)
    assert events(eve) == events(ann) == [(5, 0), (6, 1)]


def test_who_was_away_for_more_than_a_hundred_steps_gets_the_whole_view_instead(server, seat):
    ann, bob = seat(server, server.open_room()["id"], "Ann", "Bob")
    bob.cut(back=False)
    ann.see(5)
    for number in [ann.push_soon("chat", {"text": str(count)}) for count in range(101)]:
        assert ann.answer(number).status == "ok"
    ann.mark(4)
    bob.come_back()
    sync = bob.wait_for("sync", count=2)
    assert (sync["reset"], sync["view"]["cells"]) == (True, "....X....")
    assert events(bob) == []


# The server is gone, and comes back.


def restart(server, *players):
    """Start it again; everybody comes back without being told to."""
    before = [len(player.heard("sync")) for player in players]
    server.start()
    for player, count in zip(players, before, strict=True):
        player.wait_for("sync", count=count + 1)


def test_after_kill_9_unmodified_clients_return_and_the_game_goes_on(serve, seat):
    server = serve()
    ann, bob = seat(server, server.open_room()["id"], "Ann", "Bob")
    ann.mark(0)
    bob.mark(3)
    ann.chat("now the lights go out")
    server.kill()
    restart(server, ann, bob)
    ann.mark(1)
    bob.mark(4)
    assert bob.see(ann.mark(2))["cells"] == ann.view["cells"] == "XXXOO...."
    assert [what for _, what in events(ann)] == [0, 3, "now the lights go out", 1, 4, 2]
    assert events(bob) == events(ann)
    assert ann.result == bob.result


def test_a_command_sent_again_after_kill_9_gets_the_same_answer(serve, seat):
    server = serve()
    ann, bob = seat(server, server.open_room()["id"], "Ann", "Bob")
    first = ann.play("mark", cell=4, id="my first move")
    assert first.response == {"seq": 5}
    server.kill()
    restart(server, ann, bob)
    assert ann.play("mark", cell=4, id="my first move") == first
    assert ann.play("mark", cell=5, id="my first move").code == "id_reused"
    assert ann.see(bob.mark(0))["cells"] == "O...X...."
    assert [what for _, what in events(bob)] == [4, 0]


def test_what_was_acknowledged_before_kill_9_is_there_and_the_rest_can_be_sent_again(serve, seat):
    server = serve()
    ann, bob = seat(server, server.open_room()["id"], "Ann", "Bob")
    sayings = [{"text": f"line {count}", "id": f"id {count}"} for count in range(60)]
    numbers = [ann.push_soon("chat", said) for said in sayings]
    acknowledged = [ann.answer(number) for number in numbers[:10]]
    server.kill()
    restart(server, ann, bob)
    again = [ann.push("chat", said) for said in sayings]
    assert [answer.status for answer in again] == ["ok"] * 60
    assert again[:10] == acknowledged
    for player in (ann, bob):
        player.wait_for("chat", text="line 59")
        assert sorted(what for _, what in events(player)) == sorted(said["text"] for said in sayings)
        assert [seq for seq, _ in events(player)] == sorted({seq for seq, _ in events(player)})


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "Ctrl-C"])
def test_a_clean_stop_sends_everybody_away_to_come_back_and_the_game_goes_on(serve, seat, how):
    server = serve()
    ann, bob = seat(server, server.open_room()["id"], "Ann", "Bob")
    ann.mark(0)
    bob.see(5)
    assert server.stop(how) == 0
    for player in (ann, bob):
        assert player.wait_for("close")["code"] == 1012
    restart(server, ann, bob)
    assert ann.see(bob.mark(4))["cells"] == bob.view["cells"] == "X...O...."
    assert [what for _, what in events(ann)] == [what for _, what in events(bob)] == [0, 4]


def test_a_client_that_does_not_answer_the_goodbye_does_not_hold_up_a_stop(serve):
    server = serve()
    with closing(Silent(server, server.guest("Bob").token, server.open_room()["id"])):
        assert server.stop() == 0


def test_many_restarts_lose_nothing(serve, seat):
    server = serve()
    ann, bob = seat(server, server.open_room()["id"], "Ann", "Bob")
    for number, cell in enumerate((0, 3, 1, 4, 2)):
        (ann, bob)[number % 2].mark(cell)
        server.kill() if number % 2 else server.stop()
        restart(server, ann, bob)
    for player in (ann, bob):
        assert [what for _, what in events(player)] == [0, 3, 1, 4, 2]
        assert player.result["outcome"]["won"] == [ann.id]
