"""The only place with tasks, sockets, clocks and logs."""
