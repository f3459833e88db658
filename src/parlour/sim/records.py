"""Whole games as lines of JSON, which play again to the same bytes."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from parlour.errors import Code, Refused, parse
from parlour.game import Game, Outcome
from parlour.games import GAMES
from parlour.sim.table import Step, Table, encode

FORMAT: Literal[1] = 1


class Seated(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Who sat in a seat; people are numbers."""

    id: str
    bot: str = ""
    """What the bot is called, if it was one."""


class GameRecord(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A game from its first step to its outcome."""

    format: Literal[1]
    game: str
    rules: int
    """The version of the rules."""
    config: Any
    players: tuple[Seated | None, ...]
    """By seat."""
    steps: tuple[Step, ...]
    outcome: Outcome | None = None
    """None: it came to no end."""
    draws: tuple[int, ...] = ()
    """What was drawn to set it up."""
    state: Any = None
    """The position that it began with, where that was not a new one."""


class Replayed(NamedTuple):
    """A record, and the table after it was played again."""

    record: GameRecord
    table: Table


def record_of(table: Table, bots: Mapping[str, str] | None = None, state: Any = None) -> GameRecord:
    """What happened at a table; *bots* says by player which of them are bots."""
    called = bots or {}
    return GameRecord(
        FORMAT,
        table.game.name,
        table.game.version if table.rules is None else table.rules,
        msgspec.to_builtins(table.config),
        tuple(None if name is None else Seated(name, called.get(name, "")) for name in table.seats),
        tuple(table.steps),
        table.outcome,
        table.opening,
        state,
    )


def line_of(record: GameRecord, game: Game[Any], *, views: bool = False) -> bytes:
    """The record as a line; with *views* each step has what every seat saw before it, and could do."""
    return encode(with_views(record, game) if views else record) + b"\n"


def with_views(record: GameRecord, game: Game[Any]) -> GameRecord:
    """The record with what every seat saw before each step of a player, and what that player could do."""
    steps: list[Step] = []

    def look(table: Table, step: Step) -> None:
        if step.seat is None or step.does != "act":
            steps.append(replace(step, views=(), legal=()))
            return
        views = tuple(msgspec.to_builtins(game.view(table.state, player)) for player in table.seats)
        steps.append(replace(step, views=views, legal=tuple(table.legal(table.seats[step.seat] or ""))))

    replay(record, game, look)
    return replace(record, steps=tuple(steps))


def replay(record: GameRecord, game: Game[Any], look: Callable[[Table, Step], None] | None = None) -> Table:
    """Play a record again, with a look before each step; refused where today's rules play it differently."""
    table = Table.scripted(game, record.config, record.draws, record.rules)
    if record.state is not None:
        state = parse(lambda plain: msgspec.convert(plain, game.State), record.state, under="$.state")
        table.resume(state, [None if seated is None else seated.id for seated in record.players])
    names = {seat: seated.id for seat, seated in enumerate(record.players) if seated is not None}
    for number, step in enumerate(record.steps):
        if look is not None:
            look(table, step)
        try:
            repeat(table, step, names)
        except Refused as why:
            raise Refused(why.code, f"$.steps[{number}]: {why.message}", path=f"$.steps[{number}]") from None
    if not _same(table.outcome, record.outcome):
        told = f"$.outcome: expected {_told(table.outcome)} by the rules, got {_told(record.outcome)}"
        raise Refused(Code.RULES_CHANGED, told, path="$.outcome")
    return table


def repeat(table: Table, step: Step, names: Mapping[int, str]) -> None:  # noqa: C901 - a table
    """Let a step happen again; *names* is who sits, or will sit, where."""
    table.now = step.at
    table.script = list(step.draws)
    name = "" if step.seat is None else names.get(step.seat, "")
    match step.does:
        case "join":
            if (seat := table.join(name)) != step.seat:
                raise Refused(Code.RULES_CHANGED, f"expected seat {step.seat} by the rules, got {seat}")
        case "connect":
            table.connect(name)
        case "disconnect":
            table.disconnect(name)
        case "leave":
            table.leave(name, step.why)
        case "verdict":
            table.decide(step.verdict or Outcome())
        case "act" if step.seat is None:
            table.play_timer(step.event)
        case "act":
            table.act(name, step.event)
    if table.script:
        raise Refused(Code.RULES_CHANGED, f"expected no more draws, got {table.script}")


def _same(now: Outcome | None, then: Outcome | None) -> bool:
    """Whether it came out as it was kept; games of before may have kept no points."""
    if now is not None and then is not None and not then.points:
        now = replace(now, points={})
    return now == then


def _told(outcome: Outcome | None) -> str:
    return "none" if outcome is None else encode(outcome).decode()


_decode = msgspec.json.Decoder(GameRecord).decode


def read(
    path: str | Path,
    games: Mapping[str, Game[Any]] = GAMES,
    trouble: Callable[[Refused], None] | None = None,
) -> Iterator[Replayed]:
    """The games of a file, each played again; a line that is broken, or plays differently, is refused.

    With *trouble* the refusal is handed to it, and the next line is read.
    """
    with Path(path).open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                yield read_line(line, games)
            except Refused as why:
                told = Refused(why.code, f"{path}, line {number}: {why.message}", path=why.path)
                if trouble is None:
                    raise told from None
                trouble(told)


def read_line(line: bytes, games: Mapping[str, Game[Any]] = GAMES) -> Replayed:
    """The game of one line, played again; `Refused` if it is broken or plays differently."""
    record = parse(_decode, line)
    game = games.get(record.game)
    if game is None:
        why = f"$.game: expected one of {', '.join(games)}, got {record.game[:64]}"
        raise Refused(Code.UNKNOWN_GAME, why, path="$.game")
    try:
        table = replay(record, game)
        if any(step.views for step in record.steps):
            _check_views(record, game)
    except Refused:
        raise
    except Exception as error:  # noqa: BLE001 - what rules do with a forged line, they may not have thought of
        raise Refused(
            Code.RULES_CHANGED, f"the rules failed on it: {type(error).__name__}: {error}"
        ) from None
    return Replayed(record, table)


def _check_views(record: GameRecord, game: Game[Any]) -> None:
    for number, (kept, seen) in enumerate(zip(record.steps, with_views(record, game).steps, strict=True)):
        if encode(kept) != encode(seen):
            path = f"$.steps[{number}]"
            raise Refused(
                Code.RULES_CHANGED, f"{path}: expected the views of today's rules, got others", path=path
            )
