"""Connections: sockets, protocols, limits, and the fan-out to all listeners."""
