"""Connections: sockets, protocols, limits, and the fan-out to everybody who listens."""
