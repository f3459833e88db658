"""The HTTP calls, and the pages for browsers."""
