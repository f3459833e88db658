"""Bots at the seats, and the processes in which they think."""
