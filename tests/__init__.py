"""The tests: rules, protocols and contracts as sentences."""
