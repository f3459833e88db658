"""The game of kind *cards* that `parlour new` copies."""
