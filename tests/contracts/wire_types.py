"""The types of the wire in TypeScript, made from those in Python: ``scripts/wire-types`` writes them."""

from pathlib import Path
from typing import Any

import msgspec

from parlour.errors import Code
from parlour.ratings import Stake
from parlour.scene import Patch, Scene
from parlour.server.api.bodies import (
    KnownPlayer,
    Leader,
    MyAccount,
    MyNotifications,
    NamedRoom,
    NewAccountBy,
    NewBot,
    NewInvitation,
    NewPasskey,
    NewPlayer,
    NewRoom,
    NewWebhook,
    OpenedAccount,
    Preview,
    PublicGame,
    PublicKeyOptions,
    PublicPlayer,
    PublicServer,
    RecoveryCode,
    SignIn,
    SignInLink,
    Stepped,
)  # fmt: skip
from parlour.server.api.calls import Problem
from parlour.server.api.rules_pages import RulesPage
from parlour.server.bots.thinking import Hint
from parlour.server.parts.pairing.pairing import Matched, PublicTicket, Unqueued
from parlour.server.parts.room_list import ChangedRooms, OpenRooms
from parlour.server.preferences import ChosenPreferences, Preferences
from parlour.server.remote_bots import WaitingBot
from parlour.server.rooms.calls import Seated
from parlour.server.rooms.history import HistoryPage
from parlour.server.rooms.summary import MyRoom, PublicRoom
from parlour.server.typescript import declaration, typescript_type
from parlour.wire import PUSHES, Enter, GiveUpSeat, JoinAnswer, PlayAgain, Queue, SendChat, SendEvent

FILE = Path(__file__).parents[2] / "web" / "src" / "wire.ts"

CALLS = (
    NewPlayer, KnownPlayer, NewRoom, NamedRoom, PublicRoom, MyRoom, PublicGame, Preview, HistoryPage, Stepped,
    Problem, Queue, PublicTicket, NewBot, NewInvitation, WaitingBot, Seated, Hint, PublicPlayer, PublicServer,
    Preferences, ChosenPreferences, RulesPage,
    Leader, Stake, NewAccountBy, NewPasskey, PublicKeyOptions, OpenedAccount,
    MyAccount, RecoveryCode, SignIn, SignInLink, MyNotifications, NewWebhook,
)  # fmt: skip
ASKED = (Enter, SendEvent, SendChat, GiveUpSeat, PlayAgain, JoinAnswer)
TYPES = (Scene, Patch, OpenRooms, ChangedRooms, Matched, Unqueued, *PUSHES.values(), *ASKED, *CALLS)

HEAD = """\
// Made from the Python types by scripts/wire-types. Do not edit: change those and run it again.

/** A thing of a scene as a patch gives it: its id, and the fields that changed; whole, if it is new. */
export type Change<Thing extends { id: string }> = Partial<Thing> & { id: string };
"""

SHARPER = {
    ("Patch", "spots"): "Change<Spot>[]",
    ("Patch", "pieces"): "Change<Piece>[]",
    ("Patch", "controls"): "Change<Control>[]",
    ("Patch", "set"): "Partial<Scene>",
}
"""What TypeScript can say and a JSON schema cannot."""

APART = {"parlour.wire.Result": "Result", "parlour.journal.base.Result": "GameResult"}
"""Two types of one name."""


def typescript() -> str:
    """The whole file."""
    _, schemas = msgspec.json.schema_components(TYPES, ref_template="{name}")
    codes = " | ".join(f'"{code}"' for code in Code)
    pushes = "".join(f"  {name}: {_named(kind)};\n" for name, kind in PUSHES.items())
    parts = [
        HEAD,
        *(declaration(name, schemas[name], APART, SHARPER) for name in sorted(schemas, key=_called)),
        f"/** The codes of Parlour's own refusals; a game may have others. */\nexport type Code = {codes};\n",
        f"/** What is told in a room: payloads by name. */\nexport interface Pushes {{\n{pushes}}}\n",
    ]
    return "\n".join(parts)


def _named(kind: Any) -> str:
    (schema,), _ = msgspec.json.schema_components([kind], ref_template="{name}")
    return typescript_type(schema, APART)


def _called(name: str) -> str:
    return APART.get(name, name)


if __name__ == "__main__":
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(typescript(), encoding="utf-8")
