"""Accounts: players who are known again on every device, without a password."""
