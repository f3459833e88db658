"""Makes pushes of the messages of a step."""

from collections.abc import Container, Iterator

from parlour.game import Send
from parlour.wire import Push, Step


def push_of(send: Send, seq: int) -> Push:
    """The push for a message of a game, whoever receives it."""
    match send.kind:
        case "chat":
            return Push("chat", {"seq": seq, **send.payload})
        case "shutdown":
            return Push("shutdown", send.payload)
        case _:
            return Push("game_event", {"seq": seq, "payload": send.payload})


def heard(step: Step, topics: Container[str]) -> Iterator[Push]:
    """The pushes of a past step to these topics, without whole views: one follows anyway."""
    for effect in step.effects:
        if isinstance(effect, Send) and effect.kind != "sync" and effect.to in topics:
            yield push_of(effect, step.seq)
