"""The network halves of the doors for the clients of other servers."""
