"""Rooms: each owned by one actor, which thinks, writes and speaks."""
