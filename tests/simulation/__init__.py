"""Simulation: a cluster in one process, on a virtual clock, with everything going wrong by seed."""
