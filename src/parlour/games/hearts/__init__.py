"""Hearts: tricks that nobody wants, for three to five."""

from parlour.games.hearts.rules import Hearts

__all__ = ["Hearts"]
