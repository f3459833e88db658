"""The game of kind *grid* that `parlour new` copies."""
