"""A seat for a language model."""
