"""The parsers by themselves. Each `except` is the list of what may come out of one."""

import json
from base64 import b64decode
from contextlib import suppress
from functools import cache
from typing import Any

import msgspec

from fuzz.target import target
from parlour.doors.gammonx.hub import GammonX
from parlour.doors.gammonx.joining import read_wish
from parlour.doors.ogetarts import Ogetarts, WithOgetarts
from parlour.doors.relay import numbered, plain, read_address
from parlour.errors import Refused, parse
from parlour.games import GAMES
from parlour.games.minesweeper import Field
from parlour.games.stratego import Stratego
from parlour.games.tictactoe import Board
from parlour.journal.base import UNREADABLE
from parlour.mcp.calls import read_call
from parlour.protocols.phoenix import Phoenix
from parlour.relay import Crowd, Envelope, Intent
from parlour.sanitize import MAX_DEPTH, MAX_INTEGER, clean_name, clean_text, strict
from parlour.server.gateway.upgrade import cookie_token, may_use_cookie
from parlour.server.tokens import Tokens
from parlour.sim import Table as SimTable
from parlour.sim import chance_of, line_of, play_to_end, record_of
from parlour.sim.records import read_line
from parlour.testing import Table
from parlour.wire import Exit, LookFirst, Step, read_step

JOIN = b'["1","1","game:ABCD","phx_join",{"since":4,"spectate":true}]'
HEARTBEAT = b'[null,"3","phoenix","heartbeat",{}]'
PUSHES = (
    b'["1","2","game:ABCD","game_event",{"event":{"type":"mark","cell":4},"id":"a"}]',
    b'["1","3","game:ABCD","chat",{"text":"hello \\u00e9","id":"b"}]',
    b'["1","4","game:ABCD","leave",{}]',
    b'["1","5","game:ABCD","rematch",{}]',
    b'["1","6","game:ABCD","claim",{}]',
    b'["1","7","game:ABCD","phx_leave",{}]',
    b'[null,null,"lobby","phx_join",{}]',
    b'[null,"8","lobby","queue",{"game":"tictactoe","clock":{"kind":"delay","seconds":60,"extra":5}}]',
)


def answer_all(phoenix: Phoenix, frame: str | bytes) -> None:
    """As the socket and the gateway do it; whatever is answered must be JSON of five items."""
    for request in phoenix.receive(frame):
        if isinstance(request.wish, Exit):
            phoenix.dismiss(request.room)
        elif len(frame) % 2:
            phoenix.refuse(request, Refused("no", "not now"))
        else:
            phoenix.accept(request, {"seq": 1})
    for said in phoenix.frames():
        assert len(msgspec.json.decode(said)) == 5


@target(JOIN, HEARTBEAT, *(JOIN + b"\n" + push for push in PUSHES), b"\n".join((JOIN, *PUSHES)))
def phoenix_text(data: bytes) -> None:
    """Several frames on one connection, a line each."""
    phoenix = Phoenix()
    with suppress(Refused, UnicodeDecodeError):  # both end the connection: 1003 and 1007
        for line in data.split(b"\n"):
            answer_all(phoenix, str(line, "utf-8"))


CLICKS = (
    b'["1","1","games:den","phx_join",{"user":"Ann"}]',
    b'["1","2","games:den","click",{"i":3,"j":0}]',
    b'["1","3","games:den","click",{"i":4,"j":0}]',
    b'["1","4","games:den","chat",{"message":"hello"}]',
    b'["1","5","games:den","reset",{}]',
    b'["1","6","games:den","phx_leave",{}]',
)


@cache
def dealt() -> dict[str, object]:
    """What Ann sees of a board that nobody has moved on."""
    game = Stratego()
    return game.view(Table(game, {"preset": "ogetarts"}).sit("ann", "bob").state, "ann")


@target(*CLICKS, b"\n".join(CLICKS), b"\n".join((JOIN, *PUSHES, *CLICKS)))
def ogetarts(data: bytes) -> None:
    """The same with the door in it; clicks are thought through on a board as it is dealt."""
    phoenix, view = WithOgetarts(), dealt()
    with suppress(Refused, UnicodeDecodeError):
        for line in data.split(b"\n"):
            for request in phoenix.receive(str(line, "utf-8")):
                answering = request.via or phoenix
                if isinstance(request.wish, Exit):
                    answering.dismiss(request.room)
                    continue
                try:
                    if isinstance(request.wish, LookFirst) and isinstance(answering, Ogetarts):
                        answering.decide(request, view)
                    answering.accept(request, {"seq": 1})
                except Refused as why:
                    answering.refuse(request, why)
            for frame in phoenix.frames():
                assert len(msgspec.json.decode(frame)) == 5


CALLS = (
    b'{"protocol":"json","version":1}',
    b'{"type":1,"target":"JoinMatch","arguments":["281ccec7-ea50-4ab1-be58-32669e11ee14","fdd907ca"]}',
    (
        b'{"type":1,"target":"JoinMatch","invocationId":"0","arguments":'
        b'["281ccec7-ea50-4ab1-be58-32669e11ee14","fdd907ca-794a-43f4-83e6-cadfabc57c45"]}'
    ),
    b'{"type":1,"target":"Move","arguments":["281ccec7-ea50-4ab1-be58-32669e11ee14",0,6],"invocationId":"1"}',
    b'{"type":1,"target":"Roll","arguments":["281ccec7-ea50-4ab1-be58-32669e11ee14"]}',
    b'{"type":4,"target":"Roll","arguments":[],"invocationId":"2"}',
    b'{"type":6}',
    b'{"type":7}',
)


@target(*CALLS, b"\x1e".join((*CALLS, b"")))
def gammonx(data: bytes) -> None:
    """Records of one connection to the hub; whatever is answered must be JSON records."""
    hub = GammonX(lambda: 0.0, lambda _, player: player)
    with suppress(Refused):  # ends the connection
        for number, part in enumerate(data.split(b"\n")):
            for request in hub.receive(part):
                if number % 2:
                    hub.refuse(request, Refused("no", "not now"))
                else:
                    hub.accept(request, {"seq": 1})
    for frame in hub.frames():
        assert frame.endswith(b"\x1e")
        msgspec.json.decode(frame[:-1])


@target(b'{"PlayerId":"fdd907ca-794a-43f4-83e6-cadfabc57c45","MatchVariant":2,"MatchModus":0,"MatchType":2}')
def gammonx_wish(data: bytes) -> None:
    """A wish for a match, over HTTP."""
    with suppress(Refused):
        assert read_wish(data).kind.wish.config


@target(
    b"\x00\x01\x01\x09\x0811game:ABCDphx_join{}",
    b"\x00\x00\x01\x09\x042game:ABCDchat\x01\x02\x03",
    b"\x00\x00\x00\x00\x00",
)
def phoenix_binary(data: bytes) -> None:
    phoenix = Phoenix()
    answer_all(phoenix, JOIN.decode())
    with suppress(Refused):
        answer_all(phoenix, data)


@target(b"vsn=2.0.0&token=a.b.c", b"vsn=2.0.0\nphoenix, base64url.bearer.phx.YS5iLmM", b"vsn=1.0.0")
def phoenix_greet(data: bytes) -> None:
    """A query, and subprotocols on the line after it."""
    query, _, offered = data.decode("latin-1").partition("\n")
    pairs = dict(part.partition("=")[::2] for part in query.split("&"))
    with suppress(Refused):
        greeting = Phoenix.greet(pairs, [name.strip() for name in offered.split(",")])
        assert greeting.subprotocol in (None, "phoenix")


@target(
    b"/g/red-table\nid=ann&lastnum=7", b"/g/caf%C3%A9\nid=%3C&id=x&lastnum=", b"/g//\nid=1.02", b"/g/\n%zz;"
)
def relay_knock(data: bytes) -> None:
    """Whoever is let in has a room and perhaps an id that can be written to everybody."""
    path, _, query = data.decode("ascii", "surrogateescape").partition("\n")
    with suppress(Refused):
        wanted = read_address(path, query)
        assert len(wanted.room.encode()) > 0 or not path
        assert wanted.last is None or wanted.last >= 0
        envelope = Envelope(0, 0, Intent.JOINER, wanted.id or "")
        crowd = Crowd((wanted.id or "", wanted.room))
        for copies in (numbered(envelope, crowd), plain(envelope, crowd)):
            assert msgspec.json.decode(copies.own)["Time"] == 0
            assert msgspec.json.decode(copies.rest)["Time"] == 0


@target(b'{"turn":0}', b"hello", b"NaN", b'"\\ud800"', b"[" * 40)
def relay_body(data: bytes) -> None:
    """Whatever is said, both generations can read the envelope."""
    envelope, crowd = Envelope(0, 0, Intent.PEER, "ann", data), Crowd(("ann",))
    assert b64decode(json.loads(numbered(envelope, crowd).rest)["Body"]) == data
    assert "Body" in json.loads(plain(envelope, crowd).rest)


@target(b'{"cell":4,"n":[1.5e3,9007199254740992,"\\"[["]}', b"[[[]]]", b'"a"', b'1e5 "\\"')
def strict_json(data: bytes) -> None:
    """What passes and is JSON can be read by every client, and be written again."""
    with suppress(Refused):
        value = parse(msgspec.json.decode, strict(data))
        assert sane(value), value
        msgspec.json.encode(value)


def sane(value: Any, depth: int = 0) -> bool:
    """Nothing that JavaScript could not hold."""
    match value:
        case dict():
            return depth < MAX_DEPTH and all(sane(inner, depth + 1) for inner in value.values())
        case list():
            return depth < MAX_DEPTH and all(sane(inner, depth + 1) for inner in value)
        case int() | float():
            return isinstance(value, float) or abs(value) <= MAX_INTEGER
        case _:
            return True


@target(b"Ann", "Zoe\u0308 \u674e\u96f7".encode(), b"  hello there, friend  ", "\U0001f642".encode())
def names_and_words(data: bytes) -> None:
    """What is clean is short, and stays as it is when it is cleaned again."""
    for clean, limit in ((clean_name, 40), (clean_text, 500)):
        with suppress(Refused):
            text = clean(data.decode("utf-8", "surrogateescape"))
            assert clean(text) == text
            assert 0 < len(text) <= limit
            assert text.encode()


TOKENS = Tokens(b"k" * 32)
GOOD = TOKENS.issue("ann").encode()


@target(b"theme=dark; parlour_token=" + GOOD, b'parlour_token="a\\"b"', b"parlour_token=x; parlour_token=y")
def cookies(data: bytes) -> None:
    """Nobody is somebody by a token that was not signed."""
    token = cookie_token(data.decode("latin-1"))
    if token is not None:
        with suppress(Refused):
            assert TOKENS.read(token) == "ann"


@target(
    b"http://localhost:8000\nlocalhost:8000", b"https://a.example\na.example", b"null\nlocalhost", b"://x\nx"
)
def origins(data: bytes) -> None:
    """An origin counts if it is listed, or if its host and port are ours to the letter."""
    origin, _, host = data.decode("latin-1").partition("\n")
    if may_use_cookie({"Origin": origin, "Host": host}.get, ("https://friend.example",)):
        assert origin == "https://friend.example" or origin.endswith("://" + host)


@target(
    b'{"seq":1,"now":0.5,"date":1.0,"rules":1,"command":{"do":"join","player":"ann","name":"Ann"},"before":""}',
    b'{"seq":2,"now":1.0,"date":2.0,"rules":1,"command":{"do":"act","player":"ann","event":{"type":"mark","cell":4}},'
    b'"before":"AAAA","id":"x","draws":[1,2],"effects":[{"type":"send","to":"all","payload":{"a":1},"kind":"game_event"},'
    b'{"type":"later","key":"t","seconds":1.0,"event":{}},{"type":"cancel","key":"t"},{"type":"end","after":0.0}],'
    b'"seed":"AAAA","spared":true}',
)  # fmt: skip
def journal_step(data: bytes) -> None:
    """A kept step that can be read can be written, and is the same when it is read again."""
    with suppress(*UNREADABLE):
        step: Step = read_step(data)
        assert read_step(step.body).body == step.body


@target(b"* # # / # # # / # # #", b"X 1 .\n1 1 .\n. F !", b"12345678")
def minesweeper_field(data: bytes) -> None:
    with suppress(ValueError):
        field = Field.parse(data.decode("latin-1"))
        assert Field.parse(str(field), field.mines) == field
        assert field.status in ("init", "play", "win", "lose")


@target(b"X . . / . O . / . . .", b"XOXOXOXO.", b"XXX\nOO.\n...")
def tictactoe_board(data: bytes) -> None:
    with suppress(ValueError):
        board = Board.parse(data.decode("latin-1"))
        assert Board.parse(str(board)) == board
        assert board.winner in (None, 0, 1)


def played(name: str, config: Any = None) -> bytes:
    """A game of random play as an exported line."""
    table = SimTable(GAMES[name], config)
    play_to_end(table, chance_of(1))
    return line_of(record_of(table), table.game, views=name == "tictactoe")


@target(
    played("tictactoe"),
    played("goofspiel", {"cards": 4}),
    played("minesweeper", {"preset": "custom", "width": 5, "height": 4, "mines": 3}),
)
def exported_line(data: bytes) -> None:
    """A line of a data file."""
    with suppress(Refused):
        read_line(data)


@target(
    b'{"tool":"act","room":"ABCD","event":{"type":"mark","cell":4},"seq":3}',
    b'{"tool":"wait_for_turn","room":"ABCD","seconds":2.5}',
    b'{"tool":"negotiate","room":"ABCD","do":"draw"}',
    b'{"tool":"open_room","game":"hex","config":{"size":5},"private":true}',
)
def tool_call(data: bytes) -> None:
    """What a language model asks for."""
    with suppress(Refused):
        parse(read_call, strict(data))
