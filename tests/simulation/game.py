"""A game in which every move is legal, and can be told from all others."""

from typing import Any

from msgspec.structs import replace

from parlour.game import GAME, Event, Game, Joined, Later, Moment, Send, State, Timeouts, Update


class Words(State, frozen=True):
    """What was said, and how often somebody came and went."""

    said: tuple[str, ...] = ()
    changes: int = 0


class Say(Event, frozen=True):
    """Say a word; everybody hears it, or only oneself, or nobody: then it is only seen."""

    word: str
    to: str = "all"


class Remind(Event, frozen=True):
    """Have a word said after a while, by a timer."""

    word: str
    seconds: float


class Ring(Event, frozen=True):
    """A timer says its word."""

    word: str


class Saying(Game[Words]):
    """Up to four players say words, others listen."""

    name = "saying"
    display_name = "Saying"
    seats = range(1, 5)
    timeouts = Timeouts(game="server", away=None, nobody=None)
    State = Words
    Event = Say | Remind
    Timer = Ring

    def init(self, config: object, moment: Moment) -> Words:
        return Words()

    def join_game(self, state: Words, player: str, spectate: bool, moment: Moment) -> Joined[Words]:
        joined = super().join_game(state, player, spectate, moment)
        return Joined(("all",), joined.seat, joined.update)

    def player_connected(self, state: Words, player: str, moment: Moment) -> Update[Words]:
        return Update(replace(state, changes=state.changes + 1))

    def player_disconnected(self, state: Words, player: str, moment: Moment) -> Update[Words]:
        return Update(replace(state, changes=state.changes + 1), (Send("all", {"away": player}),))

    def handle_event(self, state: Words, sender: str, event: Any, moment: Moment) -> Update[Words]:
        if isinstance(event, Remind):
            return Update(replace(state, said=(*state.said, event.word)),
                          (Later(event.word, event.seconds, Ring(event.word)),))  # fmt: skip
        if sender == GAME:
            return Update(replace(state, changes=state.changes + 1), (Send("all", {"rang": event.word}),))
        told = {"all": ("all",), "me": (f"player:{sender}",)}.get(event.to, ())
        said = replace(state, said=(*state.said, event.word))
        return Update(said, tuple(Send(topic, {"said": event.word}) for topic in told))

    def to_move(self, state: Words) -> list[str]:
        """Everybody may say something at any time, so everybody's clock runs."""
        return [player for player in state.players if player is not None]

    def turn_id(self, state: Words) -> int:
        """Whoever is away when a word is said is told that it is their turn once more."""
        return len(state.said)

    def handle_flag(self, state: Words, player: str, moment: Moment) -> Update[Words]:
        return Update(replace(state, changes=state.changes + 1), (Send("all", {"out of time": player}),))

    def view(self, state: Words, viewer: str | None) -> Any:
        return {"said": len(state.said), "last": state.said[-1:], "changes": state.changes, "you": viewer}


class Pairs(Saying):
    """The same for two, who meet at the lobby."""

    name = "pairs"
    display_name = "Pairs"
    seats = range(2, 3)
