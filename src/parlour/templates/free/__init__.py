"""The game of kind *free* that `parlour new` copies."""
