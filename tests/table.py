"""Where tests found these names before `parlour.testing` had them."""

from parlour.testing import NEW_YEAR, Table, effects, legal, refused, told
from tests.samples import SMALL

__all__ = ["NEW_YEAR", "SMALL", "Table", "effects", "legal", "refusal", "refused", "told"]


def refusal(table, player, event):
    return table.refusal(player, event)
