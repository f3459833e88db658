"""Many workers: who owns which rooms, and how workers talk to each other."""
