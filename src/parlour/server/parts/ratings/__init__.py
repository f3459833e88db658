"""Ratings: new standings for the players of a ranked game."""
