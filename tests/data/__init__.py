"""Data folders as earlier Parlours left them, one for each format of the journal, and how they are made."""
