"""Hostile clients at a real server, one after the other, beside people who play."""
