"""The check of a game: its declaration, and then play by chance, looked at from every side."""

from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time
from typing import Any

import msgspec

from parlour.bots import bots_of
from parlour.checking.findings import Counts, Finding, finding_of, place_of
from parlour.checking.names import misspelt_names
from parlour.checking.returns import watched
from parlour.checking.secrets import hidden_part
from parlour.errors import Refused
from parlour.game import Bot, Game
from parlour.leakcheck import check as check_leaks
from parlour.leakcheck.report import Leak, differences
from parlour.room import apply
from parlour.scene import Scene, difference
from parlour.server.board_pages import read_board
from parlour.server.game_loader import load_games
from parlour.testing import (
    Table,
    Wanderer,
    chance_of,
    check_replay,
    clicks,
    full_table,
    legal,
    offered,
    plain,
    play_bots,
    play_on,
    scene_faults,
    viewers,
)
from parlour.wire import Act

GAMES = 12
"""So many games are played by chance, if there is time."""
STEPS = 60
TRIED = 30
"""So many of the legal events of one moment are tried out."""
PLAY_SECONDS, LEAK_SECONDS, BOT_SECONDS = 4.0, 4.0, 1.0
"""CPU time after which no further game is begun; one is always played."""
LEAK_STEPS = 20
LEAK_GAMES = 2
"""Games on one seed: the second of each two has clocks, which must tell no secret."""

Say = Callable[[str], None]


class Checked(msgspec.Struct):
    """What came of it: what is wrong, what could be better, and how much was looked at."""

    game: str
    findings: list[Finding]
    hints: list[Finding]
    counts: Counts

    @property
    def ok(self) -> bool:
        return not self.findings

    def __str__(self) -> str:
        counts = self.counts
        if not self.ok:
            return f"{self.game}: {len(self.findings)} found"
        return (
            f"{self.game}: passes ({counts.games} games, {counts.steps} steps, {counts.tried} events tried, "
            f"{counts.scenes} scenes, {counts.bots} bots, {counts.compared} comparisons for leaks)"
        )


def check_file(file: Path, config: Any = None, say: Say = lambda _: None) -> list[Checked]:
    """Check every game in a Python file; what the file itself has wrong is a finding, too."""
    printed: list[str] = []
    try:
        games = load_games(file, printed.append)
    except Refused as why:
        return [Checked(file.name, [Finding(_clickable(why.message, file))], [], Counts())]
    checked = [check_game(game, config, say) for game in games]
    checked[0].findings += [Finding(_clickable(sentence, file)) for sentence in printed]
    return checked


def _clickable(sentence: str, file: Path) -> str:
    """``nim.py, line 3: ...`` as editors and terminals link it: ``nim.py:3: ...``."""
    return sentence.replace(f"{file}, line ", f"{file}:", 1)


def check_game(game: Game[Any], config: Any = None, say: Say = lambda _: None) -> Checked:
    """Check one game that could be loaded. Each kind of mistake is told once, the first time it is met."""
    checked = Checked(game.name, list(misspelt_names(game)), [], Counts())
    _Check(game, config, checked, say).run()
    return checked


class _Check:
    """One game on its way through all that is looked at."""

    def __init__(self, game: Game[Any], config: Any, checked: Checked, say: Say) -> None:
        self.game = game
        self.watched = watched(game)
        self.config = config
        self.checked = checked
        self.counts = checked.counts
        self.say = say
        self.states: list[Any] = []

    def run(self) -> None:
        """Stop at the first stage that finds something: what comes after it would only repeat it."""
        stages = (
            ("opening a room", self.check_opening),
            ("random play", self.check_play),
            ("secrets", self.check_secrets),
            ("bots", self.check_bots),
        )
        for name, stage in stages:
            self.say(f"{self.game.name}: {name}")
            try:
                stage()
            except Exception as error:  # noqa: BLE001 - whatever the game's code raises is what we look for
                self.checked.findings.append(finding_of(error, self.game, f"in {name}"))
                return
        if type(self.game).legal_events is Game.legal_events:
            self.hint("it has no legal_events: bots cannot play it, and a refusal cannot say what is allowed")

    def hint(self, sentence: str, where: str = "") -> None:
        self.checked.hints.append(Finding(sentence, where).placed(self.game))

    # A room.

    def check_opening(self) -> None:
        """A room can be opened, everybody can sit down and watch, and its state can be kept."""
        try:
            read_board(self.game)
        except Refused as why:
            raise Finding(why.message) from None
        if (
            not getattr(self.game.State, "__struct_config__", None)
            or not self.game.State.__struct_config__.frozen
        ):
            name = self.game.State.__name__
            raise Finding(f"expected {name} to be a frozen struct: class {name}(State)", "State")
        table = full_table(self.watched, self.config)
        self.look(table, 0)

    # Play.

    def check_play(self) -> None:
        """Games by chance, from the least to the most players, replayed, each with all that can happen."""
        begin = process_time()
        for seed in range(GAMES):
            if seed and process_time() - begin > PLAY_SECONDS:
                break
            self.say(f"{self.game.name}: random play, game {seed + 1} of {GAMES}")
            self.play_legally(seed)
            self.play_everything(seed)
            self.counts.games += 2

    def play_legally(self, seed: int) -> None:
        """Legal events only, until there is an outcome or it is enough."""
        table, chance = self.seated(seed), chance_of(seed)
        while table.outcome is None and len(table.steps) < STEPS * 4 and play_on(table, chance):
            if len(table.steps) % 5 == 0:
                self.look(table, seed)
        self.look(table, seed)
        self.counts.ended += table.outcome is not None
        self.finish(table)

    def play_everything(self, seed: int) -> None:
        """Whatever happens in a room: nonsense, leaving, timers, offers, a rematch."""
        table = full_table(self.watched, self.config, luck=seed)
        wanderer = Wanderer(table, chance_of(seed))
        for _ in range(STEPS // 10):
            try:
                wanderer.go(10)
            except AssertionError as error:
                raise Finding(str(error), "legal_events") from error
            self.look(table, seed)
        self.finish(table)

    def seated(self, seed: int) -> Table:
        """A full table, or in every other game one with as few as can play."""
        table = Table(self.watched, self.config, luck=seed)
        least, most = table.room.least, len(table.room.seats)
        names = [player for player in full_table(self.game, self.config).room.players if player is not None]
        return table.sit(*names[: most if seed % 2 == 0 else least])

    def finish(self, table: Table) -> None:
        """Play it again from what a journal would have kept."""
        self.counts.steps += len(table.steps)
        try:
            check_replay(table)
        except (Refused, AssertionError) as why:
            message = why.message if isinstance(why, Refused) else str(why)
            raise Finding(
                f"{message} when it is replayed: a callback may use nothing but its arguments, "
                "so no random, no clock, no set whose order matters",
                "handle_event",
            ) from None

    # One moment.

    def look(self, table: Table, seed: int) -> None:
        """The state can be kept, each view and scene is in order, and what is listed as legal is accepted."""
        self.states.append(table.state)
        self.check_kept(table)
        for viewer in viewers(table):
            table.sees(viewer)
            self.check_scene(table, viewer)
        if table.why_ended() is None and table.room.verdict is None and table.room.offers.paused is None:
            for player in table.room.connected:
                self.try_legal(table, player, seed)
        if legal(self.watched, table.state, "nobody"):
            raise Finding("legal_events lists events for somebody without a seat", "legal_events")

    def check_kept(self, table: Table) -> None:
        state = table.state
        try:
            kept = msgspec.json.decode(msgspec.json.encode(state), type=self.game.State)
        except (msgspec.ValidationError, TypeError, ValueError) as error:
            raise Finding(f"the state cannot be kept as JSON: {error}", "State") from None
        if kept != state:
            paths = differences(plain(kept), plain(state))
            where = next((path for path, _, _ in paths), _other_type(kept, state))
            raise Finding(f"the state changes when it is written as JSON and read back: {where}", "State")

    def check_scene(self, table: Table, viewer: str | None) -> None:
        scene = table.scene(viewer)
        self.counts.scenes += 1
        difference(Scene(), scene)
        for fault in scene_faults(scene):
            raise Finding(f"the scene for {viewer or 'those who watch'}: {fault}", "scene")
        if viewer is None and clicks(scene):
            raise Finding(
                "the scene for those who watch has something to click; they can do nothing", "scene"
            )

    def try_legal(self, table: Table, player: str, seed: int) -> None:
        """What is listed as legal, and what the scene lets them click, is accepted."""
        listed = legal(self.watched, table.state, player)
        for events, where, says in (
            (listed, "legal_events", "legal_events lists"),
            (offered(table, player), "scene", "the scene offers"),
        ):
            for event in chance_of(seed).sample(events, min(len(events), TRIED)):
                self.counts.tried += 1
                try:
                    command = Act(player, msgspec.Raw(msgspec.json.encode(event)))
                    apply(self.watched, table.room, command, table.instant())
                except Refused as why:
                    told = f"{says} {_spoken(event)} for {player}, but it is refused: {why.message}"
                    raise Finding(told, where) from None

    # Secrets.

    def check_secrets(self) -> None:
        """A game that hides something says what with `resample`; then nobody receives it."""
        if type(self.game).resample is Game.resample:
            players = full_table(self.game, self.config).room.players
            hidden = hidden_part(self.game, self.states, (*filter(None, players), None))
            if hidden is not None:
                raise Finding(
                    f"view hides {hidden} from somebody, but there is no resample, so no leak can be found: "
                    "write resample(state, viewer, chance)",
                    "view",
                )
            return
        begin = process_time()
        for seed in range(GAMES // LEAK_GAMES):
            if seed and process_time() - begin > LEAK_SECONDS:
                break
            self.say(f"{self.game.name}: secrets, game {seed * LEAK_GAMES + 1} of {GAMES}")
            report = check_leaks(self.watched, self.config, games=LEAK_GAMES, steps=LEAK_STEPS, seed=seed)
            self.counts.compared += report.comparisons
            if report.leak is not None:
                raise _leak(report.leak, seed, self.game)

    # Bots.

    def check_bots(self) -> None:
        """Each bot answers with something legal, in every seat."""
        if type(self.game).legal_events is Game.legal_events:
            if self.game.bots:
                raise Finding("it has bots and no legal_events, so no bot is ever asked", "bots")
            return
        for name, bot in bots_of(self.game).items():
            self.say(f"{self.game.name}: bot {name}")
            self.counts.bots += 1
            try:
                self.let_play(bot)
            except Exception as error:
                raise _bots_finding(error, name, bot, self.game) from error

    def let_play(self, bot: Bot) -> None:
        table = full_table(self.watched, self.config, luck=1)
        begin = process_time()
        moves: Iterator[Any] = play_bots(table, [bot] * len(table.room.seats), luck=1)
        for _ in moves:
            if process_time() - begin > BOT_SECONDS:
                return


def _other_type(kept: Any, state: Any) -> str:
    """The field that came back as something else, where both are written alike."""
    fields = getattr(state, "__struct_fields__", ())
    changed = [name for name in fields if getattr(kept, name) != getattr(state, name)]
    return ", ".join(changed) or "its types"


def _spoken(event: Any) -> str:
    return msgspec.json.encode(event).decode()[:200]


PARTS = {
    "view": "view",
    "scene": "scene",
    "legal events": "legal_events",
    "outcome": "outcome",
    "clocks": "legal_events",
}
"""Which callback makes what somebody received; all else comes of events."""


def _leak(leak: Leak, seed: int, game: Game[Any]) -> Finding:
    file, _ = place_of(game)
    own_turns = leak.what.part == "clocks" and type(game).to_move is not Game.to_move
    command = f"parlour leakcheck {file or game.name} --seed {seed} --games {LEAK_GAMES} --steps {LEAK_STEPS}"
    return Finding(
        f"{leak.viewer.rstrip(',')} learns by the {leak.what.part} of step {leak.seq} "
        f"what is hidden from them; {command} shows the bytes",
        "to_move" if own_turns else PARTS.get(leak.what.part, "handle_event"),
    )


def _bots_finding(error: Exception, name: str, bot: Bot, game: Game[Any]) -> Finding:
    code = getattr(getattr(bot, "play", bot), "__code__", None)
    what = error.message if isinstance(error, Refused) else f"{type(error).__name__}: {error}"
    did = "did something that is refused" if isinstance(error, Refused) else "failed"
    found = Finding(f"the bot {name} {did}: {what}", "bots")
    if code is not None:
        found.file, found.line = Path(code.co_filename), code.co_firstlineno
    return found.placed(game)
