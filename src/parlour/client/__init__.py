"""A client for Python programs: it joins rooms, plays, and comes back by itself when the line was cut."""

from parlour.client.client import Client
from parlour.client.connection import Connection, Lost
from parlour.client.lobby import Lobby
from parlour.client.seat import Seat, Turn

__all__ = ["Client", "Connection", "Lobby", "Lost", "Seat", "Turn"]
