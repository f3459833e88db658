"""Stratego: two armies whose ranks only their own side knows."""

from parlour.games.stratego.rules import Stratego

__all__ = ["Stratego"]
