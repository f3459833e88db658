"""The command line: `parlour serve`, with an option for every setting, and the tools of authors and hosts."""

import asyncio
import inspect
import math
import os
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Annotated, Any, NoReturn, TypeVar, get_args, get_type_hints

import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from parlour import __version__, checking, exporting, simulating
from parlour import keys as signing_keys
from parlour.bots import TROUBLES as BOT_TROUBLES
from parlour.bots import bots_of
from parlour.client import Client
from parlour.client.run import BotRunner, find_token
from parlour.copying import copy
from parlour.errors import Refused
from parlour.game import Game
from parlour.games import GAMES
from parlour.games import TROUBLES as GAME_TROUBLES
from parlour.journal import is_database
from parlour.journal.base import Trouble
from parlour.journal.copying import Notice
from parlour.journal.rows import Table
from parlour.journal.shards import SHARDS
from parlour.leakcheck import Judgement, Report, check, judge
from parlour.server import game_loader
from parlour.server.addresses import Reach
from parlour.server.app import Watched, run
from parlour.server.board_pages import read_board
from parlour.server.settings import GROUPS, Settings
from parlour.server.startup_message import greeting, qr_code
from parlour.server.supervisor import supervise
from parlour.server.typescript import game_types
from parlour.templates import Kind, copy_template

T = TypeVar("T")
NO_MCP = "the Model Context Protocol needs one more package: pip install 'parlour[mcp]'"
app = typer.Typer(no_args_is_help=True, add_completion=False)
screen = Console(stderr=True, highlight=False)


def show_version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it
    """Say which Parlour this is, and no more."""
    if wanted:
        typer.echo(f"Parlour {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[  # noqa: FBT002 - its callback does the work
        bool,
        typer.Option("--version", callback=show_version, is_eager=True, help="Say which Parlour this is."),
    ] = False,
) -> None:
    """A multiplayer game server for Python."""


def serve(games: list[Path] | None = None, **settings: Any) -> None:
    """Run the server until Ctrl-C. Every option is also PARLOUR_<NAME> in the environment."""
    chosen = make_settings(settings)
    for trouble in (*GAME_TROUBLES, *BOT_TROUBLES):
        say(f"parlour: {trouble}", style="yellow")
    playable = dict(GAMES)
    playable.update(load_files(games or []))

    def greet(reach: Reach, panel_key: str | None = None) -> None:
        names = (game.display_name for game in playable.values())
        for sentence in greeting(reach, chosen, names, panel_key):
            say(sentence)
        if chosen.lan and reach.is_known and screen.is_terminal and not screen.is_dumb_terminal:
            screen.file.write(qr_code(reach.url))

    try:
        if chosen.workers > 1:
            supervise(chosen, greet)
        else:
            run(playable, chosen, greet, Watched(games or [], say) if chosen.reload else None)
    except Trouble as why:
        fail(str(why))


def make_settings(chosen: dict[str, Any]) -> Settings:
    """The settings by the options, whose bounds typer has checked; it takes infinity as a number."""
    for name, value in chosen.items():
        if isinstance(value, float) and not math.isfinite(value):
            fail(f"--{name.replace('_', '-')}: expected a number, got {value}")
    return Settings(**chosen)


def leakcheck(
    game: Annotated[str, typer.Argument(help="A game's name, or a Python file with games of your own.")],
    games: Annotated[int, typer.Option(min=1, help="How many games to play.")] = 20,
    steps: Annotated[int, typer.Option(min=1, help="How many things happen in each.")] = 100,
    seed: Annotated[int, typer.Option(help="The same seed plays the same games.")] = 0,
    config: Annotated[str, typer.Option(help="The config of the rooms, as JSON.")] = "{}",
    worlds: Annotated[  # noqa: FBT002 - an option of the command line
        bool,
        typer.Option("--worlds", help="Judge what resample draws by playing each game again on fresh luck."),
    ] = False,
) -> None:
    """Play a game at random and see whether anybody receives what they may not know.

    Exits with 1 when somebody does, or when nothing could be compared although the game hides something. With
    --worlds it exits with 1 when resample favours the truth, and with 3 when that could not be judged.
    """
    reports = [
        _check(chosen, config, games=games, steps=steps, seed=seed, worlds=worlds)
        for chosen in _chosen_games(game)
    ]
    for report in reports:
        typer.echo(str(report))
    codes = {report.code for report in reports}
    raise typer.Exit(1 if 1 in codes else max(codes))


def check_games(
    game: Annotated[str, typer.Argument(help="A Python file with games of your own, or a game's name.")],
    config: Annotated[str, typer.Option(help="The config of the rooms, as JSON.")] = "{}",
) -> None:
    """Check a game: its declaration, random play, replay, every scene, secrets and bots.

    Each thing that is wrong is one sentence, with file and line; then the command exits with 1.
    """
    chosen = _decoded(config)
    with screen.status("") as line:

        def show(stage: str) -> None:
            line.update(f"Checking {stage}")

        if game in GAMES:
            results = [checking.check_game(GAMES[game], chosen, show)]
        else:
            results = checking.check_file(_python_file(game), chosen, show)
    for checked in results:
        for finding in (*checked.findings, *checked.hints):
            typer.echo(f"{'hint: ' if finding in checked.hints else ''}{finding}")
        typer.echo(str(checked))
    raise typer.Exit(0 if all(checked.ok for checked in results) else 1)


VIEWS = typer.Option("--views", help="Add what each seat saw before each step; such files are large.")


def simulate(  # noqa: PLR0913, PLR0917 - options of the command line
    game: Annotated[str, typer.Argument(help="A game's name, or a Python file with a game of your own.")],
    bots: Annotated[
        str,
        typer.Option(help="Who plays, by commas: names of bots, or module:function. Empty: all there are."),
    ] = "",
    games: Annotated[int, typer.Option(min=1, help="How many games in all, about.")] = 100,
    seed: Annotated[int, typer.Option(help="The same seed plays the same games.")] = 0,
    config: Annotated[str, typer.Option(help="The config of the games, as JSON.")] = "{}",
    jobs: Annotated[int, typer.Option(min=0, help="How many processes; 0: one for each core.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Write the games to this file, one line each.")] = None,
    views: Annotated[bool, VIEWS] = False,  # noqa: FBT002 - an option of the command line
) -> None:
    """Let bots play each other without a server, and rate them.

    Everybody meets everybody in pairs of games on the same luck, with the seats swapped. A bot that raises or
    answers what is refused loses that game, and the exit code is 1.
    """
    try:
        names = tuple(filter(None, bots.split(","))) or tuple(bots_of(simulating.find_game(game)))
        arena = simulating.Arena(game, _decoded(config), names, out is not None, views)
        with counted("pairs") as count, writing(out or Path(os.devnull)) as file:
            result = simulating.simulate(arena, games, seed, jobs or simulating.cores(), count, file.write)
    except Refused as why:
        fail(why.message)
    printed = Console(highlight=False)
    printed.print(simulating.shown(result, fancy=printed.encoding.startswith("utf")))
    if result.unfinished:
        say(f"{result.unfinished} of {result.games} games came to no end, and count as drawn", style="yellow")
    for fault in result.faults[:MOST_NAMED]:
        say(f"lost by a fault: {fault}", style="red")
    raise typer.Exit(bool(result.faults))


def run_bot(  # noqa: PLR0913, PLR0917 - options of the command line
    function: Annotated[str, typer.Argument(help="The bot, as module:function.")],
    server: Annotated[str, typer.Option(help="The server's address.")] = "http://127.0.0.1:8000",
    token_file: Annotated[
        Path, typer.Option(help="Where the bot's token is kept; made on first use, with the bot itself.")
    ] = Path("bot.token"),
    name: Annotated[str | None, typer.Option(help="The name of a new bot.")] = None,
    games: Annotated[str, typer.Option(help="The games that it plays, by commas; empty: all.")] = "",
    room: Annotated[list[str] | None, typer.Option(help="Sit down in this room; may be repeated.")] = None,
    rooms: Annotated[int, typer.Option(min=1, max=100, help="In how many rooms it plays at once.")] = 4,
    ranked: Annotated[  # noqa: FBT002 - an option of the command line
        bool, typer.Option("--ranked", help="Play ranked games with other bots, too, in each of --games.")
    ] = False,
    bot_timeout: Annotated[float, typer.Option(min=0.01, help="Seconds for one answer of the bot.")] = 10.0,
) -> None:
    """Let a bot play at a server until Ctrl-C: it goes back to its seats, and takes invitations.

    A bot that raises, hangs or answers what is refused is absent from that room from then on.
    """
    wanted = frozenset(filter(None, games.split(",")))
    if ranked and not wanted:
        fail("--ranked: expected --games with the games to be rated in, got none")

    async def play() -> None:
        async with Client(server, find_token(server, token_file, name)) as client:
            runner = BotRunner(
                client, function, games=wanted, rooms=rooms, timeout=bot_timeout, say=say, ranked=ranked
            )
            try:
                await runner.run(*(room or ()))
            finally:
                await runner.stop()

    _run_client(server, play())


def run_mcp(
    server: Annotated[str, typer.Option(help="The server's address.")] = "http://127.0.0.1:8000",
    token_file: Annotated[
        Path, typer.Option(help="Where the player's token is kept; made on first use, with the player.")
    ] = Path("mcp.token"),
    name: Annotated[str | None, typer.Option(help="The name of a new player.")] = None,
) -> None:
    """Let a language model play at a server: its tools by the Model Context Protocol, over a pipe.

    The host of the model starts this command. Whoever plays so is a bot, and marked as one everywhere.
    """
    try:
        from parlour.mcp.protocol import serve_stdio  # noqa: PLC0415 - an extra
    except ModuleNotFoundError:
        fail(NO_MCP)

    async def serve_tools() -> None:
        async with Client(server, find_token(server, token_file, name)) as client:
            await serve_stdio(client)

    _run_client(server, serve_tools())


def _run_client(server: str, work: Coroutine[Any, Any, None]) -> None:
    """Run a client until it is done or Ctrl-C; what goes wrong is one sentence."""
    try:
        asyncio.run(work)
    except* Refused as refused:
        why = _first(refused)
        fail(f"{why.code}: {why.message}" if isinstance(why, Refused) else str(why))
    except* OSError as error:
        fail(f"{server}: {_first(error)}")
    except* KeyboardInterrupt:
        pass


def _first(group: BaseExceptionGroup[Any]) -> BaseException:
    """The first of some exceptions that came together."""
    first = group.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first


def export(
    out: Annotated[Path, typer.Argument(help="The file to write, one line for each game.")],
    data: Annotated[Path, typer.Option(envvar="PARLOUR_DATA", help="The server's data folder.")],
    game: Annotated[str, typer.Option(help="Only games of this name.")] = "",
    room: Annotated[str, typer.Option(help="Only games of this room, which must be over.")] = "",
    views: Annotated[bool, VIEWS] = False,  # noqa: FBT002 - an option of the command line
) -> None:
    """Write the finished games of a server as data, players as numbers; no server may be running on it.

    Games that go on are left out. What cannot be exported is named, and the exit code is 1.
    """
    try:
        with counted("rooms") as count, writing(out) as file:
            done = exporting.export(data, exporting.Wanted(game, room, views), file, count)
    except (Refused, Trouble) as why:
        fail(why.message if isinstance(why, Refused) else str(why))
    say(f"{done.games:,} games are written to {out}")
    if done.running:
        say(f"{done.running:,} rooms are being played; what goes on there is left out")
    for trouble in done.troubles[:MOST_NAMED]:
        say(f"not written: {trouble}", style="yellow")
    raise typer.Exit(bool(done.troubles))


@contextmanager
def writing(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to; a place where that is impossible is told by a sentence."""
    try:
        with path.open("wb") as file:
            yield file
    except OSError as error:
        fail(f"cannot write {path}: {error.strerror}")


def make_new_game(
    name: Annotated[str, typer.Argument(help="What the game is called: a-z, 0-9 and _.")],
    kind: Annotated[Kind, typer.Option(help="What is on the table.")] = "grid",
) -> None:
    """Make a game to begin with, in a folder of its name: rules, a board, a bot, a rules page and tests."""
    try:
        files = copy_template(kind, name, Path())
    except Refused as why:
        fail(why.message)
    for file in files:
        typer.echo(f"made {file}")
    typer.echo(f"play:   parlour serve {files[0]} --reload")
    typer.echo(f"check:  parlour check {files[0]}")
    typer.echo(f"test:   pytest {files[0].parent}")


def write_types(
    game: Annotated[str, typer.Argument(help="A game's name, or a Python file with games of your own.")],
) -> None:
    """Write the config, events and views of a game as TypeScript, for those who write a client."""
    for chosen in _chosen_games(game):
        typer.echo(game_types(chosen), nl=False)


MOST_NAMED = 100
"""Damaged rows, or faults, that are named at most."""
JOURNAL = "A data folder, or postgresql://..."


def copy_journal(
    source: Annotated[str, typer.Argument(metavar="FROM", help=JOURNAL)],
    target: Annotated[str, typer.Argument(metavar="TO", help=f"{JOURNAL}, with nothing in it.")],
    accept_loss: Annotated[  # noqa: FBT002 - an option of the command line
        bool, typer.Option("--accept-loss", help="Finish although something in the source is damaged.")
    ] = False,
) -> None:
    """Copy all rooms, records and keys from one journal to another; no server may be running on them.

    Broken off and run again, it goes on where it stopped. Damaged rows are not copied: they are named at the
    end, and the exit code is 1, unless that is accepted.
    """
    try:
        with shown_progress() as notice:
            copied = asyncio.run(copy(source, target, notice, accept_loss=accept_loss))
    except Trouble as why:
        fail(str(why))
    except KeyboardInterrupt:
        fail("stopped; run it again and it goes on from here")
    for damage in copied.damages[:MOST_NAMED]:
        say(f"damaged, and not copied: {damage.table}: {damage.row}", style="yellow")
    count = f"{sum(copied.rows.values()):,} rows are copied"
    if not copied.is_finished:
        fail(f"{count}, {len(copied.damages):,} are damaged. Finish without them: run it with --accept-loss")
    say(f"{count}; {target} can be served")


@contextmanager
def shown_progress() -> Iterator[Notice]:
    """Show how far each table is: by bars on a terminal, by a line for each elsewhere."""
    if not screen.is_terminal:
        yield lambda table, seen, total: say(f"{table.name}: {total:,} rows") if seen == total else None
        return
    columns = (TextColumn("{task.description:8}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen) as bars:
        tasks = {}

        def move(table: Table, seen: int, total: int) -> None:
            if table.name not in tasks:
                tasks[table.name] = bars.add_task(table.name)
            bars.update(tasks[table.name], completed=seen, total=total)

        yield move


@contextmanager
def counted(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show how many of how many there were, by a bar on a terminal; elsewhere nothing."""
    columns = (TextColumn("{task.description:8}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen, disable=not screen.is_terminal, transient=True) as bars:
        task = bars.add_task(what)
        yield lambda seen, total: bars.update(task, completed=seen, total=total)


keys = typer.Typer(
    no_args_is_help=True, help="The keys that sign players' tokens: the newest signs, older ones still count."
)
Folder = Annotated[Path, typer.Option("--data", envvar="PARLOUR_DATA", help="The server's data folder.")]
Database = Annotated[
    str,
    typer.Option("--journal", envvar="PARLOUR_JOURNAL", help="The server's journal, if it is a database."),
]
DEFAULTS = Settings()
DATA = DEFAULTS.data


cluster = typer.Typer(no_args_is_help=True, help="The workers that share a database.")


@cluster.callback()
def over_cluster() -> None:
    """The workers that share a database."""


@cluster.command("status")
def show_workers(
    journal: Annotated[str, typer.Option(envvar="PARLOUR_JOURNAL", help="postgresql://...")],
) -> None:
    """Show the living workers: where they run, when each was last heard of, and what it owns."""
    if not is_database(journal):
        fail(f"--journal: expected postgresql://..., got {journal[:64]!r}")
    from parlour.cluster.lease_table import list_workers  # noqa: PLC0415 - an extra

    workers = _outcome(list_workers(journal))
    for worker in workers:
        heard = "not heard of yet" if worker.silent is None else f"heard of {worker.silent:.1f} s ago"
        typer.echo(f"worker {worker.id} at {worker.address}: {heard}, {worker.shards} of {SHARDS} shards")
    if not workers:
        typer.echo("no worker is running")


@keys.command("new")
def make_new_key(data: Folder = DATA, journal: Database = DEFAULTS.journal) -> None:
    """Make a key, which signs from the server's next start on. Nobody becomes a stranger by it."""
    name = _outcome(signing_keys.make(signing_keys.Place(journal, data)))
    typer.echo(f"{name} signs from the next start on")


@keys.command("list")
def show_keys(data: Folder = DATA, journal: Database = DEFAULTS.journal) -> None:
    """Show the keys, the oldest first."""
    names = _outcome(signing_keys.names_of(signing_keys.Place(journal, data)))
    for number, name in names.items():
        typer.echo(f"{name}  {'signs' if number == max(names) else 'still counts'}")


@keys.command("delete")
def delete_key(
    name: Annotated[str, typer.Argument(help="The key, as `keys list` shows it.")],
    data: Folder = DATA,
    journal: Database = DEFAULTS.journal,
) -> None:
    """Delete an old key. From the next start on, whoever has a token of it is a stranger."""
    _outcome(signing_keys.delete(signing_keys.Place(journal, data), name))
    typer.echo(f"{name} does not count any more from the next start on")


def _outcome(work: Coroutine[Any, Any, T]) -> T:
    """What comes of it; trouble is told in its sentence."""
    try:
        return asyncio.run(work)
    except Trouble as why:
        fail(str(why))


def _chosen_games(game: str) -> list[Game[Any]]:
    if game in GAMES:
        return [GAMES[game]]
    return load_games(_python_file(game))


def _python_file(game: str) -> Path:
    if not game.endswith(".py"):
        fail(f"expected a Python file or one of {', '.join(GAMES)}, got {game}")
    return Path(game)


def _decoded(config: str) -> Any:
    try:
        return msgspec.json.decode(config)
    except msgspec.DecodeError as error:
        fail(f"--config: expected JSON, got something else: {error}")


def _check(
    game: Game[Any], config: str, *, games: int, steps: int, seed: int, worlds: bool
) -> Report | Judgement:
    look = judge if worlds else check
    try:
        return look(game, _decoded(config), games=games, steps=steps, seed=seed)
    except Refused as why:
        fail(f"{game.name}: {why.message}")


def load_games(file: Path) -> list[Game[Any]]:
    """The games in a Python file of somebody's own."""
    try:
        games = game_loader.load_games(file, lambda sentence: say(f"parlour: {sentence}", style="yellow"))
    except Refused as why:
        fail(why.message)
    for game in games:
        try:
            read_board(game)
        except Refused as why:
            say(f"parlour: {why.message}. The game's scene is shown instead.", style="yellow")
    return games


def load_files(files: Sequence[Path]) -> dict[str, Game[Any]]:
    """The games of several files, by name; no two have the same."""
    found: dict[str, tuple[Game[Any], Path]] = {}
    for file in dict.fromkeys(files):
        for game in load_games(file):
            if game.name in found:
                fail(game_loader.two_of_a_name(game, file, found[game.name][1]))
            found[game.name] = game, file
    return {name: game for name, (game, _) in found.items()}


def fail(sentence: str) -> NoReturn:
    """Say what is wrong and stop."""
    say(f"parlour: {sentence}", style="red")
    raise typer.Exit(1)


def say(sentence: str, style: str | None = None) -> None:
    """Print a sentence as it is: no brackets read as markup, no line broken where there is no terminal."""
    screen.print(sentence, style=style, markup=False, soft_wrap=True)


def _with_options(command: Any) -> Any:
    """Give *command* an option for each setting, so that none is written down twice."""
    files = Annotated[list[Path] | None, typer.Argument(help="Python files with games of your own.")]
    parameters = [
        inspect.Parameter("games", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation=files)
    ]
    hints = get_type_hints(Settings, include_extras=True)
    headings = {name: heading for heading, names in GROUPS.items() for name in names}
    for name, heading in headings.items():
        kind, meta = get_args(hints[name])
        is_number = kind in (int, float)
        default = getattr(DEFAULTS, name)
        option = typer.Option(
            envvar=f"PARLOUR_{name.upper()}",
            show_envvar=False,
            help=meta.description,
            rich_help_panel=heading or None,
            metavar="NUMBER" if is_number else None,
            min=(meta.ge or 0) if is_number else None,
            max=meta.le,
            show_default=f"{default // 2**20} MiB" if is_number and default >= 2**20 else True,
        )
        parameters.append(
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=default,
                annotation=Annotated[kind, option],
            )
        )
    command.__signature__ = inspect.Signature(parameters)
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


app.command()(_with_options(serve))
app.command("copy")(copy_journal)
app.command("new")(make_new_game)
app.command("check")(check_games)
app.command("types")(write_types)
app.command()(leakcheck)
app.command()(simulate)
app.command()(export)
app.command("bot")(run_bot)
app.command("mcp")(run_mcp)
app.add_typer(keys, name="keys")
app.add_typer(cluster, name="cluster")
