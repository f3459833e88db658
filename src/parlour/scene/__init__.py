"""Scenes: what one viewer's browser draws, as plain data."""

from parlour.scene.boards import card, graph, grid, hex_grid, path, polygon
from parlour.scene.default import plain, turn_in, turn_status
from parlour.scene.faults import scene_faults
from parlour.scene.patches import Patch, apply, difference
from parlour.scene.values import (
    Box,
    Choice,
    Clock,
    Control,
    Cue,
    Fill,
    Line,
    Look,
    Mark,
    Narrow,
    Option,
    Piece,
    Scene,
    Shape,
    Side,
    Spot,
    Suit,
)

__all__ = [
    "Box",
    "Choice",
    "Clock",
    "Control",
    "Cue",
    "Fill",
    "Line",
    "Look",
    "Mark",
    "Narrow",
    "Option",
    "Patch",
    "Piece",
    "Scene",
    "Shape",
    "Side",
    "Spot",
    "Suit",
    "apply",
    "card",
    "difference",
    "graph",
    "grid",
    "hex_grid",
    "path",
    "plain",
    "polygon",
    "scene_faults",
    "turn_in",
    "turn_status",
]
