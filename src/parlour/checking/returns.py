"""A game whose callbacks are looked at as they return: what came, and what was expected instead."""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import msgspec

from parlour.checking.findings import Finding
from parlour.game import CALLBACKS, Cancel, End, Game, Joined, Later, Outcome, Send, Update
from parlour.scene import Scene

Look = Callable[[Game[Any], str, Any], None]


def watched(game: Game[Any]) -> Game[Any]:
    """The same game; a callback of its own that returns something else than it should raises a `Finding`."""
    kind = type(game)
    own = {
        name: _watched(getattr(kind, name), name)
        for name in CALLBACKS
        if name in RETURNS and getattr(kind, name) is not getattr(Game, name)
    }
    other: Game[Any] = object.__new__(type(kind.__name__, (kind,), {**own, "__module__": kind.__module__}))
    other.__dict__.update(game.__dict__)
    return other


def _watched(callback: Callable[..., Any], name: str) -> Callable[..., Any]:
    @wraps(callback)
    def call(self: Game[Any], *arguments: Any) -> Any:
        result = callback(self, *arguments)
        if name == "legal_events" and result is not None and not isinstance(result, list | tuple):
            result = list(result) if isinstance(result, Iterable) else result
        RETURNS[name](self, name, result)
        return result

    return call


def _wrong(name: str, expected: str, got: Any) -> Finding:
    kind = type(got).__name__
    what = "nothing" if got is None else f"{'an' if kind[0] in 'AEIOUaeiou' else 'a'} {kind}"
    return Finding(f"{name} returned {what} where {expected} is expected", name)


def _state(game: Game[Any], name: str, result: Any) -> None:
    if not isinstance(result, game.State):
        raise _wrong(name, f"a {game.State.__name__}", result)


def _update(game: Game[Any], name: str, result: Any) -> None:
    if not isinstance(result, Update):
        hint = ": write Update(state)" if isinstance(result, game.State) else ""
        raise Finding(f"{_wrong(name, 'an Update', result).sentence}{hint}", name)
    if not isinstance(result.state, game.State):
        raise _wrong(name, f"an Update with a {game.State.__name__}", result.state)
    effects: Any = result.effects
    if not isinstance(effects, tuple):
        kind = type(effects).__name__
        raise Finding(
            f"{name} returned effects that are a {kind}; expected a tuple, as in (Send(...),)", name
        )
    for effect in effects:
        if not isinstance(effect, Send | Later | Cancel | End):
            raise _wrong(name, "a Send, Later, Cancel or End among the effects", effect)


def _joined(game: Game[Any], name: str, result: Any) -> None:
    if not isinstance(result, Joined):
        raise _wrong(name, "a Joined", result)
    _update(game, name, result.update)


def _view(_: Game[Any], name: str, result: Any) -> None:
    try:
        msgspec.json.encode(result)
    except (TypeError, ValueError, RecursionError) as error:
        raise Finding(f"{name} returned what JSON cannot hold: {error}", name) from None


def _scene(_: Game[Any], name: str, result: Any) -> None:
    if not isinstance(result, Scene):
        raise _wrong(name, "a Scene", result)


def _legal(game: Game[Any], name: str, result: Any) -> None:
    if result is None:
        return
    if not isinstance(result, list | tuple):
        raise _wrong(name, "a list of events", result)
    for event in result:
        try:
            msgspec.convert(msgspec.to_builtins(event), game.Event)
        except (msgspec.ValidationError, TypeError) as error:
            raise Finding(f"{name} lists {event!r}, which is no event of this game: {error}", name) from None


def _outcome(_: Game[Any], name: str, result: Any) -> None:
    if result is None:
        return
    if not isinstance(result, Outcome):
        raise _wrong(name, "an Outcome or None", result)
    for part in ("won", "lost", "drew"):
        players = getattr(result, part)
        if not isinstance(players, tuple) or not all(isinstance(player, str) for player in players):
            raise Finding(f"{name} returned {part}={players!r} where a tuple of players is expected", name)


def _score(_: Game[Any], name: str, result: Any) -> None:
    if not isinstance(result, tuple) or not all(type(points) is int for points in result):
        raise _wrong(name, "a tuple of whole numbers", result)


RETURNS: dict[str, Look] = {
    "init": _state,
    "join_game": _joined,
    "leave_game": _update,
    "player_connected": _update,
    "player_disconnected": _update,
    "handle_event": _update,
    "handle_verdict": _update,
    "handle_game_shutdown": _update,
    "view": _view,
    "scene": _scene,
    "legal_events": _legal,
    "outcome": _outcome,
    "match_score": _score,
    "resample": _state,
}
"""What each callback should return, by its name."""
