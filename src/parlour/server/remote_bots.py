"""Bots that play over the network: players of whom everybody knows that a program plays."""

from collections.abc import Sequence

from msgspec.structs import replace

from parlour.errors import Code, Refused
from parlour.journal.base import Change, Journal, Player, RecordQuery, RoomQuery
from parlour.ratings import Rating
from parlour.server.components import Components
from parlour.server.result_records import RESULT
from parlour.server.rooms.calls import CheckInvitation
from parlour.server.sessions import Asker, KeptPlayer, Sessions
from parlour.server.standings import standings_of
from parlour.wire import Push

MOST_LISTED = 50
"""Bots at the lobby that are listed at most."""


class WaitingBot(Player, frozen=True, omit_defaults=True):
    """A bot that plays over the network and waits to be invited."""

    rating: Rating | None = None
    """On the ladder of bots, if it has played there."""


async def become_bot(
    journal: Journal, sessions: Sessions, player: KeptPlayer, who: Asker, *, bot: bool
) -> KeptPlayer:
    """Make a player a bot, for ever; refused if they have taken a seat already, or their token has ended."""
    if player.bot == bot:
        return player
    if player.bot:
        raise Refused(Code.TOO_LATE, "a bot stays a bot; people come without its token", path="$.bot")

    async def mark(known: KeptPlayer) -> tuple[KeptPlayer, Sequence[Change]]:
        if known.account is not None or await _has_played(journal, known.id):
            why = "a player becomes a bot before the first game, and never with an account of a person"
            raise Refused(Code.TOO_LATE, why, path="$.bot")
        return replace(known, bot=True), ()

    return await sessions.change(who, mark)


async def _has_played(journal: Journal, player: str) -> bool:
    if await journal.rooms(RoomQuery(player=player, limit=1)):
        return True
    return bool(await journal.records(RecordQuery(RESULT, owner=player, limit=1)))


async def invitable_bots(parlour: Components, game: str, ladder: str) -> list[WaitingBot]:
    """The bots at the lobby that take invitations to a game, the best on this ladder first."""
    found = []
    for player in parlour.lobby.invitable(game)[:MOST_LISTED]:
        known = await parlour.sessions.known(player)
        if known is not None and known.bot:
            standings = await standings_of(parlour.journal, player)
            rating = next((one.rating for one in standings if one.ladder == ladder), None)
            found.append(WaitingBot(known.id, known.name, bot=True, rating=rating))
    return sorted(found, key=lambda bot: (-(bot.rating or Rating()).worth, bot.name))


async def invite(parlour: Components, bot: str, room: str, by: str) -> Player:
    """Tell a bot at the lobby of a room in which somebody wants it; it comes, or it does not."""
    player = await parlour.sessions.known(bot)
    if player is None or not player.bot:
        raise Refused(Code.UNKNOWN_BOT, f"expected the id of a bot, got {bot[:64]!r}", path="$.bot")
    game: str = await parlour.call(room, CheckInvitation(by))
    if not parlour.lobby.has(bot):
        raise Refused(Code.UNKNOWN_BOT, f"{player.name} is not at the lobby at the moment", path="$.bot")
    parlour.lobby.tell(bot, Push("invited", {"room": room, "game": game}))
    return Player(player.id, player.name, bot=True)
