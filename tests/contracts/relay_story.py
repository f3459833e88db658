"""Golden conversations with relays, through real sockets.

``ann > text`` is what Ann's client sends and ``ann < text`` what it gets; ``ann > (61440 x)`` sends that many
of the letter, ``ann > (hex ff00)`` those bytes, as text. Besides:

    -- connect ann /g/table?id=ann    Ann opens a socket; without an id, with the cookie of her browser
    -- window ann2 ann /g/table       another window of Ann's browser
    -- abroad eve ann /g/table        Ann's browser shows a page of Eve's, which opens a socket
    -- crowd 50 /g/table              so many people come
    -- drop ann                       the line breaks
    -- close ann                      Ann says goodbye
    -- deafen ann                     Ann reads no more
    -- wait 5                         so many seconds pass
"""

import json

from tests.server.relaying import Exchange, shortened


async def tell(story: str) -> str:
    """The story with what the server says today."""
    exchange = Exchange(max_outbox=400_000)
    told: list[str] = []
    for line in story.splitlines():
        if " < " in line and not line.startswith(("#", "--")):
            continue
        told.append(line)
        if line.startswith("-- "):
            await _direct(exchange, *line.removeprefix("-- ").split(" "))
        elif " > " in line and not line.startswith("#"):
            who, text = line.split(" > ", 1)
            await _send(exchange, who, text)
        told += [f"{who} < {shortened(message)}" for who, message in exchange.took()]
    return "\n".join(told) + "\n"


async def _direct(exchange: Exchange, verb: str, *words: str) -> None:
    match verb, *words:
        case "connect", who, path:
            await exchange.connect(who, path)
        case "window", who, browser, path:
            await exchange.connect(who, path, browser)
        case "abroad", who, browser, path:
            await exchange.connect(who, path, browser, Origin="http://evil.example")
        case "crowd", count, path:
            for number in range(int(count)):
                await exchange.connect(f"p{number}", f"{path}?id=p{number}")
            exchange.took()
        case "drop", who:
            await exchange.drop(who)
        case "close", who:
            await exchange.close(who)
        case "deafen", who:
            exchange.wires[who].reads = False
        case "wait", seconds:
            await exchange.wait(float(seconds))
        case _:
            raise ValueError(f"expected a direction, got {verb}")


async def _send(exchange: Exchange, who: str, text: str) -> None:
    match text.strip("()").split(" ") if text.startswith("(") else []:
        case ["hex", digits]:
            await exchange.send(who, bytes.fromhex(digits), text=True)
        case [count, letter]:
            await exchange.send(who, letter * int(count))
        case _:
            await exchange.send(who, text)


def loosely(story: str) -> list[object]:
    """A story as its clients understand it: From and To are sets."""
    return [_loose(line) for line in story.splitlines()]


def _loose(line: str) -> object:
    who, got, text = line.partition(" < {")
    if not got:
        return line
    envelope = json.loads("{" + text)
    return who, {**envelope, "From": set(envelope["From"]), "To": set(envelope["To"])}
