"""What happens around rooms: pairing, ratings, the list of rooms."""
