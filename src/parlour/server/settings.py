"""The settings of a server: each is an option of `parlour serve` and PARLOUR_<NAME> in the environment."""

from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from parlour.journal.base import Durability

Ranked = Literal["everybody", "accounts"]


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What an operator can choose; the defaults are good for a game night."""

    host: Annotated[str, Meta(description="Address to listen on.")] = "127.0.0.1"
    lan: Annotated[
        bool, Meta(description="Let others on the same network in, and show them the way by a QR code.")
    ] = False
    public_url: Annotated[
        str, Meta(description="The address that visitors see, where a proxy is in front; for every link.")
    ] = ""
    port: Annotated[int, Meta(description="Port to listen on; 0 takes a free one.", le=65535)] = 8000
    data: Annotated[Path, Meta(description="Folder for the journal and the signing key.")] = Path(
        "parlour-data"
    )
    journal: Annotated[
        str,
        Meta(
            description="Where steps are kept: sqlite, memory (forgets at the end) or postgresql://...",
        ),
    ] = "sqlite"
    bus: Annotated[
        str, Meta(description="The NATS by which workers that share a database talk: nats://host:4222.")
    ] = ""
    workers: Annotated[
        int,
        Meta(description="Processes that share the work on this machine; with PostgreSQL and --bus.", ge=1),
    ] = 1
    durability: Annotated[
        Durability, Meta(description="What an answered move survives: loss of power, or of the process.")
    ] = "disk"
    origins: Annotated[
        list[str], Meta(description="Another site whose pages may use a visitor's cookie; may be repeated.")
    ] = []
    rest_after: Annotated[
        float, Meta(description="Seconds after which a room that nobody hears leaves memory.")
    ] = 60.0
    room_days: Annotated[
        float, Meta(description="Days for which a room with a game in it waits for its players; 0: for ever.")
    ] = 14.0
    empty_room_minutes: Annotated[
        float, Meta(description="Minutes for which a room waits in which nobody ever sat; 0: for ever.")
    ] = 60.0
    store_every: Annotated[int, Meta(description="Steps after which a room's state is stored.", ge=1)] = 50
    max_frame: Annotated[int, Meta(description="Bytes of the largest message taken from a client.", ge=1)] = (
        64 * 1024
    )
    max_outbox: Annotated[
        int, Meta(description="Unread bytes at which a player who does not read is cut off.", ge=1)
    ] = 1024 * 1024
    rate: Annotated[
        float, Meta(description="Moves a second that one connection may send for long; 0: no limit.")
    ] = 50.0
    player_rate: Annotated[float, Meta(description="The same for one player; 0: no limit.")] = 100.0
    address_rate: Annotated[float, Meta(description="The same for one address; 0: no limit.")] = 1000.0
    address_connections: Annotated[
        int,
        Meta(
            description="Sockets that one address may have open, and as many other connections; 0: no limit."
        ),
    ] = 2000
    address_guesses: Annotated[
        float,
        Meta(description="Unknown rooms that one address may ask for in a minute; 0: no limit."),
    ] = 30.0
    address_accounts: Annotated[
        float, Meta(description="Accounts that one address may open in an hour; 0: no limit.")
    ] = 100.0
    player_rooms: Annotated[
        int, Meta(description="Open rooms with a game to play that one player may have; 0: no limit.")
    ] = 100
    address_rooms: Annotated[
        int, Meta(description="The same for one address, whoever asks from there; 0: no limit.")
    ] = 500
    rooms: Annotated[
        int, Meta(description="Open rooms with a game to play on the whole server; 0: no limit.")
    ] = 100_000
    player_tickets: Annotated[
        int, Meta(description="Tickets with which one player may wait at once; 0: no limit.")
    ] = 20
    address_tickets: Annotated[int, Meta(description="The same for one address; 0: no limit.")] = 1000
    tickets: Annotated[int, Meta(description="The same for everybody together; 0: no limit.")] = 10_000
    room_members: Annotated[
        int, Meta(description="Connections that one room may have; seats always find a place; 0: no limit.")
    ] = 10_000
    relays: Annotated[int, Meta(description="Relays that may be open at once; 0: no limit.")] = 10_000
    address_relays: Annotated[
        int, Meta(description="Open relays that one address may have opened; 0: no limit.")
    ] = 1000
    relay_memory: Annotated[
        int, Meta(description="Bytes of memory for all relays; then the oldest messages go. 0: no limit.")
    ] = 256 * 1024 * 1024
    address_relay_memory: Annotated[
        int, Meta(description="The same for the relays that one address has opened; 0: no limit.")
    ] = 64 * 1024 * 1024
    relay_disk: Annotated[
        int, Meta(description="Bytes that are kept of all relays with --relay-history; 0: no limit.")
    ] = 1024 * 1024 * 1024
    address_relay_disk: Annotated[
        int, Meta(description="The same of the relays that one address has opened; 0: no limit.")
    ] = 64 * 1024 * 1024
    relay_history: Annotated[
        bool, Meta(description="Keep what passes through relays, so that a game can be picked up later.")
    ] = False
    proxies: Annotated[
        list[str],
        Meta(
            description="Address of a reverse proxy whose X-Forwarded-For and X-Forwarded-Proto are believed."
        ),
    ] = []
    user_header: Annotated[
        str, Meta(description="Header in which a proxy of --proxies names who has signed in there.")
    ] = ""
    ranked: Annotated[
        Ranked, Meta(description="Who may play ranked games: everybody, or those who have accounts.")
    ] = "everybody"
    local_webhooks: Annotated[
        bool, Meta(description="Let webhooks lead into the local network, and be plain http.")
    ] = False
    header_timeout: Annotated[
        float, Meta(description="Seconds in which a request must have arrived.", ge=0.01)
    ] = 10.0
    write_timeout: Annotated[
        float, Meta(description="Seconds after which a connection that takes no bytes is dead.", ge=0.01)
    ] = 10.0
    accept_loss: Annotated[
        bool,
        Meta(description="Start although the journal has lost something, or is an older copy of itself."),
    ] = False
    keep_ended: Annotated[float, Meta(description="Days for which ended rooms can be looked at.")] = 30.0
    callback_timeout: Annotated[
        float, Meta(description="Seconds of CPU time after which a game's callback is cut off.", ge=0.01)
    ] = 1.0
    stop_timeout: Annotated[
        float, Meta(description="Seconds after which a server that was told to stop ends anyway.")
    ] = 9.0
    reload: Annotated[bool, Meta(description="Load a game file again when it is saved; rooms go on.")] = False
    ping_every: Annotated[
        float, Meta(description="Seconds of silence until a client is asked for a sign of life.", ge=0.01)
    ] = 20.0
    ticket_patience: Annotated[
        float, Meta(description="Seconds without a sign of life after which a ticket lapses.")
    ] = 60.0
    bot_workers: Annotated[
        int, Meta(description="Processes in which bots think, once there are bots.", ge=1)
    ] = 2
    bot_timeout: Annotated[
        float, Meta(description="Seconds for a bot's answer; then something legal is done instead.", gt=0)
    ] = 1.5
    bot_pace: Annotated[
        float, Meta(description="Seconds that a bot takes for a move at least, so that people can follow.")
    ] = 0.5
    mcp: Annotated[
        bool, Meta(description="Let language models play at /mcp; needs the extra parlour[mcp].")
    ] = False
    xsos_referee: Annotated[
        bool,
        Meta(description="Whether moves at the XsOs door must keep to the rules of noughts and crosses."),
    ] = False
    xsos: Annotated[
        bool, Meta(description="Whether the XsOs door is open; its library is loaded only then.")
    ] = True


GROUPS = {
    "": ("host", "lan", "public_url", "port", "data", "reload"),
    "What is kept": ("journal", "durability", "relay_history", "keep_ended", "room_days",
                     "empty_room_minutes", "store_every", "rest_after", "accept_loss"),
    "Many workers": ("bus", "workers"),
    "Proxies and other sites": ("origins", "proxies", "user_header"),
    "Players": ("ranked", "local_webhooks"),
    "Limits": ("rate", "player_rate", "address_rate", "address_connections", "address_guesses",
               "address_accounts", "player_rooms", "address_rooms", "rooms", "room_members",
               "player_tickets", "address_tickets", "tickets", "relays",
               "address_relays", "relay_memory", "address_relay_memory", "relay_disk", "address_relay_disk",
               "max_frame", "max_outbox"),
    "Timeouts": ("header_timeout", "write_timeout", "callback_timeout", "stop_timeout",
                 "ping_every", "ticket_patience"),
    "Bots": ("bot_workers", "bot_timeout", "bot_pace", "mcp"),
    "Doors for the clients of other servers": ("xsos", "xsos_referee"),
}  # fmt: skip
"""The headings of `parlour serve --help`; the settings without a heading come first."""
