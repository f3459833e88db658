"""Rooms: each is owned by one actor, which thinks, writes and then sends."""
