"""The command line: `parlour serve`, with an option for every setting, and `parlour leakcheck`."""

import inspect
from pathlib import Path
from typing import Annotated, Any, NoReturn, get_args, get_type_hints

import msgspec
import typer
from rich.console import Console

from parlour.errors import Refused
from parlour.game import Game
from parlour.games import GAMES
from parlour.journal.base import Trouble
from parlour.leakcheck import Report, check
from parlour.server import loading
from parlour.server.app import Watched, run
from parlour.server.config import Settings

app = typer.Typer(no_args_is_help=True, add_completion=False)
screen = Console(stderr=True, highlight=False)


@app.callback()
def main() -> None:
    """A multiplayer game server for Python."""


def serve(games: list[Path] | None = None, **settings: Any) -> None:
    """Run the server until Ctrl-C. Every option is also PARLOUR_<NAME> in the environment."""
    chosen = Settings(**settings)
    playable = dict(GAMES)
    for file in games or []:
        playable.update({game.name: game for game in load_games(file)})

    def greet(port: int) -> None:
        names = ", ".join(game.display_name for game in playable.values())
        say(f"Parlour is open at http://{chosen.host}:{port} with {names}. Ctrl-C closes it.")

    try:
        run(playable, chosen, greet, Watched(games or [], say) if chosen.reload else None)
    except Trouble as why:
        fail(str(why))


def leakcheck(
    game: Annotated[str, typer.Argument(help="A game's name, or a Python file with games of your own.")],
    games: Annotated[int, typer.Option(min=1, help="How many games to play.")] = 20,
    steps: Annotated[int, typer.Option(min=1, help="How many things happen in each.")] = 100,
    seed: Annotated[int, typer.Option(help="The same seed plays the same games.")] = 0,
    config: Annotated[str, typer.Option(help="The config of the rooms, as JSON.")] = "{}",
) -> None:
    """Play a game at random and see whether anybody receives what they may not know.

    Exits with 1 when somebody does, or when nothing could be compared although the game hides something.
    """
    reports = [_check(chosen, config, games=games, steps=steps, seed=seed) for chosen in _chosen_games(game)]
    for report in reports:
        typer.echo(str(report))
    raise typer.Exit(0 if all(report.ok for report in reports) else 1)


def _chosen_games(game: str) -> list[Game[Any]]:
    if game in GAMES:
        return [GAMES[game]]
    if not game.endswith(".py"):
        fail(f"expected a Python file or one of {', '.join(GAMES)}, got {game}")
    return load_games(Path(game))


def _check(game: Game[Any], config: str, *, games: int, steps: int, seed: int) -> Report:
    try:
        return check(game, msgspec.json.decode(config), games=games, steps=steps, seed=seed)
    except msgspec.DecodeError as error:
        fail(f"--config: expected JSON, got something else: {error}")
    except Refused as why:
        fail(f"{game.name}: {why.message}")


def load_games(file: Path) -> list[Game[Any]]:
    """The games in a Python file of somebody's own."""
    try:
        return loading.load_games(file)
    except Refused as why:
        fail(why.message)


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
    defaults = Settings()
    for name, hint in get_type_hints(Settings, include_extras=True).items():
        kind, meta = get_args(hint)
        option = typer.Option(envvar=f"PARLOUR_{name.upper()}", help=meta.description)
        parameters.append(
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=getattr(defaults, name),
                annotation=Annotated[kind, option],
            )
        )
    command.__signature__ = inspect.Signature(parameters)
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


app.command()(_with_options(serve))
app.command()(leakcheck)
