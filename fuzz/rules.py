"""Every registered game: its events, configs and stored states; whatever comes, a room stays playable."""

from contextlib import suppress
from functools import partial
from typing import Any

import msgspec

from fuzz.target import add
from parlour.errors import Refused, parse
from parlour.game import Game
from parlour.games import GAMES
from parlour.room import Instant, Room, apply, open_room, replay
from parlour.sanitize import strict
from parlour.server.rooms.stored_room import freeze, thaw
from parlour.wire import Act, Command, Connect, Join, Leave, Rematch, SendEvent, read_step

AT = Instant(now=1.0, date=1.0, seed=bytes(32))
read_send = msgspec.json.Decoder(SendEvent).decode


def step(game: Game[Any], room: Room[Any], command: Command) -> Room[Any]:
    """The room after a command; a refused one changes nothing, any other can be kept and played again."""
    try:
        after, taken = apply(game, room, command, AT)
    except Refused:
        return room
    assert replay(game, room, read_step(taken.body)) == after
    for viewer in (None, *after.players):
        msgspec.json.encode(game.view(after.state, viewer))
    return after


def seated(game: Game[Any]) -> Room[Any]:
    """A room with somebody on every seat."""
    room = open_room(game, "ABCD", None, AT)
    for number in range(len(room.seats)):
        for command in (Join(f"p{number}", "P"), Connect(f"p{number}")):
            room = step(game, room, command)
    return room


def play(game: Game[Any], data: bytes) -> None:
    """A line is a move of somebody; a few first bytes mean other commands."""
    room = seated(game)
    for number, line in enumerate(data.split(b"\n")[:20]):
        player = f"p{number % len(room.seats)}"
        if line == b"leave":
            room = step(game, room, Leave(player))
        elif line == b"rematch":
            room = step(game, room, Rematch(player))
        else:
            with suppress(Refused):
                event = parse(read_send, strict(b'{"event":' + line + b"}")).event
                room = step(game, room, Act(player, event))


def configure(game: Game[Any], data: bytes) -> None:
    """A config that is taken gives a room that can be stored and seen."""
    with suppress(Refused):
        config = parse(msgspec.json.Decoder(dict[str, Any]).decode, strict(data))
        room = open_room(game, "ABCD", config, AT)
        assert thaw(game, freeze(room)) == room
        msgspec.json.encode(game.view(room.state, None))


def wake(game: Game[Any], data: bytes) -> None:
    """A stored room that can be read at all can be written again."""
    with suppress(Refused):
        freeze(thaw(game, data))


def moves(game: Game[Any]) -> tuple[bytes, ...]:
    """A move of every kind, with small numbers in it, and a game of some of them."""
    kinds = {
        "tictactoe": [b'{"type":"mark","cell":%d}' % cell for cell in (0, 3, 1, 4, 2)],
        "minesweeper": [
            b'{"type":"%s","x":%d,"y":%d}' % (kind, x, x)
            for kind in (b"open", b"flag", b"chord")
            for x in (1, 5, 9)
        ],
        "stratego": [
            b'{"type":"ready"}',
            b'{"type":"swap","one":3,"other":33}',
            b'{"type":"form","formation":"wall"}',
            b'{"type":"arrange","pieces":"FBBBBBBM9887776666555544443333322222222S"}',
            b'{"type":"ready"}',
            b'{"type":"move","from":30,"to":40}',
            b'{"type":"move","from":60,"to":50}',
            b'{"type":"offer_draw"}',
            b'{"type":"decline_draw"}',
            b'{"type":"resign"}',
            b'{"type":"reset"}',
        ],
        "backgammon": [
            b'{"type":"%s"}' % kind
            for kind in (b"ready", b"ready", b"double", b"accept", b"roll", b"undo", b"end_turn", b"decline")
        ]
        + [
            b'{"type":"move","from":24,"to":18}',
            b'{"type":"move","from":25,"to":0}',
            b'{"type":"resign_game"}',
            b'{"type":"resign_match"}',
        ],
    }.get(game.name, [])
    return (*kinds, b"\n".join(kinds), b"\n".join([*kinds, b"rematch", b"rematch", b"leave"]), b"{}")


CONFIGS = (
    b"{}",
    b'{"preset":"custom","width":5,"height":9,"mines":3}',
    b'{"preset":"advanced"}',
    b'{"size":3}',
    b'{"variant":"tavli","match":"five_points","crawford":true,"opening_dice":true}',
    b'{"variant":"fevga","turn_seconds":5,"absence_seconds":30}',
    b'{"preset":"ogetarts","lakes":true,"setup":"arrange","turn_seconds":5}',
)

for name, game in GAMES.items():
    add(f"play_{name}", partial(play, game), *moves(game))
    add(f"config_{name}", partial(configure, game), *CONFIGS)
    add(
        f"stored_{name}", partial(wake, game), freeze(open_room(game, "ABCD", None, AT)), freeze(seated(game))
    )
