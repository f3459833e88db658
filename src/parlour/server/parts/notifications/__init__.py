"""Notifications: players who are away are told, once, that it is their turn."""
