"""The settings of a server: each is an option of `parlour serve` and PARLOUR_<NAME> in the environment."""

from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from parlour.journal.base import Durability


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What a host can choose; the defaults are good for a game night."""

    host: Annotated[str, Meta(description="Address to listen on.")] = "127.0.0.1"
    port: Annotated[int, Meta(description="Port to listen on; 0 takes a free one.")] = 8000
    data: Annotated[Path, Meta(description="Folder for the journal and the signing key.")] = Path(
        "parlour-data"
    )
    journal: Annotated[
        Literal["sqlite", "memory"], Meta(description="Where steps are kept; memory forgets at the end.")
    ] = "sqlite"
    durability: Annotated[
        Durability, Meta(description="What an answered move survives: loss of power, or of the process.")
    ] = "disk"
    origins: Annotated[
        list[str], Meta(description="Another site whose pages may use a visitor's cookie; may be repeated.")
    ] = []
    rest_after: Annotated[
        float, Meta(description="Seconds after which a room that nobody hears leaves memory.")
    ] = 60.0
    store_every: Annotated[int, Meta(description="Steps after which a room's state is stored.")] = 50
    max_frame: Annotated[int, Meta(description="Bytes of the largest message taken from a client.")] = (
        64 * 1024
    )
    max_outbox: Annotated[
        int, Meta(description="Unread bytes at which a player who does not read is cut off.")
    ] = 1024 * 1024
    rate: Annotated[
        float, Meta(description="Moves a second that one connection may send for long; 0: no limit.")
    ] = 50.0
    player_rate: Annotated[float, Meta(description="The same for one player; 0: no limit.")] = 100.0
    address_rate: Annotated[float, Meta(description="The same for one address; 0: no limit.")] = 1000.0
    address_connections: Annotated[
        int, Meta(description="Sockets that one address may have open; 0: no limit.")
    ] = 2000
    player_rooms: Annotated[
        int, Meta(description="Open rooms with a game to play that one player may have; 0: no limit.")
    ] = 100
    room_members: Annotated[
        int, Meta(description="Connections that one room may have; seats always find a place; 0: no limit.")
    ] = 10_000
    relays: Annotated[int, Meta(description="Relays that may be open at once; 0: no limit.")] = 10_000
    relay_history: Annotated[
        bool, Meta(description="Keep what passes through relays, so that a game can be picked up later.")
    ] = False
    proxies: Annotated[
        list[str],
        Meta(
            description="Address of a reverse proxy whose X-Forwarded-For and X-Forwarded-Proto are believed."
        ),
    ] = []
    header_timeout: Annotated[float, Meta(description="Seconds in which a request must have arrived.")] = 10.0
    write_timeout: Annotated[
        float, Meta(description="Seconds after which a connection that takes no bytes is dead.")
    ] = 10.0
    keep_ended: Annotated[float, Meta(description="Days for which ended rooms can be looked at.")] = 30.0
    callback_timeout: Annotated[
        float, Meta(description="Seconds of CPU time after which a game's callback is cut off.")
    ] = 1.0
    reload: Annotated[bool, Meta(description="Load a game file again when it is saved; rooms go on.")] = False
    ping_every: Annotated[
        float, Meta(description="Seconds of silence until a client is asked for a sign of life.")
    ] = 20.0
    ticket_patience: Annotated[
        float, Meta(description="Seconds without a sign of life after which a ticket lapses.")
    ] = 60.0
    bot_workers: Annotated[int, Meta(description="Processes in which bots think, once there are bots.")] = 2
    bot_pace: Annotated[
        float, Meta(description="Seconds that a bot takes for a move at least, so that people can follow.")
    ] = 0.5
    xsos_referee: Annotated[
        bool,
        Meta(description="Whether moves at the XsOs door must keep to the rules of noughts and crosses."),
    ] = False
