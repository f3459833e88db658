"""What a language model reads: a place in a room and the rules of a game, as text."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec

from parlour.game import Outcome
from parlour.offers import WORDS, Offers, What
from parlour.scene import with_names
from parlour.wire import Result

MOST_LEGAL = 100
"""Legal events that are told at most."""

encode = msgspec.json.Encoder().encode


class Place(Protocol):
    """A place in a room, as far as it is told: a seat of the client, or what the leak check compares."""

    room: str
    game: str
    number: int | None
    """Which seat it is; None for somebody who watches."""
    seq: int | None
    view: Any
    legal: list[Any] | None
    result: Result | None
    offers: Offers

    @property
    def offered(self) -> What | None:
        """What somebody else offers, while that waits for this player."""
        ...


class Observation(msgspec.Struct, frozen=True, omit_defaults=True):
    """All that is seen from one place in a room."""

    room: str
    game: str
    seat: int | None
    """None for somebody who watches."""
    seq: int
    text: str
    your_turn: bool | None
    """None where the game does not list what is legal: look at the text."""
    over: bool
    legal: list[Any] | None
    """The legal events, up to so many; None where the game does not list them."""
    legal_count: int = 0
    paused: bool = False
    offered: What | None = None
    """What somebody offers, while that waits for your answer."""


def observation_of(seat: Place, room: Mapping[str, Any]) -> Observation:
    """What is seen from a place, with the names that the *room* tells of its seats."""
    legal = seat.legal if seat.number is not None else []
    over, paused = seat.result is not None, seat.offers.paused is not None
    can_act = None if legal is None else bool(legal)
    return Observation(
        room=seat.room,
        game=seat.game,
        seat=seat.number,
        seq=seat.seq or 0,
        text=_told(seat, room["seats"], legal, paused=paused),
        your_turn=False if over or paused else can_act,
        over=over,
        legal=None if legal is None else legal[:MOST_LEGAL],
        legal_count=len(legal or ()),
        paused=paused,
        offered=seat.offered,
    )


def _told(
    seat: Place, seats: Sequence[Mapping[str, Any] | None], legal: list[Any] | None, *, paused: bool
) -> str:
    names = [None if one is None else one["name"] for one in seats]
    you = "you watch" if seat.number is None else f"you have seat {seat.number}"
    sitting = ", ".join(f"{number} {name or 'is free'}" for number, name in enumerate(names))
    lines = [f"room {seat.room}, {seat.game}, step {seat.seq}; {you}; seats: {sitting}"]
    lines.append(with_names(str(seat.view), names))
    if paused:
        lines.append("the game is paused; it goes on when everybody agrees to resume")
    if seat.offers.open is not None:
        lines.append(_offer(seat, seats))
    if seat.result is not None:
        lines.append(f"the game is over: {_ended(seat.result.outcome, seats)}")
    if legal:
        more = "" if len(legal) <= MOST_LEGAL else f", the first {MOST_LEGAL} of {len(legal)}"
        lines.append(f"legal events{more}:")
        lines += [encode(event).decode() for event in legal[:MOST_LEGAL]]
    return "\n".join(lines)


def _offer(seat: Place, seats: Sequence[Mapping[str, Any] | None]) -> str:
    """The open offer: whose, and who has to answer it."""
    offer = seat.offers.open
    assert offer is not None  # noqa: S101 - the caller looked
    by = next((one["name"] for one in seats if one is not None and one["id"] == offer.by), "somebody")
    told = f"{by} offers {WORDS[offer.what]}"
    return f"{told}: negotiate to accept or decline it; to act declines it" if seat.offered else told


def _ended(outcome: Outcome, seats: Sequence[Mapping[str, Any] | None]) -> str:
    """Who won, lost and drew, by their names."""
    names = {one["id"]: one["name"] for one in seats if one is not None}
    said = [
        f"{', '.join(names.get(player, 'somebody who has left') for player in players)} {did}"
        for did, players in (("won", outcome.won), ("lost", outcome.lost), ("drew", outcome.drew))
        if players
    ]
    return "; ".join((*said, outcome.why)) if outcome.why else "; ".join(said) or "nobody won"


def page_text(page: Mapping[str, Any]) -> str:
    """The rules page of a game as text; of its diagrams only what is written under them.

    >>> page_text({"title": "Nim", "blocks": [{"is": "paragraph", "runs": [{"text": "Take 1"}]}]})
    'Nim\\nTake 1'
    """
    return "\n".join((str(page["title"]), *(line for block in page["blocks"] for line in _lines(block))))


def _lines(block: Mapping[str, Any]) -> list[str]:
    match block["is"]:
        case "heading" | "paragraph":
            return [_words(block["runs"])]
        case "list":
            return [
                f"- {' '.join(line for inner in item for line in _lines(inner))}" for item in block["items"]
            ]
        case "table":
            return [" | ".join(map(_words, row)) for row in (block["head"], *block["rows"])]
        case "code":
            return [str(block["text"])]
        case _:
            return [str(block["caption"])] if block.get("caption") else []


def _words(runs: Sequence[Mapping[str, Any]]) -> str:
    return "".join(str(run["text"]) for run in runs)
