"""The rules of Hearts: who may do what, and when; what everybody is told, and what each may see."""

from typing import Annotated, Any

from msgspec import Meta
from msgspec.structs import replace

from parlour.errors import Code, Refused
from parlour.game import (
    Chance,
    Config,
    Effect,
    Event,
    Game,
    Joined,
    Moment,
    Outcome,
    Send,
    Timeouts,
    Update,
)
from parlour.games.hearts.cards import RANKS, SUITS, pack, points_of
from parlour.games.hearts.deal import PASSED, Position, Rules
from parlour.games.hearts.observation import observed
from parlour.games.hearts.picture import draw, draw_row
from parlour.games.hearts.worlds import reimagined
from parlour.scene import Control, Scene
from parlour.set_up import Label, Preset, SetUp

Card = Annotated[str, Meta(pattern=f"^[{RANKS}][{SUITS}]$")]


class HeartsConfig(Config, frozen=True):
    """How many play, and for how long."""

    players: Annotated[int, Meta(ge=3, le=5, description="people and bots at the table")] = 4
    points: Annotated[
        int, Meta(ge=0, le=500, description="the game ends when somebody has so many; 0: after one deal")
    ] = 50
    passing: Annotated[bool, Meta(description="three cards are passed on before a deal is played")] = True


SET_UP = SetUp(
    presets=(
        Preset("Three", {"players": 3}, "Seventeen cards each.", "Players"),
        Preset("Four", {}, "Thirteen cards each, as it is mostly played.", "Players"),
        Preset("Five", {"players": 5}, "Ten cards each.", "Players"),
        Preset("One deal", {"points": 0}, "Five minutes.", "Length"),
        Preset("To 50", {}, "Half an hour.", "Length"),
        Preset("To 100", {"points": 100}, "An evening's game.", "Length"),
    ),
    labels={
        "players": Label("Players", "Empty seats can be taken by bots.", "players", group="Players"),
        "points": Label("Ends at", "When somebody has so many. 0: after one deal.", "points", group="Length"),
        "passing": Label("Passing", "Three cards are passed on before each deal is played.", group="Rules"),
    },
)


class Choose(Event, frozen=True):
    """Choose one of my cards to be passed on, or put it back: ``QS`` is the queen of spades, ``TH`` a ten."""

    card: Card


class Pass(Event, frozen=True):
    """Pass on the three cards that I chose."""


class Play(Event, frozen=True):
    """Play a card to the trick."""

    card: Card


class Hearts(Game[Position]):
    """Take no hearts and not the queen of spades, or all of them; the fewest points win."""

    name = "hearts"
    display_name = "Hearts"
    first_move = "Click a card, and follow suit if you can: hearts and the queen of spades are bad."
    seats = range(3, 6)
    timeouts = Timeouts(game="server", away=None, nobody=None)
    preview_moves = 23  # cards are passed on, a trick is taken, and three cards of the next lie on the table
    lucky = True
    State = Position
    Event = Choose | Pass | Play
    Config = HeartsConfig
    set_up = SET_UP

    def seats_for(self, config: HeartsConfig) -> range:
        return range(config.players, config.players + 1)

    def init(self, config: HeartsConfig, moment: Moment) -> Position:
        return Position(rules=Rules(config.players, config.points, config.passing))

    def join_game(self, state: Position, player: str, spectate: bool, moment: Moment) -> Joined[Position]:  # noqa: FBT001
        """The first deal comes when every seat is taken; who sits down later takes over the hand there."""
        joined = super().join_game(state, player, spectate, moment)
        seated = joined.update.state
        if joined.seat is None or seated.phase != "waiting" or not seated.full:
            return joined
        return replace(joined, update=_dealt(seated, moment))

    def handle_event(self, state: Position, sender: str, event: Any, moment: Moment) -> Update[Position]:
        seat = moment.seats.index(sender)
        if state.phase == "over":
            raise Refused(Code.ILLEGAL_MOVE, "the game is over")
        if None in moment.seats:
            raise Refused(Code.NOT_YOUR_TURN, "the game goes on when every seat is taken")
        if isinstance(event, Choose):
            return Update(state.with_chosen(seat, event.card))
        if isinstance(event, Pass):
            return _passed(state, seat)
        return _played(state, seat, event.card, moment)

    def legal_events(self, state: Position, player: str | None) -> list[Choose | Pass | Play]:
        seat = state.seat(player)
        if seat is None or seat not in state.to_act or not state.full:
            return []
        if state.phase == "playing":
            return [Play(card) for card in state.playable(seat)]
        if len(state.chosen[seat]) == PASSED:
            return [Pass()]
        return [Choose(card) for card in state.hands[seat] if card not in state.chosen[seat]]

    def turn_id(self, state: Position) -> object:
        """Each card has its time, also when whoever takes a trick plays twice in a row."""
        return state.number, state.phase, sum(len(trick.cards) for trick in state.tricks)

    def view(self, state: Position, viewer: str | None) -> dict[str, object]:
        """Everything but the hands of others and what they pass on."""
        seat = state.seat(viewer)
        is_on = seat is not None and bool(state.hands)
        return {
            "phase": state.phase,
            "players": state.rules.players,
            "ends_at": state.rules.points,
            "you": seat,
            "deal": state.number,
            "turn": state.turn,
            "hand": state.hands[seat] if is_on and seat is not None else (),
            "counts": tuple(len(hand) for hand in state.hands),
            "pass_by": state.pass_by,
            "ready": state.ready,
            "chosen": state.chosen[seat] if is_on and seat is not None else (),
            "received": state.gave[state.giver(seat)] if is_on and seat is not None and state.pass_by else (),
            "tricks": state.tricks,
            "before": state.before,
            "points": state.points,
            "deals": state.deals,
            "totals": state.totals,
            "winners": state.winners if state.phase == "over" else (),
        }

    def observe(self, state: Position, viewer: str | None) -> dict[str, tuple[float, ...]]:
        return observed(state, state.seat(viewer))

    def actions(self, config: HeartsConfig) -> list[Choose | Pass | Play]:
        """Every card can be chosen to be passed on, and played."""
        cards = pack(config.players)
        plays = [Play(card) for card in cards]
        return [*(Choose(card) for card in cards), Pass(), *plays] if config.passing else [*plays]

    def scene(self, state: Position, viewer: str | None) -> Scene:
        seat = state.seat(viewer)
        drawn = draw(state, seat, {} if seat is None or not state.full else _clicks(state, seat))
        passes = Control("pass", f"Pass on to {{{state.receiver(seat or 0)}}}", Pass(), main=True)
        return replace(drawn, controls=(passes,) if Pass() in self.legal_events(state, viewer) else ())

    def diagram(self, text: str) -> Scene:
        return draw_row(text)

    def outcome(self, state: Position) -> Outcome | None:
        if state.phase != "over":
            return None
        least = min(state.totals)
        best = tuple(state.player(seat) or "" for seat in state.winners)
        lost = tuple(
            state.player(seat) or "" for seat in range(state.rules.players) if seat not in state.winners
        )
        if len(best) > 1:
            return Outcome(drew=best, lost=lost, why=f"as few points: {least}")
        return Outcome(won=best, lost=lost, why=f"the fewest points: {least}")

    def match_score(self, state: Position) -> tuple[int, ...]:
        return state.totals

    def resample(self, state: Position, viewer: str | None, chance: Chance) -> Position:
        """Other hands for everybody else, and other cards that they passed on."""
        return reimagined(state, state.seat(viewer), chance)


def _clicks(state: Position, seat: int) -> dict[str, Choose | Play]:
    """What a click on each card of a hand does."""
    if seat not in state.to_act:
        return {}
    if state.phase == "playing":
        return {card: Play(card) for card in state.playable(seat)}
    own = state.chosen[seat]
    return {card: Choose(card) for card in state.hands[seat] if card in own or len(own) < PASSED}


def _tell(type: str, **said: object) -> Send:
    return Send("all", {"type": type, **said})


def _dealt(state: Position, moment: Moment) -> Update[Position]:
    after = state.dealt(moment.chance)
    return Update(after, (_tell("dealt", deal=after.number, pass_by=after.pass_by),))


def _passed(state: Position, seat: int) -> Update[Position]:
    after = state.with_passed(seat)
    effects: list[Effect] = [_tell("passed", seat=seat)]
    if after.phase == "playing":
        effects.append(_tell("exchanged", leader=after.turn))
    return Update(after, tuple(effects))


def _played(state: Position, seat: int, card: str, moment: Moment) -> Update[Position]:
    """A card, and all that follows: the trick, the deal, the next deal."""
    after = state.with_card(seat, card)
    effects: list[Effect] = [_tell("played", seat=seat, card=card)]
    if after.trick is None:
        full = after.tricks[-1]
        winner = full.winner(state.rules.players)
        effects.append(_tell("trick", winner=winner, points=points_of(full.cards)))
    if len(after.deals) > len(state.deals):
        effects.append(_tell("counted", points=after.deals[-1], totals=after.totals))
        if after.phase != "over":
            update = _dealt(after, moment)
            return Update(update.state, (*effects, *update.effects))
    return Update(after, tuple(effects))
