"""The game of kind *hex* that `parlour new` copies."""
