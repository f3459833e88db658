"""Judges a schedule at its end: what is kept, and what everybody was told, must be one story."""

import traceback
from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec

from parlour.clocks import Flag
from parlour.errors import Refused
from parlour.game import Send
from parlour.journal.base import Trouble
from parlour.room import Room, own_topic, replay
from parlour.server.rooms.stored_room import thaw
from parlour.wire import Join, Leave, Step
from tests.simulation.cluster import GAMES, Cluster
from tests.simulation.database import finish, word_of
from tests.simulation.people import Channel, Heard, Person

GAME = GAMES["saying"]
EXACT = 1e-6
"""Seconds by which sums may differ that were added up in another order."""


class Story:
    """What really happened in a room: its steps, and the room after each of them."""

    def __init__(self, cluster: Cluster, room: str) -> None:
        self.room = room
        store = cluster.database.store
        self.steps = cluster.database.steps(room)
        stored = finish(store.stored(store._by_id[room], 0))
        self.rooms: list[Room[Any]] = [thaw(GAME, stored.state)]
        for step in self.steps:
            self.rooms.append(replay(GAME, self.rooms[-1], step))

    def view(self, seq: int, player: str) -> Any:
        """What this player saw after a step."""
        room = self.rooms[seq]
        viewer = None if room.seat(player) is None else player
        return msgspec.json.decode(msgspec.json.encode(GAME.view(room.state, viewer)))

    def events(self, after: int, until: int, player: str) -> list[tuple[int, Any]]:
        """What was told to a player by the steps after one and until another."""
        topics = ("all", own_topic(player))
        return [
            (step.seq, _plain(effect))
            for step in self.steps[after:until]
            for effect in step.effects
            if isinstance(effect, Send) and effect.to in topics and effect.kind != "sync"
        ]


def _plain(send: Send) -> Any:
    return msgspec.json.decode(msgspec.json.encode(send.payload))


def judge(cluster: Cluster, people: list[Person], rooms: list[str]) -> Iterator[str]:
    """Every rule that was broken."""
    yield from cluster.database.broken
    for person in people:
        yield from person.broken
    for error in cluster.loop.errors:
        yield f"nobody caught {_traced(error)}"
    called: set[tuple[str, int, str]] = set()
    for room in rooms:
        try:
            story = Story(cluster, room)
        except (Refused, Trouble) as error:
            yield f"what is kept of {room} cannot be played again: {error}"
            continue
        yield from _judge_steps(story)
        yield from _judge_clocks(story)
        called |= {(room, seq, player) for one in story.rooms for player, seq in one.called.items()}
        for person in people:
            yield from _judge_answers(story, person)
            if room in person.channels:
                yield from _judge_channel(story, person, person.channels[room])
    if cluster.machines:
        yield from cluster.postbox.judge(called, max(one.clock.now() for one in cluster.machines))
    else:
        yield "no worker runs in the end"


def _traced(context: dict[str, Any]) -> str:
    error = context.get("exception")
    if error is None:
        return str(context)
    where = traceback.extract_tb(error.__traceback__)[-1]
    return f"{error!r} at {where.filename.rpartition('/')[2]}:{where.lineno}"


def _judge_steps(story: Story) -> Iterator[str]:
    said = Counter(word for word in map(word_of, story.steps) if word is not None)
    for word, times in said.items():
        if times > 1:
            yield f"{word} was said {times} times in {story.room}"
    now = 0.0
    for step in story.steps:
        if step.now < now:
            yield f"the clock went back from {now} to {step.now} at step {step.seq} of {story.room}"
        now = step.now


def _judge_clocks(story: Story) -> Iterator[str]:
    """Nobody's time is over before it is, whoever owned the room meanwhile, and nobody gains any."""
    for before, step, after in zip(story.rooms, story.steps, story.rooms[1:], strict=False):
        if isinstance(step.command, Flag) and before.clocks is not None:
            seat = before.seat_number(step.command.player) or 0
            out = before.clocks.out_at(seat, gone=step.command.gone)
            if out is None or before.clock(step.now) < out:
                yield f"{step.command.player} was flagged too early at step {step.seq} of {story.room}"
        if isinstance(step.command, Join | Leave) and _gains(before, after, step.now):
            yield f"somebody gained time by sitting down or getting up at step {step.seq} of {story.room}"
        clocks = after.clocks
        if clocks is not None and any(one.left > clocks.settings.seconds for one in clocks.seats):
            yield f"somebody gained time by step {step.seq} of {story.room}"


def _gains(before: Room[Any], after: Room[Any], now: float) -> bool:
    """Whether a seat has more time after a step than it would have had without it."""
    pairs = zip(_seconds_left(before, now), _seconds_left(after, now), strict=True)
    return any(later > sooner + EXACT for sooner, later in pairs)


def _seconds_left(room: Room[Any], now: float) -> list[float]:
    clocks, clock = room.clocks, room.clock(now)
    seats = () if clocks is None else clocks.seats
    return [one.left - (one.spent if one.since is None else clock - one.since) for one in seats]


def _judge_answers(story: Story, person: Person) -> Iterator[str]:
    kept: dict[str, Step] = {word: step for step in story.steps if (word := word_of(step)) is not None}
    for room, word, seq in person.acknowledged:
        if room == story.room and (word not in kept or kept[word].seq != seq):
            found = kept[word].seq if word in kept else "not kept"
            yield f"{word} was acknowledged as step {seq} of {room}, and is {found}"
    for sent, code in person.refused:
        if sent.room == story.room and sent.word in kept:
            yield f"{sent.word} was refused ({code}), and is step {kept[sent.word].seq} of {sent.room}"
        if sent.room == story.room and code == "game_over" and story.rooms[-1].verdict is None:
            yield f"{sent.word} was refused because the game in {sent.room} is over, and it is not"


def _judge_channel(story: Story, person: Person, channel: Channel) -> Iterator[str]:
    for heard in channel.heard:
        yield from _judge_heard(story, person.name, heard)


def _judge_heard(story: Story, player: str, heard: list[Heard]) -> Iterator[str]:
    """Everything once and in order, without a hole; only a whole view may stand for what was missed."""
    at: int | None = None
    events: list[tuple[int, Any]] = []
    for one, following in zip(heard, (*heard[1:], None), strict=True):
        if one.name not in ("update", "sync"):
            events.append((one.seq, _said(one)))
            continue
        if at is not None and not (one.name == "sync" and one.payload.get("reset")):
            told = [(seq, _said_by(payload)) for seq, payload in story.events(at, one.seq, player)]
            if told != events:
                yield f"{player} heard {events} from {at} to {one.seq} of {story.room}, told was {told}"
        if one.name == "update" and _gets_up(story, one.seq, player):  # and sees from there what others see
            if following is not None and following.name != "sync":
                yield f"{player} was not shown step {one.seq} of {story.room} anew"
        elif one.seq >= len(story.rooms) or one.view != story.view(one.seq, player):
            yield f"{player} saw {one.view} at step {one.seq} of {story.room}"
        at, events = one.seq, []


def _gets_up(story: Story, seq: int, player: str) -> bool:
    """Whether a step took the seat of this player."""
    command = story.steps[seq - 1].command if 0 < seq <= len(story.steps) else None
    return isinstance(command, Leave) and command.player == player


def _said(heard: Heard) -> Any:
    return heard.payload["text"] if heard.name == "chat" else _said_by(heard.payload["payload"])


def _said_by(payload: Any) -> Any:
    return payload.get("text", payload) if isinstance(payload, dict) else payload
