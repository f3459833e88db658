"""The judge: holds clients' diaries against the journal, and says which promises were broken."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from parlour.journal.base import Journal
from parlour.wire import Act, Chat, Leave, Rematch, Step, asker
from tests.torture.diary import Answered, Asked, Cut, Diary, Entry, Heard, Joined, ShutOut
from tests.torture.kept import Complaint, Kept, Push, Rows, plain, read_file, read_journal, rebuild

MAX_MISSED = 100
"""More steps than this may be left out for somebody who comes back, if they are told so by `reset`."""


class Verdict(NamedTuple):
    """What came of a check: complaints, and how much was looked at."""

    complaints: list[Complaint]
    counts: Counter[str]


def check(file: Path, diaries: Iterable[Diary], prefix: str = "") -> Verdict:
    """Everything that clients were told or promised, against everything that was kept in a file.

    With a prefix: only rooms whose id begins with it.
    """
    return check_rows(read_file(file, prefix), diaries)


async def check_journal(journal: Journal, diaries: Sequence[Diary]) -> Verdict:
    """The same for the rooms of these diaries, in whichever journal they are; it is opened for that."""
    await journal.open()
    try:
        return check_rows(await read_journal(journal, {diary.room for diary in diaries}), diaries)
    finally:
        await journal.close()


def check_rows(journal: Iterable[Rows], diaries: Iterable[Diary], *, roams: bool = False) -> Verdict:
    """The same, for all rooms that a journal holds; *roams*: rooms may change their owners."""
    by_room: dict[str, list[Diary]] = defaultdict(list)
    for diary in diaries:
        by_room[diary.room].append(diary)
    complaints: list[Complaint] = []
    counts: Counter[str] = Counter()
    for rows in journal:
        kept, found = rebuild(rows)
        complaints += found
        counts += Counter(rooms=1, steps=len(rows.steps))
        here = by_room.pop(rows.id, [])
        if kept is not None:
            complaints += check_room(kept, here, roams=roams)
        for diary in here:
            counts += count(diary)
    complaints += [Complaint("forgotten", room, "the whole room is gone") for room in by_room]
    return Verdict(complaints, counts)


def check_room(kept: Kept, diaries: list[Diary], *, roams: bool = False) -> list[Complaint]:
    """One room's diaries against its steps."""
    found = [*_check_commands(kept, diaries)]
    for diary in diaries:
        found += _check_answers(kept, diary)
        walk = Walk(kept, diary.player, roams=roams)
        found += [(kind, f"{diary.player}: {what}") for kind, what in walk.read(diary.entries)]
    return [Complaint(kind, kept.id, what) for kind, what in found]


def count(diary: Diary) -> Counter[str]:
    """How much a diary holds of each kind."""
    asked = [entry.id for entry in diary.all(Asked)]
    answers = list(diary.all(Answered))
    accepted = {entry.id for entry in answers if entry.seq is not None}
    refused = {entry.id for entry in answers} - accepted
    return Counter(
        commands=len(set(asked)),
        resent=len(asked) - len(set(asked)),
        acknowledged=len(accepted),
        refused=len(refused),
        unknown=len(set(asked) - accepted - refused),
        pushes=len(list(diary.all(Heard))),
        kept_unanswered=_count_kept_unanswered(diary),
        returns=sum(entry.since is not None for entry in diary.all(Joined)),
        resets=sum("reset" in entry.payload for entry in diary.all(Heard)),
    )


def _count_kept_unanswered(diary: Diary) -> int:
    """Commands that were kept although the line broke before the answer: found out by asking again."""
    here = 0
    waiting: set[str] = set()
    lost: set[str] = set()
    found: set[str] = set()
    for entry in diary.entries:
        match entry:
            case Joined():
                here = entry.seq
            case Cut():
                lost |= waiting
            case Asked():
                waiting.add(entry.id)
            case Answered():
                waiting.discard(entry.id)
                if entry.id in lost and entry.seq is not None and entry.seq <= here:
                    found.add(entry.id)
            case _:
                pass
    return len(found)


Found = tuple[str, str]
"""A broken promise and what shows it."""


# Commands and their answers.


def _check_commands(kept: Kept, diaries: list[Diary]) -> Iterator[Found]:
    """No command was done twice, and none that was not asked."""
    asked = {(diary.player, entry.id): entry for diary in diaries for entry in diary.all(Asked)}
    done = Counter((asker(step.command), step.id) for step in kept.steps if step.id is not None)
    yield from (("doubled", f"{who} was done {times} times") for who, times in done.items() if times > 1)
    for step in kept.steps:
        wish = asked.get((asker(step.command) or "", step.id or ""))
        if step.id is not None and (wish is None or not _is_of(step, wish)):
            yield "invented", f"step {step.seq} is not what was asked: {step.command} for {wish}"


def _check_answers(kept: Kept, diary: Diary) -> Iterator[Found]:
    answers: dict[str, list[Answered]] = defaultdict(list)
    for entry in diary.all(Answered):
        answers[entry.id].append(entry)
    times = Counter(entry.id for entry in diary.all(Asked))
    done = {step.id for step in kept.steps if asker(step.command) == diary.player}
    for id, given in answers.items():
        seqs = [answer.seq for answer in given]
        for seq in {seq for seq in seqs if seq is not None}:
            step = kept.step(seq)
            if step is None or (asker(step.command), step.id) != (diary.player, id):
                yield "lost", f"{diary.player} had {id} acknowledged as {seq}, and it is not there"
        # A refusal is not remembered, an acceptance is: nothing else may follow it.
        first = next((index for index, seq in enumerate(seqs) if seq is not None), len(seqs))
        if len(set(seqs[first:])) > 1:
            yield "two_answers", f"{diary.player} was told of {id}: {given}"
        if first == len(seqs) and times[id] == 1 and id in done:
            yield "refused", f"{diary.player} had {id} refused, and it was done"


def _is_of(step: Step, wish: Asked) -> bool:
    """The step did what was wished."""
    match step.command:
        case Act(event=event):
            return wish.event == "game_event" and plain(event) == wish.payload["event"]
        case Chat(text=text):
            return wish.event == "chat" and text == wish.payload["text"]
        case Rematch():
            return wish.event == "rematch"
        case Leave():
            return wish.event == "leave"
        case _:
            return False


# What was told.


class Walk:
    """Reads a diary along the steps: what must come next is known, push by push."""

    def __init__(self, kept: Kept, player: str, *, roams: bool = False) -> None:
        self.kept = kept
        self.player = player
        self.roams = roams
        """The room may change its owner: then somebody who is there may be told as if they came back."""
        self.told: list[Push] = []
        """What was heard of the step that is being told."""
        self.doubt: Found | None = None
        """What is wrong, unless the room has changed its owner and everything missed comes now."""
        self.at: int | None = None
        """The last step that this player knows all of; None before the first sync."""
        self.joined: Joined | None = None
        """Just came in, and hears what was missed."""
        self.missed: list[Push] = []
        self.rest: list[Push] = []
        """What the step that is being told still has to say."""
        self.astray = True
        """There is nothing to compare with, until the next join."""

    def read(self, entries: Iterable[Entry]) -> Iterator[Found]:
        for entry in entries:
            found = self.take(entry)
            if found is not None:
                self.astray = True
                yield found

    def take(self, entry: Entry) -> Found | None:
        match entry:
            case Joined():
                return self.join(entry)
            case ShutOut():
                return "shut_out", f"was refused {entry.code}"
            case Cut():
                self.astray, self.joined, self.missed, self.rest, self.told = True, None, [], [], []
                self.doubt = None
            case Heard() if not self.astray:
                return self.hear(entry.name, entry.payload)
            case Answered(seq=int(seq)) if not self.astray and self.joined is None and seq > (self.at or 0):
                return "answer_first", f"{entry.id} was answered before its step {seq} was told"
        return None

    def join(self, joined: Joined) -> Found | None:
        self.missed, self.rest, self.told, self.doubt = [], [], [], None
        self.astray, self.joined, self.at = False, joined, joined.since
        if joined.seq > self.kept.seq:
            return "forgotten", f"came in at step {joined.seq}, and the journal ends at {self.kept.seq}"
        if joined.seat != self.kept.rooms[joined.seq].seat_number(self.player):
            return "content", f"was given seat {joined.seat} at step {joined.seq}"
        return None

    def hear(self, name: str, payload: Any) -> Found | None:
        if payload.get("seq", 0) > self.kept.seq:
            return "forgotten", f"heard {name} {payload}, and the journal ends at {self.kept.seq}"
        if self.joined is not None:
            if name != "sync":
                self.missed.append((name, payload))
                return None
            return self.come_in(self.joined, payload)
        seated = self.kept.rooms[payload.get("seq", 0)].seat(self.player) is not None
        if name == "sync" and payload.get("reset") and not (self.roams and seated):
            return self.skip(payload)
        if self.doubt is not None:
            return self.resume((name, payload))
        return self.follow((name, payload))

    def resume(self, push: Push) -> Found | None:
        """The room has changed its owner: messages that were missed, and then everything."""
        name, payload = push
        if name == "update":
            return self.doubt
        if name != "sync":
            self.missed.append(push)
            return None
        since, self.rest, self.told, self.doubt = self.at, [], [], None
        return self.come_in(Joined(since, payload["seq"]), payload)

    def come_in(self, joined: Joined, sync: Any) -> Found | None:
        """The whole view after a join, and the messages before it."""
        self.joined = None
        reset = sync.get("reset", False)
        shown = {name: value for name, value in sync.items() if name != "reset"}
        since, self.at = joined.since, joined.seq
        if shown != self.kept.sync(joined.seq, self.player):
            return "content", f"was shown {sync} for step {joined.seq}"
        if since is None or reset:
            return self._check_reset(since, joined.seq) if reset else self._compare([])
        expected = [
            push for seq in range(since + 1, joined.seq + 1) for push in self.kept.messages(seq, self.player)
        ]
        return self._compare(expected)

    def _check_reset(self, since: int | None, seq: int) -> Found | None:
        if since is None or (
            0 <= seq - since <= MAX_MISSED and not self.kept.seats_anew(since, seq, self.player)
        ):
            return "reset", f"came back with {since} to {seq} and was reset without need"
        return self._compare([])

    def _compare(self, expected: list[Push]) -> Found | None:
        """The messages that were missed, against those that were heard on coming back."""
        missed, self.missed = self.missed, []
        if missed == expected:
            return None
        if any(missed.count(push) > expected.count(push) for push in missed if push in expected):
            return "twice", f"heard {missed} on coming back, not just {expected}"
        if all(push in expected for push in missed):
            return "hole", f"heard only {missed} on coming back, not {expected}"
        return "content", f"heard {missed} on coming back, not {expected}"

    def skip(self, sync: Any) -> Found | None:
        """Somebody without a seat who read too slowly goes on from here."""
        seq = sync["seq"]
        if self.kept.rooms[seq].seat(self.player) is not None:
            return "reset", f"was reset to {seq} while being there"
        self.at, self.rest = seq, []
        if {**self.kept.sync(seq, self.player), "reset": True} != sync:
            return "content", f"was shown {sync}"
        return None

    def follow(self, push: Push) -> Found | None:
        """The next push of the step that comes next."""
        assert self.at is not None
        if not self.rest:
            if self.at >= self.kept.seq:
                return "forgotten", f"heard {push}, and the journal ends at {self.kept.seq}"
            self.rest = self.kept.told(self.at + 1, self.player)
        expected = self.rest.pop(0)
        if push != expected:
            difference = self._name_difference(push, expected)
            if not self.roams:
                return difference
            self.doubt, self.missed = difference, self.told
            return self.resume(push)
        self.told = [*self.told, push] if self.rest else []
        if not self.rest:
            self.at += 1
        return None

    def _name_difference(self, push: Push, expected: Push) -> Found:
        assert self.at is not None
        seq = push[1].get("seq", self.at + 1)
        told = [] if seq != self.at + 1 else self.kept.told(seq, self.player)
        if seq <= self.at or (push in told and push not in self.rest):
            return "twice", f"heard {push} again, after step {self.at}"
        if seq > self.at + 1 or push in self.rest:
            return "hole", f"heard {push} before {expected}"
        return "content", f"heard {push}, not {expected}"
