"""Fuzzing: every place where bytes from outside are read, as a function that may raise nothing unforeseen."""
