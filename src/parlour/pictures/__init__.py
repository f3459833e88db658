"""A game's own pictures: SVG and PNG files in the folder ``NAME-pictures`` beside the game's file."""

from parlour.pictures.folder import FOLDER, Picture, path_beside, pictures_of, scene_of, with_pictures

__all__ = ["FOLDER", "Picture", "path_beside", "pictures_of", "scene_of", "with_pictures"]
