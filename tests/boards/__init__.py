"""Six tiny games, each a file that can be served, whose scenes are kept short."""
