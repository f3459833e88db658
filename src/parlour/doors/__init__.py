"""The ways in for the clients of other servers: each joins their protocol to a game or to passing on."""
