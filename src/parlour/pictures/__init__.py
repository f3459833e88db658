"""A game's own pictures: SVG and PNG files in the folder ``NAME-board`` beside the game's file."""

from parlour.pictures.folder import (
    FOLDER,
    KINDS,
    Picture,
    board_folder,
    path_beside,
    pictures_of,
    scene_of,
    with_pictures,
)

__all__ = [
    "FOLDER",
    "KINDS",
    "Picture",
    "board_folder",
    "path_beside",
    "pictures_of",
    "scene_of",
    "with_pictures",
]
