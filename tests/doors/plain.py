"""Views as a door gets them: plain data, as it came over the border."""

from typing import Any

import msgspec

from parlour.games.backgammon import Backgammon
from parlour.games.backgammon.match import Match


def plain_view(match: Match, viewer: str | None) -> Any:
    """What this viewer sees of a match."""
    return msgspec.json.decode(msgspec.json.encode(Backgammon().view(match, viewer)))
