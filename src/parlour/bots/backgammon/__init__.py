"""The bots of backgammon and its relatives."""
