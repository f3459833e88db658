"""Ratings: what a game that ended means for its players."""
