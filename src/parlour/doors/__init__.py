"""The ways in for clients of other servers: one file for each."""
