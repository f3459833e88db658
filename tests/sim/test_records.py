"""Games as data: each line plays again to the same bytes, nobody is named, and what is broken is refused."""

import json

import msgspec
import pytest
from typer.testing import CliRunner

from parlour import Event, Game, Outcome, Refused, State, Update
from parlour.cli import app
from parlour.games import GAMES
from parlour.games.tictactoe import Mark
from parlour.offers import Answer, Offer, Resign
from parlour.sim import Table, chance_of, line_of, play_to_end, read, record_of, replay
from parlour.sim.room_records import NoRecord, numbered, records_of
from parlour.sim.table import encode
from parlour.testing import Table as RoomTable
from parlour.testing import Wanderer, full_table
from parlour.wire import Join, Rematch
from tests.samples import SMALL

NOUGHTS = GAMES["tictactoe"]


def played(name, seed=1):
    table = Table(GAMES[name], SMALL.get(name), seed=seed)
    play_to_end(table, chance_of(seed))
    return table


def written(tmp_path, *lines):
    path = tmp_path / "games.jsonl"
    path.write_bytes(b"".join(lines))
    return path


@pytest.mark.parametrize("views", [False, True])
@pytest.mark.parametrize("name", GAMES)
def test_a_line_plays_again_to_the_same_bytes(tmp_path, name, views):
    table = played(name)
    line = line_of(record_of(table), GAMES[name], views=views)
    [again] = read(written(tmp_path, line))
    assert again.table.state == table.state
    assert encode(again.record) + b"\n" == line
    assert line_of(record_of(again.table), GAMES[name], views=views) == line


def test_with_views_each_move_has_what_every_seat_saw_and_no_more():
    record = json.loads(line_of(record_of(played("stratego")), GAMES["stratego"], views=True))
    move = next(step for step in record["steps"] if step.get("event", {}).get("type") == "move")
    assert move["event"] in move["legal"]
    mine, theirs = move["views"]
    assert mine != theirs
    assert any("b?" in row for row in mine["board"]), "neither sees all ranks before the end"
    assert any("r?" in row for row in theirs["board"])


LINE = line_of(record_of(played("tictactoe")), NOUGHTS)
RECORD = json.loads(LINE)
ACT = next(number for number, step in enumerate(RECORD["steps"]) if "event" in step)


def with_step(**changes):
    steps = [*RECORD["steps"]]
    steps[ACT] = {**steps[ACT], **changes}
    return json.dumps({**RECORD, "steps": steps}).encode() + b"\n"


@pytest.mark.parametrize(
    ("line", "code", "sentence"),
    [
        (b"{\n", "malformed", "line 2: expected JSON, got something else"),
        (b"\xff\n", "malformed", "line 2: expected"),
        (b"\n", "malformed", "line 2: expected JSON"),
        (LINE.replace(b'"format":1', b'"format":2'), "malformed", "line 2: $.format: "),
        (LINE.replace(b'"game":"tictactoe"', b'"game":"chess"'), "unknown_game", "$.game: expected one of"),
        (LINE.replace(b'"config":{}', b'"config":{"size":4}'), "invalid_config", "$.config"),
        (with_step(seat=1), "not_your_turn", f"$.steps[{ACT}]: it is X's turn"),
        (with_step(seat=7), "not_seated", f"$.steps[{ACT}]: expected one of 1, 2"),
        (with_step(event={"type": "mark", "cell": 9}), "malformed", f"$.steps[{ACT}]: $.cell: expected"),
        (with_step(draws=[3]), "rules_changed", f"$.steps[{ACT}]: expected no more draws, got [3]"),
        (json.dumps({**RECORD, "outcome": {"won": ["2"]}}).encode(), "rules_changed", "$.outcome: expected"),
        (with_step(views=["?"]), "rules_changed", "expected the views of today's rules, got others"),
    ],
)
def test_a_broken_line_is_refused_with_its_number_and_the_others_are_read(tmp_path, line, code, sentence):
    path, troubles = written(tmp_path, LINE, line.rstrip() + b"\n", LINE), list[Refused]()
    assert len(list(read(path, trouble=troubles.append))) == 2
    [why] = troubles
    assert why.code == code
    assert sentence in why.message
    with pytest.raises(Refused):
        list(read(path))


def test_a_line_of_a_time_when_outcomes_had_no_points_plays_again(tmp_path):
    record = json.loads(line_of(record_of(played("backgammon")), GAMES["backgammon"]))
    points = record["outcome"].pop("points")
    assert sum(points.values()) == 0
    [again] = read(written(tmp_path, encode(record) + b"\n"))
    assert again.table.outcome is not None
    assert again.table.outcome.points == points
    record["outcome"]["points"] = {"1": 9.0, "2": -9.0}
    with pytest.raises(Refused, match="outcome: expected"):
        list(read(written(tmp_path, encode(record) + b"\n")))


def test_a_state_that_no_game_could_have_is_refused_and_raises_nothing_else(tmp_path):
    line = json.dumps({**RECORD, "state": {"cells": "?"}}).encode()
    with pytest.raises(Refused):
        list(read(written(tmp_path, line)))


# From rooms.


def exported(table):
    bot = {"bot:casual": "casual"}
    return list(
        records_of(table.game, table.opening, table.steps, numbered(), lambda player: bot.get(player, ""))
    )


@pytest.mark.parametrize("name", GAMES)
def test_a_game_in_a_room_becomes_a_record_that_names_nobody(name):
    table = full_table(GAMES[name], SMALL.get(name), luck=3)
    play_to_end(table, chance_of(3))
    [record] = exported(table)
    assert replay(record, GAMES[name]).outcome == record.outcome
    text = encode(record)
    assert b"ann" not in text.lower()
    assert b"bob" not in text.lower()
    assert len(record.steps) == len(table.steps)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", GAMES)
def test_whatever_happens_in_a_room_its_finished_games_are_records_or_say_why_not(name, seed):
    table = full_table(GAMES[name], SMALL.get(name), luck=seed)
    Wanderer(table, chance_of(seed)).go(150)
    for record in exported(table):
        if not isinstance(record, NoRecord):
            assert replay(record, table.game).outcome == record.outcome


def test_a_running_game_is_left_out():
    table = RoomTable(NOUGHTS).sit("ann", "bob")
    table.act("ann", Mark(4))
    assert exported(table) == []


def test_a_resignation_is_the_verdict_of_a_record():
    table = RoomTable(NOUGHTS).sit("ann", "bob")
    table.act("ann", Mark(4))
    table.do(Resign("ann"))
    [record] = exported(table)
    assert record.outcome.lost == ("1",)
    assert record.steps[-1].does == "verdict"


def test_moves_that_were_taken_back_are_not_in_a_record():
    table = RoomTable(NOUGHTS).sit("ann", "bob")
    table.act("ann", Mark(4))
    table.act("bob", Mark(0))
    table.do(Offer("ann", "takeback"))
    table.do(Answer("bob", "takeback", accept=True))
    play_to_end(table, chance_of(2))
    [record] = exported(table)
    acts = [step for step in record.steps if step.does == "act"]
    assert len(acts) == sum(mark != "." for mark in table.state.cells)


def test_a_rematch_is_a_record_of_its_own_and_players_keep_their_numbers():
    table = RoomTable(NOUGHTS).sit("ann", "bob")
    play_to_end(table, chance_of(1))
    for player in ("ann", "bob"):
        table.do(Rematch(player))
    play_to_end(table, chance_of(2))
    first, second = exported(table)
    assert [seated.id for seated in first.players] == ["1", "2"]
    assert [seated.id for seated in second.players] == ["2", "1"]


def test_a_game_that_begins_anew_by_itself_is_a_record_that_begins_with_its_position():
    table = full_table(GAMES["minesweeper"], SMALL["minesweeper"])
    play_to_end(table, chance_of(1))
    table.act("ann", {"type": "restart"})
    play_to_end(table, chance_of(2))
    first, second = exported(table)
    assert first.state is None
    assert second.state["players"] == ["1"]
    assert replay(second, table.game).outcome == second.outcome


class Said(State, frozen=True):
    text: str = ""


class Say(Event, frozen=True):
    text: str


class Chatter(Game[Said]):
    """Whoever says something has won."""

    name = "chatter"
    display_name = "Chatter"
    seats = range(1, 2)
    State = Said
    Event = Say

    def init(self, config, moment):
        return Said()

    def handle_event(self, state, sender, event, moment):
        return Update(msgspec.structs.replace(state, text=event.text))

    def outcome(self, state):
        return Outcome(won=state.players) if state.text else None


def test_a_game_in_which_an_id_is_left_within_a_text_is_no_record():
    for text, is_record in (("ann", True), ("good morning", True), ("ann is here", False)):
        table = RoomTable(Chatter()).sit("ann")
        table.act("ann", Say(text))
        [record] = exported(table)
        assert isinstance(record, NoRecord) is not is_record
        assert is_record or str(record) == "it has the id of a player within a text"


def test_bots_are_named_in_a_record():
    table = RoomTable(NOUGHTS).sit("ann")
    table.do(Join("bot:casual", "Casual bot", bot=True))
    play_to_end(table, chance_of(1))
    [record] = exported(table)
    assert [seated.bot for seated in record.players] == ["", "casual"]


# By the command line.


def test_simulated_games_are_written_and_read(tmp_path):
    path = tmp_path / "games.jsonl"
    options = ["--games", "12", "--jobs", "1", "--out", str(path)]
    assert CliRunner().invoke(app, ["simulate", "tictactoe", *options]).exit_code == 0
    games = list(read(path))
    assert len(games) == 12
    assert {seated.bot for game in games for seated in game.record.players if seated} == {
        "random",
        "casual",
        "perfect",
    }


def test_a_place_where_nothing_can_be_written_is_told_by_a_sentence(tmp_path):
    out = str(tmp_path / "no" / "games.jsonl")
    said = CliRunner().invoke(app, ["simulate", "tictactoe", "--jobs", "1", "--out", out])
    assert said.exit_code == 1
    assert "cannot write" in said.stderr


def test_the_finished_games_of_a_server_are_exported_without_names_and_running_ones_are_not(folder, tmp_path):
    out = tmp_path / "games.jsonl"
    said = CliRunner().invoke(app, ["export", str(out), "--data", str(folder)])
    assert "games are written to" in said.stderr
    assert "are being played; what goes on there is left out" in said.stderr
    games = list(read(out))
    assert games
    seen = msgspec.json.decode((folder / "seen.json").read_bytes())
    people = {seat["id"] for room in seen["rooms"].values() for seat in room["seats"] if seat}
    assert not [person for person in people if person.encode() in out.read_bytes()]


def test_a_room_that_is_being_played_is_refused(folder, tmp_path):
    seen = msgspec.json.decode((folder / "seen.json").read_bytes())
    room = next(id for id, room in seen["rooms"].items() if room["status"] == "playing")
    said = CliRunner().invoke(app, ["export", str(tmp_path / "o"), "--data", str(folder), "--room", room])
    assert said.exit_code == 1
    assert f"expected a room whose game is over, but {room} is being played" in said.stderr


def test_a_folder_without_a_journal_is_refused(tmp_path):
    said = CliRunner().invoke(app, ["export", str(tmp_path / "o"), "--data", str(tmp_path)])
    assert said.exit_code == 1
    assert "there is no journal in" in said.stderr
