"""The messages of a step, as pushes to those who hear them."""

from collections.abc import Container, Iterator

from parlour.game import Send
from parlour.wire import Push, Step


def push_of(send: Send, seq: int) -> Push:
    """The push of something that was said, whoever hears it."""
    match send.kind:
        case "chat":
            return Push("chat", {"seq": seq, **send.payload})
        case "shutdown":
            return Push("shutdown", send.payload)
        case _:
            return Push("game_event", {"seq": seq, "payload": send.payload})


def heard(step: Step, topics: Container[str]) -> Iterator[Push]:
    """The messages of a past step to these topics; whole views are left out, one follows anyway."""
    for effect in step.effects:
        if isinstance(effect, Send) and effect.kind != "sync" and effect.to in topics:
            yield push_of(effect, step.seq)
