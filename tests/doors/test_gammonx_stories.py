"""What the golden conversations with the GammonX hub show: all of the document's words, as it spells them."""

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from tests.contracts.transcript import FOLDER

COMMANDS = {
    "JoinMatch",
    "StartGame",
    "Roll",
    "Move",
    "EndTurn",
    "ResignMatch",
    "ResignGame",
    "OfferDouble",
    "AcceptDouble",
    "DeclineDouble",
}
EVENTS = {
    "match-lobby-waiting",
    "match-lobby-found",
    "match-started",
    "match-ended",
    "game-waiting",
    "game-started",
    "game-state",
    "game-ended",
    "error",
    "force-disconnect",
    "double-offered",
    "double-accepted",
    "double-declined",
}
OF_GAME = {"game-started", "game-state", "double-offered", "double-accepted", "double-declined"}
OF_MATCH = {"match-started", "match-ended", "game-waiting", "game-ended"}
BOARD = {
    "fields",
    "bearOffCountWhite",
    "bearOffCountBlack",
    "pinnedFields",
    "homeBarCountWhite",
    "homeBarCountBlack",
    "doublingCubeValue",
    "doublingCubeOwner",
    "pipCountBlack",
    "pipCountWhite",
}
GAME = {
    "modus",
    "matchId",
    "id",
    "phase",
    "activeTurn",
    "turnNumber",
    "diceRolls",
    "moveSequences",
    "boardState",
    "allowedCommands",
}
MATCH = {
    "id",
    "groupName",
    "gameRound",
    "gameRounds",
    "variant",
    "modus",
    "type",
    "player1",
    "player2",
    "allowedCommands",
}
ROUND = {"gameRoundIndex", "modus", "phase", "winner", "score"}


def records(sign: str) -> Iterator[dict[str, Any]]:
    """All calls (``>``) or events (``<``) of all stories."""
    for story in sorted((FOLDER / "gammonx").glob("*.txt")):
        for line in story.read_text().splitlines():
            _, found, text = line.partition(f" {sign} ")
            if found and text.startswith("{") and not line.startswith(("#", "--")):
                record = json.loads(text.replace('"moveSequences":[...]', '"moveSequences":[]'))
                if record.get("type") == 1:
                    yield record


def payloads() -> dict[str, list[Any]]:
    """What was told, by the name of the event, which its one argument says once more."""
    told = defaultdict(list)
    for record in records("<"):
        assert set(record) == {"type", "target", "arguments"}
        (argument,) = record["arguments"]
        assert (set(argument), argument["type"]) == ({"type", "payload"}, record["target"])
        told[record["target"]].append(argument["payload"])
    return told


def test_every_command_and_every_event_of_the_document_is_in_a_story():
    assert {record["target"] for record in records(">")} >= COMMANDS
    assert set(payloads()) >= EVENTS


def test_every_payload_says_what_is_allowed_next():
    for name, told in payloads().items():
        for payload in told:
            assert isinstance(payload["allowedCommands"], list), name


def test_a_games_payload_has_the_documents_names_and_says_of_dice_whether_they_are_used():
    for name, told in payloads().items():
        for payload in told if name in OF_GAME else ():
            assert set(payload) == GAME
            assert set(payload["boardState"]) == BOARD
            assert len(payload["boardState"]["fields"]) == 24
            assert isinstance(payload["boardState"]["doublingCubeOwner"], bool)
            assert isinstance(payload["activeTurn"], str)
            assert len(payload["diceRolls"]) in (0, 2)
            assert all(set(die) == {"roll", "used"} for die in payload["diceRolls"])
            steps = [step for one in payload["moveSequences"] for step in one["moves"]]
            assert all(set(one) == {"moves"} for one in payload["moveSequences"])
            assert all(set(step) == {"from", "to"} for step in steps)


def test_a_matchs_payload_has_the_documents_names_and_the_later_ones_beside_them():
    for name, told in payloads().items():
        for payload in told if name in OF_MATCH else ():
            assert set(payload) == MATCH | {"winner", "loser"}
            for player in (payload["player1"], payload["player2"]):
                assert set(player) == {"id", "score", "points"}
                assert player["score"] == player["points"]
            for game in payload["gameRounds"]:
                assert set(game) == ROUND | {"points"}
                assert game["score"] == game["points"]


def test_an_error_has_a_code_and_a_message():
    for payload in payloads()["error"]:
        assert set(payload) == {"code", "message", "allowedCommands"}
        assert payload["code"].isupper()
        assert payload["message"]
