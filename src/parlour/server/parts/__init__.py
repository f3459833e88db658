"""Parts around the rooms: pairing, ratings, the list of rooms."""
