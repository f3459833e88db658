"""Pairing: takes tickets, and opens rooms with everybody seated."""
