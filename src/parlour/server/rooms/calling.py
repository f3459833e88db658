"""How a room carries out calls of parts and of the HTTP API; runs in the room's turn."""

from typing import Any, cast

import structlog
from msgspec import Raw

from parlour.errors import Code, Refused
from parlour.game import Game
from parlour.lobby import join_of, matched
from parlour.offers import Answer, What
from parlour.server.bots.players import chosen, newcomer
from parlour.server.bots.questions import anything, question_of
from parlour.server.bots.worker import Question
from parlour.server.refusals import NOT_WRITTEN
from parlour.server.rooms.actor import RoomActor
from parlour.server.rooms.calls import (
    AskHint,
    AsksPlayer,
    CallOff,
    CheckInvitation,
    EndWaiting,
    ListPeople,
    MoveBot,
    Perform,
    RoomCall,
    SeatBot,
    Seated,
    SitDown,
)
from parlour.wire import Act, Command, Connect, Join, Shutdown

log = structlog.get_logger()


async def carry_out(room: RoomActor, call: RoomCall) -> Any:  # noqa: C901, PLR0911, PLR0912 - a table of all calls
    """Carry out a call and return its result."""
    match call:
        case Perform():
            return await room.perform(call.command, call.id)
        case SeatBot():
            return await _seat_bot(room, call)
        case AskHint():
            return _ask_hint(room, call)
        case MoveBot():
            return await _move_bot(room, call)
        case SitDown():
            ticket = call.ticket
            tickets = matched((ticket,), room.id)
            return (await room.step(join_of(ticket), tickets=tickets)).step.seq
        case EndWaiting():
            if room.waits_for_company(call.ticket):
                await room.step(Shutdown(call.why))
            return None
        case CallOff():
            return await _call_off(room, call.why)
        case ListPeople():
            return room.people()
        case AsksPlayer():
            return _asks_player(room, call.player)
        case CheckInvitation():
            return _check_invitation(room, call.by)


def _check_adds_bots(room: RoomActor, player: str) -> None:
    if room.here.seat(player) is None and room.opening.creator != player:
        raise Refused(Code.NOT_SEATED, "only somebody who sits in the room or opened it can add a bot")


def _check_invitation(room: RoomActor, by: str) -> str:
    _check_adds_bots(room, by)
    if None not in room.here.seats:
        raise Refused(Code.GAME_FULL, "every seat is taken")
    return room.here.game


async def _seat_bot(room: RoomActor, call: SeatBot) -> Seated | None:
    if call.by is not None:
        _check_adds_bots(room, call.by)
    if call.ticket is not None and not room.waits_for_company(call.ticket):
        return None
    player = newcomer(room.here.players, chosen(room.game, call.bot))
    thought = await room.step(Join(player.id, player.name, bot=True))
    seat = thought.room.seat_number(player.id)
    assert seat is not None  # noqa: S101 - it just sat down
    return Seated(player, seat, thought.step.seq)


def _ask_hint(room: RoomActor, call: AskHint) -> Question:
    seats, player = room.here.seats, call.player
    if room.here.seat(player) is None:
        raise Refused(Code.NOT_SEATED, "only somebody with a seat can ask for a hint")
    if any(seat is not None and seat.player != player and not (seat.bot or seat.remote) for seat in seats):
        raise Refused(Code.ILLEGAL_MOVE, "hints are for those who play alone or against bots")
    game: Game[Any] = room.game
    bot = chosen(game, call.bot)
    question: Question | None = room.check_game(lambda: question_of(game, room.here, player, bot))
    if question is None:
        raise Refused(Code.NOT_YOUR_TURN, "there is nothing for you to do now")
    return question


def _asks_player(room: RoomActor, player: str) -> bool:
    """Whether it is a player's turn, by the scene; in a game without turns, whether they can do anything."""
    here, game = room.here, room.game
    if here.status != "playing" or here.outcome is not None or (seat := here.seat_number(player)) is None:
        return False

    def look() -> bool:
        turn = game.scene(here.state, player).turn
        return seat in turn if turn else any(True for _ in game.legal_events(here.state, player) or ())

    return bool(room.check_game(look))


async def _move_bot(room: RoomActor, call: MoveBot) -> None:
    """Carry out the bot's move, if the bot still has to answer the same question."""
    room.bot_answered(call.player)
    if room.question(call.player) != call.question:
        room.ask_bots()
    elif call.event is not None:
        try:
            await room.step(_command(room, call, call.event))
        except Refused as why:
            await _move_otherwise(room, call, why)


def _command(room: RoomActor, call: MoveBot, event: Raw) -> Command:
    """What a bot wants: a move, or an answer to an offer."""
    what = call.question.offer
    if what is None:
        return Act(call.player, event, call.held, stand_in=call.player not in room.here.bots)
    return Answer(call.player, cast("What", what), accept=bytes(event) == b"true")


async def _move_otherwise(room: RoomActor, call: MoveBot, why: Refused) -> None:
    """Make any legal move, because the bot's was refused."""
    if why.code == Code.GAME_OVERRAN:
        raise why
    log.warning("bot_refused", room=room.id, player=call.player, why=why.message)
    if why.code in NOT_WRITTEN:
        room.ask_bots_later(why)
        return
    try:
        await room.step(_command(room, call, anything(call.question)))
    except Refused as again:
        log.error("bot_stuck", room=room.id, player=call.player, why=again.message)


async def _call_off(room: RoomActor, why: str) -> tuple[str, ...]:
    """End the room unless somebody has played or all have come; the journal knows who came."""
    if room.here.outcome is not None or room.waits_for_company():
        return ()
    people = [seat.player for seat in room.here.seats if seat is not None and not seat.bot]
    awaited = [one.player for one in room.here.awaited if not one.bot]
    people += awaited
    absent = set(people)
    for step in await room.steps():
        if isinstance(step.command, Act) and not awaited:
            return ()
        if isinstance(step.command, Connect):
            absent.discard(step.command.player)
    if not absent:
        return ()
    await room.step(Shutdown(why))
    return tuple(people)
