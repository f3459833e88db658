"""Pairing: tickets in, rooms with everybody seated out."""
