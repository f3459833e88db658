"""Exported games: what a line says that a seat saw must be the same in every world that looks so to it."""

from contextlib import suppress
from typing import Any

import msgspec

from parlour.game import Chance, Game
from parlour.leakcheck.received import Difference, encode
from parlour.leakcheck.report import Leak
from parlour.sim.play import Unfinished, play_to_end
from parlour.sim.records import GameRecord, line_of, record_of, replay
from parlour.sim.table import Step, Table

_read = msgspec.json.Decoder(GameRecord).decode


def compare_exports(game: Game[Any], config: Any, chance: Chance, *, seed: int, steps: int) -> int:
    """Export a game of random play with its views, and compare them; gives how much was compared."""
    table = Table(game, config, seed=seed)
    with suppress(Unfinished):  # what there is then is enough
        play_to_end(table, chance, most=steps)
    exported = _read(line_of(record_of(table), game, views=True))
    lines = iter(exported.steps)
    compared = 0

    def look(table: Table, _: Step) -> None:
        nonlocal compared
        step = next(lines)
        for seat, view in enumerate(step.views):
            compared += _compare(table, step, seat, view, chance)

    replay(msgspec.structs.replace(exported, outcome=table.outcome), game, look)
    return compared


def _compare(table: Table, step: Step, seat: int, view: Any, chance: Chance) -> int:
    """Compare what a line says of one seat with a world that this seat cannot tell from the true one."""
    game, player = table.game, table.seats[seat]
    other = game.resample(table.state, player, chance)
    if player is None or other == table.state:
        return 0
    told = {"exported view": (view, game.view(other, player))}
    if seat == step.seat:
        told["exported legal events"] = (step.legal, list(game.legal_events(other, player) or ()))
    for part, (here, there) in told.items():
        one, two = _sorted(here), _sorted(there)
        if one != two:
            hidden = {"here": encode(table.state), "there": encode(other)}
            leak = Leak(Difference(part, one, two), hidden, resampled=0)
            leak.viewer, leak.seq = f"{player}, seat {seat},", len(table.steps)
            leak.command = encode(step.event)
            raise leak
    return len(told)


def _sorted(value: Any) -> bytes:
    """JSON whose keys have one order: a line that was read has lost the order in which they were written."""
    return msgspec.json.encode(msgspec.to_builtins(value), order="sorted")
